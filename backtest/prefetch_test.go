package backtest

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/internal/golden"
	"github.com/awo-dev/awo/internal/recordings"
	script "github.com/awo-dev/awo/internal/scripted"
	"github.com/awo-dev/awo/internal/toolname"
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

// TestAskedAgain counts reads whose results are still good when the model is asked next, and
// those of them that it makes again.
func TestAskedAgain(t *testing.T) {
	get := func(s *script.Run, id string) { s.Call("get", `{"id":"`+id+`"}`, `{"is":"`+id+`"}`) }
	for name, tc := range map[string]struct {
		run          func(*script.Run)
		reads, again int
	}{
		"once":            {func(s *script.Run) { get(s, "a"); get(s, "b"); get(s, "c") }, 2, 0}, // nothing comes after the last
		"again":           {func(s *script.Run) { get(s, "a"); get(s, "b"); get(s, "a"); get(s, "a") }, 2, 1},
		"after a write":   {func(s *script.Run) { get(s, "a"); s.Call("set", `{}`, `{}`); get(s, "a"); get(s, "b") }, 2, 0},
		"beside a write":  {func(s *script.Run) { get(s, "a"); s.Also("set", `{}`, `{}`); get(s, "a"); get(s, "b") }, 1, 0},
		"in the same one": {func(s *script.Run) { get(s, "a"); s.Also("get", `{"id":"a"}`, `{"is":"a"}`); get(s, "b") }, 1, 0},
		"a failed one":    {func(s *script.Run) { get(s, "a"); s.T.Calls[0].Status = trace.StatusFailed; get(s, "a"); get(s, "b") }, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := (&script.Run{}).User("go on")
			tc.run(s)
			got := asked(corpus.Filled([]*trace.Trajectory{&s.T}, corpus.Options{}), func(tool trace.Name) bool { return tool.Value() == "get" })
			if got.Reads != tc.reads || got.Again != tc.again {
				t.Errorf("%d of %d reads are made again, want %d of %d", got.Again, got.Reads, tc.again, tc.reads)
			}
		})
	}
}

