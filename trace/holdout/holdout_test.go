package holdout_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/holdout"
)

func taskNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("task-%d", i)
	}
	return names
}

// drawTasks draws a list of task keys with repetitions: trials.
func drawTasks(t *rapid.T) []string {
	return rapid.SliceOfN(rapid.StringN(0, 4, 8), 0, 60).Draw(t, "tasks")
}

func distinct(tasks []string) []string {
	d := slices.Clone(tasks)
	slices.Sort(d)
	return slices.Compact(d)
}

func TestFoldsProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tasks := drawTasks(t)
		k := rapid.IntRange(1, 12).Draw(t, "k")
		seed := rapid.Uint64().Draw(t, "seed")
		folds := map[string]holdout.Folds{
			"balanced": holdout.NewFolds(tasks, k, seed),
		}
		shuffledTasks := rapid.Permutation(tasks).Draw(t, "order")
		again := holdout.NewFolds(shuffledTasks, k, seed)
		for name, f := range folds {
			if f.Len() != k {
				t.Fatalf("%s: %d folds, want %d", name, f.Len(), k)
			}
			for _, task := range append([]string{"unknown task"}, tasks...) {
				tested := 0
				for i := range k {
					side := f.Split(i)(task, time.Time{})
					if side == holdout.Test {
						tested++
						if i != f.Of(task) {
							t.Fatalf("%s: task %q is tested in fold %d, Of says %d", name, task, i, f.Of(task))
						}
					} else if side != holdout.Train {
						t.Fatalf("%s: side %v", name, side)
					}
				}
				if tested != 1 {
					t.Fatalf("%s: task %q is tested in %d folds, want 1", name, task, tested)
				}
				if name == "balanced" && again.Of(task) != f.Of(task) {
					t.Fatalf("task %q: fold %d, but %d with the list in another order", task, f.Of(task), again.Of(task))
				}
			}
		}
		sizes := make([]int, k)
		for _, task := range distinct(tasks) {
			sizes[folds["balanced"].Of(task)]++
		}
		if slices.Max(sizes)-slices.Min(sizes) > 1 {
			t.Fatalf("sizes %v differ by more than one", sizes)
		}
	})
}

func TestFoldsOfNothing(t *testing.T) {
	var zero holdout.Folds
	if zero.Len() != 1 || zero.Of("a") != 0 || holdout.NewFolds(nil, -3, 1).Len() != 1 {
		t.Error("the zero value and a k below 1 are one fold")
	}
}

func TestSeedsDiffer(t *testing.T) {
	tasks := taskNames(200)
	same := 0
	a, b := holdout.NewFolds(tasks, 2, 1), holdout.NewFolds(tasks, 2, 2)
	for _, task := range tasks {
		if a.Of(task) == b.Of(task) {
			same++
		}
	}
	if same < 60 || same > 140 {
		t.Errorf("folds of two seeds agree on %d of 200 tasks, want about half", same)
	}
}

func TestByTaskShareAndNesting(t *testing.T) {
	tasks := taskNames(20000)
	for _, share := range []float64{0, 0.1, 0.2, 0.5, 1} {
		small, large := holdout.ByTask(share, 7), holdout.ByTask(share+0.2, 7)
		tests := 0
		for _, task := range tasks {
			if small(task, time.Time{}) == holdout.Test {
				tests++
				if large(task, time.Time{}) != holdout.Test {
					t.Fatalf("share %v tests on %s, share %v does not", share, task, share+0.2)
				}
			}
		}
		limit := 5*math.Sqrt(20000*share*(1-share)) + 0.5
		if math.Abs(float64(tests)-share*20000) > limit {
			t.Errorf("share %v: %d of 20000 tasks tested on", share, tests)
		}
	}
}

func TestByTaskOfProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tasks := drawTasks(t)
		share := rapid.Float64Range(0, 1).Draw(t, "share")
		seed := rapid.Uint64().Draw(t, "seed")
		split := holdout.ByTaskOf(tasks, share, seed)
		again := holdout.ByTaskOf(rapid.Permutation(tasks).Draw(t, "order"), share, seed)
		tests, n := 0, len(distinct(tasks))
		for _, task := range distinct(tasks) {
			side := split(task, time.Time{})
			if side != again(task, time.Unix(1, 0)) {
				t.Fatalf("task %q: the side depends on the order of the list or on time", task)
			}
			if side == holdout.Test {
				tests++
			}
		}
		if math.Abs(float64(tests)-share*float64(n)) > 1 {
			t.Fatalf("share %v of %d tasks: %d", share, n, tests)
		}
		if n > 1 && share > 0 && share < 1 && (tests == 0 || tests == n) {
			t.Fatalf("share %v of %d tasks leaves a side empty", share, n)
		}
	})
}

// run is one trajectory of a test: its task and the second at which it started.
type run struct {
	task  string
	start int64
}

func TestTimeSplitProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		runs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) run {
			return run{
				rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "g"}).Draw(t, "task"),
				rapid.Int64Range(1, 12).Draw(t, "start"),
			}
		}), 1, 40).Draw(t, "runs")
		share := rapid.Float64Range(0.05, 0.95).Draw(t, "share")
		var line, other holdout.Timeline
		for _, r := range runs {
			line.Add(r.task, time.Unix(r.start, 0))
		}
		for _, r := range rapid.Permutation(runs).Draw(t, "order") {
			other.Add(r.task, time.Unix(r.start, 0))
		}
		split, err := line.Split(share)
		split2, err2 := other.Split(share)
		if (err == nil) != (err2 == nil) {
			t.Fatalf("refusal depends on the order: %v, %v", err, err2)
		}
		if err != nil {
			checkRefusal(t, runs, err)
			return
		}
		sides := map[string]map[holdout.Side]int{}
		lastTrain, firstTest := int64(0), int64(math.MaxInt64)
		for _, r := range runs {
			side := split(r.task, time.Unix(r.start, 0))
			if side != split2(r.task, time.Unix(r.start, 0)) {
				t.Fatalf("side of %v depends on the order", r)
			}
			if sides[r.task] == nil {
				sides[r.task] = map[holdout.Side]int{}
			}
			sides[r.task][side]++
			switch side {
			case holdout.Train:
				lastTrain = max(lastTrain, r.start)
			case holdout.Test:
				firstTest = min(firstTest, r.start)
			}
		}
		if lastTrain == 0 || firstTest == math.MaxInt64 {
			t.Fatalf("a side is empty: %v", sides)
		}
		if lastTrain >= firstTest {
			t.Fatalf("training until %d, test from %d", lastTrain, firstTest)
		}
		for task, s := range sides {
			if s[holdout.Train] > 0 && s[holdout.Test] > 0 {
				t.Fatalf("task %s is on both sides: %v", task, s)
			}
			if s[holdout.Train]+s[holdout.Test] == 0 {
				t.Fatalf("task %s is on no side: %v", task, s)
			}
		}
	})
}

// checkRefusal says whether refusing a split by time was right.
func checkRefusal(t *rapid.T, runs []run, err error) {
	problem, ok := errors.AsType[*diag.Error](err)
	if !ok {
		t.Fatalf("error %T, want *diag.Error", err)
	}
	switch problem.Code {
	case "times-equal":
		for _, r := range runs {
			if r.start != runs[0].start {
				t.Fatalf("refused as equal, but %d and %d", r.start, runs[0].start)
			}
		}
	case "times-no-test":
		first := map[string]int64{}
		latest := int64(0)
		for _, r := range runs {
			if f, ok := first[r.task]; !ok || r.start < f {
				first[r.task] = r.start
			}
			latest = max(latest, r.start)
		}
		for _, f := range first {
			if f == latest {
				t.Fatalf("refused for want of a task to test on, but one was first tried last, at %d", f)
			}
		}
	default:
		t.Fatalf("code %s", problem.Code)
	}
}

func TestTimeSplitRefusals(t *testing.T) {
	at := func(s int64) time.Time { return time.Unix(s, 0) }
	for _, tc := range []struct {
		name, code string
		starts     []time.Time
	}{
		{"none", "times-missing", nil},
		{"one missing", "times-missing", []time.Time{at(1), {}, at(3)}},
		{"all missing", "times-missing", []time.Time{{}, {}}},
		{"all equal", "times-equal", []time.Time{at(5), at(5), at(5)}},
		{"equal in another zone", "times-equal", []time.Time{at(5), at(5).In(time.FixedZone("", 3600))}},
		{"one trajectory", "times-equal", []time.Time{at(5)}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var line holdout.Timeline
			for i, s := range tc.starts {
				line.Add(fmt.Sprint("task ", i), s)
			}
			_, err := line.Split(0.5)
			if problem, ok := errors.AsType[*diag.Error](err); !ok || problem.Code != tc.code {
				t.Errorf("error %v, want code %s", err, tc.code)
			}
		})
	}
}

func TestTimeSplitByHand(t *testing.T) {
	var line holdout.Timeline
	for _, r := range []run{{"a", 1}, {"b", 2}, {"a", 3}, {"c", 4}, {"b", 5}, {"d", 6}, {"d", 7}, {"e", 7}} {
		line.Add(r.task, time.Unix(r.start, 0))
	}
	split, err := line.Split(0.5)
	if err != nil {
		t.Fatal(err)
	}
	for r, want := range map[run]holdout.Side{
		{"a", 1}: holdout.Train, {"b", 2}: holdout.Train, {"a", 3}: holdout.Train, {"c", 4}: holdout.Train,
		{"b", 5}: holdout.None, {"d", 6}: holdout.Test, {"d", 7}: holdout.Test, {"e", 7}: holdout.Test,
		{"new task", 9}: holdout.Test, {"new task", 1}: holdout.Train,
	} {
		if got := split(r.task, time.Unix(r.start, 0)); got != want {
			t.Errorf("%v: side %v, want %v", r, got, want)
		}
	}
	if got := split("a", time.Time{}); got != holdout.None {
		t.Errorf("a trajectory without a time: side %v, want none", got)
	}
}

func TestTrialsStayTogether(t *testing.T) {
	for trial := range 8 {
		a := &trace.Trajectory{ID: fmt.Sprint("run ", trial), Task: "book a flight", Trial: fmt.Sprint(trial)}
		first := &trace.Trajectory{ID: "run 0", Task: "book a flight"}
		for seed := range uint64(8) {
			split := holdout.ByTask(0.5, seed)
			if split.Of(a) != split.Of(first) {
				t.Fatalf("trial %d is on another side, seed %d", trial, seed)
			}
		}
	}
}

func TestStarted(t *testing.T) {
	at := func(s int64) time.Time { return time.Unix(s, 0) }
	for _, tc := range []struct {
		name string
		in   trace.Trajectory
		want time.Time
	}{
		{"nothing recorded", trace.Trajectory{Turns: make([]trace.Turn, 2), Calls: make([]trace.Call, 1)}, time.Time{}},
		{"message first", trace.Trajectory{Messages: []trace.Message{{Time: at(3)}}, Turns: []trace.Turn{{Start: at(4)}}}, at(3)},
		{"turn end only", trace.Trajectory{Turns: []trace.Turn{{End: at(9)}, {End: at(8)}}}, at(8)},
		{"call", trace.Trajectory{Calls: []trace.Call{{End: at(7)}, {Start: at(6)}}}, at(6)},
	} {
		if got := tc.in.Started(); !got.Equal(tc.want) {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}
