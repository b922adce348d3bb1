package dataflow

import (
	"math"
	"testing"

	"github.com/awo-dev/awo/internal/stat"
	"pgregory.net/rapid"
)

func TestCounterBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfN(rapid.Uint64Range(0, 40), 0, 400).Draw(t, "keys")
		limit := rapid.IntRange(1, 50).Draw(t, "limit")
		shared := &budget{limit: rapid.IntRange(0, 60).Draw(t, "budget")}
		c := counter[uint64]{limit: limit}
		if rapid.Bool().Draw(t, "shared") {
			c.budget = shared
		}
		exact := map[uint64]int{}
		for _, k := range keys {
			c.add(k)
			exact[k]++
		}
		if len(c.counts) > limit {
			t.Fatalf("%d keys, limit %d", len(c.counts), limit)
		}
		if c.total != len(keys) {
			t.Fatalf("total %d of %d", c.total, len(keys))
		}
		if c.budget != nil && c.budget.used != len(c.counts) {
			t.Fatalf("budget says %d, there are %d", c.budget.used, len(c.counts))
		}
		for k := range uint64(41) {
			n, low := exact[k], int(c.counts[k])
			if n < low || n > c.most(k) {
				t.Fatalf("key %d: %d times, counted as %d to %d", k, n, low, c.most(k))
			}
		}
		if len(exact) <= min(limit, minKeys) && !c.exact() {
			t.Fatalf("%d keys fit in %d, but the counts are not exact", len(exact), limit)
		}
		if c.budget == nil && int(c.floor) > len(keys)/(limit+1) {
			t.Fatalf("floor %d for %d additions and limit %d", c.floor, len(keys), limit)
		}
	})
}

func TestLog10TailBetweenWholeNumbers(t *testing.T) {
	at := func(hits float64) float64 { return log10Tail(16, hits/16, 0.4) }
	for k := range 16 {
		low, high := float64(k), float64(k+1)
		if got, want := at(low), stat.LogTail(16, k, 0.4)/math.Ln10; math.Abs(got-want) > 1e-9 {
			t.Errorf("%d hits: %v, want %v", k, got, want)
		}
		if middle := at(low + 0.5); math.Abs(middle-(at(low)+at(high))/2) > 1e-6 {
			t.Errorf("%v hits: %v, between %v and %v", low+0.5, middle, at(low), at(high))
		}
	}
	if got := log10Tail(4, 1, 1); got != 0 {
		t.Errorf("what is certain has probability 10^%v", got)
	}
	if got := log10Tail(4, 0.6, 0); !math.IsInf(got, -1) {
		t.Errorf("what is impossible has probability 10^%v", got)
	}
}
