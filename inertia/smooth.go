package inertia

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

// compiled is a trie of contexts while a model is made of it: nodes are numbered from the empty
// context on, a parent before its children.
type compiled struct {
	depth []int
	last  []uint32 // oldest symbol
	mass  []float64

	kids     []kid   // by parent, then in order of symbols
	kidFrom  []int32 // by node, and behind the last: its first kid
	cells    []compiledCell
	cellFrom []int32 // the same of cells, in order of what comes next
}

type kid struct {
	parent, symbol, node uint32
}

type compiledCell struct {
	node, next uint32
	raw        Counts
	weight     float64 // decayed
	used       float64 // what smoothing counts
	share      float64
}

// compile gathers the cells of a graph over periods, and over states if they do
// not count.
func (g *Graph) compile(o ModelOptions, renumbered []uint32) *compiled {
	b := &compiled{}
	b.node(0, 0)
	known := map[edge]int{}
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
		n, ok := known[edge{uint32(parent), symbol}]
		if !ok {
			n = len(b.depth)
			known[edge{uint32(parent), symbol}] = n
			b.node(b.depth[parent]+1, symbol)
			b.kids = append(b.kids, kid{uint32(parent), symbol, uint32(n)})
		}
		nodes[i] = n
	}
	slices.SortFunc(b.kids, func(x, y kid) int { return cmp.Or(cmp.Compare(x.parent, y.parent), cmp.Compare(x.symbol, y.symbol)) })
	b.kidFrom = starts(len(b.depth), len(b.kids), func(i int) uint32 { return b.kids[i].parent })
	b.addCells(g, o, nodes, renumbered)
	b.cellFrom = starts(len(b.depth), len(b.cells), func(i int) uint32 { return b.cells[i].node })
	return b
}

// addCells sums the counts of a graph over periods, in a fixed order: sums of fractions
// depend on it.
func (b *compiled) addCells(g *Graph, o ModelOptions, nodes []int, renumbered []uint32) {
	type counted struct {
		cell
		n *Counts
	}
	all := make([]counted, 0, len(g.cells))
	for c, n := range g.cells {
		if nodes[c.node] >= 0 {
			all = append(all, counted{cell{uint32(nodes[c.node]), renumbered[c.next], c.period}, n})
		}
	}
	slices.SortFunc(all, func(x, y counted) int {
		return cmp.Or(cmp.Compare(x.node, y.node), cmp.Compare(x.next, y.next), cmp.Compare(x.period, y.period), cmp.Compare(x.n.Total(), y.n.Total()))
	})
	for _, c := range all {
		if k := len(b.cells) - 1; k < 0 || b.cells[k].node != c.node || b.cells[k].next != c.next {
			b.cells = append(b.cells, compiledCell{node: c.node, next: c.next})
		}
		to, worth := &b.cells[len(b.cells)-1], 1.0
		if o.HalfLife > 0 {
			worth = math.Exp2(-float64(g.newest-c.period) / o.HalfLife)
		}
		to.raw.Add(*c.n)
		to.weight += float64(c.n.Total()) * worth
	}
}

// starts returns, of a list in order of nodes, where that of each node begins, and its end.
func starts(nodes, n int, node func(i int) uint32) []int32 {
	out := make([]int32, nodes+1)
	for i := range n {
		out[node(i)+1]++
	}
	for i := range nodes {
		out[i+1] += out[i]
	}
	return out
}

func (b *compiled) node(depth int, last uint32) {
	b.depth = append(b.depth, depth)
	b.last = append(b.last, last)
	b.mass = append(b.mass, 1)
}

func (b *compiled) kidsOf(node int) []kid { return b.kids[b.kidFrom[node]:b.kidFrom[node+1]] }
func (b *compiled) cellsOf(node int) []compiledCell {
	return b.cells[b.cellFrom[node]:b.cellFrom[node+1]]
}

