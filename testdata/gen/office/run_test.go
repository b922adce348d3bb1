package office

import (
	"math"
	"reflect"
	"testing"
)

// TestRunsDependOnNothingElse: a run is the same alone, in a stream, and with
// any number of workers.
func TestRunsDependOnNothingElse(t *testing.T) {
	options := Options{Seed: 9, Trajectories: 120, Tokens: Approximate, Drift: true}
	alone := newOffice(t, options)
	for _, workers := range []int{1, 3, 8} {
		options.Workers = workers
		o := newOffice(t, options)
		i := 0
		for r := range o.Runs() {
			if r.Index != i {
				t.Fatalf("run %d came in place %d", r.Index, i)
			}
			if i%7 == 0 && !sameRun(r, alone.Run(i)) {
				t.Fatalf("run %d is another one with %d workers", i, workers)
			}
			i++
		}
		if i != 120 {
			t.Fatalf("%d runs", i)
		}
	}
}

// sameRun compares all but the tools, which belong to different editions with
// the same content.
func sameRun(a, b *Run) bool {
	x, y := *a, *b
	x.Tools, y.Tools, x.Events, y.Events = nil, nil, nil, nil
	if !reflect.DeepEqual(x, y) || len(a.Events) != len(b.Events) || len(a.Tools) != len(b.Tools) {
		return false
	}
	for i := range a.Events {
		u, v := a.Events[i], b.Events[i]
		if (u.User == nil) != (v.User == nil) || u.User != nil && *u.User != *v.User {
			return false
		}
		if u.Turn == nil {
			continue
		}
		if len(u.Turn.Calls) != len(v.Turn.Calls) || u.Turn.Usage != v.Turn.Usage || u.Turn.Text != v.Turn.Text || !u.Turn.End.Equal(v.Turn.End) {
			return false
		}
		for k := range u.Turn.Calls {
			c, d := u.Turn.Calls[k], v.Turn.Calls[k]
			if c.Tool.Name != d.Tool.Name {
				return false
			}
			c.Tool, d.Tool = nil, nil
			if !reflect.DeepEqual(c, d) {
				return false
			}
		}
	}
	return true
}

// TestResultsComeFromTheOffice replays every run's calls against a fresh office:
// each result is what the tool gives, but where the service did not answer.
func TestResultsComeFromTheOffice(t *testing.T) {
	every(t, func(t *testing.T, o *Office, r *Run) {
		w := o.World(r.Index)
		for i, c := range r.Calls() {
			if c.Result.Code == "unavailable" || !c.HasResult {
				continue
			}
			if got := c.Tool.Call(w, c.Args); got.Text() != c.Result.Text() {
				t.Fatalf("%s call %d: %s, not %s", r.ID, i, got.Text(), c.Result.Text())
			}
			if c.Tool != o.Edition(r.Index).Named(c.Tool.Name) {
				t.Fatalf("%s call %d: %s is of another edition", r.ID, i, c.Tool.Name)
			}
		}
	})
}

func TestTrialsShareTaskAndOffice(t *testing.T) {
	texts := make(map[string]string) // by task
	tasks := make(map[string]string) // by text
	trials := make(map[string]int)
	o := newOffice(t, Options{Seed: 2, Trajectories: 1000, Tokens: Approximate})
	for r := range o.Runs() {
		text := r.Users()[0].Text
		if before, ok := texts[r.Task]; ok && before != text {
			t.Fatalf("task %s has two texts", r.Task)
		}
		if before, ok := tasks[text]; ok && before != r.Task {
			t.Errorf("%s and %s have the same text", before, r.Task)
		}
		texts[r.Task], tasks[text] = text, r.Task
		if r.Trial != trials[r.Task] {
			t.Errorf("%s: trial %d comes after %d others", r.Task, r.Trial, trials[r.Task])
		}
		trials[r.Task]++
	}
	if len(texts) != 250 {
		t.Errorf("%d tasks", len(texts))
	}
}

func TestUsageAndTimes(t *testing.T) {
	every(t, func(t *testing.T, _ *Office, r *Run) {
		clock, input := r.Start, 0
		for _, e := range r.Events {
			if e.User != nil {
				if e.User.Time.Before(clock) {
					t.Fatalf("%s: a message from the past", r.ID)
				}
				clock = e.User.Time
				continue
			}
			u := e.Turn.Usage
			if u.Input <= input || u.Cached < 0 || u.Cached+u.CacheWrite > u.Input || u.Output < 1 || u.Reasoning > u.Output {
				t.Fatalf("%s: usage %+v after %d", r.ID, u, input)
			}
			if (u.CacheWrite > 0) != (r.Agent.Provider == "anthropic" && u.Input >= minimumCache && u.Cached < u.Input) {
				t.Fatalf("%s: usage %+v of %s", r.ID, u, r.Agent.Provider)
			}
			input = u.Input
			if e.Turn.Start.Before(clock) || !e.Turn.End.After(e.Turn.Start) {
				t.Fatalf("%s: a turn from %v to %v, at %v", r.ID, e.Turn.Start, e.Turn.End, clock)
			}
			clock = e.Turn.End
			for _, c := range e.Turn.Calls {
				if c.HasResult && (c.Start.Before(e.Turn.End) || !c.End.After(c.Start)) {
					t.Fatalf("%s: a call from %v to %v in a turn until %v", r.ID, c.Start, c.End, e.Turn.End)
				}
				if c.End.After(clock) {
					clock = c.End
				}
			}
		}
		if r.End.Before(clock) {
			t.Fatalf("%s ends before its last call", r.ID)
		}
	})
}

