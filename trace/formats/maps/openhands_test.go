package maps_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/testdata/formattest"
)

func hands(second int, source, kind, rest string) string {
	return fmt.Sprintf(`{"id":"e%d","timestamp":"2026-01-02T10:00:%02d.5","source":%q,"kind":%q,%s}`, second, second, source, kind, rest)
}

func handsStats(second, input, output int) string {
	return hands(second, "environment", "ConversationStateUpdateEvent", fmt.Sprintf(`"key":"stats","value":{"usage_to_metrics":{"agent":{"model_name":"m","accumulated_cost":0.5,"accumulated_token_usage":{"prompt_tokens":%d,"completion_tokens":%d,"cache_read_tokens":3}},"condenser":{"accumulated_token_usage":{"prompt_tokens":999}}}}`, input, output))
}

func handsAction(second int, response, id, tool, args string) string {
	return hands(second, "agent", "ActionEvent", fmt.Sprintf(`"thought":[{"type":"text","text":"look"}],"reasoning_content":"hm","tool_name":%q,"tool_call_id":%q,"tool_call":{"id":%q,"name":%q,"arguments":%q},"llm_response_id":%q,"security_risk":"LOW","summary":"s"`, tool, id, id, tool, args, response))
}

func handsEvents() []string {
	return []string{
		hands(0, "agent", "SystemPromptEvent", `"system_prompt":{"type":"text","text":"be brief"},"tools":[{"type":"function","function":{"name":"terminal","description":"d","parameters":{}}},{"kind":"T"}]`),
		hands(1, "user", "MessageEvent", `"llm_message":{"role":"user","content":[{"type":"text","text":"do it"}]}`),
		handsStats(2, 100, 10),
		handsAction(3, "r1", "1", "terminal", `{"security_risk":"LOW","summary":"s","command":"ls"}`),
		handsAction(3, "r1", "2", "terminal", `{"command":"pwd"}`),
		hands(4, "environment", "ObservationEvent", `"tool_name":"terminal","tool_call_id":"2","observation":{"content":[{"type":"text","text":"no"}],"is_error":false,"exit_code":2,"kind":"TerminalObservation"}`),
		hands(5, "environment", "ObservationEvent", `"tool_name":"terminal","tool_call_id":"1","observation":{"content":[{"type":"text","text":"files"}],"is_error":false,"exit_code":0}`),
		handsStats(6, 250, 30),
		handsAction(7, "r2", "3", "browse", `{"summary":"s"}`),
		hands(8, "user", "UserRejectObservation", `"tool_name":"browse","tool_call_id":"3","action_id":"e7","rejection_reason":"not that"`),
		handsAction(9, "r3", "4", "edit", `no json`),
		hands(10, "agent", "AgentErrorEvent", `"tool_name":"edit","tool_call_id":"4","error":"bad arguments"`),
		hands(11, "environment", "Condensation", `"forgotten_event_ids":[],"summary":"so far"`),
		hands(12, "agent", "MessageEvent", `"llm_message":{"role":"assistant","content":[{"type":"text","text":"done"}]},"llm_response_id":"r4"`),
		hands(13, "environment", "SomethingEvent", `"x":1`),
		handsStats(14, 251, 31),
	}
}

func checkHands(t *testing.T, x *trace.Trajectory) {
	t.Helper()
	formattest.WantLines(t, "calls", formattest.Brief(x), []string{"terminal@0 ok files", "terminal@0 failed no", "browse@1 failed not that", "edit@2 failed bad arguments"})
	formattest.WantLines(t, "messages", formattest.Sayings(x), []string{"system@0 be brief", "user@0 do it", "system@3 so far"})
	if len(x.Turns) != 4 || x.Turns[0].Usage.Input != 100 || x.Turns[0].Usage.CachedInput != 3 || *x.Turns[0].Usage.CostUSD != 0.5 || x.Turns[1].Usage.Input != 150 || x.Turns[1].Usage.Output != 20 || x.Turns[2].Usage.Known {
		t.Errorf("turns are %+v", x.Turns)
	}
	if args := x.Calls[0].Args.Text(); args != `{"command":"ls"}` || x.Calls[2].Args.Text() != `{}` {
		t.Errorf("arguments %s and %s", args, x.Calls[2].Args.Text())
	}
	if anomalies := fmt.Sprint(x.Anomalies.ByCode); anomalies != "map[args-not-json:1 event-unknown:1 usage-unplaced:1]" {
		t.Errorf("anomalies are %s", anomalies)
	}
	if x.Model != "m" || len(x.Tools) != 1 || x.Turns[3].Text.Text() != "done" || x.Turns[0].Thought.Text() != "hm" {
		t.Errorf("got\n%s", formattest.Depict(x))
	}
}

func TestOpenHands(t *testing.T) {
	got := formattest.ReadText(t, "events.jsonl", handsEvents()...)
	if len(got) != 1 {
		t.Fatalf("%d trajectories, want 1", len(got))
	}
	checkHands(t, got[0])
}

// TestOpenHandsFolder reads files with one event each, given in another order.
func TestOpenHandsFolder(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "conversation-1", "events")
	if err := os.MkdirAll(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	var files []string
	for i, e := range handsEvents() {
		file := filepath.Join(folder, fmt.Sprintf("event-%05d-x.json", i))
		formattest.WriteFile(t, file, e)
		files = append([]string{file}, files...)
	}
	got := formattest.ReadFiles(t, files...)
	if len(got) != 1 || got[0].ID != "conversation-1" || got[0].Format != "openhands" {
		t.Fatalf("%d trajectories, want 1", len(got))
	}
	checkHands(t, got[0])
}

// TestOpenHandsRecorded: two actions and three observations, of which the second
// has lost its action.
func TestOpenHandsRecorded(t *testing.T) {
	got := formattest.ReadFiles(t, recordings.Recorded(t, "formats/openhands/sdk_goal_events.jsonl"))
	if len(got) != 1 {
		t.Fatalf("%d trajectories, want 1", len(got))
	}
	x := got[0]
	formattest.RoundTrip(t, x)
	if len(x.Turns) != 2 || len(x.Calls) != 2 || x.Calls[0].Status != trace.StatusFailed || !x.Calls[1].HasResult || x.Turns[0].Usage.Input != 35299 || x.Turns[0].Usage.CachedInput != 1115 || x.Turns[1].Usage.Output != 192 {
		t.Errorf("got\n%s", formattest.Depict(x))
	}
	if anomalies := fmt.Sprint(x.Anomalies.ByCode); anomalies != "map[result-orphan:1 usage-unplaced:2]" {
		t.Errorf("anomalies are %s", anomalies)
	}
	if v, _ := x.Calls[0].ArgsValue(); len(v.Members) != 1 || v.Members[0].Name != "command" {
		t.Errorf("arguments %s", v.AppendCanonical(nil))
	}
}

func FuzzOpenHands(f *testing.F) {
	text := ""
	for _, e := range handsEvents() {
		text += e + "\n"
	}
	formattest.FuzzLines(f, formattest.Format("openhands"), text, handsAction(1, "", "", "", "{}")+"\n"+hands(2, "x", "ObservationEvent", `"observation":{}`), `{"kind":"ActionEvent"}`)
}
