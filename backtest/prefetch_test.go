package backtest

import (
	"fmt"
	"testing"

	"github.com/awo-dev/awo/internal/recordings"
	script "github.com/awo-dev/awo/internal/scripted"
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
	r, err := Run(recordings.Source(list), Options{Techniques: []Technique{readAhead}})
	if err != nil {
		t.Fatal(err)
	}
	return &r.Techniques[0]
}

func TestPrefetch(t *testing.T) {
	type want struct {
		turns, models, afterUser   int
		reads, used, inVain, stale float64
	}
	for name, c := range map[string]struct {
		then func(i int, s *script.Run)
		want want // of 20 runs
	}{
		"both in turn": {func(i int, s *script.Run) { s.Call(order(i, "a")).Call(order(i, "b")) }, want{40, 40, 0, 40, 40, 0, 0}},
		"both at once": {func(i int, s *script.Run) { s.Call(order(i, "a")).Also(order(i, "b")) }, want{20, 20, 0, 40, 40, 0, 0}},
		"the first":    {func(i int, s *script.Run) { s.Call(order(i, "a")) }, want{20, 20, 0, 20, 20, 0, 0}},
		"the second, so that the first is in vain": {func(i int, s *script.Run) { s.Call(order(i, "b")) }, want{20, 20, 0, 40, 20, 20, 0}},
		"a user message between":                   {func(i int, s *script.Run) { s.User("and my order?").Call(order(i, "a")) }, want{20, 0, 20, 20, 20, 0, 0}},
		"beside a write, which needs its turn": {func(i int, s *script.Run) {
			s.Call(order(i, "a")).Also("cancel", fmt.Sprint(`{"id":`, i, `}`), `true`)
		}, want{0, 0, 0, 20, 20, 0, 0}},
		// In half of the runs something writes between: the rule stands, and those reads are stale.
		"half of them stale": {func(i int, s *script.Run) {
			if i%2 == 0 {
				s.Call("touch", `{}`, `true`)
			}
			s.Call(order(i, "a"))
		}, want{10, 10, 0, 20, 10, 10, 10}},
		"asked for twice, of which the second time is none of ours": {func(i int, s *script.Run) { s.Call(order(i, "a")).Call(order(i, "a")) }, want{20, 20, 0, 20, 20, 0, 0}},
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
			got := want{o.CallingTurnsSaved, o.LLMCallsSaved, o.Reading.AfterUser, o.Reading.Reads, o.Reading.Used, o.Reading.InVain(), o.Reading.Stale}
			if got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}
