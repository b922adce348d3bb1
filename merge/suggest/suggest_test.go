package suggest

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/merge/evidence"
	"github.com/awo-dev/awo/merge/internal/hash128"
	"github.com/awo-dev/awo/merge/internal/mergetest"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
	"pgregory.net/rapid"
)

func suggested(options Options, runs ...*trace.Trajectory) *Suggestions {
	s := NewSuggester(options)
	for _, t := range runs {
		s.Add(t)
	}
	return s.Suggest()
}

// ids are the ids of the suggested rules.
func (s *Suggestions) ids() []string {
	var out []string
	for i := range s.Rules {
		out = append(out, s.Rules[i].Rule.ID)
	}
	return out
}

// TestSuggestedRules has an agent that looks up the customer of its task, thinks
// now and then, and does one of two things.
func TestSuggestedRules(t *testing.T) {
	var runs []*trace.Trajectory
	for i := range 40 {
		user := fmt.Sprintf(`get_user{"user_id":"%s_%04d"}=user %d`, strings.Repeat("abcdefgh"[i%8:i%8+1], 3), i, i)
		end := []string{"refund{}=ok", "cancel{}=ok"}[i%2]
		calls := []string{user, `get_menu{"page":1}=a`, `get_menu{"page":2}=b`, end}
		if i%3 == 0 {
			calls = slices.Concat(calls[:2], []string{fmt.Sprintf(`think{"thought":"%d"}=`, i), `get_menu{"page":1}=a`}, calls[2:])
		}
		runs = append(runs, mergetest.Returning(fmt.Sprint(i), calls...), mergetest.Returning(fmt.Sprint(i), calls...))
	}
	for _, r := range runs {
		for i := range r.Calls {
			r.Calls[i].HasResult = true
		}
	}
	out := suggested(Options{}, runs...)
	for _, want := range []string{"reads", "notes", "user-id"} {
		if !slices.Contains(out.ids(), want) {
			t.Errorf("no rule %s among %v", want, out.ids())
		}
	}
	// What comes next depends on the page here, so that paging is tried only.
	if !slices.ContainsFunc(out.Rejected, func(l Rejected) bool {
		return l.Rule.Kind == rules.KindLoop && strings.Contains(l.Reason, "bits instead of")
	}) {
		t.Error("paging was not tried")
	}
	if out.After.States >= out.Before.States || out.After.Bits > out.Before.Bits {
		t.Errorf("%+v became %+v", out.Before, out.After)
	}
	i := slices.Index(out.ids(), "user-id")
	if i < 0 {
		t.FailNow()
	}
	if r := out.Rules[i].Rule; r.Pattern.String() != "^[a-z]+_[0-9]{4}$" || r.With != "{USER}" || r.Match.Arg.String() != "user_id" {
		t.Errorf("pattern %s, with %s", r.Pattern, r.With)
	}
}

// TestNothingSpeaksForIt: names alone declare nothing a read, and neither does
// the silence of reads that were never made.
func TestNothingSpeaksForIt(t *testing.T) {
	var runs []*trace.Trajectory
	for i := range 30 {
		runs = append(runs, mergetest.Returning(fmt.Sprint(i), fmt.Sprintf("get_next{}=%d", i), fmt.Sprintf("get_next{}=%d", i+1), fmt.Sprintf(`list_once{"n":%d}=x`, i), "do_it{}=ok"))
	}
	out := suggested(Options{}, runs...)
	for _, s := range out.Rules {
		if s.Rule.Kind == rules.KindEffect {
			t.Errorf("%v is declared %s", s.Rule.Match.Tools, s.Rule.Effect)
		}
	}
	if !slices.ContainsFunc(out.Rejected, func(l Rejected) bool {
		return l.Rule.Match.Tools[0] == "get_next" && strings.Contains(l.Reason, "contradict")
	}) {
		t.Errorf("left out: %+v", out.Rejected)
	}
	// What is taken for granted can be asked for, but for what the traces contradict.
	out = suggested(Options{Effects: true}, runs...)
	if len(out.Rules) != 1 || fmt.Sprint(out.Rules[0].Rule.Match.Tools) != "[list_once]" || len(out.Rejected) != 1 {
		t.Errorf("effects alone: %+v", out.Rules)
	}
}

