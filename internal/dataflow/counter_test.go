package dataflow

import (
	"fmt"
	"math"
	"testing"
	"unique"

	"github.com/awo-dev/awo/internal/stat"
	"pgregory.net/rapid"
)

func TestCounterBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfN(rapid.Uint64Range(0, 40), 0, 400).Draw(t, "keys")
		limit := rapid.IntRange(1, 50).Draw(t, "limit")
		shared := &budget{limit: rapid.IntRange(0, 60).Draw(t, "budget")}
		c := counter{limit: limit}
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

// TestTrialsInOrder: where there is room for one more trial, it is that of the parameter that
// is used first, however often one asks.
func TestTrialsInOrder(t *testing.T) {
	tool := unique.Make("tool")
	f := &Flow{turns: []int32{0, 1}, given: []given{{Output, tool, 1}}}
	for i := range 50 {
		f.Slots = append(f.Slots, Slot{Input, tool, fmt.Sprint("$.p", i)})
		f.Uses = append(f.Uses, Use{Call: 1, Param: i, Value: uint64(i)})
	}
	l := NewLinks()
	l.trials = make([]*trial, maxTrials-1)
	l.Add(f)
	if got := len(l.trials); got != maxTrials || l.dropped != len(f.Uses)-1 {
		t.Fatalf("%d trials, %d dropped", got, l.dropped)
	}
	if l.trialOf(l.tools[toolKey{Output, tool}], l.global[0]) == nil {
		t.Error("the trial is that of another parameter than the first")
	}
}
