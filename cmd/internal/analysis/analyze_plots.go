package analysis

import (
	"math"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/entropy/ngram"
	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/internal/plot"
)

// drawAnalysis writes the figures of an analysis into a folder.
func drawAnalysis(j *cli.Job, f *findings, dir string) error {
	figures, err := analysisFigures(f)
	if err != nil {
		return err
	}
	return j.WriteFigures(figures, dir)
}

// analysisFigures draws the findings.
func analysisFigures(f *findings) ([]*plot.Figure, error) {
	nan := math.NaN()
	orders := make([]plot.Order, len(f.analysis.Orders))
	for k, o := range f.analysis.Orders {
		orders[k] = plot.Order{K: k, PlugIn: o.Bits.Float(), MillerMadow: o.MillerMadow.Float(), HeldOut: nan, Lo: nan, Hi: nan, Biased: o.BiasDominated}
		if h, ok := f.heldOut(k); ok {
			orders[k].HeldOut = h.Bits.Float()
			if h.Interval.Known() {
				orders[k].Lo, orders[k].Hi = h.Interval.Lo, h.Interval.Hi
			}
		}
	}
	tools := make([]string, len(f.corpus.Tools()))
	for i, name := range f.corpus.Tools() {
		tools[i] = name.Value()
	}
	curves := make([][]float64, len(f.topShares))
	for i, shares := range f.topShares {
		for _, s := range shares {
			curves[i] = append(curves[i], s.Share)
		}
	}
	var largest, alive []float64
	for _, s := range f.steps {
		largest = append(largest, s.Share)
		if s.Share > 0 {
			alive = append(alive, float64(s.Reached)*s.Share/float64(s.N))
		}
	}
	var merged []float64
	for _, s := range f.merged {
		merged = append(merged, s.Share)
	}
	var out []*plot.Figure
	for _, draw := range []func() (*plot.Figure, error){
		func() (*plot.Figure, error) { return plot.Entropy(orders, f.analysis.HMax.Float()) },
		func() (*plot.Figure, error) { return plot.Transitions(tools, f.transitions()) },
		func() (*plot.Figure, error) { return plot.TopM(curves) },
		func() (*plot.Figure, error) { return plot.Convergence(largest, merged, alive) },
		func() (*plot.Figure, error) { return drawSources(f.sources) },
	} {
		figure, err := draw()
		if err != nil {
			return nil, err
		}
		if figure == nil {
			continue
		}
		out = append(out, figure)
	}
	return out, nil
}

// drawSources draws the classes of sources by parameter, those used most first;
// nil if nothing was traced.
func drawSources(s *origins) (*plot.Figure, error) {
	if s == nil || len(s.parameters) == 0 {
		return nil, nil
	}
	var classes []string
	for _, c := range s.Classes {
		classes = append(classes, classTitles[dataflow.Class(c.Class)])
	}
	var rows []plot.Bar
	for _, p := range byUses(s) {
		row := plot.Bar{Name: p.Parameter, N: p.Uses}
		for _, c := range p.Classes {
			share, _ := c.Share.Value()
			row.Shares = append(row.Shares, share)
		}
		rows = append(rows, row)
	}
	return plot.StackedBars(plot.Axes{Name: "parameter-sources", Title: "Where arguments come from", X: "share of uses"}, classes, rows)
}

// transitions returns the pairs of neighbouring calls with their counts.
func (f *findings) transitions() []plot.Transition {
	counts := f.counts
	if counts.MaxOrder() < 1 {
		counter := ngram.NewCounter(1)
		for _, tools := range f.corpus.Sequences() {
			counter.Add(tools)
		}
		counts = counter.Counts()
	}
	var out []plot.Transition
	for x := range counts.Order(1).Contexts() {
		for _, next := range x.Next {
			out = append(out, plot.Transition{From: int(x.Symbols[0]), To: int(next.Symbol), N: float64(next.N)})
		}
	}
	return out
}
