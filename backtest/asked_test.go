package backtest

import (
	"fmt"
	"math"
	"testing"

	"github.com/awo-dev/awo/internal/corpus"
	byhand "github.com/awo-dev/awo/internal/scripted"
	"github.com/awo-dev/awo/trace"
)

// TestAskedAgain counts reads whose results are still good when the model is asked next, and
// those of them that it makes again.
func TestAskedAgain(t *testing.T) {
	get := func(s *byhand.Run, id string) { s.Call("get", `{"id":"`+id+`"}`, `{"is":"`+id+`"}`) }
	for name, tc := range map[string]struct {
		run          func(*byhand.Run)
		reads, again int
	}{
		"once":            {func(s *byhand.Run) { get(s, "a"); get(s, "b"); get(s, "c") }, 2, 0}, // nothing comes after the last
		"again":           {func(s *byhand.Run) { get(s, "a"); get(s, "b"); get(s, "a"); get(s, "a") }, 2, 1},
		"after a write":   {func(s *byhand.Run) { get(s, "a"); s.Call("set", `{}`, `{}`); get(s, "a"); get(s, "b") }, 2, 0},
		"beside a write":  {func(s *byhand.Run) { get(s, "a"); s.Also("set", `{}`, `{}`); get(s, "a"); get(s, "b") }, 1, 0},
		"in the same one": {func(s *byhand.Run) { get(s, "a"); s.Also("get", `{"id":"a"}`, `{"is":"a"}`); get(s, "b") }, 1, 0},
		"a failed one":    {func(s *byhand.Run) { get(s, "a"); s.T.Calls[0].Status = trace.StatusFailed; get(s, "a"); get(s, "b") }, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := (&byhand.Run{}).User("go on")
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
		s := (&byhand.Run{}).User(fmt.Sprintf("task %d", i))
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
	s := (&byhand.Run{}).User("go on").Call("get_a", `{}`, `{}`).Call("get_b", `{}`, `{}`)
	r := newRun(corpus.Filled([]*trace.Trajectory{&s.T}, corpus.Options{}), Options{})
	if got := r.askedAgain(nil); !got.Assumed || got.Share != askedAssumed {
		t.Errorf("alone: %+v", got)
	}
	if got := r.askedAgain(&Asked{Reads: 100, Again: 20}); !got.Assumed || got.Share != 0.2 {
		t.Errorf("beside other agents: %+v", got)
	}
	if got := r.askedAgain(&Asked{Reads: 10, Again: 5}); !got.Assumed || got.Share != askedAssumed {
		t.Errorf("beside few others: %+v", got)
	}
}
