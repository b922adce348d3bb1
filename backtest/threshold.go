package backtest

import "github.com/awo-dev/awo/metatool"

// ThresholdOutcome is what a threshold T saves on tasks that were not compiled from.
type ThresholdOutcome struct {
	Threshold int
	Outcome
}

// ThresholdsTried are the thresholds that Thresholds tries.
var ThresholdsTried = [...]int{3, 5, 10, 20, 50}

// Thresholds back-tests the compiler with several thresholds.
func Thresholds(source metatool.Source, o Options) ([]ThresholdOutcome, error) {
	return sweep(source, o, ThresholdsTried[:], techniqueOf(o.Compile.Algorithm))
}

// techniqueOf returns the technique whose meta-tools an algorithm gives.
func techniqueOf(a metatool.Algorithm) Technique {
	if a == metatool.AlgorithmPatterns {
		return patterns
	}
	return awoAnywhere
}

// sweep back-tests one technique with several thresholds.
func sweep(source metatool.Source, o Options, thresholds []int, technique Technique) ([]ThresholdOutcome, error) {
	var out []ThresholdOutcome
	for _, t := range thresholds {
		o.Techniques = []Technique{technique}
		o.Compile.Extract.Threshold, o.Compile.Bind.Threshold = t, t
		r, err := Run(source, o)
		if err != nil {
			return nil, err
		}
		out = append(out, ThresholdOutcome{t, r.Techniques[0]})
	}
	return out, nil
}

// BestThreshold returns the threshold that saves most calling turns, of several
// the highest: it needs the most evidence.
func BestThreshold(tried []ThresholdOutcome) int {
	best := 0
	for i := range tried {
		if tried[i].CallingTurnsSaved >= tried[best].CallingTurnsSaved {
			best = i
		}
	}
	return tried[best].Threshold
}
