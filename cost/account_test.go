package cost_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/trace"
)

// words is a text of n tokens of o200k.
func words(n int) trace.Raw { return trace.TextOf(strings.TrimSpace(strings.Repeat(" and", n))) }

// TestCounted counts by hand what stands in front of each turn.
func TestCounted(t *testing.T) {
	tr := &trace.Trajectory{
		Model: "plain",
		Tools: []trace.ToolDef{{Name: trace.Intern("look"), Description: words(7)}},
		Messages: []trace.Message{
			{Role: trace.RoleSystem, Text: words(20)}, {Text: words(10)}, {Text: words(3), Turn: 1, Call: 2},
		},
		Turns: []trace.Turn{
			{NumCalls: 2, Text: words(5), Thought: words(9)},
			{FirstCall: 2, NumCalls: 1},
			{FirstCall: 3, Text: words(4)},
		},
		Calls: []trace.Call{
			{Tool: trace.Intern("look"), Result: words(6), HasResult: true},
			{Tool: trace.Intern("look"), Error: words(2)},
			{Tool: trace.Intern("look"), Turn: 1, Result: words(8), HasResult: true},
		},
	}
	m := meter(cost.CachingRecorded)
	a := m.Trajectory(tr)
	// Definition 1 + 7; then 20 + 10. The first turn says 5 and two names, and thinks 9.
	want := []cost.Turn{
		{Input: 38, Output: 16, Reread: 7, Source: cost.Counted},
		{Input: 38 + 7 + 6 + 2 + 3, Output: 1, Reread: 1, Source: cost.Counted},
		{Input: 56 + 1 + 8, Output: 4, Reread: 4, Source: cost.Counted},
	}
	for i, w := range want {
		if got := a.Turns[i]; got.Input != w.Input || got.Output != w.Output || got.Reread != w.Reread || got.Source != w.Source {
			t.Errorf("turn %d: %+v, want %+v", i, got, w)
		}
	}
	if a.Definitions != 8 || a.Offered != 1 || a.Estimated() != 3 {
		t.Errorf("%+v", a)
	}
}

// TestFit finds out factors that are known: recorded input is 500 and 1.5 for each
// counted token, recorded output 1.2.
func TestFit(t *testing.T) {
	build := func(task int, usage bool) *trace.Trajectory {
		tr := &trace.Trajectory{ID: fmt.Sprint(task), Task: fmt.Sprint(task), Model: "plain", Messages: []trace.Message{{Text: words(40 + 2*task)}}}
		context := 40 + 2*task
		for i := range 4 {
			turn := trace.Turn{Text: words(10 + 10*i)}
			if usage {
				turn.Usage = trace.Usage{Known: true, Input: int64(500 + context*3/2), Output: int64(12 + 12*i)}
			}
			context += 10 + 10*i
			tr.Turns = append(tr.Turns, turn)
		}
		return tr
	}
	m := meter(cost.CachingRecorded)
	f := cost.NewFit(m)
	for task := range 5 {
		f.Add(build(task, true))
	}
	got, ok := f.Models()[0], true
	if !ok || math.Abs(got.Input.Value-1.5) > 1e-9 || math.Abs(got.Base.Value-500) > 1e-6 || math.Abs(got.Output.Value-1.2) > 1e-9 || got.Error > 1e-9 {
		t.Fatalf("%+v", got)
	}
	if got.Input.Tasks != 5 || got.Input.Turns != 15 || got.Input.Interval.Known() || got.Base.Interval.Known() {
		t.Errorf("%+v", got.Input)
	}
	recorded, fitted := m.Trajectory(build(3, true)), m.Trajectory(build(3, false))
	if n := f.Apply(fitted); n != 0 {
		t.Errorf("%d turns stay as they were counted", n)
	}
	r, g := recorded.Total(), fitted.Total()
	if r.Input != g.Input || r.Output != g.Output || r.USD != g.USD || g.Estimated != 4 {
		t.Errorf("fitted %+v, recorded %+v", g, r)
	}
	// Once is enough.
	f.Apply(fitted)
	if again := fitted.Total(); again != g {
		t.Errorf("scaled twice: %+v", again)
	}
	// Another model, and the same one under another system prompt, borrow nothing.
	other, prompted := build(1, false), build(1, false)
	other.Model = "unheard-of"
	prompted.Messages = append([]trace.Message{{Role: trace.RoleSystem, Text: words(9)}}, prompted.Messages...)
	if n := f.Apply(m.Trajectory(other)) + f.Apply(m.Trajectory(prompted)); n != 8 || f.Models()[0].Scaled != 4 {
		t.Errorf("%d turns stay as they were counted, %+v", n, f.Models())
	}
	// Nothing learnt, nothing scaled.
	if n := cost.NewFit(m).Apply(m.Trajectory(build(1, false))); n != 4 {
		t.Errorf("%d turns stay as they were counted, want 4", n)
	}
}

