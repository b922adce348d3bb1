// Package partition divides things at random and merges what became of the parts in a
// random order, for tests of what adds up. It is imported by tests only.
package partition

import "math/rand/v2"

// Of deals things to n parts, some of which may be empty.
func Of[T any](r *rand.Rand, n int, things []T) [][]T {
	parts := make([][]T, n)
	for _, one := range things {
		k := r.IntN(n)
		parts[k] = append(parts[k], one)
	}
	return parts
}

// Merged merges parts, at least one, in a random order and by a random tree, and returns
// what they are together. Each is now and then stored before it is merged, which returns
// it as it is read again.
func Merged[P any](r *rand.Rand, parts []P, stored func(P) P, merge func(into, from P)) P {
	for len(parts) > 1 {
		r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		into, from := parts[0], parts[1]
		if r.IntN(2) == 0 {
			into = stored(into)
		}
		if r.IntN(2) == 0 {
			from = stored(from)
		}
		merge(into, from)
		parts = append([]P{into}, parts[2:]...)
	}
	return parts[0]
}
