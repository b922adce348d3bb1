package toolrank

import (
	"math/rand/v2"
	"slices"

	"github.com/awo-dev/awo/internal/stat"
)

// recallAt returns the share of a ranking's tools that are among the first k.
func (r *ranking) recallAt(k int) float64 {
	n, _ := slices.BinarySearch(r.places, k)
	return float64(n) / float64(len(r.places))
}

// meanRecall returns the mean of recallAt over rankings.
func meanRecall(list []ranking, k int) float64 {
	sum := 0.0
	for i := range list {
		sum += list[i].recallAt(k)
	}
	return sum / float64(len(list))
}

// smallest returns the smallest k from 1 to n that is enough, which must be monotone;
// n if none is.
func smallest(n int, enough func(k int) bool) int {
	lo, hi := 1, n
	for lo < hi {
		if mid := (lo + hi) / 2; enough(mid) {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// Level is that of the bounds by which K is chosen.
const Level = .9

// Resamples is how many samples bounds rest on.
const Resamples = 1000

// estimate returns the mean of a measure over rankings with a 90 % interval.
func (c *Corpus) estimate(list []ranking, seed uint64, of func(*ranking) float64) Estimate {
	e := Estimate{Tasks: len(list)}
	if len(list) == 0 {
		return e
	}
	values := make([]float64, len(list))
	for i := range list {
		values[i] = of(&list[i])
		e.Mean += values[i] / float64(len(list))
	}
	e.Lo, e.Hi, e.Groups = c.resample(list, values, Level, seed)
	return e
}

// bounds returns the interval of the mean recall at k.
func (c *Corpus) bounds(list []ranking, k int, level float64, seed uint64) (lo, hi float64) {
	values := make([]float64, len(list))
	for i := range list {
		values[i] = list[i].recallAt(k)
	}
	lo, hi, _ = c.resample(list, values, level, seed)
	return lo, hi
}

// resample returns the interval of the mean of values, one a ranking, that holds the
// middle share of bootstrap samples over groups of tasks, and how many groups there
// are.
func (c *Corpus) resample(list []ranking, values []float64, level float64, seed uint64) (lo, hi float64, n int) {
	sums, counts := make([]float64, c.taskGroups), make([]float64, c.taskGroups)
	for i := range list {
		g := c.tasks[list[i].task].group
		sums[g] += values[i]
		counts[g]++
	}
	var groups []int32
	for g, n := range counts {
		if n > 0 {
			groups = append(groups, int32(g))
		}
	}
	random := rand.New(rand.NewPCG(seed, 0x626f6f74))
	lo, hi, _ = stat.Percentiles(random, len(groups), Resamples, level, func(times []float64) (float64, bool) {
		sum, n := 0.0, 0.0
		for i, g := range groups {
			sum += times[i] * sums[g]
			n += times[i] * counts[g]
		}
		return sum / n, true
	})
	return lo, hi, len(groups)
}

// chooseK returns the smallest k whose recall on left-out training tasks has a lower
// bound of at least the target; all tools if none has.
func (c *Corpus) chooseK(list []ranking, target float64, seed uint64) (k int, reached bool) {
	n := len(c.documents)
	if len(list) == 0 {
		return n, false
	}
	enough := func(k int) bool {
		lo, _ := c.bounds(list, k, Level, seed)
		return lo >= target
	}
	k = smallest(n, enough)
	return k, enough(k)
}
