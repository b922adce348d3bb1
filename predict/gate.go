package predict

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
	Preset bool // AutoTool's conditions only: the share, and no two in a row
	Open   bool // no conditions at all, to measure what a predictor is worth
}

// DefaultShare is the largest share of calls made without the language model
// (AutoTool, section 4.4).
const DefaultShare = 0.3

// Past is what a gate asks of the calls so far: their counts and the last of them. It has
// one size however long a trajectory is, so that a gate costs the same at every call. The
// zero value is a trajectory that has just begun.
type Past struct {
	calls, inertial int
	last            Event
}

// Add appends a call to the past.
func (p *Past) Add(e Event) {
	p.calls++
	if e.Inertial {
		p.inertial++
	}
	p.last = e
}

// Allows reports whether the next call may be inertial after a history.
func (g Gate) Allows(history []Event) bool {
	var p Past
	for _, e := range history {
		p.Add(e)
	}
	return g.AllowsAfter(&p)
}

// AllowsAfter is Allows of a history that was added call by call.
func (g Gate) AllowsAfter(p *Past) bool {
	if g.Open {
		return true
	}
	if float64(p.inertial+1) > DefaultShare*float64(p.calls+1) {
		return false
	}
	return p.calls == 0 || !p.last.Inertial && (g.Preset || !p.last.Failed)
}
