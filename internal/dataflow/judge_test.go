package dataflow_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/trace"
)

// judged runs both passes and returns the judgments of the links between two
// slots, as "choice agree/uses (nothing)".
func judged(t *testing.T, scripts []*script, from, to string) (texts []string, judgments []dataflow.Judgment) {
	t.Helper()
	s := corpus(scripts...)
	link(t, s, from, to)
	j := dataflow.NewJudge(s)
	for _, one := range scripts {
		j.Add(j.Check(&one.t))
	}
	for _, g := range j.Judgments() {
		if g.Link.From.String() == from && g.Link.To.String() == to {
			texts = append(texts, choiceText(g))
			judgments = append(judgments, g)
		}
	}
	return texts, judgments
}

func choiceText(g dataflow.Judgment) string {
	text := g.Choice.Kind.String()
	if g.Choice.Key != "" {
		text += " " + g.Choice.Key
	}
	if g.Choice.Kind == dataflow.ByConst {
		text += "=" + string(g.Choice.Const.AppendCanonical(nil))
	}
	if g.Choice.From != (dataflow.Slot{}) {
		text += "=" + g.Choice.From.String()
	}
	text = fmt.Sprintf("%s %d/%d", text, g.Agree, g.Uses)
	return text
}

var apps = []string{"mail", "spotify", "files"}

// passwords is a result with the stored passwords of a user, in an order that
// varies.
func passwords(i int) string {
	var list []string
	for k := range apps {
		app := apps[(k+i)%len(apps)]
		list = append(list, fmt.Sprintf(`{"account_name":"%s","password":"pw-%s-%d","kind":"stored"}`, app, app, i))
	}
	return "[" + strings.Join(list, ",") + "]"
}

func TestChoiceByConstant(t *testing.T) {
	scripts := many(20, func(i int) *script {
		return run("r").call("show_passwords", `{}`, passwords(i)).
			call("spotify_login", fmt.Sprintf(`{"password":"pw-spotify-%d"}`, i), ``)
	})
	got, list := judged(t, scripts, "show_passwords[*].password", "spotify_login(password)")
	want := []string{`by-const account_name="spotify" 20/20`, "first 7/20", "unused 7/20", "by-open account_name 20/20", "each 20/20"}
	if !slices.Equal(got, want) {
		t.Fatalf("got  %q\nwant %q", got, want)
	}
	g := list[0]
	if path := g.Link.Path(g.Choice).String(); path != `$[?@.account_name == 'spotify'].password` {
		t.Errorf("path %s", path)
	}
	if g.Verdict != dataflow.Accepted || !g.Reads() || !g.Writes() || !g.Repeats() {
		t.Errorf("%+v", g)
	}
	if first := list[1]; first.Reads() || first.Writes() || first.Repeats() {
		t.Errorf("the first element: %+v", first)
	}
	if open := list[3]; open.Link.Path(open.Choice).String() != `$[?@.account_name == ?].password` {
		t.Errorf("path %s", open.Link.Path(open.Choice))
	}
	if path := list[1].Link.Path(list[1].Choice).String(); path != `$[0].password` {
		t.Errorf("path %s", path)
	}
}

