package contrast_test

import (
	"math/rand/v2"
	"os"
	"testing"

	"github.com/awo-dev/awo/internal/contrast"
)

// TestTypeOne compares sets of one population: at most 7 % may be declared different, as a
// family of tests at 5 % allows with 400 repetitions. With a planted effect it prints the
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
			declared, found := 0, 0
			for range repetitions {
				before, after := study(r, n, 0, together)
				if contrast.New(before, after, contrast.Options{Most: 3, Seed: r.Uint64()}).Different {
					declared++
				}
				before, after = study(r, n, 1, together)
				if contrast.New(before, after, contrast.Options{Most: 3, Seed: r.Uint64()}).Different {
					found++
				}
			}
			t.Logf("together %v, %d tasks: %.1f %% of equal pairs declared different, %.1f %% with one call more", together, n, 100*float64(declared)/float64(repetitions), 100*float64(found)/float64(repetitions))
			// 60 repetitions at 5 % give at most 7 with a probability of 99 %.
			if most := max(7, repetitions*7/100); declared > most {
				t.Errorf("%d of %d equal pairs are declared different", declared, repetitions)
			}
		}
	}
}
