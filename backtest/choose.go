package backtest

import (
	"container/heap"
	"iter"
	"math"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/execute"
	"github.com/awo-dev/awo/internal/par"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// Selection says which meta-tools are offered.
type Selection string

// The selections. The zero value is SelectTurns.
const (
	// SelectTurns takes what saves turns beyond what others save.
	SelectTurns Selection = "turns"
	// SelectNet takes what saves more money than its definition costs, or more
	// tokens where no price is known, or turns where no usage is recorded.
	SelectNet Selection = "net"
	// SelectAll takes all that can be bound, as in the paper.
	SelectAll Selection = "all"
)

// ChooseOptions say how Choose works. The zero value is the default.
type ChooseOptions struct {
	Select      Selection
	MinTurns    int   // of SelectTurns: how many calling turns each must add; 0 means 1
	MaxTools    int   // at most so many; 0 sets no bound
	TokenBudget int64 // of all definitions together; 0 sets no bound

	// MinAgreement is the share of its places at which a meta-tool must be exact
	// in replay; 0 means DefaultMinAgreement, a negative number none.
	MinAgreement float64

	Meter   *cost.Meter // nil: one with the default prices
	Fit     *cost.Fit   // scales what was counted; may be nil
	Workers int
}

// DefaultMinAgreement is ChooseOptions.MinAgreement where nothing else is said.
const DefaultMinAgreement = 0.95

// Reasons why a meta-tool is not chosen, beside its refusals. They are stable.
const (
	ReasonDisagrees  = "disagrees-in-replay"
	ReasonNothing    = "saves-nothing"
	ReasonDominated  = "dominated-by" // Left.By
	ReasonCosts      = "costs-more-than-it-saves"
	ReasonFails      = "fails-more-often"   // its calls fail more often together than apart; see Failures
	ReasonFew        = "adds-too-few-turns" // fewer than ChooseOptions.MinTurns
	ReasonMaxTools   = "max-tools"
	ReasonOverBudget = "token-budget"
)

// Choice is which meta-tools are offered, and why the others are not.
type Choice struct {
	Unit    string // what gains are counted in: "turns", "tokens" or "usd"
	Options ChooseOptions

	Chosen []Gain // in the order in which they were taken: the gain curve
	Left   []Left // in the order of the definitions, without those that were refused

	Trajectories int
	Turns        int     // model turns, each of which reads the definitions
	CallingTurns int     // of them
	TokenPrice   float64 // what one token of definitions costs over all turns, in the unit

	// Money is what the chosen ones save and cost where most turns record usage and
	// have a price, whatever the unit.
	Money *Money

	chooser *chooser // to choose anew; see Withdraw
}

// Money is what a set of meta-tools is worth on the traces, in US dollars: Saved
// by the turns that it removes, less Definitions, which every turn reads.
type Money struct{ Saved, Definitions float64 }

// Gain is what a meta-tool adds to those taken before it.
type Gain struct {
	Definition *metatool.Definition
	Tokens     int64 // of its definition
	Turns      int   // calling turns saved by all so far
	TurnsAdded int   // of them by this one
	Calls      int   // by how many calls all so far make the trajectories shorter
	CallsAdded int
	Net        float64 // in the unit, all so far, definitions paid
	NetAdded   float64
	// BreakEven is how many tokens of definition would eat up what it saves:
	// infinite where tokens cost nothing.
	BreakEven float64
	Replay    Agreement
	Failures  Failures
}

// Left is a meta-tool that is not offered.
type Left struct {
	Definition *metatool.Definition
	Reason     string
	By         string // ReasonDominated: a chosen one that does what it would
	Tokens     int64
	Replay     Agreement
	Failures   Failures

	// Saves is what it would save beside the chosen ones, in the unit, and Costs what
	// its definition costs: known for ReasonCosts.
	Saves, Costs float64
}

// IsAnti reports whether it is left out as an anti-meta-tool: it fails more often
// than its parts, or costs more than it saves.
func (l *Left) IsAnti() bool { return l.Reason == ReasonFails || l.Reason == ReasonCosts }

// Agreement is what the replay of a meta-tool showed at the places where it would
// save a turn.
type Agreement struct {
	Places, Exact int // places, and those at which it made the recorded calls
	Saves         int // of the exact ones, those whose inputs were known
	Failed        int // places at which a call had failed
	Ended         int // places at which it ended with a call that had failed there too; no disagreement
}

// Agrees reports whether it was exact at a share of the places at least, but for
// those where a call had failed on the way.
func (a *Agreement) Agrees(share float64) bool {
	return float64(a.Exact) >= share*float64(a.Places-a.Ended)
}

// Tools returns the chosen meta-tools in the order of the gain curve.
func (c *Choice) Tools() []*metatool.Tool {
	var out []*metatool.Tool
	for i := range c.Chosen {
		out = append(out, &c.Chosen[i].Definition.Tool)
	}
	return out
}

// Choose decides which of the definitions that can be offered are worth offering
// (algorithm "choosing the set"): greedily the one with the largest marginal gain
// over the trajectories of the source, until none gains anything. What a set saves
// in a trajectory is what its best cover saves; see execute.Best. Memory is 32
// bytes for each place of a meta-tool, and 16 for each trajectory; the choice keeps it
// to choose anew.
func Choose(source metatool.Source, set *rules.Set, definitions []*metatool.Definition, o ChooseOptions) (*Choice, error) {
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

// item is a meta-tool to choose.
type item struct {
	definition   *metatool.Definition
	tokens       int64
	replay       Agreement
	risk         risk
	failures     Failures
	trajectories []int32 // with places that save, in order
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
	buffer  []execute.Span
	numbers []int32

	calls, failed map[string]int // by tool, everywhere
	usage         int            // turns that record usage
	priced        int            // of them with a price
	perToken      cost.Totals    // what a thousand tokens of definitions cost
	perTokenTurns int
}

// seenCase is what one trajectory shows about the items.
type seenCase struct {
	c      *Case
	places []execute.Place
	begun  seenBegun // Choose only
}

func (c *chooser) read(source metatool.Source, set *rules.Set) error {
	tools := make([]*metatool.Tool, len(c.items))
	for i, it := range c.items {
		tools[i] = &it.definition.Tool
	}
	finder := execute.NewFinder(tools)
	var failed error
	cases := casesOf(source, newLabeller(set, false), &failed)
	c.calls, c.failed = map[string]int{}, map[string]int{}
	for s := range par.Map(max(c.out.Options.Workers, 1), cases, func(k *Case) seenCase {
		return seenCase{k, finder.Find(k.Trajectory, k.Marks), begunIn(finder, k)}
	}) {
		c.add(s)
		c.addBegun(&s.begun)
	}
	return failed
}

// casesOf yields the trajectories of a source as cases; an error ends it.
func casesOf(source metatool.Source, l *labeller, failed *error) iter.Seq[*Case] {
	return func(yield func(*Case) bool) {
		for t, err := range source() {
			if err != nil {
				*failed = err
				return
			}
			if !yield(l.of(t)) {
				return
			}
		}
	}
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
		it.replay.add(p, anyFailed(t, &p.Replay.Occurrence))
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
}

// thousand tokens of definitions tell what one costs.
const thousand = 1000

func anyFailed(t *trace.Trajectory, o *execute.Occurrence) bool {
	for _, calls := range o.Calls {
		for _, i := range calls {
			if t.Calls[i].Status == trace.StatusFailed {
				return true
			}
		}
	}
	return false
}

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
		switch {
		case o.Select != SelectAll && it.failures.More():
			it.cannot, it.reason = true, ReasonFails
		case o.Select != SelectAll && it.replay.Saves == 0 && it.replay.Places == it.replay.Exact+it.replay.Ended:
			it.cannot, it.reason = true, ReasonNothing
		case !it.replay.Agrees(o.MinAgreement):
			it.cannot, it.reason = true, ReasonDisagrees
		case o.Select != SelectAll && it.replay.Saves == 0:
			it.cannot, it.reason = true, ReasonNothing
		}
	}
}

