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
	effects []effect            // by element of calls, once they were asked for
}

// effect says whether a call changes anything, once that was asked.
type effect uint8

const (
	effectNotAsked effect = iota
	effectNone
	effectSome
)

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
	o, _, ok := s.occurrence(newPlan(tool), i, false)
	return o, ok
}

// at is At, and else the occurrence across other reads: they stand before steps that only
// read, and stay the agent's own. Reads may change places; that no argument of a step
// comes from one is for the replay to find out. Behind a step whose result is left out of
// the answer there are none, because they may have used it.
func (s *Sequence) at(p *plan, i int) (o Occurrence, across, ok bool) {
	return s.occurrence(p, i, true)
}

func (s *Sequence) occurrence(p *plan, i int, mayCross bool) (o Occurrence, across, ok bool) {
	s.found = s.found[:0]
	_, across = s.follow(p, i, mayCross, func(calls []int) bool {
		s.found = append(s.found, calls)
		return true
	})
	if len(s.found) < len(p.steps) {
		return Occurrence{}, false, false
	}
	return Occurrence{Calls: slices.Clone(s.found)}, across, true
}

// follow tells of the calls of each step of a meta-tool from element i on, until a
// step has none or made returns false. Other reads may stand between steps if it may
// cross them, where there is no occurrence without; across says that they do. It returns
// the element behind the calls.
func (s *Sequence) follow(p *plan, i int, mayCross bool, made func(calls []int) bool) (end int, across bool) {
	at := i
	for n := range p.steps {
		step := &p.steps[n]
		for n > 0 && s.isGhost(at) && !s.cut[at] && !s.fits(step, s.calls[at]) {
			at++
		}
		run := s.run(step, at, i)
		if run == 0 && mayCross && step.crosses {
			if to := s.behindReads(step, at); to > at {
				at, across = to, true
				run = s.run(step, at, i)
			}
		}
		for later := step.alike; later > 0 && run > 1; later-- {
			run--
		}
		if run == 0 {
			return at, across
		}
		at += run
		if !made(s.calls[at-run : at]) {
			return at, across
		}
	}
	return at, across
}

// run returns how many elements from at on are calls of a step of an occurrence that
// begins with element i.
func (s *Sequence) run(step *planStep, at, i int) int {
	run := 0
	for at+run < len(s.calls) && !s.stop[at+run] && (at+run == i || !s.cut[at+run]) && s.fits(step, s.calls[at+run]) {
		if run++; step.Each == nil {
			break
		}
	}
	return run
}

// behindReads returns the next element from at on that may be a call of a step, if there
// are only other reads before it, and else at.
func (s *Sequence) behindReads(step *planStep, at int) int {
	for to := at; to < len(s.calls) && !s.stop[to] && !s.cut[to]; to++ {
		switch {
		case s.fits(step, s.calls[to]):
			return to
		case s.isChange(to):
			return at
		}
	}
	return at
}

// isChange reports whether the call of an element changes anything; see merge.Changes.
func (s *Sequence) isChange(at int) bool {
	if s.effects == nil {
		s.changes, s.effects = merge.Changes(s.record.t, s.marks), make([]effect, len(s.calls))
	}
	if s.effects[at] == effectNotAsked {
		s.effects[at] = effectNone
		if s.changes(s.calls[at]) {
			s.effects[at] = effectSome
		}
	}
	return s.effects[at] == effectSome
}

// isGhost reports whether an element is a failed call that rules dropped.
func (s *Sequence) isGhost(at int) bool { return at < len(s.ghost) && s.ghost[at] }

// fits reports whether a call may be one of a step: it is of the step's tool, rules call
// it what they call the step, and what is always the same is the same in it.
func (s *Sequence) fits(step *planStep, call int) bool {
	if s.record.t.Calls[call].Tool != step.called {
		return false
	}
	if s.marks != nil && s.marks[call].Name != "" && step.Name != "" && s.marks[call].Name != step.Name {
		return false
	}
	for _, i := range step.fixed {
		a := &step.Args[i]
		if v := s.record.arguments(call).Find(a.Name); v == nil || !v.Equal(a.Binding.Const) {
			return false
		}
	}
	return true
}
