package contrast_test

import (
	"math/rand/v2"
	"os"
	"testing"

	"github.com/awo-dev/awo/internal/contrast"
)

// TestTypeOne compares sets of one population: at most 7 % may be declared different, as a
// family of tests at 5 % allows with 400 repetitions. With planted effects it prints the
// power. AWO_COVERAGE=1 runs all of it; without, a part.
func TestTypeOne(t *testing.T) {
	if testing.Short() {
		t.Skip("a simulation")
	}
	repetitions, sizes := 60, []int{12}
	if os.Getenv("AWO_COVERAGE") != "" {
		repetitions, sizes = 400, []int{12, 30, 100}
	}
	for _, together := range []bool{true, false} {
		for _, n := range sizes {
			r := rand.New(rand.NewPCG(23, uint64(n)))
			declared, calls, cost := 0, 0, 0
			different := func(effect, price float64) int {
				before, after := study(r, n, effect, price, together)
				if contrast.New(before, after, contrast.Options{Most: 3, Seed: r.Uint64()}).Different {
					return 1
				}
				return 0
			}
			for range repetitions {
				declared += different(0, 1)
				calls += different(1, 1)
				cost += different(0, 0.8)
			}
			share := func(n int) float64 { return 100 * float64(n) / float64(repetitions) }
			t.Logf("together %v, %d tasks: %.1f %% of equal pairs declared different, %.1f %% with one call more, %.1f %% at 0.8 of the cost", together, n, share(declared), share(calls), share(cost))
			// 60 repetitions at 5 % give at most 7 with a probability of 99 %.
			if most := max(7, repetitions*7/100); declared > most {
				t.Errorf("%d of %d equal pairs are declared different", declared, repetitions)
			}
		}
	}
}
