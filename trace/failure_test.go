package trace_test

import (
	"testing"

	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/completeness"
)

func TestFailureIn(t *testing.T) {
	for result, want := range map[*trace.Raw]string{
		{Data: []byte(`"{\"error\":\"no\"}"`), Form: trace.FormString}: "error-member",
		new(trace.JSONOf([]byte(`"Error: no"`))):                       "error-text",
		new(trace.TextOf("Failed to open the page")):                   "", // not sure
	} {
		one := &trace.Trajectory{Calls: []trace.Call{{Tool: trace.Intern("a"), Turn: -1, Result: *result, HasResult: true}}}
		one.ReadFailures()
		if got := one.Calls[0].StatusFrom; got != want {
			t.Errorf("%s: %q, want %q", result.Text(), got, want)
		}
	}
}

func TestReadFailures(t *testing.T) {
	call := func(result string, s trace.Status) trace.Call {
		return trace.Call{Tool: trace.Intern("a"), Turn: -1, Result: trace.TextOf(result), HasResult: true, Status: s}
	}
	one := &trace.Trajectory{Calls: []trace.Call{call("Error: no", trace.StatusUnknown), call("Error: no", trace.StatusOK), call("fine", trace.StatusUnknown), call("x", trace.StatusFailed)}}
	one.ReadFailures()
	want := []trace.Status{trace.StatusFailed, trace.StatusOK, trace.StatusUnknown, trace.StatusFailed}
	for i, c := range one.Calls {
		if c.Status != want[i] {
			t.Errorf("call %d: %s, want %s", i, c.Status, want[i])
		}
	}
	y := &completeness.Tally{}
	y.Add(one)
	if got := y.StatusReadings(); len(got) != 1 || got[0] != (completeness.StatusReading{By: "error-text", Calls: 1}) {
		t.Errorf("%+v", got)
	}
}
