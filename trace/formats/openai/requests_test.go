package openai_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/anthropic"
	"github.com/awo-dev/awo/trace/formats/openai"
	"github.com/awo-dev/awo/trace/formats/testdata/formattest"
)

// askChat writes a request of a log,
// and chatPair one with its response.
func askChat(messages ...string) string {
	return `{"model":"m","tools":[{"type":"function","function":{"name":"f","parameters":{}}}],"messages":[` + strings.Join(messages, ",") + `]}`
}

func chatPair(id, answer string, output int, messages ...string) string {
	return fmt.Sprintf(`{"request":%s,"response":{"id":%q,"object":"chat.completion","created":1767348000,"model":"m-1","choices":[{"message":%s}],"usage":{"prompt_tokens":9,"completion_tokens":%d}}}`,
		askChat(messages...), id, answer, output)
}

func say(role, text string) string { return fmt.Sprintf(`{"role":%q,"content":%q}`, role, text) }

func asks(id, args string) string {
	return fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[{"id":%q,"type":"function","function":{"name":"f","arguments":%q}}]}`, id, args)
}

func returns(id, text string) string {
	return fmt.Sprintf(`{"role":"tool","tool_call_id":%q,"content":%q}`, id, text)
}

var (
	sys, goOn = say("system", "be brief"), say("user", "go")
	// The clock in the system's prompt is no other conversation.
	sysLater = say("system", "be brief. It is noon")
)

func TestChatRequestsJoined(t *testing.T) {
	pairs := []string{
		chatPair("r1", asks("a", `{"n":1}`), 1, sys, goOn),
		chatPair("other", say("assistant", "a title"), 50, say("user", "name this: go")),
		chatPair("r2", asks("a", `{"n": 2}`), 2, sysLater, goOn, asks("a", `{"n": 1}`), returns("a", "one")),
		chatPair("r3", say("assistant", "done"), 3, sys, goOn, asks("a", `{"n":1}`), returns("a", "one"), asks("a", `{"n":2}`), returns("a", "two")),
		chatPair("r4", say("assistant", "bye"), 4, sys, goOn, asks("a", `{"n":1}`), returns("a", "one"), asks("a", `{"n":2}`), returns("a", "two"), say("assistant", "done"), say("user", "thanks")),
	}
	bare := []string{
		askChat(sys, goOn),
		askChat(sysLater, goOn, asks("a", `{"n": 1}`), returns("a", "one")),
		askChat(sys, goOn, asks("a", `{"n":1}`), returns("a", "one"), asks("a", `{"n":2}`), returns("a", "two")),
		askChat(sys, goOn, asks("a", `{"n":1}`), returns("a", "one"), asks("a", `{"n":2}`), returns("a", "two"), say("assistant", "done"), say("user", "thanks")),
	}
	streamed := make([]string, len(pairs))
	for i, p := range pairs {
		text := formattest.SSE(formattest.Chunk("x", `{"role":"assistant","content":"`+[]string{"", "a title", "", "done", "bye"}[i]+`"}`))
		if i == 0 || i == 2 {
			text = formattest.SSE(formattest.Chunk("x", `{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"n\":"}}]}`), formattest.Chunk("x", fmt.Sprintf(`{"tool_calls":[{"index":0,"function":{"arguments":"%d}"}}]}`, i/2+1)))
		}
		usage := fmt.Sprintf(`{"id":"x","object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":%d}}`, []int{1, 50, 2, 3, 4}[i])
		streamed[i] = p[:strings.Index(p, `"response":`)] + `"response":` + string(formattest.JSONToken(text+formattest.SSE(usage, "[DONE]"))) + "}"
	}
	for name, lines := range map[string][]string{"pairs": pairs, "requests": bare, "pairs with streams": streamed} {
		t.Run(name, func(t *testing.T) {
			got := formattest.ReadText(t, "log.jsonl", lines...)
			want, turns := 1, 3
			if name != "requests" {
				want, turns = 2, 4
			}
			if len(got) != want {
				t.Fatalf("%d trajectories, want %d", len(got), want)
			}
			x := got[0]
			formattest.WantLines(t, "calls", formattest.Brief(x), []string{"f@0 unknown one", "f@1 unknown two"})
			noon := 1
			if name == "requests" {
				noon = 0 // it is said before the response that only the next request has
			}
			formattest.WantLines(t, "messages", formattest.Sayings(x), []string{"system@0 be brief", "user@0 go", fmt.Sprintf("system@%d be brief. It is noon", noon), "user@3 thanks"})
			if len(x.Turns) != turns || x.Turns[2].Text.Text() != "done" || len(x.Tools) != 1 {
				t.Errorf("got\n%s", formattest.Depict(x))
			}
			if want == 2 && (x.Turns[0].Usage.Output != 1 || x.Turns[1].Usage.Output != 2 || x.Turns[3].Usage.Output != 4 || len(got[1].Turns) != 1 || got[1].Turns[0].Usage.Output != 50) {
				t.Errorf("got\n%s", formattest.Depict(x))
			}
			if anomalies := fmt.Sprint(x.Anomalies.ByCode); anomalies != "map[call-id-repeated:1]" {
				t.Errorf("anomalies are %s", anomalies)
			}
		})
	}
}

// TestChatRequestsApart holds what begins alike and is not joined.
func TestChatRequestsApart(t *testing.T) {
	tests := []struct {
		name      string
		lines     []string
		calls     []string // of each trajectory
		anomalies string
	}{
		{"samples of one request", []string{
			chatPair("r1", asks("a", `{}`), 1, goOn, asks("c", `{}`), returns("c", "x")),
			chatPair("r2", asks("b", `{}`), 1, goOn, asks("c", `{}`), returns("c", "x")),
		}, []string{"2", "2"}, "map[]"},
		{"runs of one task that end with the user", []string{
			askChat(sys, goOn, asks("call_1", `{}`), returns("call_1", "x"), say("user", "stop")),
			askChat(sys, goOn, asks("call_1", `{}`), returns("call_1", "y"), say("user", "stop")),
			askChat(sys, goOn, asks("call_1", `{}`), returns("call_1", "x"), say("user", "stop")),
		}, []string{"1", "1", "1"}, "map[]"},
		{"the same ids with other contents", []string{
			chatPair("r1", asks("call_1", `{"n":1}`), 1, goOn),
			chatPair("r2", asks("call_2", `{"n":1}`), 1, goOn, asks("call_1", `{"n":1}`), returns("call_1", "x")),
			chatPair("r1", asks("call_1", `{"n":2}`), 1, goOn),
			chatPair("r2", asks("call_2", `{"n":2}`), 1, goOn, asks("call_1", `{"n":2}`), returns("call_1", "x")),
		}, []string{"2", "2"}, "map[]"},
		{"a request that was made again with another end", []string{
			chatPair("r1", asks("a", `{}`), 1, goOn),
			chatPair("r2", asks("b", `{}`), 1, goOn, asks("a", `{}`), returns("a", "x")),
			chatPair("r3", asks("c", `{}`), 1, goOn, asks("a", `{}`), returns("a", "y")),
		}, []string{"2", "1"}, "map[history-forked:1 result-orphan:1]"},
		{"trajectories, of which one is how another begins", []string{
			`{"messages":[` + goOn + "," + say("assistant", "a") + `]}`,
			`{"messages":[` + goOn + "," + say("assistant", "a") + "," + say("user", "b") + "," + asks("c", "{}") + `]}`,
		}, []string{"0", "1"}, "map[request-apart:1]"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := formattest.ReadText(t, "log.jsonl", test.lines...)
			var calls []string
			for _, x := range got {
				calls = append(calls, fmt.Sprint(len(x.Calls)))
			}
			formattest.WantLines(t, "numbers of calls", calls, test.calls)
			if anomalies := fmt.Sprint(got[len(got)-1].Anomalies.ByCode); anomalies != test.anomalies {
				t.Errorf("anomalies are %s, want %s", anomalies, test.anomalies)
			}
		})
	}
}

// TestRequestsOfFolder joins a file for each request, in whichever order.
func TestRequestsOfFolder(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"10.json": chatPair("r3", say("assistant", "done"), 3, goOn, asks("a", `{}`), returns("a", "one"), asks("b", `{}`), returns("b", "two")),
		"2.json":  chatPair("r2", asks("b", `{}`), 2, goOn, asks("a", `{}`), returns("a", "one")),
		"3.json":  chatPair("r1", asks("a", `{}`), 1, goOn),
	} {
		formattest.WriteFile(t, filepath.Join(folder, name), strings.Replace(text, `"request":`, "\n\"request\":", 1))
	}
	got := formattest.ReadFiles(t, folder)
	if len(got) != 1 {
		t.Fatalf("%d trajectories, want 1", len(got))
	}
	x := got[0]
	formattest.RoundTrip(t, x)
	formattest.WantLines(t, "calls", formattest.Brief(x), []string{"f@0 unknown one", "f@1 unknown two"})
	if len(x.Turns) != 3 || x.Turns[0].Usage.Output != 1 || x.Turns[1].Usage.Output != 2 || x.Turns[2].Usage.Output != 3 {
		t.Errorf("got\n%s", formattest.Depict(x))
	}
}

func TestAnthropicRequestsJoined(t *testing.T) {
	user := func(content string) string { return `{"role":"user","content":` + content + `}` }
	calls := func(id string) string {
		return fmt.Sprintf(`{"role":"assistant","content":[{"type":"thinking","thinking":"hm %s","signature":"x"},{"type":"text","text":"so"},{"type":"tool_use","id":%q,"name":"f","input":{"n":1}}]}`, id, id)
	}
	result := func(id string, failed bool) string {
		return user(fmt.Sprintf(`[{"type":"tool_result","tool_use_id":%q,"content":"r","is_error":%v,"cache_control":{"type":"ephemeral"}}]`, id, failed))
	}
	request := func(messages ...string) string {
		return `{"model":"m","system":[{"type":"text","text":"s"}],"tools":[{"name":"f","input_schema":{}}],"messages":[` + strings.Join(messages, ",") + `]}`
	}
	pair := func(id, message string, output int, messages ...string) string {
		return fmt.Sprintf(`{"request":%s,"response":%s,"id":%q,"type":"message","model":"claude-x","usage":{"input_tokens":2,"cache_read_input_tokens":5,"output_tokens":%d}}}`, request(messages...), message[:len(message)-1], id, output)
	}
	first, second := calls("a"), calls("b")
	search := `{"role":"assistant","content":[{"type":"server_tool_use","id":"s","name":"web","input":{}},{"type":"web_search_tool_result","tool_use_id":"s","content":[]},{"type":"text","text":"done"}]}`
	// What was thought is left out when it is sent again.
	again := strings.Replace(first, `{"type":"thinking","thinking":"hm a","signature":"x"},`, "", 1)
	pairs := []string{
		pair("m1", first, 1, user(`"go"`)),
		pair("m2", second, 2, user(`[{"type":"text","text":"go"}]`), again, result("a", false)),
		pair("m3", search, 3, user(`"go"`), again, result("a", false), second, result("b", true)),
		pair("m4", `{"role":"assistant","content":[{"type":"text","text":"bye"}]}`, 4, user(`"go"`), again, result("a", false), second, result("b", true), search, user(`"thanks"`)),
	}
	streamed := strings.Index(pairs[0], `"response":`)
	stream := "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m1\",\"role\":\"assistant\",\"model\":\"claude-x\",\"usage\":{\"input_tokens\":2,\"cache_read_input_tokens\":5,\"output_tokens\":0}}}\n\n" +
		formattest.SSE(`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"hm a"}}`, `{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"so"}}`,
			`{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"a","name":"f","input":{}}}`, `{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"n\":1}"}}`,
			`{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":1}}`, `{"type":"message_stop"}`)
	withStream := append([]string{pairs[0][:streamed] + `"response":` + string(formattest.JSONToken(stream)) + "}"}, pairs[1:]...)
	for name, lines := range map[string][]string{"pairs": pairs, "with a stream": withStream} {
		got := formattest.ReadText(t, "log.jsonl", lines...)
		if len(got) != 1 {
			t.Fatalf("%s: %d trajectories, want 1", name, len(got))
		}
		x := got[0]
		formattest.WantLines(t, name+": calls", formattest.Brief(x), []string{"f@0 ok r", "f@1 failed r", "web@2 ok "})
		formattest.WantLines(t, name+": messages", formattest.Sayings(x), []string{"system@0 s", "user@0 go", "user@3 thanks"})
		if len(x.Turns) != 4 || x.Turns[0].Usage != (trace.Usage{Known: true, Input: 7, CachedInput: 5, Output: 1}) || x.Turns[0].Thought.Text() != "hm a" || x.Turns[2].Text.Text() != "done" || x.Turns[3].Usage.Output != 4 || x.ID != "m1" || x.Model != "claude-x" || x.Anomalies.Total != 0 {
			t.Errorf("%s: got\n%s", name, formattest.Depict(x))
		}
	}
	// Requests alone, where the file shows that they repeat one another.
	got := formattest.ReadText(t, "log.jsonl", request(user(`"go"`)), request(user(`"go"`), again, result("a", false)), request(user(`"go"`), again, result("a", false), second, result("b", true)))
	if len(got) != 1 || len(got[0].Calls) != 2 || len(got[0].Turns) != 2 || got[0].Model != "m" {
		t.Errorf("%d trajectories, the first is\n%s", len(got), formattest.Depict(got[0]))
	}
}

