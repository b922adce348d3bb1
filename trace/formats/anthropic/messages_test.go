package anthropic_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats"
	"github.com/awo-dev/awo/trace/formats/anthropic"
	"github.com/awo-dev/awo/trace/formats/atif"
	"github.com/awo-dev/awo/trace/formats/testdata/formattest"
)

func TestAnthropic(t *testing.T) {
	const request = `{"model":"claude-a","system":[{"type":"text","text":"be kind"}],` +
		`"tools":[{"name":"find","description":"finds","input_schema":{"type":"object"}}],"messages":[` +
		`{"role":"user","content":"where?"},` +
		`{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"x"},{"type":"text","text":"I look."},` +
		`{"type":"tool_use","id":"t1","name":"find","input":{"q":"a"}},{"type":"tool_use","id":"t2","name":"find","input":{"q":"b"}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":"nothing","is_error":true},` +
		`{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"here"}]},{"type":"text","text":"and?"}]},` +
		`{"role":"assistant","content":[{"type":"server_tool_use","id":"s1","name":"web_search","input":{}},` +
		`{"type":"web_search_tool_result","tool_use_id":"s1","content":{"type":"web_search_tool_result_error","error_code":"x"}},` +
		`{"type":"tool_use","id":"t3","name":"find","input":{},"caller":{"type":"code_execution_20250825","tool_id":"c"}},` +
		`{"type":"mcp_tool_use","id":"m1","name":"ping","server_name":"net","input":{}}]}]}`
	const response = `{"id":"msg_1","type":"message","role":"assistant","model":"claude-b","content":[{"type":"text","text":"There."}],` +
		`"usage":{"input_tokens":10,"cache_read_input_tokens":100,"cache_creation_input_tokens":5,"output_tokens":7}}`
	want := []string{
		"find@0 model ok {\"q\":\"a\"} here after-user=false",
		"find@0 model failed {\"q\":\"b\"} nothing after-user=false",
		"web_search@1 model failed {} {\"type\":\"web_search_tool_result_error\",\"error_code\":\"x\"} after-user=true",
		"find@1 code unknown {}  after-user=false",
		"net__ping@1 model unknown {}  after-user=false",
	}
	for name, text := range map[string]string{
		"a request":           request,
		"a log entry":         `{"request":` + request + `,"response":` + response + `}`,
		"the answer first":    `{"response":` + response + `,"request":` + request + `}`,
		"messages alone":      request[strings.Index(request, `[{"role"`) : len(request)-1],
		"wrapped in messages": `{"messages":` + request[strings.Index(request, `[{"role"`):],
	} {
		x := formattest.DecodeOne(t, &anthropic.Format, text)
		var got []string
		for i := range x.Calls {
			c := &x.Calls[i]
			got = append(got, fmt.Sprintf("%s@%d %s %s %s %s after-user=%v", c.Tool.Value(), c.Turn, c.Origin, c.Status, c.AppendCanonicalArgs(nil), c.Result.Text(), c.AfterUser))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: calls are\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if x.Turns[0].Text.Text() != "I look." || x.Turns[0].Thought.Text() != "hm" {
			t.Errorf("%s: the first turn says %q and thinks %q", name, x.Turns[0].Text.Text(), x.Turns[0].Thought.Text())
		}
		users := 0
		for _, m := range x.Messages {
			if m.Role == trace.RoleUser {
				users++
			}
		}
		if users != 2 {
			t.Errorf("%s: %d user messages, want 2: one comes with results", name, users)
		}
		if strings.Contains(text, "msg_1") {
			u := x.Turns[2].Usage
			if x.ID != "msg_1" || x.Model != "claude-b" || u.Input != 115 || u.CachedInput != 100 || u.CacheWrite != 5 || u.Output != 7 || x.Turns[2].Text.Text() != "There." {
				t.Errorf("%s: id %q, model %q, usage %+v", name, x.ID, x.Model, u)
			}
		}
		formattest.RoundTrip(t, x)
	}
}

func TestAnthropicIsToldFromOthers(t *testing.T) {
	for text, want := range map[string]string{
		`{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f","input":{}}]}]}`: "anthropic",
		`{"messages":[{"role":"user","content":"a"}],"tools":[{"name":"f","input_schema":{}}]}`:                                            "anthropic",
		`{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":null,"tool_calls":[]}]}`:                                 "openai-chat",
		`{"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}]}`:                                                            "openai-chat",
	} {
		head, _ := trace.NewHead([]byte(text+"\n"), true)
		got := ""
		for _, f := range formats.All {
			if f.Detect(head).OK {
				got = f.Name
				break
			}
		}
		if got != want {
			t.Errorf("%s is taken for %q, want %q", text, got, want)
		}
	}
}

func FuzzAnthropic(f *testing.F) {
	f.Add(`{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":[{"type":"text","text":"x"}],"is_error":true}]}]}`)
	f.Add(`{"response":{"role":"assistant","content":[]},"request":{"messages":7}}`)
	f.Add(`[{"role":"assistant","content":[{"type":"thinking"}]},[],{"role":"x"}]`)
	f.Fuzz(func(t *testing.T, text string) {
		fragments, err := anthropic.Format.Decode(trace.Record{Data: []byte(text), File: "f", Line: 1, Col: 1})
		if err != nil && !strings.Contains(text, "\n") {
			formattest.CheckPosition(t, err, 1, len(text))
		}
		for _, x := range formattest.JoinedAlone(t, &anthropic.Format, fragments) {
			if _, err := atif.Append(nil, x); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func FuzzBedrock(f *testing.F) {
	f.Add(`{"schemaType":"ModelInvocationLog","modelId":"m","input":{"inputBodyJson":{"messages":[{"role":"user","content":[{"text":"a"},{"toolResult":{"toolUseId":"1","content":[{"json":{"b":1}}],"status":"error"}}]}],"toolConfig":{"tools":[{"toolSpec":{"name":"f","inputSchema":{"json":{}}}}]}}},"output":{"outputBodyJson":{"output":{"message":{"content":[{"toolUse":{"toolUseId":"1","name":"f","input":{}}},{"cachePoint":{}}]}},"usage":{"inputTokens":1}}}}`)
	f.Add(`{"modelId":"m","input":{"inputBodyJson":{"anthropic_version":"1","messages":[]}},"output":{"outputBodyJson":{"content":[]}}}`)
	f.Add(`{"input":[],"output":{"outputBodyJson":{"output":{"message":7},"usage":[]}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		fragments, err := anthropic.Bedrock.Decode(trace.Record{Data: []byte(text), File: "f", Line: 1, Col: 1})
		if err != nil {
			return
		}
		for _, x := range formattest.JoinedAlone(t, &anthropic.Bedrock, fragments) {
			if _, err := atif.Append(nil, x); err != nil {
				t.Fatal(err)
			}
		}
	})
}
