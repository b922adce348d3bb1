package backtest

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	gonum "gonum.org/v1/gonum/stat"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/holdout"
)

// repetitions is how often the simulations are repeated with 15, 40 and 150 tasks, as
// `make coverage` does; 0 is a small one.
var repetitions = flag.Int("repetitions", 0, "how often the simulations of the recommendation are repeated; 0 makes a small one")

// shop is a world whose habits are drawn first, and whose tasks then vary around them
// independently: how likely a step follows, how much results hold, and how many runs there are.
type shop struct {
	*rand.Rand
	tasks                int
	goesOn, parcel, asks float64
	filler               int
}

func newShop(seed, world uint64) *shop {
	r := rand.New(rand.NewPCG(seed, world))
	return &shop{Rand: r, goesOn: r.Float64(), parcel: r.Float64(), asks: r.Float64() / 2, filler: r.IntN(400)}
}

// around draws a probability whose mean is p.
func (s *shop) around(p float64) float64 {
	if s.Float64() < 0.5 {
		return p
	}
	return p + (s.Float64()-0.5)*2*min(p, 1-p)
}

// task draws a task. Whoever asks for an order has a customer looked up, then mostly its last
// order, and then sometimes the parcel; others only ask what a product costs.
func (s *shop) task() []*trace.Trajectory {
	s.tasks++
	name := fmt.Sprintf("task-%d-%d", s.tasks, s.Uint32())
	goesOn, parcel, filler, asks := s.around(s.goesOn), s.around(s.parcel), 1+s.IntN(2*s.filler+1), s.Float64() < s.asks
	var list []*trace.Trajectory
	for range 1 + s.IntN(3) {
		list = append(list, s.run(name, asks, goesOn, parcel, filler))
	}
	return list
}

func (s *shop) run(task string, asks bool, goesOn, parcel float64, filler int) *trace.Trajectory {
	id := s.IntN(900_000) + 100_000
	var calls []scripted
	call := func(tool, args, result string) {
		calls = append(calls, scripted{tool: tool, args: args, result: result, turn: len(calls)})
	}
	text := fmt.Sprintf("%*s", filler, "")
	if asks {
		call("get_price", fmt.Sprintf(`{"product":"p-%d"}`, id), fmt.Sprintf(`{"price":%d,"text":%q}`, id%97, text))
	} else {
		call("get_customer", fmt.Sprintf(`{"id":"customer-%d"}`, id), fmt.Sprintf(`{"last_order":"order-%d","text":%q}`, id, text))
		if s.Float64() < goesOn {
			call("get_order", fmt.Sprintf(`{"order":"order-%d"}`, id), fmt.Sprintf(`{"parcel":"parcel-%d","text":%q}`, id, text))
			if s.Float64() < parcel {
				call("get_parcel", fmt.Sprintf(`{"parcel":"parcel-%d"}`, id), `{"state":"sent"}`)
			}
		}
	}
	t := scriptedRun(task, calls...)
	t.Messages = []trace.Message{{Role: trace.RoleUser, Text: trace.TextOf(task + ": how is it?")}}
	// The answer, which reads all of it.
	t.Turns = append(t.Turns, trace.Turn{FirstCall: len(t.Calls), Usage: trace.Usage{Known: true, Input: 1000 + 100*int64(len(calls)), Output: 10}})
	return t
}

// draw draws so many tasks.
func (s *shop) draw(tasks int) []*corpus.Run {
	var list []*trace.Trajectory
	for range tasks {
		list = append(list, s.task()...)
	}
	return runsOf(list...)
}

// realised returns what each way saves, compiled from all of the sample, of a task among
// others, on average.
func realised(t testing.TB, sample, others []*corpus.Run, ways []Way) []Saved {
	t.Helper()
	train := map[string]bool{}
	for _, r := range sample {
		train[r.TaskKey()] = true
	}
	o := options(none)
	o.By, o.Recommend, o.Meter, o.Progress = SplitTask, &RecommendOptions{}, cost.NewMeter(cost.Options{}), func(int, int, string) {}
	r := newRun(append(append([]*corpus.Run{}, sample...), others...), o)
	r.fit, r.ways = cost.NewFit(o.Meter), ways
	r.splits = []holdout.Split{func(task string, _ time.Time) holdout.Side {
		if train[task] {
			return holdout.Train
		}
		return holdout.Test
	}}
	r.waysOf()
	r.test()
	out := make([]Saved, len(ways))
	for w := range ways {
		for task := range r.sums {
			for m, x := range savedOf(r.sums[task].at(r.waysFrom + w)) {
				out[w][m] += x / float64(len(r.sums))
			}
		}
	}
	return out
}

