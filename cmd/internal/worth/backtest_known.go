package worth

import (
	"strings"

	"github.com/awo-dev/awo/backtest"
	"github.com/awo-dev/awo/internal/stat"
)

// NoPrices is why figures of money are missing.
const NoPrices = "no turn has a price"

// Why other figures are missing.
const (
	noTokens    = "no trajectory records model turns"
	noTimes     = "no turn records when it began and ended"
	noTestTurns = "no calling turn in the test part"
	noTestTasks = "no task in the test part"
	noMoments   = "no meta-tool could be used"
	noneUsed    = "it occurs in no trajectory of the test part"
	noDuration  = "how long a registration would take is not recorded"
	noOffers    = "no trajectory records the definitions of the tools offered, and input that holds them"
)

// registers reports whether a technique offers definitions of tools when they are
// needed: what it saves is known only where traces say which are offered.
func registers(technique string) bool {
	return technique == "register"
}

// lacks returns why a metric of a technique is not known, "" if it is. A figure
// that nothing supports is not zero, and its interval is none either.
func (f *BacktestFindings) lacks(o *backtest.Outcome, metric string) string {
	offers := registers(o.Name) && o.Used == 0
	calling := strings.HasPrefix(metric, "calling_turns")
	switch {
	case f.result.TestTasks == 0:
		return noTestTasks
	case o.LLMCalls == 0 && !calling:
		return noTokens
	case o.CallingTurns == 0 && (calling || metric == "utilisation" && !registers(o.Name)):
		return noTestTurns
	case strings.HasPrefix(metric, "cost") && f.result.Unpriced >= f.result.LLMTurns:
		return NoPrices
	case offers && !calling:
		return noOffers
	case strings.HasPrefix(metric, "model_seconds") && o.Seconds == 0:
		return noTimes
	case strings.HasPrefix(metric, "model_seconds") && (registers(o.Name) || o.Name == "all" && f.result.NoTools < f.result.Trajectories):
		return noDuration
	}
	return ""
}

// interval returns the interval of a metric, or why there is none.
func (f *BacktestFindings) interval(o *backtest.Outcome, metric string) stat.Interval {
	if why := f.lacks(o, metric); why != "" {
		return stat.NoInterval(why)
	}
	return o.Intervals[metric]
}

// known returns a figure of a technique, or why there is none.
func (f *BacktestFindings) known(o *backtest.Outcome, metric string, v float64) stat.Figure {
	if why := f.lacks(o, metric); why != "" {
		return stat.Unknown(why)
	}
	return stat.Known(v)
}
