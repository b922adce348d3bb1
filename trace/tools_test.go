package trace_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/awo-dev/awo/trace"
	"pgregory.net/rapid"
)

func TestNameCache(t *testing.T) {
	var c trace.NameCache
	for range 3 {
		for i := range 300 {
			name := fmt.Sprint("server__tool_", i)
			if got := c.Intern([]byte(name)); got != trace.Intern(name) {
				t.Fatalf("%s became %s", name, got.Value())
			}
		}
		if c.Intern(nil) != trace.Intern("") {
			t.Fatal("the empty name")
		}
	}
	name := []byte("get_reservation_details")
	c.Intern(name)
	if n := testing.AllocsPerRun(100, func() { c.Intern(name) }); n != 0 {
		t.Errorf("%v allocations for a known name", n)
	}
}

// TestNumbering has values numbered by their first appearance, few of them or many.
func TestNumbering(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var n trace.Numbering[int]
		want := map[int]uint32{}
		for _, v := range rapid.SliceOf(rapid.IntRange(0, rapid.SampledFrom([]int{5, 40}).Draw(t, "most"))).Draw(t, "values") {
			if _, ok := want[v]; !ok {
				want[v] = uint32(len(want))
			}
			if got := n.Number(v); got != want[v] || n.Len() != len(want) {
				t.Fatalf("%d is %d of %d, want %d of %d", v, got, n.Len(), want[v], len(want))
			}
		}
	})
}

// TestDeferral: a deferred definition is read from the turn after the search that found it,
// or from the first turn that calls the tool; others from the first turn on.
func TestDeferral(t *testing.T) {
	call := func(turn int, tool, result string) trace.Call {
		return trace.Call{Tool: trace.Intern(tool), Turn: turn, Args: trace.JSONOf([]byte("{}")), Result: trace.JSONOf([]byte(result)), HasResult: true}
	}
	tr := &trace.Trajectory{Turns: make([]trace.Turn, 5)}
	for _, name := range []string{"always", "referred", "defined", "post__spaced", "called", "never", "elsewhere"} {
		tr.Tools = append(tr.Tools, trace.ToolDef{Name: trace.Intern(name), Deferred: name != "always"})
	}
	tr.Calls = []trace.Call{
		call(0, "find", `[{"type":"tool_reference","tool_name":"referred"}]`),
		call(1, "tool_search", `[{"type":"function","name":"defined","parameters":{"properties":{"never":{"name":"never"}}}},{"type":"namespace","name":"post__","tools":[{"name":"spaced"}]}]`),
		call(2, "called", `{"name":"elsewhere"}`),
	}
	d := tr.Deferral()
	if want := []int{0, 1, 2, 2, 2, 5, 5}; !slices.Equal(d.From, want) {
		t.Errorf("read from turns %v, want %v", d.From, want)
	}
	if !d.Found[0] || !d.Found[1] || len(d.Found) != 2 {
		t.Errorf("found by calls %v", d.Found)
	}
	tr.Tools = tr.Tools[:1]
	if tr.Deferral() != nil {
		t.Error("nothing is deferred")
	}
}
