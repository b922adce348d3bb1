package ngram

// Discounts are kept within these bounds: n1/(n1+2 n2) is 0 where no n-gram was
// seen once and 1 where none was seen twice, and neither leaves a usable model.
const (
	minDiscount = 0.1
	maxDiscount = 0.9
)

// start stands before every sequence. As the smallest symbol it puts the
// n-grams that begin with it first on every level.
const start = 0

// A Model predicts the next symbol by interpolated Kneser-Ney smoothing (Kneser
// and Ney 1995; the interpolated form and the notation are those of Chen and
// Goodman 1999): with D the order's discount, T(c) the sum of the counts n(c,.)
// and t(c) the number of different successors,
//
//	p(s|c) = (n(c,s) - D)/T(c) + D t(c)/T(c) p(s|c less its first symbol)
//
// where the longest context takes n from the counts and every shorter one takes
// the number of different symbols that n(.,c,s) was seen after. D is
// n1/(n1+2 n2) of the counts of its order, kept within 0.1 and 0.9. At the end
// of the chain is a uniform distribution over the alphabet and one more
// outcome: a symbol that the model does not know.
//
// A start symbol stands before every sequence, so that the first calls are predicted
// too, from how sequences begin. The end of a sequence is not predicted.
//
// A Model is immutable and safe to share. It keeps at most 24 bytes an n-gram.
type Model struct {
	k        int // the context that predictions use
	alphabet int // symbols 0..alphabet-1 are known by name
	counts   *Counts
	starts   []uint32   // by level: n-grams that begin with the start symbol, the first on their level
	before   [][]uint32 // by level: in how many different symbols' wake each n-gram was seen
	totals   [][]uint64 // by level: sum of the counts of the successors
	wakes    [][]uint32 // by level: the same of before, for contexts without the start symbol
	high     []float64  // discounts of the counts, by length of the context
	low      []float64  // discounts of before
	types    int        // different symbols that were seen
}

// ModelOptions are the choices of [Train]. The zero value is the default.
type ModelOptions struct {
	// Alphabet is how many symbols exist: 0..Alphabet-1. Those that were never
	// seen in training share what the discounts leave for them. At least the
	// symbols that were seen are in it, which is also the default.
	Alphabet int
}

// A Trainer takes in the sequences that a [Model] learns from, in one pass.
type Trainer struct {
	counter *Counter
	padded  []uint32
}

// NewTrainer returns a Trainer for contexts of up to k symbols.
func NewTrainer(k int) *Trainer { return &Trainer{counter: NewCounter(k)} }

// AddN learns from a sequence that occurred n times.
func (t *Trainer) AddN(sequence []uint32, n uint64) {
	if len(sequence) == 0 {
		return
	}
	t.padded = append(t.padded[:0], start)
	for _, s := range sequence {
		if s+1 == start {
			panic("ngram: symbol 2^32-1 is reserved")
		}
		t.padded = append(t.padded, s+1)
	}
	t.counter.AddN(t.padded, n)
}

// Model returns the model of what was added, and empties the trainer.
func (t *Trainer) Model(o ModelOptions) *Model {
	m := &Model{k: t.counter.k, counts: t.counter.Counts()}
	m.count()
	m.types = m.counts.Distinct(1) - int(m.starts[1])
	m.alphabet = o.Alphabet
	if n := m.counts.Distinct(1); n > 0 {
		m.alphabet = max(m.alphabet, int(m.counts.levels[1].symbols[n-1]))
	}
	for c := range m.k + 1 {
		m.high = append(m.high, m.discount(c+1, false))
		m.low = append(m.low, m.discount(c+1, true))
	}
	return m
}

// count fills in what the model needs beside the counts.
func (m *Model) count() {
	c := m.counts
	levels := c.k + 2
	m.starts, m.before = make([]uint32, levels), make([][]uint32, levels)
	m.totals, m.wakes = make([][]uint64, levels), make([][]uint32, levels)
	var links []uint32
	for l := 1; l < levels; l++ {
		level := &c.levels[l]
		if l == 1 && level.size() > 0 && level.symbols[0] == start {
			m.starts[1] = 1
		} else if l > 1 {
			m.starts[l] = c.levels[l-1].first[m.starts[l-1]]
		}
		links = c.link(l, links)
		if l > 1 {
			m.before[l-1] = make([]uint32, c.levels[l-1].size())
			for _, j := range links {
				m.before[l-1][j]++
			}
		}
	}
	for l := range c.k + 1 {
		size := c.levels[l].size()
		m.totals[l] = make([]uint64, size)
		if l < c.k { // the longest contexts are part of no longer one's chain
			m.wakes[l] = make([]uint32, size)
		}
		for i := range size {
			from, to := m.successors(l, i)
			for j := from; j < to; j++ {
				m.totals[l][i] += c.levels[l+1].counts[j]
				if l < c.k {
					m.wakes[l][i] += m.before[l+1][j]
				}
			}
		}
	}
}

// successors returns the range of the successors of context i of l symbols: the
// start symbol follows nothing.
func (m *Model) successors(l int, i uint32) (from, to uint32) {
	from, to = m.counts.levels[l].children(i)
	if l == 0 {
		from += m.starts[1]
	}
	return from, to
}

// n returns the count of n-gram i of l symbols, and as a part of a longer
// context's chain the number of symbols before it. Nothing comes before the
// start symbol: what begins with it keeps its count.
func (m *Model) n(l int, i uint32, lower bool) uint64 {
	if lower && i >= m.starts[l] {
		return uint64(m.before[l][i])
	}
	return m.counts.levels[l].counts[i]
}

// total returns the sum of n over the successors of context i of l symbols.
func (m *Model) total(l int, i uint32, lower bool) uint64 {
	if lower && i >= m.starts[l] {
		return uint64(m.wakes[l][i])
	}
	return m.totals[l][i]
}

// discount returns D of the n-grams of l symbols.
func (m *Model) discount(l int, lower bool) float64 {
	if lower && l > m.k {
		return 0 // no longer contexts, no chain
	}
	var once, twice float64
	from := uint32(0)
	if l == 1 {
		from = m.starts[1]
	}
	for i := from; i < m.counts.levels[l].size(); i++ {
		switch m.n(l, i, lower) {
		case 1:
			once++
		case 2:
			twice++
		}
	}
	if once == 0 {
		return minDiscount
	}
	return min(max(once/(once+2*twice), minDiscount), maxDiscount)
}

// child returns the place on level l+1 of context i of l symbols, followed by
// symbol.
func (m *Model) child(l int, i, symbol uint32) (uint32, bool) {
	if symbol+1 == start {
		return 0, false
	}
	return m.counts.child(l, i, symbol+1)
}
