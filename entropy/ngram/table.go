package ngram

import (
	"fmt"
	"iter"
)

// A Row is a predecessor and what followed after it and the context of its
// table.
type Row struct {
	Symbol uint32 // the predecessor
	Next   []Successor
	N      uint64 // the sum over Next
}

// A Table is the contingency table of one context c of k symbols: over the
// windows a, c, s of k+2 symbols, predecessors a (rows) by successors s. It is
// what a test of order k against order k+1 looks at: under order k, s does not
// depend on a.
type Table struct {
	Context []uint32
	Rows    []Row // in order of their symbols
	N       uint64
}

// Tables yields the contingency tables of the contexts of k symbols, k from 0
// to MaxOrder-1, in lexicographic order. What it yields is valid until the next
// one.
func (c *Counts) Tables(k int) iter.Seq[Table] {
	if k < 0 || k+1 > c.k {
		panic(fmt.Sprintf("ngram: tables of order %d asked of counts of order %d", k, c.k))
	}
	return func(yield func(Table) bool) {
		rows, first := c.byEnd(k + 1)
		t := Table{Context: make([]uint32, k)}
		var (
			p     = c.path(k)
			heads = c.heads(k + 1) // of the rows, which are visited out of order
			next  []Successor
		)
		for i := range c.levels[k].size() {
			t.Rows, t.N, next = t.Rows[:0], 0, next[:0]
			for _, r := range rows[first[i]:first[i+1]] {
				row := Row{Symbol: heads[r]}
				from, to := c.levels[k+1].children(r)
				start := len(next)
				for j := from; j < to; j++ {
					n := c.levels[k+2].counts[j]
					next = append(next, Successor{c.levels[k+2].symbols[j], n})
					row.N += n
				}
				row.Next = next[start:len(next):len(next)]
				t.Rows = append(t.Rows, row)
				t.N += row.N
			}
			if t.N == 0 {
				continue
			}
			p.seek(i, t.Context)
			if !yield(t) {
				return
			}
		}
	}
}

// byEnd returns the n-grams of m symbols that have a successor, grouped by
// their last m-1 symbols: those that end in n-gram i of level m-1 are
// rows[first[i]:first[i+1]], in order of their first symbols.
func (c *Counts) byEnd(m int) (rows, first []uint32) {
	var link []uint32
	for l := 1; l <= m; l++ {
		link = c.link(l, link)
	}
	first = make([]uint32, c.levels[m-1].size()+1)
	total := uint32(0)
	for r, i := range link {
		if from, to := c.levels[m].children(uint32(r)); from < to {
			first[i]++
			total++
		}
	}
	end := uint32(0)
	for i, n := range first {
		first[i] = end
		end += n
	}
	rows = make([]uint32, total)
	for r, i := range link {
		if from, to := c.levels[m].children(uint32(r)); from < to {
			rows[first[i]] = uint32(r)
			first[i]++
		}
	}
	copy(first[1:], first)
	first[0] = 0
	return rows, first
}

// heads returns the first symbol of every n-gram of m symbols.
func (c *Counts) heads(m int) []uint32 {
	p := c.path(m)
	heads := make([]uint32, c.levels[m].size())
	symbols := make([]uint32, m)
	for i := range c.levels[m].size() {
		p.seek(i, symbols)
		heads[i] = symbols[0]
	}
	return heads
}
