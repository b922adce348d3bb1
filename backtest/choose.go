package backtest

import (
	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/execute/replay"
	"github.com/awo-dev/awo/internal/par"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/bind"
	"github.com/awo-dev/awo/metatool/compile"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// Choose decides which of the definitions that can be offered are worth offering
// (algorithm "choosing the set"): greedily the one with the largest marginal gain
// over the trajectories of the source, until none gains anything. What a set saves
// in a trajectory is what its best cover saves; see execute.Best. Memory is 32
// bytes for each place of a meta-tool, and 16 for each trajectory; the choice keeps it
// to choose anew.
func Choose(source compile.Source, set *rules.Set, definitions []*bind.Definition, o ChooseOptions) (*Choice, error) {
	o = o.filled()
	c := &chooser{out: &Choice{Options: o}}
	for _, d := range definitions {
		if len(d.Refusals) == 0 {
			c.items = append(c.items, &item{definition: d, tokens: definitionTokens(o.Meter, &d.Tool)})
		}
	}
	if err := c.read(source, set); err != nil {
		return nil, err
	}
	c.weigh()
	c.run()
	c.count()
	c.out.chooser = c
	return c.out, nil
}

// filled returns the options with their defaults.
func (o ChooseOptions) filled() ChooseOptions {
	if o.Select == "" {
		o.Select = SelectTurns
	}
	if o.Meter == nil {
		o.Meter = cost.NewMeter(cost.Options{})
	}
	switch {
	case o.MinAgreement == 0:
		o.MinAgreement = DefaultMinAgreement
	case o.MinAgreement < 0:
		o.MinAgreement = 0
	}
	if o.WritePrecision == 0 {
		o.WritePrecision = DefaultWritePrecision
	}
	return o
}

// item is a meta-tool to choose.
type item struct {
	definition   *bind.Definition
	tokens       int64
	replay       Agreement
	risk         risk
	failures     Failures
	trajectories []int32 // with places that save, in order
	use          Use
	spent        []Amount // by step: what a token of what is read there in vain costs, over all moments
	vain         Amount   // what is read in vain
	reason, by   string
	chosen       bool
	cannot       bool // not to be chosen, for the reason
}

// span is a place where an item saves.
type span struct {
	item       int32
	begin, end int32
	turns      int32
	calls      int32 // that become one
	tokens     float32
	usd        float32
}

type chooser struct {
	out   *Choice
	items []*item
	spans [][]span // by trajectory, in order of begin

	value   []float64 // by trajectory: what the chosen ones save
	buffer  []replay.Span
	numbers []int32

	calls, failed map[string]int // by tool, everywhere
	results       map[string]*meanTokens
	usage         int         // turns that record usage
	priced        int         // of them with a price
	perToken      cost.Totals // what a thousand tokens of definitions cost
	perTokenTurns int
}

// seenCase is what one trajectory shows about the items.
type seenCase struct {
	c      *Case
	places []replay.Place
	// Choose only:
	begun   seenBegun
	moments []seenMoment
}

func (c *chooser) read(source compile.Source, set *rules.Set) error {
	tools := make([]*metatool.Tool, len(c.items))
	for i, it := range c.items {
		tools[i] = &it.definition.Tool
	}
	finder := replay.NewFinder(tools)
	var failed error
	cases := casesOf(source, newLabeller(set, false), &failed)
	c.calls, c.failed, c.results = map[string]int{}, map[string]int{}, map[string]*meanTokens{}
	for _, t := range tools {
		for i := range t.Steps {
			c.results[t.Steps[i].Tool] = &meanTokens{}
		}
	}
	for s := range par.Map(max(c.out.Options.Workers, 1), cases, func(k *Case) seenCase {
		uses := finder.Use(k.Trajectory, k.Marks)
		return seenCase{k, uses.Places, begunIn(finder, k), momentsIn(uses, len(tools))}
	}) {
		c.add(s)
		c.addBegun(&s.begun)
	}
	return failed
}

func (c *chooser) add(s seenCase) {
	t := s.c.Trajectory
	c.out.Trajectories++
	c.out.Turns += len(t.Turns)
	known := 0
	for i := range t.Turns {
		if t.Turns[i].NumCalls > 0 {
			c.out.CallingTurns++
		}
		if t.Turns[i].Usage.Known {
			known++
		}
	}
	for i := range t.Calls {
		if k := &t.Calls[i]; k.Origin == trace.OriginModel {
			c.calls[k.Tool.Value()]++
			if k.Status == trace.StatusFailed {
				c.failed[k.Tool.Value()]++
			}
			c.results[k.Tool.Value()].see(k, c.out.Options.Meter)
		}
	}
	var account *cost.Account
	if known > 0 {
		account = c.out.Options.Meter.Trajectory(t)
		if c.out.Options.Fit != nil {
			c.out.Options.Fit.Apply(account)
		}
		total := account.Total()
		c.usage += known
		c.priced += total.Turns - total.Unpriced
		c.perToken.Add(account.Without(nil, thousand).Less(total))
		c.perTokenTurns += len(t.Turns)
	}
	trajectory := int32(len(c.spans))
	var spans []span
	for i := range s.places {
		p := &s.places[i]
		it := c.items[p.Tool]
		it.replay.add(p)
		if !p.Replay.Saves {
			continue
		}
		if n := len(it.trajectories); n == 0 || it.trajectories[n-1] != trajectory {
			it.trajectories = append(it.trajectories, trajectory)
		}
		one := span{item: int32(p.Tool), begin: int32(p.Begin), end: int32(p.End), turns: int32(len(p.Removed)), calls: int32(p.End - p.Begin)}
		if account != nil {
			saved := account.Saving(p.Removed, 0)
			one.tokens, one.usd = float32(saved.Tokens()), float32(saved.USD)
		}
		spans = append(spans, one)
	}
	c.spans = append(c.spans, spans)
	c.addMoments(s.c, s.moments, account)
}

// thousand tokens of definitions tell what one costs.
const thousand = 1000

// weigh decides on the unit, and which items cannot be chosen.
func (c *chooser) weigh() {
	o := &c.out.Options
	c.out.Unit = "turns"
	if o.Select == SelectNet && 2*c.usage > c.out.Turns {
		c.out.Unit, c.out.TokenPrice = "tokens", float64(c.perToken.Tokens())/thousand
		if 2*c.priced > c.perTokenTurns {
			c.out.Unit, c.out.TokenPrice = "usd", c.perToken.USD/thousand
		}
	}
	c.value = make([]float64, len(c.spans))
	for _, it := range c.items {
		it.failures = c.failures(&it.definition.Tool, &it.risk)
		it.vain = c.vain(it)
		switch {
		case o.Select != SelectAll && !o.Batches && it.definition.Tool.Kind() == metatool.Batch:
			it.cannot, it.reason = true, ReasonBatch
		case o.Select != SelectAll && it.failures.More():
			it.cannot, it.reason = true, ReasonFails
		case o.Select != SelectAll && it.replay.Saves == 0 && it.replay.Places == it.replay.Exact:
			it.cannot, it.reason = true, ReasonNothing
		case !it.replay.Agrees(o.MinAgreement):
			it.cannot, it.reason = true, ReasonDisagrees
		case o.Select != SelectAll && it.replay.Saves == 0:
			it.cannot, it.reason = true, ReasonNothing
		case o.Select != SelectAll && writes(&it.definition.Tool) && !it.use.justifies(o.WritePrecision):
			it.cannot, it.reason = true, ReasonWrites
		case o.None:
			it.cannot, it.reason = true, ReasonVerdict
		}
	}
}
