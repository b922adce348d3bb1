package replay

import (
	"context"
	"slices"

	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/metatool/execute"
	"github.com/awo-dev/awo/trace"
)

// Moment is where a trajectory made the first call of a tool of a set, and an agent
// could have called the tool instead: what it needs to know beyond that call it knew.
// The rest of the calls followed, or they did not.
type Moment struct {
	Tool       int // index into the set
	Begin, End int // elements of the Sequence; where the rest did not follow, only the first
	Call       int // the first call, as an index into Trajectory.Calls

	// Followed says that the recorded calls are those that the tool makes.
	Followed bool

	replay *Replay // what the tool does there; nil where it was not followed so far
}

// Removed returns the turns that there would be without, where the rest followed; none
// where the calls were made in one turn.
func (m *Moment) Removed() []int {
	return m.replay.removed
}

// Calls returns the calls by step of the tool, where the rest followed.
func (m *Moment) Calls() [][]int {
	return m.replay.Occurrence.Calls
}

// Last returns the last call, where the rest followed.
func (m *Moment) Last() int {
	return m.replay.Occurrence.Last()
}

// Uses are the places and the moments of a set of tools in a trajectory. They belong to
// one goroutine.
type Uses struct {
	Places  []Place
	Moments []Moment // in order of Begin, then of Tool

	// NotComparable are places beside Moments: the recording lacks what says whether the
	// rest followed.
	NotComparable int

	finder   *Finder
	sequence *Sequence
	player   *Player
}

// needed is where a trajectory has what a need asks for.
type needed struct {
	isRead        bool
	first, second int // elements with the argument, the number of elements for none
	element       int // that was asked for last, -1 for none
	known         bool
}

// Use returns the places of Find, and the moments of the tools. flow is that of t, nil where it
// was not collected.
//
// What a tool takes beyond its first call was known if the recording says so where the
// calls followed. Where they did not it was, as far as can be told, if the next call of
// the tool that takes it has a value that was known, or if an earlier one had a value.
func (f *Finder) Use(t *trace.Trajectory, marks []merge.Mark, flow *dataflow.Flow) *Uses {
	record := newRecord(t)
	record.flow = flow
	u := &Uses{finder: f, sequence: newSequence(record, marks, false), player: newPlayer(record, &f.collector)}
	needs := make([]needed, len(f.needs))
	for i, call := range u.sequence.calls {
		if u.sequence.stop[i] {
			continue
		}
		for _, n := range f.byFirst[t.Calls[call].Tool] {
			if !u.sequence.fits(&f.plans[n].steps[0], call) {
				continue
			}
			var r *Replay
			end := 0
			if o, across, ok := u.sequence.at(f.plans[n], i); ok {
				if p, ok := f.place(u.sequence, u.player, n, o, o.Removed(t), across); ok {
					r, end, p.Replay.removed = p.Replay, p.End, p.Removed
					if len(p.Removed) > 0 || t.Calls[call].Turn < 0 {
						u.Places = append(u.Places, p)
					}
				}
			}
			m := Moment{Tool: n, Begin: i, End: i + 1, Call: call, replay: r}
			switch {
			case r == nil:
				if !u.known(needs, n, i) {
					continue
				}
			case r.NotComparable:
				u.NotComparable++
				continue
			case !r.Known:
				continue
			case r.Exact:
				m.Followed, m.End = true, end
			}
			u.Moments = append(u.Moments, m)
		}
	}
	u.player.close()
	return u
}

// Begun returns what Finder.Begun does.
func (u *Uses) Begun() []Begun { return u.finder.begun(u.player.record, u.sequence.marks) }

// known reports whether what a tool takes beyond its first call can be taken to have
// been known at element i.
func (u *Uses) known(list []needed, tool, i int) bool {
	f := u.finder
	for _, number := range f.plans[tool].needs {
		n := &list[number]
		if !n.isRead {
			u.find(n, &f.needs[number])
		}
		if n.element != i {
			n.element, n.known = i, u.isKnown(n, &f.needs[number], i)
		}
		if !n.known {
			return false
		}
	}
	return true
}

// find looks for the first two calls that have what is needed: which comes next behind an
// element matters only where none was before it.
func (u *Uses) find(n *needed, what *need) {
	end := len(u.sequence.calls)
	*n = needed{isRead: true, first: end, second: end, element: -1}
	for i, call := range u.sequence.calls {
		if u.player.t.Calls[call].Tool != what.called || u.player.arguments(call).Find(what.argument) == nil {
			continue
		}
		if n.first < end {
			n.second = i
			return
		}
		n.first = i
	}
}

