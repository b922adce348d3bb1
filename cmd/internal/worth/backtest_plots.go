package worth

import (
	"fmt"
	"math"
	"strings"

	"github.com/awo-dev/awo/backtest"
	"github.com/awo-dev/awo/internal/plot"
)

// BacktestPlots draws what was found: calling turns and money saved by technique.
func BacktestPlots(f *BacktestFindings) ([]*plot.Figure, error) {
	var out []*plot.Figure
	turns, err := f.estimates("backtest-turns", "Calling turns saved on tasks held out, at most", "share of the calling turns", "calling_turns_saved_share",
		func(o *backtest.Outcome) float64 {
			return partOf(float64(o.CallingTurnsSaved), float64(o.CallingTurns))
		})
	if err != nil {
		return nil, err
	}
	money, err := f.moneyFigure()
	if err != nil {
		return nil, err
	}
	for _, figure := range []*plot.Figure{turns, money} {
		if figure != nil {
			out = append(out, figure)
		}
	}
	return out, nil
}

// moneyFigure draws what is saved in money, in tokens where nothing has a price,
// and nothing where neither is known.
func (f *BacktestFindings) moneyFigure() (*plot.Figure, error) {
	switch r := f.result; {
	case r.LLMTurns == 0:
		return nil, nil
	case r.Unpriced < r.LLMTurns:
		return f.estimates("backtest-money", "Money saved on tasks held out, definitions paid", "share of the cost; below zero it costs more", "cost_saved_share",
			func(o *backtest.Outcome) float64 { return partOf(o.USDSaved, o.USD) })
	}
	return f.estimates("backtest-money", "Tokens saved on tasks held out, definitions paid", "share of the tokens; below zero it takes more", "tokens_saved_share",
		func(o *backtest.Outcome) float64 { return partOf(float64(o.TokensSaved), float64(o.Tokens)) })
}

// estimates draws a metric of all techniques that are about it, and for which it is
// known; nil if there are none.
func (f *BacktestFindings) estimates(name, title, x, metric string, of func(o *backtest.Outcome) float64) (*plot.Figure, error) {
	var rows []plot.Estimate
	var words []string
	for i := range f.result.Techniques {
		o := &f.result.Techniques[i]
		turns := strings.HasPrefix(metric, "calling_turns")
		if o.Name == "none" || f.lacks(o, metric) != "" || turns && registers(o.Name) {
			continue
		}
		row := plot.Estimate{Name: o.Name, Share: of(o), Lo: math.NaN(), Hi: math.NaN()}
		text := fmt.Sprintf("%s %.1f %%", o.Name, 100*row.Share)
		if i := o.Intervals[metric]; i.Known() {
			row.Lo, row.Hi = i.Lo, i.Hi
			text += fmt.Sprintf(" (%.1f to %.1f %%)", 100*i.Lo, 100*i.Hi)
		}
		if o.Name == "awo-paper" {
			row.Name, row.Apart = "awo-paper (counted, not replayed)", true
		}
		rows, words = append(rows, row), append(words, text)
	}
	if len(rows) == 0 {
		return nil, nil
	}
	figure, err := plot.Estimates(plot.Axes{Name: name, Title: title, X: x}, rows)
	if err != nil {
		return nil, err
	}
	figure.Alt = title + ", with 95 % intervals: " + strings.Join(words, "; ") + "."
	return figure, nil
}

// partOf returns a part of a whole, NaN where there is none.
func partOf(part, whole float64) float64 {
	if whole == 0 {
		return math.NaN()
	}
	return part / whole
}
