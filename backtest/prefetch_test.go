package backtest

import (
	"fmt"
	"testing"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/internal/corpus"
	script "github.com/awo-dev/awo/internal/scripted"
	"github.com/awo-dev/awo/metatool/compile"
	"github.com/awo-dev/awo/trace"
)

// customers makes n runs: a customer is read, then then.
func customers(n int, then func(i int, s *script.Run)) []*trace.Trajectory {
	var list []*trace.Trajectory
	for i := range n {
		s := (&script.Run{}).User(fmt.Sprintf("I am customer-%d", i))
		s.Call("get_customer", fmt.Sprintf(`{"name":"customer-%d"}`, i), fmt.Sprintf(`{"orders":["order-%d-a","order-%d-b"]}`, i, i))
		then(i, s)
		s.T.ID = fmt.Sprint("run-", i)
		list = append(list, &s.T)
	}
	return list
}

func order(i int, which string) (string, string, string) {
	return "get_order", fmt.Sprintf(`{"id":"order-%d-%s"}`, i, which), fmt.Sprintf(`{"parcel":"p%d%s"}`, i, which)
}

func prefetched(t *testing.T, list []*trace.Trajectory) *Outcome {
	t.Helper()
	r, err := Run(corpus.Filled(list, corpus.Options{}), Options{Techniques: []Technique{fromResults}})
	if err != nil {
		t.Fatal(err)
	}
	return &r.Techniques[0]
}

