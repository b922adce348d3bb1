package merge

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/merge/internal/mergetest"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
	"pgregory.net/rapid"
)

func TestStages(t *testing.T) {
	fold := rules.Rule{Kind: rules.KindFold, Match: mergetest.On("type"), Arg: mergetest.Path("text"), Separator: " "}
	rename := rules.Rule{Kind: rules.KindRename, Match: mergetest.OnArgs("type", "id", `^(3|4)$`), To: "type_${1}"}
	insertAfter := rules.Rule{Kind: rules.KindInsert, Match: mergetest.OnArgs("type*", "text", `\n$`), Step: rules.Step{Tool: "submit", Args: map[string]string{"b": "2", "a": "1"}}}
	insertBefore := rules.Rule{Kind: rules.KindInsert, Match: mergetest.On("pay"), Position: rules.SideBefore, Step: rules.Step{Tool: "confirm"}}
	failedStatus := rules.Rule{Kind: rules.KindStatus, Match: mergetest.On("*"), Pattern: regexp.MustCompile(`^Error`), Is: "failed"}

	for _, test := range []struct {
		name   string
		set    *rules.Set
		calls  []string
		failed rules.FailedPolicy
		want   []string
	}{
		{name: "no rules", set: nil, calls: []string{`?a{"y":1,"x":[1.50,"é"]}`, "b", "c{}"}, want: []string{`?a{"x":[1.5,"é"],"y":1}`, "b", "c{}"}},
		{
			name: "drop", set: mergetest.Set(rules.Rule{Kind: rules.KindDrop, Match: mergetest.On("think")}),
			calls: []string{"a{}", "?think{}", "b{}"}, want: []string{"a{}", "?b{}"},
		},
		{
			name: "rename", set: mergetest.Set(rename, mergetest.Effect("type_3", rules.Accessor)),
			calls: []string{`type{"id":3}`, `type{"id":"4"}`, `type{"id":5}`}, want: []string{`type_3{"id":3}`, `type_4{"id":"4"}`, `type{"id":5}`},
		},
		{
			name: "the last rename wins, on the recorded name", set: mergetest.Set(
				rules.Rule{Kind: rules.KindRename, Match: mergetest.On("a"), To: "b"}, rules.Rule{Kind: rules.KindRename, Match: mergetest.On("b"), To: "c"}),
			calls: []string{"a{}", "b{}"}, want: []string{"b{}", "c{}"},
		},
		{
			name: "a rename to nothing is none", set: mergetest.Set(rules.Rule{Kind: rules.KindRename, Match: mergetest.On("a"), To: "${7}"}),
			calls: []string{"a{}"}, want: []string{"a{}"},
		},
		{
			name: "rename by context", set: mergetest.Set(rules.Rule{Kind: rules.KindRename, Match: mergetest.OnContext("a", "url", `//(\w+)\.`), To: "${0}_${1}"}),
			calls: []string{"a{}"}, want: []string{"a_shop{}"},
		},
		{
			name: "fold", set: mergetest.Set(fold), calls: []string{`?type{"id":1,"text":"x"}`, `type{"id":2,"text":"y"}`, `b{}`, `type{"text":"z"}`},
			want: []string{`?type{"id":1,"text":"x y"}*2`, "b{}", `type{"text":"z"}`},
		},
		{
			name: "no fold over a user message", set: mergetest.Set(fold), calls: []string{`type{"text":"x"}`, `?type{"text":"y"}`, `type{"text":7}`},
			want: []string{`type{"text":"x"}`, `?type{"text":"y 7"}*2`},
		},
		{
			name: "fold of renamed calls, insert into what they became", set: mergetest.Set(fold, insertAfter, rename, rules.Rule{Kind: rules.KindFold, Match: mergetest.On("type_*"), Arg: mergetest.Path("text")}),
			calls: []string{`type{"id":3,"text":"x"}`, `type{"id":3,"text":"y\n"}`, `type{"id":4,"text":"z"}`, `type{"id":5,"text":"w"}`},
			want:  []string{`type_3{"id":3,"text":"xy\n"}*2`, `+submit{"a":"1","b":"2"}`, `type_4{"id":4,"text":"z"}`, `type{"id":5,"text":"w"}`},
		},
		{name: "insert before takes the user message", set: mergetest.Set(insertBefore), calls: []string{"a{}", "?pay{}"}, want: []string{"a{}", "?+confirm{}", "pay{}"}},
		{
			name: "drop_arg", set: mergetest.Set(mergetest.DropArg("* token"), mergetest.DropArg("* list[].id"), mergetest.DropArg("* tags[0]")),
			calls: []string{`a{"token":"t","list":[{"id":1,"n":2},{"id":3}],"tags":[1,2]}`, `b{"token":1}`},
			want:  []string{`a{"list":[{"n":2},{}],"tags":[2]}`, "b{}"},
		},
		{
			name: "rewrites chain, on text", set: mergetest.Set(mergetest.Rewrite("* d", `(\d{4})-\d\d`, "$1-MM"), mergetest.Rewrite("* d", `^2024`, "{YEAR}"), mergetest.Rewrite("* n", `\d+`, "N"), mergetest.Rewrite("* o", `"a":\d`, `"a":0`)),
			calls: []string{`a{"d":"2024-05 and 2023-06","n":42,"o":{"a":1}}`, `a{"n":"x"}`},
			want:  []string{`a{"d":"{YEAR}-MM and 2023-MM","n":"N","o":"{\"a\":0}"}`, `a{"n":"x"}`},
		},
		{
			name: "rewrite of every element", set: mergetest.Set(mergetest.Rewrite("* p[].dob", ".+", "{DATE}")),
			calls: []string{`a{"p":[{"dob":"1990"},{"dob":"2000"},7]}`}, want: []string{`a{"p":[{"dob":"{DATE}"},{"dob":"{DATE}"},7]}`},
		},
		{
			name: "matches see recorded arguments", set: mergetest.Set(mergetest.Rewrite("* id", `.+`, "{ID}"), rules.Rule{Kind: rules.KindDropArg, Match: rules.Match{Arg: mergetest.Path("x"), Args: mergetest.OnArgs("", "id", `^7$`).Args}}),
			calls: []string{`a{"id":7,"x":1}`, `a{"id":8,"x":1}`}, want: []string{`a{"id":"{ID}"}`, `a{"id":"{ID}","x":1}`},
		},
		{name: "failed calls are calls", set: mergetest.Set(mergetest.Effect("a", 0)), calls: []string{"a{}", "!b{}", "c{}"}, want: []string{"a{}", "!b{}", "c{}"}},
		{name: "failed calls dropped", set: mergetest.Set(mergetest.Effect("a", 0)), failed: rules.FailedDrop, calls: []string{"a{}", "?!b{}", "c{}"}, want: []string{"a{}", "?c{}"}},
		{name: "failed calls split", set: mergetest.Set(mergetest.Effect("a", 0)), failed: rules.FailedSplit, calls: []string{"!z{}", "a{}", "!b{}", "!b{}", "c{}", "!d{}"}, want: []string{"a{}", "|c{}"}},
		{name: "status from the result", set: mergetest.Set(failedStatus), failed: rules.FailedDrop, calls: []string{"a{}", `b{"result":"Error"}`}, want: []string{"a{}"}},
		{name: "failed calls do not stop a fold", set: mergetest.Set(fold), failed: rules.FailedDrop, calls: []string{`type{"text":"x"}`, `!b{}`, `type{"text":"y"}`}, want: []string{`type{"text":"x y"}*2`}},
		{name: "arguments that are no object", set: mergetest.Set(mergetest.DropArg("* x")), calls: []string{`a{"x`, `b{}`}, want: []string{`a{"_raw":"{\"x"}`, "b{}"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			tr := mergetest.Run(test.calls...)
			for i := range tr.Calls {
				tr.Calls[i].Context = []trace.ContextValue{{Name: "url", Value: "https://shop.example/"}}
				tr.Calls[i].Result = trace.TextOf("fine")
				if strings.Contains(string(tr.Calls[i].Args.Data), "Error") {
					tr.Calls[i].Result = trace.TextOf("Error: no such thing")
				}
			}
			if test.set != nil {
				test.set.Failed = test.failed
			}
			if got := steps(test.set, tr); !slices.Equal(got, test.want) {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

func TestOnlyCallsOfTheModelBecomeSteps(t *testing.T) {
	tr := mergetest.Run("a{}", "?b{}", "c{}")
	tr.Calls[1].Origin = trace.OriginMetaTool
	if got, want := steps(nil, tr), []string{"a{}", "?c{}"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestOutcomePolicy(t *testing.T) {
	set := mergetest.Set(mergetest.Effect("a", rules.Accessor))
	set.Outcome = rules.OutcomeSuccess
	bad, good, unknown := mergetest.Run("a{}"), mergetest.Run("b{}"), mergetest.Run("c{}")
	bad.Outcome, good.Outcome = trace.OutcomeFailure, trace.OutcomeSuccess
	m := merged(set, bad, good, unknown, mergetest.Run())
	if m.Unread != 3 || m.Empty != 0 || m.Graph.Steps() != 1 || m.Walks.Trajectories() != 4 {
		t.Errorf("unread %d, empty %d, %d steps, %d walks", m.Unread, m.Empty, m.Graph.Steps(), m.Walks.Trajectories())
	}
}

func TestLastMatchWins(t *testing.T) {
	set := mergetest.Set(mergetest.Effect("*", rules.Accessor), mergetest.Effect("set_*", rules.Mutator), mergetest.Effect("note", rules.Annotator),
		mergetest.Domain("*", "all"), mergetest.Domain("set_*", "settings"),
		rules.Rule{Kind: rules.KindDomain, Match: mergetest.On("x__*"), DomainFrom: regexp.MustCompile(`^x__(\w+?)__`)},
		rules.Rule{Kind: rules.KindBarrier, Match: mergetest.On("set_*")})
	r := NewRewriter(set, Full(set), &Labels{}, nil)
	var got []string
	for _, s := range r.Rewrite(mergetest.Run("get{}", "set_a{}", "note{}", "x__mail__send{}", "x__")) {
		got = append(got, fmt.Sprintf("%v %q %t", s.Effect(), s.Domain(), s.Barrier()))
	}
	want := []string{`accessor "all" false`, `mutator "settings" true`, `annotator "all" false`, `accessor "mail" false`, `accessor "all" false`}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestRuleOrder shuffles rules and keeps only the order of those kinds for
// which it matters.
func TestRuleOrder(t *testing.T) {
	ordered := map[rules.Kind]bool{
		rules.KindRewrite: true, rules.KindRename: true, rules.KindFold: true,
		rules.KindEffect: true, rules.KindDomain: true, rules.KindLoop: true,
	}
	base := everyKind()
	runs := randomRuns(rand.New(rand.NewPCG(3, 4)), 25)
	want := describe(t, merged(base, runs...))
	rapid.Check(t, func(rt *rapid.T) {
		shuffled := rapid.Permutation(base.Rules).Draw(rt, "rules")
		next := map[rules.Kind]int{}
		for i, r := range shuffled {
			if !ordered[r.Kind] {
				continue
			}
			for base.Rules[next[r.Kind]].Kind != r.Kind {
				next[r.Kind]++
			}
			shuffled[i] = base.Rules[next[r.Kind]]
			next[r.Kind]++
		}
		if got := describe(t, merged(&rules.Set{Rules: shuffled, StateReads: base.StateReads}, runs...)); got != want {
			rt.Fatalf("got\n%s\nwant\n%s", got, want)
		}
	})
}

// everyKind has at least one rule of every kind, all of which change something
// about randomRuns.
func everyKind() *rules.Set {
	set := mergetest.Set(
		rules.Rule{Kind: rules.KindDrop, Match: mergetest.On("noise")},
		rules.Rule{Kind: rules.KindDrop, Match: mergetest.OnArgs("*", "q", "^3$")},
		rules.Rule{Kind: rules.KindRename, Match: mergetest.OnArgs("write_a", "q", "^([12])$"), To: "write_a${1}"},
		rules.Rule{Kind: rules.KindFold, Match: mergetest.On("write_a1"), Arg: mergetest.Path("p"), Separator: "+"},
		rules.Rule{Kind: rules.KindInsert, Match: mergetest.OnArgs("write_b", "p", "^1$"), Step: rules.Step{Tool: "flush"}},
		rules.Rule{Kind: rules.KindStatus, Match: mergetest.On("write_b"), Pattern: regexp.MustCompile("no"), Is: "failed"},
		mergetest.DropArg("* r"), mergetest.DropArg("note q"),
		mergetest.Rewrite("* p", `^[12]$`, "{P}"), mergetest.Rewrite("* p", `\{P\}|3`, "{Q}"),
		mergetest.Effect("read*", rules.Accessor), mergetest.Effect("note", rules.Annotator), mergetest.Effect("read_c", rules.Mutator),
		mergetest.Domain("write_a*", "a"), mergetest.Domain("write_b", "b"), mergetest.Domain("write_a2", "c"),
		mergetest.Loop("write_*"), mergetest.Loop("write_b", "q"), mergetest.Loop("read", "q"),
		mergetest.Commute("flush", "write_*"), mergetest.Commute("write_c", ""),
		rules.Rule{Kind: rules.KindBarrier, Match: mergetest.On("flush")},
		rules.Rule{Kind: rules.KindState, Match: mergetest.On("read_c"), Keys: []string{"url"}},
	)
	set.StateReads = rules.ReadsAfterWrite
	return set
}

// randomRuns are trajectories over few tools and values.
func randomRuns(random *rand.Rand, n int) []*trace.Trajectory {
	tools := []string{"noise", "write_a", "write_a", "write_b", "write_c", "read", "read_c", "note", "flush"}
	var runs []*trace.Trajectory
	for range n {
		var calls []string
		for range random.IntN(12) {
			mark := []string{"", "", "", "?", "&", "!"}[random.IntN(6)]
			calls = append(calls, fmt.Sprintf(`%s%s{"p":%d,"q":"%d","r":%d}`, mark, tools[random.IntN(len(tools))], random.IntN(4), random.IntN(4), random.IntN(4)))
		}
		t := mergetest.Run(calls...)
		for i := range t.Calls {
			t.Calls[i].Context = []trace.ContextValue{{Name: "url", Value: fmt.Sprint(random.IntN(2))}}
			t.Calls[i].Result = trace.TextOf([]string{"yes", "no"}[random.IntN(2)])
		}
		t.ID = fmt.Sprint(len(runs))
		runs = append(runs, t)
	}
	return runs
}

// describe writes all that a Merger found.
func describe(t testing.TB, m *Merged) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintln(&b, m.Trajectories, m.Empty, m.Unread, m.Calls, m.Turns, m.LeftOut)
	for _, row := range m.Table {
		fmt.Fprintf(&b, "%+v\n", row)
	}
	masker := m.Masker(false)
	for id := range m.Labels.Len() {
		tool, sole := m.Labels.Tool(Label(id))
		fmt.Fprintln(&b, m.Labels.Text(Label(id)), masker.Label(Label(id)), tool.Value(), sole, m.Labels.Args(Label(id)))
	}
	for i := range m.Walks.Trajectories() {
		first, last := m.Walks.Of(i)
		for p := first; p < last; p++ {
			e := m.Graph.Edge(m.Walks.Edge(p))
			turn, lastTurn := m.Walks.Turns(p)
			call, lastCall, n := m.Walks.Calls(p)
			fmt.Fprint(&b, " ", e.From, m.Labels.Text(e.Label), e.To, m.Walks.Flags(p), m.Walks.Inserted(p), turn, lastTurn, call, lastCall, n)
		}
		fmt.Fprintln(&b)
	}
	return b.String()
}

// TestCacheChangesNothing merges with a cache that is thrown away all the time.
func TestCacheChangesNothing(t *testing.T) {
	runs := randomRuns(rand.New(rand.NewPCG(5, 6)), 200)
	want := describe(t, merged(everyKind(), runs...))
	for _, limit := range []int{1, 2, 7} {
		m := NewMerger(everyKind(), Options{Table: true})
		m.rewriter.plans.limit = limit
		for _, g := range m.groups {
			g.rewriter.plans.limit = limit
		}
		for _, tr := range runs {
			m.Add(tr)
		}
		if got := describe(t, m.Merged()); got != want {
			t.Errorf("with a cache of %d calls:\n%s\nwant\n%s", limit, got, want)
		}
	}
}

// TestTableAgreesWithSingleStrategies counts every row on its own.
func TestTableAgreesWithSingleStrategies(t *testing.T) {
	for _, set := range []*rules.Set{nil, everyKind(), mergetest.Set(mergetest.Effect("read*", rules.Accessor), mergetest.DropArg("* r")), mergetest.Set(rules.Rule{Kind: rules.KindDrop, Match: mergetest.On("noise")})} {
		if set != nil {
			set.Failed = rules.FailedSplit
		}
		runs := randomRuns(rand.New(rand.NewPCG(7, 8)), 80)
		table := merged(set, runs...).Table
		strategies := Strategies(set)
		if len(table) != len(strategies) {
			t.Fatalf("%d rows, want %d", len(table), len(strategies))
		}
		for i, s := range strategies {
			labels := &Labels{}
			r := NewRewriter(set, s, labels, nil)
			w := NewWalker(r, s, 0)
			m := Merger{set: r.set, rewriter: r, walker: w, labels: labels, catalog: NewCatalog(r.set)}
			for _, tr := range runs {
				m.Add(tr)
			}
			alone := m.Merged()
			if want := (StrategyStatistics{s.Name, alone.Graph.Statistics(), 0}); table[i] != want {
				t.Errorf("got  %+v\nwant %+v", table[i], want)
			}
		}
	}
}

func TestTemplateAgreesWithRegexp(t *testing.T) {
	patterns := []string{`a`, `(a)(b)?`, `(?P<x>a)|(?P<y>b)`, `(?P<x>a)|(?P<x>b)`, `^`, `$`, `a*`, `(\w)(\w)`, `"a":(\d)`, `.`}
	parts := []string{"", "$", "$$", "$1", "${1}", "$2x", "${2}x", "$x", "${x}", "${y}", "$0", "${", "${}", "${1", "$é", "é", "$01", "$99", "$99999999999999999999", "{P}"}
	rapid.Check(t, func(t *rapid.T) {
		pattern := regexp.MustCompile(rapid.SampledFrom(patterns).Draw(t, "pattern"))
		with := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 4).Draw(t, "with"), "")
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "ab", "é", `"a":1`, " "}), 0, 6).Draw(t, "text"), "")
		a := newArgument(trace.Value{Kind: trace.String, Text: text})
		a.rewrite(pattern, newTemplate(pattern, with))
		if want := pattern.ReplaceAllString(text, with); a.text != want {
			t.Fatalf("%q with %q in %q gives %q, want %q", pattern, with, text, a.text, want)
		}
		if a.shown != nil && len(a.shown) != len(a.text) {
			t.Fatalf("%d marks for %d bytes", len(a.shown), len(a.text))
		}
	})
}

func TestStrategyNames(t *testing.T) {
	names := func(set *rules.Set) []string {
		var names []string
		for _, s := range Strategies(set) {
			names = append(names, s.Name)
		}
		return names
	}
	for _, test := range []struct {
		set  *rules.Set
		want string
	}{
		{nil, "disjoint,prefix tree"},
		{&rules.Set{}, "disjoint,prefix tree"},
		{mergetest.Set(mergetest.Domain("a", "b")), "disjoint,prefix tree,+effect,+rewrite,+domain,+loop"},
		{everyKind(), "disjoint,prefix tree,+effect,+rewrite,+domain,+loop,+drop_arg,+status,+drop,+rename,+fold,+insert,+commute,+state"},
	} {
		if got := names(test.set); !reflect.DeepEqual(got, strings.Split(test.want, ",")) {
			t.Errorf("got %q, want %s", got, test.want)
		}
	}
}

// TestMarks says what is dropped, what cuts, and which calls failed.
func TestMarks(t *testing.T) {
	set := mergetest.Set(
		rules.Rule{Kind: rules.KindDrop, Match: mergetest.On("think")},
		rules.Rule{Kind: rules.KindBarrier, Match: mergetest.On("pay")},
		rules.Rule{Kind: rules.KindStatus, Match: mergetest.On("read"), Pattern: regexp.MustCompile("^Error"), Is: "failed"},
		rules.Rule{Kind: rules.KindRename, Match: mergetest.On("open"), To: "look"},
	)
	calls := mergetest.Run(`think{}`, `read{}`, `pay{}`, `read{}`, `open{}`)
	calls.Calls[1].Result, calls.Calls[3].Result = trace.TextOf("Error: none"), trace.TextOf("fine")
	marks := Marks(calls, NewRewriter(set, Full(set), nil, nil).Rewrite(calls))
	if want := []Mark{{Bits: MarkDropped}, {Name: "read"}, {Bits: MarkBarrier, Name: "pay"}, {Name: "read"}, {Name: "look"}}; !slices.Equal(marks, want) {
		t.Errorf("marks are %v, want %v", marks, want)
	}
	if calls.Calls[1].Status != trace.StatusFailed || calls.Calls[3].Status != trace.StatusOK {
		t.Errorf("statuses are %v and %v", calls.Calls[1].Status, calls.Calls[3].Status)
	}
}

// TestRewrittenValuesAreBounded: rules that multiply a value, or a name, stop where it is
// longer than a rule may make it.
func TestRewrittenValuesAreBounded(t *testing.T) {
	var file strings.Builder
	file.WriteString("version: 1\nrules:\n")
	for i := range 20 {
		fmt.Fprintf(&file, "  - {id: r%d, kind: rewrite, match: {arg: user_id}, pattern: '.', with: aaaaaaaaaa}\n", i)
		fmt.Fprintf(&file, "  - {id: n%d, kind: rename, match: {tool: '*', args: {user_id: '(.*)'}}, to: '%s'}\n", i, strings.Repeat("${1}", 1000))
	}
	set, err := rules.Parse("rules.yaml", []byte(file.String()))
	if err != nil {
		t.Fatal(err)
	}
	run := mergetest.Run(`get{"user_id":"mia_li_3668"}`, `get{"user_id":"`+strings.Repeat("x", 10_000)+`"}`)
	for _, label := range shownLabels(merged(set, run)) {
		if len(label) > 2*10_000+2*maxRewritten {
			t.Errorf("a label has %d bytes", len(label))
		}
	}
}

// Rules read ids from the page that the agent saw last: the same button has another id on
// another page, and another button may have its id.
func TestMatchOfResults(t *testing.T) {
	set, err := rules.Parse("r.yaml", []byte(`version: 1
rules:
  - {id: post, kind: rename, match: {tool: click, result: '\[(?P<id>\d+)\] button .Post comment'}, to: post_comment}
  - {id: posted-id, kind: drop_arg, match: {tool: post_comment, arg: id}}
  - {id: full, kind: rename, match: {tool: add, result: {'items[].state': '^full$'}}, to: replace}
`))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := rules.Parse("r.yaml", []byte("version: 1\nrules:\n"+set.Rules[0].Write()+set.Rules[2].Write())); err != nil || len(again.Rules[0].Match.Result) != 1 || len(again.Rules[1].Match.Result[0].Path) != 3 {
		t.Fatalf("%v", err)
	}
	run := &trace.Trajectory{}
	call := func(turn int, tool, args, result string) {
		run.Calls = append(run.Calls, trace.Call{Tool: trace.Intern(tool), Args: trace.JSONOf([]byte(args)), Turn: turn, Result: trace.TextOf(result), HasResult: true})
	}
	call(0, "open", `{"url":"a"}`, "[3] button 'Search' [41] button 'Post comment'")
	call(1, "click", `{"id":41}`, "[5] button 'Post comment'")
	call(2, "click", `{"id":41}`, "[5] button 'Post comment'")
	call(3, "click", `{"id":5}`, `{"items":[{"state":"free"},{"state":"full"}]}`)
	call(3, "click", `{"id":5}`, `{"items":[{"state":"free"}]}`) // of the same turn: it saw the same page
	call(4, "add", `{}`, `{"items":[{"state":"full"}]}`)
	call(5, "add", `{}`, "")
	labels := &Labels{}
	var got []string
	for _, s := range NewRewriter(set, Full(set), labels, nil).Rewrite(run) {
		got = append(got, labels.Text(s.Label()))
	}
	want := []string{`open{"url":"a"}`, "post_comment{}", `click{"id":41}`, "post_comment{}", "post_comment{}", "add{}", "replace{}"}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("call %d is %s, want %s", i, got[i], want[i])
		}
	}
}
