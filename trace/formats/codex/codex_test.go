package codex_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/codex"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/testdata/formattest"
)

func codexItemLine(second int, payload string) string {
	return fmt.Sprintf(`{"timestamp":"2026-01-02T10:00:%02dZ","type":"response_item","payload":%s}`, second, payload)
}

func codexEvent(payload string) string {
	return fmt.Sprintf(`{"timestamp":"2026-01-02T10:00:59Z","type":"event_msg","payload":%s}`, payload)
}

func codexCount(input, output, total int) string {
	return codexEvent(fmt.Sprintf(`{"type":"token_count","info":{"last_token_usage":{"input_tokens":%d,"cached_input_tokens":1,"output_tokens":%d,"reasoning_output_tokens":2},"total_token_usage":{"total_tokens":%d}}}`, input, output, total))
}

func codexUser(second int, text string) string {
	return codexItemLine(second, fmt.Sprintf(`{"type":"message","role":"user","content":[{"type":"input_text","text":%q}]}`, text))
}

func codexCall(second int, id, name string) string {
	return codexItemLine(second, fmt.Sprintf(`{"type":"function_call","name":%q,"arguments":"{\"n\":1}","call_id":%q}`, name, id))
}

func codexResult(second int, id, output string) string {
	return codexItemLine(second, fmt.Sprintf(`{"type":"function_call_output","call_id":%q,"output":%s}`, id, output))
}

func TestCodex(t *testing.T) {
	got := formattest.ReadText(t, "rollout.jsonl",
		`{"timestamp":"2026-01-02T10:00:00Z","type":"session_meta","payload":{"id":"child","timestamp":"2026-01-02T10:00:00Z","source":{"subagent":{"thread_spawn":{"parent_thread_id":"parent","depth":1}}},"base_instructions":{"text":"be brief"},"dynamic_tools":[{"name":"look","description":"d","inputSchema":{"type":"object"}}]}}`,
		codexEvent(`{"type":"task_started","turn_id":"1"}`),
		codexUser(1, "<environment_context>cwd</environment_context>"),
		codexUser(2, "do it"),
		`{"timestamp":"2026-01-02T10:00:02Z","type":"turn_context","payload":{"turn_id":"1","model":"gpt-x"}}`,
		codexEvent(`{"type":"token_count","info":null}`),
		codexItemLine(3, `{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"zzz"}`),
		codexItemLine(3, `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"looking"}]}`),
		codexEvent(`{"type":"agent_message","message":"looking"}`),
		codexCall(4, "c1", "exec_command"),
		codexCall(4, "c2", "exec_command"),
		codexCount(10, 5, 15),
		codexResult(5, "c2", `"Chunk ID: 1\nProcess exited with code 1\nOutput:\nProcess exited with code 0"`),
		codexResult(5, "c1", `"{\"output\":\"x\",\"metadata\":{\"exit_code\":0}}"`),
		codexCount(10, 5, 15), // repeated with news about limits
		// A second response without any user in between, with its own count.
		codexCall(6, "c3", "mcp__s__t"),
		codexEvent(`{"type":"mcp_tool_call_end","call_id":"c3","result":{"Ok":{"content":[],"isError":true}}}`),
		codexResult(7, "c3", `[{"type":"input_text","text":"bad"}]`),
		codexCount(20, 6, 41),
		codexItemLine(8, `{"type":"custom_tool_call","name":"apply_patch","input":"*** Begin","call_id":"c4"}`),
		codexItemLine(9, `{"type":"custom_tool_call_output","call_id":"c4","output":"Exit code: 0\nWall time: 1\nOutput:\nok"}`),
		codexItemLine(9, `{"type":"local_shell_call","call_id":"c5","status":"completed","action":{"type":"exec","command":["ls"]}}`),
		codexResult(9, "c5", `{"content":"a","success":true}`),
		codexItemLine(9, `{"type":"web_search_call","id":"ws","status":"completed","action":{"type":"search","query":"q"}}`),
		codexCall(10, "c6", "shell"),
		codexEvent(`{"type":"turn_aborted","reason":"interrupted"}`),
		// What was taken back.
		codexUser(11, "wrong way"),
		codexCall(12, "c7", "shell"),
		codexEvent(`{"type":"thread_rolled_back","num_turns":1}`),
		codexUser(13, "go on"),
		`{"timestamp":"2026-01-02T10:00:14Z","type":"compacted","payload":{"message":"so far","replacement_history":[]}}`,
		codexItemLine(15, `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"done"}]}`),
		codexResult(16, "nobody", `"x"`),
	)
	if len(got) != 1 {
		t.Fatalf("%d trajectories, want 1", len(got))
	}
	x := got[0]
	formattest.WantLines(t, "calls", formattest.Brief(x), []string{
		`exec_command@0 ok {"output":"x","metadata":{"exit_code":0}}`,
		"exec_command@0 failed Chunk ID: 1\nProcess exited with code 1\nOutput:\nProcess exited with code 0",
		"mcp__s__t@1 failed bad",
		"apply_patch@2 ok Exit code: 0\nWall time: 1\nOutput:\nok",
		"local_shell@3 ok a",
		"web_search@4 ok ",
		"shell@4 unknown -",
	})
	formattest.WantLines(t, "messages", formattest.Sayings(x), []string{
		"system@0 be brief", "system@0 <environment_context>cwd</environment_context>", "user@0 do it", "user@5 go on", "system@5 so far",
	})
	if len(x.Turns) != 6 || x.Turns[0].Usage != (trace.Usage{Known: true, Input: 10, CachedInput: 1, Output: 5, Reasoning: 2}) || x.Turns[1].Usage.Input != 20 || x.Turns[2].Usage.Known {
		t.Errorf("turns are %+v", x.Turns)
	}
	if x.Turns[0].Text.Text() != "looking" || x.Turns[0].Thought.Text() != "hm" || x.Turns[5].Text.Text() != "done" {
		t.Errorf("text %q, thought %q", x.Turns[0].Text.Text(), x.Turns[0].Thought.Text())
	}
	if x.ID != "child" || x.Parent.Trajectory != "parent" || x.Model != "gpt-x" || x.Agent != "codex" || len(x.Tools) != 1 {
		t.Errorf("id %q, parent %+v, model %q, agent %q, %d tools", x.ID, x.Parent, x.Model, x.Agent, len(x.Tools))
	}
	anomalies := fmt.Sprint(x.Anomalies.ByCode)
	if want := "map[branch-abandoned:2 result-orphan:1 turn-aborted:1]"; anomalies != want {
		t.Errorf("anomalies are %s, want %s", anomalies, want)
	}
}