// TestFitInterval: growth 30 for 20, 50 for 40, 90 for 60 counted tokens and twice the
// first again give 250/180, and five tasks are enough for an interval.
func TestFitInterval(t *testing.T) {
	f := cost.NewFit(meter(cost.CachingRecorded))
	for task, grown := range []int64{30, 50, 90, 30, 50} {
		tr := &trace.Trajectory{ID: fmt.Sprint(task), Task: fmt.Sprint(task), Messages: []trace.Message{{Text: words(5)}, {Text: words(20 + 20*(task%3) - 1), Turn: 1}}}
		tr.Turns = []trace.Turn{{Text: words(1), Usage: trace.Usage{Known: true, Input: 100, Output: 1}}, {Text: words(1), Usage: trace.Usage{Known: true, Input: 100 + grown, Output: 1}}}
		f.Add(tr)
	}
	got := f.Models()[0]
	if e := got.Input; math.Abs(e.Value-250.0/180) > 1e-9 || !e.Interval.Known() || e.Interval.N != 5 || !(1 < e.Interval.Lo && e.Interval.Lo < e.Value && e.Value < e.Interval.Hi && e.Interval.Hi < 2) {
		t.Errorf("%+v", e)
	}
}

// TestForeignTrajectories: what a trajectory costs does not depend on trajectories of
// other models and other system prompts.
func TestForeignTrajectories(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		draw := func(label, model, prompt string, n int) []*trace.Trajectory {
			var out []*trace.Trajectory
			for task := range n {
				tr := &trace.Trajectory{ID: label + fmt.Sprint(task), Task: label + fmt.Sprint(task), Model: model, Messages: []trace.Message{{Role: trace.RoleSystem, Text: trace.TextOf(prompt)}, {Text: words(5 + task)}}}
				context := int64(100)
				for range rapid.IntRange(1, 4).Draw(rt, label) {
					turn := trace.Turn{Text: words(rapid.IntRange(1, 20).Draw(rt, "output"))}
					context += rapid.Int64Range(1, 90).Draw(rt, "growth")
					if rapid.Bool().Draw(rt, "usage") {
						turn.Usage = trace.Usage{Known: true, Input: context, Output: rapid.Int64Range(1, 50).Draw(rt, "tokens")}
					}
					tr.Turns = append(tr.Turns, turn)
				}
				out = append(out, tr)
			}
			return out
		}
		own := draw("own", "plain", "be kind", rapid.IntRange(1, 5).Draw(rt, "own"))
		foreign := append(draw("model", "unheard-of", "be kind", 3), draw("prompt", "plain", "be quick", 3)...)
		costs := func(all ...*trace.Trajectory) []cost.Totals {
			m := meter(cost.CachingRecorded)
			f := cost.NewFit(m)
			for _, tr := range all {
				f.Add(tr)
			}
			var out []cost.Totals
			for _, tr := range own {
				a := m.Trajectory(tr)
				f.Apply(a)
				out = append(out, a.Total())
			}
			return out
		}
		if alone, among := costs(own...), costs(append(foreign, own...)...); !slices.Equal(alone, among) {
			rt.Fatalf("alone %+v, among others %+v", alone, among)
		}
	})
}

// TestPaid: what was recorded as paid counts where it is recorded, and follows the list
// price where turns go.
func TestPaid(t *testing.T) {
	tr := run("plain", use{input: 1000, output: 100}, use{input: 2000, output: 100}, use{input: 3000, output: 100})
	m := meter(cost.CachingRecorded)
	list := m.Trajectory(tr).Total()
	if list.Paid != list.USD || list.Unpaid != 0 {
		t.Errorf("without a recorded cost: %+v", list)
	}
	half := m.Trajectory(tr).Turn(1).USD / 2
	tr.Turns[1].Usage.CostUSD = &half
	a := m.Trajectory(tr)
	if got := a.Total(); math.Abs(got.Paid-(list.USD-half)) > 1e-15 || got.USD != list.USD {
		t.Errorf("with one: %+v, list %+v", got, list)
	}
	if saved := a.Saving([]int{1}, 0); math.Abs(saved.Paid-(saved.USD-half)) > 1e-15 {
		t.Errorf("saved %+v", saved)
	}
	tr.Model = "unheard-of"
	for i := range tr.Turns {
		tr.Turns[i].Model = ""
	}
	if got := m.Trajectory(tr).Total(); math.Abs(got.Paid-half) > 1e-15 || got.Unpaid != 2 || got.Unpriced != 3 {
		t.Errorf("without a list price: %+v", got)
	}
}

