package entropy

import (
	"math/rand/v2"

	"github.com/awo-dev/awo/internal/stat"
)

// permute returns the p of G2 when units change groups by chance.
func (h *habits) permute(o Options) *MonteCarlo {
	groups := make([]int, len(h.units))
	for i, u := range h.units {
		groups[i] = u.group
	}
	observed := newExchange(h).overlap(groups)
	return stat.Permute(o.Permutations, o.drawing(3, uint64(h.k)), func() func(*rand.PCG) bool {
		x := newExchange(h)
		return func(random *rand.PCG) bool {
			copy(x.groups, groups)
			x.shuffle(func(n int) int { return stat.Below(random, n) })
			return x.overlap(x.groups) >= observed
		}
	})
}

// An exchange is the scratch memory of permutations.
type exchange struct {
	*habits
	groups   []int // of the units
	single   []int // units of tasks that one group has
	cells    split // how often each window occurred
	contexts split // how often each context did
}

func newExchange(h *habits) *exchange {
	x := &exchange{
		habits: h, groups: make([]int, len(h.units)),
		cells: newSplit(h.counts.Distinct(h.k + 1)), contexts: newSplit(h.counts.Distinct(h.k)),
	}
	for i, u := range h.units {
		if !h.paired(i) {
			x.single = append(x.single, i)
		}
		for _, c := range u.cells {
			x.cells.both[c.place] += c.n
			x.contexts.both[h.contexts[c.place]] += c.n
		}
	}
	return x
}

// paired reports whether the other group has the task of unit i too.
func (h *habits) paired(i int) bool {
	return i > 0 && h.units[i-1].task == h.units[i].task || i+1 < len(h.units) && h.units[i+1].task == h.units[i].task
}

// shuffle exchanges groups by chance.
func (x *exchange) shuffle(below func(n int) int) {
	for i := range x.units {
		if i > 0 && x.units[i-1].task == x.units[i].task && below(2) == 1 {
			x.groups[i-1], x.groups[i] = x.groups[i], x.groups[i-1]
		}
	}
	for i := len(x.single) - 1; i > 0; i-- {
		j := below(i + 1)
		a, b := x.single[i], x.single[j]
		x.groups[a], x.groups[b] = x.groups[b], x.groups[a]
	}
}

// overlap returns the part of G2/2 that depends on the groups, in fixed point.
func (x *exchange) overlap(groups []int) int64 {
	clear(x.cells.first)
	clear(x.contexts.first)
	for i, u := range x.units {
		if groups[i] != 0 {
			continue
		}
		for _, c := range u.cells {
			x.cells.first[c.place] += c.n
			x.contexts.first[x.habits.contexts[c.place]] += c.n
		}
	}
	return x.cells.overlap() - x.contexts.overlap()
}

// A split is how often things occurred in the first group and in both.
type split struct{ first, both []uint64 }

func newSplit(n int) split { return split{make([]uint64, n), make([]uint64, n)} }

// overlap returns the sum of n ln n over things and groups, in fixed point.
func (s split) overlap() (total int64) {
	for i, n := range s.first {
		if n > 1 {
			total += overlap(n)
		}
		if m := s.both[i] - n; m > 1 {
			total += overlap(m)
		}
	}
	return total
}
