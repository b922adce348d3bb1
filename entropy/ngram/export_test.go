package ngram

// What tests alone ask of counts and models.

import (
	"fmt"
	"iter"
	"math"
)

// Follows returns n(c,s): how often symbol followed context.
func (c *Counts) Follows(context []uint32, symbol uint32) uint64 {
	if i, ok := c.find(context); ok {
		if j, ok := c.child(len(context), i, symbol); ok {
			return c.levels[len(context)+1].counts[j]
		}
	}
	return 0
}

// Add learns from a sequence. An empty one teaches nothing.
func (t *Trainer) Add(sequence []uint32) { t.AddN(sequence, 1) }

// Train returns the model of the sequences, for contexts of up to k symbols.
func Train(k int, sequences iter.Seq[[]uint32], o ModelOptions) *Model {
	t := NewTrainer(k)
	for s := range sequences {
		t.Add(s)
	}
	return t.Model(o)
}

// Order returns how many symbols predictions look back.
func (m *Model) Order() int { return m.k }

// Alphabet returns how many symbols the model knows by name: 0..Alphabet-1.
func (m *Model) Alphabet() int { return m.alphabet }

// Discount returns D of the counts after contexts of c symbols.
func (m *Model) Discount(c int) float64 { return m.high[c] }

// Shorter returns the model of order k, at most m's own. It shares m's counts:
// nothing is counted again.
func (m *Model) Shorter(k int) *Model {
	if k < 0 || k > m.k {
		panic(fmt.Sprintf("ngram: order %d asked of a model of order %d", k, m.k))
	}
	s := *m
	s.k = k
	return &s
}

// after returns h followed by symbol.
func (m *Model) after(h history, symbol uint32) history {
	next := history{n: 1}
	for l := 1; l <= min(h.n, m.k); l++ {
		i, ok := m.child(l-1, h.places[l-1], symbol)
		if !ok {
			break
		}
		next.places[l] = i
		next.n = l + 1
	}
	return next
}

// history returns where a prediction after these symbols stands. They are all
// since the start of the sequence, or at least the last k of them.
func (m *Model) history(symbols []uint32) history {
	if cut := len(symbols) - m.k; cut > 0 {
		h := history{n: 1} // in the middle: the start symbol is out of sight
		for _, s := range symbols[cut:] {
			h = m.after(h, s)
		}
		return h
	}
	h := m.begin()
	for _, s := range symbols {
		h = m.after(h, s)
	}
	return h
}

// Prob returns the probability that symbol comes after context: all symbols
// since the start of the sequence, or at least the last Order of them. A shorter
// context is taken to be a whole one, so that an empty one stands for the start
// of a sequence.
//
// A symbol that the model does not know has the probability that anything
// unknown comes. It does not depend on which one it is.
func (m *Model) Prob(context []uint32, symbol uint32) float64 {
	h := m.history(context)
	var p [MaxOrder + 1]float64
	m.step(&h, symbol, p[:m.k+1])
	return p[m.k]
}

// Distribution returns the probabilities of the symbols 0..Alphabet-1 after
// context, and as its last element that of any other symbol. They add up to 1.
func (m *Model) Distribution(context []uint32) []float64 {
	p := make([]float64, m.alphabet+1)
	h := m.history(context)
	weight := 1.0
	for l := min(h.n-1, m.k); l >= 0; l-- {
		i, inner := h.places[l], l < m.k
		total := float64(m.total(l, i, inner))
		if total == 0 {
			continue
		}
		discount := m.high[l]
		if inner {
			discount = m.low[l]
		}
		from, to := m.successors(l, i)
		for j := from; j < to; j++ {
			symbol := m.counts.levels[l+1].symbols[j] - 1
			p[symbol] += weight * (float64(m.n(l+1, j, inner)) - discount) / total
		}
		weight *= discount * float64(to-from) / total
	}
	for s := range p {
		p[s] += weight / float64(len(p))
	}
	return p
}

// Bits yields for each place of a sequence -log2 of the probability of its
// symbol after those before it, by order 0..Order. The slice is valid until the
// next one is yielded.
func (m *Model) Bits(sequence []uint32) iter.Seq2[int, []float64] {
	return func(yield func(int, []float64) bool) {
		h := m.begin()
		bits := make([]float64, m.k+1)
		for i, s := range sequence {
			m.step(&h, s, bits)
			for k, p := range bits {
				bits[k] = -math.Log2(p)
			}
			if !yield(i, bits) {
				return
			}
		}
	}
}
