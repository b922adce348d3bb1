package trace_test

import (
	"fmt"
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
