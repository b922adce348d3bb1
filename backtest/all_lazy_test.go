package backtest

import (
	"testing"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/execute/replay"
	"github.com/awo-dev/awo/trace"
)

// offering gives runs the definitions of tools, which their inputs hold already.
func offering(list []*trace.Trajectory, names ...string) []*trace.Trajectory {
	var tools []trace.ToolDef
	for _, name := range names {
		tools = append(tools, trace.ToolDef{
			Name: trace.Intern(name), Description: trace.TextOf("does what its name says"),
			Input: trace.JSONOf([]byte(`{"type":"object","properties":{"q":{"type":"string","description":"what is asked for"}}}`)),
		})
	}
	for _, t := range list {
		t.Tools = tools
	}
	return list
}

// TestAllRegisters is arithmetic done by hand: of five turns the third is in a
// meta-tool with the second, and the fifth is made without the model. Left are the
// first, the second, which now calls the meta-tool, and the fourth, which no longer
// reads the 10 tokens that the third said. They need open, the meta-tool and note;
// get_order is needed nowhere.
func TestAllRegisters(t *testing.T) {
	run := offering([]*trace.Trajectory{scriptedRun(
		"a",
		scripted{tool: "open", args: `{}`, result: `{}`},
		scripted{tool: "find", args: `{}`, result: `{}`, turn: 1},
		scripted{tool: "get_order", args: `{}`, result: `{}`, turn: 2},
		scripted{tool: "note", args: `{}`, result: `{}`, turn: 3},
		scripted{tool: "get_order", args: `{}`, result: `{}`, turn: 4},
	)}, "open", "find", "get_order", "note")[0]
	meter := cost.NewMeter(cost.Options{})
	account := meter.Trajectory(run)
	composed := trace.ToolDef{Name: trace.Intern("find_order"), Description: trace.TextOf("finds an order and gets it"), Input: trace.JSONOf([]byte(`{"type":"object"}`))}
	meta := meter.Definition(&composed)
	b := &together{tools: &toolset{definitions: []trace.ToolDef{composed}, learnt: Learnt{DefinitionTokens: 40}}, preloader: &Preloader{}, meter: meter, lazily: true}
	find := func() *Finding {
		return &Finding{Removed: []int{2, 4}, Wrong: 1, Added: 1, shares: []share{
			{span: replay.Span{Begin: 1, End: 3}, removed: []int{2}, calls: [][]int{{1}, {2}}},
			{span: replay.Span{Begin: 4, End: 5}, removed: []int{4}, part: 1},
		}}
	}
	set, index := meter.Toolset(run.Tools)
	tool := func(name string) cost.Definition { return set.Tools[index[trace.Intern(name)]] }
	front := set.Register + int64(set.Names) + meta.Name + 4 // 5 names, 4 separators
	context := []int64{1000 - account.Definitions, 1100 - account.Definitions, 1290 - account.Definitions}
	want, extra := cost.Totals{}, int64(0)
	for i, d := range []cost.Definition{tool("open"), meta, tool("note")} {
		said := set.Call + d.Name
		want.Input += front + context[i] + extra
		extra += said + set.Acknowledged + d.Tokens()
		want.Input += front + context[i] + extra
		want.Output += said + 10
	}
	f := find()
	got := b.Saving(&Case{Trajectory: run, Account: account}, f)
	if recorded := int64(1000 + 1100 + 1200 + 1300 + 1400 + 50); got.Tokens() != recorded-want.Tokens() {
		t.Errorf("%d tokens saved, want %d less %d", got.Tokens(), recorded, want.Tokens())
	}
	// gpt-4o: 2.5 and 10 dollars for a million.
	if usd := (2.5*float64(6000-want.Input) + 10*float64(50-want.Output)) / 1e6; got.USD < usd-1e-9 || got.USD > usd+1e-9 {
		t.Errorf("%v USD saved, want %v", got.USD, usd)
	}
	if got.Turns != 5-6 || f.Added != 1+3 || !f.Used {
		t.Errorf("%d turns saved, %d calls added; want 6 turns instead of 5, a wrong call and 3 registrations", got.Turns, f.Added)
	}

	// Without definitions nothing is registered: the meta-tool stands in front of the
	// three turns.
	bare := *run
	bare.Tools = nil
	f = find()
	got = b.Saving(&Case{Trajectory: &bare, Account: meter.Trajectory(&bare)}, f)
	if want := int64(1200+1400+10+20) - 3*40; got.Tokens() != want || f.Added != 1 {
		t.Errorf("%d tokens saved, want %d; %d calls added", got.Tokens(), want, f.Added)
	}
	if got := b.Saving(&Case{Trajectory: run}, find()); got != (cost.Totals{}) {
		t.Errorf("%+v saved of an unknown account", got)
	}
}

// TestAllPreloads has everything registered from the start where everything is
// always called, the meta-tool included: then no call is added.
func TestAllPreloads(t *testing.T) {
	list := offering(routines(60), "open", "note", "find", "get_order", "stop")
	r, err := Run(sourceOf(list...), togetherOf("get_order"))
	if err != nil {
		t.Fatal(err)
	}
	p, l := outcomeOf(t, r, "patterns"), outcomeOf(t, r, "preload")
	a := outcomeOf(t, r, "all")
	if l.LLMCallsSaved != 0 {
		t.Errorf("preloading adds %d calls", -l.LLMCallsSaved)
	}
	if a.CallingTurnsSaved != p.CallingTurnsSaved || a.LLMCallsSaved != a.CallingTurnsSaved {
		t.Errorf("all saves %d calling turns and %d calls, patterns %d", a.CallingTurnsSaved, a.LLMCallsSaved, p.CallingTurnsSaved)
	}
	if x := r.Interactions[0]; x.LLMCallsSaved != a.LLMCallsSaved-p.LLMCallsSaved-outcomeOf(t, r, "inertia").LLMCallsSaved-outcomeOf(t, r, "prefetch").LLMCallsSaved-l.LLMCallsSaved {
		t.Errorf("interaction %+v", x)
	}
}
