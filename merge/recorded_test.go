package merge

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// The recorded traces are kept beside the project, with the figures that an
// independent program computed from them.
const (
	recordedData   = "../../shared/data"
	recordedOracle = "../../shared/oracle"
)

// recordedSets are the recorded traces with their oracle.
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

// recorded reads one recorded set.
func recorded(t testing.TB, file string) []*trace.Trajectory {
	t.Helper()
	path := filepath.Join(recordedData, file)
	if _, err := os.Stat(path); os.IsNotExist(err) {
		t.Skipf("the recorded traces are not there: %v", err)
	}
	r, err := trace.Open([]string{path}, trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var all []*trace.Trajectory
	for tr, err := range r.All() {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, tr)
	}
	return all
}

// airlineRules are the rules of the airline sets.
func airlineRules(t testing.TB) *rules.Set {
	t.Helper()
	set, err := rules.Parse("airline.rules.json", readRecorded(t, recordedOracle, "airline.rules.json"))
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestTableAgreesWithOracle(t *testing.T) {
	for _, set := range recordedSets {
		t.Run(set.oracle, func(t *testing.T) {
			var want struct {
				Graph []struct {
					Strategy  string
					States    int
					Edges     int
					SelfLoops int `json:"self_loops"`
					Sinks     int
					Labels    int
				}
			}
			if err := json.Unmarshal(readRecorded(t, recordedOracle, set.oracle+".expected.json"), &want); err != nil {
				t.Fatal(err)
			}
			var ruleSet *rules.Set
			if set.rules {
				ruleSet = airlineRules(t)
			}
			m := NewMerger(ruleSet, Options{Table: true})
			for _, tr := range recorded(t, set.file) {
				m.Add(tr)
			}
			got := m.Merged().Table
			if len(got) != len(want.Graph) {
				t.Fatalf("%d strategies, want %d", len(got), len(want.Graph))
			}
			for i, w := range want.Graph {
				row := StrategyStatistics{Strategy: w.Strategy}
				row.States, row.Edges, row.SelfLoops, row.Sinks, row.Labels = w.States, w.Edges, w.SelfLoops, w.Sinks, w.Labels
				if got[i] != row {
					t.Errorf("got  %+v\nwant %+v", got[i], row)
				}
			}
		})
	}
}
