// Package holdout divides trajectories into those to learn from and those to test
// on: by task, by folds of tasks, or by time.
//
// What comes in are the keys and times of tasks, what goes out is a function that
// names the side of a trajectory. It keeps O(tasks) where the tasks are known
// beforehand, and nothing where a hash decides. It reads no traces.
package holdout

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/deal"
	"github.com/awo-dev/awo/trace"
)

// taskRank is the place of a task in the order that seed draws, uniform over
// the 64-bit numbers.
func taskRank(task string, seed uint64) uint64 {
	h := sha256.New()
	var salt [8]byte
	binary.LittleEndian.PutUint64(salt[:], seed)
	h.Write(salt[:])
	h.Write([]byte(task))
	return binary.LittleEndian.Uint64(h.Sum(nil))
}

// shuffled returns the distinct tasks in the order that seed draws.
func shuffled(tasks []string, seed uint64) []string {
	distinct := slices.Clone(tasks)
	slices.Sort(distinct)
	distinct = slices.Compact(distinct)
	rank := make(map[string]uint64, len(distinct))
	for _, task := range distinct {
		rank[task] = taskRank(task, seed)
	}
	slices.SortFunc(distinct, func(a, b string) int { return cmp.Or(cmp.Compare(rank[a], rank[b]), cmp.Compare(a, b)) })
	return distinct
}

// Side is the part of a split that a trajectory belongs to.
type Side uint8

// The sides. None is for trajectories that neither side may use; only
// splits by time have them.
const (
	Train Side = iota
	Test
	None
)

// String returns "train", "test" or "none".
func (s Side) String() string { return [...]string{"train", "test", "none"}[s] }

// Split says on which side the trajectory of a task is that started at a time.
// Tasks are named by Trajectory.TaskKey, and all trials of one stay together: a
// second trial of a task that was trained on is no test of anything.
//
// Where a task goes depends on a hash of its key and the seed, never on the
// order of the input. ByTask decides from the key alone, for streams; ByTaskOf and
// Folds divide a known list of tasks exactly.
// Splits that are not by time ignore start. A Split may be used concurrently.
type Split func(task string, start time.Time) Side

// Of returns the side of t.
func (s Split) Of(t *trace.Trajectory) Side { return s(t.TaskKey(), t.Started()) }

// ByTask returns the split that tests on about the given share of the tasks
// (0 to 1), decided from the task's key alone. The share is met in expectation
// only; the same seed with a larger share tests on the same tasks and more.
func ByTask(share float64, seed uint64) Split {
	return func(task string, _ time.Time) Side {
		// 53 bits, so that every rank is a float exactly and less than 1.
		if float64(taskRank(task, seed)>>11)/(1<<53) < share {
			return Test
		}
		return Train
	}
}

// ByTaskOf returns the split that tests on the given share (0 to 1) of a known
// list of tasks, rounded to whole tasks. A share between 0 and 1 leaves at least
// one task on each side where there are two or more. Tasks that are not in the list
// fall on the side that ByTask gives them.
func ByTaskOf(tasks []string, share float64, seed uint64) Split {
	order := shuffled(tasks, seed)
	n := len(order)
	tests := int(math.Round(share * float64(n)))
	if share > 0 && share < 1 && n > 1 {
		tests = max(1, min(n-1, tests))
	}
	tests = max(0, min(n, tests))
	side := make(map[string]Side, n)
	for i, task := range order {
		side[task] = Train
		if i < tests {
			side[task] = Test
		}
	}
	unknown := ByTask(share, seed)
	return func(task string, start time.Time) Side {
		if s, ok := side[task]; ok {
			return s
		}
		return unknown(task, start)
	}
}

// Folds divides tasks into k parts, every task in exactly one. The zero value
// is one fold with everything.
type Folds struct {
	k     int
	known map[string]int
}

