package atif_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/atif"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/testdata/formattest"
)

func TestATIF(t *testing.T) {
	for _, test := range []struct{ name, record, want string }{
		{
			"version 1.5",
			`{"schema_version": "ATIF-v1.5", "session_id": "025B", "agent": {"name": "harbor-agent", "version": "1.0.0", "model_name": "gemini-2.5-flash", "tool_definitions": [
				{"type": "function", "function": {"name": "financial_search", "description": "d", "parameters": {"type": "object"}}}], "extra": {}},
			  "notes": "n", "final_metrics": {"total_prompt_tokens": 1120}, "steps": [
				{"step_id": 1, "timestamp": "2025-10-11T10:30:00Z", "source": "user", "message": "price?", "extra": {}},
				{"step_id": 2, "timestamp": "2025-10-11T10:30:02Z", "source": "agent", "model_name": "gemini-2.5-pro", "reasoning_effort": "medium", "message": "looking", "reasoning_content": "two calls",
				 "tool_calls": [{"tool_call_id": "p", "function_name": "financial_search", "arguments": {"ticker": "GOOGL", "metric": "price"}}, {"tool_call_id": "v", "function_name": "financial_search", "arguments": {}}],
				 "observation": {"results": [{"source_call_id": "v", "content": "1.5M"}, {"source_call_id": "p", "content": "$185"}]},
				 "metrics": {"prompt_tokens": 520, "completion_tokens": 80, "cached_tokens": 200, "cost_usd": 0.00045, "logprobs": [-0.1], "extra": {"reasoning_tokens": 12, "cache_creation_input_tokens": 7}}},
				{"step_id": 3, "source": "agent", "model_name": "gemini-2.5-flash", "message": "185", "metrics": {"cost_usd": 0}}]}`,
			`id 025B
			session 025B
			agent harbor-agent
			model gemini-2.5-flash
			tool financial_search description "d" input json:{"type":"object"}
			turn 0 calls 0+2 model gemini-2.5-pro tokens 520 (cached 200, written 7) 80 (thought 12) cost 0.00045 start 2025-10-11T10:30:02Z text "looking" thought "two calls"
			turn 1 calls 2+0 cost 0 text "185"
			message 0 at 0/0 time 2025-10-11T10:30:00Z text "price?"
			call p financial_search turn 0 {"metric":"price","ticker":"GOOGL"} result "$185" = "$185"
			call v financial_search turn 0 {} result "1.5M" = "1.5M"`,
		},
		{
			"who decided",
			formattest.ATIFDocument(`"trajectory_id": "t", "continued_trajectory_ref": "next.json", "steps": [
				{"step_id": 1, "source": "agent", "message": "", "llm_call_count": 0, "tool_calls": [{"tool_call_id": "1", "function_name": "f", "arguments": {}}], "observation": {"results": [{"source_call_id": "1", "content": "r"}]}},
				{"step_id": 2, "source": "agent", "message": "x", "llm_call_count": 3},
				{"step_id": 3, "source": "agent", "message": "old", "is_copied_context": true, "tool_calls": [{"tool_call_id": "2", "function_name": "f", "arguments": {}}]},
				{"step_id": 4, "source": "agent", "message": "y", "is_copied_context": false, "llm_call_count": 1, "tool_calls": [{"tool_call_id": "1", "function_name": "g", "arguments": {}}]}]`),
			`id t
			session s
			continued next.json
			agent a
			turn 0 calls 1+0 text "x"
			turn 1 calls 1+1 text "y"
			call 1 f turn -1 {} result "r" = "r" origin code
			call 1 g turn 1 {}
			anomaly call-id-repeated 1
			anomaly context-copied 1
			anomaly turn-aggregated 2`,
		},
		{
			"results",
			formattest.ATIFDocument(`"steps": [
				{"step_id": 1, "source": "agent", "message": "", "tool_calls": [{"tool_call_id": "1", "function_name": "late", "arguments": {}}]},
				{"step_id": 2, "source": "agent", "message": "", "tool_calls": [{"tool_call_id": "1", "function_name": "own", "arguments": {}}], "observation": {"results": [{"source_call_id": "1", "content": "of this step"}]}},
				{"step_id": 3, "source": "system", "message": "result", "observation": {"results": [{"source_call_id": "1", "content": [{"type": "text", "text": "from later"}]}, {"content": "environment reset"}]}},
				{"step_id": 4, "source": "agent", "message": "", "tool_calls": [{"tool_call_id": "2", "function_name": "one", "arguments": {}}], "observation": {"results": [{"source_call_id": null, "content": "the only one"}]}},
				{"step_id": 5, "source": "agent", "message": "", "tool_calls": [{"tool_call_id": "3", "function_name": "a", "arguments": {}}, {"tool_call_id": "4", "function_name": "b", "arguments": {}}], "observation": {"results": [{"content": "screen of both"}]}},
				{"step_id": 6, "source": "agent", "message": "", "tool_calls": [{"tool_call_id": "5", "function_name": "c", "arguments": {}}, {"tool_call_id": "6", "function_name": "d", "arguments": {}}, {"tool_call_id": "7", "function_name": "e", "arguments": {}}], "observation": {"results": [{"content": "first"}, {"source_call_id": "6"}, {"content": "third"}, {"source_call_id": "9", "content": "x"}]}}]`),
			`id s
			session s
			agent a
			turn 0 calls 0+1
			turn 1 calls 1+1
			turn 2 calls 2+1
			turn 3 calls 3+2
			turn 4 calls 5+3
			message 1 at 2/2 text "result"
			call 1 late turn 0 {} result parts:"from later" = "from later"
			call 1 own turn 1 {} result "of this step" = "of this step"
			call 2 one turn 2 {} result "the only one" = "the only one"
			call 3 a turn 3 {}
			call 4 b turn 3 {}
			call 5 c turn 4 {} result "first" = "first"
			call 6 d turn 4 {} result absent
			call 7 e turn 4 {} result "third" = "third"
			anomaly call-id-repeated 1
			anomaly result-detached 2
			anomaly result-orphan 1`,
		},
		{
			"what is not ATIF",
			formattest.ATIFDocument(`"steps": [null, {"step_id": 2, "source": "robot", "message": "x"}, {"message": "x"}, {"source": "user", "message": "", "timestamp": "noon"},
				{"source": "agent", "tool_calls": [{"tool_call_id": "1", "arguments": {}}, 5, {"function_name": "f", "arguments": "{\"a\": 1}"}, {"function_name": "f", "arguments": [1]}, {"function_name": "f"}], "observation": {"results": [7]}}],
				"steps": [{"source": "user", "message": "again"}]`),
			`id s
			session s
			agent a
			message 0 at 0/0 text "again"
			anomaly args-not-object 1
			anomaly call-unnamed 1
			anomaly key-duplicate 1
			anomaly message-role 1
			anomaly message-shape 4
			anomaly time-invalid 1`,
		},
		{
			"what awo adds, wrong",
			formattest.ATIFDocument(`"steps": [
				{"source": "user", "message": "u", "extra": {"awo": {"turn": 5, "call": -3, "message": "json"}}},
				{"source": "agent", "message": "[1", "extra": {"awo": {"message": "parts", "end": "x", "turn": 1.5}}, "tool_calls": [
					{"tool_call_id": "1", "function_name": "f", "arguments": {"a": 1}, "extra": {"awo": {"args": "raw", "origin": "nobody", "status": "great", "error": "e", "error_form": "json", "context": [{"name": 1, "value": null}, 3]}}},
					{"tool_call_id": "2", "function_name": "f", "arguments": [1], "extra": {"awo": {"args": "value"}}}]}],
				"extra": {"awo": {"outcome": "maybe", "score": "high", "anomalies": {"result-orphan": 2, "Secret Value": 1, "x": -1, "key-duplicate": "1"}, "parent": 3}}`),
			`id s
			session s
			agent a
			turn 0 calls 0+2 text "[1"
			message 0 at 0/0 text "u"
			call 1 f turn 0 {"a":1} error "e" context [{1 } { }]
			call 2 f turn 0 no object {"_value":[1]}
			anomaly args-not-object 1
			anomaly result-orphan 2
			anomaly time-invalid 1`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			formattest.WantDescription(t, formattest.DecodeOne(t, &atif.Format, test.record), test.want)
		})
	}
}

