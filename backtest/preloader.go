package backtest

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/ngram"
	"github.com/awo-dev/awo/trace"
)

// Preloader says which tools to register from the start. It is used by one
// goroutine.
type Preloader struct {
	meter   *cost.Meter
	numbers map[trace.Name]uint32
	model   *ngram.Model
	used    []usedTool // by number
	costs   cost.PreloadCosts
	isMoney bool    // some price is known: what is worth it is worth it by money, else by tokens
	mean    float64 // tools registered from the start, by trajectory learnt from
	decided map[string][]int32
}

// usedTool is in how many trajectories a tool was offered, and in how many its first
// use was at each step.
type usedTool struct {
	offered int
	first   [preloadSteps]int
}

// see counts what was first used where, and asks for prices.
func (p *Preloader) see(r *preloadRun) {
	for _, name := range r.kept.set.List {
		n := p.numbers[name]
		p.used[n].offered++
		if at := slices.Index(r.sequence, n); n != sequenceEnd && at >= 0 {
			p.used[n].first[at]++
		}
	}
	for turn := range r.kept.account.Turns {
		p.isMoney = p.isMoney || r.kept.account.Price(turn) != nil
	}
}

// priorWeight is how many trajectories the bigram model counts for against those
// that were offered a tool.
const priorWeight = 10

// first returns the probabilities that a tool is first used at each step: what was
// seen where it was offered, and the less often that was, what the bigram model
// says.
func (p *Preloader) first(tool uint32, model []float64) []float64 {
	used := &p.used[tool]
	out := make([]float64, len(model))
	for k := range out {
		out[k] = (priorWeight*model[k] + float64(used.first[k])) / float64(priorWeight+used.offered)
	}
	return out
}

// isWorth reports whether a tool, the i-th of those that the chain knows, is worth
// registering from the start. Following a chain until it first meets a tool takes a
// pass for every tool, so tools for which that could not be are left out before:
// those that are not worth it even if every use were a first use.
func (p *Preloader) isWorth(chain *firstUse, called [][]float64, i int, tokens int64) bool {
	uses := make([]float64, len(called))
	for k := range uses {
		uses[k] = called[k][i]
	}
	uses = p.first(chain.offered[i], uses)
	sum, register := 0.0, 0.0
	for k, q := range uses {
		s := &p.costs.Steps[k]
		sum += q
		register += q * p.in(s.Register) / float64(s.Trajectories)
	}
	vain := max(1-sum, 0) * float64(tokens) * p.in(p.costs.Read) / float64(p.costs.Trajectories)
	return register > vain && p.in(p.costs.Worth(p.first(chain.offered[i], chain.of(i)), tokens)) > 0
}

// decisions is how many lists of tools are remembered.
const decisions = 1024

// Tools returns the tools that are worth registering at the start of t, in the order
// in which they are offered: of t only the tools offered are looked at. A tool is
// worth it if cost.PreloadCosts.Worth is positive for the probabilities of its
// first use.
func (p *Preloader) Tools(t *trace.Trajectory) []trace.Name {
	var out []trace.Name
	if p.costs.Trajectories == 0 || len(t.Tools) == 0 {
		return nil
	}
	set, _ := p.meter.Toolset(t.Tools)
	for _, i := range p.tools(set) {
		out = append(out, set.List[i])
	}
	return out
}

// tools returns their places in a list of tools.
func (p *Preloader) tools(set *cost.Toolset) []int32 {
	if p.costs.Trajectories == 0 {
		return nil
	}
	var offered []uint32
	var places []int32
	key := make([]byte, 0, 12*len(set.List))
	for i, name := range set.List {
		n := p.numbers[name]
		if n == sequenceEnd || !p.model.Seen(n) || name == (trace.Name{}) {
			continue
		}
		offered, places = append(offered, n), append(places, int32(i))
		for _, part := range [...]uint32{n, uint32(i), uint32(set.Tools[i].Tokens())} {
			key = binary.LittleEndian.AppendUint32(key, part)
		}
	}
	if known, ok := p.decided[string(key)]; ok {
		return known
	}
	chain := newFirstUse(p.model, offered, min(preloadSteps, len(p.costs.Steps)))
	called := chain.called()
	var out []int32
	for i, place := range places {
		if p.isWorth(chain, called, i, set.Tools[place].Tokens()) {
			out = append(out, place)
		}
	}
	if len(p.decided) == decisions {
		clear(p.decided)
	}
	p.decided[string(key)] = out
	return out
}

// in returns an amount in the unit that decides.
func (p *Preloader) in(a cost.Amount) float64 {
	if p.isMoney {
		return a.USD
	}
	return a.Tokens
}

func (p *Preloader) note() string {
	if p.costs.Trajectories == 0 {
		return "no trajectory of the training part records definitions and tokens to learn from: nothing is registered from the start"
	}
	unit := "tokens, because no price is known"
	if p.isMoney {
		unit = "money"
	}
	return fmt.Sprintf("registered from the start are tools that are worth it by %s: the probability of their first use at each step, by a bigram model, times what a registration there costs, less what reading the definition before it and in vain costs; learnt on %d trajectories of the training part, where it is %.1f tools a trajectory", unit, p.costs.Trajectories, p.mean)
}

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
