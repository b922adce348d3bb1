package metatool

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// runScript builds a trajectory.
type runScript struct{ t trace.Trajectory }

func (s *runScript) user(text string) *runScript {
	s.t.Messages = append(s.t.Messages, trace.Message{Role: trace.RoleUser, Text: trace.TextOf(text), Turn: len(s.t.Turns)})
	return s
}

// call adds a turn with a call; with also, a call of the turn before.
func (s *runScript) call(tool, args, result string) *runScript {
	s.t.Turns = append(s.t.Turns, trace.Turn{FirstCall: len(s.t.Calls)})
	return s.also(tool, args, result)
}

func (s *runScript) also(tool, args, result string) *runScript {
	turn := len(s.t.Turns) - 1
	s.t.Turns[turn].NumCalls++
	s.t.Calls = append(s.t.Calls, trace.Call{
		Tool: trace.Intern(tool), Args: trace.JSONOf([]byte(args)), Result: trace.JSONOf([]byte(result)), HasResult: true,
		Turn: turn, AfterUser: len(s.t.Messages) > 1 && s.t.Messages[len(s.t.Messages)-1].Turn == turn && s.t.Turns[turn].NumCalls == 1,
	})
	return s
}

// shop yields runs in which a customer's orders are read. After them comes what
// then adds.
func shop(n int, orders func(run int) (has, reads int), then func(run int, s *runScript)) []*trace.Trajectory {
	var list []*trace.Trajectory
	for i := range n {
		has, reads := orders(i)
		var ids []string
		for k := range has {
			ids = append(ids, fmt.Sprintf("order-%d-%d", i, k))
		}
		text, _ := json.Marshal(ids)
		s := (&runScript{}).user(fmt.Sprintf("I am customer-%d", i))
		s.call("login", fmt.Sprintf(`{"name":"customer-%d"}`, i), fmt.Sprintf(`{"token":"token-%d"}`, i))
		s.call("customer", fmt.Sprintf(`{"name":"customer-%d","token":"token-%d"}`, i, i), fmt.Sprintf(`{"orders":%s,"city":"city-%d"}`, text, i))
		for _, id := range ids[:reads] {
			s.call("order", fmt.Sprintf(`{"id":"%s","token":"token-%d"}`, id, i), fmt.Sprintf(`{"parcel":"parcel-of-%s"}`, id))
		}
		if then != nil {
			then(i, s)
		}
		list = append(list, &s.t)
	}
	return list
}

const shopRules = `{"version": 1, "rules": [
	{"id": "reads", "kind": "effect", "match": {"tool": ["customer", "order", "parcel", "weather"]}, "effect": "accessor"},
	{"id": "again", "kind": "effect", "match": {"tool": "login"}, "effect": "mutator", "idempotent": true}
]}`

func TestPatterns(t *testing.T) {
	three := func(run int) (int, int) { return 3, 1 + run%3 }
	for _, tc := range []struct {
		name   string
		orders func(int) (int, int)
		then   func(int, *runScript)
		rules  string
		want   []string
	}{
		{"a list is walked, as far as the agent likes", three, nil, shopRules, []string{
			"login > customer[token=0] > order*1[token=0]",
		}},
		{"of one element", func(run int) (int, int) { return 1 + run%2, 1 + run%2 }, nil, shopRules, []string{
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
			func(i int, s *runScript) {
				s.user("Go on.").call("order", fmt.Sprintf(`{"id":"order-%d-1","token":"token-%d"}`, i, i), `{}`)
			}, shopRules,
			[]string{"login > customer[token=0]"},
		},
		{
			"not to what only a result told, and the model rewrote", func(int) (int, int) { return 2, 0 },
			func(i int, s *runScript) {
				s.call("weather", fmt.Sprintf(`{"text":"the place that I made up as number %d"}`, i*7919), `{}`)
			}, shopRules,
			[]string{"login > customer[token=0]"},
		},
		{
			"but with what is always the same", func(int) (int, int) { return 2, 0 },
			func(_ int, s *runScript) { s.call("weather", `{"days":7}`, `{}`) }, shopRules,
			[]string{"login > customer[token=0] > weather"},
		},
		{
			"unless a result told it", func(int) (int, int) { return 2, 0 },
			func(_ int, s *runScript) { s.call("stock", `{}`, `{"next":2}`).call("weather", `{"page":2}`, `{}`) }, shopRules,
			[]string{"login > customer[token=0] > stock"},
		},
		{
			"and with what the user said", func(int) (int, int) { return 2, 0 },
			func(i int, s *runScript) { s.call("weather", fmt.Sprintf(`{"of":"customer-%d"}`, i), `{}`) }, shopRules,
			[]string{"login > customer[token=0] > weather"},
		},
		{
			"no call twice", func(int) (int, int) { return 2, 0 },
			func(i int, s *runScript) {
				s.call("weather", `{"days":7}`, `{}`).call("weather", `{"days":7}`, `{}`)
			}, shopRules,
			[]string{"login > customer[token=0] > weather"},
		},
		{
			"parallel calls to the end", func(int) (int, int) { return 2, 0 },
			func(i int, s *runScript) {
				s.call("weather", `{"days":7}`, `{}`).also("stock", `{"days":8}`, `{}`).also("news", `{"days":9}`, `{}`)
			}, shopRules,
			[]string{"login > customer[token=0] > weather > stock > news"},
		},
		{
			"a walk through what the user was told", func(int) (int, int) { return 4, 0 },
			func(i int, s *runScript) {
				s.user("Read the first ones.")
				for k := range 2 + i%2 {
					s.call("order", fmt.Sprintf(`{"id":"order-%d-%d","token":"token-%d"}`, i, k, i), `{}`)
				}
			}, shopRules,
			[]string{"login > customer[token=0]", "order*-1"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			set, err := rules.Parse("shop.json", []byte(tc.rules))
			if err != nil {
				t.Fatal(err)
			}
			_, p := patternsOf(shop(24, tc.orders, tc.then), set, Options{}, true)
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
	set := recordings.Parse(t, "shop.json", []byte(shopRules))
	list := shop(24, func(run int) (int, int) { return 2, 0 }, nil)
	for range 6 {
		s := (&runScript{}).user("Hello")
		s.call("x", `{}`, `{}`).call("y", `{}`, `{}`)
		s.t.Model = "dear"
		list = append(list, &s.t)
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
			t.Errorf("%d candidates save %d turns, the first is %s; want %s", len(x.Candidates), x.TurnsSaved(), brief(x.Candidates[0]), tc.first)
		}
	}
}