// TestLedger adds two trajectories up by hand. Turns with two calls are shared.
func TestLedger(t *testing.T) {
	m := meter(cost.CachingRecorded)
	l := cost.NewLedger(m)
	a := run("plain", use{input: 100, output: 10}, use{input: 200, output: 20}, use{input: 300, output: 5})
	a.ID, a.Agent, a.Outcome = "a", "x", trace.OutcomeSuccess
	a.Turns[0].NumCalls, a.Turns[1].FirstCall, a.Turns[1].NumCalls = 2, 2, 1
	a.Calls = []trace.Call{{Tool: trace.Intern("read")}, {Tool: trace.Intern("write")}, {Tool: trace.Intern("read"), Turn: 1}, {Tool: trace.Intern("lost"), Turn: -1}}
	b := run("unheard-of", use{input: 50, output: 1})
	b.ID = "b"
	l.Add(a)
	l.Add(b)
	l.Add(&trace.Trajectory{ID: "c"})
	// Without its middle turn the first trajectory saves 200 + 20 tokens of input and 20
	// of output; 3 more tokens of definitions are read on the two turns that are left
	// and on the one of the second, whose model has no price.
	saved := l.Saving(func(i int) []int { return [][]int{{1}, nil, nil}[i] }, 3)
	if want := (cost.Totals{Turns: 1, Input: 220 - 9, Output: 20, USD: 3140, Paid: 3140}); saved != want || l.Len() != 3 || len(l.Account(1).Turns) != 1 {
		t.Errorf("saved %+v, want %+v", saved, want)
	}
	s := l.Statement(1)
	if s.Total.Input != 650 || s.Total.Output != 36 || s.Total.USD != 6000+1750 || s.Total.Unpriced != 1 || s.Total.Trajectories != 3 || s.NoTurns != 1 || s.TurnsUnknown != 1 {
		t.Errorf("total %+v", s)
	}
	// read: half of 1500 and all of 3000; write: half of 1500.
	for i, want := range []cost.ToolLine{
		{Tool: "read", Calls: 2, Trajectories: 1, Turns: 1.5, Input: 250, Output: 25, USD: 3750},
		{Tool: "", Trajectories: 2, Turns: 2, Input: 350, Output: 6, USD: 3250, Unpriced: 1},
		{Tool: "write", Calls: 1, Trajectories: 1, Turns: 0.5, Input: 50, Output: 5, USD: 750},
	} {
		want.CostUSD, want.PaidUSD, want.Paid, want.Unpaid, want.Share = stat.Known(want.USD), stat.Known(want.USD), want.USD, want.Unpriced, stat.Known(want.USD/7750)
		if s.Tools[i] != want {
			t.Errorf("tool %+v, want %+v", s.Tools[i], want)
		}
	}
	if want := (cost.HabitLine{Tools: [2]string{"write", "read"}, Occurrences: 1, Trajectories: 1, Turns: 1, Tokens: 220, CostUSD: stat.Known(3000), USD: 3000}); len(s.Habits) != 1 || s.Habits[0] != want {
		t.Errorf("habits %+v, want %+v alone", s.Habits, want)
	}
	if len(s.Dearest) != 1 || s.Dearest[0].Name != "a" || len(s.Models) != 2 || s.Models[0].Name != "plain" || len(s.Agents) != 2 || s.Agents[0].Name != "x" || len(s.Outcomes) != 2 {
		t.Errorf("%+v", s)
	}
	// The call whose turn is not recorded is nobody's.
	if s.Total.Calls != 4 || s.Models[0].Calls != 3 || s.Models[1].Calls != 0 {
		t.Errorf("%d calls, of the models %d and %d", s.Total.Calls, s.Models[0].Calls, s.Models[1].Calls)
	}
}