// TestSuggestionsForTheOffice: no write is called a read, the two domains that
// interact are not told apart, and nothing that is suggested is contradicted.
func TestSuggestionsForTheOffice(t *testing.T) {
	var truth struct {
		Tools []struct{ Name, Effect string }
	}
	data, err := os.ReadFile("../../testdata/office/truth.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &truth); err != nil {
		t.Fatal(err)
	}
	writes := map[rules.Glob]bool{}
	for _, tool := range truth.Tools {
		writes[rules.Glob(tool.Name)] = tool.Effect == "mutator"
	}
	runs := recordings.Read(t, "../../testdata/office/trajectories.jsonl.gz")
	for _, r := range runs {
		r.Tools = nil // names and results have to do
	}
	out := suggested(Options{}, runs...)
	reads := 0
	var domains []string
	for _, s := range out.Rules {
		if s.Evidence.Contradictions > 0 {
			t.Errorf("%s is contradicted", s.Rule.ID)
		}
		switch s.Rule.Kind {
		case rules.KindEffect:
			for _, g := range s.Rule.Match.Tools {
				reads++
				if writes[g] {
					t.Errorf("%s is declared %s", g, s.Rule.Effect)
				}
			}
		case rules.KindDomain:
			domains = append(domains, s.Rule.Domain)
		}
	}
	if reads < 12 {
		t.Errorf("%d tools read", reads)
	}
	if slices.Contains(domains, "mail") && slices.Contains(domains, "payments") {
		t.Errorf("domains %v", domains)
	}
	if out.After.Bits > out.Before.Bits-0.5 {
		t.Errorf("%+v became %+v", out.Before, out.After)
	}
}

// TestSuggestionsForRecordedTraces: from nothing, rules that predict no worse
// than those of an expert, and that nothing contradicts.
func TestSuggestionsForRecordedTraces(t *testing.T) {
	for _, set := range recordings.Sets {
		t.Run(set.Oracle, func(t *testing.T) {
			runs := recordings.Read(t, recordings.Recorded(t, set.File))
			out := suggested(Options{}, runs...)
			own, ownStates := meanLoss(t, out.set(), runs)
			expert, expertStates := meanLoss(t, recordings.AirlineRules(t), runs)
			t.Logf("%d states and %.4f bits, expert %d and %.4f", ownStates, own, expertStates, expert)
			if own > expert {
				t.Errorf("%.4f bits, the expert's rules %.4f", own, expert)
			}
			if math.Abs(own-out.After.Bits) > 1e-9 || ownStates != out.After.States {
				t.Errorf("%d states, %v bits, said to be %+v", ownStates, own, out.After)
			}
		})
	}
}

// meanLoss is what the next call costs under the rules, over the partitions that
// a suggester looks at, and how many states there are.
func meanLoss(t *testing.T, set *rules.Set, runs []*trace.Trajectory) (bits float64, states int) {
	for seed := range uint64(evidence.Partitions) {
		e := evidence.NewExaminer(set, evidence.Options{Seed: seed})
		for _, r := range runs {
			e.Add(r)
		}
		found := e.Evidence()
		for _, r := range found.Rules {
			if r.Rate.N > 0 && r.Rate.Share > 0.01 {
				t.Errorf("%s: %d of %d checks contradict it", r.Rules[0].ID, r.Contradictions, r.Checks)
			}
		}
		total := found.Next.Total()
		bits, states = bits+total.Bits[1]/float64(total.N)/evidence.Partitions, found.States
	}
	return bits, states
}

