package maps_test

import (
	"fmt"
	"testing"

	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/testdata/formattest"
)

const inspectSample = `{"id":"a","epoch":2,"uuid":"u","input":"x","target":"y",
"scores":{"match":{"value":"C"}},"attachments":{"h1":"a long text"},
"messages":[
{"id":"m0","role":"system","content":"be brief"},{"id":"m1","role":"user","content":"attachment://h1","source":"input"},
{"id":"m2","role":"assistant","model":"m-1","content":[{"type":"reasoning","reasoning":"hm"},{"type":"text","text":"look"}],"tool_calls":[{"id":"1","function":"bash","arguments":{"cmd":"ls"},"type":"function"},{"id":"2","function":"bash","arguments":{"cmd":"x"},"parse_error":"bad"}]},
{"id":"m3","role":"tool","tool_call_id":"2","function":"bash","content":"","error":{"type":"timeout","message":"too slow"}},
{"id":"m4","role":"tool","tool_call_id":"1","function":"bash","content":"files"},
{"id":"m5","role":"assistant","model":"m-1","content":"done"}],
"events":[{"event":"span_begin","id":"s","type":"agent","name":"x"},
{"event":"model","timestamp":"2026-01-02T10:00:00Z","completed":"2026-01-02T10:00:01Z","tools":[{"name":"bash","description":"d","parameters":{"type":"object"}}],"output":{"choices":[{"message":{"id":"m2","role":"assistant"}}],"usage":{"input_tokens":10,"output_tokens":5,"total_tokens":57,"input_tokens_cache_read":40,"input_tokens_cache_write":2,"reasoning_tokens":1}}},
{"event":"model","output":{"choices":[{"message":{"id":"other","role":"assistant"}}],"usage":{"input_tokens":99}}},
{"event":"tool","id":"1","function":"bash","timestamp":"2026-01-02T10:00:02Z","completed":"2026-01-02T10:00:03Z"},
{"event":"model","output":{"choices":[],"error":"x"},"error":"x"}]}`

func TestInspect(t *testing.T) {
	head := `{"version":2,"status":"success","eval":{"task":"t","model":"m-1"},"plan":{},"samples":[`
	for _, layout := range []string{head + inspectSample + `]}`, head + "\n" + inspectSample + "\n]}"} {
		got := formattest.ReadText(t, "log.json", layout)
		if len(got) != 1 {
			t.Fatalf("%d trajectories, want 1", len(got))
		}
		x := got[0]
		formattest.WantLines(t, "calls", formattest.Brief(x), []string{"bash@0 ok files", "bash@0 failed "})
		formattest.WantLines(t, "messages", formattest.Sayings(x), []string{"system@0 be brief", "user@0 a long text"})
		if len(x.Turns) != 2 || x.Turns[0].Usage != (trace.Usage{Known: true, Input: 52, CachedInput: 40, CacheWrite: 2, Output: 5, Reasoning: 1}) || x.Turns[1].Usage.Known || x.Turns[0].Thought.Text() != "hm" || x.Turns[0].Text.Text() != "look" {
			t.Errorf("turns are %+v", x.Turns)
		}
		if x.ID != "u" || x.Task != "t/a" || x.Trial != "2" || x.Model != "m-1" || x.Outcome != trace.OutcomeSuccess || len(x.Tools) != 1 || x.Calls[1].Error.Text() != "too slow" || formattest.Clock(x.Calls[0].End) != "2026-01-02T10:00:03Z" {
			t.Errorf("got\n%s", formattest.Depict(x))
		}
		if anomalies := fmt.Sprint(x.Anomalies.ByCode); anomalies != "map[response-elsewhere:1]" {
			t.Errorf("anomalies are %s", anomalies)
		}
	}
}

func TestInspectRecorded(t *testing.T) {
	folder := recordings.Recorded(t, "formats/inspect-ai") + "/"
	got := formattest.ReadFiles(t, folder+"log_tool_call_error.json")
	if len(got) != 1 || len(got[0].Calls) != 0 || got[0].Anomalies.ByCode["result-orphan"] != 11 {
		t.Errorf("got\n%s", formattest.Depict(got[0]))
	}
	got = formattest.ReadFiles(t, folder+"browser_trimmed.json")
	if len(got) != 1 {
		t.Fatalf("%d trajectories, want 1", len(got))
	}
	// Only the first two responses have their events left.
	x := got[0]
	formattest.RoundTrip(t, x)
	if len(x.Turns) != 5 || len(x.Calls) != 4 || len(x.Messages) != 1 || x.Turns[0].Usage.Input != 1124 || x.Turns[1].Usage.CachedInput != 1024 || x.Turns[2].Usage.Known || x.Anomalies.Total != 0 || x.Outcome != trace.OutcomeSuccess {
		t.Errorf("got\n%.3000s", formattest.Depict(x))
	}
	for _, c := range x.Calls {
		if c.Status != trace.StatusOK || !c.HasResult {
			t.Errorf("call %s is %v", c.ID, c.Status)
		}
	}
}

func FuzzInspect(f *testing.F) {
	formattest.FuzzDecoder(f, formattest.Format("inspect"), []string{inspectSample, `{"id":1,"messages":[{"role":"assistant"},{"role":"tool","error":{"message":1}}],"events":[{"event":"model","output":{"choices":[{}]}}]}`, `{"messages":5}`})
}
