package ngram

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// MaxChain is the length of the longest chains.
const MaxChain = 12

// Chain is an n-gram of 2 to MaxChain symbols that recurs.
type Chain struct {
	Symbols     []uint32
	Occurrences int   // that do not overlap, counted from the left in each sequence
	With        []int // sequences in which it occurs, by task
	Sequences   int   // in which it occurs: the sum of With
	Tasks       int   // in which it occurs
}

// Gain is how many symbols would be left out if each occurrence were one symbol.
func (c *Chain) Gain() int { return c.Occurrences * (len(c.Symbols) - 1) }

// Chains returns the chains that gain most, at most so many, in order: those of most gain
// first, of these the shorter ones, then by compare, which orders symbols. So the result
// depends on sequences and tasks alone, and on no order or number. tasks has the task of
// each sequence, numbered from 0.
//
// A chain occurs in two tasks at least, and is closed: no symbol stands before all of its
// occurrences, or behind all of them, that is always the same; a longer chain would say
// more then. Occurrences that overlap count for that. Chains of MaxChain symbols may go on.
//
// It takes time in proportion to the symbols of different sequences, times MaxChain at
// most, and 16 bytes for each of these symbols. Equal sequences are looked at once.
func Chains(sequences [][]uint32, tasks []uint32, most int, compare func(a, b uint32) int) []Chain {
	m := newChainMiner(sequences, tasks, most, compare)
	if most > 0 {
		m.grow(m.starts, m.spare, 0)
	}
	for i := range m.best {
		m.complete(&m.best[i])
	}
	return m.best
}

// chainMiner looks for chains: those that begin alike are grown one symbol at a time.
type chainMiner struct {
	different []repeated
	tasks     int
	most      int
	compare   func(a, b uint32) int

	starts, spare []chainStart
	path          []uint32
	best          []Chain // in order
}

// repeated is a sequence and whose it is.
type repeated struct {
	symbols []uint32
	n       int         // how often it is there
	tasks   map[int]int // how often in each
}

// chainStart is where a chain begins.
type chainStart struct{ sequence, at uint32 }

func newChainMiner(sequences [][]uint32, tasks []uint32, most int, compare func(a, b uint32) int) *chainMiner {
	m := &chainMiner{most: most, compare: compare}
	known := map[string]int{}
	var key []byte
	for i, symbols := range sequences {
		key = key[:0]
		for _, s := range symbols {
			key = binary.LittleEndian.AppendUint32(key, s)
		}
		at, ok := known[string(key)]
		if !ok {
			at = len(m.different)
			known[string(key)] = at
			m.different = append(m.different, repeated{symbols: symbols, tasks: map[int]int{}})
			for k := range symbols {
				m.starts = append(m.starts, chainStart{uint32(at), uint32(k)})
			}
		}
		task := int(tasks[i])
		m.different[at].n++
		m.different[at].tasks[task]++
		m.tasks = max(m.tasks, task+1)
	}
	m.spare = make([]chainStart, len(m.starts))
	return m
}

// grow looks at every chain that is one symbol longer than the path, which begins at each
// of starts, in the order of sequences and places. It reorders starts; spare has as much
// room.
func (m *chainMiner) grow(starts, spare []chainStart, length int) {
	next := func(s chainStart) (uint32, bool) {
		symbols := m.different[s.sequence].symbols
		at := int(s.at) + length
		if at >= len(symbols) {
			return 0, false
		}
		return symbols[at], true
	}
	count := map[uint32]int{}
	for _, s := range starts {
		if symbol, ok := next(s); ok {
			count[symbol]++
		}
	}
	order := make([]uint32, 0, len(count))
	for symbol := range count {
		order = append(order, symbol)
	}
	slices.SortFunc(order, m.compare)
	from := map[uint32]int{}
	sum := 0
	for _, symbol := range order {
		from[symbol] = sum
		sum += count[symbol]
	}
	for _, s := range starts {
		if symbol, ok := next(s); ok {
			spare[from[symbol]] = s
			from[symbol]++
		}
	}
	copy(starts, spare[:sum])
	for _, symbol := range order {
		group := starts[from[symbol]-count[symbol] : from[symbol]]
		weight := m.weight(group)
		if weight < 2 || len(m.best) == m.most && weight*(MaxChain-1) < m.best[m.most-1].Gain() {
			continue // nothing that begins so is among the best
		}
		m.path = append(m.path, symbol)
		if length++; length > 1 && m.closed(group, length) {
			m.offer(group)
		}
		if length < MaxChain {
			m.grow(group, spare[from[symbol]-count[symbol]:from[symbol]], length)
		}
		length--
		m.path = m.path[:length]
	}
}

// weight returns how often what begins at starts is there, overlapping or not.
func (m *chainMiner) weight(starts []chainStart) (n int) {
	for _, s := range starts {
		n += m.different[s.sequence].n
	}
	return n
}

// closed reports whether different symbols, or ends of sequences, stand on both sides.
func (m *chainMiner) closed(starts []chainStart, length int) bool {
	around := func(s chainStart, by int) int64 {
		symbols := m.different[s.sequence].symbols
		if at := int(s.at) + by; at >= 0 && at < len(symbols) {
			return int64(symbols[at])
		}
		return -1
	}
	differ := func(by int) bool {
		first := around(starts[0], by)
		return first < 0 || slices.ContainsFunc(starts, func(s chainStart) bool { return around(s, by) != first })
	}
	return differ(-1) && (length == MaxChain || differ(length))
}

// offer takes the path among the best, if it is.
func (m *chainMiner) offer(starts []chainStart) {
	c := Chain{Symbols: m.path}
	end := uint32(0)
	for i, s := range starts {
		if i > 0 && s.sequence == starts[i-1].sequence && s.at < end {
			continue
		}
		end = s.at + uint32(len(m.path))
		c.Occurrences += m.different[s.sequence].n
	}
	at, _ := slices.BinarySearchFunc(m.best, &c, func(have Chain, c *Chain) int { return m.order(&have, c) })
	if at == m.most || !m.spread(starts) {
		return
	}
	c.Symbols = slices.Clone(m.path)
	m.best = slices.Insert(m.best, at, c)
	m.best = m.best[:min(len(m.best), m.most)]
}

// spread reports whether starts are in two tasks at least.
func (m *chainMiner) spread(starts []chainStart) bool {
	first := -1
	for i, s := range starts {
		if i > 0 && s.sequence == starts[i-1].sequence {
			continue
		}
		for task := range m.different[s.sequence].tasks {
			if first >= 0 && task != first {
				return true
			}
			first = task
		}
	}
	return false
}

func (m *chainMiner) order(a, b *Chain) int {
	return cmp.Or(cmp.Compare(b.Gain(), a.Gain()), cmp.Compare(len(a.Symbols), len(b.Symbols)), slices.CompareFunc(a.Symbols, b.Symbols, m.compare))
}

// complete counts in which sequences and tasks a chain occurs.
func (m *chainMiner) complete(c *Chain) {
	c.With = make([]int, m.tasks)
	for _, d := range m.different {
		if !contains(d.symbols, c.Symbols) {
			continue
		}
		c.Sequences += d.n
		for task, n := range d.tasks {
			if c.With[task] == 0 {
				c.Tasks++
			}
			c.With[task] += n
		}
	}
}

func contains(symbols, part []uint32) bool {
	for i := 0; i+len(part) <= len(symbols); i++ {
		if slices.Equal(symbols[i:i+len(part)], part) {
			return true
		}
	}
	return false
}