// TestRequestsRecorded: three answers to one request are three trajectories.
func TestRequestsRecorded(t *testing.T) {
	for _, x := range formattest.ReadFiles(t, recordings.Recorded(t, "formats/openai-chat/test_chat_tool_calls.request_response.jsonl")) {
		if len(x.Calls) != 1 || len(x.Turns) != 2 || !x.Turns[1].Usage.Known || x.Anomalies.Total != 0 {
			t.Errorf("got\n%s", formattest.Depict(x))
		}
	}
}

func FuzzChatRequests(f *testing.F) {
	f.Add(chatPair("r1", asks("a", `{}`), 1, goOn) + "\n" + chatPair("r2", asks("b", `{}`), 1, goOn, asks("a", `{}`), returns("a", "x")))
	f.Add(askChat(goOn) + "\n" + askChat(goOn, asks("a", `{"n":1}`), returns("a", "x")) + "\n" + askChat(goOn))
	fuzzRequests(f, &openai.Chat)
}

func FuzzAnthropicRequests(f *testing.F) {
	f.Add(`{"request":{"messages":[{"role":"user","content":"a"}]},"response":{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f","input":{}}]}}
{"request":{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"1"}]}]},"response":"data: {\"type\":\"message_start\",\"message\":{}}"}`)
	fuzzRequests(f, &anthropic.Format)
}

// fuzzRequests joins any lines of a log, whatever their keys.
func fuzzRequests(f *testing.F, format *trace.Format) {
	f.Fuzz(func(t *testing.T, text string) {
		var parts []trace.Fragment
		for i, l := range strings.Split(text, "\n") {
			fragments, err := format.Decode(trace.Record{Data: []byte(l), File: "f", Line: i + 1, Col: 1, ByLine: true, Log: true})
			if err != nil {
				formattest.CheckPosition(t, err, i+1, len(l))
			}
			for _, fragment := range fragments {
				if fragment.Trajectory == nil {
					parts = append(parts, fragment)
				}
			}
		}
		if len(parts) == 0 {
			return
		}
		joined, err := format.Assemble("k", parts)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range joined {
			formattest.CheckConsistent(t, x)
			formattest.CheckRoundTrip(t, x)
		}
	})
}
