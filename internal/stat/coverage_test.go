package stat

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// A source draws clusters of a figure whose truth is known.
type source struct {
	name  string
	draw  func(r *rand.Rand) (num, den float64)
	truth float64
}

// sources are figures as users see them.
var sources = []source{
	// The share of turns in which the first prediction is right, by task.
	{"share", func(r *rand.Rand) (float64, float64) {
		n := 1 + r.IntN(10)
		return binomial(r, n, beta(r, 2, 5)), float64(n)
	}, 2.0 / 7},
	// The share of tokens saved: tasks are of very different size.
	{"saved", func(r *rand.Rand) (float64, float64) {
		n := math.Exp(0.8 * r.NormFloat64())
		return n * beta(r, 1, 3), n
	}, 0.25},
	// The share of turns saved, nothing in most tasks.
	{"zeros", func(r *rand.Rand) (float64, float64) {
		n := float64(5 + r.IntN(16))
		if r.Float64() < 0.6 {
			return 0, n
		}
		return n * beta(r, 2, 2), n
	}, 0.2},
	// Held-out bits a call, and the difference of two models' on the same calls.
	{"bits", func(r *rand.Rand) (float64, float64) {
		n := float64(5 + r.IntN(26))
		return n * (2 + 0.5*r.NormFloat64() + r.NormFloat64()/math.Sqrt(n)), n
	}, 2},
	{"difference", func(r *rand.Rand) (float64, float64) {
		n := float64(5 + r.IntN(26))
		return n * (0.1 + 0.3*r.NormFloat64()), n
	}, 0.1},
	// Money a task.
	{"money", func(r *rand.Rand) (float64, float64) { return r.ExpFloat64(), 1 }, 1},
}

func gamma(r *rand.Rand, shape float64) float64 {
	if shape < 1 {
		return gamma(r, shape+1) * math.Pow(r.Float64(), 1/shape)
	}
	d := shape - 1.0/3 // Marsaglia and Tsang 2000
	c := 1 / math.Sqrt(9*d)
	for {
		x := r.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		if v = v * v * v; math.Log(r.Float64()) < 0.5*x*x+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}

func beta(r *rand.Rand, a, b float64) float64 {
	x, y := gamma(r, a), gamma(r, b)
	return x / (x + y)
}

func binomial(r *rand.Rand, n int, p float64) (k float64) {
	for range n {
		if r.Float64() < p {
			k++
		}
	}
	return k
}

const draws = 2000

// TestCoverage: 95 % intervals of figures over clusters cover the truth in 93 to 97 % of
// samples, also of ten clusters, and also of figures that are skewed.
func TestCoverage(t *testing.T) {
	if testing.Short() {
		t.Skip("starts no goroutine, and takes seconds")
	}
	for _, s := range sources {
		for _, n := range []int{10, 30, 100} {
			t.Run(fmt.Sprintf("%s of %d", s.name, n), func(t *testing.T) {
				t.Parallel()
				r := rand.New(rand.NewPCG(1, uint64(n)))
				covered, none, resamples := 0, 0, 399
				if n == 100 {
					resamples = 199 // they take most of the time, and are as good here
				}
				for i := range draws {
					figure := ClusterRatio{make([]float64, n), make([]float64, n)}
					for j := range n {
						figure.Num[j], figure.Den[j] = s.draw(r)
					}
					x := figure.Interval(Options{Resamples: resamples, Seed: uint64(i)})
					switch {
					case !x.Known():
						none++
					case x.Lo <= s.truth && s.truth <= x.Hi:
						covered++
					}
				}
				share := float64(covered) / float64(draws-none)
				most := 0.97
				if s.name == "zeros" && n < 100 {
					most = 0.98 // too wide rather than too narrow: many resamples have few tasks with anything in them
				}
				if share < 0.93 || share > most || none > draws/50 {
					t.Errorf("%.1f %% covered, %d without an interval", 100*share, none)
				}
			})
		}
	}
}

// TestCoverageOfShares: Wilson intervals of independent trials cover as often as they
// say over the shares that there may be; exact ones at least as often, at every share.
func TestCoverageOfShares(t *testing.T) {
	for _, n := range []int{10, 30, 100} {
		r := rand.New(rand.NewPCG(2, uint64(n)))
		wilson, exact := 0, 0
		for range draws {
			p := r.Float64()
			k := binomial(r, n, p)
			if i := Wilson(k, float64(n), 0.95); i.Lo <= p && p <= i.Hi {
				wilson++
			}
			if i := Exact(int(k), n, 0.95); i.Lo <= p && p <= i.Hi {
				exact++
			}
		}
		if share := float64(wilson) / draws; share < 0.93 || share > 0.97 {
			t.Errorf("Wilson of %d: %.1f %% covered", n, 100*share)
		}
		if share := float64(exact) / draws; share < 0.95 {
			t.Errorf("exact of %d: %.1f %% covered", n, 100*share)
		}
	}
}

// TestCoverageOfMonteCarlo: the interval of a p is that of the p of all permutations.
func TestCoverageOfMonteCarlo(t *testing.T) {
	covered := 0
	for i := range 500 {
		truth := float64(i+1) / 1000
		p := Permute(999, Options{Seed: uint64(i)}, func() func(*rand.PCG) bool {
			return func(random *rand.PCG) bool { return rand.New(random).Float64() < truth }
		})
		if p.Interval.Lo <= truth && truth <= p.Interval.Hi {
			covered++
		}
	}
	if share := float64(covered) / 500; share < 0.93 || share > 0.98 {
		t.Errorf("%.1f %% covered", 100*share)
	}
}
