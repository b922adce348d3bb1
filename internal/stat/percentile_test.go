package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestPercentiles compares with what theory gives for a mean of numbers that are normal,
// and has the cases without an interval.
func TestPercentiles(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const n = 400
	x := make([]float64, n)
	mean, square := 0.0, 0.0
	for i := range x {
		x[i] = random.NormFloat64()
		mean += x[i] / n
	}
	for _, v := range x {
		square += (v - mean) * (v - mean) / n
	}
	figure := func(times []float64) (float64, bool) {
		sum := 0.0
		for i, k := range times {
			sum += k * x[i]
		}
		return sum / n, true
	}
	lo, hi, ok := Percentiles(random, n, 4000, .9, figure)
	want := 1.645 * math.Sqrt(square/n)
	if !ok || math.Abs(lo-(mean-want)) > .01 || math.Abs(hi-(mean+want)) > .01 {
		t.Errorf("[%v, %v], want %v around %v", lo, hi, want, mean)
	}
	again, _, _ := Percentiles(rand.New(rand.NewPCG(7, 7)), n, 100, .9, figure)
	if same, _, _ := Percentiles(rand.New(rand.NewPCG(7, 7)), n, 100, .9, figure); same != again {
		t.Error("the same seed gives something else")
	}
	if _, _, ok := Percentiles(random, 0, 100, .9, figure); ok {
		t.Error("an interval of nothing")
	}
	if _, _, ok := Percentiles(random, n, 100, .9, func([]float64) (float64, bool) { return 0, false }); ok {
		t.Error("an interval of a figure without a value")
	}
}
