package cost_test

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/trace"
)

// TestDeferral counts the same tasks with definitions in front of every turn, with
// definitions that a search finds, and with a program that makes the calls. The usage that
// the files record was counted over each request as one text. What awo counts turn by turn
// is within 2 % of it in all of them, and is far from it where a deferred definition counts
// from the first turn on.
func TestDeferral(t *testing.T) {
	for name, turns := range map[string]int{"whole": 4, "deferred": 5, "program": 2} {
		deferred := name == "deferred"
		t.Run(name, func(t *testing.T) {
			meter := cost.NewMeter(cost.Options{})
			var recorded, counted, eager, definitions int64
			for _, tr := range recordings.Read(t, filepath.Join("testdata", "deferral", name+".jsonl")) {
				for i := range tr.Turns {
					recorded += tr.Turns[i].Usage.Input
					tr.Turns[i].Usage = trace.Usage{}
				}
				a := meter.Trajectory(tr)
				if (tr.Deferral() != nil) != deferred || len(tr.Turns) != turns {
					t.Fatalf("deferral %v, %d turns", tr.Deferral(), len(tr.Turns))
				}
				for i := range a.Turns {
					definitions += a.DefinitionsAt(i)
				}
				counted += a.Total().Input
				for i := range tr.Tools {
					tr.Tools[i].Deferred = false
				}
				eager += meter.Trajectory(tr).Total().Input
			}
			t.Logf("recorded %d input tokens, counted %d, of which definitions %d; with all definitions from the first turn on %d", recorded, counted, definitions, eager)
			if off := math.Abs(float64(counted)/float64(recorded) - 1); off > 0.02 {
				t.Errorf("counted %d input tokens, recorded %d", counted, recorded)
			}
			if far := float64(eager)/float64(recorded) > 1.5; far != deferred {
				t.Errorf("counted %d input tokens with all definitions from the first turn on, recorded %d", eager, recorded)
			}
		})
	}
}
