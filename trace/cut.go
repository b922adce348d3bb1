package trace

import (
	"sort"

	"github.com/awo-dev/awo/internal/bounds"
)

// Cut ends t before the turn in which it makes its call number most, counted from 0, and
// notes that as bounds.CallsBound. A turn that makes more calls than that alone is cut
// inside. With at most so many calls t stays as it is.
func (t *Trajectory) Cut(most int) {
	if len(t.Calls) <= most {
		return
	}
	calls := most
	turns := sort.Search(len(t.Turns), func(i int) bool { return t.Turns[i].FirstCall+t.Turns[i].NumCalls > most })
	if turns < len(t.Turns) {
		if first := t.Turns[turns].FirstCall; first > 0 {
			calls = min(most, first)
		} else {
			t.Turns[turns].NumCalls = most
			turns++
		}
	}
	messages := sort.Search(len(t.Messages), func(i int) bool { return t.Messages[i].Call > calls || t.Messages[i].Turn > turns })
	t.LeaveOut(bounds.CallsBound, len(t.Calls)-calls)
	// Copies let go of what was left out.
	t.Calls = append([]Call(nil), t.Calls[:calls]...)
	t.Turns = append([]Turn(nil), t.Turns[:turns]...)
	t.Messages = append([]Message(nil), t.Messages[:messages]...)
}