// covered counts how often an interval holds what is realised.
type covered struct {
	of, in, null int
	gaps, widths []float64 // what is estimated less what is realised, and the interval, over the goal
}

func (c *covered) add(estimate float64, i *stat.Interval, truth float64) {
	c.of++
	if !i.Known() {
		c.null++
		return
	}
	if i.Lo <= truth && truth <= i.Hi {
		c.in++
	}
	c.gaps, c.widths = append(c.gaps, estimate-truth), append(c.widths, i.Hi-i.Lo)
}

// wide returns how wide intervals are on average, over 2 * 1.96 standard deviations of the gaps.
func (c *covered) wide() float64 {
	return gonum.Mean(c.widths, nil) / (2 * 1.96 * math.Sqrt(gonum.Variance(c.gaps, nil)))
}

func nameOf(w Way) string { return fmt.Sprintf("%s %.1f %d", w.Kind, w.P, w.T) }

// coverage simulates the recommendation on samples of so many tasks: of each way, and of what
// is recommended, what is estimated, and what artefacts that are compiled from the sample do
// on other tasks.
func coverage(t *testing.T, tasks, others, repetitions int) map[string]*[measuresSaved]covered {
	out := map[string]*[measuresSaved]covered{}
	for rep := range repetitions {
		s := newShop(uint64(tasks), uint64(rep))
		sample, rest := s.draw(tasks), s.draw(others)
		o := options(none)
		o.Seed, o.Workers, o.Recommend = uint64(rep)+1, 2, &RecommendOptions{}
		r, err := Run(sample, o)
		if err != nil {
			t.Fatal(err)
		}
		v := r.Recommendation
		ways := []Way{}
		for _, w := range v.Ways {
			ways = append(ways, w.Way)
		}
		truth := realised(t, sample, rest, ways)
		note := func(name string, w *WayOutcome, truth Saved) {
			if out[name] == nil {
				out[name] = &[measuresSaved]covered{}
			}
			for m := range w.Saved {
				out[name][m].add(w.Saved[m], &w.Intervals[m], truth[m]*float64(tasks))
			}
		}
		chosen := Saved{}
		for w := range v.Ways {
			if v.Ways[w].Way == v.Way {
				chosen = truth[w]
			}
			note(nameOf(v.Ways[w].Way), &v.Ways[w], truth[w])
		}
		note("recommended", &v.Recommended, chosen)
	}
	return out
}

// TestCoverage: intervals of ways and of the recommendation hold what artefacts that are
// compiled from the whole sample do on other tasks. The habits of each world are drawn, so that
// rules are often about as good as they must be to be made: then the compilation itself varies.
func TestCoverage(t *testing.T) {
	rows := []string{nameOf(Way{OnlyPrefetch, 0.3, 0}), nameOf(Way{OnlyMetaTools, 0, 5}), nameOf(Way{Both, 0.3, 5}), "recommended"}
	if *repetitions == 0 {
		found := coverage(t, 15, 60, 60)
		for i, want := range []int{55, 55, 55, 58} {
			if c := &found[rows[i]][SavedUSD]; c.in != want || c.of != 60 || c.null > 0 {
				t.Errorf("%s: the money of %d of %d is covered, was %d; %d have no interval", rows[i], c.in, c.of, want, c.null)
			}
		}
		return
	}
	for _, tasks := range []int{15, 40, 150} {
		found := coverage(t, tasks, 1000, *repetitions)
		for _, row := range rows {
			for m, name := range map[int]string{SavedUSD: "money", SavedTurns: "calling turns", SavedCalls: "model calls"} {
				c := &found[row][m]
				share := float64(c.in) / float64(max(c.of-c.null, 1))
				t.Logf("%d tasks, %s, %s: %.1f %% covered, %d without an interval, %.2f as wide as the spread, bias %+.3f", tasks, row, name, 100*share, c.null, c.wide(), gonum.Mean(c.gaps, nil))
				if row == "recommended" && (share < 0.92 || c.null*20 > c.of) {
					t.Errorf("%d tasks, %s: %.1f %% are covered, %d of %d have no interval", tasks, name, 100*share, c.null, c.of)
				}
			}
		}
	}
}
