package openai_test

import (
	"strings"
	"testing"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/atif"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/openai"
	"github.com/awo-dev/awo/trace/formats/testdata/formattest"
)

func TestOpenAIChat(t *testing.T) {
	for _, test := range []struct{ name, record, want string }{
		{
			"fine-tuning line",
			`{"messages": [
				{"role": "system", "content": "Be brief."},
				{"role": "developer", "content": [{"type": "text", "text": "Be kind."}]},
				{"role": "user", "content": "Weather in \"Paris\"?"},
				{"role": "assistant", "content": null, "weight": 1, "tool_calls": [
					{"id": "1", "type": "function", "function": {"name": "weather", "arguments": "{\"city\": \"Paris\", \"unit\": \"C\"}"}},
					{"id": "2", "type": "function", "function": {"name": "time", "arguments": "{}"}}]},
				{"role": "tool", "tool_call_id": "2", "content": "noon"},
				{"role": "tool", "tool_call_id": "1", "content": [{"type": "text", "text": "{\"deg\": 21}"}]},
				{"role": "assistant", "content": "21 degrees.", "reasoning_content": "Easy."}
			], "tools": [{"type": "function", "function": {"name": "weather", "description": "d", "parameters": {"type": "object"}, "strict": true}}],
			"parallel_tool_calls": true}`,
			`tool weather description "d" input json:{"type":"object"}
			turn 0 calls 0+2
			turn 1 calls 2+0 text "21 degrees." thought "Easy."
			message 1 at 0/0 text "Be brief."
			message 1 at 0/0 text parts:"Be kind."
			message 0 at 0/0 text "Weather in \"Paris\"?"
			call 1 weather turn 0 {"city":"Paris","unit":"C"} result parts:"{\"deg\": 21}" = {"deg":21}
			call 2 time turn 0 {} result "noon" = "noon"`,
		},
		{
			"bare list",
			`[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}]`,
			`turn 0 calls 0+0 text "b"
			message 0 at 0/0 text "a"
			message 0 at 1/0 text "c"`,
		},
		{
			"request and response",
			`{"request": {"model": "gpt-4o", "messages": [{"role": "user", "content": "a"}], "tools": null},
			  "response": {"id": "chatcmpl-1", "object": "chat.completion", "created": 1719875141, "model": "gpt-4o-2024-08-06", "choices": [
				{"index": 0, "message": {"role": "assistant", "content": null, "refusal": "No."}, "finish_reason": "stop"},
				{"index": 1, "message": {"role": "assistant", "content": "other"}}],
				"usage": {"prompt_tokens": 40, "completion_tokens": 12, "total_tokens": 52, "prompt_tokens_details": {"cached_tokens": 30}, "completion_tokens_details": {"reasoning_tokens": 5}}}}`,
			`id chatcmpl-1
			model gpt-4o-2024-08-06
			turn 0 calls 0+0 tokens 40 (cached 30, written 0) 12 (thought 5) end 2024-07-01T23:05:41Z text "No."
			message 0 at 0/0 text "a"
			anomaly choice-ignored 1`,
		},
		{
			"response before the request",
			`{"response": {"choices": [{"message": {"role": "assistant", "content": "b"}}]}, "request": {"model": "m", "messages": [{"role": "user", "content": "a"}]}}`,
			`model m
			turn 0 calls 0+0 text "b"
			message 0 at 0/0 text "a"`,
		},
		{
			"request and response as text",
			`{"request": "{\"model\": \"m\", \"messages\": [{\"role\": \"user\", \"content\": \"a\"}]}", "response": "{\"choices\": [{\"message\": {\"role\": \"assistant\", \"content\": \"b\\n\"}}], \"usage\": {\"prompt_tokens\": 3, \"completion_tokens\": 4}}"}`,
			`model m
			turn 0 calls 0+0 tokens 3 (cached 0, written 0) 4 (thought 0) text "b\n"
			message 0 at 0/0 text "a"`,
		},
		{
			"bodies",
			`{"request": {"url": "/v1/chat/completions", "body": {"model": "m", "messages": [{"role": "user", "content": "a"}]}}, "response": {"status_code": 200, "body": {"choices": [{"message": {"role": "assistant", "content": "b"}}]}}}`,
			`model m
			turn 0 calls 0+0 text "b"
			message 0 at 0/0 text "a"`,
		},
		{
			"legacy functions",
			`{"messages": [{"role": "user", "content": "a"},
				{"role": "assistant", "content": null, "function_call": {"name": "f", "arguments": "{\"x\":1}"}},
				{"role": "function", "name": "f", "content": "one"},
				{"role": "user", "content": "more"},
				{"role": "assistant", "content": "ok", "function_call": {"name": "f", "arguments": "{\"x\":2}"}},
				{"role": "function", "name": "f", "content": "two"},
				{"role": "function", "name": "g", "content": "nobody asked"}],
			  "functions": [{"name": "f", "parameters": {}}]}`,
			`tool f input json:{}
			turn 0 calls 0+1
			turn 1 calls 1+1 text "ok"
			message 0 at 0/0 text "a"
			message 0 at 1/1 text "more"
			call  f turn 0 {"x":1} result "one" = "one"
			call  f turn 1 {"x":2} result "two" = "two" after user true
			anomaly result-orphan 1`,
		},
		{
			"custom tools",
			`{"messages": [{"role": "assistant", "tool_calls": [{"id": "c", "type": "custom", "custom": {"name": "patch", "input": "*** Begin"}}]},
				{"role": "tool", "tool_call_id": "c", "content": "done"}],
			  "tools": [{"type": "custom", "custom": {"name": "patch", "description": "d"}}]}`,
			`tool patch description "d"
			turn 0 calls 0+1
			call c patch turn 0 no object {"_raw":"*** Begin"} result "done" = "done"`,
		},
		{
			"arguments of all kinds",
			`{"messages": [{"role": "assistant", "tool_calls": [
				{"id": "1", "function": {"name": "f", "arguments": "{\"a\":"}},
				{"id": "2", "function": {"name": "f", "arguments": "[1]"}},
				{"id": "3", "function": {"name": "f", "arguments": {"a": 1}}},
				{"id": "4", "function": {"name": "f"}},
				{"id": "5", "function": {"name": "f", "arguments": null}}]}]}`,
			`turn 0 calls 0+5
			call 1 f turn 0 no object {"_raw":"{\"a\":"}
			call 2 f turn 0 no object {"_value":[1]}
			call 3 f turn 0 {"a":1}
			call 4 f turn 0 args missing
			call 5 f turn 0 no object {"_value":null}
			anomaly args-not-json 1
			anomaly args-not-object 2`,
		},
		{
			"odd messages",
			`{"messages": [7, {"content": "whose?"}, {"role": "narrator", "content": "x"}, {"role": "user", "content": ""},
				{"role": "assistant", "content": "", "tool_calls": [{"id": "1", "function": {"arguments": "{}"}}, null]},
				{"role": "user", "role": "assistant", "content": "a", "content": "\ud800"},
				{"role": "tool", "tool_call_id": "9", "content": "x"}]}`,
			`turn 0 calls 0+0
			turn 1 calls 0+0 text "` + "\ufffd" + `"
			message 0 at 0/0
			anomaly call-unnamed 1
			anomaly key-duplicate 2
			anomaly message-role 1
			anomaly message-shape 3
			anomaly result-orphan 1
			anomaly surrogate-lone 1`,
		},
		{"empty", `{"messages": []}`, ``},
		{
			"messages twice",
			`{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]}], "messages": [{"role": "user", "content": "b"}]}`,
			`message 0 at 0/0 text "b"
			anomaly key-duplicate 1`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			formattest.WantDescription(t, formattest.DecodeOne(t, &openai.Chat, test.record), test.want)
		})
	}
}

