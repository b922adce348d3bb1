package backtest

import (
	"cmp"
	"slices"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/internal/par"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/bind"
	"github.com/awo-dev/awo/metatool/replay"
	"github.com/awo-dev/awo/trace"
)

// Choose decides which of the definitions that can be offered are worth offering
// (algorithm "choosing the set"): greedily the one with the largest marginal gain
// over the runs, until none gains anything. What a set saves
// in a trajectory is what its best cover saves; see execute.Best. Memory is 32
// bytes for each place of a meta-tool, and 16 for each trajectory; the choice keeps it
// to choose anew.
func Choose(runs []*corpus.Run, definitions []*bind.Definition, o ChooseOptions) *Choice {
	choice := readChoices(runs, [][]*bind.Definition{definitions}, o)[0]
	var beside [][]span
	if o.Beside != nil {
		beside = turnsRead(runs, readerOf(o.Beside), o)
	}
	choice.again(o, beside)
	return choice
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

// readItem is the item of a span that reading ahead saves.
const readItem = -1

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
	*recorded
	out   *Choice
	items []*item
	of    [][]int32 // by number in the pool of what is read: the items that are this meta-tool
	spans [][]span  // by trajectory, in order of begin

	beside [][]span  // by trajectory, in order of begin: turns that reading ahead saves; nil for none
	value  []float64 // by trajectory: what the chosen ones save, with those turns
	buffer []replay.Span
	room   []span // of the trajectory that is added
	taken  []*span
}

// recorded is what the traces show whatever is chosen from.
type recorded struct {
	meter *cost.Meter
	fit   *cost.Fit // may be nil

	trajectories, turns, callingTurns int

	calls, failed map[string]int // by tool, everywhere
	results       map[string]*meanTokens
	usage         int         // turns that record usage
	priced        int         // of them with a price
	perToken      cost.Totals // what a thousand tokens of definitions cost
	perTokenTurns int
}

// seenCase is what one trajectory shows about meta-tools, by their numbers in a pool.
type seenCase struct {
	t       *trace.Trajectory
	places  []replay.Place
	begun   seenBegun
	moments seenMoments
}

// readChoices reads what choices among several lists of definitions rest on, from which
// each can be made with any options: see Choice.again. The lists mostly hold the same
// meta-tools, and where these could be used is looked for once for all.
func readChoices(runs []*corpus.Run, lists [][]*bind.Definition, o ChooseOptions) []*Choice {
	o = o.filled()
	shown := &recorded{meter: o.Meter, fit: o.Fit, calls: map[string]int{}, failed: map[string]int{}, results: map[string]*meanTokens{}}
	var tools pool
	var choosers []*chooser
	for _, definitions := range lists {
		c := &chooser{recorded: shown, out: &Choice{Options: o}}
		c.out.chooser = c
		for _, d := range definitions {
			if len(d.Refusals) > 0 {
				continue
			}
			at := tools.add(&d.Tool)
			for len(c.of) <= at {
				c.of = append(c.of, nil)
			}
			c.of[at] = append(c.of[at], int32(len(c.items)))
			c.items = append(c.items, &item{definition: d})
		}
		choosers = append(choosers, c)
	}
	for _, t := range tools.tools {
		for i := range t.Steps {
			shown.results[t.Steps[i].Tool] = &meanTokens{}
		}
	}
	finder := tools.finder()
	for at, t := range tools.tools {
		tokens := definitionTokens(o.Meter, t)
		for _, c := range choosers {
			for _, n := range c.itemsOf(at) {
				c.items[n].tokens = tokens
			}
		}
	}
	for s := range par.Map(max(o.Workers, 1), slices.Values(runs), func(r *corpus.Run) seenCase {
		uses := finder.Use(r.Trajectory, r.Marks, r.Flow)
		return seenCase{r.Trajectory, uses.Places, begunIn(uses.Begun(), r.Trajectory), momentsIn(uses, len(tools.tools), recordsUsage(r.Trajectory))}
	}) {
		account := shown.add(s.t)
		saved := make([]cost.Totals, len(s.places))
		for i := range s.places {
			if account != nil && s.places[i].Replay.Saves {
				saved[i] = account.Saving(s.places[i].Removed, 0)
			}
		}
		reading := map[int]Amount{}
		for _, c := range choosers {
			c.add(&s, saved)
			c.addMoments(s.t, &s.moments, account, reading)
			c.addBegun(&s.begun)
		}
	}
	list := make([]*Choice, len(choosers))
	for i, c := range choosers {
		list[i] = c.out
		list[i].Trajectories, list[i].Turns, list[i].CallingTurns = shown.trajectories, shown.turns, shown.callingTurns
	}
	return list
}

