package completeness_test

import (
	"strings"
	"testing"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/completeness"
)

// TestDoubtsSay holds that a doubt names what was not understood, the most frequent first,
// where the first of it is, and what to do.
func TestDoubtsSay(t *testing.T) {
	var y completeness.Tally
	for line := 1; line <= 3; line++ {
		one := &trace.Trajectory{Source: diag.Pos{File: "x.jsonl", Line: line, Col: 1}, Turns: []trace.Turn{{Usage: trace.Usage{Known: true, Input: 3, Output: line64(line)}}}}
		if line > 1 {
			one.Anomalies.AddN("message-role", line)
			one.Unread = map[string]int{"role planner": line - 1, "role critic": 1}
			one.Anomalies.AddN("usage-sum", 1)
		}
		y.Add(one)
	}
	want := map[string]string{
		completeness.DoubtUnread: "messages or calls were not understood (role planner: 3, role critic: 2)",
		completeness.DoubtSum:    "token counts do not add up to the recorded total",
	}
	for _, d := range y.Doubts() {
		reason, ok := want[d.Code]
		if !ok {
			t.Errorf("there is a doubt %+v", d)
			continue
		}
		delete(want, d.Code)
		if d.Reason != reason || d.First != "x.jsonl:2:1" || d.Next == "" || d.Code == completeness.DoubtUnread && !strings.Contains(d.Next, "--draft-map") {
			t.Errorf("got %+v", d)
		}
	}
	if len(want) > 0 {
		t.Errorf("there is no doubt %v", want)
	}
}

func line64(line int) int64 { return int64(line) }
