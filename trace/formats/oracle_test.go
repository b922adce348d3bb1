package formats_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/completeness"
	"github.com/awo-dev/awo/trace/formats/atif"
	"github.com/awo-dev/awo/trace/formats/openai"
	"github.com/awo-dev/awo/trace/formats/testdata/formattest"
)

// ingestFigures are what an independent program has counted.
type ingestFigures struct {
	Trajectories   int `json:"trajectories"`
	Empty          int `json:"empty"`
	Calls          int `json:"calls"`
	Tools          int `json:"tools"`
	LLMTurns       int `json:"llm_turns"`
	CallingTurns   int `json:"calling_turns"`
	UserMessages   int `json:"user_messages"`
	WithoutResult  int `json:"without_result"`
	OrphanResults  int `json:"orphan_results"`
	CallsAfterUser int `json:"calls_after_user"`
}

func figuresOf(y *completeness.Tally) ingestFigures {
	return ingestFigures{
		Trajectories: y.Trajectories, Empty: y.Empty, Calls: y.Calls, Tools: y.Tools(), LLMTurns: y.LLMTurns,
		CallingTurns: y.CallingTurns, UserMessages: y.UserMessages, WithoutResult: y.WithoutResult,
		OrphanResults: y.OrphanResults, CallsAfterUser: y.CallsAfterUser,
	}
}

// recordedSets are the recorded traces that have expected figures.
var recordedSets = []struct {
	name      string
	format    *trace.Format
	container trace.Container
	path      string
}{
	{"gpt-4o-airline", formattest.Format("tau-bench"), trace.ContainerArray, "taubench/gpt-4o-airline.json"},
	{"airline_azure-gpt-4o", formattest.Format("tau2"), trace.ContainerDocument, "tau2/airline_azure-gpt-4o.json"},
	{"airline_gpt-oss-120b", formattest.Format("tau2"), trace.ContainerDocument, "tau2/airline_gpt-oss-120b.json"},
	{"retail_gpt-4.1", formattest.Format("tau2"), trace.ContainerDocument, "tau2/retail_gpt-4.1.json"},
	{"retail_toolorchestra-gpt-5", formattest.Format("tau2"), trace.ContainerDocument, "tau2/retail_toolorchestra-gpt-5.json"},
}

// TestIngestOracle compares what is read from the recorded traces with what an
// independent program has read from them, directly and by way of ATIF.
func TestIngestOracle(t *testing.T) {
	for _, set := range recordedSets {
		t.Run(set.name, func(t *testing.T) {
			var expected struct {
				Ingest ingestFigures `json:"ingest"`
			}
			if err := json.Unmarshal(recordings.Oracle(t, set.name+".expected.json"), &expected); err != nil {
				t.Fatal(err)
			}
			trajectories := formattest.DecodeAll(t, set.format, recordings.Bytes(t, recordings.Recorded(t, set.path)), set.container)
			var direct, again completeness.Tally
			var lines []byte
			for _, tr := range trajectories {
				direct.Add(tr)
				var err error
				if lines, err = atif.Append(lines, tr); err != nil {
					t.Fatal(err)
				}
			}
			if got := figuresOf(&direct); got != expected.Ingest {
				t.Errorf("got  %+v\nwant %+v", got, expected.Ingest)
			}
			for _, tr := range formattest.DecodeAll(t, &atif.Format, lines, trace.ContainerLines) {
				again.Add(tr)
			}
			if got := figuresOf(&again); got != expected.Ingest {
				t.Errorf("by way of ATIF: got  %+v\nwant %+v", got, expected.Ingest)
			}
			t.Log("anomalies:", direct.Problems)
		})
	}
}

// TestLabelsOracle checks the canonical arguments of the recorded calls against
// labels that an independent program has written, and that it has met all of
// them.
func TestLabelsOracle(t *testing.T) {
	for _, set := range recordedSets {
		t.Run(set.name, func(t *testing.T) {
			var expected struct {
				Graph []struct {
					Strategy string `json:"strategy"`
					Labels   int    `json:"labels"`
				} `json:"graph"`
				Extract map[string]struct {
					MetaTools []struct {
						Calls []string `json:"calls"`
					} `json:"meta_tools"`
				} `json:"extract"`
			}
			if err := json.Unmarshal(recordings.Oracle(t, set.name+".expected.json"), &expected); err != nil {
				t.Fatal(err)
			}
			labels := map[string]bool{}
			var scratch []byte
			for _, tr := range formattest.DecodeAll(t, set.format, recordings.Bytes(t, recordings.Recorded(t, set.path)), set.container) {
				for i := range tr.Calls {
					call := &tr.Calls[i]
					scratch = call.AppendCanonicalArgs(append(scratch[:0], call.Tool.Value()...))
					labels[string(scratch)] = true
					v, ok := call.ArgsValue()
					if built := string(v.AppendCanonical([]byte(call.Tool.Value()))); !ok || built != string(scratch) {
						t.Fatalf("%s is %s when built", scratch, built)
					}
				}
			}
			for _, g := range expected.Graph {
				if g.Strategy == "prefix tree" && g.Labels != len(labels) {
					t.Errorf("%d labels, want %d", len(labels), g.Labels)
				}
			}
			checked := 0
			for _, e := range expected.Extract {
				for _, m := range e.MetaTools {
					for _, call := range m.Calls {
						if strings.Contains(call, "{") && !strings.Contains(call, `"{`) && !labels[call] {
							t.Errorf("no label is %s; there are %v", call, slices.Sorted(maps.Keys(labels))[:3])
						}
						checked++
					}
				}
			}
			t.Logf("%d labels, %d of them named", len(labels), checked)
		})
	}
}