func TestTauBench(t *testing.T) {
	record := `{"task_id": 7, "trial": 2, "reward": REWARD, "info": {"task": {"user_id": "u", "actions": []}}, "traj": [
		{"role": "system", "content": "policy"}, {"role": "user", "content": "cancel"},
		{"content": null, "role": "assistant", "tool_calls": [{"function": {"arguments": "{\"id\":\"R1\"}", "name": "cancel"}, "id": "c", "type": "function"}]},
		{"role": "tool", "tool_call_id": "c", "name": "cancel", "content": "Error: no"},
		{"role": "user", "content": "###STOP###"}]}`
	for reward, outcome := range map[string]string{
		"1.0": "outcome success\nscore 1", "1": "outcome success\nscore 1", "0.9999999": "outcome success\nscore 0.9999999", "0.0": "outcome failure\nscore 0", "0.5": "outcome failure\nscore 0.5",
		"-1": "outcome failure\nscore -1", "2": "score 2", "null": "", `"1"`: "",
	} {
		formattest.WantDescription(t, formattest.DecodeOne(t, formattest.Format("tau-bench"), strings.Replace(record, "REWARD", reward, 1)), `id 7/2
			task 7
			trial 2
			`+outcome+`
			turn 0 calls 0+1
			message 1 at 0/0 text "policy"
			message 0 at 0/0 text "cancel"
			message 0 at 1/1 text "###STOP###"
			call c cancel turn 0 {"id":"R1"} result "Error: no" = "Error: no"`)
	}
}

