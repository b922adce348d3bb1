package formats_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/testdata/formattest"
)

// step is a span of a run that is exported in two formats.
type step struct {
	id, parent, kind, name string
	start, end             int      // seconds
	asked                  []string // messages, each "role text", "call id tool {args}" or "result id text"
	said                   string   // the same, of the response
	id2                    string   // of a call
	args, result, failure  string
	in, out                int // tokens
}

// run is a run in which a request goes on from the one before, one rewrites what was
// said, two calls are made at once, one of them fails, and one starts a sub-agent.
var run = []step{
	{id: "a000000000000001", kind: "agent", name: "clerk", start: 0, end: 30},
	{id: "a000000000000002", parent: "a000000000000001", kind: "model", start: 1, end: 2, asked: []string{"system S.", "user find both"}, said: `call c1 get {"n":1}|call c2 get {"n":2}`, in: 10, out: 2},
	{id: "a000000000000003", parent: "a000000000000001", kind: "tool", name: "get", start: 3, end: 4, id2: "c1", args: `{"n":1}`, result: "one"},
	{id: "a000000000000004", parent: "a000000000000001", kind: "tool", name: "get", start: 3, end: 5, id2: "c2", args: `{"n":2}`, failure: "no such row"},
	{
		id: "a000000000000005", parent: "a000000000000001", kind: "model", start: 6, end: 7, in: 20, out: 3,
		asked: []string{"system S.", "user find both", `call c1 get {"n":1}|call c2 get {"n":2}`, "result c1 one", "result c2 no such row"}, said: `call c3 ask {"q":"two?"}`,
	},
	{id: "a000000000000006", parent: "a000000000000001", kind: "tool", name: "ask", start: 8, end: 15, id2: "c3", args: `{"q":"two?"}`, result: "it is 2"},
	{id: "a000000000000007", parent: "a000000000000006", kind: "agent", name: "helper", start: 9, end: 14},
	{id: "a000000000000008", parent: "a000000000000007", kind: "model", start: 10, end: 11, asked: []string{"system H.", "user two?"}, said: "assistant it is 2", in: 5, out: 1},
	{
		id: "a000000000000009", parent: "a000000000000001", kind: "model", start: 16, end: 17, in: 12, out: 4,
		asked: []string{"system S.", "user In short: one row was found.", `call c3 ask {"q":"two?"}`, "result c3 it is 2", "user so?"}, said: "assistant 1 and 2",
	},
}

// TestTwoExports holds that a run that was exported by two instrumentations, to two
// platforms, in two forms of messages, is read as the same trajectories.
func TestTwoExports(t *testing.T) {
	folder := t.TempDir()
	read := func(name, format, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return formattest.DepictAll(formattest.ReadFile(t, path, format, trace.Options{}))
	}
	otlp := read("otlp.jsonl", "otlp", asOTLP(run))
	langfuse := read("langfuse.json", "langfuse", asLangfuse(run))
	langsmith := read("langsmith.jsonl", "langsmith", asLangSmith(run))
	if otlp != langfuse {
		t.Errorf("OpenTelemetry:\n%s\nLangfuse:\n%s", otlp, langfuse)
	}
	// LangSmith has no runs of agents: the names and times of those are not known.
	if bare := withoutAgents(otlp); bare != withoutAgents(langsmith) {
		t.Errorf("OpenTelemetry:\n%s\nLangSmith:\n%s", bare, withoutAgents(langsmith))
	}
	if n := strings.Count(otlp, "\nturn "); n != 4 || strings.Count(otlp, "id ") < 2 || !strings.Contains(otlp, "history-changed 1") {
		t.Errorf("got\n%s", otlp)
	}
}

