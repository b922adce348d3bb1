package contrast_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/awo-dev/awo/internal/contrast"
	"github.com/awo-dev/awo/internal/scripted"
	"github.com/awo-dev/awo/internal/summary"
	"github.com/awo-dev/awo/trace"
)

func run(task string, tools ...string) *trace.Trajectory {
	s := (&scripted.Run{}).User("do it")
	for _, tool := range tools {
		s.Call(tool, "{}", "{}")
	}
	s.T.Task = task
	return &s.T
}

func index(t *testing.T, name string) int {
	t.Helper()
	for i, m := range contrast.Measures {
		if m.Name == name {
			return i
		}
	}
	t.Fatalf("no measure %s", name)
	return 0
}

// TestByHand is a case worked by hand: two tasks, one with two runs before.
func TestByHand(t *testing.T) {
	before, after := contrast.NewSet(), contrast.NewSet()
	before.Add(run("1", "a", "b"), contrast.Cost{Tokens: 10, USD: 1, Priced: true})
	before.Add(run("1", "a", "b", "b", "b"), contrast.Cost{Tokens: 30})
	before.Add(run("2", "a"), contrast.Cost{Tokens: 20, USD: 3, Priced: true})
	after.Add(run("1", "a"), contrast.Cost{Tokens: 5})
	after.Add(run("2", "a", "c"), contrast.Cost{Tokens: 5})
	after.Add(run("3", "c"), contrast.Cost{Tokens: 80})
	for _, tc := range []struct {
		pairing         contrast.Pairing
		before, after   float64 // calls by run
		tokensB, tokenA float64
		left            [2]int
	}{
		{contrast.PairNever, 7.0 / 3, 4.0 / 3, 20, 30, [2]int{}},
		{contrast.PairAlways, (3 + 1) / 2.0, (1 + 2) / 2.0, 20, 5, [2]int{0, 1}},
		{contrast.PairAuto, 7.0 / 3, 4.0 / 3, 20, 30, [2]int{}}, // two tasks are too few to pair
	} {
		c := contrast.New(before, after, contrast.Options{Pairing: tc.pairing})
		for name, want := range map[string][2]float64{"calls": {tc.before, tc.after}, "tokens": {tc.tokensB, tc.tokenA}} {
			e := c.Figures[index(t, name)]
			b, _ := e.Before.Value()
			a, _ := e.After.Value()
			d, _ := e.Difference.Value()
			if math.Abs(b-want[0]) > 1e-12 || math.Abs(a-want[1]) > 1e-12 || math.Abs(d-(want[1]-want[0])) > 1e-12 {
				t.Errorf("pairing %d: %s %v and %v, want %v", tc.pairing, name, b, a, want)
			}
			if e.Interval.Known() {
				t.Errorf("two tasks gave an interval")
			}
		}
		if c.Left != tc.left || c.Both != 2 {
			t.Errorf("pairing %d: %v left out, %d in both", tc.pairing, c.Left, c.Both)
		}
		if _, known := c.Figures[index(t, "money")].After.Value(); known {
			t.Error("money is known where no price is")
		}
		if _, known := c.Figures[index(t, "success")].Difference.Value(); known {
			t.Error("success is known where no outcome is")
		}
	}
}

// study draws two sets of n tasks with runs of lengths that depend on the task; those of
// the second are longer by effect calls in the mean.
// study draws two sets of n tasks, the same ones if together. Behind, an agent makes effect
// calls more on average, and each turn costs price times as much.
func study(r *rand.Rand, n int, effect, price float64, together bool) (before, after *contrast.Set) {
	before, after = contrast.NewSet(), contrast.NewSet()
	draw := func(s *contrast.Set, task string, mean, price float64) {
		for range 1 + r.IntN(3) {
			length := max(0, int(math.Floor(mean+r.Float64()*4)))
			tools := make([]string, length)
			for i := range tools {
				tools[i] = fmt.Sprintf("t%d", r.IntN(3))
			}
			tokens := price * float64(length+1) * (800 + 400*r.Float64())
			s.Add(run(task, tools...), contrast.Cost{Tokens: tokens, USD: tokens / 1e6, Priced: true})
		}
	}
	for i := range n {
		hard := r.Float64() * 6
		draw(before, fmt.Sprint("task ", i), hard, 1)
		if !together {
			hard = r.Float64() * 6
		}
		name := fmt.Sprint("task ", i)
		if !together {
			name = fmt.Sprint("other ", i)
		}
		draw(after, name, hard+effect, price)
	}
	return before, after
}

