package merge

import (
	"encoding/json"
	"testing"

	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/rules"
)

func TestTableAgreesWithOracle(t *testing.T) {
	for _, set := range recordings.Sets {
		t.Run(set.Oracle, func(t *testing.T) {
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
			if err := json.Unmarshal(recordings.Oracle(t, set.Oracle+".expected.json"), &want); err != nil {
				t.Fatal(err)
			}
			var ruleSet *rules.Set
			if set.Rules {
				ruleSet = recordings.AirlineRules(t)
			}
			m := NewMerger(ruleSet, Options{Table: true})
			for _, tr := range recordings.Read(t, recordings.Recorded(t, set.File)) {
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