// cellOf returns the cell of what comes next among those of a node; nil if there is none.
func cellOf(cells []compiledCell, next uint32) *compiledCell {
	i, is := slices.BinarySearchFunc(cells, next, func(c compiledCell, next uint32) int { return cmp.Compare(c.next, next) })
	if !is {
		return nil
	}
	return &cells[i]
}

// smooth works out what every context gives by itself.
func (b *compiled) smooth(o ModelOptions) {
	deepest := o.Order + 1
	for i := range b.depth {
		whole := o.Uniform || b.depth[i] == deepest || b.depth[i] > 1 && b.last[i] == startSymbol
		cells := b.cellsOf(i)
		for k := range cells {
			if c := &cells[k]; whole {
				c.used = c.weight
			}
		}
		if whole {
			continue
		}
		// The number of different older symbols that were seen before the context and
		// its successor. Each context has one above it, so this is O(cells).
		for _, kid := range b.kidsOf(i) {
			at := 0 // both are in order
			for _, d := range b.cellsOf(int(kid.node)) {
				for at < len(cells) && cells[at].next < d.next {
					at++
				}
				if at < len(cells) && cells[at].next == d.next {
					cells[at].used += min(1, d.weight)
				}
			}
		}
	}
	b.sumStates(o)
	discounts := b.discounts(deepest)
	for i := range b.depth {
		cells := b.cellsOf(i)
		total, kept := 0.0, 0.0
		for k := range cells {
			c := &cells[k]
			total += c.used
			c.share = max(c.used-discounts[b.depth[i]], 0)
			kept += c.share
		}
		nothing := total <= 0 || o.NoState && i == 0 // no more to be learnt from it
		for k := range cells {
			if cells[k].share /= total; nothing {
				cells[k].share = 0
			}
		}
		if !nothing {
			b.mass[i] = (total - kept) / total
		}
	}
}

// sumStates lets the empty context count what its states count: they are few, so
// the number of those that a symbol followed says nothing.
func (b *compiled) sumStates(o ModelOptions) {
	if o.Uniform {
		return
	}
	cells := b.cellsOf(0)
	for i := range cells {
		c := &cells[i]
		c.used = 0
		for _, kid := range b.kidsOf(0) {
			if kid.symbol >= uint32(states) || State(kid.symbol) == StateInside {
				continue
			}
			if d := cellOf(b.cellsOf(int(kid.node)), c.next); d != nil {
				c.used += d.used
			}
		}
	}
}

// discounts returns D of every length of contexts: n1/(n1+2 n2).
func (b *compiled) discounts(deepest int) []float64 {
	once, twice := make([]float64, deepest+1), make([]float64, deepest+1)
	for i := range b.cells {
		c := &b.cells[i]
		switch math.Round(c.used) {
		case 1:
			once[b.depth[c.node]]++
		case 2:
			twice[b.depth[c.node]]++
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
	queue := make([]uint32, 1, len(b.depth))
	m.childFrom, m.cellFrom = append(make([]uint32, 0, len(b.depth)+1), 1), append(make([]uint32, 0, len(b.depth)+1), 0)
	m.childState, m.backoff = make([]uint32, 0, len(b.kids)), make([]float64, 0, len(b.depth))
	m.cellNext, m.cellShare, m.cellScore = make([]uint32, 0, len(b.cells)), make([]float64, 0, len(b.cells)), make([]Counts, 0, len(b.cells))
	for i := 0; i < len(queue); i++ {
		n := int(queue[i])
		for _, kid := range b.kidsOf(n) {
			queue = append(queue, kid.node)
			m.childState = append(m.childState, kid.symbol)
		}
		for _, c := range b.cellsOf(n) {
			m.cellNext = append(m.cellNext, c.next)
			m.cellShare = append(m.cellShare, c.share)
			m.cellScore = append(m.cellScore, c.raw)
		}
		m.childFrom = append(m.childFrom, uint32(len(queue)))
		m.cellFrom = append(m.cellFrom, uint32(len(m.cellNext)))
		m.backoff = append(m.backoff, b.mass[n])
	}
}