// isKnown reports whether what is needed was given before element i, or next with a value
// that was known at it.
func (u *Uses) isKnown(n *needed, what *need, i int) bool {
	next := n.first
	if n.first == i {
		next = n.second
	}
	switch {
	case n.first < i:
		return true
	case next == len(u.sequence.calls):
		return false
	}
	return u.player.knew(u.sequence.calls[next], what.argument, u.sequence.calls[i])
}

// Spent is what a tool does at a moment that nobody asked for there.
type Spent struct {
	Reads, Writes int
	ByStep        []int // the same by step
	HandedBack    bool  // it ends early, and the agent has to see what came of it
}

// Spent returns what the tool does at a moment beyond what was recorded there. Where
// the recordings hold no answer to a call it is taken to go well, and of what follows
// from its answer each step makes one call.
func (u *Uses) Spent(m *Moment) Spent {
	plan := u.finder.plans[m.Tool]
	tool := plan.tool
	out := Spent{ByStep: make([]int, len(tool.Steps))}
	spend := func(step, calls int) {
		out.ByStep[step] += calls
		if tool.Steps[step].ReadOnly {
			out.Reads += calls
		} else {
			out.Writes += calls
		}
	}
	if m.Followed {
		for i := range m.replay.Steps {
			spend(i, m.replay.Steps[i].Extra)
		}
		return out
	}
	// What was recorded from here on in this order is asked for here.
	asked := []int{m.Call}
	if m.replay != nil {
		asked = asked[:0]
		for _, calls := range m.replay.Occurrence.Calls {
			asked = append(asked, calls...)
		}
	}
	inputs := u.inputsAt(plan, m)
	outcome := u.player.runner.Run(context.Background(), tool, inputs, u.player.recordings(m.Call), execute.Options{MaxCalls: maxReplayCalls, SkipFailedReads: true, Retries: -1})
	for i := range outcome.Steps {
		calls := 0
		for k := range outcome.Steps[i].Calls {
			if at := u.among(asked, tool.Steps[i].Tool, &outcome.Steps[i].Calls[k].Args); at >= 0 {
				asked = append(asked[:at:at], asked[at+1:]...)
				continue
			}
			calls++
		}
		spend(i, calls)
	}
	unanswered := false
	for i := range outcome.Steps {
		unanswered = unanswered || slices.ContainsFunc(outcome.Steps[i].Calls, func(c execute.CallRun) bool { return c.Err != nil })
	}
	f := outcome.Failure
	switch {
	case f == nil:
	case unanswered || f.Step < 0:
		for i := max(f.Step, 1); i < len(tool.Steps); i++ {
			if i >= len(outcome.Steps) || len(outcome.Steps[i].Calls) == 0 {
				spend(i, 1)
			}
		}
	default:
		out.HandedBack = true
	}
	return out
}

// among returns which of some calls has a tool and arguments, -1 for none.
func (u *Uses) among(calls []int, tool string, args *trace.Value) int {
	for at, c := range calls {
		if u.player.t.Calls[c].Tool.Value() == tool && u.player.arguments(c).Equal(*args) {
			return at
		}
	}
	return -1
}

// inputsAt returns the inputs that an agent would have given: what the calls say that
// followed, and else the arguments of the first call and of the next that take them.
func (u *Uses) inputsAt(p *plan, m *Moment) trace.Value {
	if m.replay != nil {
		inputs, _ := u.player.inputs(p, m.replay.Occurrence)
		return inputs
	}
	o := Occurrence{Calls: make([][]int, len(p.steps))}
	o.Calls[0] = []int{m.Call}
	var members []trace.Member
	for i := range p.inputs {
		in := &p.inputs[i]
		if in.Step == 0 {
			if v, ok := u.player.inputValue(p, in, o, 1); ok {
				members = append(members, trace.Member{Name: in.Name, Value: v})
			}
			continue
		}
		if v, ok := u.laterInput(p, in, m.Begin); ok {
			members = append(members, trace.Member{Name: in.Name, Value: v})
		}
	}
	return trace.NewObject(members...)
}

// laterInput returns the value of an input that a later step takes: that of the next
// call of its tool, else that of the last one before.
func (u *Uses) laterInput(p *plan, in *planInput, i int) (trace.Value, bool) {
	if !in.isArgument {
		return trace.Value{}, false
	}
	value := func(call int) (trace.Value, bool) {
		if u.player.t.Calls[call].Tool != p.steps[in.Step].called {
			return trace.Value{}, false
		}
		return u.player.arguments(call).Lookup(in.Argument)
	}
	for _, call := range u.sequence.calls[i+1:] {
		if v, ok := value(call); ok {
			return v, true
		}
	}
	for k := i - 1; k >= 0; k-- {
		if v, ok := value(u.sequence.calls[k]); ok {
			return v, true
		}
	}
	return trace.Value{}, false
}
