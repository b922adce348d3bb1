package backtest

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/compile"
	"github.com/awo-dev/awo/metatool/replay"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/holdout"
)

// scripted is a call of a scripted trajectory.
type scripted struct {
	tool, args, result string
	turn               int
	failed             bool
}

// run of a task, with 100 tokens of input more each turn and 10 of output.
func scriptedRun(task string, calls ...scripted) *trace.Trajectory {
	t := &trace.Trajectory{ID: task, Task: task, Model: "gpt-4o-2024-08-06", Messages: []trace.Message{{Text: trace.TextOf("The customer is c-1 and the day is monday.")}}}
	for _, c := range calls {
		for len(t.Turns) <= c.turn {
			n := int64(len(t.Turns))
			t.Turns = append(t.Turns, trace.Turn{FirstCall: len(t.Calls), Usage: trace.Usage{Known: true, Input: 1000 + 100*n, Output: 10}})
		}
		t.Turns[c.turn].NumCalls++
		status := trace.StatusOK
		if c.failed {
			status = trace.StatusFailed
		}
		t.Calls = append(t.Calls, trace.Call{
			Tool: trace.Intern(c.tool), Turn: c.turn, Args: trace.JSONOf([]byte(c.args)), Result: trace.JSONOf([]byte(c.result)), HasResult: true, Status: status,
		})
	}
	return t
}

func runsOf(list ...*trace.Trajectory) []*corpus.Run { return corpus.Filled(list, corpus.Options{}) }

// lookups are runs that look a customer up and then its order, whose number only
// the first result tells; apart makes them two turns.
func lookups(n int, apart bool) []*trace.Trajectory {
	var list []*trace.Trajectory
	for i := range n {
		second := 1
		if !apart {
			second = 0
		}
		order := fmt.Sprintf("order-%d", 7000+i)
		list = append(list, scriptedRun(fmt.Sprintf("task-%d", i),
			scripted{tool: "get_customer", args: fmt.Sprintf(`{"id":"customer-%d"}`, i), result: fmt.Sprintf(`{"last_order":"%s"}`, order)},
			scripted{tool: "get_order", args: fmt.Sprintf(`{"order":"%s"}`, order), result: `{"state":"sent"}`, turn: second},
		))
	}
	return list
}

func outcomeOf(t testing.TB, r *Result, name string) *Outcome {
	t.Helper()
	for i := range r.Techniques {
		if r.Techniques[i].Name == name {
			return &r.Techniques[i]
		}
	}
	t.Fatalf("no technique %s", name)
	return nil
}

func onlyPatterns(r *Result, t testing.TB) *Outcome { return outcomeOf(t, r, "patterns") }

func options(techniques ...Technique) Options {
	o := Options{Techniques: techniques, Seed: 1, AgentTasks: -1}
	o.Compile.Algorithm = compile.Patterns
	return o
}

// TestArithmetic checks the sums by hand: 40 runs of two turns, each of which
// loses its second one to a meta-tool.
func TestArithmetic(t *testing.T) {
	r, err := Run(runsOf(lookups(40, true)...), options(none, patterns))
	if err != nil {
		t.Fatal(err)
	}
	if r.TestTasks != 40 || r.TrainTasks != 40 || r.Folds != 5 || r.Trajectories != 40 {
		t.Errorf("%d and %d tasks, %d folds, %d trajectories", r.TrainTasks, r.TestTasks, r.Folds, r.Trajectories)
	}
	o := onlyPatterns(r, t)
	if o.LLMCalls != 80 || o.LLMCallsSaved != 40 || o.CallingTurns != 80 || o.CallingTurnsSaved != 40 || o.Utilisation != 1 || o.Places != 40 || o.Exact != 40 || o.Known != 40 {
		t.Errorf("%+v", o)
	}
	if o.StepsBefore != 2 || o.StepsAfter != 1 || o.MetaTools != 1 {
		t.Errorf("%v steps before, %v after, %v meta-tools", o.StepsBefore, o.StepsAfter, o.MetaTools)
	}
	// Turns read 1,000 and 1,100 tokens and write 10. Without the second one its
	// 1,110 are gone; the first reads the definition. gpt-4o: 2.5 and 10 dollars a
	// million.
	saved := int64(40*1110) - 40*int64(o.DefinitionTokens)
	if o.Tokens != 40*2120 || o.TokensSaved != saved {
		t.Errorf("%d of %d tokens saved, want %d of %d", o.TokensSaved, o.Tokens, saved, 40*2120)
	}
	usd := 40 * ((1100-o.DefinitionTokens)*2.5 + 10*10) / 1e6
	if math.Abs(o.USDSaved-usd) > 1e-9 || math.Abs(o.USD-40*(2100*2.5+20*10)/1e6) > 1e-9 {
		t.Errorf("%v of %v dollars saved, want %v", o.USDSaved, o.USD, usd)
	}
	if i := o.Intervals["calling_turns_saved_share"]; i.Known() || i.Reason == "" {
		t.Errorf("interval %v, and all tasks save the same", i)
	}
	if nothing := outcomeOf(t, r, "none"); nothing.CallingTurnsSaved != 0 || nothing.TokensSaved != 0 || nothing.Utilisation != 0 {
		t.Errorf("nothing saves %+v", nothing)
	}
}

