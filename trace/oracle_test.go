package trace

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
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

func figuresOf(y *Tally) ingestFigures {
	return ingestFigures{
		Trajectories: y.Trajectories, Empty: y.Empty, Calls: y.Calls, Tools: y.Tools(), LLMTurns: y.LLMTurns,
		CallingTurns: y.CallingTurns, UserMessages: y.UserMessages, WithoutResult: y.WithoutResult,
		OrphanResults: y.OrphanResults, CallsAfterUser: y.CallsAfterUser,
	}
}

// recordedSets are the recorded traces that have expected figures.
var recordedSets = []struct {
	name      string
	format    *Format
	container Container
	path      []string
}{
	{"gpt-4o-airline", &formatTauBench, ContainerArray, []string{"data", "taubench", "gpt-4o-airline.json"}},
	{"airline_azure-gpt-4o", &formatTau2, ContainerDocument, []string{"data", "tau2", "airline_azure-gpt-4o.json"}},
	{"airline_gpt-oss-120b", &formatTau2, ContainerDocument, []string{"data", "tau2", "airline_gpt-oss-120b.json"}},
	{"retail_gpt-4.1", &formatTau2, ContainerDocument, []string{"data", "tau2", "retail_gpt-4.1.json"}},
	{"retail_toolorchestra-gpt-5", &formatTau2, ContainerDocument, []string{"data", "tau2", "retail_toolorchestra-gpt-5.json"}},
}

// TestIngestOracle compares what is read from the recorded traces with what an
// independent program has read from them, directly and by way of ATIF.
func TestIngestOracle(t *testing.T) {
	for _, set := range recordedSets {
		t.Run(set.name, func(t *testing.T) {
			var expected struct {
				Ingest ingestFigures `json:"ingest"`
			}
			if err := json.Unmarshal(sharedFile(t, "oracle", set.name+".expected.json"), &expected); err != nil {
				t.Fatal(err)
			}
			trajectories := decodeAll(t, set.format, sharedFile(t, set.path...), set.container)
			var direct, again Tally
			var lines []byte
			for _, tr := range trajectories {
				direct.Add(tr)
				var err error
				if lines, err = AppendATIF(lines, tr); err != nil {
					t.Fatal(err)
				}
			}
			if got := figuresOf(&direct); got != expected.Ingest {
				t.Errorf("got  %+v\nwant %+v", got, expected.Ingest)
			}
			for _, tr := range decodeAll(t, &formatATIF, lines, ContainerLines) {
				again.Add(tr)
			}
			if got := figuresOf(&again); got != expected.Ingest {
				t.Errorf("by way of ATIF: got  %+v\nwant %+v", got, expected.Ingest)
			}
			t.Log("oddities:", direct.Problems)
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
			if err := json.Unmarshal(sharedFile(t, "oracle", set.name+".expected.json"), &expected); err != nil {
				t.Fatal(err)
			}
			labels := map[string]bool{}
			var scratch []byte
			for _, tr := range decodeAll(t, set.format, sharedFile(t, set.path...), set.container) {
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
