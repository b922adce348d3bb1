package execute_test

import (
	"reflect"
	"testing"

	"github.com/awo-dev/awo/execute"
	"github.com/awo-dev/awo/metatool"
)

// TestBegun follows a chain to its first failure, and says whether the agent gave it
// up there.
func TestBegun(t *testing.T) {
	user := func(turn int, failed bool) call {
		return call{"get_user", `{"user":"u-1"}`, `{"orders":[{"id":"a-1"},{"id":"b-2"}]}`, turn, failed, false}
	}
	order := func(turn int, failed bool) call {
		return call{"get_order", `{"order":"a-1"}`, `{}`, turn, failed, false}
	}
	chain := &metatool.Tool{Steps: []metatool.Step{{Tool: "get_user"}, {Tool: "get_order"}, {Tool: "get_user"}}}
	for name, tc := range map[string]struct {
		tool  *metatool.Tool
		calls []call
		want  []execute.Begun
	}{
		"whole":              {chain, []call{user(0, false), order(1, false), user(2, false)}, []execute.Begun{{Steps: []execute.BegunCalls{{1, 0}, {1, 0}, {1, 0}}, Later: []int{1, 2}}}},
		"given up":           {chain, []call{user(0, false), order(1, true)}, []execute.Begun{{Steps: []execute.BegunCalls{{1, 0}, {1, 1}}, Later: []int{1}, Ended: true}}},
		"gone on":            {chain, []call{user(0, false), order(1, true), user(2, false)}, []execute.Begun{{Steps: []execute.BegunCalls{{1, 0}, {1, 1}}, Later: []int{1}}}},
		"tried again":        {chain, []call{user(0, false), order(1, true), order(2, false)}, []execute.Begun{{Steps: []execute.BegunCalls{{1, 0}, {1, 1}}, Later: []int{1}, Ended: true}}},
		"left":               {chain, []call{user(0, false), order(1, false)}, []execute.Begun{{Steps: []execute.BegunCalls{{1, 0}, {1, 0}}, Later: []int{1}}}},
		"failed at the end":  {chain, []call{user(0, false), order(1, false), user(2, true)}, []execute.Begun{{Steps: []execute.BegunCalls{{1, 0}, {1, 0}, {1, 1}}, Later: []int{1, 2}}}},
		"failed at once":     {chain, []call{user(0, true), order(1, false)}, nil},
		"not begun":          {chain, []call{user(0, false), user(1, false)}, nil},
		"a walk that failed": {orders(t), []call{user(0, false), order(1, true), order(2, false)}, []execute.Begun{{Steps: []execute.BegunCalls{{1, 0}, {2, 1}}, Later: []int{1, 2}}}},
	} {
		t.Run(name, func(t *testing.T) {
			got := execute.NewFinder([]*metatool.Tool{tc.tool}).Begun(recorded(tc.calls...), nil)
			if !reflect.DeepEqual(got, tc.want) {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}