// TestParallelCallsSaveNothing has both calls in one turn.
func TestParallelCallsSaveNothing(t *testing.T) {
	r, err := Run(runsOf(lookups(40, false)...), options(none, patterns, awo, awoPaper))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range r.Techniques {
		if o.CallingTurnsSaved != 0 || o.LLMCalls != 40 {
			t.Errorf("%s saves %d of %d", o.Name, o.CallingTurnsSaved, o.LLMCalls)
		}
	}
}

// TestMiddleTurn removes the middle one of three turns: the third reads its
// output no longer.
func TestMiddleTurn(t *testing.T) {
	list := lookups(40, true)
	for _, run := range list {
		run.Turns = append(run.Turns, trace.Turn{FirstCall: 2, Usage: trace.Usage{Known: true, Input: 1200, Output: 30}})
	}
	for name, caching := range map[string]cost.Caching{"off": cost.CachingOff, "on": cost.CachingOn} {
		o := options(none, patterns)
		o.Meter = cost.NewMeter(cost.Options{Caching: caching})
		r, err := Run(runsOf(list...), o)
		if err != nil {
			t.Fatal(err)
		}
		p := onlyPatterns(r, t)
		// 1,100 + 10 of the turn itself, and its 10 in the last one; the definition in
		// both that are left.
		want := 40 * (1110 + 10 - 2*int64(p.DefinitionTokens))
		if p.TokensSaved != want || p.LLMCallsSaved != 40 || p.CallingTurns != 80 {
			t.Errorf("%d tokens and %d calls, want %d and 40", p.TokensSaved, p.LLMCallsSaved, want)
		}
		d := p.DefinitionTokens
		usd := 40 * ((1100+10-2*d)*2.5 + 10*10) / 1e6
		if name == "on" {
			// Cached at 1.25: the second turn reads 1,000 of its 1,100 from the cache. What
			// it would have written first the third now reads at the full price: it had
			// 1,100 cached and 100 fresh, and has 1,000 + d cached and 190 fresh.
			was := 1000*1.25 + 100*2.5 + 100 + 1100*1.25 + 100*2.5
			is := (1000+d)*1.25 + 190*2.5
			usd = 40 * (was - is - d*2.5) / 1e6
		}
		if math.Abs(p.USDSaved-usd) > 1e-9 {
			t.Errorf("caching %s: %v dollars saved, want %v", name, p.USDSaved, usd)
		}
	}
}

