package backtest

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/ngram"
	"github.com/awo-dev/awo/trace"
)

// TestFirstUse is arithmetic done by hand, with two tools: either comes first; the
// first is followed by the second half of the time, the second by either a quarter.
func TestFirstUse(t *testing.T) {
	f := &firstUse{offered: []uint32{1, 2}, start: []float64{.5, .5}, next: [][]float64{{0, .5}, {.25, .25}}, steps: 3}
	for tool, want := range [][]float64{
		// Not the first tool, which is the second one: from that by a quarter, then from
		// the second again.
		{.5, .5 * .25, .5 * .25 * .25},
		// Not the second: from the first by a half, and from there nowhere else.
		{.5, .5 * .5, 0},
	} {
		if got := f.of(tool); !slices.Equal(got, want) {
			t.Errorf("tool %d is first used with %v, want %v", tool, got, want)
		}
	}
	want := [][]float64{{.5, .5}, {.125, .375}, {.375 * .25, .125*.5 + .375*.25}}
	for k, got := range f.called() {
		if !slices.Equal(got, want[k]) {
			t.Errorf("step %d: called with %v, want %v", k, got, want[k])
		}
	}
}

// TestFirstUseProperties holds for any sequences: first uses are probabilities, no
// likelier than uses, and do not say more than that a tool is used at all.
func TestFirstUseProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sequences := rapid.SliceOfN(rapid.SliceOfN(rapid.Uint32Range(1, 6), 1, 9), 1, 12).Draw(t, "sequences")
		model := ngram.Train(1, slices.Values(sequences), ngram.ModelOptions{})
		var offered []uint32
		for n := uint32(1); n <= 6; n++ {
			if model.Seen(n) && rapid.Bool().Draw(t, "offered") {
				offered = append(offered, n)
			}
		}
		f := newFirstUse(model, offered, rapid.IntRange(1, 12).Draw(t, "steps"))
		called := f.called()
		for i := range offered {
			sum := 0.0
			for k, p := range f.of(i) {
				if !(p >= 0 && p <= called[k][i]+1e-9) {
					t.Fatalf("step %d: first used with %v, used with %v", k, p, called[k][i])
				}
				sum += p
			}
			if sum > 1+1e-9 {
				t.Fatalf("ever used with %v", sum)
			}
		}
	})
}

// TestFirstWeighs counts ten trajectories of the model against ten that were seen.
func TestFirstWeighs(t *testing.T) {
	p := &Preloader{used: make([]usedTool, 2)}
	p.used[1] = usedTool{offered: 10}
	p.used[1].first[0], p.used[1].first[1] = 5, 1
	for k, want := range []float64{(10*.2 + 5) / 20, (10*.5 + 1) / 20} {
		if got := p.first(1, []float64{.2, .5}); math.Abs(got[k]-want) > 1e-12 {
			t.Errorf("step %d: %v, want %v", k, got[k], want)
		}
	}
}

// TestPreloading has tools that are worth it and tools that are not: one that every
// run begins with, one that a run in twenty ends with, one that is never called, and
// one that only a single task knows.
func TestPreloading(t *testing.T) {
	var list []*trace.Trajectory
	for i := range 40 {
		calls := []scripted{{tool: "login", args: `{}`, result: `{}`}, {tool: "find", args: `{}`, result: `{}`, turn: 1}, {tool: "find", args: `{}`, result: `{}`, turn: 2}}
		switch {
		case i == 7:
			calls = append(calls, scripted{tool: "planted", args: `{}`, result: `{}`, turn: 3})
		case i%20 == 0:
			calls = append(calls, scripted{tool: "rare", args: `{}`, result: `{}`, turn: 3})
		}
		list = append(list, scriptedRun(fmt.Sprintf("task-%d", i), calls...))
	}
	offering(list, "find", "idle", "rare", "planted", "login")
	meter := cost.NewMeter(cost.Options{})
	learning := NewPreloading(meter)
	for _, k := range list {
		learning.Add(k, meter.Trajectory(k))
	}
	names := func(list []trace.Name) (out []string) {
		for _, n := range list {
			out = append(out, n.Value())
		}
		return out
	}
	want := []string{"find", "login"}
	all := learning.Train(nil)
	if got := names(all.Tools(list[0])); !slices.Equal(got, want) {
		t.Errorf("registered from the start: %v, want %v", got, want)
	}
	// Other tools offered, in another order.
	if got := names(all.Tools(offering([]*trace.Trajectory{{}}, "unheard", "login", "idle")[0])); !slices.Equal(got, []string{"login"}) {
		t.Errorf("of other tools: %v", got)
	}
	if got := all.Tools(&trace.Trajectory{}); got != nil {
		t.Errorf("of no tools: %v", got)
	}

	// What only one task knows is learnt by it, and not for it.
	only := learning.Train(func(task string) bool { return task == list[7].TaskKey() })
	if got := names(only.Tools(list[7])); !slices.Contains(got, "planted") {
		t.Errorf("learnt from the planted tool's task: %v", got)
	}
	held := learning.HeldOut(5, 3)
	for _, k := range list {
		if got := names(held(k)); !slices.Equal(got, want) {
			t.Errorf("held out: %v, want %v", got, want)
		}
	}
	if got := learning.Train(func(string) bool { return false }).Tools(list[0]); got != nil {
		t.Errorf("learnt from nothing: %v", got)
	}
	alone := NewPreloading(meter)
	alone.Add(list[0], meter.Trajectory(list[0]))
	if got := alone.HeldOut(5, 3)(list[0]); got != nil {
		t.Errorf("of a single task: %v", got)
	}
}

// TestPreloadingSample keeps a bounded number of accounts, whatever the order.
func TestPreloadingSample(t *testing.T) {
	meter := cost.NewMeter(cost.Options{})
	sampled := func(from, by int) []string {
		learning := NewPreloading(meter)
		const n = 3 * preloadSample
		k := scriptedRun("", scripted{tool: "find", args: `{}`, result: `{}`})
		offering([]*trace.Trajectory{k}, "find")
		for i := range n {
			one := *k
			one.ID = fmt.Sprintf("run-%d", (from+i*by)%n)
			one.Task = one.ID
			learning.Add(&one, meter.Trajectory(&one))
		}
		var out []string
		for _, r := range learning.runs {
			if r.kept != nil {
				out = append(out, r.task)
			}
		}
		if len(learning.runs) != n || len(out) != learning.sampled || len(out) > 2*preloadSample || len(out) < preloadSample/2 {
			t.Errorf("%d of %d runs sampled", len(out), len(learning.runs))
		}
		slices.Sort(out)
		return out
	}
	if x, y := sampled(0, 1), sampled(17, 7); !slices.Equal(x, y) {
		t.Errorf("another order gives another sample: %d and %d", len(x), len(y))
	}
}