func TestTypesOfValues(t *testing.T) {
	for _, test := range []struct {
		name, value string // JSON
		want        valueType
	}{
		{"x", `"550e8400-e29b-41d4-a716-446655440000"`, typeUUID},
		{"x", `"2024-05-15"`, typeDate},
		{"x", `"2024-05-15T10:00:00Z"`, typeDate},
		{"x", `"a@b.example"`, typeEmail},
		{"access_token", `"short"`, typeToken},
		{"x", `12`, typeNumber},
		{"x", `"12.5"`, typeNumber},
		{"x", `"INV-123"`, typeID},
		{"x", `true`, typeNone},
		{"x", `""`, typeNone},
	} {
		v, err := trace.ParseValue([]byte(test.value))
		if err != nil {
			t.Fatal(err)
		}
		if got := typeOf(test.name, v); got != test.want {
			t.Errorf("%s %s: %v, want %v", test.name, test.value, got, test.want)
		}
	}
}

// TestShapesMatchAndHideValues: a pattern matches every id it was made of, and
// holds none of their letters and digits.
func TestShapesMatchAndHideValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{2,4}[_#-]([A-Z]{3}|[0-9]{4,6})[0-9]`), 3, 8, rapid.ID[string]).Draw(t, "ids")
		a := &argFacts{name: "x", forms: map[valueType]*form{}}
		for _, id := range ids {
			a.addID(id, hash128.Of([]byte(id)))
		}
		patterns := a.patterns()
		var list []rules.Rule
		for _, p := range patterns {
			list = append(list, mergetest.Rewrite("* x", p.text, "{X}"))
		}
		if list == nil {
			return // too few of each shape
		}
		set := mergetest.Set(list...)
		for _, id := range ids {
			parts, separators, _ := split(id)
			i := slices.IndexFunc(a.shapes, func(s *shape) bool { return s.separators == separators })
			if a.shapes[i].isID() && label(set, mergetest.Run(fmt.Sprintf(`t{"x":%q}`, id))) != `t{"x":"{X}"}` {
				t.Fatalf("%v do not match %s", patterns, id)
			}
			for _, part := range parts {
				for _, p := range patterns {
					if len(part) > 2 && strings.Contains(p.text, part) {
						t.Fatalf("%s holds %s", p.text, part)
					}
				}
			}
		}
	})
}

// label is the label of the first step of a trajectory.
func label(set *rules.Set, t *trace.Trajectory) string {
	labels := &merge.Labels{}
	steps := merge.NewRewriter(set, merge.Full(set), labels, nil).Rewrite(t)
	return labels.Text(steps[0].Label())
}

func TestSuggesterMemory(t *testing.T) {
	out := suggested(Options{MaxBytes: 1}, mergetest.Run("a{}"), mergetest.Run("b{}"))
	if out.Trajectories != 1 || out.LeftOut != 1 {
		t.Errorf("%d looked at, %d left out", out.Trajectories, out.LeftOut)
	}
}

// TestHostileTools: names and arguments that are no names make no rules, and
// nothing panics.
func TestHostileTools(t *testing.T) {
	var runs []*trace.Trajectory
	for i := range 6 {
		r := mergetest.Run(fmt.Sprintf(`get_*{"a b":%d,"id":"x-%d","deep":[[[[[[[%d]]]]]]]}`, i, i, i))
		r.Calls = append(r.Calls, trace.Call{Tool: trace.Intern("get_\n'\"\x1b[2J"), Args: trace.TextOf("no JSON"), HasResult: true, Result: trace.TextOf("x")}, r.Calls[0])
		r.Task = fmt.Sprint(i)
		runs = append(runs, r, r)
	}
	for _, s := range suggested(Options{}, runs...).Rules {
		for _, g := range s.Rule.Match.Tools {
			if g == "get_*" {
				t.Errorf("%s is a pattern for all reads", g)
			}
		}
	}
}

