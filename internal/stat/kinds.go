package stat

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
)

// kinds are clusters that no column of figures tells apart: counts of tasks are small
// numbers, so that thousands of tasks are of a few kinds.
type kinds struct {
	of    []uint32 // by cluster
	first []int    // of each kind, a cluster
}

const (
	// exactSum is below which sums of whole numbers have no rounding in a float64: there
	// it does not matter in which order they are added.
	exactSum = 1 << 53
	// mostColumns is how many columns are compared for each cluster.
	mostColumns = 8
)

// kindsOf returns the kinds of clusters with these numbers. Where sums would be rounded, or
// a kind has hardly more than one cluster, it returns nil: each cluster is looked at by itself.
func kindsOf(columns []column, n int) *kinds {
	if len(columns) > mostColumns {
		return nil
	}
	for _, c := range columns {
		if !c.isExact() {
			return nil
		}
	}
	k := &kinds{of: make([]uint32, n)}
	index, key := map[string]uint32{}, make([]byte, 0, 8*mostColumns)
	for at := range n {
		key = key[:0]
		for _, c := range columns {
			key = binary.LittleEndian.AppendUint64(key, math.Float64bits(c[at]))
		}
		kind, met := index[string(key)]
		if !met {
			if len(k.first) > n/2 {
				return nil
			}
			kind = uint32(len(k.first))
			index[string(key)], k.first = kind, append(k.first, at)
		}
		k.of[at] = kind
	}
	return k
}

// isExact reports whether all sums of products over any resample are exact.
func (c column) isExact() bool {
	most := 0.0
	for _, x := range c {
		if x != math.Trunc(x) {
			return false
		}
		most = max(most, math.Abs(x))
	}
	return float64(most*most)*float64(len(c)) < exactSum
}

// pick returns the number of each kind.
func (k *kinds) pick(c column) column {
	out := make(column, len(k.first))
	for kind, at := range k.first {
		out[kind] = c[at]
	}
	return out
}

// merged returns columns and samples with the numbers of kinds.
func (k *kinds) merged(columns []column, samples []*sample) ([]column, []*sample) {
	out, few := make([]column, len(columns)), make([]*sample, len(samples))
	for i, c := range columns {
		out[i] = k.pick(c)
	}
	for i, s := range samples {
		of := *s
		of.num, of.den = k.pick(s.num), k.pick(s.den)
		few[i] = &of
	}
	return out, few
}

// drawKinds draws n of n clusters and counts them by kind; of is nil where each cluster is
// one.
func drawKinds(random *rand.PCG, n int, of, times []uint32) {
	if of == nil {
		for range n {
			times[Below(random, n)]++
		}
		return
	}
	of = of[:n]
	for range n {
		times[of[Below(random, n)]]++
	}
}
