package ngram

import (
	"fmt"

	"github.com/awo-dev/awo/internal/lookup"
)

// MaxOrder is the length of the longest context that can be counted.
const MaxOrder = 15

// A Counter counts the n-grams of 1 to K+1 symbols in sequences, in one pass.
// The zero Counter is of no use: see [NewCounter].
//
// Counters of the same order add up: counting parts and merging them gives the
// counts of the whole, in whatever order. Merging loses nothing, because no
// n-gram spans two sequences.
type Counter struct {
	k         int
	sequences uint64
	symbols   uint64  // counted in all sequences, repeats included
	levels    []level // by length of the n-gram; levels[0] is of no use
	ids       []uint32
}

// level is the n-grams of one length, in the order of their first appearance.
type level struct {
	index lookup.Table // parent and symbol -> place
	grams []gram
}

// gram is one n-gram: its first symbols as a place on the level below, its last symbol, and
// how often it occurred.
type gram struct {
	parent, symbol uint32
	count          uint64
}

// add counts an n-gram n times and returns its place.
func (l *level) add(parent, symbol uint32, n uint64) uint32 {
	next := int32(len(l.grams))
	i := l.index.Insert(lookup.Pair(parent, symbol), next)
	if i == next {
		if next < 0 {
			panic("ngram: more than 2^31 distinct n-grams of one length")
		}
		l.grams = append(l.grams, gram{parent, symbol, n})
		return uint32(i)
	}
	l.grams[i].count += n
	return uint32(i)
}

// NewCounter returns a Counter for contexts of up to k symbols; k is from 0 to
// [MaxOrder].
func NewCounter(k int) *Counter {
	if k < 0 || k > MaxOrder {
		panic(fmt.Sprintf("ngram: order %d is not within 0..%d", k, MaxOrder))
	}
	return &Counter{k: k, levels: make([]level, k+2)}
}

// Add counts a sequence. An empty one adds nothing.
func (c *Counter) Add(sequence []uint32) { c.AddN(sequence, 1) }

// block is how many symbols are counted at once, level by level: one level's memory stays in
// the caches for a block.
const block = 1 << 14

// AddN counts a sequence that occurred n times. The symbol 2^32-1 is reserved.
func (c *Counter) AddN(sequence []uint32, n uint64) {
	if len(sequence) == 0 || n == 0 {
		return
	}
	c.sequences += n
	c.symbols += n * uint64(len(sequence))
	// before[m] is the n-gram of m symbols that ended before the block.
	before := make([]uint32, c.k+2)
	for start := 0; start < len(sequence); start += block {
		c.addBlock(sequence, start, min(start+block, len(sequence)), n, before)
	}
}

func (c *Counter) addBlock(sequence []uint32, start, end int, n uint64, before []uint32) {
	// ids[i] is the n-gram of the level below that ends at start+i.
	if cap(c.ids) < end-start {
		c.ids = make([]uint32, end-start)
	}
	ids := c.ids[:end-start]
	clear(ids)
	below := uint32(0) // the same, ending before the block: on level 0 there is one
	for m := 1; m <= c.k+1; m++ {
		from := max(start, m-1)
		if from >= end {
			return
		}
		l, parent := &c.levels[m], below
		if from > start {
			parent = ids[from-start-1]
		}
		below = before[m]
		for i := from; i < end; i++ {
			if sequence[i] == 1<<32-1 {
				panic("ngram: symbol 2^32-1 is reserved")
			}
			next := ids[i-start]
			ids[i-start] = l.add(parent, sequence[i], n)
			parent = next
		}
		before[m] = ids[end-start-1]
	}
}
