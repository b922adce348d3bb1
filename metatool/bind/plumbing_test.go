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
		guide := fmt.Sprintf(`{"note":"section-%d of the guide %s","key":"way-%d","password":"pw-%d"}`, run, strings.Repeat("x", size), run, run)
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
		{"a credential, once", guided(200, 300, some(200, `{"text":"pw-N"}`, "")), "", "", 200, 1},
		{"a word of it that is no credential, once", guided(200, 300, some(200, `{"text":"section-N"}`, "")), "", "unused", 200, 1},
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
