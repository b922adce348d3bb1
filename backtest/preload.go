package backtest

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/ngram"
	"github.com/awo-dev/awo/trace"
)

// preload registers from the start what is worth it, and the rest when it is used.
var preload = Technique{
	Name: "preload", Doc: "lazy registration, with the tools that are worth it by their expected use registered from the start",
	Train: func(p *Part) (Trained, error) {
		preloader, err := p.trainPreload()
		if err != nil {
			return nil, err
		}
		return &lazyTools{meter: p.meter, preloaded: preloader.Tools, notes: []string{preloader.note()}}, nil
	},
}

func (p *Part) trainPreload() (*Preloader, error) {
	learning := NewPreloading(p.meter)
	for t, err := range p.Source() {
		if err != nil {
			return nil, err
		}
		a := p.meter.Trajectory(t)
		if p.fit != nil {
			p.fit.Apply(a)
		}
		learning.Add(t, a)
	}
	return learning.Train(nil), nil
}

// preloadSteps is how many calls of a trajectory are looked at, preloadSample on how
// many trajectories at least, if there are so many, costs are worked out.
const (
	preloadSteps  = 32
	preloadSample = 2000
)

// Preloading collects from what tools that are worth registering from the start
// are learnt. It keeps the first calls of every trajectory as numbers, and the
// accounts of a sample of them.
type Preloading struct {
	meter   *cost.Meter
	numbers map[trace.Name]uint32
	runs    []preloadRun
	below   uint64 // runs with a hash up to this are in the sample
	sampled int
}

// preloadRun is what is kept of a trajectory.
type preloadRun struct {
	task     string
	sequence []uint32
	hash     uint64
	account  *cost.Account // nil if it is not in the sample, or nothing can be simulated
	tools    []trace.ToolDef
	set      *cost.Toolset
	use      cost.LazyUse
	steps    []int32
	costs    *cost.PreloadCosts // once it is worked out
}

// NewPreloading returns an empty Preloading of accounts of m.
func NewPreloading(m *cost.Meter) *Preloading {
	return &Preloading{meter: m, numbers: map[trace.Name]uint32{}, below: ^uint64(0)}
}

// Add learns from t, whose account is a. The account is kept and read by Train:
// what is only counted may be fitted until then.
func (p *Preloading) Add(t *trace.Trajectory, a *cost.Account) {
	run := preloadRun{task: t.TaskKey(), hash: hashOf(t.ID)}
	calls := 0
	for i := range t.Calls {
		c := &t.Calls[i]
		if c.Origin != trace.OriginModel {
			continue
		}
		if calls++; calls > preloadSteps {
			break
		}
		n, known := p.numbers[c.Tool]
		if !known {
			n = uint32(len(p.numbers)) + sequenceEnd + 1
			p.numbers[c.Tool] = n
		}
		run.sequence = append(run.sequence, n)
		if len(run.steps) == len(run.sequence)-1 && c.Turn >= 0 && c.Turn < len(t.Turns) {
			run.steps = append(run.steps, int32(c.Turn))
		}
	}
	if len(run.sequence) == 0 {
		return
	}
	if calls <= preloadSteps {
		run.sequence = append(run.sequence, sequenceEnd)
	}
	if len(t.Tools) > 0 && len(t.Turns) > 0 && run.hash <= p.below {
		run.account, run.tools = a, t.Tools
		run.set, run.use, _ = lazyUse(p.meter, t)
		p.sampled++
	}
	p.runs = append(p.runs, run)
	for p.sampled > 2*preloadSample {
		p.halve()
	}
}

// halve drops accounts until some half of them is left: those with the smallest
// hashes, which does not depend on the order of the trajectories.
func (p *Preloading) halve() {
	p.below /= 2
	for i := range p.runs {
		if r := &p.runs[i]; r.account != nil && r.hash > p.below {
			r.account, r.tools, r.set, r.use, r.steps = nil, nil, nil, cost.LazyUse{}, nil
			p.sampled--
		}
	}
}

func hashOf(text string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	return h.Sum64()
}

// Train learns from the trajectories of the tasks that learns is true of, nil being
// all. It returns a Preloader of its own each time.
func (p *Preloading) Train(learns func(task string) bool) *Preloader {
	out := &Preloader{meter: p.meter, numbers: p.numbers, decided: map[string][]trace.Name{}}
	var sequences [][]uint32
	for i := range p.runs {
		r := &p.runs[i]
		if learns != nil && !learns(r.task) {
			continue
		}
		sequences = append(sequences, r.sequence)
		if r.account == nil || misfits(r.account) {
			continue
		}
		if r.costs == nil {
			r.costs = r.account.PreloadCosts(r.set, r.use, r.steps)
		}
		out.costs.Add(r.costs)
		for turn := range r.account.Turns {
			out.isMoney = out.isMoney || r.account.Price(turn) != nil
		}
	}
	out.model = ngram.Train(1, slices.Values(sequences), ngram.ModelOptions{})
	registered := 0
	for i := range p.runs {
		if r := &p.runs[i]; r.costs != nil && (learns == nil || learns(r.task)) {
			registered += len(out.Tools(&trace.Trajectory{Tools: r.tools}))
		}
	}
	out.mean = ratio(float64(registered), float64(out.costs.Trajectories))
	return out
}

