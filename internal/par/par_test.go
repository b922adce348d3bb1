package par_test

import (
	"iter"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/awo-dev/awo/internal/par"
)

func numbers(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

func TestMapKeepsOrder(t *testing.T) {
	for _, workers := range []int{0, 1, 2, 3, 8, 64} {
		synctest.Test(t, func(t *testing.T) {
			// Later items finish first, so an unordered map would show.
			got := slices.Collect(par.Map(workers, numbers(200), func(i int) int {
				time.Sleep(time.Duration(200-i%50) * time.Millisecond)
				return i * i
			}))
			if len(got) != 200 {
				t.Fatalf("workers %d: %d results, want 200", workers, len(got))
			}
			for i, v := range got {
				if v != i*i {
					t.Fatalf("workers %d: result %d is %d, want %d", workers, i, v, i*i)
				}
			}
		})
	}
}

func TestMapRunsInParallel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		for range par.Map(4, numbers(40), func(i int) int { time.Sleep(time.Second); return i }) {
		}
		if d := time.Since(start); d > 11*time.Second {
			t.Errorf("40 sleeps of 1 s on 4 workers took %v", d)
		}
	})
}

func TestMapStopsEarly(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		synctest.Test(t, func(t *testing.T) { // fails if a goroutine is left behind
			var taken atomic.Int64
			in := func(yield func(int) bool) {
				for i := 0; ; i++ {
					taken.Add(1)
					if !yield(i) {
						return
					}
				}
			}
			n := 0
			for range par.Map(workers, in, func(i int) int { return i }) {
				if n++; n == 10 {
					break
				}
			}
			if limit := int64(10 + 10*workers); taken.Load() > limit {
				t.Errorf("workers %d: %d items taken for 10 wanted, limit %d", workers, taken.Load(), limit)
			}
		})
	}
}

func TestMapPassesPanicOn(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		for name, in := range map[string]iter.Seq[int]{
			"in f":  numbers(100),
			"in in": func(yield func(int) bool) { _ = yield(1) && yield(2); panic("boom") },
		} {
			func() {
				defer func() {
					if p := recover(); p != "boom" {
						t.Errorf("workers %d, %s: recovered %v, want boom", workers, name, p)
					}
				}()
				for range par.Map(workers, in, func(i int) int {
					if i == 50 {
						panic("boom")
					}
					return i
				}) {
				}
			}()
		}
	}
}

// TestEach wants every call made once, and told of in order when it has ended.
func TestEach(t *testing.T) {
	for _, workers := range []int{1, 3} {
		var ended [50]atomic.Int32
		next := 0
		for i := range par.Each(workers, len(ended), func(i int) { ended[i].Add(1) }) {
			if i != next || ended[i].Load() != 1 {
				t.Fatalf("%d workers: %d after %d calls of it, want %d", workers, i, ended[i].Load(), next)
			}
			next++
		}
		if next != len(ended) {
			t.Fatalf("%d workers: told of %d", workers, next)
		}
	}
}

func BenchmarkMap(b *testing.B) {
	for _, workers := range []int{1, 2} {
		b.Run(map[int]string{1: "workers=1", 2: "workers=2"}[workers], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for range par.Map(workers, numbers(1000), func(i int) int { return i }) {
				}
			}
		})
	}
}
