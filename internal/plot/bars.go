package plot

import (
	"fmt"
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// barLimit is how many bars a picture shows.
const barLimit = 30

// Bar is one row of StackedBars: a name, how many observations it rests on, and
// a share for each class.
type Bar struct {
	Name   string
	N      int
	Shares []float64
}

// StackedBars draws one horizontal bar a row, divided by class; shares of a row
// should add up to 1. At most barLimit rows are drawn, the first ones, and the
// axis says so.
func StackedBars(axes Axes, classes []string, rows []Bar) (*Figure, error) {
	more := ""
	if len(rows) > barLimit {
		more = fmt.Sprintf(" (the first %d of %d)", barLimit, len(rows))
		rows = rows[:barLimit]
	}
	p := newPlot(axes.X+more, axes.Y)
	stack := &stackedBars{rows: rows, classes: len(classes)}
	p.Add(stack)
	ticks := make([]plot.Tick, len(rows))
	full := make([]string, len(rows))
	for i, row := range rows {
		full[i] = row.Name
	}
	names := labels(full, 24)
	for i, row := range rows {
		name := fmt.Sprintf("%s  (%d)", names[i], row.N)
		ticks[i] = plot.Tick{Value: float64(len(rows) - 1 - i), Label: name}
	}
	p.Y.Tick.Marker = plot.ConstantTicks(ticks)
	p.Y.Tick.Length, p.Y.LineStyle.Width = 0, 0
	p.Y.Padding = 2
	p.X.Tick.Marker = percent{}
	p.X.Min, p.X.Max = 0, 1
	// The legend stands above the bars, so room is made in rows, for the classes
	// that the bars have.
	legend := drawnClasses(classes, rows)
	legendRows := float64(len(legend)) * 0.8
	p.Y.Min, p.Y.Max = -0.5, float64(len(rows))-0.5+legendRows
	p.Legend.Top = true
	for _, i := range legend {
		p.Legend.Add(classes[i], swatch{classShade(i)})
	}
	height := vg.Length(float64(len(rows))+legendRows)*11 + 50
	return &Figure{Name: axes.Name, Alt: axes.Title, plot: p, width: column, height: height}, nil
}

// drawnClasses returns the indices of the classes that some row has a share of.
func drawnClasses(classes []string, rows []Bar) []int {
	var out []int
	for i := range classes {
		if slices.ContainsFunc(rows, func(b Bar) bool { return i < len(b.Shares) && b.Shares[i] > 0 }) {
			out = append(out, i)
		}
	}
	return out
}

func classShade(i int) color.Color { return series[i%len(series)] }

// stackedBars draws the bars.
type stackedBars struct {
	rows    []Bar
	classes int
}

// Plot implements plot.Plotter.
func (b *stackedBars) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for i, row := range b.rows {
		at := float64(len(b.rows) - 1 - i)
		left := 0.0
		for class, share := range row.Shares {
			if class >= b.classes || share <= 0 {
				continue
			}
			x0, x1 := x(left), x(left+share)
			y0, y1 := y(at-0.36), y(at+0.36)
			c.FillPolygon(classShade(class), []vg.Point{{X: x0, Y: y0}, {X: x1, Y: y0}, {X: x1, Y: y1}, {X: x0, Y: y1}})
			left += share
		}
	}
}

// swatch is the legend entry of a class.
type swatch struct{ shade color.Color }

// Thumbnail implements plot.Thumbnailer.
func (s swatch) Thumbnail(c *draw.Canvas) {
	pts := []vg.Point{c.Min, {X: c.Max.X, Y: c.Min.Y}, c.Max, {X: c.Min.X, Y: c.Max.Y}}
	c.FillPolygon(s.shade, pts)
}