func TestATIFSubagents(t *testing.T) {
	record := formattest.ATIFDocument(`"subagent_trajectories": [
			{"schema_version": "ATIF-v1.7", "trajectory_id": "sub-1", "agent": {"name": "b", "version": "1"}, "steps": [{"step_id": 1, "source": "user", "message": "do it"}],
			 "subagent_trajectories": [{"schema_version": "ATIF-v1.7", "trajectory_id": "deep", "agent": {"name": "c", "version": "1"}, "steps": []}]},
			{"schema_version": "ATIF-v1.7", "trajectory_id": "sub-2", "session_id": "s", "agent": {"name": "b", "version": "1"}, "steps": []},
			{"trajectory_id": "broken"}, 7],
		"trajectory_id": "root", "steps": [
			{"step_id": 1, "source": "agent", "message": "", "tool_calls": [{"tool_call_id": "c1", "function_name": "delegate", "arguments": {}}],
			 "observation": {"results": [{"source_call_id": "c1", "subagent_trajectory_ref": [{"trajectory_id": "sub-1", "session_id": "s"}, {"trajectory_path": "elsewhere.json"}]}]}}]`)
	fragments, err := atif.Format.Decode(trace.Record{Data: []byte(record), File: "f", Line: 1, Col: 1})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range fragments {
		tr := f.Trajectory
		got = append(got, fmt.Sprintf("%s<-%s/%s", tr.ID, tr.Parent.Trajectory, tr.Parent.Call))
	}
	if want := "root<-/ sub-1<-root/c1 deep<-sub-1/ sub-2<-root/"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
	root := fragments[0].Trajectory
	if len(root.Calls) != 1 || !root.Calls[0].HasResult || !root.Calls[0].Result.IsZero() || root.Anomalies.ByCode[build.CodeMessageShape] != 2 {
		t.Errorf("the root is\n%s", formattest.Depict(root))
	}
	for _, f := range fragments[1:] {
		formattest.CheckRoundTrip(t, f.Trajectory)
	}

	// A root without any name is given one, so that its sub-agents can refer to it.
	unnamed := strings.NewReplacer(`"trajectory_id": "root",`, "", `"session_id": "s", "agent": {"name": "a"`, `"agent": {"name": "a"`).Replace(record)
	fragments, err = atif.Format.Decode(trace.Record{Data: []byte(unnamed), File: "f", Line: 4, Col: 1})
	if err != nil || fragments[0].Trajectory.ID == "" || fragments[1].Trajectory.Parent.Trajectory != fragments[0].Trajectory.ID {
		t.Errorf("%v: %q started %v", err, fragments[0].Trajectory.ID, fragments[1].Trajectory.Parent)
	}
}
