package worth

import (
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/report"
)

// TestBeats: only a whole interval above zero is certain.
func TestBeats(t *testing.T) {
	above, across, below := report.Interval{Lo: .1, Hi: .2, Level: .95}, report.Interval{Lo: -.1, Hi: .2, Level: .95}, report.Interval{Lo: -.2, Hi: -.1, Level: .95}
	none := report.NoInterval("it takes at least two tasks")
	for _, test := range []struct {
		full, lazy report.Interval
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
		out := lazyLevelJSON{Tools: tools, Preload: &lazyPreloadJSON{Tokens: report.Known(beyond), USD: report.Known(beyond), ByTokens: byTokens, ByUSD: byUSD}}
		if byTokens == beatsUnknown {
			out.Preload.TokensInterval = report.NoInterval("it takes at least two tasks")
		}
		if byUSD == beatsUnknown {
			out.Preload.USD = report.Unknown(noPrice)
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
			lazyEvenJSON{Tokens: report.Known(14.4), TokensInterval: report.Interval{Lo: 13, Hi: 15, Level: .95}, USD: report.Unknown(noPrice), USDInterval: report.NoInterval(noPrice)},
			[]string{"By tokens it beats both with 11-20 and >20 tools, only lazy registration with 0-10.", "at 14.4 tools (95 % interval 13.0 to 15.0).", "By money that cannot be known: " + noPrice + "."},
		},
		{
			[]lazyLevelJSON{level("0-10", beatsUnknown, beatsUnknown, 0), level("all", beatsUnknown, beatsUnknown, 0)},
			lazyEvenJSON{Tokens: report.Unknown("never"), USD: report.Unknown(noPrice)},
			[]string{"By tokens that cannot be known: it takes at least two tasks.", "No tool is worth registering from the start here"},
		},
		{
			[]lazyLevelJSON{level("0-10", beatsNeither, beatsFull, -.1), level("11-20", beatsUnknown, beatsLazy, .1), level("all", beatsNeither, beatsBoth, .1)},
			lazyEvenJSON{Tokens: report.Unknown("never"), USD: report.Unknown("never")},
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
