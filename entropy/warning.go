package entropy

import (
	"fmt"
	"math"

	"github.com/awo-dev/awo/internal/stat"
)

// Programs outside this module cannot name the types of internal/stat: here they can.
type (
	Figure   = stat.Figure   // a number, or why the input does not support one
	Interval = stat.Interval // what a figure may as well be
)

// Warning codes are stable: scripts may match on them.
const (
	WarnBias            = "bias-dominated"        // too many cells were seen once
	WarnOptimistic      = "plug-in-optimistic"    // the plug-in is far below the held-out loss
	WarnSmallExpected   = "small-expected"        // the chi-square p is unreliable
	WarnShortened       = "monte-carlo-shortened" // fewer permutations than asked for
	WarnFewTasks        = "few-tasks"             // intervals need more tasks
	WarnNoHeldOut       = "no-held-out"           // fewer than two tasks
	WarnUnseen          = "unseen-symbols"        // many held-out symbols never occur elsewhere
	WarnNoWindows       = "no-windows"            // no sequence is long enough
	WarnDifferentSample = "different-samples"     // the two likelihoods are not on the same windows
	WarnOneSided        = "one-sided"             // only one group has what would be compared
	WarnNoFreedom       = "no-degrees-of-freedom"
)

// unsupported is why a figure is null where nothing says more.
const unsupported = "these traces do not support this figure"

// figure returns v, and null for what is not finite.
func figure(v float64) stat.Figure { return stat.Finite(v, unsupported) }

// none is a figure that the input does not support.
var none = stat.Unknown(unsupported)

// A Warning says what a figure should not be taken for.
type Warning struct {
	Code string `json:"code"`
	Msg  string `json:"msg"`
}

func warn(code, format string, args ...any) Warning {
	return Warning{code, fmt.Sprintf(format, args...)}
}

// taskWarning says what the number of tasks does to intervals.
func taskWarning(tasks int) []Warning {
	switch {
	case tasks < stat.MinClusters:
		return []Warning{warn(WarnFewTasks, "intervals need at least %d tasks, there are %d", stat.MinClusters, tasks)}
	case tasks < stat.GoodClusters:
		return []Warning{warn(WarnFewTasks, "with %d tasks intervals are rough, %d make good ones", tasks, stat.GoodClusters)}
	}
	return nil
}

// sum adds up numbers and carries what each addition loses (Neumaier's variant
// of Kahan's summation).
type sum struct{ total, lost float64 }

func (s *sum) add(x float64) {
	t := s.total + x
	if math.Abs(s.total) >= math.Abs(x) {
		s.lost += (s.total - t) + x
	} else {
		s.lost += (x - t) + s.total
	}
	s.total = t
}

func (s *sum) value() float64 { return s.total + s.lost }
