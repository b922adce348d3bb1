package worth

import (
	"math"
	"testing"

	"github.com/awo-dev/awo/backtest"
	"github.com/awo-dev/awo/internal/stat"
)

// TestUnknownHasNoInterval holds that a figure that the traces do not bear is
// missing together with its interval, and that all others are there.
func TestUnknownHasNoInterval(t *testing.T) {
	known := map[string]stat.Interval{}
	for _, metric := range backtest.Metrics {
		known[metric] = stat.Interval{Level: 0.95}
	}
	outcome := func(name string, used int) backtest.Outcome {
		return backtest.Outcome{Name: name, Used: used, LLMCalls: 20, CallingTurns: 10, Seconds: 60, Intervals: known, StepsBefore: math.NaN(), StepsAfter: math.NaN()}
	}
	priced := backtest.Result{TestTasks: 4, Trajectories: 4, LLMTurns: 20}
	unpriced := priced
	unpriced.Unpriced = 20
	silent := outcome("patterns", 0) // no turns
	silent.LLMCalls, silent.CallingTurns, silent.Seconds = 0, 0, 0
	untimed := outcome("patterns", 3)
	untimed.Seconds = 0
	recorded := priced // tools are offered, so that all registers them
	recorded.NoTools = 1
	unrecorded := priced
	unrecorded.NoTools = 4
	times := func(reason string) map[string]string {
		return map[string]string{"model_seconds_saved": reason, "model_seconds_saved_share": reason}
	}
	for name, tc := range map[string]struct {
		result  backtest.Result
		outcome backtest.Outcome
		missing map[string]string // by metric
	}{
		"all known": {priced, outcome("patterns", 3), nil},
		"no price":  {unpriced, outcome("patterns", 3), map[string]string{"cost_saved_usd": NoPrices, "cost_saved_share": NoPrices}},
		"no turns": {unpriced, silent, map[string]string{
			"llm_calls_saved": noTokens, "llm_calls_saved_share": noTokens, "calling_turns_saved": noTestTurns, "calling_turns_saved_share": noTestTurns,
			"tokens_saved": noTokens, "tokens_saved_share": noTokens, "cost_saved_usd": noTokens, "cost_saved_share": noTokens, "utilisation": noTokens,
			"model_seconds_saved": noTokens, "model_seconds_saved_share": noTokens,
		}},
		"no definitions": {priced, outcome("register", 0), map[string]string{
			"llm_calls_saved": noOffers, "llm_calls_saved_share": noOffers, "tokens_saved": noOffers, "tokens_saved_share": noOffers,
			"cost_saved_usd": noOffers, "cost_saved_share": noOffers, "utilisation": noOffers,
			"model_seconds_saved": noOffers, "model_seconds_saved_share": noOffers,
		}},
		"definitions":        {priced, outcome("register", 2), times(noDuration)},
		"no times":           {priced, untimed, times(noTimes)},
		"all with tools":     {recorded, outcome("all", 2), times(noDuration)},
		"all without a tool": {unrecorded, outcome("all", 2), nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := BacktestFindings{result: &tc.result}
			out := f.technique(&tc.outcome)
			for _, metric := range backtest.Metrics {
				if got := out.Intervals[metric].Reason; got != tc.missing[metric] {
					t.Errorf("%s: no interval because of %q, want %q", metric, got, tc.missing[metric])
				}
			}
			for metric, figure := range map[string]interface{ Value() (float64, bool) }{
				"utilisation": out.Utilisation, "tokens_saved": out.TokensSaved, "cost_saved_usd": out.CostSavedUSD, "calling_turns_saved_share": out.Share, "model_seconds_saved": out.SecondsSaved,
			} {
				if _, ok := figure.Value(); ok != (tc.missing[metric] == "") {
					t.Errorf("%s is known: %v, and its interval is missing because of %q", metric, ok, tc.missing[metric])
				}
			}
		})
	}
}
