package evidence

import (
	"math"

	"github.com/awo-dev/awo/entropy/ngram"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/merge/internal/hash128"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// StateLoss measures what the states of a set of rules tell about the next call:
// the held-out loss of the tool given the state, beside how many states there
// are. The tools predicted are those recorded, whatever the rules call or drop,
// so that sets of rules can be compared. Memory is 8 bytes a call and some 50 a
// state. It is not safe for concurrent use.
type StateLoss struct {
	view   *merge.View
	states hash128.Table
	next   nextCalls
	tasks  map[string]uint32
}

// NewStateLoss returns a measure of the set, nil for no rules.
func NewStateLoss(set *rules.Set) *StateLoss {
	if set == nil {
		set = &rules.Set{}
	}
	return &StateLoss{view: merge.NewView(set, nil, 0), next: newNextCalls(), tasks: map[string]uint32{}}
}

// Add counts the calls of one trajectory.
func (s *StateLoss) Add(t *trace.Trajectory) {
	key := t.TaskKey()
	task, known := s.tasks[key]
	if !known {
		task = uint32(len(s.tasks))
		s.tasks[key] = task
	}
	s.next.begin(task, key)
	_, points := s.view.Look(t, nil)
	for i, p := range points {
		state, _ := s.states.Number(p.State)
		if i < len(t.Calls) && t.Calls[i].Origin == trace.OriginModel {
			s.next.add(state, t.Calls[i].Tool)
		}
	}
}

// States returns how many states the trajectories came through.
func (s *StateLoss) States() int { return s.states.Len() }

// Losses returns what the tool of every call costs on tasks that the predictor
// has not seen: at order 0 from how often tools are called, at order 1 from the
// state. Without two tasks with calls there are none.
func (s *StateLoss) Losses(folds int, seed uint64) ngram.Losses { return s.next.heldOut(folds, seed) }

// Bits returns the loss given the state in bits a call, averaged over several
// ways to deal the tasks into folds; NaN if there is none.
func (s *StateLoss) Bits(folds int, seed uint64) float64 {
	bits := 0.0
	for i := range uint64(Partitions) {
		total := s.Losses(folds, seed+i).Total()
		if total.N == 0 {
			return math.NaN()
		}
		bits += total.Bits[1] / float64(total.N) / Partitions
	}
	return bits
}

// Partitions is over how many ways to deal the tasks into folds losses are
// averaged, so that rules are not chosen for the luck of one.
const Partitions = 4
