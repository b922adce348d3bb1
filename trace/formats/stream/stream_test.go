package stream_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats"
	"github.com/awo-dev/awo/trace/formats/stream"
	"github.com/awo-dev/awo/trace/formats/testdata/formattest"
)

func chatEnd(id string) []string {
	return []string{
		fmt.Sprintf(`{"id":%q,"object":"chat.completion.chunk","model":"gpt-x","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}],"usage":null}`, id),
		fmt.Sprintf(`{"id":%q,"object":"chat.completion.chunk","model":"gpt-x","choices":[],"usage":{"prompt_tokens":30,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":10}}}`, id),
	}
}

// chatStreamSeed is a completion with two parallel calls whose arguments come in
// pieces that alternate, and an answer.
func chatStreamSeed() string {
	first := []string{
		`{"id":"","object":"","model":"","choices":[],"prompt_filter_results":[]}`,
		formattest.Chunk("c1", `{"role":"assistant","content":""}`),
		formattest.Chunk("c1", `{"content":"loo"}`), formattest.Chunk("c1", `{"content":"k \ud83d"}`), formattest.Chunk("c1", `{"content":"\ude00"}`),
		formattest.Chunk("c1", `{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"find","arguments":""}}]}`),
		formattest.Chunk("c1", `{"tool_calls":[{"index":0,"function":{"arguments":"{\"q"}}]}`),
		formattest.Chunk("c1", `{"tool_calls":[{"index":1,"id":"b","type":"function","function":{"name":"open","arguments":"{\"n\""}}]}`),
		formattest.Chunk("c1", `{"tool_calls":[{"index":0,"function":{"arguments":"\":\"\\u00"}},{"index":1,"function":{"arguments":":2}"}}]}`),
		formattest.Chunk("c1", `{"tool_calls":[{"index":0,"function":{"arguments":"e9\"}"}}]}`),
		strings.Replace(formattest.Chunk("c1", `{"content":"another"}`), `"index":0`, `"index":1`, 1),
	}
	first = append(append(first, chatEnd("c1")...), "[DONE]")
	second := append([]string{formattest.Chunk("c2", `{"role":"assistant","content":"done"}`)}, chatEnd("c2")...)
	return ": a comment\nevent: message\nid: 1\n" + formattest.SSE(first...) + strings.ReplaceAll(formattest.SSE(second...), "\n", "\r\n")
}

// args writes the arguments of the calls of a trajectory.
func args(x *trace.Trajectory) (all []string) {
	for i := range x.Calls {
		c := &x.Calls[i]
		all = append(all, fmt.Sprintf("%s@%d %s %s", c.Tool.Value(), c.Turn, c.ID, c.AppendCanonicalArgs(nil)))
	}
	return all
}

func TestEventStreamChat(t *testing.T) {
	got := formattest.ReadText(t, "dump.txt", chatStreamSeed())
	if len(got) != 1 {
		t.Fatalf("%d trajectories, want 1", len(got))
	}
	x := got[0]
	formattest.WantLines(t, "calls", args(x), []string{`find@0 a {"q":"é"}`, `open@0 b {"n":2}`})
	if len(x.Turns) != 2 || x.Turns[0].Usage != (trace.Usage{Known: true, Input: 30, CachedInput: 10, Output: 7}) || x.Turns[0].Text.Text() != "look 😀" || x.Turns[1].Text.Text() != "done" || x.Turns[1].Usage.Output != 7 {
		t.Errorf("turns are %+v", x.Turns)
	}
	if x.Format != "event-stream" || x.ID != "c1" || x.Model != "gpt-x" || formattest.Clock(x.Turns[0].End) != "2026-01-02T10:00:00Z" {
		t.Errorf("got\n%s", formattest.Depict(x))
	}
	// The call of find answered in a stream without requests has no result, and that is counted.
	if anomalies := fmt.Sprint(x.Anomalies.ByCode); anomalies != "map[choice-ignored:1 request-missing:2]" {
		t.Errorf("anomalies are %s", anomalies)
	}
}

