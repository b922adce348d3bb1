package dataflow

import (
	"testing"

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

func TestIndex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var x index
		for round := range 3 {
			want := map[uint64]int32{}
			for i, h := range rapid.SliceOf(rapid.Uint64Range(0, 1<<62)).Draw(t, "hashes") {
				h *= uint64(round + 1) // 0 among them
				got := x.insert(h, int32(i))
				if old, ok := want[key(h)]; ok != (got != int32(i)) || ok && got != old {
					t.Fatalf("insert of %d gives %d, there is %d", h, got, old)
				} else if !ok {
					want[key(h)] = int32(i)
				}
			}
			for h, i := range want {
				if got := x.find(h); got != i {
					t.Fatalf("find of %d gives %d, want %d", h, got, i)
				}
			}
			if x.find(1<<63+uint64(round)) != -1 || x.count != len(want) {
				t.Fatalf("count %d, want %d", x.count, len(want))
			}
			x.reset()
			for h := range want {
				if x.find(h) != -1 {
					t.Fatalf("%d is there after a reset", h)
				}
			}
		}
	})
}
