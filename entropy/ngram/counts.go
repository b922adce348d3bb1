package ngram

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
)

// Counts holds how often each n-gram of 1 to K+1 symbols occurred. It is
// immutable and safe to share, and everything in it is in lexicographic order
// of the symbols: equal corpora give equal Counts, whatever the order of their
// sequences.
type Counts struct {
	k         int
	sequences uint64
	symbols   uint64
	levels    []trie // by length of the n-gram; levels[0] is the empty one
}

// trie is one level: n-grams in lexicographic order, so that the children of
// one (its successors) lie next to each other on the level above.
type trie struct {
	symbols []uint32 // the last symbol of each
	counts  []uint64
	first   []uint32 // where the children of each begin; one more entry ends the last
}

// size returns the number of n-grams of the level.
func (t *trie) size() uint32 { return uint32(len(t.symbols)) }

// children returns the range of the children of n-gram i.
func (t *trie) children(i uint32) (uint32, uint32) { return t.first[i], t.first[i+1] }

// Counts takes the counts out of the counter, which is empty afterwards: its
// memory is given back level by level while that of the result grows.
func (c *Counter) Counts() *Counts {
	r := &Counts{k: c.k, sequences: c.sequences, symbols: c.symbols, levels: make([]trie, c.k+2)}
	r.levels[0] = trie{symbols: []uint32{0}, counts: []uint64{c.symbols}}
	ranks := []uint32{0} // id -> place, on the level below
	for m := 1; m <= c.k+1; m++ {
		r.levels[m], r.levels[m-1].first, ranks = c.levels[m].sorted(ranks, r.levels[m-1].size())
		c.levels[m] = level{}
	}
	*c = *NewCounter(c.k)
	return r
}

// sorted returns a level in lexicographic order, where the children of each of the parents
// begin, and the place of each n-gram. ranks holds the places of the parents.
func (l *level) sorted(ranks []uint32, parents uint32) (out trie, first, places []uint32) {
	// A counting sort by parent; then the few children of each by symbol.
	first = make([]uint32, parents+1)
	for i := range l.grams {
		first[ranks[l.grams[i].parent]]++
	}
	end := uint32(0)
	for i, n := range first {
		first[i] = end
		end += n
	}
	order := make([]uint32, len(l.grams))
	for i := range l.grams {
		at := &first[ranks[l.grams[i].parent]]
		order[*at] = uint32(i)
		*at++
	}
	copy(first[1:], first) // each has moved to its end, where the next begins
	first[0] = 0
	for i := range parents {
		if children := order[first[i]:first[i+1]]; len(children) > 1 {
			slices.SortFunc(children, func(a, b uint32) int { return cmp.Compare(l.grams[a].symbol, l.grams[b].symbol) })
		}
	}
	places = make([]uint32, len(l.grams))
	out.symbols, out.counts = make([]uint32, len(l.grams)), make([]uint64, len(l.grams))
	for i, id := range order {
		out.symbols[i], out.counts[i] = l.grams[id].symbol, l.grams[id].count
		places[id] = uint32(i)
	}
	return out, first, places
}

// Count returns the counts of sequences, for contexts of up to k symbols.
func Count(k int, sequences iter.Seq[[]uint32]) *Counts {
	c := NewCounter(k)
	for s := range sequences {
		c.Add(s)
	}
	return c.Counts()
}

// MaxOrder returns the length of the longest context that was counted.
func (c *Counts) MaxOrder() int { return c.k }

// Sequences returns how many sequences were counted; empty ones were not.
func (c *Counts) Sequences() uint64 { return c.sequences }

// Symbols returns how many symbols the sequences held, repeats included.
func (c *Counts) Symbols() uint64 { return c.symbols }

// Distinct returns how many different n-grams of m symbols there are, m from 0
// to MaxOrder+1. Distinct(1) is the number of different symbols.
func (c *Counts) Distinct(m int) int { return int(c.levels[m].size()) }

// Occurrences returns how often an n-gram occurred, at the end of a sequence
// included; it may have up to MaxOrder+1 symbols. The empty n-gram occurs once
// for each symbol.
func (c *Counts) Occurrences(gram []uint32) uint64 {
	if i, ok := c.find(gram); ok {
		return c.levels[len(gram)].counts[i]
	}
	return 0
}

// Place returns the place of an n-gram of m symbols among the Distinct(m) ones of
// its length, from 0, in lexicographic order; false if it never occurred.
func (c *Counts) Place(gram []uint32) (int, bool) {
	i, ok := c.find(gram)
	return int(i), ok
}

// Context returns the successors of a context of up to MaxOrder symbols, and
// false if nothing ever followed it.
func (c *Counts) Context(symbols []uint32) (Context, bool) {
	i, ok := c.find(symbols)
	if !ok {
		return Context{}, false
	}
	x := Context{Symbols: slices.Clone(symbols)}
	c.successors(&x, i, nil)
	return x, x.N > 0
}

// find returns the place of an n-gram on its level.
func (c *Counts) find(gram []uint32) (uint32, bool) {
	if len(gram) > c.k+1 {
		panic(fmt.Sprintf("ngram: %d symbols asked of counts of order %d", len(gram), c.k))
	}
	i, ok := uint32(0), true
	for m, s := range gram {
		if i, ok = c.child(m, i, s); !ok {
			return 0, false
		}
	}
	return i, true
}

// child returns the place on level m+1 of n-gram i of level m, followed by
// symbol.
func (c *Counts) child(m int, i, symbol uint32) (uint32, bool) {
	if m > c.k {
		panic(fmt.Sprintf("ngram: successors of %d symbols asked of counts of order %d", m, c.k))
	}
	from, to := c.levels[m].children(i)
	next := c.levels[m+1].symbols
	if from == 0 && symbol < to && next[symbol] == symbol {
		return symbol, true // the root's children: symbol s is mostly at place s
	}
	j, ok := slices.BinarySearch(next[from:to], symbol)
	return from + uint32(j), ok
}

// successors fills x with the successors of n-gram i of level len(x.Symbols),
// with the counts of aligned where it is given.
func (c *Counts) successors(x *Context, i uint32, aligned []uint64) {
	m := len(x.Symbols)
	next := &c.levels[m+1]
	x.N, x.Next = 0, x.Next[:0]
	from, to := c.levels[m].children(i)
	for j := from; j < to; j++ {
		n := next.counts[j]
		if aligned != nil {
			n = aligned[j]
		}
		if n > 0 {
			x.N += n
			x.Next = append(x.Next, Successor{next.symbols[j], n})
		}
	}
}
