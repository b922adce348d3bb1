package report

import (
	"math"

	"github.com/awo-dev/awo/internal/stat"
)

// FloatOf is a figure as a Float cell, or a Missing one.
func FloatOf(f stat.Figure, digits int) Cell {
	return figureCell(f, func(v float64) Cell { return Float(v, digits) })
}

// ShareOf is a figure as a Share cell, or a Missing one.
func ShareOf(f stat.Figure, digits int) Cell {
	return figureCell(f, func(v float64) Cell { return Share(v, digits) })
}

// IntOf is a figure, rounded, as an Int cell, or a Missing one.
func IntOf(f stat.Figure) Cell {
	return figureCell(f, func(v float64) Cell { return Int64(int64(math.Round(v))) })
}

func figureCell(f stat.Figure, cell func(float64) Cell) Cell {
	v, known := f.Value()
	if !known {
		return Missing(f.Missing())
	}
	return cell(v)
}