func TestTau2(t *testing.T) {
	document := `{"timestamp": "2025-12-02T14:04:15", "info": {
		"agent_info": {"implementation": "llm_agent", "llm": "gpt-4.1", "llm_args": {"api_key": "planted-key"}},
		"environment_info": {"domain_name": "airline", "policy": "p", "tool_defs": {"f": {"description": "d", "parameters": {"type": "object"}}, "g": {"name": "g"}}}},
	 "tasks": [{"id": "0"}],
	 "simulations": [
	  {"id": "s1", "task_id": "0", "trial": 1, "start_time": "2025-12-02T14:04:00.5", "end_time": "2025-12-02T14:05:00", "reward_info": {"reward": 1.0}, "messages": [
		{"role": "assistant", "content": "Hi! How can I help?", "tool_calls": null, "cost": 0.0, "usage": null},
		{"role": "user", "content": "cancel", "timestamp": "2025-12-02T14:04:01", "usage": {"prompt_tokens": 9}},
		{"role": "assistant", "content": null, "timestamp": "2025-12-02T14:04:02", "cost": 0.25, "usage": {"completion_tokens": 20, "prompt_tokens": 417},
			"raw_data": {"message": {"reasoning_content": "hm", "content": null}},
			"tool_calls": [{"id": "1", "name": "f", "arguments": {"b": 1.0, "a": "x"}, "requestor": "assistant"}, {"id": "2", "name": "g", "arguments": {}}]},
		{"role": "tool", "tool_messages": [
			{"role": "tool", "id": "1", "content": "{\"ok\": true}", "error": false, "requestor": "assistant", "timestamp": "2025-12-02T14:04:03"},
			{"role": "tool", "id": "2", "content": "Error: x", "error": true, "requestor": "assistant"}]},
		{"role": "user", "content": null, "tool_calls": [{"id": "u", "name": "reboot", "arguments": {}, "requestor": "user"}]},
		{"role": "tool", "id": "u", "content": "done", "requestor": "user", "error": false},
		{"role": "assistant", "content": "again", "reasoning": "why", "tool_calls": [{"id": "1", "name": "f", "arguments": {}, "requestor": "assistant"}]},
		{"role": "tool", "id": "1", "content": "last", "requestor": "assistant"},
		{"role": "user", "content": "###STOP###", "tool_calls": null}]},
	  {"id": "s2", "task_id": 1, "messages": [
		{"role": "assistant", "content": "", "tool_calls": [{"id": "1", "name": "f", "arguments": {}}]},
		{"role": "tool", "id": "1", "content": "r"},
		{"role": "assistant", "content": "done"}]}],
	 "more": {}}`
	for _, container := range []trace.Container{trace.ContainerDocument, trace.ContainerLines} {
		trajectories := formattest.DecodeAll(t, formattest.Format("tau2"), []byte(document), container)
		if len(trajectories) != 2 {
			t.Fatalf("%d trajectories", len(trajectories))
		}
		head := `agent llm_agent
			model gpt-4.1
			`
		tools := `tool f description "d" input json:{"type":"object"}
			tool g
			`
		formattest.WantDescription(t, trajectories[0], `id s1
			task airline/0
			trial 1
			`+head+`outcome success
			score 1
			start 2025-12-02T14:04:00.5Z
			end 2025-12-02T14:05:00Z
			`+tools+`turn 0 calls 0+2 tokens 417 (cached 0, written 0) 20 (thought 0) cost 0.25 end 2025-12-02T14:04:02Z thought "hm"
			turn 1 calls 2+1 text "again" thought "why"
			message 0 at 0/0 time 2025-12-02T14:04:01Z text "cancel"
			message 0 at 2/3 text "###STOP###"
			call 1 f turn 0 {"a":"x","b":1.0} result "{\"ok\": true}" = {"ok":true} status ok end 2025-12-02T14:04:03Z
			call 2 g turn 0 {} result "Error: x" = "Error: x" status failed
			call 1 f turn 1 {} result "last" = "last"
			anomaly call-id-repeated 1`)
		formattest.WantDescription(t, trajectories[1], `id s2
			task airline/1
			`+head+tools+`turn 0 calls 0+1
			turn 1 calls 1+0 text "done"
			call 1 f turn 0 {} result "r" = "r"`)
		for _, tr := range trajectories {
			if strings.Contains(formattest.Depict(tr), "planted-key") {
				t.Error("a credential of the model has been read")
			}
		}
	}
}

