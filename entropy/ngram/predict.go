package ngram

import (
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