// TestUsageIsCounted recounts the prompts of the committed corpus from its texts.
func TestUsageIsCounted(t *testing.T) {
	o := newOffice(t, Options{Trajectories: 40})
	count := o.counter.count
	for r := range o.Runs() {
		prompt := count(r.System) + 2*perMessage
		for _, tool := range r.Tools {
			prompt += count(string(tool.Function)) + perCall
		}
		for _, e := range r.Events {
			if e.User != nil {
				prompt += perMessage + count(e.User.Text)
				continue
			}
			turn := e.Turn
			if turn.Usage.Input != prompt {
				t.Fatalf("%s: input is %d, counted %d", r.ID, turn.Usage.Input, prompt)
			}
			output := count(turn.Text)
			for _, c := range turn.Calls {
				output += perCall + count(c.Tool.Name) + count(string(c.Args.Value().AppendJSON(nil)))
			}
			if want := output + count(turn.Thought); turn.Usage.Output != want {
				t.Fatalf("%s: output is %d, counted %d", r.ID, turn.Usage.Output, want)
			}
			prompt += output + perMessage
			for _, c := range turn.Calls {
				if c.HasResult {
					prompt += perMessage + count(c.Result.Text())
				}
			}
		}
	}
}

func TestApproximateTokens(t *testing.T) {
	o := newOffice(t, Options{Trajectories: 100})
	texts := map[string][]string{}
	for _, tool := range o.first.Tools {
		texts["definitions"] = append(texts["definitions"], string(tool.Function))
	}
	for r := range o.Runs() {
		for _, u := range r.Users() {
			texts["messages"] = append(texts["messages"], u.Text)
		}
		for _, c := range r.Calls() {
			texts["results"] = append(texts["results"], c.Result.Text())
			texts["arguments"] = append(texts["arguments"], string(c.Args.Value().AppendJSON(nil)))
		}
	}
	for kind, list := range texts {
		real, estimate := 0, 0
		for _, s := range list {
			real += o.counter.count(s)
			estimate += approximate{}.count(s)
		}
		if ratio := float64(estimate) / float64(real); math.Abs(ratio-1) > .15 {
			t.Errorf("%s: %d tokens are estimated as %d", kind, real, estimate)
		}
	}
}

func TestDrift(t *testing.T) {
	o := newOffice(t, Options{Seed: 6, Trajectories: 400, Tokens: Approximate, Drift: true})
	plain := newOffice(t, Options{Seed: 6, Trajectories: 400, Tokens: Approximate})
	names := [2]map[string]int{{}, {}}
	profiles := [2]int{}
	for r := range o.Runs() {
		half := 0
		if r.Index >= o.DriftAt() {
			half = 1
		}
		if r.Second != (half == 1) {
			t.Fatalf("run %d: second is %v", r.Index, r.Second)
		}
		if half == 0 && !sameRun(r, plain.Run(r.Index)) {
			t.Fatalf("run %d differs from a corpus without drift", r.Index)
		}
		for _, c := range r.Calls() {
			names[half][c.Tool.Name]++
			if c.Tool.Op == "supervisor_show_profile" {
				profiles[half]++
			}
			if c.Tool.Op == "payments_pay_invoice" {
				fields := leavesOf(c.Args.Value())
				_, total := fields["total"]
				_, currency := fields["currency"]
				if total != r.Second || currency != r.Second {
					t.Fatalf("run %d pays with %s", r.Index, c.Args.Value().AppendJSON(nil))
				}
			}
		}
	}
	for old, renamed := range o.Facts().Drift.Renamed {
		if names[0][old] == 0 || names[0][renamed] != 0 || names[1][old] != 0 || names[1][renamed] == 0 {
			t.Errorf("%s and %s: %d, %d, then %d, %d", old, renamed, names[0][old], names[0][renamed], names[1][old], names[1][renamed])
		}
	}
	if profiles[1] < 2*profiles[0] {
		t.Errorf("profile looked up %d times, then %d times", profiles[0], profiles[1])
	}
}

func TestBadOptions(t *testing.T) {
	for _, o := range []Options{{Trajectories: -1}, {Trials: -1}, {Days: -2}, {Workers: -1}} {
		if _, err := New(o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}
