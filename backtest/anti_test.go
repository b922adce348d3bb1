package backtest

import (
	"fmt"
	"math"
	"testing"

	"github.com/awo-dev/awo/metatool/bind"
	"github.com/awo-dev/awo/metatool/compile"
	"github.com/awo-dev/awo/trace"
)

// habit is a chain of three calls, the third with the argument of the second, and
// how it goes.
type habit struct {
	tools          [3]string
	runs, failed   int  // in which the second call fails
	goesOn         bool // and the third is made all the same
	left           int  // runs that do something else after a second call that succeeded
	apart, apartNo int  // second calls alone, and those that fail
}

func (h habit) trajectories() []*trace.Trajectory {
	var list []*trace.Trajectory
	add := func(name string, calls ...scripted) { list = append(list, scriptedRun(h.tools[0]+name, calls...)) }
	for i := range h.runs + h.left {
		order := fmt.Sprintf("%s-%d", h.tools[1], 7000+i)
		fails := i < h.failed
		result := `{"state":"sent"}`
		if fails {
			result = `{"error":"no"}`
		}
		calls := []scripted{
			{tool: h.tools[0], args: fmt.Sprintf(`{"id":"%s-%d"}`, h.tools[0], i), result: fmt.Sprintf(`{"last_order":"%s"}`, order)},
			{tool: h.tools[1], args: fmt.Sprintf(`{"order":"%s"}`, order), result: result, turn: 1, failed: fails},
		}
		switch {
		case i >= h.runs:
			calls = append(calls, scripted{tool: "get_else", args: `{}`, result: `{}`, turn: 2})
		case !fails || h.goesOn:
			calls = append(calls, scripted{tool: h.tools[2], args: fmt.Sprintf(`{"order":"%s"}`, order), result: `{}`, turn: 2})
		}
		add(fmt.Sprintf("-%d", i), calls...)
	}
	for i := range h.apart {
		add(fmt.Sprintf("-apart-%d", i), scripted{tool: h.tools[1], args: fmt.Sprintf(`{"order":"apart-%d"}`, i), result: `{}`, failed: i < h.apartNo})
		add(fmt.Sprintf("-third-%d", i), scripted{tool: h.tools[2], args: fmt.Sprintf(`{"order":"third-%d"}`, i), result: `{}`})
	}
	return list
}

// verdict is what became of a meta-tool, by its tools.
type verdict struct {
	reason   string // "" if it is chosen
	failures Failures
	replay   Agreement
}

func verdicts(t *testing.T, o ChooseOptions, list []*trace.Trajectory) map[string]verdict {
	t.Helper()
	source := runsOf(list...)
	c := compile.Run(source, nil, compile.Options{Algorithm: compile.Patterns})
	choice := Choose(source, c.Definitions, o)
	out := map[string]verdict{}
	for _, g := range choice.Chosen {
		out[toolsOf(g.Definition)] = verdict{"", g.Failures, g.Replay}
	}
	for _, l := range choice.Left {
		out[toolsOf(l.Definition)] = verdict{l.Reason, l.Failures, l.Replay}
		if l.IsAnti() != (l.Reason == ReasonFails || l.Reason == ReasonCosts) {
			t.Errorf("%s: an anti-meta-tool: %v", l.Reason, l.IsAnti())
		}
	}
	return out
}

func toolsOf(d *bind.Definition) string {
	text := ""
	for _, s := range d.Steps {
		text += s.Tool + " "
	}
	return text[:len(text)-1]
}