// TestCoverage simulates sets with a planted effect of one call: intervals of 95 % hold
// it in 92 to 98 % of 250 studies, task by task and apart, and find none where there is
// none.
func TestCoverage(t *testing.T) {
	if testing.Short() {
		t.Skip("a simulation")
	}
	const studies = 250
	calls := index(t, "calls")
	for _, together := range []bool{true, false} {
		for _, effect := range []float64{0, 1} {
			r, covered, width := rand.New(rand.NewPCG(11, uint64(effect))), 0, 0.0
			for range studies {
				before, after := study(r, 30, effect, 1, together)
				c := contrast.New(before, after, contrast.Options{Most: 1, Seed: r.Uint64(), Permutations: 1})
				e := c.Figures[calls]
				if c.Paired != together || !e.Interval.Known() {
					t.Fatalf("paired %v, interval %v", c.Paired, e.Interval)
				}
				if e.Interval.Lo <= effect && effect <= e.Interval.Hi {
					covered++
				}
				width += (e.Interval.Hi - e.Interval.Lo) / studies
			}
			if share := float64(covered) / studies; share < 0.92 || share > 0.98 {
				t.Errorf("together %v, effect %v: %.3f of intervals cover it", together, effect, share)
			}
			if together && width > 1.6 {
				t.Errorf("task by task intervals are %.2f wide: pairing takes out nothing", width)
			}
		}
	}
}

// TestOrderDoesNotMatter adds the same runs in another order.
func TestOrderDoesNotMatter(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var runs []*trace.Trajectory
	for i := range 60 {
		runs = append(runs, run(fmt.Sprint(i%20), []string{"a", "b", "c"}[:r.IntN(4)]...))
	}
	of := func() *contrast.Contrast {
		before, after := contrast.NewSet(), contrast.NewSet()
		for _, t := range runs {
			if t.Task < "3" {
				before.Add(t, contrast.Cost{})
			}
			after.Add(t, contrast.Cost{})
		}
		return contrast.New(before, after, contrast.Options{Pairing: contrast.PairNever})
	}
	want := of()
	for range 3 {
		r.Shuffle(len(runs), func(i, k int) { runs[i], runs[k] = runs[k], runs[i] })
		if got := of(); !reflect.DeepEqual(got, want) {
			t.Fatal("another order gives another result")
		}
	}
}

func BenchmarkNew(b *testing.B) {
	before, after := study(rand.New(rand.NewPCG(1, 2)), 200, 1, 1, true)
	b.ReportAllocs()
	for b.Loop() {
		contrast.New(before, after, contrast.Options{})
	}
}

// TestStored: a set that was kept as sums is the same set, and sums of parts are those of all.
func TestStored(t *testing.T) {
	all, parts, other := contrast.NewSet(), summary.New(summary.Options{}), contrast.NewSet()
	for i := range 24 {
		r := run(fmt.Sprint(i%12), "a", "b", "b", fmt.Sprint("c", i%3))
		if r.Outcome = trace.OutcomeFailure; i%2 == 0 {
			r.Outcome = trace.OutcomeSuccess
		}
		cost := contrast.Cost{Tokens: float64(100 + i), USD: 0.001 * float64(i), Priced: i%5 > 0}
		all.Add(r, cost)
		part := contrast.NewSet()
		part.Add(r, cost)
		part.AddTo(parts.AddN, parts.AddTaskN)
		other.Add(run(fmt.Sprint(i), "a"), contrast.Cost{Tokens: 50})
	}
	stored, err := summary.Read("part", parts.Append(nil))
	if err != nil {
		t.Fatal(err)
	}
	restored := contrast.Restore(stored)
	o := contrast.Options{Permutations: 99}
	if got, want := contrast.New(restored, other, o), contrast.New(all, other, o); !reflect.DeepEqual(got, want) {
		t.Errorf("restored\n%+v\nwant\n%+v", got, want)
	}
	for m := range contrast.Measures {
		if got, want := restored.Quantile(m, 0.95), all.Quantile(m, 0.95); got != want {
			t.Errorf("%s: %v, want %v", contrast.Measures[m].Name, got, want)
		}
	}
	if restored.Runs != 24 || restored.Tasks() != 12 {
		t.Errorf("%d runs of %d tasks", restored.Runs, restored.Tasks())
	}
}
