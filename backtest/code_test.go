package backtest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/internal/corpus"
	byhand "github.com/awo-dev/awo/internal/scripted"
	"github.com/awo-dev/awo/trace"
)

// buyer is a run in which a customer is looked up, two of three orders are read, and the
// last one is held.
func buyer(i int) *byhand.Run {
	s := (&byhand.Run{}).User(fmt.Sprintf("I am customer-%d", i))
	s.Call("get_customer", fmt.Sprintf(`{"name":"customer-%d"}`, i), fmt.Sprintf(`{"orders":["order-%d-a","order-%d-b","order-%d-c"]}`, i, i, i))
	for _, which := range []string{"a", "b"} {
		s.Call("get_order", fmt.Sprintf(`{"id":"order-%d-%s"}`, i, which), fmt.Sprintf(`{"parcel":"parcel-%d-%s"}`, i, which))
	}
	s.Call("update_order", fmt.Sprintf(`{"id":"order-%d-b","state":"held"}`, i), `{"held":true}`)
	s.T.Task = fmt.Sprint("buyer ", i)
	return s
}

// answer ends a run.
func answer(s *byhand.Run, text string) *byhand.Run {
	s.T.Turns = append(s.T.Turns, trace.Turn{FirstCall: len(s.T.Calls), Text: trace.TextOf(text)})
	return s
}

// coders returns both bounds, which have learnt from runs of buyers.
func coders() (lower, upper Trained) {
	var list []*trace.Trajectory
	for i := range 30 {
		list = append(list, &answer(buyer(i), "It is held.").T)
	}
	p := &Part{Runs: runsOf(list...), meter: cost.NewMeter(cost.Options{})}
	return p.trainCode(true), p.trainCode(false)
}

func caseOf(s *byhand.Run) *Case {
	return &Case{Run: corpus.Filled([]*trace.Trajectory{&s.T}, corpus.Options{})[0]}
}

// TestPrograms has programs make what is usual and bound, and no more.
func TestPrograms(t *testing.T) {
	lower, upper := coders()
	for name, tc := range map[string]struct {
		run          func(*byhand.Run)
		lower, upper []int // turns removed
		extra        int   // reads that the lower bound makes for nothing
		limits       [4]int
	}{
		"all of it": {func(*byhand.Run) {}, []int{1, 2, 3}, []int{1, 2, 3}, 1, [4]int{0, 0, 0, 1}},
		"behind the write": {func(s *byhand.Run) {
			s.Call("get_order", `{"id":"order-77-c"}`, `{"parcel":"parcel-77-c"}`)
		}, []int{1, 2, 3}, []int{1, 2, 3, 4}, 1, [4]int{0, 1, 0, 1}},
		"what only the model knows": {func(s *byhand.Run) {
			s.Call("get_customer", `{"name":"somebody else"}`, `{"orders":[]}`)
		}, []int{1, 2, 3}, []int{1, 2, 3}, 1, [4]int{0, 1, 0, 1}},
		"the user speaks": {func(s *byhand.Run) {
			s.User("and the first one").Call("update_order", `{"id":"order-77-a","state":"held"}`, `{"held":true}`)
		}, []int{1, 2, 3}, []int{1, 2, 3}, 1, [4]int{0, 0, 0, 2}},
		"a failure": {func(s *byhand.Run) {
			s.T.Calls[2].Status = trace.StatusFailed
		}, []int{1}, []int{1}, 2, [4]int{0, 0, 0, 3}},
		"no result": {func(s *byhand.Run) {
			s.T.Calls[0].HasResult, s.T.Calls[0].Result = false, trace.Raw{}
		}, []int{3}, []int{3}, 0, [4]int{1, 0, 1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			s := buyer(77)
			tc.run(s)
			c := caseOf(s)
			low, high := lower.Find(c), upper.Find(c)
			if !slices.Equal(low.Removed, tc.lower) || !slices.Equal(high.Removed, tc.upper) {
				t.Errorf("turns %v and %v go, want %v and %v", low.Removed, high.Removed, tc.lower, tc.upper)
			}
			if low.Programs.Extra != tc.extra || high.Programs.Extra != 0 || low.Programs.Limits != tc.limits {
				t.Errorf("%d reads for nothing, want %d; turns stay for %v, want %v", low.Programs.Extra, tc.extra, low.Programs.Limits, tc.limits)
			}
		})
	}
}

// TestProgramsInTraces: calls that a recorded program made save no turn, whatever looks for
// them.
func TestProgramsInTraces(t *testing.T) {
	var list []*trace.Trajectory
	for i := range 30 {
		s := answer(buyer(i), "It is held.")
		first := trace.Turn{NumCalls: len(s.T.Calls), Continued: 3}
		for k := range s.T.Calls {
			s.T.Calls[k].Turn, s.T.Calls[k].Origin = 0, trace.OriginCode
		}
		last := s.T.Turns[len(s.T.Turns)-1]
		s.T.Turns = []trace.Turn{first, last}
		for k := range s.T.Turns {
			s.T.Turns[k].Usage = trace.Usage{Known: true, Input: 1000 + 100*int64(k), Output: 50}
		}
		list = append(list, &s.T)
	}
	r, err := Run(runsOf(list...), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Techniques {
		if o := &r.Techniques[i]; o.CallingTurnsSaved+o.LLMCallsSaved+o.Used != 0 {
			t.Errorf("%s saves %d turns", o.Name, o.CallingTurnsSaved)
		}
	}
}

// TestProgramTokens is arithmetic done by hand: turns of 1,000 to 1,400 tokens that say 40.
func TestProgramTokens(t *testing.T) {
	lower, upper := coders()
	s := answer(buyer(77), "It is held.")
	for k := range s.T.Turns {
		s.T.Turns[k].Usage = trace.Usage{Known: true, Input: 1000 + 100*int64(k), Output: 40}
	}
	c := caseOf(s)
	meter := cost.NewMeter(cost.Options{})
	c.Account = meter.Trajectory(c.Trajectory)
	definition := lower.Summary().DefinitionTokens
	// Turns 1 to 3 go with 1,100, 1,200 and 1,300 tokens and 40 each, which the last turn no
	// longer reads. Two turns are left: they read the definition, and the last one the text of
	// the program, which the first one says: 150, two calls, and a call in a loop.
	removed := int64(3600 + 3*40 + 3*40)
	text := int64(2 * (150 + 2*20 + 20 + 40))
	// The third order is read for nothing.
	extra := meter.Text(`{"parcel":"parcel-1-a"}`)
	f := lower.Find(c)
	if got, want := lower.Saving(c, f).Tokens(), removed-2*definition-text-extra; got != want {
		t.Errorf("lower: %d tokens, want %d", got, want)
	}
	// Nothing of what was returned is used behind the program; two reads in a row are no loop.
	text = 2 * (150 + 4*20)
	results := int64(0)
	for i := range c.Calls {
		results += meter.Raw(c.Calls[i].Result)
	}
	f = upper.Find(c)
	if got, want := upper.Saving(c, f).Tokens(), removed-2*definition-text+results; got != want {
		t.Errorf("upper: %d tokens, want %d", got, want)
	}
	if got := f.Programs.Overhead.Tokens(); got != text {
		t.Errorf("texts take %d tokens, want %d", got, text)
	}
}