// TestAntiMetaTool plants a chain whose second call fails in 40 of 100 runs, after
// which agents give up, and in 10 of 200 elsewhere; and a twin whose second call
// fails as seldom in the chain as elsewhere. No place of the whole chain holds a
// failed call in either.
func TestAntiMetaTool(t *testing.T) {
	bad := habit{tools: [3]string{"get_customer", "get_order", "get_parcel"}, runs: 100, failed: 40, apart: 200, apartNo: 10}
	good := habit{tools: [3]string{"get_user", "get_booking", "get_ticket"}, runs: 100, failed: 5, apart: 200, apartNo: 10}
	got := verdicts(t, ChooseOptions{}, append(bad.trajectories(), good.trajectories()...))
	whole := got["get_customer get_order get_parcel"]
	if whole.reason != ReasonFails {
		t.Errorf("left out because of %q, want %q", whole.reason, ReasonFails)
	}
	f := whole.failures
	if f.Begun != 100 || f.Failed != 40 || f.Ended != 40 || f.Compared != 2 || whole.replay.Places != 60 {
		t.Errorf("%+v, replay %+v", f, whole.replay)
	}
	if math.Abs(f.Observed.Share-0.4) > 1e-12 || math.Abs(f.Expected.Share-0.05) > 1e-12 {
		t.Errorf("fails in %v, want 0.4; elsewhere in %v, want 0.05", f.Observed.Share, f.Expected.Share)
	}
	if !(f.Observed.Lo > 0.3 && f.Observed.Lo < 0.32 && f.Expected.Hi < 0.11 && f.Expected.Hi > 0.08) {
		t.Errorf("intervals %+v and %+v", f.Observed, f.Expected)
	}
	twin := got["get_user get_booking get_ticket"]
	if twin.reason != "" || twin.failures.Begun != 100 || twin.failures.Failed != 5 || math.Abs(twin.failures.Observed.Share-0.05) > 1e-12 {
		t.Errorf("the twin is left out because of %q: %+v", twin.reason, twin.failures)
	}
}

// TestFailureInTheMiddle has agents that make the third call although the second
// failed. A meta-tool would have ended there: no disagreement, and a failure.
func TestFailureInTheMiddle(t *testing.T) {
	bad := habit{tools: [3]string{"get_customer", "get_order", "get_parcel"}, runs: 100, failed: 40, goesOn: true, apart: 200, apartNo: 10}
	good := habit{tools: [3]string{"get_user", "get_booking", "get_ticket"}, runs: 100, failed: 10, goesOn: true, apart: 200, apartNo: 20}
	got := verdicts(t, ChooseOptions{}, append(bad.trajectories(), good.trajectories()...))
	for chain, want := range map[string]struct {
		reason        string
		failed, exact int
	}{
		"get_customer get_order get_parcel": {ReasonFails, 40, 60},
		"get_user get_booking get_ticket":   {"", 10, 90},
	} {
		v := got[chain]
		if v.reason != want.reason || v.failures.Failed != want.failed || v.failures.Ended != 0 || v.failures.Begun != 100 {
			t.Errorf("%s: left out because of %q, %+v", chain, v.reason, v.failures)
		}
		if r := v.replay; r.Places != want.exact || r.Exact != want.exact || !r.Agrees(1) {
			t.Errorf("%s: %+v", chain, r)
		}
	}
}

// TestLeftAfterSuccess has 300 runs that do something else after a second call that
// succeeded: they are no successes of the third, and no reason to take the failures
// of those that went on for more than they are.
func TestLeftAfterSuccess(t *testing.T) {
	h := habit{tools: [3]string{"get_customer", "get_order", "get_parcel"}, runs: 100, failed: 20, left: 300, apart: 200, apartNo: 10}
	v := verdicts(t, ChooseOptions{}, h.trajectories())["get_customer get_order get_parcel"]
	f := v.failures
	if f.Begun != 400 || f.Failed != 20 || f.Ended != 20 || math.Abs(f.Observed.Share-0.05) > 1e-12 || math.Abs(f.Expected.Share-0.05) > 1e-12 || f.More() {
		t.Errorf("%+v", f)
	}
	if v.reason == ReasonFails {
		t.Error("an anti-meta-tool that fails as often as elsewhere")
	}
}

// TestNothingElsewhere has calls that are made in the chain only: there is nothing
// to compare them with.
func TestNothingElsewhere(t *testing.T) {
	h := habit{tools: [3]string{"get_customer", "get_order", "get_parcel"}, runs: 100, failed: 40}
	v := verdicts(t, ChooseOptions{}, h.trajectories())["get_customer get_order get_parcel"]
	if v.reason != "" || v.failures.Compared != 0 || v.failures.Failed != 40 || v.failures.More() {
		t.Errorf("left out because of %q: %+v", v.reason, v.failures)
	}
}

