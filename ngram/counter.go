package ngram

import (
	"fmt"
	"iter"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// MaxOrder is the length of the longest context that can be counted.
const MaxOrder = 15

const (
	// A level is dense (an array over all possible n-grams, 4 bytes each) when it
	// has few cells, or when enough of them are in use: hashed, an n-gram takes
	// about 20 bytes and a slower look-up.
	denseCells  = 1 << 16
	denseLimit  = 1 << 22
	denseFactor = 16 // cells to each n-gram

	// block is how many symbols are counted before the layout is looked at
	// again, so that one endless sequence is no exception.
	block = 1 << 14
)

// A Counter counts the n-grams of 1 to K+1 symbols in sequences, in one pass.
// The zero Counter is of no use: see [NewCounter].
//
// Counters of the same order add up: counting parts and merging them gives the
// counts of the whole, in whatever order. Merging loses nothing, because no
// n-gram spans two sequences.
type Counter struct {
	k         int
	sequences uint64
	symbols   uint64 // counted in all sequences, repeats included
	top       uint32 // one more than the largest symbol
	bits      int    // of a symbol inside the index of a dense level
	depth     int    // levels 1..depth are dense
	dense     []tally
	hashed    []*hashed
	seed      uint64
	ids       []uint32 // scratch of add
}

// NewCounter returns a Counter for contexts of up to k symbols; k is from 0 to
// [MaxOrder].
func NewCounter(k int) *Counter {
	if k < 0 || k > MaxOrder {
		panic(fmt.Sprintf("ngram: order %d is not within 0..%d", k, MaxOrder))
	}
	c := &Counter{k: k, bits: 1, seed: rand.Uint64()}
	c.dense, c.hashed = make([]tally, k+2), make([]*hashed, k+2)
	for m := 1; m <= k+1; m++ {
		c.hashed[m] = newHashed(c.seed)
	}
	return c
}

// Add counts a sequence. An empty one adds nothing.
func (c *Counter) Add(sequence []uint32) { c.AddN(sequence, 1) }

// AddN counts a sequence that occurred n times.
//
// Symbols are expected to be dense: numbered from 0 without large gaps. A gap
// costs speed and memory, not correctness.
func (c *Counter) AddN(sequence []uint32, n uint64) {
	if len(sequence) == 0 || n == 0 {
		return
	}
	c.sequences += n
	c.symbols += n * uint64(len(sequence))
	for start := 0; start < len(sequence); start += block {
		end := min(start+block, len(sequence))
		c.fit(slices.Max(sequence[start:end]))
		c.add(sequence, start, end, n)
	}
}

// add counts the n-grams of sequence that end at start..end-1, level by level:
// one level's memory stays in the caches for a block.
func (c *Counter) add(sequence []uint32, start, end int, n uint64) {
	if need := end - start + 1; len(c.ids) < need {
		c.ids = make([]uint32, max(need, min(2*len(c.ids), block+1)))
	}
	// ids[i] is the n-gram of the level below that ends at start-1+i.
	ids := c.ids[:end-start+1]
	c.addDense(sequence, start, end, n, ids)
	for m := c.depth + 1; m <= c.k+1; m++ {
		from := max(start, m-1)
		if from >= end {
			return
		}
		if from == start {
			ids[0] = c.find(sequence[start-m+1 : start])
		}
		h := c.hashed[m]
		here := ids[from-start+1:]
		before := ids[from-start]
		for i, s := range sequence[from:end] {
			next := here[i]
			here[i] = h.add(before, s, n)
			before = next
		}
	}
}

// addDense counts what add counts on the dense levels and leaves the n-grams of
// the last of them in ids.
func (c *Counter) addDense(sequence []uint32, start, end int, n uint64, ids []uint32) {
	if c.depth == 0 {
		clear(ids) // of the empty n-gram
		return
	}
	first := c.find(sequence[start-min(start, c.depth-1, c.k) : start])
	for m := 1; m <= c.depth; m++ {
		from := max(start, m-1)
		if from >= end {
			return
		}
		packed, mask := uint64(first), uint64(1)<<(m*c.bits)-1
		for _, s := range sequence[start:from] {
			packed = packed<<c.bits | uint64(s)
		}
		level := &c.dense[m]
		low := level.low[:mask+1]
		for _, s := range sequence[from:end] {
			packed = (packed<<c.bits | uint64(s)) & mask
			if carry := addTo(&low[packed], n); carry != 0 {
				level.carry(uint32(packed), carry)
			}
		}
	}
	packed, mask := uint64(first), uint64(1)<<(c.depth*c.bits)-1
	for i, s := range sequence[start:end] {
		packed = (packed<<c.bits | uint64(s)) & mask
		ids[i+1] = uint32(packed)
	}
}

// find returns the id of an n-gram that has been counted.
func (c *Counter) find(gram []uint32) uint32 {
	id := uint32(0)
	for i, s := range gram {
		if i < c.depth {
			id = id<<c.bits | s
			continue
		}
		var ok bool
		if id, ok = c.hashed[i+1].find(id, s); !ok {
			panic(fmt.Sprintf("ngram: a context of %d symbols was never counted", len(gram)))
		}
	}
	return id
}

// Merge adds the counts of o, which must be of the same order and stays as it
// is.
func (c *Counter) Merge(o *Counter) {
	if c.k != o.k {
		panic(fmt.Sprintf("ngram: merging order %d into order %d", o.k, c.k))
	}
	if o == c {
		panic("ngram: merging a counter into itself")
	}
	if o.sequences == 0 {
		return
	}
	c.sequences += o.sequences
	c.symbols += o.symbols
	c.fit(o.top - 1)
	here := []uint32{0} // id in o -> id in c, of the level below
	for m := 1; m <= c.k+1; m++ {
		ids := make([]uint32, o.idBound(m))
		for id, n := range o.level(m) {
			parent := here[n.parent]
			if m <= c.depth {
				ids[id] = parent<<c.bits | n.symbol
				c.dense[m].add(ids[id], n.count)
			} else {
				ids[id] = c.hashed[m].add(parent, n.symbol, n.count)
			}
		}
		here = ids
	}
}

// gram is one n-gram of a level: its first symbols as the id of an n-gram of
// the level below, its last symbol, its count.
type gram struct {
	parent, symbol uint32
	count          uint64
}

// idBound returns a bound of the ids of level m.
func (c *Counter) idBound(m int) int {
	if m <= c.depth {
		return len(c.dense[m].low)
	}
	return int(c.hashed[m].n)
}

// level yields the n-grams of m symbols in the order of their ids.
func (c *Counter) level(m int) iter.Seq2[uint32, gram] {
	if m > c.depth {
		return func(yield func(uint32, gram) bool) {
			h := c.hashed[m]
			for id := range h.n {
				n := h.node(id)
				if !yield(id, gram{n.parent, n.symbol, h.count(id)}) {
					return
				}
			}
		}
	}
	return func(yield func(uint32, gram) bool) {
		mask := uint32(1)<<c.bits - 1
		for id := range uint32(len(c.dense[m].low)) {
			n := c.dense[m].at(id)
			if n > 0 && !yield(id, gram{id >> c.bits, id & mask, n}) {
				return
			}
		}
	}
}

// fit makes room for a symbol and chooses which levels are dense.
func (c *Counter) fit(symbol uint32) {
	if symbol >= c.top {
		c.top = symbol + 1
		if c.top == 0 {
			panic("ngram: symbol 2^32-1 is reserved")
		}
	}
	width := max(c.bits, bits.Len32(symbol))
	if width == c.bits && (c.depth > c.k || !c.worth(c.depth+1, width)) {
		return
	}
	depth := 0
	for depth <= c.k && c.worth(depth+1, width) {
		depth++
	}
	c.relayout(width, depth)
}

// worth reports whether level m should be dense when a symbol has that many bits.
func (c *Counter) worth(m, width int) bool {
	if m*width > bits.Len(denseLimit)-1 {
		return false
	}
	cells := 1 << (m * width)
	if cells <= denseCells {
		return true
	}
	grams := 0
	if m > c.depth {
		grams = int(c.hashed[m].n)
	} else {
		for _, n := range c.dense[m].low {
			if n != 0 {
				grams++
			}
		}
	}
	return cells <= denseFactor*grams
}

// relayout moves the counts to levels of another shape: width bits a symbol,
// levels 1..depth dense. Where ids change, the level above follows.
func (c *Counter) relayout(width, depth int) {
	moved := func(id uint32) uint32 { return id } // id of the level below, before -> after
	var (
		oldDepth = c.depth
		dense    = make([]tally, len(c.dense))
		hash     = make([]*hashed, len(c.hashed))
	)
	for m := 1; m <= c.k+1; m++ {
		if m > depth && m > oldDepth {
			hash[m] = c.hashed[m]
			if m == max(depth, oldDepth)+1 {
				hash[m].reparent(moved)
			}
			continue
		}
		ids := make([]uint32, c.idBound(m))
		if m <= depth {
			dense[m].low = make([]uint32, 1<<(m*width))
		} else {
			hash[m] = newHashed(c.seed)
		}
		for id, n := range c.level(m) {
			parent := moved(n.parent)
			if m <= depth {
				ids[id] = parent<<width | n.symbol
				dense[m].add(ids[id], n.count)
			} else {
				ids[id] = hash[m].add(parent, n.symbol, n.count)
			}
		}
		moved = func(id uint32) uint32 { return ids[id] }
	}
	c.bits, c.depth, c.dense, c.hashed = width, depth, dense, hash
}