// toolsOf returns the tools that a rule names.
func toolsOf(r *rules.Rule) []string {
	var names []string
	for _, g := range r.Match.Tools {
		names = append(names, g.String())
	}
	return names
}

// ruleOf returns the first suggestion of a kind.
func (out *Suggestions) ruleOf(kind rules.Kind) *Suggestion {
	for i := range out.Rules {
		if out.Rules[i].Rule.Kind == kind {
			return &out.Rules[i]
		}
	}
	return nil
}

// TestFailures: results that begin like failures are drafted as such, unless nearly
// all results do, and what failed does not speak against a read.
func TestFailures(t *testing.T) {
	var runs []*trace.Trajectory
	for i := range 20 {
		result := fmt.Sprintf(`{"order": %d}`, i%4)
		if i%3 == 0 {
			result = "Error: 503"
		}
		runs = append(runs, mergetest.Returning(fmt.Sprint(i%4),
			fmt.Sprintf(`get_order{"id":%d}=%s`, i%4, result), fmt.Sprintf(`get_order{"id":%d}={"order": %d}`, i%4, i%4), `log{}=Error: always`))
	}
	for _, r := range runs {
		for i := range r.Calls {
			r.Calls[i].Status = trace.StatusUnknown
		}
	}
	out := suggested(Options{}, runs...)
	s := out.ruleOf(rules.KindStatus)
	if s == nil || !slices.Equal(toolsOf(s.Rule), []string{"get_order"}) || s.For != 7 || s.Of != 40 {
		t.Fatalf("%+v", s)
	}
	for _, r := range out.Rejected {
		if r.Rule.Kind == rules.KindEffect && r.Against > 0 {
			t.Errorf("failures speak against a read: %+v", r)
		}
	}
	if !slices.ContainsFunc(out.Rejected, func(r Rejected) bool {
		return r.Rule.Kind == rules.KindStatus && strings.Contains(r.Reason, "hardly be failures")
	}) {
		t.Error("what every result says is not rejected")
	}
}

// TestFailuresRecordedAsSuccess: a pattern that the traces contradict is rejected.
func TestFailuresRecordedAsSuccess(t *testing.T) {
	run := mergetest.Returning("a", "read{}=Error: in a document", "read{}=Error: again", "read{}=x", "read{}=y")
	for i := range run.Calls {
		run.Calls[i].Status = trace.StatusOK
	}
	out := suggested(Options{}, run)
	if s := out.ruleOf(rules.KindStatus); s != nil {
		t.Errorf("%+v", s)
	}
}

// TestPrograms: command lines that only read are renamed if a rule needs the names,
// and all others stay writes.
func TestPrograms(t *testing.T) {
	var runs []*trace.Trajectory
	for i := range 12 {
		a, b := fmt.Sprintf(`Bash{"command":"ls d%d"}=x`, i%3), fmt.Sprintf(`Bash{"command":"cat f%d"}=y`, i%3)
		if i%2 == 0 {
			a, b = b, a
		}
		runs = append(runs, mergetest.Returning(fmt.Sprint(i%3), a, b, `Bash{"command":"ls; rm a"}=z`))
	}
	out := suggested(Options{}, runs...)
	rename, effect := out.ruleOf(rules.KindRename), out.ruleOf(rules.KindEffect)
	if rename == nil || effect == nil {
		t.Fatalf("%v", out.ids())
	}
	if rename.For != 24 || !slices.Equal(toolsOf(effect.Rule), []string{"Bash_cat", "Bash_ls"}) {
		t.Errorf("%d renamed, reads %v", rename.For, toolsOf(effect.Rule))
	}
}

