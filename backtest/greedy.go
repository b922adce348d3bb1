package backtest

import (
	"container/heap"
	"math"
	"slices"

	"github.com/awo-dev/awo/metatool/replay"
)

// worth returns what a span saves in the unit.
func (c *chooser) worth(s *span) float64 { return s.in(c.out.Unit) }

// best returns what the items for which in holds save in a trajectory, with what reading
// ahead saves beside them.
func (c *chooser) best(trajectory int32, in func(item int32) bool) (worth float64, turns, calls int) {
	worth, chosen := c.cover(trajectory, in)
	for _, s := range chosen {
		turns += int(s.turns)
		calls += int(s.calls) - 1
	}
	return worth, turns, calls
}

// cover returns what the items for which in holds save in a trajectory, and where, with
// the turns that reading ahead saves beside them.
func (c *chooser) cover(trajectory int32, in func(item int32) bool) (worth float64, chosen []*span) {
	c.buffer, c.taken = c.buffer[:0], c.taken[:0]
	add := func(s *span) {
		c.buffer = append(c.buffer, replay.Span{Begin: int(s.begin), End: int(s.end), Worth: c.worth(s)})
		c.taken = append(c.taken, s)
	}
	for i := range c.spans[trajectory] {
		if s := &c.spans[trajectory][i]; in(s.item) {
			add(s)
		}
	}
	if c.beside != nil {
		for i := range c.beside[trajectory] {
			add(&c.beside[trajectory][i])
		}
	}
	best, worth := replay.Best(c.buffer)
	for _, i := range best {
		chosen = append(chosen, c.taken[i])
	}
	return worth, chosen
}

// noItem is true of no item.
func noItem(int32) bool { return false }

// count works out what the chosen ones are worth in money.
func (c *chooser) count() {
	if 2*c.usage <= c.turns || 2*c.priced <= c.perTokenTurns {
		return
	}
	m := &Money{}
	for t := range c.spans {
		_, chosen := c.cover(int32(t), func(k int32) bool { return c.items[k].chosen })
		for _, s := range chosen {
			if s.item != readItem {
				m.Saved += float64(s.usd)
			}
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

// price returns what its definition and its use in vain cost.
func (c *chooser) price(i int32) float64 {
	return float64(c.items[i].tokens)*c.out.TokenPrice + c.items[i].vain.in(c.out.Unit)
}

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
	for t := range c.beside {
		c.value[t], _, _ = c.best(int32(t), noItem)
	}
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
		default:
			c.take(top.item, top.net)
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
		left := Left{Definition: it.definition, Reason: it.reason, By: it.by, Tokens: it.tokens, Replay: it.replay, Failures: it.failures, Use: it.use}
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
		even = (net + c.price(i) - it.vain.in(c.out.Unit)) / c.out.TokenPrice
	}
	c.out.Chosen = append(c.out.Chosen, Gain{
		Definition: it.definition, Tokens: it.tokens, Turns: last.Turns + turns, TurnsAdded: turns, Calls: last.Calls + calls, CallsAdded: calls,
		Net: last.Net + net, NetAdded: net, BreakEven: even, Replay: it.replay, Failures: it.failures,
		Use: it.use, blind: c.blind(i),
	})
}

// explain says why an item that could be chosen gains nothing: by itself it would
// not, or a chosen one does what it does. That is the one beside which it adds
// least.
func (c *chooser) explain(i int32, alone float64) {
	it := c.items[i]
	switch {
	case alone > 0:
	case c.beside != nil && c.out.Unit == "turns":
		it.reason, it.by = ReasonDominated, ByReading
		return
	default:
		if it.reason = ReasonCosts; c.out.Unit == "turns" {
			it.reason = ReasonNothing
		}
		return
	}
	// Beside a chosen one it adds what it saves alone, less what is lost where both
	// have places: nothing for most of them, of which there may be thousands.
	lost := map[int32]float64{}
	var beside []int32
	for _, t := range it.trajectories {
		beside = beside[:0]
		for n := range c.spans[t] {
			if k := c.spans[t][n].item; c.items[k].chosen && !slices.Contains(beside, k) {
				beside = append(beside, k)
			}
		}
		base, _, _ := c.best(t, noItem)
		own, _, _ := c.best(t, func(n int32) bool { return n == i })
		for _, k := range beside {
			with, _, _ := c.best(t, func(n int32) bool { return n == i || n == k })
			without, _, _ := c.best(t, func(n int32) bool { return n == k })
			lost[k] += own - base - (with - without)
		}
	}
	most := math.Inf(-1)
	for k, other := range c.items {
		if other.chosen && lost[int32(k)] > most {
			most, it.by = lost[int32(k)], other.definition.Name
		}
	}
	it.reason = ReasonDominated
	if c.out.Unit != "turns" && c.gain(i) > 1e-12 {
		it.reason = ReasonCosts
	}
}
