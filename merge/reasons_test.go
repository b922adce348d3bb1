package merge

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/stategraph"
	"github.com/awo-dev/awo/trace"
)

// calls makes a trajectory of calls written as "tool" or "tool arg", where the
// argument is the value of `x`; "tool!" fails.
func calls(list ...string) *trace.Trajectory {
	t := &trace.Trajectory{ID: strings.Join(list, " "), Outcome: trace.OutcomeSuccess}
	for i, c := range list {
		name, value, has := strings.Cut(c, " ")
		call := trace.Call{Tool: trace.Intern(strings.TrimSuffix(name, "!")), Args: trace.JSONOf([]byte("{}")), Turn: i, Status: trace.StatusOK}
		if has {
			call.Args = trace.JSONOf(fmt.Appendf(nil, `{"x":%q}`, value))
		}
		if strings.HasSuffix(name, "!") {
			call.Status = trace.StatusFailed
		}
		t.Turns = append(t.Turns, trace.Turn{FirstCall: i, NumCalls: 1})
		t.Calls = append(t.Calls, call)
	}
	return t
}

func parseRules(t *testing.T, src string) *rules.Set {
	t.Helper()
	set, err := rules.Parse("rules.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return set
}

const reasonRules = `
version: 1
failed: drop
rules:
  - {id: reads, kind: effect, match: {tool: "r*"}, effect: accessor}
  - {id: notes, kind: effect, match: {tool: note}, effect: annotator}
  - {id: ids, kind: rewrite, match: {tool: "*", arg: x}, pattern: '^\d+$', with: "{N}"}
  - {id: a, kind: domain, match: {tool: "a*"}, domain: a}
  - {id: b, kind: domain, match: {tool: "b*"}, domain: b}
  - {id: ping, kind: drop, match: {tool: ping}}
  - {id: again, kind: loop, match: {tool: a1}}
  - {id: pages, kind: loop, match: {tool: r2}, ignore_args: [x]}
  - {id: swap, kind: commute, match: {tool: w1}, with: {tool: w2}}
  - {id: typing, kind: rename, match: {tool: q}, to: a2}
`

func TestReasons(t *testing.T) {
	for _, test := range []struct {
		runs  []*trace.Trajectory
		state stategraph.StateID
		join  []string
		rules []string
	}{
		{[]*trace.Trajectory{calls("w1"), calls("w1")}, 1, nil, nil},
		{[]*trace.Trajectory{calls("w1 7"), calls("w1 8")}, 1, []string{"calls"}, []string{"ids"}},
		{[]*trace.Trajectory{calls("r1", "r3"), calls("r3", "r1")}, 2, []string{"order"}, []string{"reads"}},
		{[]*trace.Trajectory{calls("r1", "w1"), calls("w1", "r1")}, 2, []string{"order"}, []string{"reads"}},
		{[]*trace.Trajectory{calls("a1", "b1"), calls("b1", "a1")}, 2, []string{"order"}, []string{"a", "b"}},
		{[]*trace.Trajectory{calls("w1", "w2"), calls("w2", "w1")}, 2, []string{"order"}, []string{"swap"}},
		{[]*trace.Trajectory{calls("r1 1", "r3"), calls("r3", "r1 2")}, 2, []string{"calls", "order"}, []string{"reads", "ids"}},
		{[]*trace.Trajectory{calls("a1", "b1", "r1"), calls("r1", "b1", "a1")}, 3, []string{"order"}, []string{"reads", "a", "b"}},
		{[]*trace.Trajectory{calls("n", "a1", "r1"), calls("n", "r1", "a1")}, 3, []string{"order"}, []string{"reads"}},
		{[]*trace.Trajectory{calls("w1", "note")}, 1, []string{"unchanged"}, []string{"notes"}},
		{[]*trace.Trajectory{calls("w1", "ping")}, 1, []string{"unchanged"}, []string{"ping"}},
		{[]*trace.Trajectory{calls("w1", "w2!")}, 1, []string{"unchanged"}, []string{"failed:"}},
		{[]*trace.Trajectory{calls("a1", "a1")}, 1, []string{"unchanged"}, []string{"again"}},
		{[]*trace.Trajectory{calls("r2 x"), calls("r2 y")}, 1, []string{"calls"}, []string{"pages"}},
		{[]*trace.Trajectory{calls("q"), calls("a2")}, 1, []string{"calls"}, []string{"typing"}},
		{[]*trace.Trajectory{calls("w1 7", "w2"), calls("w1 8", "w2")}, 2, []string{"inherited"}, nil},
	} {
		m := NewMerger(parseRules(t, reasonRules), Options{Reasons: true})
		for _, run := range test.runs {
			m.Add(run)
		}
		r := m.Merged().Reasons
		if got := r.Join(test.state).Names(); !slices.Equal(got, test.join) || !slices.Equal(r.Rules(test.state), test.rules) {
			t.Errorf("%s: %v by %v, want %v by %v", test.runs[0].ID, got, r.Rules(test.state), test.join, test.rules)
		}
		if r.Several(test.state) != (test.join != nil) {
			t.Errorf("%s: several is %t", test.runs[0].ID, r.Several(test.state))
		}
	}
}

// TestReasonsNameWhatMatters: a rule without which the graph has more states,
// while every call is read by the same rules, is named at some state.
func TestReasonsNameWhatMatters(t *testing.T) {
	alphabet := []string{"r1", "r1 7", "r1 8", "r3", "a1", "a2 5", "a2 6", "b1", "b1 6", "w1", "w2", "note", "ping"}
	set := parseRules(t, reasonRules)
	checked := 0
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 2))
		var runs []*trace.Trajectory
		for range 2 + random.IntN(4) {
			var list []string
			for range 1 + random.IntN(5) {
				list = append(list, alphabet[random.IntN(len(alphabet))])
			}
			runs = append(runs, calls(list...))
		}
		merged := func(set *rules.Set) *Merged {
			m := NewMerger(set, Options{Reasons: true})
			for _, run := range runs {
				m.Add(run)
			}
			return m.Merged()
		}
		m := merged(set)
		named := map[string]bool{}
		for _, r := range m.Reasons.ByRule() {
			named[r.Rule] = true
		}
		for i, rule := range set.Rules {
			without := *set
			without.Rules = slices.Concat(set.Rules[:i], set.Rules[i+1:])
			if merged(&without).Graph.States() > m.Graph.States() {
				checked++
				if !named[rule.ID] {
					t.Errorf("seed %d: without %s there are more states, but it is named nowhere: %q", seed, rule.ID, ids(runs))
				}
			}
		}
	}
	if checked < 100 {
		t.Errorf("only %d rules mattered", checked)
	}
}

