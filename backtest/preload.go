package backtest

import (
	"hash/fnv"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/ngram"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/holdout"
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

// trainPreload learns from the training part, once.
func (p *Part) trainPreload() (*Preloader, error) {
	if p.preloader != nil {
		return p.preloader, nil
	}
	learning := NewPreloading(p.meter)
	for t, err := range p.Source() {
		if err != nil {
			return nil, err
		}
		var a *cost.Account
		if learning.wants(t) {
			a = p.meter.Trajectory(t)
			if p.fit != nil {
				p.fit.Apply(a)
			}
		}
		learning.Add(t, a)
	}
	p.preloader = learning.Train(nil)
	return p.preloader, nil
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
	tasks   map[string]bool
	below   atomic.Uint64 // runs with a hash up to this are in the sample
	sampled int
}

// preloadRun is what is kept of a trajectory.
type preloadRun struct {
	task     string
	sequence []uint32
	hash     uint64
	kept     *preloadCase // nil if it is not in the sample
}

// preloadCase is what costs are worked out on.
type preloadCase struct {
	account *cost.Account
	set     *cost.Toolset
	use     cost.LazyUse
	steps   []int32 // the turn of each call of the sequence
}

// NewPreloading returns an empty Preloading of accounts of m.
func NewPreloading(m *cost.Meter) *Preloading {
	p := &Preloading{meter: m, numbers: map[trace.Name]uint32{}, tasks: map[string]bool{}}
	p.below.Store(^uint64(0))
	return p
}

// wants reports whether the account of t is of use. While trajectories are added it may
// be asked elsewhere: what was of no use once will not be later.
func (p *Preloading) wants(t *trace.Trajectory) bool {
	return len(t.Tools) > 0 && len(t.Turns) > 0 && hashOf(t.ID) <= p.below.Load()
}

// Add learns from t, whose account is a. The account is kept and read by Train:
// what is only counted may be fitted until then.
func (p *Preloading) Add(t *trace.Trajectory, a *cost.Account) {
	run := preloadRun{task: t.TaskKey(), hash: hashOf(t.ID)}
	p.tasks[run.task] = true
	var steps []int32
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
		if len(steps) == len(run.sequence)-1 && c.Turn >= 0 && c.Turn < len(t.Turns) {
			steps = append(steps, int32(c.Turn))
		}
	}
	if len(run.sequence) == 0 {
		return
	}
	if calls <= preloadSteps {
		run.sequence = append(run.sequence, sequenceEnd)
	}
	if a != nil && p.wants(t) {
		run.kept = &preloadCase{account: a, steps: steps}
		run.kept.set, run.kept.use, _ = lazyUse(p.meter, t)
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
	below := p.below.Load() / 2
	p.below.Store(below)
	for i := range p.runs {
		if r := &p.runs[i]; r.kept != nil && r.hash > below {
			r.kept = nil
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
	out := &Preloader{meter: p.meter, numbers: p.numbers, used: make([]usedTool, len(p.numbers)+sequenceEnd+1)}
	var sequences [][]uint32
	var sample []*preloadRun
	for i := range p.runs {
		r := &p.runs[i]
		if learns != nil && !learns(r.task) {
			continue
		}
		sequences = append(sequences, r.sequence)
		if r.kept == nil || misfits(r.kept.account) {
			continue
		}
		sample = append(sample, r)
		out.see(r)
	}
	out.model = ngram.Train(1, slices.Values(sequences), ngram.ModelOptions{})
	alone := make([]*cost.PreloadCosts, len(sample)) // with nothing from the start, as in the first round
	for range rounds {
		var costs cost.PreloadCosts
		registered := 0
		for i, r := range sample {
			k := r.kept
			use := cost.LazyUse{Uses: k.use.Uses, Preloaded: out.tools(k.set)}
			registered += len(use.Preloaded)
			one := alone[i]
			if one == nil || len(use.Preloaded) > 0 {
				one = k.account.PreloadCosts(k.set, use, k.steps)
			}
			if len(use.Preloaded) == 0 {
				alone[i] = one
			}
			costs.Add(one)
		}
		out.costs, out.decided = costs, map[string][]int32{}
		out.mean = ratio(float64(registered), float64(len(sample)))
	}
	return out
}

// rounds is how often costs are worked out, each time with the tools from the start
// that were worth it by those of the time before: first none. What is registered
// from the start takes away turns that would have read what else is.
const rounds = 2

// HeldOut returns what says of every trajectory which tools are worth registering
// from its start, learnt from the tasks of other folds than its own. Folds are dealt
// with the seed; of a single task nothing is learnt. It is used by one goroutine.
func (p *Preloading) HeldOut(folds int, seed uint64) func(t *trace.Trajectory) []trace.Name {
	tasks := slices.Sorted(maps.Keys(p.tasks))
	of := holdout.BalancedFolds(tasks, max(min(folds, len(tasks)), 1), seed)
	learnt := make([]*Preloader, of.Len())
	return func(t *trace.Trajectory) []trace.Name {
		fold := of.Of(t.TaskKey())
		if learnt[fold] == nil {
			learnt[fold] = p.Train(func(task string) bool { return of.Of(task) != fold })
		}
		return learnt[fold].Tools(t)
	}
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
