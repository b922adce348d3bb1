package merge

import (
	"github.com/awo-dev/awo/internal/toolname"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// Step is one call as the rules see it: what becomes an edge of the graph.
type Step struct {
	action *action

	// The recorded calls that the step stands for are among FirstCall to
	// LastCall, indices into Trajectory.Calls: Calls many of them, one unless a
	// rule folded several, none if a rule inserted the step, which then borrows
	// the place of the call it belongs to. They were made from FirstTurn to
	// LastTurn, indices into Trajectory.Turns, in Turns different ones.
	FirstCall, LastCall, Calls int32
	FirstTurn, LastTurn, Turns int32

	Status    trace.Status
	Inserted  bool
	AfterUser bool // a user message came after the step before
	Cut       bool // `failed: split` cut the trajectory here: the step starts again at the root
}

// Label returns the step's label.
func (s *Step) Label() Label { return s.action.label }

// Tool returns the tool that was called, whatever rules call it.
func (s *Step) Tool() trace.Name { return s.action.tool }

// Effect returns what the step does to the world.
func (s *Step) Effect() rules.Effect { return s.action.effect }

// Idempotent reports whether the step is a mutator of which a rule says that a
// second run changes nothing more.
func (s *Step) Idempotent() bool { return s.action.idempotent }

// Domain returns the domain of the step, "" for none.
func (s *Step) Domain() string { return s.action.domainName }

// Barrier reports whether the step is one that no meta-tool may contain or
// cross.
func (s *Step) Barrier() bool { return s.action.barrier }

// Answer returns what the rules say of the step's result in the answer of a
// meta-tool.
func (s *Step) Answer() rules.Answer { return s.action.answer }

// Mark is what the rules make of a recorded call as far as it is one of a sequence. The
// zero value is a call that is a step, or part of one, of which no rule says what it does.
type Mark struct {
	Bits MarkBits
	Name string // what rules call it; "" for a call that is no step
}

// MarkBits are what is true of a call under rules.
type MarkBits uint8

// The bits.
const (
	MarkDropped MarkBits = 1 << iota // it is no step, and what stands around it is consecutive
	MarkBarrier                      // no meta-tool contains or crosses it
	MarkReads                        // a rule says that it changes nothing
	MarkWrites                       // a rule says that it does
)

// Has reports whether any of the bits is set.
func (m Mark) Has(bits MarkBits) bool { return m.Bits&bits != 0 }

// Marks returns what steps, the result of Rewrite, make of each call of t, and
// gives calls the status that the rules read from their results.
func Marks(t *trace.Trajectory, steps []Step) []Mark {
	marks := make([]Mark, len(t.Calls))
	for i := range marks {
		marks[i].Bits = MarkDropped
	}
	for i := range steps {
		s := &steps[i]
		if s.Inserted {
			continue
		}
		mark := Mark{Name: s.action.name}
		if s.Barrier() {
			mark.Bits = MarkBarrier
		}
		if s.action.said {
			if s.Effect() == rules.Mutator {
				mark.Bits |= MarkWrites
			} else {
				mark.Bits |= MarkReads
			}
		}
		for c := s.FirstCall; c <= s.LastCall; c++ {
			marks[c] = mark
		}
		if s.Calls == 1 {
			t.Calls[s.FirstCall].Status = s.Status
		}
	}
	return marks
}

// Repeats returns by call of t the earlier call that it repeats, -1 for none; see Again.
func Repeats(t *trace.Trajectory, marks []Mark) []int {
	repeats, _ := Again(t, marks)
	return repeats
}

// Again returns by call of t the earlier call that it repeats and that it retries, -1 for
// none; see [trace.Trajectory.Again]. What a call changes is what rules say (marks, which
// may be nil), else the annotations of its tool, else the name: a tool of which nothing
// is known changes something.
func Again(t *trace.Trajectory, marks []Mark) (repeats, retries []int) {
	return t.Again(Changes(t, marks))
}

// Changes returns a function that says whether a call of t changes anything, as Again
// takes it. The function is used by one goroutine.
func Changes(t *trace.Trajectory, marks []Mark) func(call int) bool {
	var annotations annotationsOf
	var numbers trace.Numbering[trace.Name]
	var known []bool // by tool: whether its calls change something
	return func(i int) bool {
		if marks != nil && marks[i].Has(MarkReads|MarkWrites) {
			return marks[i].Has(MarkWrites)
		}
		tool := t.Calls[i].Tool
		n := int(numbers.Number(tool))
		if n == len(known) {
			if annotations == nil {
				annotations = annotationsByTool(t)
			}
			effect, _ := toolname.Decide(toolname.Unknown, toolname.Annotated(annotations.value(tool)), tool.Value())
			known = append(known, effect != toolname.Reads)
		}
		return known[n]
	}
}
