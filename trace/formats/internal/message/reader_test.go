package message_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/internal/message"
)

// depict writes items, one a line: what they are, their ids and tools, what they
// say, and a star before those that begin a response.
func depict(items []build.Item) string {
	kinds := map[build.ItemKind]string{
		build.ItemUser: "user", build.ItemSystem: "system", build.ItemText: "text", build.ItemThought: "thought", build.ItemCall: "call", build.ItemResult: "result",
	}
	var lines []string
	for i := range items {
		it := &items[i]
		line := kinds[it.Kind]
		if it.Opens {
			line = "*" + line
		}
		for _, more := range []string{string(it.ID), string(it.Tool), it.Value.Text(), string(it.Also)} {
			if more != "" {
				line += " " + more
			}
		}
		if it.Status != trace.StatusUnknown {
			line += " " + it.Status.String()
		}
		if it.Answered {
			line += " answered " + it.Result.Text()
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// TestForms holds what is read of the forms in which interfaces, libraries and
// frameworks write messages.
func TestForms(t *testing.T) {
	for _, test := range []struct {
		name, text, want string
		answer           bool
	}{
		{name: "OpenAI chat", text: `{"messages":[{"role":"system","content":"S"},{"role":"user","content":"u"},{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]},{"role":"tool","tool_call_id":"c","content":"r"}]}`, want: `
			system S
			user u
			*text
			call c f {"a":1}
			result c r`},
		{name: "parts of OpenTelemetry", text: `[{"role":"user","parts":[{"type":"text","content":"u"}]},{"role":"assistant","parts":[{"type":"tool_call","id":"c","name":"f","arguments":{"a":1}}]},{"role":"user","parts":[{"type":"tool_call_response","id":"c","result":"r"}]}]`, want: `
			user u
			*text
			call c f {"a":1}
			result c r`},
		{name: "a wrapped result", text: `[{"role":"tool","parts":[{"type":"tool_call_response","id":"c","response":"{\"type\": \"function_result\", \"call_id\": \"c\", \"result\": \"r\"}"}]}]`, want: `
			result c r`},
		{name: "Gemini request", text: `{"model":"g","config":{"system_instruction":"S","tools":[{"function_declarations":[{"name":"f"}]}]},"contents":[{"role":"user","parts":[{"text":"u"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{"a":1}}}]},{"role":"user","parts":[{"function_response":{"name":"f","response":{"result":"r"}}}]}]}`, want: `
			system S
			user u
			*text
			call f {"a":1}
			result f r
			tools f`},
		{name: "Gemini response", answer: true, text: `{"content":{"parts":[{"text":"t","thought":true},{"function_call":{"name":"f","args":{}}}],"role":"model"},"finish_reason":"STOP"}`, want: `
			*text
			thought t
			call f {}`},
		{name: "AI SDK, calls alone", answer: true, text: `[{"toolCallId":"c","toolName":"f","input":"{\"a\":1}"}]`, want: `
			*text
			call c f {"a":1}`},
		{name: "AI SDK, messages", text: `[{"role":"assistant","content":[{"type":"tool-call","toolCallId":"c","toolName":"f","input":{"a":1}}]},{"role":"tool","content":[{"type":"tool-result","toolCallId":"c","toolName":"f","output":{"type":"text","value":"r"}}]}]`, want: `
			*text
			call c f {"a":1}
			result c f r`},
		{name: "AI SDK, parts with calls and results", text: `[{"role":"assistant","parts":[{"type":"step-start"},{"type":"tool-f","toolCallId":"c","state":"output-available","input":{"a":1},"output":"r"}]}]`, want: `
			*text
			call c f {"a":1} ok answered r`},
		{name: "a list of calls as text", answer: true, text: `[{"role":"assistant","content":"[{\"function\":{\"name\":\"f\",\"arguments\":\"{}\"},\"id\":\"c\",\"type\":\"function\"}]"}]`, want: `
			*text
			call c f {}`},
		{name: "a list of calls with the role of a result", text: `[{"role":"tool","content":"[{\"function\":{\"name\":\"f\",\"arguments\":\"{}\"},\"id\":\"c\",\"type\":\"function\"}]"},{"role":"tool","content":"r"}]`, want: `
			*call c f {}
			result r`},
		{name: "a result that looks like parts", text: `[{"role":"tool","tool_call_id":"c","content":[{"name":"x","args":{}}]}]`, want: `
			result c [{"name":"x","args":{}}]`},
		{name: "the name of a tool as role", text: `[{"role":"assistant","content":"","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]},{"role":"f","content":"r"}]`, want: `
			*text
			call c f {}
			result f r`},
		{name: "Python", text: `["role='user' content='it\\'s' name=None", "role='assistant' content=None tool_calls=[{'id': 'c', 'function': {'name': 'f', 'arguments': '{\"a\": 1}'}, 'type': 'function'}] metrics=<object at 0x7f>"]`, want: `
			user it's
			*text
			call c f {"a": 1}`},
		{name: "Python, an object", answer: true, text: `"[ResponseFunctionToolCall(arguments='{}', call_id='c', name='f', type='function_call', id='fc')]"`, want: `
			*text
			call c f {}`},
		{name: "lines with roles", text: "\"developer: S\\nuser: u\\nmore\\nassistant: None\\ntool: r\"", want: `
			system S
			user u
			more
			*text
			result r`},
		{name: "LangChain", text: `{"messages":[[{"lc":1,"type":"constructor","id":["langchain","schema","messages","HumanMessage"],"kwargs":{"content":"u"}},{"type":"ai","data":{"content":"t","tool_calls":[{"name":"f","args":{"a":1},"id":"c"}]}},{"type":"tool","content":"r","tool_call_id":"c","status":"error"}]]}`, want: `
			user u
			*text t
			call c f {"a":1}
			result c r failed`},
		{name: "AutoGen", text: `[{"source":"user","content":"u","type":"TextMessage"},{"source":"a","content":[{"id":"c","arguments":"{}","name":"f"}],"type":"ToolCallRequestEvent"},{"source":"a","content":[{"content":"r","name":"f","call_id":"c","is_error":false}],"type":"ToolCallExecutionEvent"},{"source":"a","content":"t","type":"TextMessage"}]`, want: `
			user u
			*call c f {}
			result c f r ok
			*text t`},
		{name: "pydantic-ai", text: `[{"kind":"request","parts":[{"part_kind":"system-prompt","content":"S"},{"part_kind":"user-prompt","content":"u"}]},{"kind":"response","parts":[{"part_kind":"tool-call","tool_name":"f","args":"{}","tool_call_id":"c"}]},{"kind":"request","parts":[{"part_kind":"tool-return","tool_name":"f","content":{"x":1},"tool_call_id":"c"}]},{"kind":"request","parts":[{"part_kind":"retry-prompt","tool_name":"f","content":"bad","tool_call_id":"d"}]}]`, want: `
			system S
			user u
			*text
			call c f {}
			result c f {"x":1}
			result d f bad failed`},
		{name: "ShareGPT", text: `[{"from":"human","value":"u"},{"from":"function_call","value":"{\"name\": \"f\", \"arguments\": {\"a\": 1}}"},{"from":"observation","value":"r"},{"from":"gpt","value":"t"}]`, want: `
			user u
			*call f {"a": 1}
			result r
			*text t`},
		{name: "LLaMA-Factory", text: `[{"role":"assistant","content":[{"type":"reasoning","value":"h"},{"type":"tool_call","value":"{\"name\": \"f\", \"arguments\": {\"a\": 1}}"}]},{"role":"tool","content":[{"type":"text","value":"[{\"tool_call_id\": \"c\", \"name\": \"f\", \"content\": \"r\"}]"}]}]`, want: `
			*text
			thought h
			call f {"a": 1}
			result c f r`},
		{name: "calls in tags", text: `[{"role":"assistant","content":"t\n<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": {}}}\n</tool_call>"},{"role":"user","content":"<tool_response>\nr\n</tool_response>"}]`, want: `
			*text t
			call f {"a": {}}
			result r`},
		{name: "functions in tags", text: `[{"role":"assistant","content":"t <function=run><parameter=command>\nls\n</parameter></function>"},{"role":"user","content":"EXECUTION RESULT of [run]:\nr"}]`, want: `
			*text t
			call run {"command":"ls"}
			result run r`},
		{name: "ReAct", text: `[{"role":"assistant","content":"Thought: h\nAction: f\nAction Input: {\"a\": 1}"},{"role":"user","content":"Observation: r"},{"role":"assistant","content":"Thought: done\nFinal Answer: t"}]`, want: `
			*text Thought: h
			call f {"a": 1}
			result r
			*text Thought: done
			Final Answer: t`},
		{name: "ReAct with results in the text", answer: true, text: `{"role":"assistant","content":"Thought: h\nFunction Name: f\nFunction Input: {\"a\": 1}\nFunction Output: r\nThought: done\nFinal Answer: t"}`, want: `
			*text Thought: h
			call f {"a": 1}
			result f r
			*text Thought: done
			Final Answer: t`},
		{name: "a scratchpad in the prompt", text: `"Use:\nAction: what\nAction Input: the input\nBegin!\n\nQuestion: u\nThought: h\nAction: f\nAction Input: x\nObservation: r\nThought:"`, want: `
			user Use:
			Action: what
			Action Input: the input
			Begin!

			Question: u
			*text Thought: h
			call f {"input":"x"}
			result f r
			*text Thought:`},
		{name: "smolagents", text: "[{\"role\":\"tool-call\",\"content\":[{\"type\":\"text\",\"text\":\"Calling tools:\\n[{'id': 'c', 'type': 'function', 'function': {'name': 'f', 'arguments': {'a': 1}}}]\"}]},{\"role\":\"tool-response\",\"content\":[{\"type\":\"text\",\"text\":\"Call id: c\\nObservation:\\nr\"}]}]", want: `
			call c f {"a":1}
			result c r`},
		{name: "mini-SWE-agent", text: "[{\"role\":\"assistant\",\"content\":\"h\\n```bash\\nls\\n```\"},{\"role\":\"user\",\"content\":\"<returncode>0</returncode>\\n<output>r</output>\"}]", want: "*text h\n```bash\nls\n```\ncall bash {\"command\":\"ls\"}\nresult <returncode>0</returncode>\n<output>r</output> ok"},
		{name: "definitions among the messages", text: `[{"role":"tool","content":{"type":"function","function":{"name":"f","parameters":{}}}},{"role":"Tool Input","content":"{'type': 'function', 'function': {'name': 'g'}}"},{"role":"user","content":"u"}]`, want: `
			user u
			tools f g`},
		{name: "an image", text: `[{"role":"user","content":[{"type":"image_url","image_url":{"url":"x"}}]}]`, want: `
			user {"type":"image_url","image_url":{"url":"x"}}`},
		{name: "content of an unknown kind", text: `[{"role":"user","content":[{"type":"hologram","waves":3}]}]`, want: `
			user {"type":"hologram","waves":3} {"type":"hologram","waves":3}
			anomaly content-unknown`},
		{name: "a code execution", answer: true, text: `{"type":"message","role":"assistant","content":[{"type":"server_tool_use","id":"c","name":"bash","input":{"command":"ls"}},{"type":"bash_code_execution_tool_result","tool_use_id":"c","content":{"type":"bash_code_execution_result","stdout":"r"}}]}`, want: `
			*text
			call c bash {"command":"ls"}
			result c {"type":"bash_code_execution_result","stdout":"r"} ok`},
		{name: "text alone", text: `"u"`, want: `
			user u`},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := build.New(0)
			r := message.NewReader(b)
			c := jsonscan.New([]byte(test.text))
			items, _ := r.Read(build.ReadRaw(&c), test.answer)
			got := depict(items)
			for i, tool := range r.Tools {
				if i == 0 {
					got += "\ntools"
				}
				got += " " + tool.Name.Value()
			}
			for code := range b.Trajectory.Anomalies.ByCode {
				got += fmt.Sprint("\nanomaly ", code)
			}
			if want := strings.TrimSpace(strings.ReplaceAll(test.want, "\t", "")); strings.TrimSpace(got) != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// TestUnknownContentIsNotEqual holds that two messages of which nothing is
// understood are not taken for the same.
func TestUnknownContentIsNotEqual(t *testing.T) {
	var hashes []build.ItemHash
	for _, waves := range []string{"3", "4", "3"} {
		r := message.NewReader(build.New(0))
		items, _ := r.Read(trace.JSONOf([]byte(`[{"role":"user","content":[{"type":"hologram","waves":`+waves+`}]}]`)), false)
		h, compared := items[0].Next(build.ItemHash{})
		if !compared {
			t.Fatal("not compared")
		}
		hashes = append(hashes, h)
	}
	if hashes[0] == hashes[1] || hashes[0] != hashes[2] {
		t.Errorf("hashes %v", hashes)
	}
}

// TestPythonJSON holds what is read of values as Python prints them.
func TestPythonJSON(t *testing.T) {
	for _, test := range [][2]string{
		{`{'a': 1, 'b': [True, None, -1.5], 'c': (1,), 'd': {'x'}}`, `{"a":1,"b":[true,null,-1.5],"c":[1],"d":["x"]}`},
		{`{'it\'s': "say \"x\"\n", 1: 'é\x41'}`, `{"it's":"say \"x\"\n","1":"éA"}`},
		{`Message(role='user', at=datetime.datetime(2026, 1, 2, tzinfo=UTC), kind=<Kind.A: 'a'>, other=<object at 0x7f>)`, `{"role":"user","at":"datetime.datetime(2026, 1, 2, tzinfo=UTC)","kind":"a","other":"<object at 0x7f>","type":"Message"}`},
		{`role='user' content='a' 'b' x=None`, `{"role":"user","content":"ab","x":null}`},
		{`{}`, `{}`},
		{`[]`, `[]`},
		{`A()`, `{"type":"A"}`},
		{`{'a': }`, ""},
		{`{'a'`, ""},
		{`f(`, ""},
		{`a=`, ""},
		{`it is 1`, ""},
		{strings.Repeat("[", 1000), ""},
	} {
		got, ok := message.PythonJSON([]byte(test[0]))
		if string(got) != test[1] || ok != (test[1] != "") {
			t.Errorf("%s: got %s, want %s", test[0], got, test[1])
		}
	}
}

// FuzzPythonJSON holds that what is read of printed values is JSON.
func FuzzPythonJSON(f *testing.F) {
	for _, seed := range []string{`{'a': [1, (2,), {3}], "b": None}`, `A(b='c', d=<E.F: 1>, g=h(1))`, `a='b' c=[d]`, `'''x\u00e9'''`, `{'a': b'x', **c}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := message.PythonJSON([]byte(text))
		if !ok {
			return
		}
		if c := jsonscan.New(got); c.End() != nil {
			t.Errorf("%q is read as %s", text, got)
		}
	})
}

// FuzzReader holds that messages of any form are read without a panic, twice the
// same, and that what is compared has a hash.
func FuzzReader(f *testing.F) {
	for _, seed := range []string{
		`[{"role":"user","content":"u"},{"role":"tool","content":[{"type":"text","text":"r"}]}]`, `"role='user' content='x'"`,
		`{"contents":[{"parts":[{"functionCall":{"name":"f"}}]}]}`, `"Action: f\nAction Input: x\nObservation: y"`, `[[{"kwargs":{"content":[]},"id":["AIMessage"]}]]`,
		`{"choices":[{"message":{"content":"<tool_call>{\"name\":\"f\"}</tool_call>"}}]}`, `"user: a\ntool: b"`,
	} {
		f.Add(seed, false)
		f.Add(seed, true)
	}
	f.Fuzz(func(t *testing.T, text string, answer bool) {
		c := jsonscan.New([]byte(text))
		c.Skip()
		raw := trace.TextOf(text)
		if c.End() == nil {
			c = jsonscan.New([]byte(text))
			raw = build.ReadRaw(&c)
		}
		first, _ := message.NewReader(build.New(0)).Read(raw, answer)
		again, _ := message.NewReader(build.New(0)).Read(raw, answer)
		if depict(first) != depict(again) {
			t.Error("not the same twice")
		}
	})
}