// TestNothingLeaks plants a habit that only one task has: no part that is
// compiled for it may know the tool.
func TestNothingLeaks(t *testing.T) {
	list := lookups(30, true)
	for i := range 12 { // trials of one task
		secret := fmt.Sprintf("planted-%d", i)
		list = append(list, scriptedRun("planted",
			scripted{tool: "get_planted", args: fmt.Sprintf(`{"id":"key-%d"}`, i), result: fmt.Sprintf(`{"next":"%s"}`, secret)},
			scripted{tool: "get_planted_next", args: fmt.Sprintf(`{"next":"%s"}`, secret), result: `{}`, turn: 1},
		))
	}
	var learnt []*toolset
	spy := Technique{Name: "spy", Train: func(p *Part) Trained {
		set := p.offered(*patterns.offer)
		planted := false
		for _, run := range p.Runs {
			planted = planted || run.Task == "planted"
		}
		if !planted {
			for _, d := range p.compiled[patterns.offer.way].definitions {
				for _, s := range d.Steps {
					if s.Tool == "get_planted" || s.Tool == "get_planted_next" {
						t.Errorf("%s is in %s", s.Tool, d.Name)
					}
				}
			}
			survey := compile.NewSurvey(p.Runs, nil, compile.SurveyOptions{})
			for _, tool := range survey.Merged.Catalog.Tools() {
				if tool.Name.Value() == "get_planted" {
					t.Error("the catalog knows a tool of the test part")
				}
			}
			learnt = append(learnt, set)
		}
		return set
	}}
	r, err := Run(runsOf(list...), options(none, spy))
	if err != nil {
		t.Fatal(err)
	}
	if len(learnt) != 1 {
		t.Fatalf("%d parts do not hold the planted task, want 1", len(learnt))
	}
	if o := outcomeOf(t, r, "spy"); o.CallingTurnsSaved != 30 {
		t.Errorf("%d turns saved: the planted task must save none, and the others one each", o.CallingTurnsSaved)
	}
}

// TestNeverMoreThanThereIs covers random trajectories with random places.
func TestNeverMoreThanThereIs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list []*trace.Trajectory
		for i := range rapid.IntRange(2, 30).Draw(t, "runs") {
			var calls []scripted
			turn := 0
			for range rapid.IntRange(0, 12).Draw(t, "calls") {
				tool := rapid.SampledFrom([]string{"get_a", "get_b", "put_c"}).Draw(t, "tool")
				value := rapid.IntRange(0, 6).Draw(t, "value")
				if len(calls) > 0 && rapid.Bool().Draw(t, "next turn") {
					turn++
				}
				calls = append(calls, scripted{tool: tool, args: fmt.Sprintf(`{"id":"v-%d"}`, value), result: fmt.Sprintf(`{"id":"v-%d","list":["v-%d","v-3"]}`, value+1, value), turn: turn})
			}
			list = append(list, scriptedRun(fmt.Sprintf("task-%d", i%9), calls...))
		}
		o := options()
		o.Techniques, o.Folds = nil, 3
		o.Compile.Extract.Threshold, o.Compile.Bind.Threshold = 2, 2
		r, err := Run(runsOf(list...), o)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range r.Techniques {
			if x.CallingTurnsSaved < 0 || x.CallingTurnsSaved > x.CallingTurns || x.LLMCallsSaved > x.LLMCalls || x.Exact > x.Places || x.Known > x.Exact {
				t.Errorf("%s: %+v", x.Name, x)
			}
			if x.Utilisation < 0 || x.Utilisation > 1 {
				t.Errorf("%s: utilisation %v", x.Name, x.Utilisation)
			}
		}
	})
}

// TestChoose chooses between a part, a whole and what does the same.
func TestChoose(t *testing.T) {
	list := lookups(40, true)
	for i, run := range list {
		if i >= 20 {
			continue
		}
		run.Turns = append(run.Turns, trace.Turn{FirstCall: 2, NumCalls: 1, Usage: trace.Usage{Known: true, Input: 1200, Output: 10}})
		run.Calls = append(run.Calls, trace.Call{Tool: trace.Intern("get_parcel"), Turn: 2, Args: trace.JSONOf(fmt.Appendf(nil, `{"order":"order-%d"}`, 7000+i)), Result: trace.JSONOf([]byte(`{}`)), HasResult: true, Status: trace.StatusOK})
	}
	source := runsOf(list...)
	c := compile.Run(source, nil, compile.Options{Algorithm: compile.Patterns})
	choice := Choose(source, c.Definitions, ChooseOptions{})
	last := choice.Chosen[len(choice.Chosen)-1]
	if choice.Unit != "turns" || last.Turns != 60 {
		t.Errorf("%d turns saved, want 60: %+v", last.Turns, choice.Chosen)
	}
	again := Choose(source, append(c.Definitions[:len(c.Definitions):len(c.Definitions)], c.Definitions[0]), ChooseOptions{})
	if len(again.Left) != len(choice.Left)+1 || !slices.ContainsFunc(again.Left, func(l Left) bool {
		return l.Definition == c.Definitions[0] && l.Reason == ReasonDominated && l.By == c.Definitions[0].Name
	}) {
		t.Errorf("a second one of the same is left out as %+v", again.Left)
	}
	one := Choose(source, c.Definitions, ChooseOptions{MaxTools: 1})
	if len(one.Chosen) != 1 || len(choice.Chosen) > 1 && one.Left[0].Reason != ReasonMaxTools {
		t.Errorf("with one at most: %+v", one)
	}
}