// NewFolds returns k folds of the tasks of trajectories, one key for each, in any order; see
// deal.Folds. A task that is not among them is in fold 0. A k below 1 counts as 1; with fewer
// tasks than k some folds are empty.
func NewFolds(tasks []string, k int, seed uint64) Folds {
	f := Folds{k: max(k, 1), known: map[string]int{}}
	counts := map[string]int{}
	for _, task := range tasks {
		counts[task]++
	}
	names := slices.Collect(maps.Keys(counts))
	list := make([]deal.Task, len(names))
	for i, name := range names {
		list[i] = deal.Task{Hash: deal.HashOf(name), Count: counts[name]}
	}
	for i, fold := range deal.Folds(list, f.k, seed) {
		f.known[names[i]] = fold
	}
	return f
}

// Len returns the number of folds.
func (f Folds) Len() int { return max(f.k, 1) }

// Of returns the fold of a task, from 0 to Len()-1.
func (f Folds) Of(task string) int { return f.known[task] }

// Split returns the split that tests on fold i and trains on the others. With
// one fold everything is tested on and nothing trained on.
func (f Folds) Split(i int) Split {
	return func(task string, _ time.Time) Side {
		if f.Of(task) == i {
			return Test
		}
		return Train
	}
}

// Timeline collects when trajectories started, for splits by time. It keeps
// one time a trajectory and two a task. The zero value is empty.
type Timeline struct {
	starts  []time.Time
	missing int
	tasks   map[string]taskSpan
}

// taskSpan is the first and the last start of a task's trajectories.
type taskSpan struct{ first, last time.Time }

// Add notes a trajectory of a task and when it started; the zero time means
// that this is not recorded.
func (l *Timeline) Add(task string, start time.Time) {
	if start.IsZero() {
		l.missing++
		return
	}
	if l.tasks == nil {
		l.tasks = map[string]taskSpan{}
	}
	l.starts = append(l.starts, start)
	s, ok := l.tasks[task]
	if !ok || start.Before(s.first) {
		s.first = start
	}
	if !ok || start.After(s.last) {
		s.last = start
	}
	l.tasks[task] = s
}

// Split returns the split that tests on the last part of the trajectories,
// about the given share of them (strictly between 0 and 1), and trains on what
// started before. Trajectories that started at the same time are on one side.
//
// No task is on both sides: where a task was tried before and after the cut,
// its earlier trajectories train and its later ones are None.
//
// It is refused with a *diag.Error when the start of any trajectory is not
// recorded (times-missing), when all started at the same time (times-equal), or
// when every task after the cut was tried before it too (times-no-test).
func (l *Timeline) Split(share float64) (Split, error) {
	if l.missing > 0 || len(l.starts) == 0 {
		return nil, diag.New(diag.Pos{}, "times-missing",
			"a split by time needs the start of every trajectory; %d of %d have none",
			l.missing, l.missing+len(l.starts))
	}
	starts := slices.Clone(l.starts)
	slices.SortFunc(starts, time.Time.Compare)
	n := len(starts)
	if starts[0].Equal(starts[n-1]) {
		return nil, diag.New(diag.Pos{}, "times-equal",
			"a split by time needs different times; all %d trajectories have the same", n)
	}
	cut := cutTime(starts, share)
	tried := map[string]bool{} // tasks that were tried before the cut
	for task, s := range l.tasks {
		if s.first.Before(cut) {
			tried[task] = true
		}
	}
	split := func(task string, start time.Time) Side {
		switch {
		case start.IsZero():
			return None
		case start.Before(cut):
			return Train
		case tried[task]:
			return None
		}
		return Test
	}
	for task, s := range l.tasks {
		if split(task, s.last) == Test {
			return split, nil
		}
	}
	return nil, diag.New(diag.Pos{}, "times-no-test",
		"every one of the %d tasks was tried before the time of the cut, none is left to test on", len(l.tasks))
}

// cutTime returns the start of the first trajectory to test on: of the starts
// that have others before them, the one that comes nearest to the share.
func cutTime(starts []time.Time, share float64) time.Time {
	n := len(starts)
	want := min(max(1-share, 0), 1) * float64(n)
	best, bestOff := time.Time{}, math.Inf(1)
	for i := 1; i < n; i++ {
		if starts[i].Equal(starts[i-1]) {
			continue
		}
		if off := math.Abs(float64(i) - want); off < bestOff {
			best, bestOff = starts[i], off
		}
	}
	return best
}
