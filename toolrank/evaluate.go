package toolrank

import (
	"math/rand/v2"
	"slices"
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

// Resamples is how many samples bounds rest on.
const Resamples = 1000

// bounds returns the interval of the mean recall at k that holds the middle share
// of bootstrap samples over groups of tasks.
func (c *Corpus) bounds(list []ranking, k int, level float64, seed uint64) (lo, hi float64) {
	sums, counts := make([]float64, c.taskGroups), make([]float64, c.taskGroups)
	for i := range list {
		g := c.tasks[list[i].task].group
		sums[g] += list[i].recallAt(k)
		counts[g]++
	}
	var groups []int32
	for g, n := range counts {
		if n > 0 {
			groups = append(groups, int32(g))
		}
	}
	random := rand.New(rand.NewPCG(seed, 0x626f6f74))
	means := make([]float64, Resamples)
	for i := range means {
		sum, n := 0.0, 0.0
		for range groups {
			g := groups[random.IntN(len(groups))]
			sum += sums[g]
			n += counts[g]
		}
		means[i] = sum / n
	}
	slices.Sort(means)
	tail := (1 - level) / 2
	return means[int(tail*Resamples)], means[int((1-tail)*Resamples)-1]
}

// chooseK returns the smallest k whose recall on left-out training tasks has a lower
// bound of at least the target; all tools if none has.
func (c *Corpus) chooseK(t *trained, target float64, seed uint64) (k int, reached bool) {
	enough := func(k int) bool {
		lo, _ := c.bounds(t.heldOut, k, .9, seed)
		return lo >= target
	}
	n := len(c.documents)
	k = smallest(n, enough)
	return k, enough(k)
}