// TestATIFOfFormats checks that what each format gives survives ATIF.
func TestATIFOfFormats(t *testing.T) {
	for _, record := range []struct {
		format *trace.Format
		text   string
	}{
		{&openai.Chat, `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"text","text":"b"}],"tool_calls":[{"id":"1","function":{"name":"f","arguments":"{\"a\":1,\"a\":2}"}},{"id":"1","function":{"name":"g","arguments":"x"}}]},{"role":"tool","tool_call_id":"1","content":[{"type":"text","text":"r"},{"type":"image_url","image_url":{}}]},{"role":"tool","tool_call_id":"1","content":null},{"role":"tool","tool_call_id":"9","content":"\ud800"},{"role":"user","content":[]}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type": "object"}}}]}`},
		{formattest.Format("tau-bench"), `{"task_id":1,"trial":0,"reward":0.0,"traj":[{"role":"user","content":"a"},{"role":"assistant","content":null,"tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]}]}`},
		{formattest.Format("tau2"), `{"id":"s","task_id":"0","trial":0,"reward_info":{"reward":1},"start_time":"2025-12-02T14:04:15.587","messages":[{"role":"user","content":"a","timestamp":"2025-12-02T14:04:15"},{"role":"assistant","content":null,"cost":0.1,"usage":{"prompt_tokens":1,"completion_tokens":2},"timestamp":"2025-12-02T14:04:16","tool_calls":[{"id":"c","name":"f","arguments":{}}]},{"role":"tool","id":"c","content":"r","error":true,"timestamp":"2025-12-02T14:04:17"}]}`},
	} {
		tr := formattest.DecodeOne(t, record.format, record.text)
		if tr.ID == "" {
			tr.ID = "f:1" // as the Reader does
		}
		formattest.CheckRoundTrip(t, tr)
	}
	if testing.Short() {
		return // long, and one trajectory at a time
	}
	for _, set := range recordedSets {
		t.Run(set.name, func(t *testing.T) {
			for _, tr := range formattest.DecodeAll(t, set.format, recordings.Bytes(t, recordings.Recorded(t, set.path)), set.container) {
				formattest.CheckRoundTrip(t, tr)
			}
		})
	}
}

func TestATIFSample(t *testing.T) {
	trajectories := formattest.DecodeAll(t, &atif.Format, recordings.Bytes(t, recordings.Recorded(t, "formats/atif/openagents_login_trajectory.json")), trace.ContainerDocument)
	if len(trajectories) != 1 {
		t.Fatalf("%d trajectories", len(trajectories))
	}
	tr := trajectories[0]
	var y completeness.Tally
	y.Add(tr)
	want := ingestFigures{Trajectories: 1, Calls: 6, Tools: 5, LLMTurns: 6, CallingTurns: 6, UserMessages: 1}
	if got := figuresOf(&y); got != want || tr.ID != "login-trace-trajectory" || tr.Session != "login-trace" || tr.Model != "openagents/khala" || tr.Anomalies.Total != 0 {
		t.Errorf("got %+v\n%s", got, formattest.Depict(tr))
	}
	if tr.Turns[0].Usage.Known || tr.Turns[0].Usage.CostUSD == nil || tr.Turns[0].Model != "" {
		t.Errorf("usage %+v, model %q", tr.Turns[0].Usage, tr.Turns[0].Model)
	}
	formattest.CheckRoundTrip(t, tr)
}

func TestOpenAIChatSamples(t *testing.T) {
	for name, want := range map[string]struct {
		figures ingestFigures
		usage   int // turns with usage
	}{
		"test_chat_tool_calls.request_response.jsonl":     {ingestFigures{Trajectories: 3, Calls: 3, Tools: 1, LLMTurns: 6, CallingTurns: 3}, 3},
		"test_chat_tool_calls.requests_as_finetune.jsonl": {ingestFigures{Trajectories: 3, Calls: 3, Tools: 1, LLMTurns: 3, CallingTurns: 3}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var y completeness.Tally
			usage := 0
			for _, tr := range formattest.DecodeAll(t, &openai.Chat, recordings.Bytes(t, recordings.Recorded(t, "formats/openai-chat/"+name)), trace.ContainerLines) {
				y.Add(tr)
				for i := range tr.Turns {
					if tr.Turns[i].Usage.Known {
						usage++
					}
				}
			}
			if got := figuresOf(&y); got != want.figures || usage != want.usage || y.Problems.Total != 0 {
				t.Errorf("got %+v with %d usages, want %+v; problems %v", got, usage, want, y.Problems)
			}
		})
	}
}
