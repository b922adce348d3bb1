package worth

import (
	"strings"
	"testing"

	"github.com/awo-dev/awo/backtest"
	"github.com/awo-dev/awo/cmd/internal/verdict"
)

// TestRecommended holds the recommendation to what was found: another threshold only
// if that costs no more, and what is cheapest of all that was tried.
func TestRecommended(t *testing.T) {
	outcome := func(name string, turns int, usd float64) backtest.Outcome {
		return backtest.Outcome{Name: name, LLMCalls: 200, CallingTurns: 100, CallingTurnsSaved: turns, USD: 10, USDSaved: usd, Tokens: 1000, TokensSaved: int64(100 * usd)}
	}
	sweep := func(p backtest.Parameter, values ...backtest.ValueOutcome) backtest.SweepOutcome {
		return backtest.SweepOutcome{Parameter: p, Technique: "patterns", Values: values}
	}
	found := func(selection string, sweeps ...backtest.SweepOutcome) *BacktestFindings {
		f := &BacktestFindings{options: BacktestOptions{Threshold: 5, Select: selection}, result: &backtest.Result{
			TestTasks: 9, LLMTurns: 200, Sweeps: sweeps,
			Techniques: []backtest.Outcome{outcome("none", 0, 0), outcome("patterns", 30, -2), outcome("preload", 0, 1), outcome("all", 35, 3)},
		}}
		f.best = f.result.Best(backtest.Selection(selection))
		return f
	}
	for name, tc := range map[string]struct {
		found             *BacktestFindings
		technique         string
		threshold         int
		cheapest          string
		cheapestTools     int
		cheapestThreshold int
		reasons           []string
	}{
		"turns": {
			found("turns", sweep(backtest.ParameterThreshold, backtest.ValueOutcome{Value: 3, Outcome: outcome("patterns", 40, -4)}, backtest.ValueOutcome{Value: 5, Outcome: outcome("patterns", 30, -2)})),
			"patterns", 5, "all", 0, 5,
			[]string{"most calling turns", "by money it costs more than it saves", "most money is saved by all: 3.00 of 10.00 USD"},
		},
		"a threshold that costs no more": {
			found("turns", sweep(backtest.ParameterThreshold, backtest.ValueOutcome{Value: 3, Outcome: outcome("patterns", 40, -2)})),
			"patterns", 3, "all", 0, 5,
			[]string{"at the threshold 5, and more at 3"},
		},
		"fewer meta-tools": {
			found("turns", sweep(backtest.ParameterMaxTools, backtest.ValueOutcome{Value: 1, Outcome: outcome("patterns", 10, 4)})),
			"patterns", 5, "patterns", 1, 5,
			[]string{"most money is saved by patterns with --max-tools 1: 4.00 of 10.00 USD"},
		},
		"net": {found("net"), "preload", 5, "all", 0, 5, []string{"of single techniques it saves most money"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := tc.found.inHindsight()
			if got.Technique != tc.technique || got.Threshold != tc.threshold {
				t.Errorf("%s with threshold %d, want %s with %d", got.Technique, got.Threshold, tc.technique, tc.threshold)
			}
			if c := got.Cheapest; c == nil || c.Technique != tc.cheapest || c.MaxTools != tc.cheapestTools || c.Threshold != tc.cheapestThreshold {
				t.Errorf("cheapest is %+v", c)
			}
			for _, words := range tc.reasons {
				if !strings.Contains(got.Reason, words) {
					t.Errorf("%q does not say %q", got.Reason, words)
				}
			}
		})
	}
	nothing := &BacktestFindings{options: BacktestOptions{Threshold: 5, Select: "turns"}, result: &backtest.Result{Techniques: []backtest.Outcome{outcome("none", 0, 0)}}}
	if got := nothing.inHindsight(); got.Technique != "none" || got.Cheapest != nil {
		t.Errorf("%+v of nothing", got)
	}
}

// TestRecommendedFollowsTheVerdict: one result recommends one thing.
func TestRecommendedFollowsTheVerdict(t *testing.T) {
	f := &BacktestFindings{}
	byTurns := recommendedJSON{Technique: "patterns", Threshold: 5, Select: "turns", Reason: "it saves most"}
	if got := f.recommended(byTurns, nil); got != byTurns {
		t.Errorf("%+v without a verdict", got)
	}
	v := &verdict.JSON{Cell: backtest.Cell{Action: backtest.DoBoth, Options: backtest.CellOptions{Threshold: 3, Select: "net"}}, Reason: "it pays"}
	if got := f.recommended(byTurns, v); got.Technique != "both" || got.Threshold != 3 || got.Select != "net" || got.Reason != "it pays" {
		t.Errorf("%+v of %+v", got, v)
	}
	if got := f.recommended(byTurns, &verdict.JSON{Cell: backtest.Cell{Action: backtest.DoNothing}}); got.Technique != "none" {
		t.Errorf("%+v of doing nothing", got)
	}
}
