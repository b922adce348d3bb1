package maps_test

import (
	"fmt"
	"testing"

	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/testdata/formattest"
)

const sweFunctions = `{"environment":"e","trajectory":[{"action":"x"}],"history":[
{"role":"system","content":"s","message_type":"system_prompt"},
{"role":"user","content":"demo","is_demo":true},
{"role":"assistant","content":"demo","is_demo":true,"tool_calls":[{"id":"1","function":{"name":"open","arguments":"{}"}}]},
{"role":"user","content":[{"type":"text","text":"fix it"}],"message_type":"observation"},
{"role":"assistant","content":"I look","thought":"I look","action":"open a","message_type":"action","tool_calls":[{"id":"1","type":"function","function":{"name":"open","arguments":"{\"path\":\"a\"}"}},{"id":"2","type":"function","function":{"name":"submit","arguments":"{}"}}]},
{"role":"tool","content":"text","message_type":"observation","tool_call_ids":["1"]},
{"role":"tool","content":"bye","message_type":"observation","tool_call_ids":["2","9"]}],
"info":{"exit_status":"submitted","model_stats":{"tokens_sent":5}},"attempts":[{},{}]}`

const sweText = `{"history":[
{"role":"system","content":"s","message_type":"system_prompt"},
{"role":"user","content":"fix it","message_type":"observation"},
{"role":"assistant","content":"look\nopen a","thought":"look","action":"open a\n","message_type":"action"},
{"role":"user","content":"text","message_type":"observation"},
{"role":"assistant","content":"hm","thought":"hm","action":"","message_type":"action"},
{"role":"user","content":"write a command","message_type":"user"},
{"role":"assistant","content":"submit","action":"submit","message_type":"action"}]}`

const sweSteps = `{"environment":"e","trajectory":[{"action":"open a","observation":"text","response":"look","thought":"t","execution_time":1},{"action":"","observation":"","response":"end"}],"info":{}}`

const sweMiniText = `{"info":{"mini_version":"1","config":{"model":{"model_name":"m"}}},"messages":[
{"role":"system","content":"s"},{"role":"user","content":"fix it"},
{"role":"assistant","content":"look\n` + "```bash\\nls -l\\n```" + `","extra":{"response":{"usage":{"prompt_tokens":10,"completion_tokens":2}}}},
{"role":"user","content":"<returncode>1</returncode>\n<output>no</output>"},
{"role":"assistant","content":"no command"},{"role":"user","content":"give one"},
{"role":"assistant","content":"x","extra":{"actions":[{"command":"a"},{"command":"b"}]}},
{"role":"user","content":"1","extra":{"returncode":0}},{"role":"user","content":"2","extra":{"returncode":2}},
{"role":"exit","content":"","extra":{"exit_status":"Submitted"}}],"trajectory_format":"mini-swe-agent-1.1","instance_id":"task-1"}`

const sweMiniTools = `{"messages":[{"role":"user","content":"fix it"},
{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"bash","arguments":"{\"command\":\"ls\"}"}}],"extra":{"actions":[{"command":"ls","tool_call_id":"1"}]}},
{"role":"tool","tool_call_id":"1","content":"x","extra":{"returncode":0}}],"info":{},"trajectory_format":"mini-swe-agent-1.1"}`

func TestSWEAgent(t *testing.T) {
	for _, test := range []struct {
		name, text      string
		turns           int
		calls, messages []string
		anomalies       string
	}{
		{"functions", sweFunctions, 1, []string{"open@0 unknown text", "submit@0 unknown bye"}, []string{"system@0 s", "user@0 fix it"}, "map[choice-ignored:1 context-copied:2 result-orphan:1]"},
		{"text", sweText, 3, []string{"open@0 unknown text", "submit@2 unknown -"}, []string{"system@0 s", "user@0 fix it", "system@2 write a command"}, "map[]"},
		{"steps", sweSteps, 2, []string{"open@0 unknown text"}, nil, "map[]"},
		{"mini, text", sweMiniText, 3, []string{"bash@0 failed <returncode>1</returncode>\n<output>no</output>", "bash@2 ok 1", "bash@2 failed 2"}, []string{"system@0 s", "user@0 fix it", "system@2 give one"}, "map[]"},
		{"mini, tools", sweMiniTools, 1, []string{"bash@0 ok x"}, []string{"user@0 fix it"}, "map[]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := formattest.ReadText(t, "repo-1.traj", test.text)
			if len(got) != 1 {
				t.Fatalf("%d trajectories, want 1", len(got))
			}
			x := got[0]
			formattest.WantLines(t, "calls", formattest.Brief(x), test.calls)
			formattest.WantLines(t, "messages", formattest.Sayings(x), test.messages)
			if anomalies := fmt.Sprint(x.Anomalies.ByCode); len(x.Turns) != test.turns || anomalies != test.anomalies || x.Format != "swe-agent" {
				t.Errorf("%s: %d turns, anomalies %s, want %d, %s", x.Format, len(x.Turns), anomalies, test.turns, test.anomalies)
			}
		})
	}
	x := formattest.ReadText(t, "repo-1.traj", sweMiniText)[0]
	if x.Task != "task-1" || x.Model != "m" || x.Turns[0].Usage.Input != 10 {
		t.Errorf("task %q, model %q, usage %+v", x.Task, x.Model, x.Turns[0].Usage)
	}
	if x := formattest.ReadText(t, "repo-1.traj", sweText)[0]; x.Task != "repo-1" || x.Calls[0].Args.Text() != `{"command":"open a\n"}` {
		t.Errorf("task %q, arguments %s", x.Task, x.Calls[0].Args.Text())
	}
	if problem := formattest.DecodeError(t, formattest.Format("swe-agent"), `{"history":5}`); problem.Code != build.CodeRecordShape {
		t.Errorf("problem %v", problem)
	}
}

func TestSWEAgentRecorded(t *testing.T) {
	got := formattest.ReadFiles(t, recordings.Recorded(t, "formats/swe-agent/function_calling_simple.traj"))
	if len(got) != 1 {
		t.Fatalf("%d trajectories, want 1", len(got))
	}
	x := got[0]
	formattest.RoundTrip(t, x)
	tools := ""
	for _, c := range x.Calls {
		tools += c.Tool.Value() + " "
		if !c.HasResult || c.Status != trace.StatusUnknown {
			t.Errorf("call %+v", c)
		}
	}
	if len(x.Turns) != 5 || tools != "find_file open edit bash submit " || len(x.Messages) != 2 || x.Task != "function_calling_simple" || x.Anomalies.Total != 0 {
		t.Errorf("got\n%s", formattest.Depict(x))
	}
}

func FuzzSWEAgent(f *testing.F) {
	formattest.FuzzDecoder(f, formattest.Format("swe-agent"), []string{sweFunctions, sweText, sweSteps, sweMiniText, sweMiniTools, `{"history":[1,{"role":"user"}],"messages":[]}`})
}
