package report

import (
	"bytes"
	"encoding/json"
	"fmt"
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

// figuresTable lists the figures of a document by their path, nil for none: what is said in
// sentences can be looked up in it.
func (d *Document) figuresTable() *Table {
	if d.Figures == nil {
		return nil
	}
	src, err := marshal(d.Figures)
	if err != nil {
		return nil // the same error that JSON has
	}
	t := NewTable("figures", "All figures", Column{Key: "figure"}, Column{Key: "value", Align: Right})
	from := json.NewDecoder(bytes.NewReader(src))
	from.UseNumber()
	t.addFigures("", from)
	return t
}

// addFigures adds the numbers of the JSON value that comes next.
func (t *Table) addFigures(path string, from *json.Decoder) {
	token, _ := from.Token() // it is well formed
	switch x := token.(type) {
	case json.Number:
		value, _ := x.Float64()
		digits := 0
		if value != math.Trunc(value) {
			digits = 5
		}
		t.Add(Name(path), Float(value, digits))
	case json.Delim:
		for i := 0; from.More(); i++ {
			name := fmt.Sprintf("%s[%d]", path, i)
			if x == '{' {
				key, _ := from.Token()
				if name = fmt.Sprint(key); path != "" {
					name = path + "." + name
				}
			}
			t.addFigures(name, from)
		}
		_, _ = from.Token() // the closing bracket
	}
}
