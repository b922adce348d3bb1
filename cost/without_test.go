package cost_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/trace"
)

// unit is a price in whole dollars a token, so that sums can be done by hand:
// fresh 10, cached 1, written 12, output 50. The others lack one of them.
var (
	unit     = &cost.Price{Models: []string{"writes"}, Input: 10e6, Cached: 1e6, Write: 12e6, Output: 50e6, HasCached: true}
	noWrite  = &cost.Price{Models: []string{"caches"}, Input: 10e6, Cached: 1e6, Output: 50e6, HasCached: true}
	noCached = &cost.Price{Models: []string{"plain"}, Input: 10e6, Output: 50e6}
)

func meter(c cost.Caching) *cost.Meter {
	return cost.NewMeter(cost.Options{Prices: &cost.Table{Prices: []*cost.Price{unit, noWrite, noCached}}, Caching: c})
}

type use struct{ input, cached, write, output, reasoning int64 }

func run(model string, turns ...use) *trace.Trajectory {
	t := &trace.Trajectory{ID: "run", Model: model}
	for _, u := range turns {
		t.Turns = append(t.Turns, trace.Turn{Usage: trace.Usage{
			Known: true, Input: u.input, CachedInput: u.cached, CacheWrite: u.write, Output: u.output, Reasoning: u.reasoning,
		}})
	}
	return t
}

