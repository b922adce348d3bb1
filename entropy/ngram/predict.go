package ngram

import (
	"iter"
	"math"
)

// A history is where a prediction stands: the places of its last 0, 1, ...
// symbols, the start symbol included, as far as they were seen in training.
type history struct {
	places [MaxOrder + 1]uint32
	n      int // places that are known: of 0..n-1 symbols
}

// begin returns the history of a sequence that has not begun.
func (m *Model) begin() history {
	h := history{n: 1}
	if m.k > 0 && m.starts[1] > 0 {
		h.n = 2 // the start symbol, at place 0
	}
	return h
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

// step writes the probability of symbol after h to p, for the models of order
// 0..k, moves h on, and reports whether the symbol was seen in training.
func (m *Model) step(h *history, symbol uint32, p []float64) (seen bool) {
	lower := 1 / float64(m.alphabet+1)
	next := history{n: 1}
	for l := range p {
		if l >= h.n {
			// Never seen, or beyond the start symbol: no more to be learnt from it.
			for ; l < len(p); l++ {
				p[l] = lower
			}
			break
		}
		i := h.places[l]
		j, ok := m.child(l, i, symbol)
		p[l] = m.interpolate(l, i, j, ok, false, lower)
		if l < m.k {
			lower = m.interpolate(l, i, j, ok, true, lower)
			if ok {
				next.places[l+1], next.n = j, l+2
			}
		}
		seen = seen || ok
	}
	*h = next
	return seen
}

// interpolate returns the probability of n-gram j, context i of l symbols and
// one more, given that of the shorter context.
func (m *Model) interpolate(l int, i, j uint32, seen, inner bool, lower float64) float64 {
	total := float64(m.total(l, i, inner))
	if total == 0 {
		return lower
	}
	discount := m.high[l]
	if inner {
		discount = m.low[l]
	}
	from, to := m.successors(l, i)
	p := float64(discount * float64(to-from) / total * lower) // no compiler may fuse it with what is added
	if seen {
		p += (float64(m.n(l+1, j, inner)) - discount) / total
	}
	return p
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

// A Loss is what predicting symbols has cost.
type Loss struct {
	N      int       // symbols predicted
	Unseen int       // of which the model had never seen
	Bits   []float64 // sum of -log2 of the probabilities, by order 0..Order
}

// Add adds o to l, which may be zero.
func (l *Loss) Add(o Loss) {
	if l.Bits == nil {
		l.Bits = make([]float64, len(o.Bits))
	}
	l.N += o.N
	l.Unseen += o.Unseen
	for k, b := range o.Bits {
		l.Bits[k] += b
	}
}

// Loss returns what predicting every symbol of a sequence costs at each order.
func (m *Model) Loss(sequence []uint32) Loss {
	loss := Loss{N: len(sequence), Bits: make([]float64, m.k+1)}
	var p [MaxOrder + 1]float64
	h := m.begin()
	for _, s := range sequence {
		if !m.step(&h, s, p[:m.k+1]) {
			loss.Unseen++
		}
		for k := range loss.Bits {
			loss.Bits[k] -= math.Log2(p[k])
		}
	}
	return loss
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
