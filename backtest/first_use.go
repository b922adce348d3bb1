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
	// Four rows at once, each of whose terms are added in the order of the tools.
	var at [4]int
	n := 0
	for tool, p := range now {
		if p < rare {
			continue
		}
		at[n] = tool
		if n++; n < len(at) {
			continue
		}
		n = 0
		pa, pb, pc, pd := now[at[0]], now[at[1]], now[at[2]], now[at[3]]
		a, b, c, d := f.next[at[0]][:len(then)], f.next[at[1]][:len(then)], f.next[at[2]][:len(then)], f.next[at[3]][:len(then)]
		for to, sum := range then {
			sum += float64(pa * a[to])
			sum += float64(pb * b[to])
			sum += float64(pc * c[to])
			then[to] = sum + float64(pd*d[to])
		}
	}
	for _, tool := range at[:n] {
		p := now[tool]
		for to, q := range f.next[tool][:len(then)] {
			then[to] += float64(p * q)
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