// TestNetChoosesNothing has turns that cost less than the definition.
func TestNetChoosesNothing(t *testing.T) {
	list := lookups(40, true)
	for i, run := range list {
		for k := range run.Turns {
			run.Turns[k].Usage = trace.Usage{Known: true, Input: 20, Output: 1}
		}
		if i >= 10 { // the habit is one of few
			run.Calls[1].Tool = trace.Intern("get_other")
			run.Calls[1].Args = trace.JSONOf([]byte(`{}`))
		}
	}
	source := runsOf(list...)
	c := compile.Run(source, nil, compile.Options{Algorithm: compile.Patterns})
	choice := Choose(source, c.Definitions, ChooseOptions{Select: SelectNet})
	if choice.Unit != "usd" || len(choice.Chosen) != 0 || len(choice.Left) == 0 {
		t.Fatalf("%+v", choice)
	}
	for _, l := range choice.Left {
		if l.Reason != ReasonCosts && (l.Reason != ReasonBatch || l.Definition.Kind() != metatool.Batch) {
			t.Errorf("%s: %s", l.Definition.Name, l.Reason)
		}
	}
}

// TestBest compares the cover with all sets of spans.
func TestBest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var spans []replay.Span
		begin := 0
		for range rapid.IntRange(0, 9).Draw(t, "spans") {
			begin += rapid.IntRange(0, 3).Draw(t, "step")
			spans = append(spans, replay.Span{Begin: begin, End: begin + rapid.IntRange(1, 6).Draw(t, "length"), Worth: float64(rapid.IntRange(-2, 5).Draw(t, "worth"))})
		}
		chosen, got := replay.Best(spans)
		best, sum, end := 0.0, 0.0, -1
		for set := range 1 << len(spans) {
			worth, end, ok := 0.0, -1, true
			for i, s := range spans {
				if set&(1<<i) != 0 {
					ok = ok && s.Begin >= end
					worth, end = worth+s.Worth, s.End
				}
			}
			if ok {
				best = max(best, worth)
			}
		}
		for _, i := range chosen {
			if spans[i].Begin < end {
				t.Fatal("spans overlap")
			}
			sum, end = sum+spans[i].Worth, spans[i].End
		}
		if got != best || sum != best {
			t.Errorf("worth %v, chosen %v, want %v", got, sum, best)
		}
	})
}

// TestSplits refuses a split by time without times, and names few tasks.
func TestSplits(t *testing.T) {
	o := options(none, patterns)
	o.By = SplitTime
	if _, err := Run(runsOf(lookups(10, true)...), o); err == nil {
		t.Error("a split by time without times")
	}
	o.By = SplitTask
	r, err := Run(runsOf(lookups(40, true)...), o)
	if err != nil {
		t.Fatal(err)
	}
	if r.TestTasks != 12 || r.TrainTasks != 28 {
		t.Errorf("%d tasks to train and %d to test, want 28 and 12", r.TrainTasks, r.TestTasks)
	}
	if r, err := Run(runsOf(), options(none, patterns)); err != nil || r.Best("") != nil {
		t.Errorf("no traces: %v, %v", r, err)
	}
}

// TestWorkers holds that the number of workers changes nothing.
func TestWorkers(t *testing.T) {
	list := lookups(40, true)
	var first string
	for _, workers := range []int{1, 7} {
		o := options()
		o.Techniques, o.Workers = nil, workers
		r, err := Run(runsOf(list...), o)
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		for i := range r.Techniques {
			text += fmt.Sprintf("%+v ", r.Techniques[i].Programs)
			r.Techniques[i].Programs = nil
		}
		text += fmt.Sprintf("%+v", r)
		if first == "" {
			first = text
		}
		if text != first {
			t.Errorf("%d workers give\n%s\nwant\n%s", workers, text, first)
		}
	}
}

