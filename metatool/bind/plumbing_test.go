package bind_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/scripted"
	"github.com/awo-dev/awo/metatool/bind"
	"github.com/awo-dev/awo/metatool/compile"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// guided are runs that read a guide, take a key from it and look a place up with the
// key; later decides what a run says of the guide.
func guided(n, size int, later func(run int) (args, said string)) []*trace.Trajectory {
	var list []*trace.Trajectory
	for run := range n {
		s := (&scripted.Run{}).User(fmt.Sprintf("Where is place-%d?", run))
		guide := fmt.Sprintf(`{"note":"section-%d of the guide %s","key":"way-%d","place":"pw-%d"}`, run, strings.Repeat("x", size), run, run)
		s.Call("read_guide", `{}`, guide)
		s.Call("find_place", fmt.Sprintf(`{"key":"way-%d","place":"place-%d"}`, run, run), fmt.Sprintf(`{"street":"street-%d"}`, run))
		args, said := later(run)
		if args != "" {
			s.User("Go on.").Call("write_note", args, `{}`)
		}
		s.T.Turns = append(s.T.Turns, trace.Turn{FirstCall: len(s.T.Calls), Text: trace.TextOf(fmt.Sprintf("It is in street-%d. %s", run, said))})
		list = append(list, &s.T)
	}
	return list
}

// TestPlumbing: a result is left out of the answer only where enough places show that
// nothing of it is used behind the chain.
func TestPlumbing(t *testing.T) {
	none := func(int) (string, string) { return "", "" }
	some := func(every int, args, said string) func(int) (string, string) {
		return func(run int) (string, string) {
			if run%every > 0 {
				return "", ""
			}
			return strings.ReplaceAll(args, "N", fmt.Sprint(run)), strings.ReplaceAll(said, "N", fmt.Sprint(run))
		}
	}
	for _, test := range []struct {
		name   string
		runs   []*trace.Trajectory
		rules  string
		want   string
		places int
		used   int
	}{
		{"never used", guided(100, 300, none), "", "unused", 100, 0},
		{"too few places", guided(40, 300, none), "", "", 40, 0},
		{"too short to matter", guided(100, 0, none), "", "", 100, 0},
		{"told in one of a hundred", guided(200, 300, some(100, "", "See section-N.")), "", "unused", 200, 2},
		{"told in one of ten", guided(100, 300, some(10, "", "See section-N.")), "", "", 100, 10},
		{"an argument in one of ten", guided(100, 300, some(10, `{"text":"as in section-N"}`, "")), "", "", 100, 10},
		{"an argument, once", guided(200, 300, some(200, `{"text":"section-N"}`, "")), "", "unused", 200, 1},
		{"a rule keeps it", guided(100, 300, none), `{"id":"keep","kind":"plumbing","match":{"tool":"read_guide"},"answer":"keep"}`, "", 100, 0},
		{"a rule leaves it out", guided(40, 300, none), `{"id":"leave","kind":"plumbing","match":{"tool":"read_guide"}}`, "rule", 40, 0},
	} {
		rule := `{"id": "reads", "kind": "effect", "match": {"tool": ["read_guide", "find_place"]}, "effect": "accessor"}`
		if test.rules != "" {
			rule += ", " + test.rules
		}
		set, err := rules.Parse("rules.json", []byte(`{"version": 1, "rules": [`+rule+`]}`))
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, d := range compiled(t, test.runs, set, compile.Options{Algorithm: compile.Patterns}).Definitions {
			if d.Refusals != nil || len(d.Steps) != 2 || d.Steps[0].Tool != "read_guide" {
				continue
			}
			found = true
			var p bind.Plumbing
			if len(d.Plumbing) > 0 {
				p = d.Plumbing[0]
			}
			if p.Reason != test.want || d.Output.Returns(0) != (p.Reason == "") || !d.Output.Returns(1) {
				t.Errorf("%s: %+v, returns %v; want %q", test.name, d.Plumbing, d.Output.Steps, test.want)
			}
			if p.Reason != "" && (p.Places != test.places || p.Used != test.used) {
				t.Errorf("%s: %d of %d, want %d of %d", test.name, p.Used, p.Places, test.used, test.places)
			}
			if left := strings.Contains(d.Description, "but not that of call 1"); left != (test.want != "") {
				t.Errorf("%s: the description is %s", test.name, d.Description)
			}
		}
		if !found {
			t.Errorf("%s: no meta-tool", test.name)
		}
	}
}

// TestCredentials: a chain is offered whose answer would hold a credential only where a
// rule says that it may, or that it is left out; the last result never is.
func TestCredentials(t *testing.T) {
	var first, last []*trace.Trajectory
	for run := range 40 {
		token, street := fmt.Sprintf(`{"access_token":"way-%d"}`, run), fmt.Sprintf(`{"street":"street-%d"}`, run)
		s := (&scripted.Run{}).User(fmt.Sprintf("Where is place-%d?", run))
		s.Call("sign_in", `{}`, token)
		s.Call("find_place", fmt.Sprintf(`{"key":"way-%d","place":"place-%d"}`, run, run), street)
		first = append(first, &s.T)
		s = (&scripted.Run{}).User(fmt.Sprintf("Where is place-%d?", run))
		s.Call("find_place", fmt.Sprintf(`{"place":"place-%d"}`, run), street)
		s.Call("sign_in", street, token)
		last = append(last, &s.T)
	}
	for _, test := range []struct {
		runs               []*trace.Trajectory
		tool, answer, want string
	}{
		{first, "other", "keep", "[{returns-credentials 0 }]"},
		{first, "sign_in", "keep", "[]"},
		{first, "sign_in", "leave_out", "[]"},
		{last, "other", "keep", "[{returns-credentials 1 }]"},
		{last, "sign_in", "keep", "[]"},
		{last, "sign_in", "leave_out", "[{returns-credentials 1 }]"},
	} {
		set, err := rules.Parse("rules.json", fmt.Appendf(nil, `{"version": 1, "rules": [
			{"id": "reads", "kind": "effect", "match": {"tool": ["sign_in", "find_place"]}, "effect": "accessor"},
			{"id": "told", "kind": "plumbing", "match": {"tool": %q}, "answer": %q}]}`, test.tool, test.answer))
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, d := range compiled(t, test.runs, set, compile.Options{Algorithm: compile.Patterns}).Definitions {
			if len(d.Steps) == 2 {
				found = true
				if got := fmt.Sprint(d.Refusals); got != test.want {
					t.Errorf("%s %s: refusals %s, want %s", test.tool, test.answer, got, test.want)
				}
				told := d.Steps[0].Tool != "sign_in" || test.answer == "keep"
				if d.Refusals == nil && d.Output.Returns(0) != told {
					t.Errorf("%s %s: the first result is told: %v", test.tool, test.answer, !told)
				}
			}
		}
		if !found {
			t.Errorf("%s %s: no candidate", test.tool, test.answer)
		}
	}
}
