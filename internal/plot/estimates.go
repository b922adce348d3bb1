package plot

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Estimate is one row of Estimates: a name, a share of either sign, and its
// interval, NaN where there is none. One that is Apart is drawn paler: it does not
// mean the same as the others.
type Estimate struct {
	Name          string
	Share, Lo, Hi float64
	Apart         bool
}

// Estimates draws one horizontal bar a row from zero to its share, with its
// interval as a whisker and the share in figures at the right. Rows whose share is
// NaN are left out; at most barLimit are drawn, the first ones, and the axis says
// so.
func Estimates(axes Axes, rows []Estimate) (*Figure, error) {
	var shown []Estimate
	for _, r := range rows {
		if !math.IsNaN(r.Share) && !math.IsInf(r.Share, 0) {
			shown = append(shown, r)
		}
	}
	more := ""
	if len(shown) > barLimit {
		more = fmt.Sprintf(" (the first %d of %d)", barLimit, len(shown))
		shown = shown[:barLimit]
	}
	p := newPlot(axes.X+more, axes.Y)
	lo, hi := 0.0, 0.0
	names := make([]string, len(shown))
	for i, r := range shown {
		lo, hi = min(lo, r.Share, finite(r.Lo)), max(hi, r.Share, finite(r.Hi))
		names[i] = r.Name
	}
	if !(hi > lo) {
		hi = 0.01
	}
	ticks := make([]plot.Tick, len(shown))
	for i, name := range labels(names, 24) {
		ticks[i] = plot.Tick{Value: float64(len(shown) - 1 - i), Label: name}
	}
	p.Add(&estimates{rows: shown, end: hi + 0.02*(hi-lo)})
	p.Y.Tick.Marker = plot.ConstantTicks(ticks)
	p.Y.Tick.Length, p.Y.LineStyle.Width, p.Y.Padding = 0, 0, 2
	p.X.Tick.Marker = signedPercent{}
	p.X.Min, p.X.Max = lo, hi+0.24*(hi-lo) // room for the figures
	if lo < 0 {
		p.X.Min -= 0.03 * (hi - lo)
	}
	p.Y.Min, p.Y.Max = -0.6, float64(max(len(shown), 1))-0.4
	return &Figure{Name: axes.Name, Alt: axes.Title, plot: p, width: column, height: vg.Length(max(len(shown), 3))*13 + 50}, nil
}

// estimates draws the bars.
type estimates struct {
	rows []Estimate
	end  float64 // where the figures stand
}

// Plot implements plot.Plotter.
func (e *estimates) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	figures := p.X.Tick.Label
	figures.XAlign, figures.YAlign = draw.XLeft, draw.YCenter
	rule := draw.LineStyle{Color: ink, Width: 1}
	for i, r := range e.rows {
		at := float64(len(e.rows) - 1 - i)
		shade := color.Color(series[4])
		if r.Apart {
			shade = series[6]
		}
		left, right, bottom, top := x(min(0, r.Share)), x(max(0, r.Share)), y(at-0.34), y(at+0.34)
		c.FillPolygon(shade, []vg.Point{{X: left, Y: bottom}, {X: right, Y: bottom}, {X: right, Y: top}, {X: left, Y: top}})
		if !math.IsNaN(r.Lo+r.Hi) && !math.IsInf(r.Lo+r.Hi, 0) {
			middle, cap := y(at), vg.Length(3.5)
			c.StrokeLine2(rule, x(r.Lo), middle, x(r.Hi), middle)
			for _, end := range []float64{r.Lo, r.Hi} {
				c.StrokeLine2(rule, x(end), middle-cap, x(end), middle+cap)
			}
		}
		c.FillText(figures, vg.Point{X: x(e.end), Y: y(at)}, fmt.Sprintf("%.1f %%", 100*r.Share+0))
	}
	c.StrokeLine2(draw.LineStyle{Color: ink, Width: 0.7}, x(0), y(-0.6), x(0), y(float64(len(e.rows))-0.4))
}

// signedPercent marks shares of any size and sign as percents.
type signedPercent struct{}

// Ticks implements plot.Ticker.
func (signedPercent) Ticks(lo, hi float64) []plot.Tick {
	if !(hi > lo) || math.IsInf(hi-lo, 0) {
		return nil
	}
	step := math.Pow(10, math.Floor(math.Log10(hi-lo)))
	for _, part := range []float64{0.1, 0.2, 0.5} {
		if (hi-lo)/(step*part) <= 7 {
			step *= part
			break
		}
	}
	digits := max(0, int(math.Ceil(-math.Log10(100*step)-1e-9)))
	var ticks []plot.Tick
	for i := math.Ceil(lo / step); i*step <= hi+1e-12; i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: fmt.Sprintf("%.*f %%", digits, 100*i*step+0)})
	}
	return ticks
}