func withoutAgents(depicted string) string {
	var kept []string
	for line := range strings.Lines(depicted) {
		word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "id", "agent", "start", "end":
		default:
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

func at(seconds int) time.Time {
	return time.Date(2026, 1, 2, 10, 0, seconds, 0, time.UTC)
}

func mustJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

type object = map[string]any

// asOTLP writes a run as the spans of OpenTelemetry's conventions, whose messages
// have parts.
func asOTLP(run []step) string {
	part := func(text string) (role string, p object) {
		role, rest, _ := strings.Cut(text, " ")
		switch role {
		case "call":
			f := strings.SplitN(rest, " ", 3)
			return "assistant", object{"type": "tool_call", "id": f[0], "name": f[1], "arguments": json.RawMessage(f[2])}
		case "result":
			id, text, _ := strings.Cut(rest, " ")
			return "tool", object{"type": "tool_call_response", "id": id, "response": text}
		}
		return role, object{"type": "text", "content": rest}
	}
	message := func(text string) object {
		var parts []object
		role := ""
		for _, one := range strings.Split(text, "|") {
			r, p := part(one)
			role, parts = r, append(parts, p)
		}
		return object{"role": role, "parts": parts}
	}
	var spans []object
	for _, s := range run {
		var attributes []object
		set := func(name, value string) {
			attributes = append(attributes, object{"key": name, "value": object{"stringValue": value}})
		}
		status := object{}
		switch s.kind {
		case "agent":
			set("gen_ai.operation.name", "invoke_agent")
			set("gen_ai.agent.name", s.name)
		case "model":
			set("gen_ai.operation.name", "chat")
			set("gen_ai.response.model", "m")
			var asked []object
			for _, text := range s.asked {
				asked = append(asked, message(text))
			}
			set("gen_ai.input.messages", mustJSON(asked))
			set("gen_ai.output.messages", mustJSON([]object{message(s.said)}))
			set("gen_ai.usage.input_tokens", fmt.Sprint(s.in))
			set("gen_ai.usage.output_tokens", fmt.Sprint(s.out))
		case "tool":
			set("gen_ai.operation.name", "execute_tool")
			set("gen_ai.tool.name", s.name)
			set("gen_ai.tool.call.id", s.id2)
			set("gen_ai.tool.call.arguments", s.args)
			if s.failure != "" {
				status = object{"code": 2, "message": s.failure}
			} else {
				set("gen_ai.tool.call.result", s.result)
			}
		}
		spans = append(spans, object{
			"traceId": "0af7651916cd43dd8448eb211c80319c", "spanId": s.id, "parentSpanId": s.parent, "name": s.name, "attributes": attributes, "status": status,
			"startTimeUnixNano": fmt.Sprint(at(s.start).UnixNano()), "endTimeUnixNano": fmt.Sprint(at(s.end).UnixNano()),
		})
	}
	return mustJSON(object{"resourceSpans": []object{{"scopeSpans": []object{{"spans": spans}}}}})
}

// chatMessage writes a message as OpenAI's chat completions have it.
func chatMessage(text string) object {
	var calls []object
	for _, one := range strings.Split(text, "|") {
		role, rest, _ := strings.Cut(one, " ")
		switch role {
		case "call":
			f := strings.SplitN(rest, " ", 3)
			calls = append(calls, object{"id": f[0], "type": "function", "function": object{"name": f[1], "arguments": f[2]}})
		case "result":
			id, text, _ := strings.Cut(rest, " ")
			return object{"role": "tool", "tool_call_id": id, "content": text}
		default:
			return object{"role": role, "content": rest}
		}
	}
	return object{"role": "assistant", "content": nil, "tool_calls": calls}
}

func chatMessages(texts []string) (out []object) {
	for _, text := range texts {
		out = append(out, chatMessage(text))
	}
	return out
}

// asLangfuse writes a run as an export of Langfuse, whose messages are OpenAI's.
func asLangfuse(run []step) string {
	id := "0af7651916cd43dd8448eb211c80319c"
	var observations []object
	for _, s := range run {
		o := object{
			"id": s.id, "traceId": id, "parentObservationId": s.parent, "name": s.name, "level": "DEFAULT",
			"startTime": at(s.start).Format(time.RFC3339), "endTime": at(s.end).Format(time.RFC3339),
		}
		switch s.kind {
		case "agent":
			o["type"] = "AGENT"
		case "model":
			o["type"], o["model"] = "GENERATION", "m"
			o["input"], o["output"] = chatMessages(s.asked), chatMessage(s.said)
			o["usageDetails"] = object{"input": s.in, "output": s.out, "total": s.in + s.out}
		case "tool":
			o["type"], o["input"] = "TOOL", json.RawMessage(s.args)
			o["metadata"] = object{"attributes": object{"gen_ai.tool.call.id": s.id2, "gen_ai.tool.name": s.name}}
			if s.failure != "" {
				o["level"], o["statusMessage"] = "ERROR", s.failure
			} else {
				o["output"] = s.result
			}
		}
		observations = append(observations, o)
	}
	return mustJSON(object{"trace": object{"id": id}, "observations": observations})
}

// asLangSmith writes a run as runs of LangSmith.
func asLangSmith(run []step) string {
	var lines []string
	for _, s := range run {
		r := object{
			"id": s.id, "trace_id": "0af7651916cd43dd8448eb211c80319c", "parent_run_id": s.parent, "name": s.name, "run_type": "chain", "status": "success",
			"start_time": at(s.start).Format(time.RFC3339), "end_time": at(s.end).Format(time.RFC3339),
		}
		switch s.kind {
		case "model":
			r["run_type"] = "llm"
			r["inputs"], r["outputs"] = object{"messages": chatMessages(s.asked)}, object{"choices": []object{{"message": chatMessage(s.said)}}}
			r["prompt_tokens"], r["completion_tokens"] = s.in, s.out
			r["extra"] = object{"metadata": object{"ls_model_name": "m"}}
		case "tool":
			r["run_type"], r["inputs"] = "tool", object{"input": s.args}
			if s.failure != "" {
				r["status"], r["error"] = "error", s.failure
			} else {
				r["outputs"] = object{"output": object{"type": "tool", "tool_call_id": s.id2, "content": s.result}}
			}
		}
		lines = append(lines, mustJSON(r))
	}
	return strings.Join(lines, "\n")
}