// TestCodexFork reads a session with the history of another, which counts once.
// TestCodexCountsBefore: until version 0.101 the counts of a response stood before it.
func TestCodexCountsBefore(t *testing.T) {
	got := formattest.ReadText(t, "old.jsonl",
		`{"timestamp":"2025-11-02T10:00:00Z","type":"session_meta","payload":{"id":"old","cli_version":"0.63.0"}}`,
		codexUser(1, "do it"),
		codexCount(100, 11, 111),
		codexItemLine(2, `{"type":"reasoning","summary":[]}`),
		codexCall(2, "c1", "shell"),
		codexResult(3, "c1", `"Exit code: 0\nWall time: 0.1 seconds\nOutput:\nok"`),
		codexCount(200, 22, 333),
		codexCall(4, "c2", "shell"),
		codexResult(5, "c2", `"Exit code: 2\nWall time: 0.1 seconds\nOutput:\nno"`),
		codexCount(200, 22, 333), // again, with news about limits
		codexCount(300, 33, 666),
		codexItemLine(6, `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"done"}]}`),
	)
	x := got[0]
	var usage []int64
	for _, turn := range x.Turns {
		usage = append(usage, turn.Usage.Input, turn.Usage.Output)
	}
	if !slices.Equal(usage, []int64{100, 11, 200, 22, 300, 33}) || len(x.Anomalies.ByCode) > 0 {
		t.Errorf("counts %v, anomalies %v", usage, x.Anomalies.ByCode)
	}
}

// TestCodexStatedStatuses: what the file says about how a call ended.
func TestCodexStatedStatuses(t *testing.T) {
	output := func(id, text string) string {
		return codexItemLine(3, fmt.Sprintf(`{"type":"custom_tool_call_output","call_id":%q,"output":[{"type":"input_text","text":%q},{"type":"input_text","text":"more"}]}`, id, text))
	}
	custom := func(id string) string {
		return codexItemLine(2, fmt.Sprintf(`{"type":"custom_tool_call","name":"exec","input":"tools.exec_command()","call_id":%q}`, id))
	}
	got := formattest.ReadText(t, "statuses.jsonl",
		`{"timestamp":"2026-05-02T10:00:00Z","type":"session_meta","payload":{"id":"s"}}`,
		codexUser(1, "do it"),
		custom("a"), output("a", "Script completed\nWall time 0.3 seconds\nOutput:\n"),
		custom("b"), output("b", "Script failed\nWall time 0.1 seconds\nOutput:\n"),
		custom("c"), output("c", "Script running with cell ID 7\nWall time 1.0 seconds\nOutput:\n"),
		codexCall(4, "d", "exec_command"),
		codexEvent(`{"type":"exec_command_end","call_id":"d","exit_code":3,"aggregated_output":"no such file"}`),
		codexCall(5, "e", "exec_command"), codexResult(5, "e", `"Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nProcess exited with code 1"`),
	)
	formattest.WantLines(t, "calls", formattest.Brief(got[0]), []string{
		"exec@0 ok Script completed\nWall time 0.3 seconds\nOutput:\n\nmore",
		"exec@1 failed Script failed\nWall time 0.1 seconds\nOutput:\n\nmore",
		"exec@2 unknown Script running with cell ID 7\nWall time 1.0 seconds\nOutput:\n\nmore",
		"exec_command@3 failed no such file",
		"exec_command@3 ok Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nProcess exited with code 1",
	})
	if len(got[0].Anomalies.ByCode) > 0 {
		t.Errorf("anomalies %v", got[0].Anomalies.ByCode)
	}
}

