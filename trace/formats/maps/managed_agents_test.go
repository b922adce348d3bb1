package maps_test

import (
	"fmt"
	"testing"

	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/testdata/formattest"
)

func managed(second int, kind, rest string) string {
	return fmt.Sprintf(`{"id":"e%d","processed_at":"2026-01-02T10:00:%02dZ","type":%q%s}`, second, second, kind, rest)
}

func TestManagedAgents(t *testing.T) {
	got := formattest.ReadText(t, "events.jsonl",
		managed(1, "user.message", `,"content":[{"type":"text","text":"do it"}]`),
		managed(2, "span.model_request_start", ""),
		managed(3, "agent.thinking", ""),
		managed(4, "agent.custom_tool_use", `,"name":"get","input":{"a":1}`),
		managed(5, "agent.mcp_tool_use", `,"name":"find","mcp_server_name":"s","input":{}`),
		managed(6, "span.model_request_end", `,"is_error":false,"model_usage":{"input_tokens":2,"cache_read_input_tokens":40,"cache_creation_input_tokens":5,"output_tokens":9}`),
		managed(7, "agent.mcp_tool_result", `,"mcp_tool_use_id":"e5","content":[{"type":"text","text":"no"}],"is_error":true`),
		managed(8, "user.custom_tool_result", `,"custom_tool_use_id":"e4","content":[{"type":"text","text":"sun"}]`),
		managed(8, "user.custom_tool_result", `,"custom_tool_use_id":"e4","content":[{"type":"text","text":"sun"}]`),
		managed(9, "span.model_request_start", ""),
		managed(10, "agent.message", `,"content":[{"type":"text","text":"done"}]`),
		managed(11, "span.model_request_end", `,"model_usage":{"input_tokens":3,"output_tokens":1}`),
		managed(12, "session.status_idle", ""))
	if len(got) != 1 {
		t.Fatalf("%d trajectories, want 1", len(got))
	}
	x := got[0]
	formattest.WantLines(t, "calls", formattest.Brief(x), []string{"get@0 ok sun", "s__find@0 failed no"})
	formattest.WantLines(t, "messages", formattest.Sayings(x), []string{"user@0 do it"})
	if len(x.Turns) != 2 || x.Turns[0].Usage != (trace.Usage{Known: true, Input: 47, CachedInput: 40, CacheWrite: 5, Output: 9}) || x.Turns[1].Text.Text() != "done" || fmt.Sprint(x.Anomalies.ByCode) != "map[line-copied:1]" {
		t.Errorf("got\n%s", formattest.Depict(x))
	}
}

// TestManagedAgentsRecorded: a call, its result, and an answer.
func TestManagedAgentsRecorded(t *testing.T) {
	got := formattest.ReadFiles(t, recordings.Recorded(t, "formats/anthropic-managed-agents/custom_tools.jsonl"))
	if len(got) != 1 {
		t.Fatalf("%d trajectories, want 1", len(got))
	}
	x := got[0]
	formattest.RoundTrip(t, x)
	formattest.WantLines(t, "calls", formattest.Brief(x), []string{"get_weather@0 ok It's 23°C and sunny in Prague."})
	if len(x.Turns) != 2 || len(x.Messages) != 2 || x.Turns[0].Usage.Input != 7203 || x.Turns[1].Usage.Output != 30 || x.Model != "claude-sonnet-5" || x.ID != "sesn_014fc5Q6rWwrXD3vWBfPRUes" || len(x.Tools) != 1 || x.Anomalies.Total != 0 {
		t.Errorf("got\n%s", formattest.Depict(x))
	}
}

func FuzzManagedAgents(f *testing.F) {
	formattest.FuzzLines(f, formattest.Format("managed-agents"), managed(1, "user.message", `,"content":"x"`)+"\n"+managed(2, "agent.tool_use", `,"name":"f","input":{}`)+"\n"+managed(3, "agent.tool_result", `,"tool_use_id":"e2","content":"r"`),
		`["client.beta.sessions.events.send",["s",{"events":[{"type":"user.message","content":[]}]}]]`, `["client.beta.sessions.create",{"type":"session","id":"s","agent":{"model":{"id":"m"},"system":"x","tools":[{}]}}]`)
}
