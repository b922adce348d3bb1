package completeness_test

import (
	"slices"
	"testing"

	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/completeness"
)

// TestDoubts holds what speaks against counts, and that nothing does against those
// of a sound trajectory.
func TestDoubts(t *testing.T) {
	name := trace.Intern("f")
	sound := func() *trace.Trajectory {
		return &trace.Trajectory{
			Tools: []trace.ToolDef{{Name: name}}, Messages: []trace.Message{{Text: trace.TextOf("go")}},
			Turns: []trace.Turn{{NumCalls: 1}, {FirstCall: 1}}, Calls: []trace.Call{{Tool: name, HasResult: true}},
		}
	}
	for _, test := range []struct {
		change func(*trace.Trajectory)
		want   []string
	}{
		{func(*trace.Trajectory) {}, nil},
		{func(t *trace.Trajectory) { t.Calls = nil }, []string{completeness.DoubtNoCalls}},
		{func(t *trace.Trajectory) { t.Calls[0].Origin = trace.OriginCode }, []string{completeness.DoubtCode}},
		{func(t *trace.Trajectory) { t.Anomalies.AddN(trace.CodeOrphanResult, 2) }, []string{completeness.DoubtOrphans}},
		{func(t *trace.Trajectory) { t.Anomalies.AddN("content-unknown", 1) }, []string{completeness.DoubtUnread}},
		{func(t *trace.Trajectory) { t.Anomalies.AddN("calls-unread", 1) }, []string{completeness.DoubtLost}},
		{func(t *trace.Trajectory) { t.Anomalies.AddN("history-forked", 1) }, []string{completeness.DoubtDivided}},
		{func(t *trace.Trajectory) { t.Messages[0].Text = trace.Raw{} }, []string{completeness.DoubtEmpty}},
		{func(t *trace.Trajectory) {
			t.Turns = nil
			for range 12 {
				t.Turns = append(t.Turns, trace.Turn{Usage: trace.Usage{Known: true, Input: 5, Output: 1}})
			}
		}, []string{completeness.DoubtUsage}},
	} {
		tr := sound()
		test.change(tr)
		var y completeness.Tally
		y.Add(tr)
		var got []string
		for _, d := range y.Doubts() {
			got = append(got, d.Code)
			if d.Count == 0 || d.Reason == "" || d.Affects == "" || !d.Grave || d.Share <= 0 || d.Share > 1 {
				t.Errorf("%+v", d)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("got %v, want %v", got, test.want)
		}
	}
}

// TestDoubtsAreWeighed holds that one message of hundreds that was not understood is
// said with its share, and is no reason to trust nothing.
func TestDoubtsAreWeighed(t *testing.T) {
	for unread, grave := range map[int]bool{1: false, 40: true} {
		tr := &trace.Trajectory{Turns: make([]trace.Turn, 300)}
		tr.Anomalies.AddN("message-shape", unread)
		var y completeness.Tally
		y.Add(tr)
		doubts := y.Doubts()
		if len(doubts) != 1 || doubts[0].Grave != grave || doubts[0].Share != float64(unread)/300 {
			t.Errorf("%d: %+v", unread, doubts)
		}
	}
}
