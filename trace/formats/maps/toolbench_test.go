package maps_test

import (
	"fmt"
	"testing"

	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/testdata/formattest"
)

const benchTree = `{"win":%s,"tree":{"size":9,"tree":{"node_type":"Action Input","description":"","children":[
{"node_type":"Action","description":"a","children":[{"node_type":"Action Input","description":"{\"n\":1}","observation":"{\"error\":\"\",\"response\":\"r\"}","observation_code":0,"children":[
 {"node_type":"Thought","description":"try b","children":[{"node_type":"Action","description":"b","children":[{"node_type":"Action Input","description":"{}","observation":"{\"error\":\"bad\"}","observation_code":0,"pruned":true,"children":[]}]}]},
 {"node_type":"Thought","description":"try c","children":[{"node_type":"Action","description":"c","children":[{"node_type":"Action Input","description":"no json","observation":"{\"error\":\"Message error...\"}","observation_code":11,"children":[
  {"node_type":"Action","description":"Finish","children":[{"node_type":"Action Input","description":"{}","observation":"{\"response\":\"x\"}","observation_code":%d,"finished":true,"children":[]}]}]}]}]}
]}]},
{"node_type":"Action","description":"d","children":[{"node_type":"Action Input","description":"{}","observation":"{}","observation_code":0,"children":[]}]}]}},
"answer_generation":{"query":"do it","query_count":7,"function":[{"name":"a","parameters":{}}],"train_messages":[[{"role":"system","content":"be brief"}]]}}`

func TestToolBench(t *testing.T) {
	finishing := []string{"a@0 ok " + `{"error":"","response":"r"}`, "c@1 failed " + `{"error":"Message error..."}`, "Finish@2 ok " + `{"response":"x"}`}
	for _, test := range []struct {
		win       string
		code      int
		calls     []string
		abandoned int
		outcome   trace.Outcome
	}{
		{"true", 3, finishing, 2, trace.OutcomeSuccess},
		{"false", 4, finishing, 2, trace.OutcomeFailure},
		// No end: the path that was tried last.
		{"false", 0, []string{"d@0 ok {}"}, 4, trace.OutcomeFailure},
	} {
		got := formattest.ReadText(t, "answer.json", fmt.Sprintf(benchTree, test.win, test.code))
		if len(got) != 1 {
			t.Fatalf("%d trajectories, want 1", len(got))
		}
		x := got[0]
		formattest.WantLines(t, "calls", formattest.Brief(x), test.calls)
		formattest.WantLines(t, "messages", formattest.Sayings(x), []string{"system@0 be brief", "user@0 do it"})
		if x.Anomalies.ByCode[build.CodeBranchAbandoned] != test.abandoned || x.Outcome != test.outcome || len(x.Tools) != 1 || len(x.Turns) != len(test.calls) {
			t.Errorf("got\n%s", formattest.Depict(x))
		}
	}
	if problem := formattest.DecodeError(t, formattest.Format("toolbench"), `{"tree":{}}`); problem.Code != build.CodeRecordShape {
		t.Errorf("problem %v", problem)
	}
}

// TestToolBenchRecorded: two searches that went straight to their answers, and
// one that gave up.
func TestToolBenchRecorded(t *testing.T) {
	for _, test := range []struct {
		file             string
		turns, abandoned int
		outcome          trace.Outcome
	}{
		{"G1_answer_10_ChatGPT_DFS_woFilter_w2.json", 3, 0, trace.OutcomeSuccess},
		{"G2_answer_102_ChatGPT_DFS_woFilter_w2.json", 4, 0, trace.OutcomeSuccess},
		{"G3_answer_13_ChatGPT_DFS_woFilter_w2.json", 5, 63, trace.OutcomeFailure},
	} {
		got := formattest.ReadFiles(t, recordings.Recorded(t, "toolbench/example/"+test.file))
		if len(got) != 1 {
			t.Fatalf("%d trajectories, want 1", len(got))
		}
		x := got[0]
		formattest.RoundTrip(t, x)
		last := x.Calls[len(x.Calls)-1]
		abandoned := x.Anomalies.ByCode[build.CodeBranchAbandoned]
		if len(x.Turns) != test.turns || len(x.Calls) != test.turns || abandoned != test.abandoned || x.Outcome != test.outcome || last.Tool.Value() != "Finish" || len(x.Tools) == 0 || len(x.Messages) != 2 {
			t.Errorf("%s: %d turns, %d calls, %d abandoned, %v, %s", test.file, len(x.Turns), len(x.Calls), abandoned, x.Outcome, last.Tool.Value())
		}
	}
}

func FuzzToolBench(f *testing.F) {
	formattest.FuzzDecoder(f, formattest.Format("toolbench"), []string{fmt.Sprintf(benchTree, "true", 3), `{"tree":{"tree":{"children":[{"node_type":"Action Input"},{"node_type":"Action"}]}}}`, `{"tree":5}`})
}

const benchChains = `{"12":{"query":"do it","available_tools":[{"name":"a","parameters":{"type":"object","properties":{}}}],"answer":{"method":"m","answer_details":[
{"role":"system","message":"","next":[{"role":"user","message":"do i","next":[
 {"role":"tool","message":"{'name': 'abandoned', 'arguments': '{}'","next":[]},
 {"role":"tool","message":"{'name': 'a', 'arguments': '{}', 'respo","next":[{"role":"assistant","message":"now b","next":[
  {"role":"tool","message":"{'name': 'b', 'argum","next":[{"role":"tool","message":"garbled","next":[{"role":"tool","message":"{'name': 'Finish', 'ar","next":[]}]}]}]}]}]}]}]}},
"13":{"query":"q","available_tools":[],"answer":{"answer_details":[]}}}`

func TestToolBenchAnswers(t *testing.T) {
	got := formattest.ReadText(t, "answers.json", benchChains)
	if len(got) != 2 {
		t.Fatalf("%d trajectories, want 2", len(got))
	}
	x := got[0]
	formattest.WantLines(t, "messages", formattest.Sayings(x), []string{"user@0 do i"})
	var names []string
	for i := range x.Calls {
		c := &x.Calls[i]
		names = append(names, fmt.Sprintf("%s@%d", c.Tool.Value(), c.Turn))
		if c.HasResult || !c.ArgsMissing() {
			t.Errorf("%s has arguments or a result, which are cut", c.Tool.Value())
		}
	}
	formattest.WantLines(t, "calls", names, []string{"a@0", "b@1", "Finish@3"})
	if x.ID != "12" || x.Task != "12" || len(x.Turns) != 4 || len(x.Tools) != 1 || x.Anomalies.ByCode[build.CodeBranchAbandoned] != 1 || x.Anomalies.ByCode[build.CodeCallUnnamed] != 1 {
		t.Errorf("got\n%s", formattest.Depict(x))
	}
}

// TestToolBenchAnswersRecorded reads the answers of an evaluation.
func TestToolBenchAnswersRecorded(t *testing.T) {
	got := formattest.ReadFiles(t, recordings.Recorded(t, "toolbench/cot/G3_instruction.json"))
	calls := 0
	for _, x := range got {
		calls += len(x.Calls)
	}
	if len(got) != 100 || calls < 300 {
		t.Errorf("%d trajectories with %d calls", len(got), calls)
	}
}
