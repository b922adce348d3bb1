package worth

import (
	"strings"
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
		{above, above, beatsBoth},
		{above, across, beatsFull},
		{above, below, beatsFull},
		{across, above, beatsLazy},
		{below, above, beatsLazy},
		{across, across, beatsNeither},
		{below, below, beatsNeither},
		{none, above, beatsUnknown},
		{above, none, beatsUnknown},
	} {
		if got := beats(test.full, test.lazy); got != test.want {
			t.Errorf("%+v and %+v: %s, want %s", test.full, test.lazy, got, test.want)
		}
	}
}

// TestPreloadAnswer reads the answer where something is known and where it is not.
func TestPreloadAnswer(t *testing.T) {
	level := func(tools, byTokens, byUSD string, beyond float64) lazyLevelJSON {
		out := lazyLevelJSON{Tools: tools, Preload: &lazyPreloadJSON{Tokens: stat.Known(beyond), USD: stat.Known(beyond), ByTokens: byTokens, ByUSD: byUSD}}
		if byTokens == beatsUnknown {
			out.Preload.TokensInterval = stat.NoInterval("it takes at least two tasks")
		}
		if byUSD == beatsUnknown {
			out.Preload.USD = stat.Unknown(noPrice)
		}
		return out
	}
	for _, test := range []struct {
		levels []lazyLevelJSON
		even   lazyEvenJSON
		want   []string
	}{
		{
			[]lazyLevelJSON{level("0-10", beatsLazy, beatsUnknown, .1), level("11-20", beatsBoth, beatsUnknown, .1), level(">20", beatsBoth, beatsUnknown, .1), level("all", beatsBoth, beatsUnknown, .1)},
			lazyEvenJSON{Tokens: stat.Known(14.4), TokensInterval: stat.Interval{Lo: 13, Hi: 15}, USD: stat.Unknown(noPrice), USDInterval: stat.NoInterval(noPrice)},
			[]string{"By tokens it beats both with 11-20 and >20 tools, only lazy registration with 0-10.", "at 14.4 tools (95 % interval 13.0 to 15.0).", "By money that cannot be known: " + noPrice + "."},
		},
		{
			[]lazyLevelJSON{level("0-10", beatsUnknown, beatsUnknown, 0), level("all", beatsUnknown, beatsUnknown, 0)},
			lazyEvenJSON{Tokens: stat.Unknown("never"), USD: stat.Unknown(noPrice)},
			[]string{"By tokens that cannot be known: it takes at least two tasks.", "No tool is worth registering from the start here"},
		},
		{
			[]lazyLevelJSON{level("0-10", beatsNeither, beatsFull, -.1), level("11-20", beatsUnknown, beatsLazy, .1), level("all", beatsNeither, beatsBoth, .1)},
			lazyEvenJSON{Tokens: stat.Unknown("never"), USD: stat.Unknown("never")},
			[]string{"By tokens it beats neither for certain with 0-10 tools, unknown what with 11-20. By money it beats only lazy registration with 11-20 tools, only full registration with 0-10."},
		},
	} {
		got := string(preloadAnswer(&lazyJSON{Levels: test.levels, PreloadEven: test.even}))
		for _, want := range test.want {
			if !strings.Contains(got, want) {
				t.Errorf("%q does not say %q", got, want)
			}
		}
	}
}
