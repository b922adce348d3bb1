package execute

import (
	"slices"

	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/trace"
)

// Occurrence is a place where a trajectory made the calls of a meta-tool one by
// one.
type Occurrence struct {
	Calls [][]int // by step of the meta-tool: indices into Trajectory.Calls
}

// First returns the first call.
func (o Occurrence) First() int { return o.Calls[0][0] }

// Last returns the last call.
func (o Occurrence) Last() int {
	end := o.Calls[len(o.Calls)-1]
	return end[len(end)-1]
}

// Len returns the number of calls.
func (o Occurrence) Len() int {
	n := 0
	for _, calls := range o.Calls {
		n += len(calls)
	}
	return n
}

// TurnsSaved returns how many calling turns there would be fewer if the
// occurrence were one call in the turn of its first one: those whose calls all
// belong to it. 0 if the trajectory does not record turns.
func (o Occurrence) TurnsSaved(t *trace.Trajectory) int {
	inside := map[int]int{}
	for _, calls := range o.Calls {
		for _, c := range calls {
			inside[t.Calls[c].Turn]++
		}
	}
	saved := 0
	for turn, n := range inside {
		if turn >= 0 && turn != t.Calls[o.First()].Turn && n == t.Turns[turn].NumCalls {
			saved++
		}
	}
	return saved
}

// Sequence is the calls of a trajectory in which occurrences are looked for:
// those that the model decided on, as far as the rules leave them.
type Sequence struct {
	t     *trace.Trajectory
	calls []int
	cut   []bool // by element of calls: nothing reaches from the one before to it
	stop  []bool // by element of calls: it is in nothing
	ghost []bool // by element of calls: the rules dropped it, and it failed; nil for no such calls
}

// NewSequence returns the sequence of t. marks are those of its calls under
// rules, nil without rules. A user message and a barrier cut the sequence.
func NewSequence(t *trace.Trajectory, marks []merge.Mark) *Sequence {
	return newSequence(t, marks, false)
}

// newSequence is NewSequence, with the failed calls that rules drop if ghosts are
// wanted.
func newSequence(t *trace.Trajectory, marks []merge.Mark, ghosts bool) *Sequence {
	s := &Sequence{t: t}
	cut := false
	for i := range t.Calls {
		c := &t.Calls[i]
		cut = cut || c.AfterUser
		dropped := marks != nil && marks[i] == merge.MarkDropped
		if c.Origin != trace.OriginModel || dropped && !(ghosts && c.Status == trace.StatusFailed) {
			continue
		}
		if ghosts {
			s.ghost = append(s.ghost, dropped)
		}
		barrier := marks != nil && marks[i] == merge.MarkBarrier
		s.calls, s.cut, s.stop = append(s.calls, i), append(s.cut, cut || barrier), append(s.stop, barrier)
		cut = barrier
	}
	return s
}

// Len returns the number of calls.
func (s *Sequence) Len() int { return len(s.calls) }

// At returns the occurrence of a meta-tool that begins with element i of the
// sequence: consecutive calls of its steps' tools without a user message between
// them, whose arguments are those that are always the same. A step with Each
// takes all calls of its tool that follow one another, but for one for each
// later step in a row that calls the same tool.
func (s *Sequence) At(tool *metatool.Tool, i int) (Occurrence, bool) {
	occurrence := Occurrence{Calls: make([][]int, 0, len(tool.Steps))}
	s.follow(tool, i, func(calls []int) bool {
		occurrence.Calls = append(occurrence.Calls, calls)
		return true
	})
	if len(occurrence.Calls) < len(tool.Steps) {
		return Occurrence{}, false
	}
	return occurrence, true
}

// follow tells of the calls of each step of a meta-tool from element i on, until a
// step has none or made returns false. It returns the element behind them.
func (s *Sequence) follow(tool *metatool.Tool, i int, made func(calls []int) bool) (end int) {
	at := i
	for n := range tool.Steps {
		step := &tool.Steps[n]
		run := 0
		for n > 0 && s.isGhost(at) && !s.cut[at] && !s.fits(step, s.calls[at]) {
			at++
		}
		for at+run < len(s.calls) && !s.stop[at+run] && (at+run == i || !s.cut[at+run]) && s.fits(step, s.calls[at+run]) {
			if run++; step.Each == nil {
				break
			}
		}
		for later := n + 1; later < len(tool.Steps) && run > 1 && tool.Steps[later].Tool == step.Tool; later++ {
			run--
		}
		if run == 0 {
			return at
		}
		at += run
		if !made(s.calls[at-run : at]) {
			return at
		}
	}
	return at
}

// isGhost reports whether an element is a failed call that rules dropped.
func (s *Sequence) isGhost(at int) bool { return at < len(s.ghost) && s.ghost[at] }

// All returns the occurrences of a meta-tool from left to right, without
// overlaps.
func (s *Sequence) All(tool *metatool.Tool) []Occurrence {
	var found []Occurrence
	for i := 0; len(tool.Steps) > 0 && i+len(tool.Steps) <= len(s.calls); {
		o, ok := s.At(tool, i)
		if !ok {
			i++
			continue
		}
		found = append(found, o)
		i += o.Len()
	}
	return found
}

// fits reports whether a call may be one of a step.
func (s *Sequence) fits(step *metatool.Step, call int) bool {
	c := &s.t.Calls[call]
	if c.Tool.Value() != step.Tool {
		return false
	}
	constant := func(a metatool.Argument) bool { return a.Binding.Kind == metatool.BindConst && !a.Optional }
	if !slices.ContainsFunc(step.Args, constant) {
		return true
	}
	args, _ := c.ArgsValue()
	for _, a := range step.Args {
		if constant(a) {
			if v, ok := args.Lookup(a.Name); !ok || !v.Equal(a.Binding.Const) {
				return false
			}
		}
	}
	return true
}
