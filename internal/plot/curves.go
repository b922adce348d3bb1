package plot

import (
	"fmt"
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Order is the entropy of the next tool given the k tools before it, in bits.
// A figure that the traces do not support is NaN and left out of the picture.
type Order struct {
	K           int
	PlugIn      float64
	MillerMadow float64
	HeldOut     float64 // held-out cross-entropy
	Lo, Hi      float64 // its interval
	Biased      bool    // the plug-in is dominated by bias
}

// Entropy draws the estimates of the conditional entropy by order k, with the
// held-out cross-entropy and its interval on top: where the plug-in falls below
// it, the plug-in is counting sparsity, not habit. hMax is log2 of the number
// of tools, the value of a uniform choice.
func Entropy(orders []Order, hMax float64) (*Figure, error) {
	p := newPlot("order k: earlier calls known", "bits per call")
	p.Add(gridlines())
	var plugIn, corrected, heldOut plotter.XYs
	var bars intervals
	top := hMax
	for _, o := range orders {
		k := float64(o.K)
		plugIn = appendFinite(plugIn, k, o.PlugIn)
		corrected = appendFinite(corrected, k, o.MillerMadow)
		heldOut = appendFinite(heldOut, k, o.HeldOut)
		bars = appendInterval(bars, k, o.HeldOut, o.Lo, o.Hi)
		for _, v := range []float64{o.PlugIn, o.MillerMadow, o.HeldOut, o.Hi} {
			if !math.IsNaN(v) && !math.IsInf(v, 0) {
				top = max(top, v)
			}
		}
	}
	first, last := 0.0, 1.0
	if len(orders) > 0 {
		first, last = float64(orders[0].K), float64(orders[len(orders)-1].K)
	}
	uniform := appendFinite(appendFinite(nil, first, hMax), last, hMax)
	if err := addLine(p, "uniform choice (log2 of the tools)", uniform, series[6], dashed, nil); err != nil {
		return nil, err
	}
	if err := addLine(p, "plug-in", plugIn, series[4], solid, draw.CircleGlyph{}); err != nil {
		return nil, err
	}
	if err := addLine(p, "Miller-Madow", corrected, series[3], dotted, draw.TriangleGlyph{}); err != nil {
		return nil, err
	}
	if err := addLine(p, "held-out, with interval", heldOut, series[1], solid, draw.BoxGlyph{}); err != nil {
		return nil, err
	}
	if err := addBars(p, bars, series[1]); err != nil {
		return nil, err
	}
	var ticks []plot.Tick
	for _, o := range orders {
		name := strconv.Itoa(o.K)
		if o.Biased {
			name += "*"
		}
		ticks = append(ticks, plot.Tick{Value: float64(o.K), Label: name})
	}
	p.X.Tick.Marker = plot.ConstantTicks(ticks)
	p.X.Min, p.X.Max = first-0.15, last+0.15
	p.Y.Min, p.Y.Max = 0, top*1.5
	p.Legend.Top = true
	for _, o := range orders {
		if o.Biased {
			p.X.Label.Text += "   (* plug-in dominated by bias)"
			break
		}
	}
	return &Figure{
		Name: "entropy", plot: p, width: column, height: 200,
		Alt: "Conditional entropy of the next tool by order, with the held-out cross-entropy and its interval.",
	}, nil
}

// TopM draws the share of calls that are among the m most frequent successors
// of their context (AutoTool, Fig. 3). curves[i] belongs to order i+1, its
// element m-1 to m.
func TopM(curves [][]float64) (*Figure, error) {
	p := newPlot("m", "share of calls (in sample)")
	p.Add(gridlines())
	longest := 2
	for i, curve := range curves {
		var points plotter.XYs
		for m, share := range curve {
			points = appendFinite(points, float64(m+1), share)
		}
		longest = max(longest, len(curve))
		name := fmt.Sprintf("given %d tools", i+1)
		if i == 0 {
			name = "given 1 tool"
		}
		if err := addLine(p, name, points, series[i%len(series)], solid, draw.CircleGlyph{}); err != nil {
			return nil, err
		}
	}
	p.X.Min, p.X.Max = 0.8, float64(longest)+0.2
	p.X.Tick.Marker = integers{}
	p.Y.Min, p.Y.Max = 0, 1
	p.Y.Tick.Marker = percent{}
	p.Legend.Left = false
	p.Legend.YOffs = 12
	p.Legend.XOffs = -12
	return &Figure{
		Name: "top-m", plot: p, width: column, height: 190,
		Alt: "Cumulative share of calls among the m likeliest successors of their context.",
	}, nil
}

// Convergence draws, for each step i, the largest share of trajectories that
// are in one state after i calls (AWO, Fig. 1), the same on the states that rules
// merge unless merged is nil, and beside them the share of trajectories that are
// that long at all.
func Convergence(largest, merged, alive []float64) (*Figure, error) {
	p := newPlot("calls made", "share of trajectories")
	p.Add(gridlines())
	var shares, together, lengths plotter.XYs
	for i, share := range largest {
		shares = appendFinite(shares, float64(i+1), share)
	}
	for i, share := range merged {
		together = appendFinite(together, float64(i+1), share)
	}
	for i, share := range alive {
		lengths = appendFinite(lengths, float64(i+1), share)
	}
	if err := addLine(p, "still running", lengths, series[6], dashed, nil); err != nil {
		return nil, err
	}
	name := "in the commonest state"
	if len(merged) > 0 {
		if err := addLine(p, "in the commonest state by the rules", together, series[1], solid, draw.BoxGlyph{}); err != nil {
			return nil, err
		}
		name = "with the same tools so far"
	}
	if err := addLine(p, name, shares, series[0], solid, draw.CircleGlyph{}); err != nil {
		return nil, err
	}
	p.X.Min, p.X.Max = 0.5, float64(max(len(largest), len(merged), len(alive), 2))+0.5
	p.X.Tick.Marker = integers{}
	p.Y.Min, p.Y.Max = 0, 1
	p.Y.Tick.Marker = percent{}
	p.Legend.Top = true
	p.Legend.XOffs, p.Legend.YOffs = -12, -8
	return &Figure{
		Name: "convergence", plot: p, width: column, height: 190,
		Alt: "Share of trajectories in the commonest state after each number of calls.",
	}, nil
}

// Axes names a figure and its axes.
type Axes struct{ Name, Title, X, Y string }

func finite(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}

func appendFinite(points plotter.XYs, x, y float64) plotter.XYs {
	if math.IsNaN(y) || math.IsInf(y, 0) || math.IsNaN(x) || math.IsInf(x, 0) {
		return points
	}
	return append(points, plotter.XY{X: x, Y: y})
}

// intervals are points with the distances to both ends of their intervals.
type intervals struct {
	plotter.XYs
	plotter.YErrors
}

func appendInterval(bars intervals, x, y, lo, hi float64) intervals {
	if math.IsNaN(y+lo+hi) || math.IsInf(lo, 0) || math.IsInf(hi, 0) {
		return bars
	}
	bars.XYs = append(bars.XYs, plotter.XY{X: x, Y: y})
	bars.YErrors = append(bars.YErrors, struct{ Low, High float64 }{y - lo, hi - y})
	return bars
}

var (
	solid  []vg.Length
	dashed = []vg.Length{5, 3}
	dotted = []vg.Length{1.5, 2.5}
)

func addLine(p *plot.Plot, name string, points plotter.XYs, shade color.Color, dashes []vg.Length, glyph draw.GlyphDrawer) error {
	if len(points) == 0 {
		return nil
	}
	line, marks, err := plotter.NewLinePoints(points)
	if err != nil {
		return fmt.Errorf("drawing %s: %w", name, err)
	}
	line.Color, line.Width, line.Dashes = shade, 1, dashes
	if glyph == nil {
		p.Add(line)
		p.Legend.Add(name, line)
		return nil
	}
	marks.Color, marks.Radius, marks.Shape = shade, 1.8, glyph
	p.Add(line, marks)
	p.Legend.Add(name, line, marks)
	return nil
}

func addBars(p *plot.Plot, bars intervals, shade color.Color) error {
	if len(bars.XYs) == 0 {
		return nil
	}
	whiskers, err := plotter.NewYErrorBars(bars)
	if err != nil {
		return fmt.Errorf("drawing intervals: %w", err)
	}
	whiskers.Color, whiskers.Width, whiskers.CapWidth = shade, 1, 5
	p.Add(whiskers)
	return nil
}

// integers marks whole numbers only, at most about ten of them.
type integers struct{}

// Ticks implements plot.Ticker.
func (integers) Ticks(lo, hi float64) []plot.Tick {
	step := 1
	for _, s := range []int{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000} {
		step = s
		if (hi-lo)/float64(s) <= 10 {
			break
		}
	}
	var ticks []plot.Tick
	for i := int(math.Ceil(lo)); float64(i) <= hi; i++ {
		if i%step == 0 || (i == 1 && step > 1) {
			ticks = append(ticks, plot.Tick{Value: float64(i), Label: strconv.Itoa(i)})
		}
	}
	return ticks
}

// percent marks shares as whole percents.
type percent struct{}

// Ticks implements plot.Ticker.
func (percent) Ticks(lo, hi float64) []plot.Tick {
	step := 0.01
	for _, s := range []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.25} {
		step = s
		if (hi-lo)/s <= 6 {
			break
		}
	}
	var ticks []plot.Tick
	for i := math.Ceil(lo / step); i*step <= min(hi, 1)+1e-12; i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: fmt.Sprintf("%.0f %%", i*step*100)})
	}
	return ticks
}
