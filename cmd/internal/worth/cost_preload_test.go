package worth

import (
	"strings"
	"testing"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/internal/stat"
)

// TestPreloadAnswer reads the answer where something is known and where it is not.
func TestPreloadAnswer(t *testing.T) {
	level := func(tools, byTokens, byUSD string, beyond float64) cost.LazyLevel {
		out := cost.LazyLevel{Name: tools, Preload: &cost.PreloadLine{Tokens: stat.Known(beyond), USD: stat.Known(beyond), ByTokens: byTokens, ByUSD: byUSD}}
		if byTokens == cost.BeatsUnknown {
			out.Preload.TokensInterval = stat.NoInterval("it takes at least two tasks")
		}
		if byUSD == cost.BeatsUnknown {
			out.Preload.USD = stat.Unknown(cost.NoPrice)
		}
		return out
	}
	for _, test := range []struct {
		levels []cost.LazyLevel
		even   cost.BreakEven
		want   []string
	}{
		{
			[]cost.LazyLevel{level("0-10", cost.BeatsLazy, cost.BeatsUnknown, .1), level("11-20", cost.BeatsBoth, cost.BeatsUnknown, .1), level(">20", cost.BeatsBoth, cost.BeatsUnknown, .1), level("all", cost.BeatsBoth, cost.BeatsUnknown, .1)},
			cost.BreakEven{Tokens: stat.Known(14.4), TokensInterval: stat.Interval{Lo: 13, Hi: 15}, USD: stat.Unknown(cost.NoPrice), USDInterval: stat.NoInterval(cost.NoPrice)},
			[]string{"By tokens it beats both with 11-20 and >20 tools, only lazy registration with 0-10.", "at 14.4 tools (95 % interval 13.0 to 15.0).", "By money that cannot be known: " + cost.NoPrice + "."},
		},
		{
			[]cost.LazyLevel{level("0-10", cost.BeatsUnknown, cost.BeatsUnknown, 0), level("all", cost.BeatsUnknown, cost.BeatsUnknown, 0)},
			cost.BreakEven{Tokens: stat.Unknown("never"), USD: stat.Unknown(cost.NoPrice)},
			[]string{"By tokens that cannot be known: it takes at least two tasks.", "No tool is worth registering from the start here"},
		},
		{
			[]cost.LazyLevel{level("0-10", cost.BeatsNeither, cost.BeatsFull, -.1), level("11-20", cost.BeatsUnknown, cost.BeatsLazy, .1), level("all", cost.BeatsNeither, cost.BeatsBoth, .1)},
			cost.BreakEven{Tokens: stat.Unknown("never"), USD: stat.Unknown("never")},
			[]string{"By tokens it beats neither for certain with 0-10 tools, unknown what with 11-20. By money it beats only lazy registration with 11-20 tools, only full registration with 0-10."},
		},
	} {
		got := string(preloadAnswer(&cost.LazyReport{Levels: test.levels, PreloadEven: test.even}))
		for _, want := range test.want {
			if !strings.Contains(got, want) {
				t.Errorf("%q does not say %q", got, want)
			}
		}
	}
}
