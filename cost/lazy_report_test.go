package cost

import (
	"testing"

	"github.com/awo-dev/awo/internal/stat"
)

// TestBeats: only a whole interval above zero is certain.
func TestBeats(t *testing.T) {
	known := func(lo, hi float64) stat.Interval { return stat.Interval{Lo: lo, Hi: hi, Level: .95, N: 30} }
	above, across, below := known(.1, .2), known(-.1, .2), known(-.2, -.1)
	none := stat.NoInterval("it takes at least two tasks")
	for _, test := range []struct {
		full, lazy stat.Interval
		want       string
	}{
		{above, above, BeatsBoth},
		{above, across, BeatsFull},
		{above, below, BeatsFull},
		{across, above, BeatsLazy},
		{below, above, BeatsLazy},
		{across, across, BeatsNeither},
		{below, below, BeatsNeither},
		{none, above, BeatsUnknown},
		{above, none, BeatsUnknown},
	} {
		if got := beats(test.full, test.lazy); got != test.want {
			t.Errorf("%+v and %+v: %s, want %s", test.full, test.lazy, got, test.want)
		}
	}
}
