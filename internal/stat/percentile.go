package stat

import (
	"math/rand/v2"
	"slices"
)

// MethodPercentile names the intervals of [Percentiles].
const MethodPercentile = "percentile bootstrap"

// Percentiles returns what the middle share of bootstrap samples of a figure lies between,
// of so many samples: n clusters are drawn anew, and figure is told how often each of them
// was. It is for figures that are no ratio of sums, such as areas under curves, and for
// choices by a bound that has to exist however few the clusters are; [Intervals] covers
// what it should with fewer of them. A sample for which figure has no value is left out,
// and without any there is no interval.
func Percentiles(random *rand.Rand, n, samples int, level float64, figure func(times []float64) (float64, bool)) (lo, hi float64, ok bool) {
	if n == 0 {
		return 0, 0, false
	}
	times := make([]float64, n)
	values := make([]float64, 0, samples)
	for range samples {
		clear(times)
		for range n {
			times[random.IntN(n)]++
		}
		if v, ok := figure(times); ok {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return 0, 0, false
	}
	slices.Sort(values)
	tail := int((1 - level) / 2 * float64(len(values)))
	return values[tail], values[len(values)-1-tail], true
}