// TestWithout is arithmetic done by hand. Three turns say 10, 20 and 5 tokens; the
// results between them are 20 and 30.
func TestWithout(t *testing.T) {
	grows := []use{{input: 100, output: 10}, {input: 130, output: 20}, {input: 180, output: 5}}
	caches := []use{{input: 100, output: 10}, {input: 130, cached: 100, output: 20}, {input: 180, cached: 130, output: 5}}
	writes := []use{{input: 100, write: 100, output: 10}, {input: 130, cached: 100, write: 30, output: 20}, {input: 180, cached: 130, write: 50, output: 5}}
	for _, test := range []struct {
		name    string
		run     *trace.Trajectory
		removed []int
		added   int64
		want    cost.Totals
	}{
		{
			// 410 x 10 + 35 x 50
			"no cache, nothing removed", run("plain", grows...), nil, 0,
			cost.Totals{Turns: 3, Input: 410, Output: 35, USD: 5850},
		},
		{
			// The last turn no longer reads 20 tokens: (100 + 160) x 10 + 15 x 50.
			"no cache, the middle turn removed", run("plain", grows...),
			[]int{1},
			0,
			cost.Totals{Turns: 2, Input: 260, Output: 15, USD: 3350},
		},
		{
			// Both turns that are left read 7 more.
			"no cache, with a definition", run("plain", grows...),
			[]int{1},
			7,
			cost.Totals{Turns: 2, Input: 274, Output: 15, USD: 3490},
		},
		{
			// (100 x 10 + 10 x 50) + (30 x 10 + 100 + 20 x 50) + (50 x 10 + 130 + 5 x 50)
			"cache, nothing removed", run("caches", caches...), nil, 0,
			cost.Totals{Turns: 3, Input: 410, Cached: 230, Output: 35, USD: 3780},
		},
		{
			// What the middle turn had put into the cache, 30 tokens, the last one reads
			// fresh, besides its own 30: 1500 + (60 x 10 + 100 + 5 x 50).
			"cache, the middle turn removed", run("caches", caches...),
			[]int{1},
			0,
			cost.Totals{Turns: 2, Input: 260, Cached: 100, Output: 15, USD: 2450},
		},
		{
			// The same with writes: (100 x 12 + 500) + (60 x 12 + 100 + 250).
			"cache writes, the middle turn removed", run("writes", writes...),
			[]int{1},
			0,
			cost.Totals{Turns: 2, Input: 260, Cached: 100, Write: 160, Output: 15, USD: 2770},
		},
		{
			// A definition of 7 stands in front: written by the first turn, read by the last.
			"cache writes, with a definition", run("writes", writes...),
			[]int{1},
			7,
			cost.Totals{Turns: 2, Input: 274, Cached: 107, Write: 167, Output: 15, USD: 2770 + 7*12 + 7},
		},
		{
			// Nothing is cached when the run begins, so the last turn reads all fresh:
			// 180 - 10 - 20 = 150 x 10 + 5 x 50.
			"cache, only the last turn left", run("caches", caches...),
			[]int{0, 1},
			0,
			cost.Totals{Turns: 1, Input: 150, Output: 5, USD: 1750},
		},
		{
			// A cache from an earlier run holds 40 tokens, whoever comes first. The middle
			// turn reads 130 - 10 tokens, 40 of them cached; the last 180 - 10, of which
			// 130 - 10 are: (80 x 10 + 40 + 20 x 50) + (50 x 10 + 120 + 5 x 50).
			"cache from outside, the first turn removed", run("caches", use{input: 100, cached: 40, output: 10}, caches[1], caches[2]),
			[]int{0},
			0,
			cost.Totals{Turns: 2, Input: 290, Cached: 160, Output: 25, USD: 2710},
		},
		{
			// Reasoning is not read again: of 20 tokens 5 are.
			"reasoning", run("plain", use{input: 100, output: 10}, use{input: 130, output: 20, reasoning: 15}, use{input: 165, output: 5}),
			[]int{1},
			0,
			cost.Totals{Turns: 2, Input: 260, Output: 15, USD: 3350},
		},
		{
			// The context is rebuilt with 60 tokens: nothing of the removed turn is in it.
			"compaction", run("plain", use{input: 100, output: 10}, use{input: 150, output: 20}, use{input: 60, output: 5}),
			[]int{1},
			0,
			cost.Totals{Turns: 2, Input: 160, Output: 15, USD: 2350},
		},
		{
			"no price", run("unheard-of", grows...),
			[]int{0, 7, 9},
			0,
			cost.Totals{Turns: 2, Unpriced: 2, Input: 290, Output: 25},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := meter(cost.CachingRecorded).Trajectory(test.run)
			got := a.Without(test.removed, test.added)
			if math.Abs(got.USD-test.want.USD) > 1e-6 {
				t.Errorf("%v USD, want %v", got.USD, test.want.USD)
			}
			got.USD, test.want.USD = 0, 0
			got.Paid, got.Unpaid = 0, 0
			if got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

// TestCaching puts an ideal cache, or none, over the same turns.
func TestCaching(t *testing.T) {
	turns := []use{{input: 100, output: 10, cached: 5}, {input: 130, output: 20}, {input: 90, output: 5}, {input: 120, output: 5}}
	got := meter(cost.CachingOff).Trajectory(run("writes", turns...)).Total()
	if want := (cost.Totals{Turns: 4, Input: 440, Output: 40, USD: 6400, Paid: 6400}); got != want {
		t.Errorf("off: %+v, want %+v", got, want)
	}
	// The third turn begins anew; what is not read is written.
	got = meter(cost.CachingOn).Trajectory(run("writes", turns...)).Total()
	if want := (cost.Totals{Turns: 4, Input: 440, Cached: 190, Write: 250, Output: 40, USD: 5190, Paid: 5190}); got != want {
		t.Errorf("on: %+v, want %+v", got, want)
	}
}

// TestWithoutBounds holds removal to what is true of all trajectories.
func TestWithoutBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 12).Draw(t, "turns")
		var turns []use
		for range n {
			u := use{input: rapid.Int64Range(-5, 1000).Draw(t, "input"), output: rapid.Int64Range(0, 200).Draw(t, "output")}
			u.cached = rapid.Int64Range(0, 1200).Draw(t, "cached")
			u.write = rapid.Int64Range(0, 600).Draw(t, "write")
			u.reasoning = rapid.Int64Range(0, 300).Draw(t, "reasoning")
			turns = append(turns, u)
		}
		a := meter(cost.Caching(rapid.IntRange(0, 2).Draw(t, "caching"))).Trajectory(run(rapid.SampledFrom([]string{"writes", "caches", "plain"}).Draw(t, "model"), turns...))
		total := a.Total()
		if got := a.Without(nil, 0); got != total {
			t.Fatalf("without nothing: %+v, total %+v", got, total)
		}
		var removed, fewer []int
		for i := range n {
			if rapid.Bool().Draw(t, "remove") {
				removed = append(removed, i)
				if rapid.Bool().Draw(t, "keep") {
					fewer = append(fewer, i)
				}
			}
		}
		left, more := a.Without(removed, 0), a.Without(fewer, 0)
		if left.Turns != n-len(removed) || left.Input > more.Input || more.Input > total.Input || left.Output > more.Output {
			t.Fatalf("removing %v leaves %+v, removing %v %+v of %+v", removed, left, fewer, more, total)
		}
		if left.Cached < 0 || left.Write < 0 || left.Fresh() < 0 {
			t.Fatalf("negative tokens: %+v", left)
		}
		added := a.Without(removed, 13)
		if added.Input != left.Input+13*int64(left.Turns) || added.USD < left.USD {
			t.Fatalf("13 more tokens a turn: %+v after %+v", added, left)
		}
		if saved := a.Saving(removed, 0); saved.Input+left.Input != total.Input {
			t.Fatalf("saved %+v of %+v, %+v left", saved, total, left)
		}
	})
}