// TestFewFailures has two failures in 30 calls where none of 200 failed: chance.
func TestFewFailures(t *testing.T) {
	h := habit{tools: [3]string{"get_customer", "get_order", "get_parcel"}, runs: 30, failed: 2, apart: 200}
	v := verdicts(t, ChooseOptions{}, h.trajectories())["get_customer get_order get_parcel"]
	if f := v.failures; f.Begun != 30 || f.Failed != 2 || f.More() || v.reason == ReasonFails {
		t.Errorf("left out because of %q: %+v", v.reason, f)
	}
}

// TestProduct holds the interval of a product to one worked out by hand, and that of
// a single share to Wilson's.
func TestProduct(t *testing.T) {
	one := product{level: 0.95}
	one.add(40, 100, 1)
	if e := one.failed(); math.Abs(e.Share-0.4) > 1e-12 || math.Abs(e.Lo-0.30940) > 1e-4 || math.Abs(e.Hi-0.49798) > 1e-4 {
		t.Errorf("%+v", e)
	}
	// 10 of 100 and 20 of 100: 1 - 0.9 * 0.8. Wilson: 0.05523 to 0.17437 and 0.13337
	// to 0.28883. Log distances down 0.08624 and 0.11770, together 0.14591; up 0.04855
	// and 0.08000, together 0.09358.
	two := product{level: 0.95}
	two.add(10, 100, 1)
	two.add(20, 100, 1)
	if e := two.failed(); math.Abs(e.Share-0.28) > 1e-12 || math.Abs(e.Lo-0.20937) > 1e-4 || math.Abs(e.Hi-0.37775) > 1e-4 {
		t.Errorf("%+v", e)
	}
	// A walk over three elements.
	walk := product{level: 0.95}
	walk.add(10, 100, 3)
	if e := walk.failed(); math.Abs(e.Share-(1-0.9*0.9*0.9)) > 1e-12 || math.Abs(e.Hi-(1-math.Pow(1-0.17437, 3))) > 1e-4 {
		t.Errorf("%+v", e)
	}
	all := product{level: 0.95}
	all.add(5, 5, 1)
	if e := all.failed(); math.IsNaN(e.Share+e.Lo+e.Hi) || e.Share < 0.999 {
		t.Errorf("%+v", e)
	}
}

// TestCostsMoreThanItSaves has two habits that differ in what their turns cost. The
// definitions are the same but for names, and every turn reads them.
func TestCostsMoreThanItSaves(t *testing.T) {
	dear := lookups(40, true)
	cheap := lookups(40, true)
	for i, run := range cheap {
		run.Task, run.ID = fmt.Sprintf("cheap-%d", i), fmt.Sprintf("cheap-%d", i)
		run.Calls[0].Tool, run.Calls[1].Tool = trace.Intern("get_visitor"), trace.Intern("get_visit")
		for k := range run.Turns {
			run.Turns[k].Usage = trace.Usage{Known: true, Input: 20, Output: 1}
		}
	}
	source := runsOf(append(dear, cheap...)...)
	c := compile.Run(source, nil, compile.Options{Algorithm: compile.Patterns})
	choice := Choose(source, c.Definitions, ChooseOptions{Select: SelectNet})
	if choice.Unit != "usd" || len(choice.Chosen) != 1 || len(choice.Left) != 1 {
		t.Fatalf("%s: %d chosen, %d left out", choice.Unit, len(choice.Chosen), len(choice.Left))
	}
	// gpt-4o: 2.5 and 10 dollars a million. 160 turns read a definition.
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-6*want { // sums are of float32
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	g := choice.Chosen[0]
	near("net of the dear habit", g.Net, 40*(1100*2.5+10*10)/1e6-float64(g.Tokens)*160*2.5/1e6)
	near("its break-even", g.BreakEven, (1100*2.5+10*10)*40/(160*2.5))
	l := choice.Left[0]
	if toolsOf(l.Definition) != "get_visitor get_visit" || l.Reason != ReasonCosts || !l.IsAnti() {
		t.Errorf("%s is left out because of %s", toolsOf(l.Definition), l.Reason)
	}
	near("what the cheap habit saves", l.Saves, 40*(20*2.5+1*10)/1e6)
	near("what its definition costs", l.Costs, float64(l.Tokens)*160*2.5/1e6)
}
