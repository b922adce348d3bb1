package execute_test

import (
	"reflect"
	"testing"

	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/replay"
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
		drop  []int // calls that rules drop
		want  []replay.Begun
	}{
		"whole":              {chain, []call{user(0, false), order(1, false), user(2, false)}, nil, []replay.Begun{{Steps: []replay.BegunCalls{{Calls: 1, Failed: 0}, {Calls: 1, Failed: 0}, {Calls: 1, Failed: 0}}, Later: []int{1, 2}}}},
		"given up":           {chain, []call{user(0, false), order(1, true)}, nil, []replay.Begun{{Steps: []replay.BegunCalls{{Calls: 1, Failed: 0}, {Calls: 1, Failed: 1}}, Later: []int{1}, Ended: true}}},
		"gone on":            {chain, []call{user(0, false), order(1, true), user(2, false)}, nil, []replay.Begun{{Steps: []replay.BegunCalls{{Calls: 1, Failed: 0}, {Calls: 1, Failed: 1}}, Later: []int{1}}}},
		"tried again":        {chain, []call{user(0, false), order(1, true), order(2, false)}, nil, []replay.Begun{{Steps: []replay.BegunCalls{{Calls: 1, Failed: 0}, {Calls: 1, Failed: 1}}, Later: []int{1}, Ended: true}}},
		"left":               {chain, []call{user(0, false), order(1, false)}, nil, []replay.Begun{{Steps: []replay.BegunCalls{{Calls: 1, Failed: 0}, {Calls: 1, Failed: 0}}, Later: []int{1}}}},
		"failed at the end":  {chain, []call{user(0, false), order(1, false), user(2, true)}, nil, []replay.Begun{{Steps: []replay.BegunCalls{{Calls: 1, Failed: 0}, {Calls: 1, Failed: 0}, {Calls: 1, Failed: 1}}, Later: []int{1, 2}}}},
		"failed at once":     {chain, []call{user(0, true), order(1, false)}, nil, nil},
		"not begun":          {chain, []call{user(0, false), user(1, false)}, nil, nil},
		"a walk that failed": {orders(t), []call{user(0, false), order(1, true), order(2, false)}, nil, []replay.Begun{{Steps: []replay.BegunCalls{{Calls: 1, Failed: 0}, {Calls: 2, Failed: 1}}, Later: []int{1, 2}}}},
		// A failed call that rules drop is one that a meta-tool would have made; others
		// that they drop are nothing.
		"dropped failure":  {chain, []call{user(0, false), order(1, true), order(2, false), user(3, false)}, []int{1}, []replay.Begun{{Steps: []replay.BegunCalls{{Calls: 1, Failed: 0}, {Calls: 1, Failed: 1}}, Later: []int{1}, Ended: true}}},
		"dropped, another": {chain, []call{user(0, false), {"log", `{}`, `{}`, 1, true, false}, order(2, false)}, []int{1}, []replay.Begun{{Steps: []replay.BegunCalls{{Calls: 1, Failed: 0}, {Calls: 1, Failed: 0}}, Later: []int{2}}}},
		"dropped success":  {chain, []call{user(0, false), order(1, false), order(2, true)}, []int{1}, []replay.Begun{{Steps: []replay.BegunCalls{{Calls: 1, Failed: 0}, {Calls: 1, Failed: 1}}, Later: []int{2}, Ended: true}}},
		"dropped beyond":   {chain, []call{user(0, false), {"log", `{}`, `{}`, 1, true, true}, order(2, false)}, []int{1}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			marks := make([]merge.Mark, len(tc.calls))
			for _, i := range tc.drop {
				marks[i] = merge.Mark{Bits: merge.MarkDropped}
			}
			got := replay.NewFinder([]*metatool.Tool{tc.tool}).Begun(recorded(tc.calls...), marks)
			if !reflect.DeepEqual(got, tc.want) {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}
