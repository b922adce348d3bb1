package replay

import (
	"slices"

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
	idle := f.scratch()
	out := idle.begun
	var room begunRoom
	sequence := newSequence(r, marks, true)
	for i := range sequence.calls {
		if sequence.isGhost(i) {
			continue
		}
		for _, n := range f.byFirst[r.t.Calls[sequence.calls[i]].Tool] {
			if len(f.plans[n].steps) < 2 {
				continue
			}
			if b, ok := sequence.begun(f.plans[n], i, &room); ok {
				b.Tool = n
				out = append(out, b)
			}
		}
	}
	idle.begun = out
	defer f.release(idle)
	return slices.Clone(out)
}

// begunRoom is memory that the places of a trajectory share.
type begunRoom struct {
	steps []BegunCalls
	later []int
}

// begun follows a tool from element i on.
func (s *Sequence) begun(p *plan, i int, room *begunRoom) (Begun, bool) {
	room.steps, room.later = roomIn(room.steps, len(p.steps)), roomIn(room.later, len(p.steps))
	steps, later := room.steps[len(room.steps):], room.later[len(room.later):]
	end, _ := s.follow(p, i, false, func(calls []int) bool {
		step := BegunCalls{Calls: int32(len(calls))}
		for _, c := range calls {
			if s.record.t.Calls[c].Status == trace.StatusFailed {
				step.Failed++
			}
		}
		if len(steps) > 0 {
			later = append(later, calls...)
		}
		steps = append(steps, step)
		return step.Failed == 0
	})
	if len(steps) < 2 {
		return Begun{}, false
	}
	room.steps, room.later = taken(room.steps, steps), taken(room.later, later)
	b := Begun{Steps: slices.Clip(steps), Later: slices.Clip(later)}
	if b.Steps[len(b.Steps)-1].Failed > 0 && len(b.Steps) < len(p.steps) {
		b.Ended = !s.continues(&p.steps[len(b.Steps)], end)
	}
	return b, true
}

// roomIn returns room for n more, in new memory if there is too little.
func roomIn[T any](room []T, n int) []T {
	if cap(room)-len(room) >= n {
		return room
	}
	return make([]T, 0, max(2*n, min(2*cap(room), 1024), 32))
}

// taken returns room without what was appended behind it, unless that was too much for it.
func taken[T any](room, list []T) []T {
	if len(list) > cap(room)-len(room) {
		return room
	}
	return room[:len(room)+len(list)]
}

// continues reports whether the element at could be a call of a step that follows
// those before it.
func (s *Sequence) continues(step *planStep, at int) bool {
	return at < len(s.calls) && !s.stop[at] && !s.cut[at] && s.fits(step, s.calls[at])
}