// add adds a trajectory, and returns its account; nil if it records no usage.
func (r *recorded) add(t *trace.Trajectory) *cost.Account {
	r.trajectories++
	r.turns += len(t.Turns)
	known := 0
	for i := range t.Turns {
		if t.Turns[i].NumCalls > 0 {
			r.callingTurns++
		}
		if t.Turns[i].Usage.Known {
			known++
		}
	}
	for i := range t.Calls {
		if k := &t.Calls[i]; k.Origin == trace.OriginModel {
			r.calls[k.Tool.Value()]++
			if k.Status == trace.StatusFailed {
				r.failed[k.Tool.Value()]++
			}
			r.results[k.Tool.Value()].see(k, r.meter)
		}
	}
	if known == 0 { // not recordsUsage
		return nil
	}
	account := ChooseOptions{Meter: r.meter, Fit: r.fit}.account(t)
	total := account.Total()
	r.usage += known
	r.priced += total.Turns - total.Unpriced
	r.perToken.Add(account.Without(nil, thousand).Less(total))
	r.perTokenTurns += len(t.Turns)
	return account
}

// account returns what a trajectory cost.
func (o ChooseOptions) account(t *trace.Trajectory) *cost.Account {
	account := o.Meter.Trajectory(t)
	if o.Fit != nil {
		o.Fit.Apply(account)
	}
	return account
}

// recordsUsage reports whether add will have an account of t.
func recordsUsage(t *trace.Trajectory) bool {
	return slices.ContainsFunc(t.Turns, func(turn trace.Turn) bool { return turn.Usage.Known })
}

// itemsOf returns the items that are a meta-tool of the pool.
func (c *chooser) itemsOf(tool int) []int32 {
	if tool >= len(c.of) {
		return nil
	}
	return c.of[tool]
}

// add adds the places of a trajectory; saved is what those save that do.
func (c *chooser) add(s *seenCase, saved []cost.Totals) {
	trajectory := int32(len(c.spans))
	spans := c.room[:0]
	for i := range s.places {
		p := &s.places[i]
		for _, n := range c.itemsOf(p.Tool) {
			it := c.items[n]
			it.replay.add(p)
			if !p.Replay.Saves {
				continue
			}
			if n := len(it.trajectories); n == 0 || it.trajectories[n-1] != trajectory {
				it.trajectories = append(it.trajectories, trajectory)
			}
			spans = append(spans, span{
				item: n, begin: int32(p.Begin), end: int32(p.End), turns: int32(len(p.Removed)), calls: int32(p.Replay.Occurrence.Len()),
				tokens: float32(saved[i].Tokens()), usd: float32(saved[i].USD),
			})
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.item, b.item)) })
	c.room = spans
	c.spans = append(c.spans, slices.Clone(spans))
}

// thousand tokens of definitions tell what one costs.
const thousand = 1000

// weigh decides on the unit, and which items cannot be chosen.
func (c *chooser) weigh() {
	o := &c.out.Options
	c.out.Unit = "turns"
	if o.Select == SelectNet && 2*c.usage > c.turns {
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
		case o.Select == SelectAll && it.definition.Overlaps:
			it.cannot, it.reason = true, ReasonOverlaps
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
