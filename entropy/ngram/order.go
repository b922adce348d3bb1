package ngram

import (
	"fmt"
	"iter"
)

// A Successor is a symbol that followed a context, N times.
type Successor struct {
	Symbol uint32
	N      uint64
}

// A Context is a run of symbols and what followed it: N is the sum over Next,
// which is in order of the symbols.
type Context struct {
	Symbols []uint32
	Next    []Successor
	N       uint64
}

// An Order is the table of the contexts of K symbols and their successors: the
// counts n(c,s) of a Markov chain of order K.
type Order struct {
	K       int
	counts  *Counts
	aligned []uint64 // counts of the n-grams of K+1 symbols, where they are not the plain ones
}

// Order returns the table of contexts of k symbols, k from 0 to MaxOrder, over
// all windows of k+1 symbols.
func (c *Counts) Order(k int) Order {
	if k < 0 || k > c.k {
		panic(fmt.Sprintf("ngram: order %d asked of counts of order %d", k, c.k))
	}
	return Order{K: k, counts: c}
}

// Aligned yields the tables of orders length-1, ..., 1, 0 over windows of length
// symbols, up to MaxOrder+1, of which each order looks at the last k+1. Models
// of different orders are comparable when they are judged on the same windows;
// their own windows differ by the starts of sequences.
func (c *Counts) Aligned(length int) iter.Seq[Order] {
	if length < 1 || length > c.k+1 {
		panic(fmt.Sprintf("ngram: windows of %d symbols asked of counts of order %d", length, c.k))
	}
	return func(yield func(Order) bool) {
		o := c.Order(length - 1)
		if !yield(o) {
			return
		}
		links := c.links(length)
		for m := length; m > 1; m-- {
			shorter := make([]uint64, c.levels[m-1].size())
			for i, j := range links[m] {
				if m == length {
					shorter[j] += c.levels[m].counts[i]
				} else {
					shorter[j] += o.aligned[i]
				}
			}
			links[m] = nil
			o = Order{K: m - 2, counts: c, aligned: shorter}
			if !yield(o) {
				return
			}
		}
	}
}

// links returns, for each length m up to longest and each n-gram of that
// length, the place of its last m-1 symbols on the level below.
func (c *Counts) links(longest int) [][]uint32 {
	links := make([][]uint32, longest+1)
	for m := 1; m <= longest; m++ {
		links[m] = c.link(m, links[m-1])
	}
	return links
}

// link returns the places on level m-1 of the last m-1 symbols of the n-grams
// of level m. below are those of level m-1.
func (c *Counts) link(m int, below []uint32) []uint32 {
	link := make([]uint32, c.levels[m].size())
	if m == 1 {
		return link // the empty n-gram
	}
	for p := range c.levels[m-1].size() {
		from, to := c.levels[m-1].children(p)
		for i := from; i < to; i++ {
			j, ok := c.child(m-2, below[p], c.levels[m].symbols[i])
			if !ok {
				panic(fmt.Sprintf("ngram: an n-gram of %d symbols was counted, its end was not", m))
			}
			link[i] = j
		}
	}
	return link
}

// Contexts yields every context that has a successor, in lexicographic order.
// What it yields is valid until the next one.
func (o Order) Contexts() iter.Seq[Context] {
	return func(yield func(Context) bool) {
		x := Context{Symbols: make([]uint32, o.K)}
		p := o.counts.path(o.K)
		for i := range o.counts.levels[o.K].size() {
			p.seek(i, x.Symbols)
			o.counts.successors(&x, i, o.aligned)
			if x.N > 0 && !yield(x) {
				return
			}
		}
	}
}

// A Summary is what can be said of a table without its entropies.
type Summary struct {
	N          uint64 // windows
	Contexts   int    // that have a successor
	Cells      int    // context and successor
	Singletons int    // cells that were seen once
}

// Summary counts contexts and cells.
func (o Order) Summary() Summary {
	var s Summary
	c := o.counts
	for i := range c.levels[o.K].size() {
		from, to := c.levels[o.K].children(i)
		cells := s.Cells
		for j := from; j < to; j++ {
			n := c.levels[o.K+1].counts[j]
			if o.aligned != nil {
				n = o.aligned[j]
			}
			s.N += n
			if n > 0 {
				s.Cells++
			}
			if n == 1 {
				s.Singletons++
			}
		}
		if s.Cells > cells {
			s.Contexts++
		}
	}
	return s
}

// path knows the symbols of the n-grams of a level, when they are visited in
// order: each level's cursor only moves forward.
type path struct {
	counts *Counts
	at     []uint32 // place on each level
}

func (c *Counts) path(m int) path { return path{c, make([]uint32, m+1)} }

// seek writes the symbols of n-gram i of the last level into symbols.
func (p path) seek(i uint32, symbols []uint32) {
	for m := len(p.at) - 1; m > 0; m-- {
		p.at[m] = i
		symbols[m-1] = p.counts.levels[m].symbols[i]
		up := p.at[m-1]
		for p.counts.levels[m-1].first[up+1] <= i {
			up++
		}
		i = up
	}
}
