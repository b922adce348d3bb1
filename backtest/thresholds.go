package backtest

import (
	"fmt"

	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/metatool/compile"
)

// ThresholdsTried are the thresholds that Thresholds tries.
var ThresholdsTried = [...]int{3, 5, 10, 20, 50}

// ThresholdOutcome is what a threshold comes to.
type ThresholdOutcome struct {
	Threshold int
	Outcome
}

// Thresholds back-tests the compiler with several thresholds.
func Thresholds(runs []*corpus.Run, o Options) ([]ThresholdOutcome, error) {
	algorithm := compile.AWO
	if o.Compile.Algorithm == compile.Patterns {
		algorithm = compile.Patterns
	}
	o.Techniques = nil
	for _, t := range ThresholdsTried {
		o.Techniques = append(o.Techniques, offer{way: way{algorithm: algorithm, threshold: t}}.technique(fmt.Sprint(t), ""))
	}
	r, err := Run(runs, o)
	if err != nil {
		return nil, err
	}
	out := make([]ThresholdOutcome, len(r.Techniques))
	for i, t := range r.Techniques {
		out[i] = ThresholdOutcome{ThresholdsTried[i], t}
	}
	return out, nil
}

// BestThreshold returns the threshold that saves most calling turns, of several the
// highest, which has the most evidence. 0 if nothing was tried.
func BestThreshold(list []ThresholdOutcome) int {
	best := ThresholdOutcome{}
	for _, t := range list {
		if t.CallingTurnsSaved >= best.CallingTurnsSaved {
			best = t
		}
	}
	return best.Threshold
}