// TestPlumbing: a result is passed on if nothing of it is used later than by the
// next calls; few uses elsewhere are too many.
func TestPlumbing(t *testing.T) {
	document := strings.Repeat("filler ", 40)
	runs := func(spoken int) []*trace.Trajectory {
		var runs []*trace.Trajectory
		for i := range 100 {
			run := mergetest.Returning(fmt.Sprint(i%10),
				fmt.Sprintf(`get_page{"n":%d}=%s word%dx`, i, document, i), fmt.Sprintf(`use{"w":"word%dx"}=ok`, i), "other{}=1", "other{}=2", "other{}=3")
			if i < spoken {
				run.Turns[4].FirstCall = 4
				run.Turns[4].Text = trace.TextOf(fmt.Sprintf("It says word%dx.", i))
			}
			runs = append(runs, run)
		}
		return runs
	}
	s := suggested(Options{}, runs(0)...).ruleOf(rules.KindPlumbing)
	if s == nil || !slices.Equal(toolsOf(s.Rule), []string{"get_page"}) || s.For != 100 {
		t.Errorf("%+v", s)
	}
	if s := suggested(Options{}, runs(3)...).ruleOf(rules.KindPlumbing); s != nil {
		t.Errorf("results that the model speaks of are left out: %+v", s)
	}
}

// TestTwoKindsOfIDs: ids that differ in length and characters get no pattern for
// both, and a pattern that describes few of the values none at all.
func TestTwoKindsOfIDs(t *testing.T) {
	var mixed, few []string
	for i := range 6 {
		mixed = append(mixed, fmt.Sprintf("%08d", i*1234567), fmt.Sprintf("AB%02dX", i))
		few = append(few, fmt.Sprintf("%04d-%04d", i, 7*i), "some words", "and other words", "more of it "+strings.Repeat("x", i), "again")
	}
	for name, values := range map[string][]string{"mixed": mixed, "few": few} {
		var runs []*trace.Trajectory
		for i, v := range values {
			runs = append(runs, mergetest.Returning(fmt.Sprint(i%3), fmt.Sprintf(`get_it{"x":%q}=1`, v), `get_it{"x":"q"}=2`))
		}
		for _, s := range suggested(Options{}, runs...).Rules {
			if s.Rule.Kind == rules.KindRewrite {
				t.Errorf("%s: %s", name, s.Rule.Pattern)
			}
		}
	}
}

// TestGoOn: rules to go on from stand, and nothing is proposed for what they say.
func TestGoOn(t *testing.T) {
	base := recordings.Parse(t, "base.yaml", []byte(`
version: 1
rules:
  - {id: reads, kind: effect, match: {tool: [tickets_get, mail_*]}, effect: accessor}
  - {id: tickets, kind: rewrite, match: {tool: tickets_get, arg: ticket_id}, pattern: '.+', with: '{T}'}
`))
	runs := recordings.Read(t, "../../testdata/office/trajectories.jsonl.gz")[:120]
	out := suggested(Options{Rules: base}, runs...)
	if len(out.Rules) == 0 {
		t.Fatal("nothing is suggested")
	}
	for _, s := range out.Rules {
		if s.Rule.ID == "reads" || s.Rule.ID == "tickets" {
			t.Errorf("the id %s is there twice", s.Rule.ID)
		}
		for _, tool := range toolsOf(s.Rule) {
			if s.Rule.Kind == rules.KindEffect && tool == "tickets_get" || s.Rule.Kind == rules.KindRewrite && tool == "tickets_get" && s.Rule.Match.Arg.String() == "ticket_id" {
				t.Errorf("%s speaks of %s again", s.Rule.ID, tool)
			}
		}
	}
}

