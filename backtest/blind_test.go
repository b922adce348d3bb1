package backtest

import (
	"fmt"
	"math"
	"testing"

	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/internal/recordings"
	script "github.com/awo-dev/awo/internal/scripted"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/compile"
)

// TestBlind counts by hand: of 40 runs that look up a customer, 30 go on to its order.
func TestBlind(t *testing.T) {
	list := lookups(40, true)
	for _, run := range list[:10] {
		run.Calls, run.Turns = run.Calls[:1], run.Turns[:1]
	}
	r, err := Run(runsOf(list...), options(none, patterns))
	if err != nil {
		t.Fatal(err)
	}
	p := onlyPatterns(r, t)
	b := &p.Blind
	if !b.Known || b.Moments != 40 || b.Followed != 30 || b.Reads != 10 || b.Writes != 0 || b.CallingTurnsSaved != 30 || b.LLMCallsSaved != 30 {
		t.Errorf("%+v", b)
	}
	// The runs that stop after the first call have no turn left that would read what was
	// read in vain.
	if math.Abs(b.USDSaved-p.USDSaved) > 1e-9 || p.CallingTurnsSaved != 30 {
		t.Errorf("%+v", p)
	}
	if i := b.Intervals["precision"]; !i.Known() || i.Lo >= 0.75 || i.Hi <= 0.75 {
		t.Errorf("interval %v", i)
	}
	if outcomeOf(t, r, "none").Blind.Known {
		t.Error("blind use of nothing")
	}
}

// TestBlindReading charges what was read in vain to the turns that read it.
func TestBlindReading(t *testing.T) {
	list := lookups(40, true)
	for _, run := range list[:10] {
		run.Calls, run.Turns[1].NumCalls = run.Calls[:1], 0
	}
	r, err := Run(runsOf(list...), options(none, patterns))
	if err != nil {
		t.Fatal(err)
	}
	p := onlyPatterns(r, t)
	if saved := p.TokensSaved - p.Blind.TokensSaved; p.Blind.Reads != 10 || saved <= 10*attachedTokens || saved > 10*(attachedTokens+20) {
		t.Errorf("%v reads in vain cost %d tokens", p.Blind.Reads, saved)
	}
}

// TestWritesInVain offers what writes only where the rest has followed often enough.
func TestWritesInVain(t *testing.T) {
	for follows, offered := range map[int]bool{60: true, 59: false, 20: false} {
		list := customers(60, func(i int, s *script.Run) {
			if i < follows {
				s.Call("cancel_order", fmt.Sprintf(`{"id":"order-%d-a"}`, i), `true`)
			}
		})
		for _, run := range list {
			run.Task = run.ID
		}
		for _, selection := range []Selection{SelectTurns, SelectAll} {
			c := compile.Run(corpus.Filled(list, corpus.Options{}), nil, compile.Options{Algorithm: compile.Patterns})
			choice := Choose(corpus.Filled(list, corpus.Options{}), c.Definitions, ChooseOptions{Select: selection})
			if got := len(choice.Chosen) > 0; got != (offered || selection == SelectAll) {
				t.Errorf("%d of 60 cancelled, select %s: offered %v", follows, selection, got)
			}
			for _, l := range choice.Left {
				if l.Reason != ReasonWrites || l.Use != (Use{60, follows}) {
					t.Errorf("%s: %s, %+v", l.Definition.Name, l.Reason, l.Use)
				}
			}
		}
	}
}

// TestBatches are not offered unless that is asked for.
func TestBatches(t *testing.T) {
	list := lookups(40, true)
	for i, run := range list {
		run.Calls[1].Args = run.Calls[0].Args
		run.Messages[0] = scriptedRun("", scripted{}).Messages[0]
		run.Task = fmt.Sprint(i)
	}
	c := compile.Run(runsOf(list...), nil, compile.Options{Algorithm: compile.Patterns})
	for _, batches := range []bool{false, true} {
		choice := Choose(runsOf(list...), c.Definitions, ChooseOptions{Batches: batches})
		if (len(choice.Chosen) > 0) != batches {
			t.Errorf("batches %v: %d chosen", batches, len(choice.Chosen))
		}
		for _, l := range choice.Left {
			if l.Definition.Kind() == metatool.Batch && l.Reason != ReasonBatch && !batches {
				t.Errorf("%s: %s", l.Definition.Name, l.Reason)
			}
		}
	}
}

// TestNoWritesInVain holds the defaults to the recorded sets, and the office: on tasks
// that were not compiled from nothing is written in vain.
func TestNoWritesInVain(t *testing.T) {
	for _, file := range []string{"", "taubench/gpt-4o-airline.json", "tau2/airline_azure-gpt-4o.json", "tau2/retail_gpt-4.1.json", "tau2/retail_toolorchestra-gpt-5.json", "tau2/airline_gpt-oss-120b.json"} {
		t.Run(file, func(t *testing.T) {
			o := options(none, patterns, all)
			o.Choose.MinTurns, o.Workers = 5, 2
			path := "../testdata/office/trajectories.jsonl.gz"
			if file == "" {
				o.Rules = recordings.Rules(t, "../testdata/office/rules.yaml")
			} else {
				path = recordings.Recorded(t, file)
			}
			done, err := perform(corpus.Filled(recordings.Read(t, path), corpus.Options{}), o)
			if err != nil {
				t.Fatal(err)
			}
			boundsInOrder(t, done)
			r := done.out
			b := &onlyPatterns(r, t).Blind
			if b.Writes != 0 || b.CallingTurnsSaved > onlyPatterns(r, t).CallingTurnsSaved || b.Followed > b.Moments {
				t.Errorf("%+v", b)
			}
		})
	}
}

// boundsInOrder wants what a technique saves where it helps to be no less, for any task, than
// what it saves if its meta-tools are always used: in calling turns, and in what is weighed.
func boundsInOrder(t *testing.T, r *run) {
	t.Helper()
	parts := r.parts
	if parts == nil {
		parts = []*run{r}
	}
	tasks := 0
	for _, part := range parts {
		for key, task := range part.tasks {
			for i, column := range part.columns {
				s := part.sums[task].at(i)
				if !s.hasBlind {
					continue
				}
				tasks++
				for _, m := range []int{SavedTurns, part.goal()} {
					if helps, always := helpful(s)[m], savedOf(s)[m]; helps < always-1e-9*max(1, math.Abs(always)) {
						t.Errorf("%s, task %.20s: %v where it helps, %v if always used (measure %d)", column.Name, key, helps, always, m)
					}
				}
			}
		}
	}
	if tasks == 0 {
		t.Error("no task was looked at")
	}
}
