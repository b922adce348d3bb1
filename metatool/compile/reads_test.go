package compile

import (
	"fmt"
	"testing"

	"github.com/awo-dev/awo/internal/corpus"
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
	if c = Run(runs, set, Options{DeclaredReads: true}); c.Assumptions != nil {
		t.Errorf("with rules alone: %v", c.Assumptions)
	}
}