func TestChoiceByArgument(t *testing.T) {
	scripts := many(21, func(i int) *script {
		app := apps[i/3%3]
		return run("r").call("show_passwords", `{}`, passwords(i)).
			call("login", fmt.Sprintf(`{"app":"%s","password":"pw-%s-%d"}`, app, app, i), ``)
	})
	got, _ := judged(t, scripts, "show_passwords[*].password", "login(password)")
	want := []string{"by-arg account_name=login(app) 21/21", "first 7/21", "unused 7/21", "by-open account_name 21/21", "each 21/21"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestChoiceByArgumentOfTheSameElement(t *testing.T) {
	scripts := many(12, func(i int) *script {
		return run("r").call("show_passwords", `{}`, passwords(i)).call("login_all", fmt.Sprintf(
			`{"logins":[{"app":"files","password":"pw-files-%d"},{"app":"mail","password":"pw-mail-%d"}]}`, i, i), ``)
	})
	got, _ := judged(t, scripts, "show_passwords[*].password", "login_all(logins[*].password)")
	if !slices.Contains(got, "by-arg account_name=login_all(logins[*].app) 24/24") {
		t.Errorf("got %q", got)
	}
}

func TestChoiceByEarlierArgument(t *testing.T) {
	// The catalogue is the same in every run, so that its ids prove nothing; that
	// the one is taken which was searched for does.
	names := []string{"anvil", "brush", "crate", "drill", "easel"}
	catalogue := []string{}
	for i, n := range names {
		catalogue = append(catalogue, fmt.Sprintf(`{"name":"%s","id":"id-%d"}`, n, i*i))
	}
	scripts := many(25, func(i int) *script {
		k := dice(i, 5)
		return run("r").call("search", fmt.Sprintf(`{"name":"%s"}`, names[k]), "["+strings.Join(catalogue, ",")+"]").
			call("get", fmt.Sprintf(`{"id":"id-%d"}`, k*k), ``)
	})
	got, list := judged(t, scripts, "search[*].id", "get(id)")
	i := slices.Index(got, "by-input name=search(name) 25/25")
	if i < 0 {
		t.Fatalf("got %q", got)
	}
	if list[i].Link.Verdict != dataflow.Chance || list[i].Verdict != dataflow.Accepted {
		t.Errorf("link %s, choice %s", list[i].Link.Verdict, list[i].Verdict)
	}
}

func TestFanOut(t *testing.T) {
	read := func(i int, ids ...string) *script {
		s := run("r").call("search", `{}`, fmt.Sprintf(`{"hits":["a%d","b%d","c%d"]}`, i, i, i))
		for _, id := range ids {
			s.call("read", fmt.Sprintf(`{"id":"%s"}`, strings.ReplaceAll(id, "#", fmt.Sprint(i))), ``)
		}
		return s
	}
	scripts := []*script{}
	for i := range 5 {
		scripts = append(
			scripts,
			read(10*i, "a#", "b#", "c#"),         // the whole list
			read(10*i+1, "a#", "b#"),             // a prefix
			read(10*i+2, "c#"),                   // a subset
			read(10*i+3, "b#", "a#", "c#", "a#"), // all, in another order
		)
	}
	scripts = append(scripts, read(101, "a#", "zzz"))
	// A second search begins a new list.
	twice := read(102, "a#", "b#", "c#")
	twice.call("search", `{}`, `{"hits":["d1","d2"]}`).call("read", `{"id":"d1"}`, ``)
	scripts = append(scripts, twice)
	got, list := judged(t, scripts, "search.hits[*]", "read(id)")
	want := []string{"first 23/56", "unused 40/56", "each 55/56"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	fan := *list[2].FanOut
	if fan.Lists != 23 || fan.Whole != 6 || fan.Prefix != 6 || fan.Subset != 10 || fan.Outside != 1 {
		t.Errorf("%+v", fan)
	}
}

func TestUnusedKnowsEarlierUses(t *testing.T) {
	// The first element was read before the list was there.
	scripts := many(12, func(i int) *script {
		return run("r").call("read", fmt.Sprintf(`{"id":"a%d"}`, i), ``).
			call("search", `{}`, fmt.Sprintf(`["a%d","b%d","c%d"]`, i, i, i)).
			call("read", fmt.Sprintf(`{"id":"b%d"}`, i), ``).call("read", fmt.Sprintf(`{"id":"c%d"}`, i), ``)
	})
	if got, _ := judged(t, scripts, "search[*]", "read(id)"); !slices.Equal(got, []string{"first 0/24", "unused 24/24", "each 24/24"}) {
		t.Errorf("got %q", got)
	}
}

func TestJudgeParallelCalls(t *testing.T) {
	// The id that a parallel call returns is no source; the older one disagrees.
	scripts := many(20, func(i int) *script {
		return run("r").call("new", `{}`, fmt.Sprintf(`{"id":"n%d0"}`, i)).
			call("use", fmt.Sprintf(`{"id":"n%d0"}`, i), ``).
			turn(call{"new", `{}`, fmt.Sprintf(`{"id":"n%d1"}`, i)}, call{"use", fmt.Sprintf(`{"id":"n%d1"}`, i), ``})
	})
	if got, _ := judged(t, scripts, "new.id", "use(id)"); !slices.Equal(got, []string{"only 20/40"}) {
		t.Errorf("got %q", got)
	}
}

func TestJudgeRelations(t *testing.T) {
	scripts := many(16, func(i int) *script {
		return run("r").call("get", `{}`, fmt.Sprintf(`{"no":%d,"subject":"invoice %d"}`, 4000+i, 4000+i)).
			call("page", fmt.Sprintf(`{"no":"%d"}`, 4000+i), ``).
			call("send", fmt.Sprintf(`{"subject":"Re: invoice %d"}`, 4000+i), ``)
	})
	if got, _ := judged(t, scripts, "get.no", "page(no)"); !slices.Equal(got, []string{"only 16/16"}) {
		t.Errorf("coerced: %q", got)
	}
	got, list := judged(t, scripts, "get.subject", "send(subject)")
	if !slices.Equal(got, []string{"only 16/16"}) || list[0].Link.Template != "Re: "+jsonpath.Hole {
		t.Errorf("template: %q %q", got, list[0].Link.Template)
	}
}

func TestJudgeNewestSource(t *testing.T) {
	// Of two reads the agent acts on either: a rule that takes the newest
	// agrees in half.
	scripts := many(20, func(i int) *script {
		return run("r").call("get", `{}`, fmt.Sprintf(`{"id":"x%d"}`, i)).call("get", `{}`, fmt.Sprintf(`{"id":"y%d"}`, i)).
			call("use", fmt.Sprintf(`{"id":"%s%d"}`, []string{"x", "y"}[i%2], i), ``)
	})
	if got, _ := judged(t, scripts, "get.id", "use(id)"); !slices.Equal(got, []string{"only 10/20"}) {
		t.Errorf("got %q", got)
	}
}

func TestJudgeWithoutTheValue(t *testing.T) {
	// A call of the source whose result lacks the path leaves the newest that has it.
	scripts := many(10, func(i int) *script {
		s := run("r").call("get", `{}`, fmt.Sprintf(`{"id":"x%d"}`, i)).call("get", `{}`, `{"error":"not found"}`).
			call("use", fmt.Sprintf(`{"id":"x%d"}`, i), ``)
		return s.call("use", `{"id":null}`, ``) // no value, no use
	})
	if got, _ := judged(t, scripts, "get.id", "use(id)"); !slices.Equal(got, []string{"only 10/10"}) {
		t.Errorf("got %q", got)
	}
}

// TestJudgeOnAnything: on every corpus the second pass counts no more uses than
// there are, and one by one or in another Judge gives the same.
func TestJudgeOnAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scripts := []*script{}
		for range rapid.IntRange(0, 5).Draw(t, "runs") {
			scripts = append(scripts, drawRun(t))
		}
		s := corpus(scripts...)
		for i := range s.Links { // judge all, the doubtful ones too
			s.Links[i].Verdict = dataflow.Accepted
		}
		j := dataflow.NewJudge(s)
		uses, booleans := map[dataflow.Slot]int{}, map[dataflow.Slot]int{}
		for _, one := range scripts {
			j.Add(j.Check(&one.t))
			f := one.flow()
			for i := range f.Uses {
				uses[f.Slots[f.Uses[i].Param]]++
				if f.Uses[i].Kind == trace.Bool { // which come from nowhere, but may agree
					booleans[f.Slots[f.Uses[i].Param]]++
				}
			}
		}
		for _, g := range j.Judgments() {
			if g.Agree > g.Uses || g.Uses > uses[g.Link.To] {
				t.Fatalf("%v to %v, %s of %d uses", g.Link.From, g.Link.To, choiceText(g), uses[g.Link.To])
			}
			if g.Choice.Kind == dataflow.Only && g.Link.Relation == dataflow.Equal && g.Agree > g.Link.Uses+booleans[g.Link.To] {
				t.Fatalf("%v to %v agrees %d times, was found %d times", g.Link.From, g.Link.To, g.Agree, g.Link.Uses)
			}
		}
	})
}