func TestCodexFork(t *testing.T) {
	meta := func(id, rest string) string {
		return fmt.Sprintf(`{"timestamp":"2026-01-02T10:00:00Z","type":"session_meta","payload":{"id":%q%s}}`, id, rest)
	}
	start := func(turn string) string {
		return codexEvent(fmt.Sprintf(`{"type":"task_started","turn_id":%q}`, turn))
	}
	const old, fork = "019efa28-63ad-76a2-8e9b-8a653170604e", "019efb00-63ad-76a2-8e9b-8a653170604e"
	history := []string{start("019efa28-8941-7810-bbb6-c196f1cad4c0"), codexUser(1, "first"), codexCall(2, "a", "shell"), codexResult(3, "a", `"x"`)}
	got := formattest.ReadText(t, "fork.jsonl", slices.Concat([]string{meta(fork, `,"forked_from_id":"`+old+`"`), meta(old, "")}, history,
		[]string{start("019efb00-8941-7810-bbb6-c196f1cad4c0"), codexUser(4, "second"), codexCall(5, "b", "shell")})...)
	if len(got) != 1 || got[0].ID != fork || len(got[0].Calls) != 1 || len(got[0].Messages) != 1 || got[0].Anomalies.ByCode[build.CodeLineCopied] != 5 {
		t.Errorf("got %s", formattest.Depict(got[0]))
	}
}

// TestCodexBare reads a file of the first versions, without envelopes.
func TestCodexBare(t *testing.T) {
	got := formattest.ReadText(t, "bare.jsonl",
		`{"id":"s","timestamp":"2025-05-02T10:00:00Z","instructions":"be brief","git":{}}`,
		`{"record_type":"state"}`,
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"do it"}]}`,
		`{"type":"function_call","name":"shell","arguments":"{}","call_id":"1"}`,
		`{"type":"function_call_output","call_id":"1","output":"x"}`,
		`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"done"}]}`)
	if len(got) != 1 || got[0].Format != "codex" || got[0].ID != "s" || len(got[0].Calls) != 1 || len(got[0].Turns) != 2 {
		t.Fatalf("got %d trajectories", len(got))
	}
}

// TestCodexRecorded: by hand, reasoning, text and a call; a call; a text.
func TestCodexRecorded(t *testing.T) {
	got := formattest.ReadFiles(t, recordings.Recorded(t, "formats/codex-rollout/codex-rollout.sample.jsonl"))
	if len(got) != 1 {
		t.Fatalf("%d trajectories, want 1", len(got))
	}
	x := got[0]
	formattest.RoundTrip(t, x)
	input, output := int64(0), int64(0)
	for _, turn := range x.Turns {
		input, output = input+turn.Usage.Input, output+turn.Usage.Output
	}
	if len(x.Turns) != 3 || len(x.Calls) != 2 || len(x.Messages) != 2 || input != 82056 || output != 340 || x.Model != "gpt-5.5" {
		t.Errorf("%d turns, %d calls, %d messages, %d and %d tokens, model %q", len(x.Turns), len(x.Calls), len(x.Messages), input, output, x.Model)
	}
	for _, c := range x.Calls {
		if c.Status != trace.StatusOK || c.Tool.Value() != "exec_command" {
			t.Errorf("call %+v", c)
		}
	}
}

func FuzzCodex(f *testing.F) {
	formattest.FuzzLines(f, &codex.Format,
		strings.Join([]string{codexUser(1, "u"), codexCall(2, "a", "f"), codexResult(3, "a", `"Exit code: 1\n"`), codexCount(1, 2, 3), codexEvent(`{"type":"thread_rolled_back","num_turns":1}`)}, "\n"),
		`{"type":"session_meta","payload":{"id":"b","forked_from_id":"a"}}`+"\n"+`{"type":"turn_context","payload":{"turn_id":"c","model":"m"}}`,
		`{"id":"s","timestamp":"x","instructions":"i"}`+"\n"+`{"type":"web_search_call","status":"failed"}`)
}
