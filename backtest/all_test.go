package backtest

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/inertia"
	"github.com/awo-dev/awo/trace"
)

// declaredReads declares tools to read.
type declaredReads []string

func (d declaredReads) Add(*trace.Trajectory) {}

func (d declaredReads) Of(tool trace.Name) inertia.Effect {
	if slices.Contains(d, tool.Value()) {
		return inertia.EffectReads
	}
	return inertia.EffectWrites
}

func togetherOf(tools ...string) Options {
	o := options(none, patterns, inertial, readAhead, all, preload)
	o.Declared = func() Declarations { return declaredReads(tools) }
	return o
}

// routines are runs that make four calls of one turn each, the last of which reads
// what the third returns: the gate lets the fourth call through, and none before it.
func routines(n int) []*trace.Trajectory {
	var list []*trace.Trajectory
	for i := range n {
		calls := []scripted{
			{tool: "open", args: fmt.Sprintf(`{"q":"word-%d"}`, 13*i), result: `{"ok":true}`},
			{tool: "note", args: fmt.Sprintf(`{"q":"text-%d"}`, 17*i), result: `{"ok":true}`, turn: 1},
			{tool: "find", args: fmt.Sprintf(`{"q":"name-%d"}`, 19*i), result: fmt.Sprintf(`{"found":"order-%d"}`, 7000+i), turn: 2},
			{tool: "get_order", args: fmt.Sprintf(`{"order":"order-%d"}`, 7000+i), result: `{"state":"sent"}`, turn: 3},
		}
		list = append(list, scriptedRun(fmt.Sprintf("task-%d", i), calls...))
	}
	return list
}

// TestInertia checks the sums by hand: 60 runs of four turns, the last of which is
// predicted.
func TestInertia(t *testing.T) {
	o := togetherOf("get_order")
	o.Techniques = []Technique{none, inertial}
	r, err := Run(sourceOf(routines(60)...), o)
	if err != nil {
		t.Fatal(err)
	}
	got := outcomeOf(t, r, "inertia")
	if got.CallingTurnsSaved != 60 || got.LLMCallsSaved != 60 || got.Wrong != 0 || got.Used != 60 || got.StepsBefore != 4 || got.StepsAfter != 3 || got.MetaTools != 0 {
		t.Errorf("%+v", got)
	}
	// The fourth turn reads 1,300 tokens and writes 10, which no other turn reads.
	if got.TokensSaved != 60*1310 {
		t.Errorf("%d tokens saved, want %d", got.TokensSaved, 60*1310)
	}
	if len(r.Interactions) != 0 {
		t.Errorf("interactions %+v without a combination", r.Interactions)
	}

	// Where the turn is not to be trusted it is charged: in every third run of the
	// same tasks the model goes on to something else.
	list := routines(60)
	for i := range list {
		if i%3 == 0 {
			c := &list[i].Calls[3]
			c.Tool, c.Args = trace.Intern("stop"), trace.JSONOf([]byte(`{}`))
		}
	}
	if r, err = Run(sourceOf(list...), o); err != nil {
		t.Fatal(err)
	}
	got = outcomeOf(t, r, "inertia")
	if got.CallingTurnsSaved != 40 || got.Wrong != 20 || got.LLMCallsSaved != 20 {
		t.Errorf("%d turns saved, %d wrong calls, %d model calls saved; want 40, 20 and 20", got.CallingTurnsSaved, got.Wrong, got.LLMCallsSaved)
	}

	// Nothing is called that nobody declares to read.
	for _, declared := range []func() Declarations{nil, func() Declarations { return declaredReads(nil) }} {
		o.Declared = declared
		if r, err = Run(sourceOf(list...), o); err != nil {
			t.Fatal(err)
		}
		if got := outcomeOf(t, r, "inertia"); got.CallingTurnsSaved != 0 || got.Wrong != 0 || got.Used != 0 {
			t.Errorf("%+v of tools that nobody declares", got)
		}
	}
}

// TestAll has three parts want the same turn: it is saved once, by the read ahead, which
// needs no choice.
func TestAll(t *testing.T) {
	r, err := Run(sourceOf(routines(60)...), togetherOf("get_order"))
	if err != nil {
		t.Fatal(err)
	}
	p, i, a := outcomeOf(t, r, "patterns"), outcomeOf(t, r, "inertia"), outcomeOf(t, r, "all")
	if p.CallingTurnsSaved < 60 || i.CallingTurnsSaved != 60 || a.CallingTurnsSaved != p.CallingTurnsSaved {
		t.Errorf("patterns save %d, inertia %d, all %d", p.CallingTurnsSaved, i.CallingTurnsSaved, a.CallingTurnsSaved)
	}
	if len(r.Interactions) != 1 {
		t.Fatalf("interactions %+v", r.Interactions)
	}
	x := r.Interactions[0]
	if x.CallingTurnsSaved != -120 || !slices.Equal(x.Attributed, []int{0, 0, 60, 0}) {
		t.Errorf("%+v", x)
	}
	if b := r.Best(""); b == nil || b.Name == "all" {
		t.Errorf("recommended %+v", b)
	}
}