// TestGreeting is about what is said before the user says anything.
func TestGreeting(t *testing.T) {
	said := func(role string) string { return `{"role": "` + role + `", "content": "x"}` }
	called := `{"role": "assistant", "tool_calls": [{"id": "1", "name": "f", "arguments": {}}]}`
	for _, test := range []struct {
		messages []string
		turns    int
	}{
		{[]string{said("assistant"), said("user"), said("assistant")}, 1},
		{[]string{said("system"), said("assistant"), said("assistant"), said("user")}, 0},
		{[]string{said("user"), said("assistant"), said("user"), said("assistant")}, 2},
		{[]string{called, said("user"), said("assistant")}, 2},
		{[]string{said("assistant"), called, said("assistant")}, 3}, // without a user there is no greeting
	} {
		tr := formattest.DecodeOne(t, formattest.Format("tau2"), `{"messages": [`+strings.Join(test.messages, ",")+`]}`)
		if len(tr.Turns) != test.turns {
			t.Errorf("%v: %d turns, want %d", test.messages, len(tr.Turns), test.turns)
		}
		for _, m := range tr.Messages {
			if m.Turn > len(tr.Turns) {
				t.Errorf("%v: a message behind turn %d", test.messages, m.Turn)
			}
		}
	}
}

func TestRecordProblems(t *testing.T) {
	for _, test := range []struct {
		format *trace.Format
		record string
		code   string
		pos    diag.Pos
	}{
		{&openai.Chat, `{"messages": [{"role": "user", "content": "secret}]}`, "json-truncated", diag.Pos{File: "f", Line: 3, Col: 53}},
		{&openai.Chat, "{\"messages\": [\n {\"role\": user}]}", "json-syntax", diag.Pos{File: "f", Line: 4, Col: 11}},
		{&openai.Chat, `{"messages": [{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "\q"}}]}]}`, "json-escape", diag.Pos{File: "f", Line: 3, Col: 94}},
		{&openai.Chat, `{"prompt": "secret"}`, build.CodeRecordShape, diag.Pos{File: "f", Line: 3, Col: 1}},
		{&openai.Chat, `"secret"`, build.CodeRecordShape, diag.Pos{File: "f", Line: 3, Col: 1}},
		{&openai.Chat, `{"messages": "secret"}`, build.CodeRecordShape, diag.Pos{File: "f", Line: 3, Col: 1}},
		{formattest.Format("tau-bench"), `{"task_id": 1, "reward": 1}`, build.CodeRecordShape, diag.Pos{File: "f", Line: 3, Col: 1}},
		{formattest.Format("tau-bench"), `{"task_id": 01}`, "json-number", diag.Pos{File: "f", Line: 3, Col: 14}},
		{formattest.Format("tau2"), `{"id": "x", "messages": null}`, build.CodeRecordShape, diag.Pos{File: "f", Line: 3, Col: 1}},
		{formattest.Format("tau2"), `{"messages": []} x`, "json-trailing", diag.Pos{File: "f", Line: 3, Col: 18}},
		{&atif.Format, `{"schema_version": "ATIF-v1.7"}`, build.CodeRecordShape, diag.Pos{File: "f", Line: 3, Col: 1}},
		{&atif.Format, `{"steps": []}`, build.CodeRecordShape, diag.Pos{File: "f", Line: 3, Col: 1}},
		{&atif.Format, `{"schema_version": "2", "steps": []}`, build.CodeRecordShape, diag.Pos{File: "f", Line: 3, Col: 1}},
		{&atif.Format, `[1]`, build.CodeRecordShape, diag.Pos{File: "f", Line: 3, Col: 1}},
		{&atif.Format, "{\"schema_version\": \"ATIF-v1.7\", \"steps\": [\"\xff\"]}", "json-utf8", diag.Pos{File: "f", Line: 3, Col: 44}},
		{&atif.Format, `{"schema_version": "ATIF-v1.7", "steps": ` + strings.Repeat("[", 1200), "json-depth", diag.Pos{File: "f", Line: 3, Col: 1041}},
	} {
		problem := formattest.DecodeError(t, test.format, test.record)
		if problem.Code != test.code || problem.Pos != test.pos {
			t.Errorf("%s: %.60s: %s at %v, want %s at %v", test.format.Name, test.record, problem.Code, problem.Pos, test.code, test.pos)
		}
		if strings.Contains(problem.Error(), "secret") {
			t.Errorf("the message shows a value: %v", problem)
		}
	}
}
