package trace

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/awo-dev/awo/diag"
)

func TestATIFRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		checkRoundTrip(t, drawTrajectory(rt))
	})
}

func TestAppendATIF(t *testing.T) {
	b := newBuilder(0)
	b.t.ID, b.t.Model, b.t.Outcome, b.t.Task = "t1", "m", OutcomeSuccess, "7"
	score := 1.0
	b.t.Score = &score
	b.message(RoleUser, TextOf("Hi \"you\"")).Time = time.Date(2025, 12, 2, 14, 4, 6, 448688000, time.UTC)
	turn := b.turn()
	turn.Usage = Usage{Known: true, Input: 10, CachedInput: 4, Output: 3, Reasoning: 1}
	turn.Text = textToken("a")
	call := b.call("c", Intern("f"), textToken(`{"x": 1}`), OriginModel)
	call.Status = StatusOK
	b.call("c", Intern("g"), textToken(`oops`), OriginModel)
	b.result([]byte("c"), textToken("r"))
	b.result([]byte("x"), textToken("lost"))
	got, err := AppendATIF(nil, b.finish())
	want := `{"schema_version":"ATIF-v1.7","trajectory_id":"t1","agent":{"name":"unknown","version":"unknown","model_name":"m","extra":{"awo":{"unnamed":true}}},"steps":[` +
		`{"step_id":1,"timestamp":"2025-12-02T14:04:06.448688Z","source":"user","message":"Hi \"you\""},` +
		`{"step_id":2,"source":"agent","message":"a","tool_calls":[` +
		`{"tool_call_id":"c","function_name":"f","arguments":{"x":1},"extra":{"awo":{"status":"ok"}}},` +
		`{"tool_call_id":"call_0","function_name":"g","arguments":{"_raw":"oops"},"extra":{"awo":{"args":"raw","id":"c"}}}],` +
		`"observation":{"results":[{"source_call_id":"c","content":"r"}]},` +
		`"metrics":{"prompt_tokens":10,"completion_tokens":3,"cached_tokens":4,"extra":{"reasoning_tokens":1}}}],` +
		`"final_metrics":{"total_prompt_tokens":10,"total_completion_tokens":3,"total_cached_tokens":4,"total_steps":2},` +
		`"extra":{"awo":{"task":"7","outcome":"success","score":1.0,"oddities":{"args-not-json":1,"call-id-repeated":1,"result-orphan":1}}}}` + "\n"
	if err != nil || string(got) != want {
		t.Errorf("%v\ngot  %s\nwant %s", err, got, want)
	}
}

func TestATIFOfNothing(t *testing.T) {
	again, line := byWayOfATIF(t, &Trajectory{ID: "x"})
	if len(again.Messages)+len(again.Turns)+len(again.Calls) != 0 || again.Oddities.Total != 0 {
		t.Errorf("nothing became %s by way of %s", depict(again), line)
	}
}

// TestATIFLosses is about what cannot survive: it must not break the document.
func TestATIFLosses(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	b := newBuilder(0)
	b.t.ID, b.t.Score = "a\xffb", &nan
	b.t.Start = time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC)
	b.message(RoleUser, TextOf("\xff"))
	b.turn().Usage.CostUSD = &inf
	again, _ := byWayOfATIF(t, b.finish())
	if again.ID != "a\ufffdb" || again.Score != nil || !again.Start.IsZero() || again.Messages[0].Text.Text() != "\ufffd" || again.Turns[0].Usage.CostUSD != nil {
		t.Errorf("read again: %s", depict(again))
	}
}

func TestATIFInconsistent(t *testing.T) {
	calls := []Call{{Tool: Intern("f"), Turn: 0}, {Tool: Intern("f"), Turn: 0}}
	for _, tr := range []*Trajectory{
		{Calls: calls},
		{Calls: calls, Turns: []Turn{{NumCalls: 1}}},
		{Calls: calls, Turns: []Turn{{NumCalls: 3}}},
		{Calls: calls, Turns: []Turn{{FirstCall: 1, NumCalls: 1}}},
		{Calls: calls, Turns: []Turn{{NumCalls: 2}, {FirstCall: 1}}},
		{Calls: calls, Turns: []Turn{{NumCalls: 1}, {FirstCall: 1, NumCalls: 1}}},
		{Calls: calls, Turns: []Turn{{NumCalls: -1}}},
		{Turns: []Turn{{FirstCall: math.MaxInt, NumCalls: math.MaxInt}}},
	} {
		dst, err := AppendATIF([]byte("x"), tr)
		problem, ok := err.(*diag.Error)
		if !ok || problem.Code != CodeNotWritable || string(dst) != "x" {
			t.Errorf("%v: %q, %v", turnsOnly(tr), dst, err)
		}
	}
}

// TestATIFManyCalls writes and reads a turn with calls that have awkward ids.
func TestATIFManyCalls(t *testing.T) {
	b := newBuilder(0)
	b.t.ID = "many"
	b.turn()
	for i := range 3000 {
		id := ""
		if i%3 == 0 {
			id = fmt.Sprint("call_", 3000-i)
		}
		b.call(id, Intern("f"), JSONOf([]byte(`{}`)), OriginModel)
	}
	for i := range 1500 {
		b.namedResult(nil, TextOf(fmt.Sprint(i)))
	}
	checkRoundTrip(t, b.finish())
	if !strings.Contains(depict(b.t), `result "1499"`) {
		t.Error("results are missing")
	}
}
