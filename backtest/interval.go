package backtest

import (
	"math"
	"math/rand/v2"
	"slices"
)

// resamples is how many bootstrap samples of tasks give an interval.
const resamples = 1000

// Interval is a 95 % interval. Both bounds are NaN where there is none: with fewer
// than two tasks, or a figure that is not known.
type Interval struct{ Lo, Hi float64 }

// NoInterval is no interval.
func noInterval() Interval { return Interval{math.NaN(), math.NaN()} }

// IsKnown reports whether there is an interval.
func (i Interval) IsKnown() bool { return !math.IsNaN(i.Lo) }

// bootstrap returns the intervals of statistics over resampled tasks, n of them;
// the statistics are worked out from sums, which add up what each task adds.
func bootstrap(n, width int, seed uint64, add func(task int, sums []float64), statistics func(sums []float64) []float64) []Interval {
	size := len(statistics(make([]float64, width)))
	out := make([]Interval, size)
	for i := range out {
		out[i] = noInterval()
	}
	if n < 2 {
		return out
	}
	random := rand.New(rand.NewPCG(seed, 0xb00757a9))
	samples := make([][]float64, size)
	sums := make([]float64, width)
	for range resamples {
		clear(sums)
		for range n {
			add(random.IntN(n), sums)
		}
		for i, v := range statistics(sums) {
			if !math.IsNaN(v) {
				samples[i] = append(samples[i], v)
			}
		}
	}
	for i, values := range samples {
		if len(values) == 0 {
			continue
		}
		slices.Sort(values)
		out[i] = Interval{values[len(values)*25/1000], values[min(len(values)*975/1000, len(values)-1)]}
	}
	return out
}
