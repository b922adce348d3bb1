package compile

import (
	"fmt"
	"testing"

	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/internal/scripted"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// TestAssumptions takes tools at their word, but for those that rules are about
// and those of which the traces show the contrary.
func TestAssumptions(t *testing.T) {
	set, err := rules.Parse("rules.yaml", []byte("version: 1\nrules:\n- {id: r, kind: effect, match: {tool: get_ruled}, effect: mutator}\n"))
	if err != nil {
		t.Fatal(err)
	}
	var list []*trace.Trajectory
	for i := range 10 {
		run := &trace.Trajectory{ID: fmt.Sprint(i)}
		for n, tool := range []string{"get_stable", "get_next", "get_stable", "get_next", "get_ruled", "put", "get_after", "put", "get_after", "declared", "show_denied"} {
			result := `{"same":1}`
			if tool == "get_next" || tool == "get_after" {
				result = fmt.Sprintf(`{"n":%d}`, n)
			}
			run.Turns = append(run.Turns, trace.Turn{FirstCall: n, NumCalls: 1})
			run.Calls = append(run.Calls, trace.Call{Tool: trace.Intern(tool), Turn: n, Args: trace.JSONOf([]byte(`{}`)), Result: trace.JSONOf([]byte(result)), HasResult: true})
		}
		for name, hints := range map[string]string{"declared": `{"readOnlyHint":true}`, "show_denied": `{"readOnlyHint":false}`} {
			run.Tools = append(run.Tools, trace.ToolDef{Name: trace.Intern(name), Annotations: trace.JSONOf([]byte(hints))})
		}
		list = append(list, run)
	}
	runs := corpus.Filled(list, corpus.Options{Rules: set})
	c := Run(runs, set, Options{})
	got := fmt.Sprint(c.Assumptions)
	if want := "[{declared annotation 0 0} {get_after name 0 0} {get_stable name 10 0}]"; got != want {
		t.Errorf("assumed %s, want %s", got, want)
	}
	if got := fmt.Sprint(Run(runs, set, Options{DeclaredReads: true}).Assumptions); got != "[{declared annotation 0 0}]" {
		t.Errorf("without names: %s", got)
	}
}

// TestHintsOfAssumedReads: a meta-tool of calls that only their names say to read promises
// nothing, and destroys nothing.
func TestHintsOfAssumedReads(t *testing.T) {
	for _, test := range []struct {
		second string
		want   metatool.Annotations
	}{
		{"get_order", metatool.Annotations{Idempotent: true, OpenWorld: true}},
		{"cancel_order", metatool.Annotations{Destructive: true, OpenWorld: true}},
	} {
		var list []*trace.Trajectory
		for i := range 30 {
			s := &scripted.Run{}
			s.User(fmt.Sprintf("look at user u-%d", 1000+i))
			s.Call("get_user", fmt.Sprintf(`{"id":"u-%d"}`, 1000+i), fmt.Sprintf(`{"order":"o-%d"}`, 5000+i))
			s.Call(test.second, fmt.Sprintf(`{"id":"o-%d"}`, 5000+i), `{"ok":true}`)
			s.T.ID = fmt.Sprint(i)
			list = append(list, &s.T)
		}
		c := Run(corpus.Filled(list, corpus.Options{}), nil, Options{Algorithm: Patterns})
		if len(c.Definitions) != 1 || c.Definitions[0].Refusals != nil {
			t.Fatalf("%s: %d definitions", test.second, len(c.Definitions))
		}
		if got := c.Definitions[0].Annotations; got != test.want {
			t.Errorf("%s: %+v, want %+v", test.second, got, test.want)
		}
	}
}