// Preloader says which tools to register from the start. It is used by one
// goroutine.
type Preloader struct {
	meter   *cost.Meter
	numbers map[trace.Name]uint32
	model   *ngram.Model
	costs   cost.PreloadCosts
	isMoney bool    // some price is known: what is worth it is worth it by money, else by tokens
	mean    float64 // tools registered from the start, by trajectory learnt from
	decided map[string][]trace.Name
}

// decisions is how many lists of tools are remembered.
const decisions = 1024

// Tools returns the tools that are worth registering at the start of t, in the order
// in which they are offered: of t only the tools offered are looked at. A tool is
// worth it if cost.PreloadCosts.Worth is positive for the probabilities of its
// first use, those of a bigram model of the tasks learnt from.
func (p *Preloader) Tools(t *trace.Trajectory) []trace.Name {
	if p.costs.Trajectories == 0 || len(t.Tools) == 0 {
		return nil
	}
	set, index := p.meter.Toolset(t.Tools)
	var offered []uint32
	var places []int
	for i := range t.Tools {
		n := p.numbers[t.Tools[i].Name]
		if p.model.Seen(n) && n != sequenceEnd && index[t.Tools[i].Name] == int32(i) {
			offered, places = append(offered, n), append(places, i)
		}
	}
	key := make([]byte, 0, 8*len(offered))
	for i, n := range offered {
		key = binary.LittleEndian.AppendUint32(key, n)
		key = binary.LittleEndian.AppendUint32(key, uint32(set.Tools[places[i]].Tokens()))
	}
	if known, ok := p.decided[string(key)]; ok {
		return known
	}
	chain := newFirstUse(p.model, offered, min(preloadSteps, len(p.costs.Steps)))
	var out []trace.Name
	for i := range p.pay(chain, set, places) {
		out = append(out, t.Tools[places[i]].Name)
	}
	if len(p.decided) == decisions {
		clear(p.decided)
	}
	p.decided[string(key)] = out
	return out
}

// pay yields the tools offered that are worth it. A first use is no likelier than a
// use, which spares the others.
func (p *Preloader) pay(chain *firstUse, set *cost.Toolset, places []int) func(yield func(int) bool) {
	worth := func(first []float64, tool int) float64 {
		w := p.costs.Worth(first, set.Tools[places[tool]].Tokens())
		if p.isMoney {
			return w.USD
		}
		return w.Tokens
	}
	return func(yield func(int) bool) {
		if chain.steps == 0 {
			return
		}
		called := chain.called()
		for i := range places {
			bound := make([]float64, chain.steps)
			for k := range bound {
				bound[k] = called[k][i]
			}
			if p.atMost(bound, set.Tools[places[i]].Tokens()) > 0 && worth(chain.of(i), i) > 0 && !yield(i) {
				return
			}
		}
	}
}

// atMost returns a bound of what a tool is worth that is called with these
// probabilities: as if its definition were read only where it is never called.
func (p *Preloader) atMost(called []float64, tokens int64) float64 {
	var sum, register float64
	for k, q := range called {
		s := &p.costs.Steps[k]
		sum += q
		register += q * p.in(s.Register) / float64(s.Trajectories)
	}
	return register - max(1-sum, 0)*float64(tokens)*p.in(p.costs.Read)/float64(p.costs.Trajectories)
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
	unit := "tokens, since no price is known"
	if p.isMoney {
		unit = "money"
	}
	return fmt.Sprintf("registered from the start are tools that are worth it by %s: the probability of their first use at each step, by a bigram model, times what a registration there costs, less what reading the definition before it and in vain costs; learnt on %d trajectories of the training part, where it is %.1f tools a trajectory", unit, p.costs.Trajectories, p.mean)
}

// misfits reports whether an account has a turn whose input is smaller than the
// definitions that it would have to hold: nothing can be simulated.
func misfits(a *cost.Account) bool {
	return slices.ContainsFunc(a.Turns, func(turn cost.Turn) bool { return int64(turn.Input) < a.Definitions })
}

// lazyUse returns the tools that a trajectory is offered and which turns use them.
func lazyUse(meter *cost.Meter, t *trace.Trajectory) (*cost.Toolset, cost.LazyUse, map[trace.Name]int32) {
	set, index := meter.Toolset(t.Tools)
	use := cost.LazyUse{Uses: make([][]int32, len(t.Turns))}
	for i := range t.Calls {
		call := &t.Calls[i]
		if tool, offered := index[call.Tool]; offered && call.Origin == trace.OriginModel && call.Turn >= 0 && call.Turn < len(t.Turns) {
			use.Uses[call.Turn] = append(use.Uses[call.Turn], tool)
		}
	}
	return set, use, index
}

