package backtest

import (
	"slices"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/internal/agents"
	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/trace/holdout"
)

// SplitBy says how the traces are split.
type SplitBy string

// The ways of splitting. The zero value is SplitAuto.
const (
	SplitAuto  SplitBy = "auto"  // SplitFolds of up to MaxFolded trajectories, else SplitTask
	SplitFolds SplitBy = "kfold" // every task is tested on once, compiled from the others
	SplitTask  SplitBy = "task"  // a share of the tasks is tested on
	SplitTime  SplitBy = "time"  // the last part is tested on
)

// MaxFolded is up to how many trajectories SplitAuto tests on each task in turn. Of more, that
// many are compiled from, once, and the others are tested on: what the choice of tasks leaves
// uncertain is little then.
const MaxFolded = 2000

// survey looks at everything once: which tasks there are, and what tokens are fitted on.
func (r *run) survey() error {
	o := &r.options
	var tasks, all []string // all: of every run
	seen := map[string]bool{}
	var timeline holdout.Timeline
	recorded, missing := 0, 0
	var found *agents.Finder
	if o.AgentTasks > 0 {
		found = &agents.Finder{}
	}
	for _, t := range r.runs {
		key := t.TaskKey()
		all = append(all, key)
		r.offers = r.offers || len(t.Tools) > 0
		if found != nil {
			found.Add(t.Trajectory)
		}
		if !seen[key] {
			seen[key] = true
			tasks = append(tasks, key)
		}
		if o.By == SplitTime {
			timeline.Add(key, t.Started())
		}
		for i := range t.Turns {
			if t.Turns[i].Usage.Known {
				recorded++
			} else {
				missing++
			}
		}
	}
	if found != nil {
		r.agents = found.List(o.AgentTasks)
		if len(r.agents.Agents) > 1 {
			return nil // each is split for itself
		}
	}
	r.fit = cost.NewFit(o.Meter)
	if recorded > 0 && missing > 0 {
		r.learnTokens(len(tasks))
	}
	if o.By == SplitAuto {
		if o.By = SplitFolds; len(r.runs) > MaxFolded {
			o.By, o.Share = SplitTask, 1-float64(MaxFolded)/float64(len(r.runs))
		}
	}
	r.out.By = o.By
	switch o.By {
	case SplitTime:
		split, err := timeline.Split(o.Share)
		if err != nil {
			return err
		}
		r.splits = []holdout.Split{split}
	case SplitTask:
		r.splits = []holdout.Split{holdout.ByTaskOf(tasks, o.Share, o.Seed)}
	default:
		folds := holdout.NewFolds(all, min(o.Folds, max(len(tasks), 1)), o.Seed)
		for i := range folds.Len() {
			r.splits = append(r.splits, folds.Split(i))
		}
	}
	r.out.Folds = len(r.splits)
	return nil
}

// learnTokens fits counted to recorded tokens on a part of the runs.
func (r *run) learnTokens(tasks int) {
	const enough = 300
	sample := holdout.ByTask(min(1, enough/float64(max(tasks, 1))), r.options.Seed)
	for _, t := range Side(r.runs, sample, holdout.Test) {
		r.fit.Add(t.Trajectory)
	}
}

// Side returns the runs on one side of a split.
func Side(runs []*corpus.Run, split holdout.Split, want holdout.Side) []*corpus.Run {
	return slices.DeleteFunc(slices.Clone(runs), func(r *corpus.Run) bool { return split.Of(r.Trajectory) != want })
}

// testing returns the runs that a split tests on, and counts what is on its other side where
// it is the only split.
func (r *run) testing(split holdout.Split) []*corpus.Run {
	if r.options.By != SplitFolds {
		train := map[string]struct{}{}
		for _, t := range Side(r.runs, split, holdout.Train) {
			train[t.TaskKey()] = struct{}{}
		}
		r.out.TrainTasks, r.out.Unused = len(train), r.out.Unused+len(Side(r.runs, split, holdout.None))
	}
	return Side(r.runs, split, holdout.Test)
}
