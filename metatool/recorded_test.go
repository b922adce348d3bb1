package metatool

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// The recorded traces are kept beside the project, with the figures that an
// independent program computed from them.
const (
	recordedData   = "../../shared/data"
	recordedOracle = "../../shared/oracle"
)

var recordedSets = []struct {
	file, oracle string
	rules        bool // airline.rules.json applies
}{
	{"tau2/airline_azure-gpt-4o.json", "airline_azure-gpt-4o", true},
	{"tau2/airline_gpt-oss-120b.json", "airline_gpt-oss-120b", true},
	{"taubench/gpt-4o-airline.json", "gpt-4o-airline", true},
	{"tau2/retail_gpt-4.1.json", "retail_gpt-4.1", false},
	{"tau2/retail_toolorchestra-gpt-5.json", "retail_toolorchestra-gpt-5", false},
}

func readRecorded(t testing.TB, path ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path...))
	if os.IsNotExist(err) {
		t.Skipf("the recorded traces are not there: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// recordedMerged merges one recorded set.
func recordedMerged(t testing.TB, file string, withRules bool) *merge.Merged {
	t.Helper()
	path := filepath.Join(recordedData, file)
	if _, err := os.Stat(path); os.IsNotExist(err) {
		t.Skipf("the recorded traces are not there: %v", err)
	}
	var set *rules.Set
	if withRules {
		var err error
		if set, err = rules.Parse("airline.rules.json", readRecorded(t, recordedOracle, "airline.rules.json")); err != nil {
			t.Fatal(err)
		}
	}
	r, err := trace.Open([]string{path}, trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	merger := merge.NewMerger(set, merge.Options{})
	for tr, err := range r.All() {
		if err != nil {
			t.Fatal(err)
		}
		merger.Add(tr)
	}
	return merger.Merged()
}

// oracleExtraction is an extraction as the oracle writes it.
type oracleExtraction struct {
	Threshold   int              `json:"threshold"`
	CallsBefore int              `json:"calls_before"`
	CallsAfter  int              `json:"calls_after"`
	TurnsSaved  int              `json:"turns_saved"`
	MetaTools   []oracleMetaTool `json:"meta_tools"`
}

type oracleMetaTool struct {
	Calls       []string `json:"calls"`
	Support     int      `json:"support"`
	Occurrences int      `json:"occurrences"`
	TurnsSaved  int      `json:"turns_saved"`
}

func TestExtractAgreesWithOracle(t *testing.T) {
	for _, set := range recordedSets {
		t.Run(set.oracle, func(t *testing.T) {
			var want struct {
				Extract map[string]oracleExtraction
				Ingest  struct {
					CallingTurns int `json:"calling_turns"`
				}
			}
			if err := json.Unmarshal(readRecorded(t, recordedOracle, set.oracle+".expected.json"), &want); err != nil {
				t.Fatal(err)
			}
			m := recordedMerged(t, set.file, set.rules)
			for name, asPublished := range map[string]bool{"paper": true, "default": false} {
				x := Extract(m, Options{Threshold: 5, AsPublished: asPublished})
				got := oracleExtraction{5, x.Calls, x.CallsAfter, x.TurnsSaved(), []oracleMetaTool{}}
				for _, c := range x.Candidates {
					tool := oracleMetaTool{nil, c.Support, len(c.Occurrences), c.TurnsSaved}
					for _, l := range c.Labels {
						tool.Calls = append(tool.Calls, m.Labels.Text(l))
					}
					got.MetaTools = append(got.MetaTools, tool)
				}
				if !reflect.DeepEqual(got, want.Extract[name]) {
					t.Errorf("%s: got\n%+v\nwant\n%+v", name, got, want.Extract[name])
				}
				if x.Turns != want.Ingest.CallingTurns {
					t.Errorf("%d calling turns, want %d", x.Turns, want.Ingest.CallingTurns)
				}
				if again := describe(m, newNaive(m, x.Options).run()); again != describe(m, x) {
					t.Errorf("the naive algorithm gives\n%s", again)
				}
			}
		})
	}
}
