package trace_test

import (
	"slices"
	"testing"

	"github.com/awo-dev/awo/trace"
)

func TestRepeats(t *testing.T) {
	one := &trace.Trajectory{}
	add := func(tool, args string, s trace.Status) {
		c := trace.Call{Tool: trace.Intern(tool), Turn: -1, Status: s}
		if args != "" {
			c.Args = trace.JSONOf([]byte(args))
		}
		one.Calls = append(one.Calls, c)
	}
	add("get", `{"a":1,"b":2}`, trace.StatusUnknown)  // 0
	add("get", `{"b":2, "a":1}`, trace.StatusUnknown) // 1: the same
	add("get", `{"a":2}`, trace.StatusUnknown)        // 2
	add("get", `{"a":1,"b":2}`, trace.StatusUnknown)  // 3: only a read between
	add("set", `{}`, trace.StatusUnknown)             // 4
	add("set", `{}`, trace.StatusUnknown)             // 5: nothing between
	add("get", `{"a":1,"b":2}`, trace.StatusUnknown)  // 6: may be another by now
	add("get", `{"a":3}`, trace.StatusFailed)         // 7
	add("get", `{"a":3}`, trace.StatusOK)             // 8: a retry
	add("set", `{}`, trace.StatusFailed)              // 9: before it stand only reads
	add("get", `{"a":3}`, trace.StatusOK)             // 10: what failed changed nothing
	add("get", "", trace.StatusOK)                    // 11
	add("get", "", trace.StatusOK)                    // 12: not recorded
	got, retries := one.Again(func(i int) bool { return one.Calls[i].Tool.Value() == "set" })
	want := []int{-1, 0, -1, 1, -1, 4, -1, -1, -1, 5, 8, -1, -1}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for i, before := range retries {
		if want := map[int]int{8: 7}; before != -1 && want[i] != before || before == -1 && want[i] != 0 {
			t.Errorf("call %d retries %d", i, before)
		}
	}
}
