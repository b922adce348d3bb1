package backtest

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/metatool/replay"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// readsOnly are rules by which only these tools are known to read.
func readsOnly(tools ...string) *rules.Set {
	text := `{"version": 1, "rules": [{"id": "none", "kind": "effect", "match": {"tool": "no_such_tool"}, "effect": "accessor"}`
	for _, tool := range tools {
		text += fmt.Sprintf(`, {"id": %q, "kind": "effect", "match": {"tool": %q}, "effect": "accessor"}`, tool, tool)
	}
	set, err := rules.Parse("rules.json", []byte(text+"]}"))
	if err != nil {
		panic(err)
	}
	return set
}

func togetherOf(tools ...string) Options {
	o := options(none, patterns, inertial, readAhead, all, register)
	o.Rules = readsOnly(tools...)
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
	r, err := Run(runsOf(routines(60)...), o)
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

	// Where the turn is not to be trusted it is charged: in every fifth run of the
	// same tasks the model goes on to something else.
	list := routines(60)
	for i := range list {
		if i%5 == 0 {
			c := &list[i].Calls[3]
			c.Tool, c.Args = trace.Intern("stop"), trace.JSONOf([]byte(`{}`))
		}
	}
	if r, err = Run(runsOf(list...), o); err != nil {
		t.Fatal(err)
	}
	got = outcomeOf(t, r, "inertia")
	if got.CallingTurnsSaved != 48 || got.Wrong != 12 || got.LLMCallsSaved != 36 {
		t.Errorf("%d turns saved, %d wrong calls, %d model calls saved; want 48, 12 and 36", got.CallingTurnsSaved, got.Wrong, got.LLMCallsSaved)
	}

	// Nothing is called that nobody declares to read.
	o.Rules = readsOnly()
	if r, err = Run(runsOf(list...), o); err != nil {
		t.Fatal(err)
	}
	if got := outcomeOf(t, r, "inertia"); got.CallingTurnsSaved != 0 || got.Wrong != 0 || got.Used != 0 {
		t.Errorf("%+v of tools that nobody declares", got)
	}
}

// TestAll has three parts want the same turn: it is saved once, by the read ahead, which
// needs no choice.
func TestAll(t *testing.T) {
	r, err := Run(runsOf(routines(60)...), togetherOf("get_order"))
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
		r, err := Run(runsOf(list...), o)
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

		part := &Part{Runs: runsOf(list...), Options: o, meter: cost.NewMeter(cost.Options{})}
		trained := newTested(part, []Trained{all.Train(part)})
		for _, k := range part.Runs {
			c := &Case{Run: k}
			trained.look(c)
			f := trained.each[0].Find(c)
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
		r, err := Run(runsOf(routines(40)...), o)
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
	b := &together{combination: combination{tools: &toolset{definitions: []trace.ToolDef{composed}, learnt: Learnt{DefinitionTokens: 40}}, lazily: true}, meter: meter}
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
	got := b.Saving(&Case{Run: &corpus.Run{Trajectory: run}, Account: account}, f)
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
	got = b.Saving(&Case{Run: &corpus.Run{Trajectory: &bare}, Account: meter.Trajectory(&bare)}, f)
	if want := int64(1200+1400+10+20) - 3*40; got.Tokens() != want || f.Added != 1 {
		t.Errorf("%d tokens saved, want %d; %d calls added", got.Tokens(), want, f.Added)
	}
	if got := b.Saving(&Case{Run: &corpus.Run{Trajectory: run}}, find()); got != (cost.Totals{}) {
		t.Errorf("%+v saved of an unknown account", got)
	}
}

// TestAllRegistersEach has each of the four tools registered in each of 60 runs, and the three
// that are left where the fourth call is read ahead.
func TestAllRegistersEach(t *testing.T) {
	list := offering(routines(60), "open", "note", "find", "get_order", "stop")
	r, err := Run(runsOf(list...), togetherOf("get_order"))
	if err != nil {
		t.Fatal(err)
	}
	p, l := outcomeOf(t, r, "patterns"), outcomeOf(t, r, "register")
	a := outcomeOf(t, r, "all")
	if l.LLMCallsSaved != -4*60 {
		t.Errorf("registering adds %d calls", -l.LLMCallsSaved)
	}
	if a.CallingTurnsSaved != p.CallingTurnsSaved || a.LLMCallsSaved != a.CallingTurnsSaved-3*60 {
		t.Errorf("all saves %d calling turns and %d calls, patterns %d", a.CallingTurnsSaved, a.LLMCallsSaved, p.CallingTurnsSaved)
	}
	if x := r.Interactions[0]; x.LLMCallsSaved != a.LLMCallsSaved-p.LLMCallsSaved-outcomeOf(t, r, "inertia").LLMCallsSaved-outcomeOf(t, r, "prefetch").LLMCallsSaved-l.LLMCallsSaved {
		t.Errorf("interaction %+v", x)
	}
}