// TestReasonsComplete: a state has several histories, told apart call by call,
// exactly if it has a reason; and watching changes no graph.
func TestReasonsComplete(t *testing.T) {
	alphabet := []string{"r1", "r1 7", "r1 8", "r2 x", "r2 y", "note", "a1", "a2", "a2 5", "b1", "b1 6", "ping", "w1", "w2", "w2!", "q", "n"}
	set := parseRules(t, reasonRules)
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 1))
		watched, plain := NewMerger(set, Options{Reasons: true}), NewMerger(set, Options{})
		var runs []*trace.Trajectory
		for range 2 + random.IntN(6) {
			var list []string
			for range random.IntN(7) {
				list = append(list, alphabet[random.IntN(len(alphabet))])
			}
			runs = append(runs, calls(list...))
			watched.Add(runs[len(runs)-1])
			plain.Add(runs[len(runs)-1])
		}
		m, p := watched.Merged(), plain.Merged()
		if m.Graph.Statistics() != p.Graph.Statistics() {
			t.Fatalf("seed %d: watching changes the graph: %v, want %v", seed, m.Graph.Statistics(), p.Graph.Statistics())
		}
		histories := make([]map[string]bool, m.Graph.States())
		for i := range histories {
			histories[i] = map[string]bool{}
		}
		for i, run := range runs {
			first, last := m.Walks.Of(i)
			at, step := stategraph.Root, first
			histories[at][""] = true
			past := ""
			for c := range run.Calls {
				call := &run.Calls[c]
				past += call.Tool.Value() + string(call.Args.Data) + call.Status.String() + "\n"
				if step < last {
					if from, _, _ := m.Walks.Calls(step); from == c {
						at = m.Graph.To(m.Walks.Edge(step))
						step++
					}
				}
				histories[at][past] = true
			}
		}
		for s, seen := range histories {
			if got, want := m.Reasons.Several(stategraph.StateID(s)), len(seen) > 1; got != want {
				t.Fatalf("seed %d, state %d: several is %t, but it has the histories %v (%v)", seed, s, got, seen, m.Reasons.Join(stategraph.StateID(s)).Names())
			}
		}
	}
}

