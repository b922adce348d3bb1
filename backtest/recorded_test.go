package backtest

import (
	"testing"

	"github.com/awo-dev/awo/internal/recordings"
)

// TestRecorded holds what the default saves on recorded traces that it was not
// compiled from, without rules.
func TestRecorded(t *testing.T) {
	for _, test := range []struct {
		file  string
		share float64
		times int // what Algorithm 1 saves where its chains occur
	}{
		{"taubench/gpt-4o-airline.json", 0.15, 3},
		{"tau2/retail_toolorchestra-gpt-5.json", 0.08, 3},
	} {
		t.Run(test.file, func(t *testing.T) {
			o := options(none, awo, patterns)
			o.Choose.MinTurns = 5
			r, err := Run(recordings.Source(recordings.Read(t, recordings.Recorded(t, test.file))), o)
			if err != nil {
				t.Fatal(err)
			}
			p, a := outcomeOf(t, r, "patterns"), outcomeOf(t, r, "awo")
			if float64(p.CallingTurnsSaved) < test.share*float64(p.CallingTurns) || p.CallingTurnsSaved < test.times*a.CallingTurnsSaved {
				t.Errorf("%d of %d calling turns saved, awo %d", p.CallingTurnsSaved, p.CallingTurns, a.CallingTurnsSaved)
			}
			if i := p.Intervals["calling_turns_saved_share"]; !i.Known() || i.Lo <= 0 {
				t.Errorf("interval %v", i)
			}
			if float64(p.Exact) < 0.95*float64(p.Places) {
				t.Errorf("exact at %d of %d places", p.Exact, p.Places)
			}
		})
	}
}
