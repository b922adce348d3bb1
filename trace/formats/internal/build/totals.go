package build

import (
	"math"

	"github.com/awo-dev/awo/trace"
)

// Totals are the sums and counts that a trajectory states about itself; 0 where it states
// none.
type Totals struct {
	Usage        trace.Usage // of all responses
	Turns, Calls int         // at least
}

// Compare counts what does not add up in the first of the trajectories that share some
// totals. Token counts and costs are compared where every response has them: some formats
// leave out those of some.
func (s Totals) Compare(all []*trace.Trajectory) {
	if s == (Totals{}) || len(all) == 0 {
		return
	}
	var sum trace.Usage
	turns, calls, counted, priced := 0, 0, true, true
	for _, t := range all {
		for i := range t.Turns {
			u := t.Turns[i].Usage
			sum.Add(u)
			counted, priced = counted && u.Known, priced && u.CostUSD != nil
		}
		turns, calls = turns+len(t.Turns), calls+len(t.Calls)
		if t.Anomalies.ByCode[CodeResponseElsewhere] > 0 { // which the total counts
			counted, priced = false, false
		}
	}
	differs := func(stated, read int64) bool { return stated > 0 && stated != read }
	off := counted && sum.Known && (differs(s.Usage.Input, sum.Input) || differs(s.Usage.Output, sum.Output))
	if s.Usage.CostUSD != nil && sum.CostUSD != nil && priced {
		off = off || math.Abs(*s.Usage.CostUSD-*sum.CostUSD) > costTolerance*math.Abs(*s.Usage.CostUSD)+costRounding
	}
	if off {
		all[0].Anomalies.AddN(CodeUsageSum, 1)
	}
	if s.Turns > turns || s.Calls > calls {
		all[0].Anomalies.AddN(CodeStepsMissing, 1)
	}
}

// How far a total cost may be from the sum of costs: by a share, and in USD.
const (
	costTolerance = 0.001
	costRounding  = 1e-6
)