// worth returns what a span saves in the unit.
func (c *chooser) worth(s *span) float64 {
	switch c.out.Unit {
	case "usd":
		return float64(s.usd)
	case "tokens":
		return float64(s.tokens)
	}
	return float64(s.turns)
}

// best returns what the items for which in holds save in a trajectory.
func (c *chooser) best(trajectory int32, in func(item int32) bool) (worth float64, turns, calls int) {
	worth, chosen := c.cover(trajectory, in)
	for _, i := range chosen {
		turns += int(c.spans[trajectory][i].turns)
		calls += int(c.spans[trajectory][i].calls) - 1
	}
	return worth, turns, calls
}

// cover returns what the items for which in holds save in a trajectory, and where.
func (c *chooser) cover(trajectory int32, in func(item int32) bool) (worth float64, chosen []int32) {
	c.buffer, c.numbers = c.buffer[:0], c.numbers[:0]
	spans := c.spans[trajectory]
	for i := range spans {
		if s := &spans[i]; in(s.item) {
			c.buffer = append(c.buffer, execute.Span{Begin: int(s.begin), End: int(s.end), Worth: c.worth(s)})
			c.numbers = append(c.numbers, int32(i))
		}
	}
	best, worth := execute.Best(c.buffer)
	for _, i := range best {
		chosen = append(chosen, c.numbers[i])
	}
	return worth, chosen
}