// TestAllProperties holds for any traces: together at least what inertia and reading ahead
// save, never more than there is, and every turn once. Beside patterns, which are chosen for
// themselves, there is no bound: other meta-tools are worth offering beside reads.
func TestAllProperties(t *testing.T) {
	saved := 0
	rapid.Check(t, func(t *rapid.T) {
		list := drawRoutines(t)
		o := togetherOf("get_order", "find", "open")
		o.Folds, o.Choose.MinTurns = 2, 1
		r, err := Run(sourceOf(list...), o)
		if err != nil {
			t.Fatal(err)
		}
		p, i, ahead, a := &r.Techniques[1], &r.Techniques[2], &r.Techniques[3], &r.Techniques[4]
		if a.CallingTurnsSaved < max(i.CallingTurnsSaved, ahead.CallingTurnsSaved) || a.CallingTurnsSaved > a.CallingTurns {
			t.Fatalf("all saves %d of %d, inertia %d, prefetch %d", a.CallingTurnsSaved, a.CallingTurns, i.CallingTurnsSaved, ahead.CallingTurnsSaved)
		}
		x := r.Interactions[0]
		if x.Attributed[0]+x.Attributed[1]+x.Attributed[2] != a.CallingTurnsSaved || x.Attributed[3] != 0 {
			t.Fatalf("%v attributed of %d", x.Attributed, a.CallingTurnsSaved)
		}
		if x.CallingTurnsSaved != a.CallingTurnsSaved-p.CallingTurnsSaved-i.CallingTurnsSaved-ahead.CallingTurnsSaved {
			t.Fatalf("interaction %d", x.CallingTurnsSaved)
		}

		part := &Part{Source: sourceOf(list...), Options: o, meter: cost.NewMeter(cost.Options{})}
		trained, err := all.Train(part)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range list {
			f := trained.Find(&Case{Trajectory: k})
			if !slices.IsSorted(f.Removed) || len(slices.Compact(slices.Clone(f.Removed))) != len(f.Removed) {
				t.Fatalf("turns %v", f.Removed)
			}
			if len(f.Removed) > 0 && (f.Removed[0] < 1 || f.Removed[len(f.Removed)-1] >= len(k.Turns)) {
				t.Fatalf("turns %v of %d", f.Removed, len(k.Turns))
			}
			saved += len(f.Removed)
		}
	})
	if saved == 0 {
		t.Error("nothing was ever saved")
	}
}

// TestAllIsTheSameWithWorkers compares results of one and several workers.
func TestAllIsTheSameWithWorkers(t *testing.T) {
	var want string
	for _, workers := range []int{1, 4} {
		o := togetherOf("get_order", "find")
		o.Workers = workers
		r, err := Run(sourceOf(routines(40)...), o)
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprintf("%+v", *r)
		if want != "" && got != want {
			t.Errorf("%d workers:\n%s\none:\n%s", workers, got, want)
		}
		want = got
	}
}

// drawRoutines draws runs of a few tools, some of whose arguments come from results.
func drawRoutines(t *rapid.T) []*trace.Trajectory {
	var list []*trace.Trajectory
	tools := []string{"open", "note", "find", "get_order", "stop"}
	for i := range rapid.IntRange(4, 14).Draw(t, "runs") {
		var calls []scripted
		known, turn := fmt.Sprintf("word-%d", 100+i), 0
		for k := range rapid.IntRange(1, 9).Draw(t, "calls") {
			tool := tools[rapid.IntRange(0, len(tools)-1).Draw(t, "tool")]
			if rapid.IntRange(0, 2).Draw(t, "habit") > 0 {
				tool = tools[k%len(tools)]
			}
			next := fmt.Sprintf("item-%d-%d", 100+i, k)
			calls = append(calls, scripted{
				tool: tool, args: fmt.Sprintf(`{"q":"%s"}`, known), result: fmt.Sprintf(`{"next":"%s"}`, next),
				turn: turn, failed: rapid.IntRange(0, 9).Draw(t, "fails") == 0,
			})
			known = next
			if rapid.IntRange(0, 4).Draw(t, "parallel") > 0 {
				turn++
			}
		}
		list = append(list, scriptedRun(fmt.Sprintf("task-%d", i), calls...))
	}
	return list
}
