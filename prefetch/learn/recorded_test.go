package learn

import (
	"testing"

	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/internal/toolname"
	"github.com/awo-dev/awo/trace"
)

func byName(tool trace.Name) bool {
	effect, _ := toolname.Decide(toolname.Unknown, toolname.Unknown, tool.Value())
	return effect == toolname.Reads
}

// The figures are those of a script that has nothing in common with this package and
// reads the recorded messages itself.
func TestRecorded(t *testing.T) {
	want := map[string]map[string][2]int{ // uses of values offered
		"taubench/gpt-4o-airline.json": {"get_user_details-get_reservation_details": {264, 506}},
		"tau2/retail_gpt-4.1.json":     {"get_user_details-get_order_details": {107, 119}, "find_user_id_by_name_zip-get_user_details": {34, 35}},
	}
	for file, rules := range want {
		list := recordings.Read(t, recordings.Recorded(t, file))
		s := NewSurvey(corpus.Filled(list, corpus.Options{}), Options{Reads: byName, Workers: 2})
		r := s.Choose(ChooseOptions{})
		if err := r.Set.Check(); err != nil {
			t.Error(err)
		}
		for id, figures := range rules {
			found := false
			for i := range r.Set.Rules {
				if e := &r.Evidence[i]; r.Set.Rules[i].ID == id {
					found = true
					if got := [2]int{e.Used, e.Offered}; got != figures {
						t.Errorf("%s: %s: %v of uses and offers, want %v", file, id, got, figures)
					}
				}
			}
			if !found {
				t.Errorf("%s: no rule %s", file, id)
			}
		}
	}
}
