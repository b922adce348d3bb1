package replay

import (
	"context"
	"slices"

	"github.com/awo-dev/awo/execute"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/trace"
)

// Moment is where a trajectory made the first call of a tool of a set, and an agent
// could have called the tool instead: what it needs to know beyond that call it knew.
// The rest of the calls followed, or they did not.
type Moment struct {
	Tool       int // index into the set
	Begin, End int // elements of the Sequence; where the rest did not follow, only the first
	Call       int // the first call, as an index into Trajectory.Calls

	// Followed says that the recorded calls are those that the tool makes. Removed are
	// then the turns that there would be without; none where they were made in one turn.
	Followed bool
	Removed  []int

	replay *Replay // what the tool does there; nil where it was not followed so far
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

	tools    []*metatool.Tool
	sequence *Sequence
	player   *Player
}

// Use returns the places of Find, and the moments of the tools.
//
// What a tool takes beyond its first call was known if the recording says so where the
// calls followed. Where they did not it was, as far as can be told, if the next call of
// the tool that takes it has a value that was known, or if an earlier one had a value.
func (f *Finder) Use(t *trace.Trajectory, marks []merge.Mark) *Uses {
	record := newRecord(t)
	u := &Uses{tools: f.tools, sequence: newSequence(record, marks, false), player: newPlayer(record, &f.collector)}
	for i, call := range u.sequence.calls {
		for _, n := range f.byFirst[t.Calls[call].Tool.Value()] {
			if u.sequence.stop[i] || !u.sequence.fits(&f.tools[n].Steps[0], call) {
				continue
			}
			var p Place
			if o, across, ok := u.sequence.at(f.tools[n], i); ok {
				p, ok = f.place(u.sequence, u.player, n, o, across)
				if ok && (len(p.Removed) > 0 || t.Calls[call].Turn < 0) {
					u.Places = append(u.Places, p)
				}
			}
			u.moment(i, n, &p)
		}
	}
	return u
}

// moment notes a moment at element i of the sequence of tool n, if it is one. p is what
// the tool does there; its Replay is nil where the calls did not follow.
func (u *Uses) moment(i, n int, p *Place) {
	r := p.Replay
	m := Moment{Tool: n, Begin: i, End: i + 1, Call: u.sequence.calls[i], replay: r}
	switch {
	case r == nil:
		if !u.known(u.tools[n], i) {
			return
		}
	case r.NotComparable:
		u.NotComparable++
		return
	case !r.Known:
		return
	case r.Exact:
		m.Followed, m.Removed, m.End = true, p.Removed, p.End
	}
	u.Moments = append(u.Moments, m)
}

// known reports whether what a tool takes beyond its first call can be taken to have
// been known at element i.
func (u *Uses) known(tool *metatool.Tool, i int) bool {
	for n := range tool.Inputs {
		in := &tool.Inputs[n]
		if in.Step <= 0 || in.Step >= len(tool.Steps) || !in.Required {
			continue
		}
		step := &tool.Steps[in.Step]
		argument := in.Argument
		if step.Each != nil && step.Each.Kind == metatool.BindInput && step.Each.Input == in.Name {
			argument = elementArgument(step)
		}
		if argument != "" && !u.knownArgument(step.Tool, argument, i) {
			return false
		}
	}
	return true
}

// elementArgument returns the first argument of a walk that the element gives.
func elementArgument(step *metatool.Step) string {
	for i := range step.Args {
		if step.Args[i].Binding.Kind == metatool.BindElement {
			return step.Args[i].Name
		}
	}
	return ""
}

func (u *Uses) knownArgument(tool, argument string, i int) bool {
	has := func(call int) bool {
		if u.player.t.Calls[call].Tool.Value() != tool {
			return false
		}
		_, ok := u.player.arguments(call).Lookup(argument)
		return ok
	}
	for _, call := range u.sequence.calls[:i] {
		if has(call) {
			return true
		}
	}
	for _, call := range u.sequence.calls[i+1:] {
		if has(call) {
			return u.player.knew(call, argument, u.sequence.calls[i])
		}
	}
	return false
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
	tool := u.tools[m.Tool]
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
	if u.player.answers == nil {
		u.player.answers = newAnswers(u.player.record)
	}
	inputs := u.inputsAt(tool, m)
	outcome := execute.Run(context.Background(), tool, inputs, u.player.answers.from(m.Call), execute.Options{MaxCalls: maxReplayCalls, SkipFailedReads: true, Retries: -1})
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
func (u *Uses) inputsAt(tool *metatool.Tool, m *Moment) trace.Value {
	if m.replay != nil {
		inputs, _ := u.player.inputs(tool, m.replay.Occurrence)
		return inputs
	}
	o := Occurrence{Calls: make([][]int, len(tool.Steps))}
	o.Calls[0] = []int{m.Call}
	var members []trace.Member
	for i := range tool.Inputs {
		in := &tool.Inputs[i]
		if in.Step == 0 {
			if v, ok := u.player.inputValue(&metatool.Tool{Steps: tool.Steps[:1]}, o, in.Name); ok {
				members = append(members, trace.Member{Name: in.Name, Value: v})
			}
			continue
		}
		if v, ok := u.laterInput(tool, in, m.Begin); ok {
			members = append(members, trace.Member{Name: in.Name, Value: v})
		}
	}
	return trace.NewObject(members...)
}

// laterInput returns the value of an input that a later step takes: that of the next
// call of its tool, else that of the last one before.
func (u *Uses) laterInput(tool *metatool.Tool, in *metatool.Input, i int) (trace.Value, bool) {
	if in.Step >= len(tool.Steps) || !isArgument(&tool.Steps[in.Step], in) {
		return trace.Value{}, false
	}
	value := func(call int) (trace.Value, bool) {
		if u.player.t.Calls[call].Tool.Value() != tool.Steps[in.Step].Tool {
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