// others are runs of another pair of calls.
func others(n int) []*trace.Trajectory {
	var list []*trace.Trajectory
	for i := range n {
		room := fmt.Sprintf("room-%d", 300+i)
		list = append(list, scriptedRun(fmt.Sprintf("other-%d", i),
			scripted{tool: "find_room", args: fmt.Sprintf(`{"day":"day-%d"}`, i), result: fmt.Sprintf(`{"room":"%s"}`, room)},
			scripted{tool: "show_room", args: fmt.Sprintf(`{"room":"%s"}`, room), result: `{"seats":4}`, turn: 1},
		))
	}
	return list
}

// TestSplitAuto holds that of many trajectories a bounded number is compiled from, once.
func TestSplitAuto(t *testing.T) {
	for _, test := range []struct {
		tasks int
		want  SplitBy
	}{{MaxFolded, SplitFolds}, {2 * MaxFolded, SplitTask}} {
		r := &run{runs: runsOf(lookups(test.tasks, true)...), options: Options{By: SplitAuto, Folds: 5, Share: 0.3, Meter: cost.NewMeter(cost.Options{})}, out: &Result{}}
		if err := r.survey(); err != nil || r.out.By != test.want || r.out.Folds != len(r.splits) {
			t.Errorf("%d tasks: %s, %d splits, %v", test.tasks, r.out.By, len(r.splits), err)
		}
		if train := len(Side(r.runs, r.splits[0], holdout.Train)); test.want == SplitTask && (train < MaxFolded*9/10 || train > MaxFolded*11/10) {
			t.Errorf("%d of %d trajectories are compiled from", train, test.tasks)
		}
	}
}

// TestModelTime has 40 runs of two turns, the first of 5 seconds and the second, which
// a meta-tool saves, of 2; and one turn whose end is before its beginning.
func TestModelTime(t *testing.T) {
	list := lookups(40, true)
	begin := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	for _, run := range list {
		run.Turns[0].Start, run.Turns[0].End = begin, begin.Add(5*time.Second)
		run.Turns[1].Start, run.Turns[1].End = begin.Add(time.Minute), begin.Add(62*time.Second)
	}
	list[0].Turns[1].End = begin
	r, err := Run(runsOf(list...), options(none, patterns))
	if err != nil {
		t.Fatal(err)
	}
	o := onlyPatterns(r, t)
	if o.Seconds != 40*5+39*2 || o.SecondsSaved != 39*2 || r.Timed != 79 {
		t.Errorf("%v of %v seconds saved, %d turns timed", o.SecondsSaved, o.Seconds, r.Timed)
	}
	if i := o.Intervals["model_seconds_saved"]; !(i.Lo > 69 && i.Lo <= 78 && i.Hi >= 78 && i.Hi <= 81) {
		t.Errorf("interval %v", i)
	}
	if i := o.Intervals["model_seconds_saved_share"]; !(i.Lo > 0.25 && i.Lo <= 78./278 && i.Hi >= 78./278 && i.Hi <= 0.29) {
		t.Errorf("interval of the share %v", i)
	}
}

// TestRecorded holds what the default saves on recorded traces that it was not
// compiled from, without rules.
func TestRecorded(t *testing.T) {
	for _, test := range []struct {
		file  string
		share float64
		times int // what Algorithm 1 saves where its chains occur
	}{
		{"taubench/gpt-4o-airline.json", 0.15, 3},
		{"tau2/retail_toolorchestra-gpt-5.json", 0.08, 3},
	} {
		t.Run(test.file, func(t *testing.T) {
			o := options(none, awo, patterns)
			o.Choose.MinTurns = 5
			r, err := Run(corpus.Filled(recordings.Read(t, recordings.Recorded(t, test.file)), corpus.Options{}), o)
			if err != nil {
				t.Fatal(err)
			}
			p, a := outcomeOf(t, r, "patterns"), outcomeOf(t, r, "awo")
			if float64(p.CallingTurnsSaved) < test.share*float64(p.CallingTurns) || p.CallingTurnsSaved < test.times*a.CallingTurnsSaved {
				t.Errorf("%d of %d calling turns saved, awo %d", p.CallingTurnsSaved, p.CallingTurns, a.CallingTurnsSaved)
			}
			if i := p.Intervals["calling_turns_saved_share"]; !i.Known() || i.Lo <= 0 {
				t.Errorf("interval %v", i)
			}
			if float64(p.Exact) < 0.95*float64(p.Places) {
				t.Errorf("exact at %d of %d places", p.Exact, p.Places)
			}
		})
	}
}
