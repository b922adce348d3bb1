package stat

import (
	"math/bits"
	"math/rand/v2"
)

// Each calls a function for 0 to n-1, in any order and perhaps at once, and returns when
// all have returned. Nil is a plain loop.
type Each = func(n int, do func(i int))

// Run calls do for 0 to n-1 by each.
func Run(each Each, n int, do func(i int)) {
	if each != nil {
		each(n, do)
		return
	}
	for i := range n {
		do(i)
	}
}

// Below returns a number from 0 to n-1. Its bias is n/2^64.
func Below(random *rand.PCG, n int) int {
	high, _ := bits.Mul64(random.Uint64(), uint64(n))
	return int(high)
}

// Stream returns a source of random numbers of its own for each list of parts.
func Stream(seed uint64, parts ...uint64) *rand.PCG {
	next := func(x uint64) uint64 { // the finalizer of splitmix64
		x += 0x9e3779b97f4a7c15
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		return x ^ x>>31
	}
	a := next(seed)
	for _, p := range parts {
		a = next(a ^ next(p))
	}
	return rand.NewPCG(a, next(a))
}

// Blocks splits 0..n-1 into blocks, so that scratch memory is made once for many
// samples, and returns what do gives for each.
func Blocks[T any](each Each, n int, do func(first, last int) T) []T {
	const size = 32
	results := make([]T, (n+size-1)/size)
	Run(each, len(results), func(i int) { results[i] = do(i*size, min((i+1)*size, n)) })
	return results
}

// A MonteCarlo is a p from samples under the null hypothesis.
type MonteCarlo struct {
	// P is (1 + samples at least as extreme as what was seen)/(1 + samples).
	P        float64  `json:"p"`
	Exceeded int      `json:"exceeded"`
	Samples  int      `json:"samples"`
	Interval Interval `json:"interval"` // of the p that more samples would give
}

// Permute returns the p of a permutation test. start makes the scratch memory for some
// samples, and returns what draws one of them and reports whether it is at least as
// extreme as what was seen.
func Permute(samples int, o Options, start func() func(*rand.PCG) bool) *MonteCarlo {
	if o.Level <= 0 || o.Level >= 1 {
		o.Level = DefaultLevel
	}
	exceeded := 0
	for _, n := range Blocks(o.Each, samples, func(first, last int) (n int) {
		extreme := start()
		parts := append(append([]uint64{}, o.Purpose...), 0)
		for i := first; i < last; i++ {
			parts[len(parts)-1] = uint64(i)
			if extreme(Stream(o.Seed, parts...)) {
				n++
			}
		}
		return n
	}) {
		exceeded += n
	}
	return &MonteCarlo{
		P: float64(1+exceeded) / float64(1+samples), Exceeded: exceeded, Samples: samples, Interval: Exact(exceeded, samples, o.Level),
	}
}
