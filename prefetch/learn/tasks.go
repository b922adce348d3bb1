package learn

import "github.com/awo-dev/awo/trace"

// tasks numbers tasks and trajectories in the order in which they come.
type tasks struct {
	keys trace.Numbering[string]
	runs int32
}

func (t *tasks) number(key string) int32 { return int32(t.keys.Number(key)) }

// observed is what one trajectory offers, by candidate.
type observed struct {
	t       *trace.Trajectory
	offers  [][]offer
	answers []int // of the source that did not fail
}

// observe is pure.
func (s *Survey) observe(t *trace.Trajectory) observed {
	offers, answers := s.offersOf(read(t, s.isRead))
	return observed{t, offers, answers}
}

// keep adds what a trajectory offers to what is known.
func (s *Survey) keep(o *observed, tasks *tasks) {
	task, run := tasks.number(o.t.TaskKey()), tasks.runs
	tasks.runs++
	for i, n := range o.answers {
		s.candidates[i].answers += n
	}
	for i, list := range o.offers {
		for _, one := range list {
			if s.kept == maxOffers {
				s.dropped++
				continue
			}
			s.kept++
			one.task, one.run = task, run
			s.candidates[i].offers = append(s.candidates[i].offers, one)
		}
	}
}
