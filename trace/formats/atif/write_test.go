package atif_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/atif"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/testdata/formattest"
)

func TestATIFRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		formattest.CheckRoundTrip(t, drawTrajectory(rt))
	})
}

func TestAppend(t *testing.T) {
	b := build.New(0)
	b.Trajectory.ID, b.Trajectory.Model, b.Trajectory.Outcome, b.Trajectory.Task = "t1", "m", trace.OutcomeSuccess, "7"
	score := 1.0
	b.Trajectory.Score = &score
	b.Message(trace.RoleUser, trace.TextOf("Hi \"you\"")).Time = time.Date(2025, 12, 2, 14, 4, 6, 448688000, time.UTC)
	turn := b.Turn()
	turn.Usage = trace.Usage{Known: true, Input: 10, CachedInput: 4, Output: 3, Reasoning: 1}
	turn.Text = formattest.TextToken("a")
	call := b.Call("c", trace.Intern("f"), formattest.TextToken(`{"x": 1}`), trace.OriginModel)
	call.Status = trace.StatusOK
	b.Call("c", trace.Intern("g"), formattest.TextToken(`oops`), trace.OriginModel)
	b.Result([]byte("c"), formattest.TextToken("r"))
	b.Result([]byte("x"), formattest.TextToken("lost"))
	got, err := atif.Append(nil, b.Finish())
	want := `{"schema_version":"ATIF-v1.7","trajectory_id":"t1","agent":{"name":"unknown","version":"unknown","model_name":"m","extra":{"awo":{"unnamed":true}}},"steps":[` +
		`{"step_id":1,"timestamp":"2025-12-02T14:04:06.448688Z","source":"user","message":"Hi \"you\""},` +
		`{"step_id":2,"source":"agent","message":"a","tool_calls":[` +
		`{"tool_call_id":"c","function_name":"f","arguments":{"x":1},"extra":{"awo":{"status":"ok"}}},` +
		`{"tool_call_id":"call_0","function_name":"g","arguments":{"_raw":"oops"},"extra":{"awo":{"args":"raw","id":"c"}}}],` +
		`"observation":{"results":[{"source_call_id":"c","content":"r"}]},` +
		`"metrics":{"prompt_tokens":10,"completion_tokens":3,"cached_tokens":4,"extra":{"reasoning_tokens":1}}}],` +
		`"final_metrics":{"total_prompt_tokens":10,"total_completion_tokens":3,"total_cached_tokens":4,"total_steps":2},` +
		`"extra":{"awo":{"task":"7","outcome":"success","score":1.0,"anomalies":{"args-not-json":1,"call-id-repeated":1,"result-orphan":1}}}}` + "\n"
	if err != nil || string(got) != want {
		t.Errorf("%v\ngot  %s\nwant %s", err, got, want)
	}
}

func TestATIFOfNothing(t *testing.T) {
	again, line := formattest.ByWayOfATIF(t, &trace.Trajectory{ID: "x"})
	if len(again.Messages)+len(again.Turns)+len(again.Calls) != 0 || again.Anomalies.Total != 0 {
		t.Errorf("nothing became %s by way of %s", formattest.Depict(again), line)
	}
}

// TestATIFLosses is about what cannot survive: it must not break the document.
func TestATIFLosses(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	b := build.New(0)
	b.Trajectory.ID, b.Trajectory.Score = "a\xffb", &nan
	b.Trajectory.Start = time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC)
	b.Message(trace.RoleUser, trace.TextOf("\xff"))
	b.Turn().Usage.CostUSD = &inf
	again, _ := formattest.ByWayOfATIF(t, b.Finish())
	if again.ID != "a\ufffdb" || again.Score != nil || !again.Start.IsZero() || again.Messages[0].Text.Text() != "\ufffd" || again.Turns[0].Usage.CostUSD != nil {
		t.Errorf("read again: %s", formattest.Depict(again))
	}
}

func TestATIFInconsistent(t *testing.T) {
	calls := []trace.Call{{Tool: trace.Intern("f"), Turn: 0}, {Tool: trace.Intern("f"), Turn: 0}}
	for _, tr := range []*trace.Trajectory{
		{Calls: calls},
		{Calls: calls, Turns: []trace.Turn{{NumCalls: 1}}},
		{Calls: calls, Turns: []trace.Turn{{NumCalls: 3}}},
		{Calls: calls, Turns: []trace.Turn{{FirstCall: 1, NumCalls: 1}}},
		{Calls: calls, Turns: []trace.Turn{{NumCalls: 2}, {FirstCall: 1}}},
		{Calls: calls, Turns: []trace.Turn{{NumCalls: 1}, {FirstCall: 1, NumCalls: 1}}},
		{Calls: calls, Turns: []trace.Turn{{NumCalls: -1}}},
		{Turns: []trace.Turn{{FirstCall: math.MaxInt, NumCalls: math.MaxInt}}},
	} {
		dst, err := atif.Append([]byte("x"), tr)
		problem, ok := err.(*diag.Error)
		if !ok || problem.Code != atif.CodeNotWritable || string(dst) != "x" {
			t.Errorf("%v: %q, %v", formattest.TurnsOnly(tr), dst, err)
		}
	}
}

// TestATIFManyCalls writes and reads a turn with calls that have awkward ids.
func TestATIFManyCalls(t *testing.T) {
	b := build.New(0)
	b.Trajectory.ID = "many"
	b.Turn()
	for i := range 3000 {
		id := ""
		if i%3 == 0 {
			id = fmt.Sprint("call_", 3000-i)
		}
		b.Call(id, trace.Intern("f"), trace.JSONOf([]byte(`{}`)), trace.OriginModel)
	}
	for i := range 1500 {
		b.NamedResult(nil, trace.TextOf(fmt.Sprint(i)))
	}
	formattest.CheckRoundTrip(t, b.Finish())
	if !strings.Contains(formattest.Depict(b.Trajectory), `result "1499"`) {
		t.Error("results are missing")
	}
}