// TestHeldOut: what is suggested for one half of the tasks is not contradicted by
// the other.
func TestHeldOut(t *testing.T) {
	files := map[string]func(*testing.T) []*trace.Trajectory{
		"office": func(t *testing.T) []*trace.Trajectory {
			return recordings.Read(t, "../../testdata/office/trajectories.jsonl.gz")[:160]
		},
	}
	for _, set := range recordings.Sets {
		files[set.File] = func(t *testing.T) []*trace.Trajectory { return recordings.Read(t, recordings.Recorded(t, set.File)) }
	}
	for name, read := range files {
		t.Run(name, func(t *testing.T) {
			runs := read(t)
			halves := halved(runs)
			set := suggested(Options{}, halves[0]...).set()
			e := evidence.NewExaminer(set, evidence.Options{})
			for _, r := range halves[1] {
				e.Add(r)
			}
			for _, r := range e.Evidence().Rules {
				if r.Rate.N > 0 && r.Rate.Share > 0.01 {
					t.Errorf("%s: %d of %d checks on the other half contradict it", r.Rules[0].ID, r.Contradictions, r.Checks)
				}
			}
		})
	}
}

// TestAddresses: many urls of one shape are one action; what only one task asks for, and
// what is no word, is in no name and in no rule.
func TestAddresses(t *testing.T) {
	var runs []*trace.Trajectory
	for i := range 24 {
		get := func(path string) string {
			return fmt.Sprintf(`http{"method":"GET","url":"https://api.example/%s"}={"of":%q}`, path, path)
		}
		user := []string{"anna", "ben", "carla", "dan", "eve", "finn"}[i%6]
		a, b := get(fmt.Sprintf("v1/orders/%d/items?all", 100+i)), get("v1/users/"+user)
		if i%2 == 0 {
			a, b = b, a
		}
		runs = append(runs, mergetest.Returning(fmt.Sprint(i%6), a, b,
			fmt.Sprintf(`http{"method":"POST","url":"https://api.example/v1/orders/%d/pay"}=paid %d`, 100+i, i), `http{"url":"https://other.example/x"}=1`))
	}
	out := suggested(Options{}, runs...)
	var names []string
	for _, s := range out.Rules {
		line := s.Rule.Line()
		for _, hidden := range []string{"anna", "carla", "other.example", "103"} {
			if strings.Contains(line, hidden) {
				t.Errorf("%q is in %s", hidden, line)
			}
		}
		if s.Rule.Kind == rules.KindRename {
			names = append(names, fmt.Sprintf("%s %d", s.Rule.To, s.For))
		}
	}
	slices.Sort(names)
	want := []string{"${0}_get_api_example_v1_orders_id_items 24", "${0}_get_api_example_v1_users_id 24", "${0}_post_api_example_v1_orders_id_pay 24"}
	if !slices.Equal(names, want) {
		t.Errorf("names %v, want %v", names, want)
	}
	effect := out.ruleOf(rules.KindEffect)
	if effect == nil || strings.Contains(strings.Join(toolsOf(effect.Rule), " "), "post") || effect.Rule.Effect != rules.Accessor {
		t.Fatalf("effects: %+v", effect)
	}
	rewrite := out.ruleOf(rules.KindRewrite)
	if rewrite == nil || rewrite.Rule.With != "{URL}" || rewrite.For != 48 {
		t.Errorf("rewrites: %+v", rewrite)
	}
	if out.After.States*3 > out.Before.States {
		t.Errorf("%d states became %d", out.Before.States, out.After.States)
	}
}

// TestAddressesOfPages: pages that nobody else reads, such as those of a search on the
// web, are no actions.
func TestAddressesOfPages(t *testing.T) {
	var runs []*trace.Trajectory
	for i := range 20 {
		runs = append(runs, mergetest.Returning(fmt.Sprint(i), fmt.Sprintf(`fetch{"url":"https://site%d.example/about/%d"}=%d`, i, i, i), `fetch{"url":"http://"}=1`, `fetch{"url":"/x"}=1`, `fetch{"url":7}=1`))
	}
	if s := suggested(Options{}, runs...).ruleOf(rules.KindRename); s != nil {
		t.Errorf("%s", s.Rule.Line())
	}
}

// set returns the suggested rules as a set.
func (s *Suggestions) set() *rules.Set {
	set := &rules.Set{}
	for i := range s.Rules {
		set.Rules = append(set.Rules, s.Rules[i].Rule)
	}
	return set
}