// TestWithoutManyTurns takes a time that does not grow with the square of turns.
func TestWithoutManyTurns(t *testing.T) {
	const n = 200_000
	tr := &trace.Trajectory{Model: "plain", Turns: make([]trace.Turn, n)}
	var removed []int
	for i := range n {
		tr.Turns[i].Usage = trace.Usage{Known: true, Input: int64(10 + 2*i), Output: 1}
		if i%2 == 0 {
			removed = append(removed, i)
		}
	}
	began := time.Now()
	got := meter(cost.CachingOn).Trajectory(tr).Without(removed, 0)
	if got.Turns != n/2 {
		t.Errorf("%d turns are left", got.Turns)
	}
	if d := time.Since(began); d > 5*time.Second {
		t.Errorf("took %s", d)
	}
}

func BenchmarkWithout(b *testing.B) {
	var turns []use
	for i := range 20 {
		turns = append(turns, use{input: int64(1000 + 200*i), cached: int64(800 + 200*i), output: 50})
	}
	a := meter(cost.CachingRecorded).Trajectory(run("caches", turns...))
	for b.Loop() {
		a.Without([]int{3, 4, 9}, 150)
	}
}

// TestLeft is the example of the documentation, done by hand: without its middle
// turn, the last one reads 20 tokens less, and of what it reads only what the first
// turn sent is in a cache.
func TestLeft(t *testing.T) {
	turns := []use{{input: 100, output: 10}, {input: 130, cached: 100, output: 20}, {input: 180, cached: 130, output: 5}}
	a := meter(cost.CachingRecorded).Trajectory(run("caches", turns...))
	a.Definitions, a.Offered = 40, 3
	left := a.Left([]int{1})
	if len(left.Turns) != 2 || left.Definitions != 40 || left.Offered != 3 {
		t.Fatalf("%+v", left)
	}
	for i, want := range []cost.Totals{
		{Turns: 1, Input: 100, Output: 10, USD: 1500, Paid: 1500},
		{Turns: 1, Input: 160, Cached: 100, Output: 5, USD: 950, Paid: 950},
	} {
		if got := left.Turn(i); got != want {
			t.Errorf("turn %d: %+v, want %+v", i, got, want)
		}
	}
	if all := a.Left(nil); all.Total() != a.Total() {
		t.Errorf("%+v without nothing, %+v before", all.Total(), a.Total())
	}
	if none := a.Left([]int{0, 1, 2}); len(none.Turns) != 0 {
		t.Errorf("%+v without all turns", none)
	}
}

// TestLeftAddsUp: what is left costs what Without says, whatever is removed.
func TestLeftAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 9).Draw(t, "turns")
		var turns []use
		for range n {
			turns = append(turns, use{input: rapid.Int64Range(0, 400).Draw(t, "input"), cached: rapid.Int64Range(0, 400).Draw(t, "cached"), output: rapid.Int64Range(0, 50).Draw(t, "output")})
		}
		a := meter(cost.CachingRecorded).Trajectory(run(rapid.SampledFrom([]string{"plain", "caches", "writes"}).Draw(t, "model"), turns...))
		var removed []int
		for i := range n {
			if rapid.Bool().Draw(t, "removed") {
				removed = append(removed, i)
			}
		}
		if got, want := a.Left(removed).Total(), a.Without(removed, 0); got != want {
			t.Fatalf("left %+v, without %+v", got, want)
		}
	})
}
