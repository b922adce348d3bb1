package replay

import (
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/trace"
)

// Begun is a place where a trajectory made the first calls of a tool of a set, all
// of them or not.
type Begun struct {
	Tool  int          // index into the set
	Steps []BegunCalls // of the tool, from the first to the last that calls were made for
	Later []int        // the calls after the first step, as indices into Trajectory.Calls
	Ended bool         // the last call failed, and the rest was not made
}

// BegunCalls are the calls made for one step, and those of them that failed.
type BegunCalls struct{ Calls, Failed int32 }

// Begun returns where calls of t follow a tool of the set for two steps at least,
// from every call on. It looks no further than a step with a failed call: there a
// meta-tool would have ended. marks are as for Find.
//
// Places are where all calls were made, so that they tell nothing of chains that an
// agent gave up after a failure; these do. They also see failed calls that rules
// drop: a meta-tool would make them.
func (f *Finder) Begun(t *trace.Trajectory, marks []merge.Mark) []Begun {
	return f.begun(newRecord(t), marks)
}

func (f *Finder) begun(r *record, marks []merge.Mark) []Begun {
	var out []Begun
	sequence := newSequence(r, marks, true)
	for i := range sequence.calls {
		if sequence.isGhost(i) {
			continue
		}
		for _, n := range f.byFirst[r.t.Calls[sequence.calls[i]].Tool] {
			if len(f.plans[n].steps) < 2 {
				continue
			}
			if b, ok := sequence.begun(f.plans[n], i); ok {
				b.Tool = n
				out = append(out, b)
			}
		}
	}
	return out
}

// begun follows a tool from element i on.
func (s *Sequence) begun(p *plan, i int) (Begun, bool) {
	var b Begun
	end, _ := s.follow(p, i, false, func(calls []int) bool {
		step := BegunCalls{Calls: int32(len(calls))}
		for _, c := range calls {
			if s.record.t.Calls[c].Status == trace.StatusFailed {
				step.Failed++
			}
		}
		if len(b.Steps) > 0 {
			b.Later = append(b.Later, calls...)
		}
		b.Steps = append(b.Steps, step)
		return step.Failed == 0
	})
	if len(b.Steps) < 2 {
		return Begun{}, false
	}
	if b.Steps[len(b.Steps)-1].Failed > 0 && len(b.Steps) < len(p.steps) {
		b.Ended = !s.continues(&p.steps[len(b.Steps)], end)
	}
	return b, true
}

// continues reports whether the element at could be a call of a step that follows
// those before it.
func (s *Sequence) continues(step *planStep, at int) bool {
	return at < len(s.calls) && !s.stop[at] && !s.cut[at] && s.fits(step, s.calls[at])
}
