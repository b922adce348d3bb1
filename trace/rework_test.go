package trace_test

import (
	"bytes"
	"math/rand/v2"
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

// TestAgainPlainly compares Again with its definition.
func TestAgainPlainly(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		one := &trace.Trajectory{}
		for range r.IntN(14) {
			c := trace.Call{Tool: trace.Intern([]string{"get", "list", "set"}[r.IntN(3)])}
			if n := r.IntN(4); n > 0 {
				c.Args = trace.JSONOf([]byte([]string{`{"a":1,"b":2}`, `{"b":2, "a":1.0}`, `{"a":2}`}[n-1]))
			}
			if r.IntN(4) == 0 {
				c.Status = trace.StatusFailed
			}
			one.Calls = append(one.Calls, c)
		}
		changes := func(i int) bool { return one.Calls[i].Tool.Value() == "set" }
		repeats, retries := one.Again(changes)
		for i := range one.Calls {
			wantRepeat, wantRetry := -1, -1
			for before, changed := i-1, false; before >= 0 && !changed && !one.Calls[i].ArgsMissing(); before-- {
				c := &one.Calls[before]
				if c.Tool == one.Calls[i].Tool && !c.ArgsMissing() && bytes.Equal(c.AppendCanonicalArgs(nil), one.Calls[i].AppendCanonicalArgs(nil)) {
					if c.Status == trace.StatusFailed {
						wantRetry = before
					} else {
						wantRepeat = before
					}
					break
				}
				changed = c.Status != trace.StatusFailed && changes(before)
			}
			if repeats[i] != wantRepeat || retries[i] != wantRetry {
				t.Fatalf("call %d of %v: repeats %d, retries %d; want %d, %d", i, one.Calls, repeats[i], retries[i], wantRepeat, wantRetry)
			}
		}
	}
}
