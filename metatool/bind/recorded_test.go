package bind_test

import (
	"slices"
	"testing"

	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/compile"
)

// readsOnly declares what the recorded shops and airlines read.
const readsOnly = `{"version": 1, "rules": [
	{"id": "reads", "kind": "effect", "match": {"tool": ["get_*", "find_*", "list_*", "search_*", "calculate"]}, "effect": "accessor"},
	{"id": "notes", "kind": "effect", "match": {"tool": "think"}, "effect": "annotator"}
]}`

// TestRecordedFanOut: looking up a user and all of the user's reservations or
// orders is one walk over a list.
func TestRecordedFanOut(t *testing.T) {
	for _, test := range []struct {
		file, first, each string
	}{
		{"tau2/airline_azure-gpt-4o.json", "get_user_details", "get_reservation_details"},
		{"taubench/gpt-4o-airline.json", "get_user_details", "get_reservation_details"},
		{"tau2/retail_gpt-4.1.json", "get_user_details", "get_order_details"},
		{"tau2/retail_toolorchestra-gpt-5.json", "get_user_details", "get_order_details"},
	} {
		t.Run(test.file, func(t *testing.T) {
			list := recordings.Read(t, recordings.Recorded(t, test.file))
			c := compiled(t, list, recordings.Parse(t, "reads.json", []byte(readsOnly)), compile.Options{Algorithm: compile.Patterns})
			offered, saved := 0, 0
			found := false
			for _, d := range c.Definitions {
				if d.Refusals != nil {
					t.Logf("refused: %s", summarize(d))
					continue
				}
				offered++
				saved += d.Candidate.TurnsSaved
				at := slices.IndexFunc(d.Steps, func(s metatool.Step) bool { return s.Tool == test.first })
				if at < 0 || at+1 >= len(d.Steps) || d.Steps[at+1].Tool != test.each || d.Steps[at+1].Each == nil || d.Steps[at+1].Each.Kind != metatool.BindStep {
					continue
				}
				found = true
				for _, b := range d.Bound {
					if b.Step == at+1 && b.Evidence.Judgment != nil && b.Evidence.Judgment.FanOut != nil {
						e := b.Evidence
						t.Logf("%s: %d of %d occurrences, link %d of %d, extra calls %.2f (95th percentile %d)",
							summarize(d), e.Agree, e.Occurrences, e.Judgment.Agree, e.Judgment.Uses, e.ExtraMean, e.ExtraP95)
					}
				}
			}
			t.Logf("%d offered save at most %d of %d calling turns", offered, saved, c.Extraction.Turns)
			if !found {
				t.Errorf("%s and %s of each are no tool", test.first, test.each)
				for _, d := range c.Definitions {
					t.Log(summarize(d))
				}
			}
		})
	}
}
