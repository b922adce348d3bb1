package learn

import (
	"math"

	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/prefetch/stored"
)

// tally is how often what one rule offers is used. Its counts add up over trajectories.
type tally struct {
	answers int // of the source that did not fail
	runs    int // trajectories in which a value is offered
	stale   int
	tasks   []taskTally
	place   map[int32]int // in tasks, by the number of the task
}

// taskTally is a tally of one task.
type taskTally struct{ task, offered, used int }

// of returns the counts of a task, which follow those of the tasks that came before.
func (s *tally) of(task int32) *taskTally {
	at, known := s.place[task]
	if !known {
		if s.place == nil {
			s.place = map[int32]int{}
		}
		at = len(s.tasks)
		s.place[task] = at
		s.tasks = append(s.tasks, taskTally{task: int(task)})
	}
	return &s.tasks[at]
}

// add adds a value that is offered.
func (s *tally) add(o *offer) {
	of := s.of(o.task)
	of.offered++
	if o.used {
		of.used++
	}
	if o.stale {
		s.stale++
	}
}

// spread returns in how many tasks a value is used.
func (s *tally) spread() (n int) {
	for i := range s.tasks {
		if s.tasks[i].used > 0 {
			n++
		}
	}
	return n
}

// evidence returns what the counts say, but of tokens.
func (s *tally) evidence(o ChooseOptions) stored.Evidence {
	e := stored.Evidence{Stale: s.stale, Runs: s.runs, Tasks: len(s.tasks), TokensUsed: math.NaN(), TokensVain: math.NaN()}
	var uses stat.ClusterRatio
	for i := range s.tasks {
		of := &s.tasks[i]
		e.Offered, e.Used = e.Offered+of.offered, e.Used+of.used
		uses.Num, uses.Den = append(uses.Num, float64(of.used)), append(uses.Den, float64(of.offered))
	}
	if s.answers > 0 {
		e.PerAnswer = float64(e.Offered) / float64(s.answers)
	}
	if !o.NoIntervals {
		e.Interval = uses.Interval(stat.Options{Seed: o.Seed}).Within(0, 1)
	}
	return e
}
