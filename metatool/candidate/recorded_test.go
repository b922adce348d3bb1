package candidate

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/rules"
)

// recordedMerged merges one recorded set.
func recordedMerged(t testing.TB, file string, withRules bool) *merge.Merged {
	t.Helper()
	var set *rules.Set
	if withRules {
		set = recordings.AirlineRules(t)
	}
	merger := merge.NewMerger(set, merge.Options{})
	for _, one := range recordings.Read(t, recordings.Recorded(t, file)) {
		merger.Add(one)
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
	for _, set := range recordings.Sets {
		t.Run(set.Oracle, func(t *testing.T) {
			var want struct {
				Extract map[string]oracleExtraction
				Ingest  struct {
					CallingTurns int `json:"calling_turns"`
				}
			}
			if err := json.Unmarshal(recordings.Oracle(t, set.Oracle+".expected.json"), &want); err != nil {
				t.Fatal(err)
			}
			m := recordedMerged(t, set.File, set.Rules)
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