// TestAskedAgainCounts lowers what prefetch saves by the share of reads that agents make
// again, and nothing else.
func TestAskedAgainCounts(t *testing.T) {
	var list []*trace.Trajectory
	for i := range 40 {
		s := (&script.Run{}).User(fmt.Sprintf("task %d", i))
		id := fmt.Sprintf("customer-%d", i)
		s.Call("get_customer", fmt.Sprintf(`{"name":"%s"}`, id), fmt.Sprintf(`{"order":"order-%d"}`, i))
		s.Call("get_order", fmt.Sprintf(`{"id":"order-%d"}`, i), `{"state":"sent"}`)
		if i%4 == 0 {
			s.Call("get_order", fmt.Sprintf(`{"id":"order-%d"}`, i), `{"state":"sent"}`)
		}
		s.T.Turns = append(s.T.Turns, trace.Turn{FirstCall: len(s.T.Calls)})
		list = append(list, &s.T)
	}
	r, err := perform(corpus.Filled(list, corpus.Options{}), Options{Techniques: []Technique{none, readAhead}, Recommend: &RecommendOptions{Objective: ObjectiveTurns}, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	v := r.out.Recommendation
	if v.Asked.Reads != 80 || v.Asked.Again != 10 || v.Asked.Assumed || v.Asked.Share != 0.125 {
		t.Errorf("asked again: %+v, want 10 of 80", v.Asked)
	}
	replayed := float64(r.out.Techniques[1].CallingTurnsSaved)
	if replayed == 0 {
		t.Fatal("prefetch saves nothing")
	}
	for _, w := range v.Ways {
		if w.Kind == OnlyPrefetch && math.Abs(w.Saved[SavedTurns]-replayed*(1-v.Asked.Share)) > 1e-6 {
			t.Errorf("prefetch at %g saves %g turns, want %g of the %g of the replay", w.P, w.Saved[SavedTurns], replayed*(1-v.Asked.Share), replayed)
		}
	}
}

// TestAskedAgainIsAssumed takes the share of all agents, or else 5 %, for too few reads.
func TestAskedAgainIsAssumed(t *testing.T) {
	s := (&script.Run{}).User("go on").Call("get_a", `{}`, `{}`).Call("get_b", `{}`, `{}`)
	r := newRun(corpus.Filled([]*trace.Trajectory{&s.T}, corpus.Options{}), Options{})
	if got := r.undivided().askedAgain(nil); !got.Assumed || got.Share != askedAssumed {
		t.Errorf("alone: %+v", got)
	}
	if got := r.undivided().askedAgain(&Asked{Reads: 100, Again: 20}); !got.Assumed || got.Share != 0.2 {
		t.Errorf("beside other agents: %+v", got)
	}
	if got := r.undivided().askedAgain(&Asked{Reads: 10, Again: 5}); !got.Assumed || got.Share != askedAssumed {
		t.Errorf("beside few others: %+v", got)
	}
}

// TestAttachedReads draws ten reads of each set whose attached results answer a call, and looks
// each up in the recording: what it asks for stood in a message or result before, the call was
// answered, and only tools that read by their names were called in between. The lines of the
// golden file were followed by hand: trajectory, line of the file, tool, the turn behind which
// the result is attached (from 1; 0 is the first message) and the turn that calls for it.
func TestAttachedReads(t *testing.T) {
	archive := golden.Open(t)
	for _, file := range []string{"tau2/airline_azure-gpt-4o.json", "tau2/retail_gpt-4.1.json", "taubench/gpt-4o-airline.json"} {
		t.Run(file, func(t *testing.T) {
			archive.Keep(file)
			list := recordings.Read(t, recordings.Recorded(t, file))
			set := LearnReads(corpus.Filled(list, corpus.Options{}), nil, Options{Workers: 2}, 0).Set
			var lines []string
			for _, one := range attachedReads(t, list, readerOf(&set), 10) {
				lines = append(lines, fmt.Sprintf("%s line %d: %s behind turn %d for turn %d\n", one.t.ID, one.t.Source.Line, one.call.Tool.Value(), one.turn+1, one.call.Turn+1))
				one.check(t)
			}
			archive.Check(t, file, []byte(strings.Join(lines, "")))
		})
	}
}

// attachedRead is a read whose result is attached behind a turn, and the call that it answers.
type attachedRead struct {
	t     *trace.Trajectory
	call  *trace.Call
	place int // of the call
	turn  int
	made  []madeRead // of the trajectory
}

// attachedReads draws so many attached reads that answer a call, each of another trajectory.
func attachedReads(t *testing.T, list []*trace.Trajectory, r *reader, n int) []attachedRead {
	t.Helper()
	var all []attachedRead
	order := map[*trace.Trajectory]string{}
	for _, tr := range list {
		var used []attachedRead
		made := r.Find(&Case{Run: &corpus.Run{Trajectory: tr}}).Reading.made
		for _, m := range made {
			if m.until >= 0 {
				used = append(used, attachedRead{tr, &tr.Calls[m.call], m.call, m.turn, made})
			}
		}
		if len(used) > 0 {
			order[tr] = fmt.Sprintf("%x", sha256.Sum256([]byte(tr.ID)))
			all = append(all, used[int(order[tr][0])%len(used)])
		}
	}
	if len(all) < n {
		t.Fatalf("%d trajectories with attached reads, want %d", len(all), n)
	}
	slices.SortFunc(all, func(a, b attachedRead) int { return cmp.Compare(order[a.t], order[b.t]) })
	return all[:n]
}

// check looks the read up in the recording.
func (a *attachedRead) check(t *testing.T) {
	t.Helper()
	if !a.call.HasResult || a.call.Status == trace.StatusFailed || a.call.Turn <= a.turn {
		t.Errorf("%s, turn %d: the call was not answered, or comes before the read", a.t.ID, a.call.Turn+1)
	}
	var known strings.Builder
	for i := range a.t.Messages {
		if m := &a.t.Messages[i]; m.Turn <= a.turn+1 {
			known.WriteString(strings.ToLower(m.Text.Text()))
		}
	}
	for _, m := range a.made { // what was attached by then may be what this read follows from
		if m.call >= 0 && m.turn <= a.turn && m.call != a.place {
			known.WriteString(strings.ToLower(a.t.Calls[m.call].Result.Text()))
		}
	}
	for i := range a.t.Calls[:a.place] {
		c := &a.t.Calls[i]
		if c.Turn <= a.turn {
			known.WriteString(strings.ToLower(c.Result.Text()))
			continue
		}
		if effect, _ := toolname.Decide(toolname.Unknown, toolname.Unknown, c.Tool.Value()); effect != toolname.Reads {
			t.Errorf("%s, turn %d: %s was called between the read and its use", a.t.ID, c.Turn+1, c.Tool.Value())
		}
	}
	args, ok := new(trace.ValueReader).Args(a.call)
	if !ok || len(args.Members) == 0 {
		t.Fatalf("%s, turn %d: no arguments", a.t.ID, a.call.Turn+1)
	}
	for _, m := range args.Members {
		if !strings.Contains(known.String(), strings.ToLower(m.Value.Text)) {
			t.Errorf("%s, turn %d: %s was not known before", a.t.ID, a.call.Turn+1, m.Name)
		}
	}
}
