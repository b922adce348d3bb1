package trace

import (
	"fmt"
	"testing"
	"unique"

	"github.com/awo-dev/awo/internal/bounds"
)

// TestCut wants whole turns where there are any, and what is left to fit together.
func TestCut(t *testing.T) {
	for _, test := range []struct {
		turns                []int // calls of each
		most                 int
		calls, left, message int
	}{
		{[]int{1, 1, 0, 2, 1}, 5, 5, 5, 6},
		{[]int{1, 1, 0, 2, 1}, 4, 4, 4, 5},
		{[]int{1, 1, 0, 2, 1}, 3, 2, 3, 4},
		{[]int{1, 1, 0, 2, 1}, 2, 2, 3, 4},
		{[]int{5, 1}, 3, 3, 1, 1},
		{[]int{0, 5, 1}, 3, 3, 2, 2}, // nothing came before but an answer
	} {
		var one Trajectory
		for i, n := range test.turns {
			one.Messages = append(one.Messages, Message{Turn: i, Call: len(one.Calls)})
			one.Turns = append(one.Turns, Turn{FirstCall: len(one.Calls), NumCalls: n})
			for range n {
				one.Calls = append(one.Calls, Call{Tool: unique.Make(fmt.Sprint(len(one.Calls))), Turn: i})
			}
		}
		one.Messages = append(one.Messages, Message{Turn: len(test.turns), Call: len(one.Calls)})
		all := len(one.Calls)
		one.Cut(test.most)
		if len(one.Calls) != test.calls || len(one.Turns) != test.left || len(one.Messages) != test.message {
			t.Errorf("%v cut at %d: %d calls, %d turns, %d messages", test.turns, test.most, len(one.Calls), len(one.Turns), len(one.Messages))
		}
		sum := 0
		for i, turn := range one.Turns {
			if turn.FirstCall != sum {
				t.Errorf("%v cut at %d: turn %d begins at call %d", test.turns, test.most, i, turn.FirstCall)
			}
			sum += turn.NumCalls
		}
		if sum != len(one.Calls) {
			t.Errorf("%v cut at %d: turns make %d of %d calls", test.turns, test.most, sum, len(one.Calls))
		}
		var reached bounds.Reached
		for _, b := range one.Bounded {
			reached.Note(b.Bound, "", b.Count)
		}
		left := 0
		for _, r := range reached.Reports() {
			if r.Code == "calls" {
				left = r.LeftOut
			}
		}
		if left != all-test.calls {
			t.Errorf("%v cut at %d: %d calls are said to be left out", test.turns, test.most, left)
		}
	}
}