func TestPrefetch(t *testing.T) {
	type want struct {
		turns, models              int
		reads, used, inVain, stale float64
	}
	for name, c := range map[string]struct {
		then func(i int, s *script.Run)
		want want // of 20 runs
	}{
		"both in turn": {func(i int, s *script.Run) { s.Call(order(i, "a")).Call(order(i, "b")) }, want{40, 40, 40, 40, 0, 0}},
		"both at once": {func(i int, s *script.Run) { s.Call(order(i, "a")).Also(order(i, "b")) }, want{20, 20, 40, 40, 0, 0}},
		"the first":    {func(i int, s *script.Run) { s.Call(order(i, "a")) }, want{20, 20, 20, 20, 0, 0}},
		"the second, so that the first is in vain": {func(i int, s *script.Run) { s.Call(order(i, "b")) }, want{20, 20, 40, 20, 20, 0}},
		"a user message between":                   {func(i int, s *script.Run) { s.User("and my order?").Call(order(i, "a")) }, want{20, 20, 20, 20, 0, 0}},
		"beside a write, which needs its turn": {func(i int, s *script.Run) {
			s.Call(order(i, "a")).Also("cancel", fmt.Sprint(`{"id":`, i, `}`), `true`)
		}, want{0, 0, 20, 20, 0, 0}},
		// In half of the runs something writes between: the rule stands, and those reads are stale.
		"half of them stale": {func(i int, s *script.Run) {
			if i%2 == 0 {
				s.Call("touch", `{}`, `true`)
			}
			s.Call(order(i, "a"))
		}, want{10, 10, 20, 10, 10, 10}},
		"asked for twice, of which the second time is none of ours": {func(i int, s *script.Run) { s.Call(order(i, "a")).Call(order(i, "a")) }, want{20, 20, 20, 20, 0, 0}},
		// Nothing is saved:
		"a write between": {func(i int, s *script.Run) { s.Call("touch", `{}`, `true`).Call(order(i, "a")) }, want{}},
		"a tool that nobody knows": {func(i int, s *script.Run) {
			s.Call("frobnicate", fmt.Sprintf(`{"id":"order-%d-a"}`, i), `true`)
		}, want{}},
		"seldom used": {func(i int, s *script.Run) {
			if i%5 == 0 {
				s.Call(order(i, "a"))
			}
		}, want{}},
	} {
		t.Run(name, func(t *testing.T) {
			o := prefetched(t, customers(20, c.then))
			got := want{o.CallingTurnsSaved, o.LLMCallsSaved, o.Reading.Reads, o.Reading.Used, o.Reading.InVain(), o.Reading.Stale}
			if got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

// fromResults reads ahead what answers lead to, and nothing that messages do.
var fromResults = prefetching("prefetch", "", readings{from: "result"})

// TestReadFromMessages has customers give their order in a message: the read is attached to
// it, and the turn that makes the call goes; half of the numbers that they name are of no
// interest. What is not known behind a gateway is not read there.
func TestReadFromMessages(t *testing.T) {
	var list []*trace.Trajectory
	for i := range 40 {
		s := (&script.Run{}).User(fmt.Sprintf("my order is #A%05d", 10000+i))
		if i%2 == 0 {
			s.Call("get_order", fmt.Sprintf(`{"id":"#A%05d"}`, 10000+i), `{"ok":true}`)
		}
		s.Call("touch", `{}`, `true`)
		s.T.Task = fmt.Sprint("task", i)
		for k := range s.T.Turns {
			s.T.Turns[k].Usage = trace.Usage{Input: 1000, Output: 40, Known: true}
		}
		list = append(list, &s.T)
	}
	o := Options{Techniques: []Technique{prefetching("user", "", readings{from: "user"}), prefetching("gateway", "", readings{gateway: true})}}
	r, err := Run(corpus.Filled(list, corpus.Options{}), o)
	if err != nil {
		t.Fatal(err)
	}
	got := r.Techniques[0]
	if got.CallingTurnsSaved != 20 || got.Reading.Reads != 40 || got.Reading.InVain() != 20 {
		t.Errorf("%d turns, %v reads, %v in vain; want 20, 40 and 20", got.CallingTurnsSaved, got.Reading.Reads, got.Reading.InVain())
	}
	if behind := r.Techniques[1]; behind.CallingTurnsSaved != 0 || behind.Reading.Reads != 0 {
		t.Errorf("behind a gateway %d turns and %v reads", behind.CallingTurnsSaved, behind.Reading.Reads)
	}
}

// TestReadAfterUser has the user speak before the turn that a read ahead saves: the model
// call goes with it, and so do its tokens.
func TestReadAfterUser(t *testing.T) {
	list := customers(20, func(i int, s *script.Run) {
		s.User("and my order?").Call(order(i, "a"))
		for k := range s.T.Turns {
			s.T.Turns[k].Usage = trace.Usage{Input: 1000 + 50*int64(k), Output: 40, Known: true}
		}
	})
	o := prefetched(t, list)
	// The turn itself is 1,050 tokens of input and 40 of output, and nothing comes after it; the
	// result that is attached is read by no turn that is left.
	if want := int64(20 * 1090); o.LLMCallsSaved != 20 || o.TokensSaved != want {
		t.Errorf("%d model calls and %d tokens, want 20 and %d", o.LLMCallsSaved, o.TokensSaved, want)
	}
}

// TestBeside has reading ahead save what a meta-tool would: beside it none is offered, and
// a chain that it does not reach is.
func TestBeside(t *testing.T) {
	o := togetherOf("get_customer", "get_order")
	o.Techniques = []Technique{none, patterns, readAhead, all}
	run := func(list []*trace.Trajectory) (p, ahead, both *Outcome) {
		r, err := Run(runsOf(list...), o)
		if err != nil {
			t.Fatal(err)
		}
		return outcomeOf(t, r, "patterns"), outcomeOf(t, r, "prefetch"), outcomeOf(t, r, "all")
	}
	p, ahead, both := run(lookups(40, true))
	if p.MetaTools != 1 || both.MetaTools != 0 || both.CallingTurnsSaved != 40 || both.TokensSaved != ahead.TokensSaved {
		t.Errorf("%v meta-tools alone, %v beside reads, which save %d turns and %d tokens; %d tokens without any", p.MetaTools, both.MetaTools, both.CallingTurnsSaved, both.TokensSaved, ahead.TokensSaved)
	}

	// After the order a parcel is looked for, by a tool of which nobody knows that it reads.
	list := lookups(40, true)
	for i, one := range list {
		calls := []scripted{
			{tool: "get_customer", args: fmt.Sprintf(`{"id":"customer-%d"}`, i), result: fmt.Sprintf(`{"last_order":"order-%d"}`, 7000+i)},
			{tool: "get_order", args: fmt.Sprintf(`{"order":"order-%d"}`, 7000+i), result: fmt.Sprintf(`{"parcel":"parcel-%d"}`, 9000+i), turn: 1},
			{tool: "track", args: fmt.Sprintf(`{"parcel":"parcel-%d"}`, 9000+i), result: `{"at":"home"}`, turn: 2},
		}
		list[i] = scriptedRun(one.Task, calls...)
	}
	o.Choose.WritePrecision = -1
	p, ahead, both = run(list)
	if ahead.CallingTurnsSaved != 40 || p.CallingTurnsSaved != 80 || both.CallingTurnsSaved != 80 || both.MetaTools != 1 {
		t.Errorf("%d turns by reads, %d by meta-tools, %d by both with %v meta-tools", ahead.CallingTurnsSaved, p.CallingTurnsSaved, both.CallingTurnsSaved, both.MetaTools)
	}

	// Why none is offered: reading ahead does what it would.
	source, meter := runsOf(lookups(40, true)...), cost.NewMeter(cost.Options{})
	made := compile.Run(source, nil, o.Compile)
	learnt := LearnReads(source, nil, Options{Meter: meter}, 0)
	choice := Choose(source, made.Definitions, ChooseOptions{Meter: meter, Beside: &learnt.Set})
	if len(choice.Chosen) != 0 || len(choice.Left) != 1 || choice.Left[0].Words() != "dominated-by reading ahead" {
		t.Errorf("%d chosen, left out: %+v", len(choice.Chosen), choice.Left)
	}
}
