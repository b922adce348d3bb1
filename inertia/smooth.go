package inertia

import (
	"cmp"
	"math"
	"slices"

	"github.com/awo-dev/awo/internal/elementary"
)

// Discounts are kept within these bounds, as those of package ngram.
const (
	minDiscount = 0.1
	maxDiscount = 0.9
)

// compiled is a trie of contexts while a model is made of it.
type compiled struct {
	children []map[uint32]uint32
	depth    []int
	last     []uint32 // oldest symbol
	cells    []map[uint32]*compiledCell
	mass     []float64
	share    []map[uint32]float64
}

type compiledCell struct {
	raw    Counts
	weight float64 // decayed
	used   float64 // what smoothing counts
}

// compile gathers the cells of a graph over periods, and over states if they do
// not count.
func (g *Graph) compile(o ModelOptions, renumbered []uint32) *compiled {
	b := &compiled{}
	b.node(0, 0)
	nodes := make([]int, len(g.parents))
	for i := 1; i < len(g.parents); i++ {
		e := g.parents[i]
		nodes[i] = -1
		parent := nodes[e.node]
		if parent < 0 || b.depth[parent] > o.Order {
			continue
		}
		symbol := e.symbol
		switch {
		case e.node == 0:
			if o.NoState {
				symbol = 0
			}
		case symbol != startSymbol:
			symbol = renumbered[symbol]
		}
		n, ok := b.children[parent][symbol]
		if !ok {
			n = b.node(b.depth[parent]+1, symbol)
			b.children[parent][symbol] = n
		}
		nodes[i] = int(n)
	}
	for i := range g.cells {
		c := &g.cells[i]
		node := nodes[c.node]
		if node < 0 {
			continue
		}
		next := renumbered[c.next]
		to := b.cells[node][next]
		if to == nil {
			to = &compiledCell{}
			b.cells[node][next] = to
		}
		to.raw.Add(c.counts)
		if o.HalfLife <= 0 {
			to.weight += float64(c.counts.Total())
		}
	}
	if o.HalfLife > 0 {
		g.decay(b, o.HalfLife, nodes, renumbered)
	}
	return b
}

// decay sums what counts are worth, in a fixed order: sums of fractions depend on
// it.
func (g *Graph) decay(b *compiled, halfLife float64, nodes []int, renumbered []uint32) {
	var all []*cellCount
	for i := range g.cells {
		if c := &g.cells[i]; nodes[c.node] >= 0 {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(x, y *cellCount) int {
		return cmp.Or(cmp.Compare(nodes[x.node], nodes[y.node]), cmp.Compare(renumbered[x.next], renumbered[y.next]),
			cmp.Compare(x.period, y.period), cmp.Compare(x.counts.Total(), y.counts.Total()))
	})
	for _, c := range all {
		to := b.cells[nodes[c.node]][renumbered[c.next]]
		to.weight += float64(float64(c.counts.Total()) * elementary.Exp2(-float64(g.newest-c.period)/halfLife))
	}
}

func (b *compiled) node(depth int, last uint32) uint32 {
	b.children = append(b.children, map[uint32]uint32{})
	b.cells = append(b.cells, map[uint32]*compiledCell{})
	b.depth = append(b.depth, depth)
	b.last = append(b.last, last)
	b.share = append(b.share, map[uint32]float64{})
	b.mass = append(b.mass, 1)
	return uint32(len(b.depth) - 1)
}

// smooth works out what every context gives by itself.
func (b *compiled) smooth(o ModelOptions) {
	deepest := o.Order + 1
	for i := range b.cells {
		whole := o.Uniform || b.depth[i] == deepest || b.depth[i] > 1 && b.last[i] == startSymbol
		for _, c := range b.cells[i] {
			if c.used = c.weight; !whole {
				c.used = 0
			}
		}
		if whole {
			continue
		}
		// The number of different older symbols that were seen before the context and
		// its successor. Each context has one above it, so this is O(cells).
		for _, symbol := range sortedSymbols(b.children[i]) {
			for next, d := range b.cells[b.children[i][symbol]] {
				if c := b.cells[i][next]; c != nil {
					c.used += min(1, d.weight)
				}
			}
		}
	}
	b.sumStates(o)
	discounts := b.discounts(deepest)
	for i := range b.cells {
		total, kept := 0.0, 0.0
		for _, next := range sortedSymbols(b.cells[i]) {
			used := b.cells[i][next].used
			total += used
			rest := max(used-discounts[b.depth[i]], 0)
			b.share[i][next] = rest
			kept += rest
		}
		if total <= 0 || o.NoState && i == 0 {
			clear(b.share[i]) // no more to be learnt from it
			continue
		}
		for next := range b.share[i] {
			b.share[i][next] /= total
		}
		b.mass[i] = (total - kept) / total
	}
}

// sumStates lets the empty context count what its states count: they are few, so
// the number of those that a symbol followed says nothing.
func (b *compiled) sumStates(o ModelOptions) {
	if o.Uniform {
		return
	}
	for next, c := range b.cells[0] {
		c.used = 0
		for state := range uint32(states) {
			child, ok := b.children[0][state]
			if !ok || State(state) == StateInside {
				continue
			}
			if d := b.cells[child][next]; d != nil {
				c.used += d.used
			}
		}
	}
}

// discounts returns D of every length of contexts: n1/(n1+2 n2).
func (b *compiled) discounts(deepest int) []float64 {
	once, twice := make([]float64, deepest+1), make([]float64, deepest+1)
	for i := range b.cells {
		for _, c := range b.cells[i] {
			switch math.Round(c.used) {
			case 1:
				once[b.depth[i]]++
			case 2:
				twice[b.depth[i]]++
			}
		}
	}
	d := make([]float64, deepest+1)
	for i := range d {
		d[i] = minDiscount
		if once[i] > 0 {
			d[i] = min(max(once[i]/(once[i]+2*twice[i]), minDiscount), maxDiscount)
		}
	}
	return d
}

func sortedSymbols[V any](m map[uint32]V) []uint32 {
	out := make([]uint32, 0, len(m))
	for s := range m {
		out = append(out, s)
	}
	slices.Sort(out)
	return out
}

// flatten writes the trie to the model, breadth first and in the order of
// symbols.
func (b *compiled) flatten(m *Model) {
	queue := []uint32{0}
	m.childFrom, m.cellFrom = []uint32{1}, []uint32{0}
	for i := 0; i < len(queue); i++ {
		n := queue[i]
		for _, symbol := range sortedSymbols(b.children[n]) {
			queue = append(queue, b.children[n][symbol])
			m.childState = append(m.childState, symbol)
		}
		for _, next := range sortedSymbols(b.cells[n]) {
			m.cellNext = append(m.cellNext, next)
			m.cellShare = append(m.cellShare, b.share[n][next])
			m.cellScore = append(m.cellScore, b.cells[n][next].raw)
		}
		m.childFrom = append(m.childFrom, uint32(len(queue)))
		m.cellFrom = append(m.cellFrom, uint32(len(m.cellNext)))
		m.backoff = append(m.backoff, b.mass[n])
	}
}
