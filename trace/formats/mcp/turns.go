package mcp

import (
	"time"

	"github.com/awo-dev/awo/trace"
)

// place writes the calls down: those of the agent in order, behind each what a relay
// made because of it, in turns where every call of the agent has a time.
func (r *mcpReader) place() {
	timed := len(r.agents) > 0
	for _, n := range r.agents {
		timed = timed && !r.calls[n].Start.IsZero()
	}
	var last turnEnd
	for _, n := range r.agents {
		c := &r.calls[n]
		if c.user != "" {
			m := r.b.Message(trace.RoleUser, trace.TextOf(c.user))
			m.Time = c.Start
		}
		if c.Origin != trace.OriginModel { // it stands before all calls of the agent
			r.write(c)
			continue
		}
		if timed && (len(r.b.Trajectory.Turns) == 0 || c.user != "" || !last.shares(c, r.gap)) {
			r.b.Turn()
			r.b.Anomaly(trace.CodeTurnsAssumed, 1)
			last = turnEnd{}
		}
		last.add(c)
		r.write(c)
		for _, step := range c.made {
			r.write(&r.calls[step])
		}
	}
}

// write adds a call to the trajectory.
func (r *mcpReader) write(c *mcpCall) {
	out := r.b.Call(c.ID, c.Tool, c.Args, c.Origin)
	turn := out.Turn
	*out = c.Call
	out.Turn = turn
}

// turnEnd is when the calls of a turn ended: the last of them, by the number of its
// message and by the clock.
type turnEnd struct {
	number int
	at     time.Time
}

// shares reports whether a call is taken for one of the turn. Where the clock went back,
// the order of the messages decides alone.
func (e turnEnd) shares(c *mcpCall, gap time.Duration) bool {
	after := c.Start.Sub(e.at)
	return c.asked < e.number || after >= 0 && after < gap
}

// add counts a call of the turn. One that was never answered ended when it began, so
// that a lost answer does not make one turn of all that follows.
func (e *turnEnd) add(c *mcpCall) {
	number, at := c.asked, c.Start
	if c.answered > 0 && !c.End.IsZero() {
		number, at = max(number, c.answered), c.End
	}
	e.number = max(e.number, number)
	if at.After(e.at) {
		e.at = at
	}
}
