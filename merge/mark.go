package merge

import "github.com/awo-dev/awo/trace"

// Mark is what the rules make of a recorded call as far as it is one of a
// sequence.
type Mark uint8

// The marks. The zero value is a call that is a step, or part of one.
const (
	MarkStep    Mark = iota
	MarkDropped      // it is no step, and what stands around it is consecutive
	MarkBarrier      // no meta-tool contains or crosses it
)

// Marks returns what steps, the result of Rewrite, make of each call of t, and
// gives calls the status that the rules read from their results.
func Marks(t *trace.Trajectory, steps []Step) []Mark {
	marks := make([]Mark, len(t.Calls))
	for i := range marks {
		marks[i] = MarkDropped
	}
	for i := range steps {
		s := &steps[i]
		if s.Inserted {
			continue
		}
		mark := MarkStep
		if s.Barrier() {
			mark = MarkBarrier
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
