package merge

import (
	"fmt"
	"slices"
	"testing"

	"github.com/awo-dev/awo/rules"
)

// TestBuiltinExamples holds the built-in rules to their examples, which package
// rules plays in its own way.
func TestBuiltinExamples(t *testing.T) {
	played := 0
	for _, b := range rules.Builtins() {
		set, err := rules.Parse(b.File(), b.Source)
		if err != nil {
			t.Fatal(err)
		}
		examples := set.AllExamples()
		for i := range examples {
			for _, d := range CheckExample(set, &examples[i]) {
				t.Errorf("%s: %s", examples[i].Pos, disagreementText(d))
			}
			played++
		}
	}
	if played == 0 {
		t.Error("there are no examples")
	}
}

const exampleRules = `
version: 1
failed: drop
rules:
  - {id: reads, kind: effect, match: {tool: "get_*"}, effect: accessor}
  - {id: ids, kind: rewrite, match: {tool: "*", arg: id}, pattern: '\d+', with: "{ID}"}
  - {id: mail, kind: domain, match: {tool: "mail_*"}, domain: mail}
  - {id: disk, kind: domain, match: {tool: "disk_*"}, domain: disk}
  - {id: again, kind: loop, match: {tool: "mail_*"}}
  - {id: stop, kind: barrier, match: {tool: confirm}}
  - {id: hints, kind: effect, match: {tool: "*", annotations: {readOnlyHint: "true"}}, effect: accessor}
  - {id: errors, kind: status, match: {tool: "*"}, result: ^Error, is: failed}
  - {id: login, kind: effect, match: {tool: login}, effect: mutator, idempotent: true}
  - {id: url, kind: state, keys: [url]}
examples:
`

func TestCheckExample(t *testing.T) {
	for _, test := range []struct {
		example string
		want    []string
	}{
		{`- {calls: [{tool: get_a, args: {id: 7, n: 1}}, {tool: get_a, args: {id: 8, n: 1}}],
		     gives: [{label: 'get_a{"id":"{ID}","n":1}', tool: get_a, args: {n: 1, id: "{ID}"}, effect: accessor, domain: "", status: unknown, barrier: false, loop: false}, {loop: true}]}`, nil},
		{
			`- {calls: [{tool: get_a}], gives: [{tool: a, effect: mutator, domain: x, status: ok, barrier: true, loop: true, idempotent: true, args: {b: 1}, label: get_a}]}`,
			[]string{
				"step 1: label is get_a{}, want get_a", "step 1: tool is get_a, want a", `step 1: args is {}, want {"b":1}`, "step 1: effect is accessor, want mutator",
				"step 1: domain is , want x", "step 1: status is unknown, want ok", "step 1: barrier is false, want true", "step 1: idempotent is false, want true", "step 1: loop is false, want true",
			},
		},
		{`- {calls: [{tool: a, result: "Error: no"}, {tool: b, status: failed}, {tool: c, status: ok}], gives: [{tool: c, status: ok}]}`, nil},
		{`- {calls: [{tool: a}], gives: []}`, []string{"steps: got 1 (a{}), want 0"}},
		{`- {calls: [{tool: a, annotations: {readOnlyHint: true}}, {tool: login}, {tool: confirm}], gives: [{effect: accessor}, {idempotent: true}, {barrier: true}]}`, nil},
		{`- {calls: [{tool: mail_a}, {tool: disk_a}, {tool: mail_a}], same_state_as: [{tool: disk_a}, {tool: mail_a}]}`, nil},
		{`- {calls: [{tool: mail_a}, {tool: a}], same_state_as: [{tool: a}, {tool: mail_a}]}`, []string{"state: got two states, want the same state"}},
		{`- {calls: [{tool: a, context: {url: x}}], other_state_than: [{tool: a, context: {url: "y"}}]}`, nil},
		{`- {calls: [{tool: get_a}, {tool: get_b}], other_state_than: [{tool: get_b}, {tool: get_a}]}`, []string{"state: got the same state, want another state"}},
	} {
		set, err := rules.Parse("rules.yaml", []byte(exampleRules+"  "+test.example+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, d := range CheckExample(set, &set.Examples[0]) {
			got = append(got, disagreementText(d))
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s\ngot  %q\nwant %q", test.example, got, test.want)
		}
	}
}

func disagreementText(d Disagreement) string {
	if d.Step < 0 {
		return fmt.Sprintf("%s: got %s, want %s", d.What, d.Got, d.Want)
	}
	return fmt.Sprintf("step %d: %s is %s, want %s", d.Step+1, d.What, d.Got, d.Want)
}

// FuzzRules: whatever a rule file says, its examples are played, counted and
// explained without a panic.
func FuzzRules(f *testing.F) {
	f.Add([]byte(exampleRules + `  - {calls: [{tool: get_a, args: {id: 7}}, {tool: mail_a, result: "Error: no"}], gives: [{tool: get_a}]}` + "\n"))
	f.Add([]byte("version: 1\nrules:\n  - {id: a, kind: rename, match: {args: {x: '(.)'}}, to: '${1}${0}'}\n  - {id: b, kind: insert, match: {}, before: {tool: b}}\n  - {id: c, kind: fold, match: {tool: '*'}, arg: x}\nexamples:\n  - {calls: [{tool: t, args: {x: 1}}, {tool: t, args: {x: 2}}], gives: []}\n"))
	for _, b := range rules.Builtins() {
		f.Add(b.Source)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		set, err := rules.Parse("rules.yaml", src)
		if err != nil {
			return
		}
		examples := set.AllExamples()
		for i := range examples[:min(len(examples), 20)] {
			e := &examples[i]
			for _, d := range CheckExample(set, e) {
				if d.Step >= len(e.Gives) || d.What == "" || d.Got == d.Want {
					t.Fatalf("%q: odd disagreement %v", src, d)
				}
			}
			run := exampleTrajectory(e.Calls)
			usage, merger := NewUsage(set), NewMerger(set, Options{})
			for range 2 {
				usage.Add(run)
				merger.Add(run)
			}
			for _, u := range usage.Rules() {
				if u.Decided > u.Matched {
					t.Fatalf("%q: %s decides more than it matches", src, u.Rule.ID)
				}
			}
			m := merger.Merged()
			for c := range run.Calls {
				m.Explain(run, 1, c, m.Masker(false))
			}
		}
	})
}
