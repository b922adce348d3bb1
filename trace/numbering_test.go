package trace_test

import (
	"testing"

	"github.com/awo-dev/awo/trace"
	"pgregory.net/rapid"
)

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