func TestUsage(t *testing.T) {
	u := NewUsage(parseRules(t, `
version: 1
rules:
  - {id: none, kind: effect, match: {tool: nothing}, effect: accessor}
  - {id: general, kind: effect, match: {tool: "r*"}, effect: accessor}
  - {id: special, kind: effect, match: {tool: r1}, effect: annotator}
  - {id: idle, kind: rewrite, match: {arg: x}, pattern: '^z$', with: Z}
  - {id: gone, kind: drop, match: {tool: ping, args: {x: '^\d'}}}
  - {id: fold, kind: fold, match: {tool: type}, arg: x}
  - {id: folded, kind: effect, match: {tool: type, args: {x: '^milk$'}}, effect: annotator}
  - {id: bad, kind: status, match: {tool: w}, result: ^Error, is: failed}
`))
	run := calls("r1", "r1", "ping 1", "ping 2", "ping x", "type mi", "type lk", "w")
	run.Calls[7].Result, run.Calls[7].HasResult = trace.TextOf("Error: no"), true
	u.Add(run)
	want := []string{"none 0/0 <nil>", "general 2/0 special", "special 2/2 <nil>", "idle 2/0 <nil>", "gone 2/2 <nil>", "fold 1/1 <nil>", "folded 1/1 <nil>", "bad 1/1 <nil>"}
	for i, r := range u.Rules() {
		by := "<nil>"
		if r.OverruledBy != nil {
			by = r.OverruledBy.ID
		}
		if got := fmt.Sprintf("%s %d/%d %s", r.Rule.ID, r.Matched, r.Decided, by); got != want[i] {
			t.Errorf("got %s, want %s", got, want[i])
		}
	}
	if got := u.Rules()[4].Patterns; len(got) != 1 || got[0] != (PatternUsage{"x", 3, 2}) {
		t.Errorf("the pattern of gone: %v", got)
	}
	if u.Steps() != 7 {
		t.Errorf("%d steps, want 7", u.Steps())
	}
}

// TestExplain: stages in their order, losers of last-match-wins, and no value
// that nobody allowed.
func TestExplain(t *testing.T) {
	set := parseRules(t, `
version: 1
failed: drop
rules:
  - {id: any, kind: effect, match: {tool: "*"}, effect: annotator}
  - {id: new, kind: rename, match: {tool: get}, to: fetch}
  - {id: digits, kind: rewrite, match: {arg: x}, pattern: '\d+', with: '{N}'}
  - {id: reads, kind: effect, match: {tool: fetch}, effect: accessor}
  - {id: seen, kind: insert, match: {tool: fetch}, after: {tool: seen}}
  - {id: bad, kind: status, match: {tool: w}, result: ^Error, is: failed}
`)
	m := NewMerger(set, Options{})
	run := calls("get secret7", "w", "other")
	run.Calls[1].Result, run.Calls[1].HasResult = trace.TextOf("Error: secret"), true
	run.Calls[2].Origin = trace.OriginModel + 1
	m.Add(calls("get secret9"))
	m.Add(run)
	merged := m.Merged()
	for _, show := range []bool{false, true} {
		e := merged.Explain(run, 1, 0, merged.Masker(show))
		var got []string
		for _, a := range e.Stages {
			text := a.Rule.ID + ": " + a.Before + " > " + a.After
			if a.OverruledBy != nil {
				text += " but " + a.OverruledBy.ID
			}
			got = append(got, text)
		}
		value := map[bool]string{false: "‹v2›", true: "secret"}[show]
		whole := map[bool]string{false: "‹v1›", true: "secret7"}[show]
		want := []string{
			"new: get > fetch", "seen:  > seen", fmt.Sprintf(`digits: fetch{"x":%q} > fetch{"x":"%s{N}"}`, whole, value),
			"any:  > annotator but reads", "reads:  > accessor",
		}
		if !show {
			value = "‹v2›"
		}
		if !slices.Equal(got, want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
		if len(e.Steps) != 2 || e.Steps[0].From != 0 || e.Steps[0].To != 1 || e.Steps[0].Visits == 0 || !e.Steps[1].Inserted || e.Steps[0].Effect != rules.Accessor {
			t.Errorf("steps: %+v", e.Steps)
		}
		if text := fmt.Sprintf("%+v", e); !show && strings.Contains(text, "secret") {
			t.Errorf("a value is shown: %s", text)
		}
	}
	if e := merged.Explain(run, 1, 1, merged.Masker(false)); e.Fate != FateFailed || len(e.Stages) != 1 || e.Stages[0].After != "failed" {
		t.Errorf("the failed call: %+v", e)
	}
	if e := merged.Explain(run, 1, 2, merged.Masker(false)); e.Fate != FateOther {
		t.Errorf("the call that no model made: %+v", e)
	}
}

func ids(runs []*trace.Trajectory) []string {
	var list []string
	for _, run := range runs {
		list = append(list, run.ID)
	}
	return list
}
