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
		o.Compile.Extract.Threshold, o.Compile.Bind.Threshold, o.Choose.MinTurns = t, t, t
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

// Sweep back-tests the technique of that name with several thresholds; with one
// that no table has, or no thresholds, it returns nothing.
func Sweep(source metatool.Source, o Options, thresholds []int, technique string) ([]ThresholdOutcome, error) {
	for _, t := range Techniques {
		if t.Name == technique {
			return sweep(source, o, thresholds, t)
		}
	}
	return nil, nil
}

// Best returns the technique to recommend: of those that are replayed the one that
// saves most calling turns, wrong calls taken off; if none does, the one that saves
// most money, or tokens. Combinations are none to recommend. nil if none saves
// anything.
func (r *Result) Best() *Outcome {
	var best *Outcome
	for i := range r.Techniques {
		o := &r.Techniques[i]
		if o.Name == awoPaper.Name || o.Name == all.Name || o.CallingTurnsSaved-o.Wrong <= 0 {
			continue
		}
		if best == nil || o.CallingTurnsSaved-o.Wrong > best.CallingTurnsSaved-best.Wrong {
			best = o
		}
	}
	if best != nil {
		return best
	}
	for i := range r.Techniques {
		o := &r.Techniques[i]
		if o.Name == awoPaper.Name || o.Name == all.Name || o.USDSaved <= 0 && (o.USD > 0 || o.TokensSaved <= 0) {
			continue
		}
		if best == nil || o.USDSaved > best.USDSaved || o.USDSaved == best.USDSaved && o.TokensSaved > best.TokensSaved {
			best = o
		}
	}
	return best
}
