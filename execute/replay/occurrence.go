package replay

import (
	"slices"

	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/trace"
)

// Occurrence is a place where a trajectory made the calls of a meta-tool one by
// one.
type Occurrence struct {
	Calls [][]int // by step of the meta-tool: indices into Trajectory.Calls, in order
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
	saved, turn, n := 0, -1, 0
	count := func() {
		if turn >= 0 && turn != t.Calls[o.First()].Turn && n == t.Turns[turn].NumCalls {
			saved++
		}
	}
	for _, calls := range o.Calls {
		for _, c := range calls { // in order, so that those of one turn follow one another
			if at := t.Calls[c].Turn; at != turn {
				count()
				turn, n = at, 0
			}
			n++
		}
	}
	count()
	return saved
}

// Sequence is the calls of a trajectory in which occurrences are looked for:
// those that the model decided on, as far as the rules leave them. It belongs to
// one goroutine.
type Sequence struct {
	record *record
	calls  []int
	cut    []bool       // by element of calls: nothing reaches from the one before to it
	stop   []bool       // by element of calls: it is in nothing, a barrier or a call that failed
	ghost  []bool       // by element of calls: the rules dropped it, and it failed; nil for no such calls
	marks  []merge.Mark // by call; nil without rules
	found  [][]int      // of one At: by step, its calls

	changes func(call int) bool // see merge.Changes; nil until it is asked
}

// NewSequence returns the sequence of t. marks are those of its calls under
// rules, nil without rules. A user message and a barrier cut the sequence, a call that
// failed is in nothing, because an agent looks at it, and a call that repeats an
// earlier one (merge.Repeats) is left out: what it tells is known.
func NewSequence(t *trace.Trajectory, marks []merge.Mark) *Sequence {
	return newSequence(newRecord(t), marks, false)
}

// newSequence is NewSequence, with the failed calls that rules drop if ghosts are
// wanted.
func newSequence(r *record, marks []merge.Mark, ghosts bool) *Sequence {
	t, n := r.t, len(r.t.Calls)
	s := &Sequence{record: r, calls: make([]int, 0, n), cut: make([]bool, 0, n), stop: make([]bool, 0, n), marks: marks}
	var repeats []int
	if !ghosts {
		repeats = r.repeatsUnder(marks)
	}
	cut := false
	for i := range t.Calls {
		c := &t.Calls[i]
		cut = cut || c.AfterUser
		dropped := marks != nil && marks[i].Has(merge.MarkDropped)
		if !ghosts && repeats[i] >= 0 {
			continue
		}
		if c.Origin != trace.OriginModel || dropped && !(ghosts && c.Status == trace.StatusFailed) {
			continue
		}
		if ghosts {
			s.ghost = append(s.ghost, dropped)
		}
		barrier := marks != nil && marks[i].Has(merge.MarkBarrier) || !ghosts && c.Status == trace.StatusFailed
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
	return s.occurrence(tool, i, false)
}

// at is At, and else the occurrence across other reads: they stand before steps that only
// read, and stay the agent's own. Reads may change places; that no argument of a step
// comes from one is for the replay to find out. Behind a step whose result is left out of
// the answer there are none, because they may have used it.
func (s *Sequence) at(tool *metatool.Tool, i int) (o Occurrence, across, ok bool) {
	if o, ok = s.occurrence(tool, i, false); ok {
		return o, false, true
	}
	o, ok = s.occurrence(tool, i, true)
	return o, ok, ok
}

func (s *Sequence) occurrence(tool *metatool.Tool, i int, across bool) (Occurrence, bool) {
	s.found = s.found[:0]
	s.follow(tool, i, across, func(calls []int) bool {
		s.found = append(s.found, calls)
		return true
	})
	if len(s.found) < len(tool.Steps) {
		return Occurrence{}, false
	}
	return Occurrence{Calls: slices.Clone(s.found)}, true
}

// follow tells of the calls of each step of a meta-tool from element i on, until a
// step has none or made returns false. Other reads may stand between steps if it goes
// across them. It returns the element behind them.
func (s *Sequence) follow(tool *metatool.Tool, i int, across bool, made func(calls []int) bool) (end int) {
	at := i
	for n := range tool.Steps {
		step := &tool.Steps[n]
		run := 0
		for n > 0 && s.isGhost(at) && !s.cut[at] && !s.fits(step, s.calls[at]) {
			at++
		}
		if across && n > 0 {
			if across = tool.Output.Returns(n - 1); across && step.ReadOnly {
				at = s.behindReads(step, at)
			}
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

// behindReads returns the next element from at on that may be a call of a step, if there
// are only other reads before it, and else at.
func (s *Sequence) behindReads(step *metatool.Step, at int) int {
	if s.changes == nil {
		s.changes = merge.Changes(s.record.t, s.marks)
	}
	for to := at; to < len(s.calls) && !s.stop[to] && !s.cut[to]; to++ {
		switch {
		case s.fits(step, s.calls[to]):
			return to
		case s.changes(s.calls[to]):
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

// fits reports whether a call may be one of a step: it is of the step's tool, rules call
// it what they call the step, and what is always the same is the same in it.
func (s *Sequence) fits(step *metatool.Step, call int) bool {
	if s.record.t.Calls[call].Tool.Value() != step.Tool {
		return false
	}
	if s.marks != nil && s.marks[call].Name != "" && step.Name != "" && s.marks[call].Name != step.Name {
		return false
	}
	for i := range step.Args {
		a := &step.Args[i]
		if a.Binding.Kind != metatool.BindConst || a.Optional {
			continue
		}
		if v, ok := s.record.arguments(call).Lookup(a.Name); !ok || !v.Equal(a.Binding.Const) {
			return false
		}
	}
	return true
}
