package analysis

import (
	"testing"

	"github.com/awo-dev/awo/trace"
)

func TestDecisions(t *testing.T) {
	t.Parallel()
	lookup := trace.Intern("lookup")
	run := &trace.Trajectory{
		Turns: make([]trace.Turn, 6),
		Calls: []trace.Call{
			{Tool: lookup, Turn: 0},
			{Tool: lookup, Turn: 1},
			{Tool: lookup, Turn: 1},
			{Tool: lookup, Turn: 2, Origin: trace.OriginCode}, // a program decided on it
			{Tool: lookup, Turn: 4},
			{Tool: lookup, Turn: -1}, // whose turn is not recorded
		},
		Messages: []trace.Message{{Role: trace.RoleUser, Turn: 0}, {Role: trace.RoleSystem, Turn: 3}, {Role: trace.RoleUser, Turn: 4}},
	}
	var d decisions
	d.Add(run)
	want := [...]int{decisionCall: 2, decisionCalls: 1, decisionReply: 1, decisionAsk: 0, decisionEnd: 1, decisionText: 1}
	for i, n := range want {
		if got, of := d.shares[i].Counts(); got != n || of != 6 {
			t.Errorf("%s: %d of %d turns, want %d of 6", decisionNames[i], got, of, n)
		}
	}
	d.Add(&trace.Trajectory{Calls: []trace.Call{{Tool: lookup, Turn: -1}}})
	if d.turns != 6 {
		t.Errorf("%d turns where the second trajectory records none, want 6", d.turns)
	}
}