// count works out what the chosen ones are worth in money.
func (c *chooser) count() {
	if 2*c.usage <= c.out.Turns || 2*c.priced <= c.perTokenTurns {
		return
	}
	m := &Money{}
	for t := range c.spans {
		_, chosen := c.cover(int32(t), func(k int32) bool { return c.items[k].chosen })
		for _, i := range chosen {
			m.Saved += float64(c.spans[t][i].usd)
		}
	}
	for _, g := range c.out.Chosen {
		m.Definitions += float64(g.Tokens) * c.perToken.USD / thousand
	}
	c.out.Money = m
}

// gain returns what an item adds to the chosen ones, its definition not paid.
func (c *chooser) gain(i int32) float64 {
	sum := 0.0
	for _, t := range c.items[i].trajectories {
		with, _, _ := c.best(t, func(k int32) bool { return k == i || c.items[k].chosen })
		sum += with - c.value[t]
	}
	return sum
}

func (c *chooser) price(i int32) float64 { return float64(c.items[i].tokens) * c.out.TokenPrice }

// candidate is an item with what it gained when it was last looked at.
type candidate struct {
	item  int32
	net   float64
	round int
}

type candidates struct {
	list  []candidate
	items []*item
}

func (h *candidates) Len() int { return len(h.list) }
func (h *candidates) Less(i, j int) bool {
	a, b := &h.list[i], &h.list[j]
	if a.net != b.net {
		return a.net > b.net
	}
	if x, y := h.items[a.item].tokens, h.items[b.item].tokens; x != y {
		return x < y
	}
	return a.item < b.item
}
func (h *candidates) Swap(i, j int) { h.list[i], h.list[j] = h.list[j], h.list[i] }
func (h *candidates) Push(x any)    { h.list = append(h.list, x.(candidate)) }
func (h *candidates) Pop() any {
	last := len(h.list) - 1
	x := h.list[last]
	h.list = h.list[:last]
	return x
}

