package inertia

// An Event is a call that was made, as the gate sees it.
type Event struct {
	Inertial bool // made without asking the language model
	Failed   bool
}

// Gate says when calls may be made without the language model, as a pure
// function of the calls so far. The zero value is the default: never right after
// such a call or after a failure, and at most 30 % of all calls, the one in
// question included.
type Gate struct {
	Share  float64 // of all calls; 0 means 0.3, and 1 or more sets no bound
	Preset bool    // AutoTool's conditions only: the share, and no two in a row
	Open   bool    // no conditions at all, to measure what a predictor is worth
}

// DefaultShare is the largest share of calls made without the language model
// (AutoTool, section 4.4).
const DefaultShare = 0.3

// Allows reports whether the next call may be inertial.
func (g Gate) Allows(history []Event) bool {
	if g.Open {
		return true
	}
	share := g.Share
	if share == 0 {
		share = DefaultShare
	}
	inertial := 1
	for _, e := range history {
		if e.Inertial {
			inertial++
		}
	}
	if float64(inertial) > share*float64(len(history)+1) {
		return false
	}
	if len(history) == 0 {
		return true
	}
	last := history[len(history)-1]
	return !last.Inertial && (g.Preset || !last.Failed)
}

// Recovers reports whether the last two calls failed, after which the configured
// recovery call may be forced.
func (g Gate) Recovers(history []Event) bool {
	n := len(history)
	return n >= 2 && history[n-1].Failed && history[n-2].Failed
}
