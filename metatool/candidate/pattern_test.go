package candidate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/internal/scripted"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

func TestPatterns(t *testing.T) {
	three := func(run int) (int, int) { return 3, 1 + run%3 }
	for _, tc := range []struct {
		name   string
		orders func(int) (int, int)
		then   func(int, *scripted.Run)
		rules  string
		want   []string
	}{
		{"a list is walked, as far as the agent likes", three, nil, scripted.ShopRules, []string{
			"login > customer[token=0] > order*1[token=0]",
		}},
		{"of one element", func(run int) (int, int) { return 1 + run%2, 1 + run%2 }, nil, scripted.ShopRules, []string{
			"login > customer[token=0] > order*1[token=0]",
		}},
		{"a write only if all of it is", func(run int) (int, int) { return 3 + run%2, 2 }, nil, `{"version":1,"rules":[]}`, []string{
			"login > customer[token=0]", "order > order",
		}},
		{"and then it is walked, too", func(run int) (int, int) { return 2 + run%2, 2 + run%2 }, nil, `{"version":1,"rules":[]}`, []string{
			"login > customer[token=0] > order*1[token=0]",
		}},
		{
			"up to a user message", func(int) (int, int) { return 2, 0 },
			func(i int, s *scripted.Run) {
				s.User("Go on.").Call("order", fmt.Sprintf(`{"id":"order-%d-1","token":"token-%d"}`, i, i), `{}`)
			}, scripted.ShopRules,
			[]string{"login > customer[token=0]"},
		},
		{
			"not to what only a result told, and the model rewrote", func(int) (int, int) { return 2, 0 },
			func(i int, s *scripted.Run) {
				s.Call("weather", fmt.Sprintf(`{"text":"the place that I made up as number %d"}`, i*7919), `{}`)
			}, scripted.ShopRules,
			[]string{"login > customer[token=0]"},
		},
		{
			"but with what is always the same", func(int) (int, int) { return 2, 0 },
			func(_ int, s *scripted.Run) { s.Call("weather", `{"days":7}`, `{}`) }, scripted.ShopRules,
			[]string{"login > customer[token=0] > weather"},
		},
		{
			"unless a result told it", func(int) (int, int) { return 2, 0 },
			func(_ int, s *scripted.Run) { s.Call("stock", `{}`, `{"next":2}`).Call("weather", `{"page":2}`, `{}`) }, scripted.ShopRules,
			[]string{"login > customer[token=0] > stock"},
		},
		{
			"and with what the user said", func(int) (int, int) { return 2, 0 },
			func(i int, s *scripted.Run) { s.Call("weather", fmt.Sprintf(`{"of":"customer-%d"}`, i), `{}`) }, scripted.ShopRules,
			[]string{"login > customer[token=0] > weather"},
		},
		{
			"no call twice", func(int) (int, int) { return 2, 0 },
			func(i int, s *scripted.Run) {
				s.Call("weather", `{"days":7}`, `{}`).Call("weather", `{"days":7}`, `{}`)
			}, scripted.ShopRules,
			[]string{"login > customer[token=0] > weather"},
		},
		{
			"parallel calls to the end", func(int) (int, int) { return 2, 0 },
			func(i int, s *scripted.Run) {
				s.Call("weather", `{"days":7}`, `{}`).Also("stock", `{"days":8}`, `{}`).Also("news", `{"days":9}`, `{}`)
			}, scripted.ShopRules,
			[]string{"login > customer[token=0] > weather > stock > news"},
		},
		{
			"a walk through what the user was told", func(int) (int, int) { return 4, 0 },
			func(i int, s *scripted.Run) {
				s.User("Read the first ones.")
				for k := range 2 + i%2 {
					s.Call("order", fmt.Sprintf(`{"id":"order-%d-%d","token":"token-%d"}`, i, k, i), `{}`)
				}
			}, scripted.ShopRules,
			[]string{"login > customer[token=0]", "order*-1"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			set, err := rules.Parse("shop.json", []byte(tc.rules))
			if err != nil {
				t.Fatal(err)
			}
			_, p := patternsOf(scripted.Shop(24, tc.orders, tc.then), set, Options{}, true)
			x := p.Extraction()
			var got []string
			for _, c := range x.Candidates {
				got = append(got, brief(c))
			}
			slices.Sort(got)
			if !slices.Equal(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestTopName(t *testing.T) {
	for path, want := range map[string]string{
		"$.id": ".id", "$.flights[*].date": ".flights", "$.a.b": ".a", "$['a.b'].c": "['a.b']", `$['it\'s'][*]`: `['it\'s']`,
		"$": "", "$['open": "['open", `$['\`: `['\`, "$.": ".", "": "",
	} {
		if got := topName(path); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}

// brief writes a pattern with where its arguments come from.
func brief(c *Candidate) string {
	var b strings.Builder
	for i, s := range c.Pattern {
		if i > 0 {
			b.WriteString(" > ")
		}
		b.WriteString(s.Name)
		if s.Each != nil {
			fmt.Fprintf(&b, "*%d", s.From)
		}
		for _, a := range s.Args {
			fmt.Fprintf(&b, "[%s=%d]", a.Link.To.Param(), a.From)
		}
	}
	return b.String()
}

// TestPatternsGain: with prices the pattern that is worth most comes first.
func TestPatternsGain(t *testing.T) {
	set := recordings.Parse(t, "shop.json", []byte(scripted.ShopRules))
	list := scripted.Shop(24, func(run int) (int, int) { return 2, 0 }, nil)
	for range 6 {
		s := (&scripted.Run{}).User("Hello")
		s.Call("x", `{}`, `{}`).Call("y", `{}`, `{}`)
		s.T.Model = "dear"
		list = append(list, &s.T)
	}
	price := func(t *trace.Trajectory, _ int) float64 {
		if t.Model == "dear" {
			return 0.01
		}
		return 0.000001
	}
	for _, tc := range []struct {
		gain  func(*trace.Trajectory, int) float64
		first string
	}{{nil, "login > customer[token=0]"}, {price, "x > y"}} {
		_, p := patternsOf(list, set, Options{Gain: tc.gain}, false)
		x := p.Extraction()
		if len(x.Candidates) != 2 || brief(x.Candidates[0]) != tc.first || x.TurnsSaved() != 30 {
			t.Errorf("%d chains save %d turns, the first is %s; want %s", len(x.Candidates), x.TurnsSaved(), brief(x.Candidates[0]), tc.first)
		}
	}
}

// TestOverlapping finds what taking the best pattern first hides: its parts that save
// enough by themselves, in its occurrences and elsewhere.
func TestOverlapping(t *testing.T) {
	set, err := rules.Parse("shop.json", []byte(scripted.ShopRules))
	if err != nil {
		t.Fatal(err)
	}
	runs := scripted.Shop(24, func(int) (int, int) { return 3, 2 }, nil)
	m, p := patternsOf(runs, set, Options{}, true)
	x := p.Extraction()
	var got []string
	for _, c := range x.Overlapping {
		got = append(got, fmt.Sprintf("%s saves %d turns, %d calls in %d", brief(c), c.TurnsSaved, c.CallsSaved, c.Support))
		turns, calls := 0, 0
		for i := range c.Occurrences {
			o := &c.Occurrences[i]
			saved, fewer := Saving(m.Walks, o.Trajectory, o.First, o.First+merge.Place(c.Places(o)))
			calls, turns = calls+saved, turns+fewer
		}
		if !c.Overlaps || turns != c.TurnsSaved || calls != c.CallsSaved {
			t.Errorf("%s overlaps: %v; its occurrences save %d turns and %d calls, not %d and %d", brief(c), c.Overlaps, turns, calls, c.TurnsSaved, c.CallsSaved)
		}
	}
	if want := []string{
		"customer > order*0 saves 48 turns, 48 calls in 24",
		"order*-1 saves 24 turns, 24 calls in 24",
		"login > customer[token=0] saves 24 turns, 24 calls in 24",
	}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if _, p := patternsOf(runs, set, Options{Threshold: 25}, true); len(p.Extraction().Overlapping) > 0 {
		t.Error("fewer trajectories than the threshold are enough")
	}
}