// run takes the best item until none gains anything. Gains mostly only fall as
// others are taken, so the best is the first in a heap of gains that is still what
// it was.
func (c *chooser) run() {
	h := &candidates{items: c.items}
	alone := make([]float64, len(c.items))
	for i, it := range c.items {
		if !it.cannot {
			alone[i] = c.gain(int32(i)) - c.price(int32(i))
			h.list = append(h.list, candidate{int32(i), alone[i], 0})
		}
	}
	heap.Init(h)
	o := &c.out.Options
	tokens := int64(0)
	for round := 0; h.Len() > 0; {
		top := h.list[0]
		if top.round < round {
			h.list[0].net, h.list[0].round = c.gain(top.item)-c.price(top.item), round
			heap.Fix(h, 0)
			continue
		}
		heap.Pop(h)
		it := c.items[top.item]
		switch {
		case top.net <= 0 && o.Select != SelectAll:
			it.reason = ReasonNothing
		case o.Select == SelectTurns && top.net < float64(o.MinTurns):
			it.reason = ReasonFew
		case o.MaxTools > 0 && len(c.out.Chosen) == o.MaxTools:
			it.reason = ReasonMaxTools
		case o.TokenBudget > 0 && tokens+it.tokens > o.TokenBudget:
			it.reason = ReasonOverBudget
		default:
			c.take(top.item, top.net)
			tokens += it.tokens
			round++
		}
	}
	for i, it := range c.items {
		switch {
		case it.chosen:
			continue
		case it.reason == ReasonNothing && !it.cannot:
			c.explain(int32(i), alone[i])
		}
		left := Left{Definition: it.definition, Reason: it.reason, By: it.by, Tokens: it.tokens, Replay: it.replay, Failures: it.failures}
		if it.reason == ReasonCosts {
			left.Saves, left.Costs = c.gain(int32(i)), c.price(int32(i))
		}
		c.out.Left = append(c.out.Left, left)
	}
}

// take adds an item to the chosen ones.
func (c *chooser) take(i int32, net float64) {
	it := c.items[i]
	var last Gain
	if n := len(c.out.Chosen); n > 0 {
		last = c.out.Chosen[n-1]
	}
	turns, calls := 0, 0
	for _, t := range it.trajectories {
		_, turnsWere, callsWere := c.best(t, func(k int32) bool { return c.items[k].chosen })
		worth, turnsAre, callsAre := c.best(t, func(k int32) bool { return k == i || c.items[k].chosen })
		c.value[t] = worth
		turns, calls = turns+turnsAre-turnsWere, calls+callsAre-callsWere
	}
	it.chosen = true
	even := math.Inf(1)
	if c.out.TokenPrice > 0 {
		even = (net + c.price(i)) / c.out.TokenPrice
	}
	c.out.Chosen = append(c.out.Chosen, Gain{
		Definition: it.definition, Tokens: it.tokens, Turns: last.Turns + turns, TurnsAdded: turns, Calls: last.Calls + calls, CallsAdded: calls,
		Net: last.Net + net, NetAdded: net, BreakEven: even, Replay: it.replay, Failures: it.failures,
	})
}

// explain says why an item that could be chosen gains nothing: by itself it would
// not, or a chosen one does what it does. That is the one beside which it adds
// least.
func (c *chooser) explain(i int32, alone float64) {
	it := c.items[i]
	if alone <= 0 {
		if it.reason = ReasonCosts; c.out.Unit == "turns" {
			it.reason = ReasonNothing
		}
		return
	}
	least := math.Inf(1)
	for k, other := range c.items {
		if !other.chosen {
			continue
		}
		added := 0.0
		for _, t := range it.trajectories {
			with, _, _ := c.best(t, func(n int32) bool { return n == i || n == int32(k) })
			without, _, _ := c.best(t, func(n int32) bool { return n == int32(k) })
			added += with - without
		}
		if added < least {
			least, it.by = added, other.definition.Name
		}
	}
	it.reason = ReasonDominated
	if c.out.Unit != "turns" && c.gain(i) > 1e-12 {
		it.reason = ReasonCosts
	}
}