// TestEventStreamChatTraps holds what servers do otherwise than OpenAI's.
func TestEventStreamChatTraps(t *testing.T) {
	call := func(piece string) string { return `{"tool_calls":[` + piece + `]}` }
	tests := []struct {
		name      string
		lines     []string
		calls     []string
		anomalies string
	}{
		{"every call has the index 0", []string{
			formattest.Chunk("c", call(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"n\":1}"}}`)),
			formattest.Chunk("c", call(`{"index":0,"id":"b","function":{"name":"f","arguments":"{\"n\":2}"}}`)),
			chatEnd("c")[0],
		}, []string{`f@0 a {"n":1}`, `f@0 b {"n":2}`}, "map[request-missing:1]"},
		{"no index, and the id and name in every piece", []string{
			formattest.Chunk("c", call(`{"id":"a","function":{"name":"f","arguments":"{\"n\":"}}`)),
			formattest.Chunk("c", call(`{"id":"a","function":{"name":"f","arguments":"1}"}}`)),
			formattest.Chunk("c", call(`{"id":"b","function":{"name":"g","arguments":"{}"}}`)),
			chatEnd("c")[0],
		}, []string{`f@0 a {"n":1}`, `g@0 b {}`}, "map[request-missing:1]"},
		{"the older call of a function, and a custom tool", []string{
			formattest.Chunk("c", `{"function_call":{"name":"f","arguments":"{\"n\""}}`), formattest.Chunk("c", `{"function_call":{"arguments":":1}"}}`),
			formattest.Chunk("c", call(`{"index":1,"id":"b","type":"custom","custom":{"name":"sh","input":"ls "}}`)),
			formattest.Chunk("c", call(`{"index":1,"custom":{"input":"-l"}}`)), "[DONE]",
		}, []string{`f@0  {"n":1}`, `sh@0 b {"_raw":"ls -l"}`}, "map[request-missing:1]"},
		{"it broke off inside a call", []string{
			formattest.Chunk("c", call(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"n\":1}"}}`)),
			formattest.Chunk("c", call(`{"index":1,"id":"b","function":{"name":"g","arguments":"{\"secret\":\"x"}}`)),
		}, []string{`f@0 a {"n":1}`}, "map[call-incomplete:1 request-missing:1 response-incomplete:1]"},
		{"it ended with neither a reason nor a mark, and another began", []string{
			formattest.Chunk("c", call(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`)),
			formattest.Chunk("d", call(`{"index":0,"id":"b","function":{"name":"g","arguments":"{}"}}`)), chatEnd("d")[0],
		}, []string{`f@0 a {}`, `g@1 b {}`}, "map[request-missing:2 response-incomplete:1]"},
		{"two that arrived mixed", []string{
			formattest.Chunk("c", call(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"n\""}}`)),
			formattest.Chunk("d", call(`{"index":0,"id":"b","function":{"name":"g","arguments":"{\"m\""}}`)),
			formattest.Chunk("c", call(`{"index":0,"function":{"arguments":":1}"}}`)),
			formattest.Chunk("d", call(`{"index":0,"function":{"arguments":":2}"}}`)),
			chatEnd("c")[0], chatEnd("d")[0], chatEnd("c")[1], chatEnd("d")[1],
		}, []string{`f@0 a {"n":1}`, `g@1 b {"m":2}`}, "map[request-missing:2]"},
		{"one id for all", []string{
			formattest.Chunk("c", call(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`)), chatEnd("c")[0], "[DONE]",
			formattest.Chunk("c", call(`{"index":0,"id":"b","function":{"name":"g","arguments":"{}"}}`)), chatEnd("c")[0], "[DONE]",
		}, []string{`f@0 a {}`, `g@1 b {}`}, "map[request-missing:2]"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for name, text := range map[string]string{"events": formattest.SSE(test.lines...), "no blank lines": strings.ReplaceAll(formattest.SSE(test.lines...), "\n\n", "\n"), "lines": strings.Join(test.lines, "\n")} {
				got := formattest.ReadText(t, "x", text)
				if len(got) != 1 {
					t.Fatalf("%s: %d trajectories, want 1", name, len(got))
				}
				formattest.WantLines(t, name+": calls", args(got[0]), test.calls)
				if anomalies := fmt.Sprint(got[0].Anomalies.ByCode); anomalies != test.anomalies {
					t.Errorf("%s: anomalies are %s, want %s", name, anomalies, test.anomalies)
				}
			}
		})
	}
}

func messageStreamSeed() string {
	return strings.Join([]string{
		`event: message_start`,
		`data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-x","content":[],"stop_reason":null,"usage":{"input_tokens":3,"cache_read_input_tokens":40,"cache_creation_input_tokens":7,"output_tokens":1}}}`, "",
		`event: ping`, `data: {"type":"ping"}`, "",
		`data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`, "",
		`data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}`, "",
		`data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"x"}}`, "",
		`data: {"type":"content_block_stop","index":0}`, "",
		`data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}`, "",
		`data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"lo"}}`, "",
		`data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"ok"}}`, "",
		`data: {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t1","name":"find","input":{}}}`, "",
		`data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":""}}`, "",
		`data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"q\": \"a"}}`, "",
		`data: {"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"t2","name":"list","input":{}}}`, "",
		`data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"\\n\"}"}}`, "",
		`data: {"type":"content_block_stop","index":2}`, "", `data: {"type":"content_block_stop","index":3}`, "",
		`data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":90}}`, "",
		`data: {"type":"message_stop"}`, "",
		// The next breaks off inside a call.
		`data: {"type":"message_start","message":{"id":"msg_2","type":"message","role":"assistant","model":"claude-x","content":[],"usage":{"input_tokens":5,"output_tokens":1}}}`, "",
		`data: {"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"s1","name":"web_search","input":{}}}`, "",
		`data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"query\":1}"}}`, "",
		`data: {"type":"content_block_stop","index":0}`, "",
		`data: {"type":"content_block_start","index":1,"content_block":{"type":"web_search_tool_result","tool_use_id":"s1","content":[{"type":"web_search_result","title":"x"}]}}`, "",
		`data: {"type":"content_block_stop","index":1}`, "",
		`data: {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t3","name":"write","input":{}}}`, "",
		`data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"pass"}}`, "",
		`event: error`, `data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, "",
	}, "\n")
}

func TestEventStreamMessages(t *testing.T) {
	got := formattest.ReadText(t, "dump.sse", messageStreamSeed())
	if len(got) != 1 {
		t.Fatalf("%d trajectories, want 1", len(got))
	}
	x := got[0]
	formattest.WantLines(t, "calls", args(x), []string{`find@0 t1 {"q":"a\n"}`, `list@0 t2 {}`, `web_search@1 s1 {"query":1}`})
	if len(x.Turns) != 2 || x.Turns[0].Usage != (trace.Usage{Known: true, Input: 50, CachedInput: 40, CacheWrite: 7, Output: 90}) || x.Turns[0].Text.Text() != "look" || x.Turns[0].Thought.Text() != "hm" || x.Turns[1].Usage.Output != 1 {
		t.Errorf("turns are %+v", x.Turns)
	}
	if x.ID != "msg_1" || x.Model != "claude-x" || x.Calls[2].Status != trace.StatusOK || fmt.Sprint(x.Anomalies.ByCode) != "map[call-incomplete:1 request-missing:2 response-incomplete:1]" {
		t.Errorf("got\n%s", formattest.Depict(x))
	}
}

func responseStreamSeed() string {
	item := `{"type":"function_call","id":"fc_%d","call_id":"call_%d","name":"find","arguments":"{\"n\":%d}","status":"completed"}`
	n := func(i int) string { return fmt.Sprintf(item, i, i, i) }
	return strings.Join([]string{
		`event: response.created`,
		`data: {"type":"response.created","response":{"id":"resp_1","object":"response","created_at":1767348000,"status":"in_progress","model":"gpt-x","output":[]}}`, "",
		`data: {"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"fc_1","call_id":"call_1","name":"find","arguments":""}}`, "",
		`data: {"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":0,"delta":"{\"n\""}`, "",
		`data: {"type":"response.output_item.done","output_index":0,"item":` + n(1) + `}`, "",
		`data: {"type":"response.output_item.done","output_index":1,"item":` + n(2) + `}`, "",
		`data: {"type":"response.completed","response":{"id":"resp_1","object":"response","created_at":1767348000,"status":"completed","model":"gpt-x","output":[` + n(1) + "," + n(2) + `],"usage":{"input_tokens":9,"output_tokens":4,"output_tokens_details":{"reasoning_tokens":1}}}}`, "",
		// It is gone on from: by one that breaks off.
		`data: {"type":"response.created","response":{"id":"resp_2","object":"response","created_at":1767348009,"status":"in_progress","previous_response_id":"resp_1","model":"gpt-x","output":[]}}`, "",
		`data: {"type":"response.output_item.done","output_index":0,"item":` + n(3) + `}`, "",
		`data: {"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","call_id":"call_4","name":"never","arguments":""}}`, "",
		`data: {"type":"response.function_call_arguments.delta","output_index":1,"delta":"{\"n"}`, "",
		// Another one's, with its items only while it was made.
		`data: {"type":"response.created","response":{"id":"resp_9","object":"response","created_at":1767348001,"status":"in_progress","model":"gpt-y","output":[]}}`, "",
		`data: {"type":"response.output_item.done","output_index":0,"item":` + n(7) + `}`, "",
		`data: {"type":"response.completed","response":{"id":"resp_9","object":"response","created_at":1767348001,"status":"completed","model":"gpt-y","output":[]}}`, "",
	}, "\n")
}

func TestEventStreamResponses(t *testing.T) {
	got := formattest.ReadText(t, "dump.sse", responseStreamSeed())
	if len(got) != 2 {
		t.Fatalf("%d trajectories, want 2", len(got))
	}
	x, y := got[0], got[1]
	formattest.WantLines(t, "calls", args(x), []string{`find@0 call_1 {"n":1}`, `find@0 call_2 {"n":2}`, `find@1 call_3 {"n":3}`})
	formattest.WantLines(t, "calls", args(y), []string{`find@0 call_7 {"n":7}`})
	if len(x.Turns) != 2 || x.Turns[0].Usage != (trace.Usage{Known: true, Input: 9, Output: 4, Reasoning: 1}) || x.Model != "gpt-x" || y.Model != "gpt-y" || x.ID != "resp_1" {
		t.Errorf("got\n%s", formattest.Depict(x))
	}
	if anomalies := fmt.Sprint(x.Anomalies.ByCode); anomalies != "map[request-missing:2 response-incomplete:1]" {
		t.Errorf("anomalies are %s", anomalies)
	}
}

// TestEventStreamProblems holds where problems stand, and that they cost an event.
func TestEventStreamProblems(t *testing.T) {
	file := t.TempDir() + "/x"
	formattest.WriteFile(t, file, formattest.SSE(formattest.Chunk("c", `{"content":"a"}`), `{"id":"c","choices":[}`, formattest.Chunk("c", `{"content":"b"}`), chatEnd("c")[0])+"data: {\"object\":\"chat.completion.chunk\",\ndata: \"choices\":[]")
	got, problems := formattest.ReadProblems(t, trace.Options{}, file)
	formattest.WantLines(t, "problems", []string{strings.ReplaceAll(strings.Join(problems, "\n"), file, "x")}, []string{"x:3:28: json-syntax: a value is expected here"})
	if len(got) != 1 || got[0].Turns[0].Text.Text() != "ab" {
		t.Errorf("%d trajectories", len(got))
	}
	// A response that is too large costs itself.
	large := formattest.SSE(formattest.Chunk("c", `{"content":"`+strings.Repeat("a", 9000)+`"}`), formattest.Chunk("c", `{"content":"b"}`)) + formattest.SSE(chatEnd("c")...)
	formattest.WriteFile(t, file, large+formattest.SSE(append([]string{formattest.Chunk("d", `{"content":"b"}`)}, chatEnd("d")...)...))
	got, problems = formattest.ReadProblems(t, trace.Options{MaxRecord: 4000}, file)
	if len(problems) != 1 || !strings.Contains(problems[0], "x:1:1: record-too-large") || len(got) != 1 || got[0].Turns[len(got[0].Turns)-1].Text.Text() != "b" {
		t.Errorf("%d trajectories, problems %q", len(got), problems)
	}
}

// TestEventStreamRecorded: a stream that a client has recorded, one call.
func TestEventStreamRecorded(t *testing.T) {
	got := formattest.ReadFiles(t, recordings.Recorded(t, "formats/openai-chat/test_chat_tools_streaming.sse.txt"))
	if len(got) != 1 {
		t.Fatalf("%d trajectories, want 1", len(got))
	}
	x := got[0]
	formattest.RoundTrip(t, x)
	formattest.WantLines(t, "calls", args(x), []string{`get_current_weather@0 call_P9Ayqu3UQNYuTBVAg2sLimh9 {"location":"San Francisco"}`})
	if x.Model != "gpt-3.5-turbo-0125" || x.Anomalies.Total != 1 {
		t.Errorf("got\n%s", formattest.Depict(x))
	}
}

// TestEventStreamDetected holds what is no stream.
func TestEventStreamDetected(t *testing.T) {
	for text, want := range map[string]bool{
		chatStreamSeed():     true,
		messageStreamSeed():  true,
		responseStreamSeed(): true,
		"HTTP/1.1 200 OK\ncontent-type: text/event-stream\n\n" + formattest.SSE(formattest.Chunk("c", "{}")): true,
		"data: {\"price\":5}\n\n": false,
		`{"type":"response.completed","response":{"output":[]}}` + "\n": false,
		`{"choices":[],"id":"x","object":"chat.completion"}` + "\n":     false,
	} {
		head, _ := trace.NewHead([]byte(text), true)
		if got := stream.DetectEventStream(head).OK; got != want {
			t.Errorf("%.60q is a stream: %v", text, got)
		}
		for i := range formats.All {
			if f := &formats.All[i]; want && f.Name != "event-stream" && f.Detect(head).OK {
				t.Errorf("%.60q is claimed by %s", text, f.Name)
			}
		}
	}
}

func FuzzEventStream(f *testing.F) {
	formattest.FuzzFormat(f, &stream.Format, chatStreamSeed(), messageStreamSeed(), responseStreamSeed(),
		"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"custom\":{\"input\":\"\\ud800\"}}]}}]}\n\ndata: [DONE]\n",
		"data: {\"type\":\"message_delta\",\"delta\":{},\"usage\":{\"output_tokens\":-1}}\ndata: {\"type\":\ndata: \"message_stop\"}")
}