func TestLinkPathOfPlaceBeyondBounds(t *testing.T) {
	k := dataflow.Link{From: dataflow.Slot{Tool: trace.Intern("f"), Path: "no path"}}
	if p := k.Path(dataflow.Choice{}); p != nil {
		t.Errorf("path %v", p)
	}
}

func TestJudgeAbsent(t *testing.T) {
	scripts := many(12, func(i int) *script {
		id := fmt.Sprintf("id-%d", i)
		return run("r").call("use", `{"n":1}`, ``).call("get", `{}`, `{"id":"`+id+`"}`).call("use", `{"id":"`+id+`"}`, ``).
			call("use", `{"n":2}`, ``).call("use", `{"id":""}`, ``)
	})
	_, list := judged(t, scripts, "get.id", "use(id)")
	if g := list[0]; g.Uses != 12 {
		t.Errorf("%d uses, want 12: calls without a value are none", g.Uses)
	}
}

// TestAgreementThresholds holds the figures of the rule that says what may be bound.
func TestAgreementThresholds(t *testing.T) {
	agreement := func(agree, uses int) dataflow.Agreement {
		return dataflow.Agreement{Uses: uses, Agree: agree, Wilson: stat.Share(agree, uses), Exact: stat.AtLeast(agree, uses)}
	}
	for _, tc := range []struct {
		agree, uses            int
		reads, writes, repeats bool
	}{
		{0, 0, false, false, false},
		{4, 4, false, false, false},
		{5, 5, false, false, true},
		{13, 13, false, false, true},
		{14, 14, false, true, true},
		{15, 15, false, true, true},
		{16, 16, true, true, true}, // Wilson reaches 0.8 at 16 of 16
		{95, 100, true, false, false},
		{94, 100, false, false, false},
		{19, 20, false, false, false},
	} {
		a := agreement(tc.agree, tc.uses)
		if a.Reads() != tc.reads || a.Writes() != tc.writes || a.Repeats() != tc.repeats {
			t.Errorf("%d of %d: reads %v, writes %v, repeats %v", tc.agree, tc.uses, a.Reads(), a.Writes(), a.Repeats())
		}
	}
}

// TestNearerSource: a use that another accepted link explains by a nearer result
// is no disagreement, one that nothing explains is.
func TestNearerSource(t *testing.T) {
	scripts := many(30, func(i int) *script {
		found := fmt.Sprintf(`{"people":[{"id":"person-%d"},{"id":"other-%d"}]}`, i, i)
		s := run("r").call("search", `{}`, found).call("open", fmt.Sprintf(`{"id":"person-%d"}`, i), `{}`)
		switch {
		case i%3 == 0:
			s.call("ticket", `{}`, fmt.Sprintf(`{"by":"someone-%d"}`, i)).call("open", fmt.Sprintf(`{"id":"someone-%d"}`, i), `{}`)
		case i == 1:
			s.call("open", `{"id":"out of nowhere"}`, `{}`)
		case i == 2: // the ticket is further away than the search
			s = run("r").call("ticket", `{}`, `{"by":"someone-2"}`).call("search", `{}`, found).call("open", `{"id":"someone-2"}`, `{}`)
		}
		return s
	})
	got, _ := judged(t, scripts, "search.people[*].id", "open(id)")
	want := []string{"first 29/31", "unused 29/31", "each 29/31"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
