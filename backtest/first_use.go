package backtest

import "github.com/awo-dev/awo/ngram"

// sequenceEnd is the symbol that stands for the end of a sequence; tools are
// numbered from 1 on.
const sequenceEnd = 0

// firstUse asks a bigram model when tools are first called by an agent that is
// offered some tools and no others.
type firstUse struct {
	offered []uint32    // tools that the model knows
	start   []float64   // by offered tool, of the first call
	next    [][]float64 // by offered tool, of the call after it; the rest to one is the end
	steps   int
}

// newFirstUse restricts the model to the tools offered and the end: what it gives
// other tools is shared out among them. The model has seen every one of offered.
func newFirstUse(model *ngram.Model, offered []uint32, steps int) *firstUse {
	f := &firstUse{offered: offered, steps: steps}
	row := func(context []uint32) []float64 {
		all := model.Distribution(context)
		out, sum := make([]float64, len(offered)), all[sequenceEnd]
		for i, tool := range offered {
			out[i] = all[tool]
			sum += out[i]
		}
		for i := range out {
			out[i] /= sum
		}
		return out
	}
	f.start = row(nil)
	for _, tool := range offered {
		f.next = append(f.next, row([]uint32{tool}))
	}
	return f
}

// rare is the probability from which on a tool is followed: what is below adds up
// to less than a thousandth of a call.
const rare = 1e-6

// follow adds one step of the chain.
func (f *firstUse) follow(now, then []float64) {
	clear(then)
	for tool, p := range now {
		if p < rare {
			continue
		}
		for to, q := range f.next[tool] {
			then[to] += p * q
		}
	}
}

// called returns for each step the probabilities of the tools offered.
func (f *firstUse) called() [][]float64 {
	out := make([][]float64, f.steps)
	for k := range out {
		if out[k] = f.start; k > 0 {
			out[k] = make([]float64, len(f.offered))
			f.follow(out[k-1], out[k])
		}
	}
	return out
}

// of returns for each step the probability that the tool, an index into those
// offered, is called there for the first time.
func (f *firstUse) of(tool int) []float64 {
	now, then := append([]float64(nil), f.start...), make([]float64, len(f.start))
	out := make([]float64, f.steps)
	for k := range out {
		out[k], now[tool] = now[tool], 0
		f.follow(now, then)
		now, then = then, now
	}
	return out
}
