package worth

import (
	"strings"
	"testing"

	"github.com/awo-dev/awo/backtest"
)

// TestRecommended holds the recommendation to what was found: what saves most turns, or most
// money, and what is cheapest of all that was tried.
func TestRecommended(t *testing.T) {
	outcome := func(name string, turns int, usd float64) backtest.Outcome {
		return backtest.Outcome{Name: name, LLMCalls: 200, CallingTurns: 100, CallingTurnsSaved: turns, USD: 10, USDSaved: usd, Tokens: 1000, TokensSaved: int64(100 * usd)}
	}
	for selection, tc := range map[string]struct {
		technique string
		reasons   []string
	}{
		"turns": {"patterns", []string{"most calling turns", "by money it costs more than it saves", "most money is saved by all: 3.00 of 10.00 USD"}},
		"net":   {"register", []string{"of single techniques it saves most money"}},
	} {
		t.Run(selection, func(t *testing.T) {
			f := &BacktestFindings{options: BacktestOptions{Threshold: 5, Select: selection}, result: &backtest.Result{
				TestTasks: 9, LLMTurns: 200,
				Techniques: []backtest.Outcome{outcome("none", 0, 0), outcome("patterns", 30, -2), outcome("register", 0, 1), outcome("all", 35, 3)},
			}}
			f.best = f.result.Best(backtest.Selection(selection))
			got := f.inHindsight()
			if got.Technique != tc.technique || got.Threshold != 5 {
				t.Errorf("%s with threshold %d, want %s with 5", got.Technique, got.Threshold, tc.technique)
			}
			if c := got.Cheapest; c == nil || c.Technique != "all" {
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
