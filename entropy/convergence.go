package entropy

import (
	"cmp"
	"iter"
)

// A Step is the largest group of trajectories that are in one state after as
// many calls (AWO, figure 1).
type Step struct {
	Calls   int     `json:"calls"`
	State   uint32  `json:"state"`
	N       int     `json:"n"`       // trajectories in that state
	Reached int     `json:"reached"` // trajectories that have so many calls
	Share   float64 `json:"share"`   // N of all trajectories, shorter ones included
}

// Convergence returns the largest group after 1, 2, ... most calls, as far as
// trajectories reach. walks[i][j] is the state of trajectory i after j+1 calls.
// With the states of [Prefixes], trajectories are together as long as they made
// the same calls; merged states bring more together.
func Convergence(walks iter.Seq[[]uint32], most int) []Step {
	var steps []Step
	var states []map[uint32]int
	all := 0
	for w := range walks {
		all++
		for j, state := range w[:min(most, len(w))] {
			if j == len(states) {
				states = append(states, map[uint32]int{})
				steps = append(steps, Step{Calls: j + 1})
			}
			states[j][state]++
			steps[j].Reached++
		}
	}
	for j := range steps {
		for state, n := range states[j] {
			if cmp.Or(cmp.Compare(n, steps[j].N), -cmp.Compare(state, steps[j].State)) > 0 {
				steps[j].State, steps[j].N = state, n
			}
		}
		steps[j].Share = float64(steps[j].N) / float64(all)
	}
	return steps
}

// Prefixes yields for each sequence the numbers of its prefixes of 1, 2, ...
// symbols: equal ones, and no others, have the same number. It keeps every
// different prefix in memory.
func Prefixes(sequences iter.Seq[[]uint32]) iter.Seq[[]uint32] {
	return func(yield func([]uint32) bool) {
		known := map[uint64]uint32{}
		for q := range sequences {
			walk := make([]uint32, len(q))
			at := uint32(0)
			for i, s := range q {
				next, ok := known[uint64(at)<<32|uint64(s)]
				if !ok {
					next = uint32(len(known)) + 1
					known[uint64(at)<<32|uint64(s)] = next
				}
				walk[i], at = next, next
			}
			if !yield(walk) {
				return
			}
		}
	}
}
