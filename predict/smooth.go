package predict

import (
	"cmp"
	"math"
	"slices"
)

// Discounts are kept within these bounds, as those of package ngram.
const (
	minDiscount = 0.1
	maxDiscount = 0.9
)

// smoother works out what every context gives by itself. Contexts are numbered as those of
// the model, breadth first from the empty one.
type smoother struct {
	*Model
	options ModelOptions
	depth   []int
	last    []uint32  // oldest symbol
	weight  []float64 // of cells: counts, decayed
	used    []float64 // of cells: what smoothing counts
}

// smooth fills in the contexts of a model from a graph.
func (m *Model) smooth(g *Graph, o ModelOptions, renumbered []uint32) {
	parents, symbols, nodes := g.breadthFirst(renumbered)
	n := len(parents) + 1
	s := &smoother{Model: m, options: o, depth: make([]int, n), last: append([]uint32{0}, symbols...)}
	m.childState, m.childFrom = symbols, make([]uint32, n+1)
	for i, parent := range parents {
		s.depth[i+1] = s.depth[parent] + 1
		m.childFrom[parent+1]++
	}
	m.childFrom[0] = 1
	for i := range n {
		m.childFrom[i+1] += m.childFrom[i]
	}
	s.addCells(g, nodes, renumbered)
	s.use()
	s.share()
}

// addCells sums the counts of a graph over periods, in a fixed order: sums of fractions
// depend on it.
func (s *smoother) addCells(g *Graph, nodes, renumbered []uint32) {
	type counted struct {
		cell
		n *Counts
	}
	all := make([]counted, 0, len(g.cells))
	for c, n := range g.cells {
		all = append(all, counted{cell{nodes[c.node], renumbered[c.next], c.period}, n})
	}
	slices.SortFunc(all, func(x, y counted) int {
		return cmp.Or(cmp.Compare(x.node, y.node), cmp.Compare(x.next, y.next), cmp.Compare(x.period, y.period))
	})
	s.cellFrom = make([]uint32, len(s.depth)+1)
	for i, c := range all {
		if i == 0 || all[i-1].node != c.node || all[i-1].next != c.next {
			s.cellNext, s.cellScore, s.weight = append(s.cellNext, c.next), append(s.cellScore, Counts{}), append(s.weight, 0)
			s.cellFrom[c.node+1]++
		}
		worth := 1.0
		if s.options.HalfLife > 0 {
			worth = math.Exp2(-float64(g.newest-c.period) / s.options.HalfLife)
		}
		k := len(s.cellNext) - 1
		s.cellScore[k].Add(*c.n)
		s.weight[k] += float64(c.n.Total()) * worth
	}
	for i := range s.depth {
		s.cellFrom[i+1] += s.cellFrom[i]
	}
}

// use works out what smoothing counts: of the longest contexts how often a successor came, of
// others after how many different older symbols. Each context has one above it, so this is
// O(cells).
func (s *smoother) use() {
	deepest := s.options.Order + 1
	s.used = make([]float64, len(s.weight))
	for i := range s.depth {
		from, to := s.cellsOf(uint32(i))
		if s.depth[i] == deepest || s.depth[i] > 1 && s.last[i] == startSymbol {
			copy(s.used[from:to], s.weight[from:to])
			continue
		}
		for kid := s.childFrom[i]; kid < s.childFrom[i+1]; kid++ {
			s.addTo(from, to, kid, func(k uint32) float64 { return min(1, s.weight[k]) })
		}
	}
	// The empty context counts what its states count: they are few, so the number of those
	// that a symbol followed says nothing.
	from, to := s.cellsOf(0)
	clear(s.used[from:to])
	for kid := s.childFrom[0]; kid < s.childFrom[1]; kid++ {
		if state := s.childState[kid-1]; state < uint32(states) && State(state) != StateInside {
			s.addTo(from, to, kid, func(k uint32) float64 { return s.used[k] })
		}
	}
}

// addTo adds what the cells of a child give to those of its parent. Both are in order.
func (s *smoother) addTo(from, to, kid uint32, give func(cell uint32) float64) {
	first, end := s.cellsOf(kid)
	for k := first; k < end; k++ {
		for from < to && s.cellNext[from] < s.cellNext[k] {
			from++
		}
		if from < to && s.cellNext[from] == s.cellNext[k] {
			s.used[from] += give(k)
		}
	}
}

// share works out what contexts give to symbols, and what they leave to shorter ones.
func (s *smoother) share() {
	discounts := s.discounts()
	s.cellShare, s.backoff = make([]float64, len(s.used)), make([]float64, len(s.depth))
	for i := range s.depth {
		s.backoff[i] = 1
		from, to := s.cellsOf(uint32(i))
		total, kept := 0.0, 0.0
		for k := from; k < to; k++ {
			total += s.used[k]
			s.cellShare[k] = max(s.used[k]-discounts[s.depth[i]], 0)
			kept += s.cellShare[k]
		}
		if total <= 0 || s.options.NoState && i == 0 { // no more to be learnt from it
			clear(s.cellShare[from:to])
			continue
		}
		for k := from; k < to; k++ {
			s.cellShare[k] /= total
		}
		s.backoff[i] = (total - kept) / total
	}
}

// discounts returns D of every length of contexts: n1/(n1+2 n2).
func (s *smoother) discounts() []float64 {
	n := s.options.Order + 2
	once, twice, d := make([]float64, n), make([]float64, n), make([]float64, n)
	for i, depth := range s.depth {
		from, to := s.cellsOf(uint32(i))
		for _, used := range s.used[from:to] {
			switch math.Round(used) {
			case 1:
				once[depth]++
			case 2:
				twice[depth]++
			}
		}
	}
	for i := range d {
		d[i] = minDiscount
		if once[i] > 0 {
			d[i] = min(max(once[i]/(once[i]+2*twice[i]), minDiscount), maxDiscount)
		}
	}
	return d
}
