package backtest

import (
	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/metatool/replay"
	"github.com/awo-dev/awo/trace"
)

// Amount is tokens and money.
type Amount struct{ Tokens, USD float64 }

// in returns the amount in the unit of a choice; nothing where turns are counted.
func (a Amount) in(unit string) float64 {
	switch unit {
	case "usd":
		return a.USD
	case "tokens":
		return a.Tokens
	}
	return 0
}

// meanTokens is the mean tokens of the results of a tool.
type meanTokens struct {
	sum int64
	n   int
}

// enoughResults are counted for a mean: more tell nothing that matters here.
const enoughResults = 100

// see counts the result of a call; nil sees nothing.
func (m *meanTokens) see(c *trace.Call, meter *cost.Meter) {
	if m == nil || m.n == enoughResults || !c.HasResult || c.Status == trace.StatusFailed {
		return
	}
	m.sum += meter.Raw(c.Result)
	m.n++
}

func (m *meanTokens) mean() float64 {
	if m.n == 0 {
		return 0
	}
	return float64(m.sum) / float64(m.n)
}

// seenMoments are what a trajectory shows of the moments of meta-tools.
type seenMoments struct {
	uses  []toolMoments
	spent []spentMoment
}

// toolMoments are the moments of one meta-tool.
type toolMoments struct{ tool, moments, followed int32 }

// spentMoment is a moment at which a tool does what nobody asked for, where that is paid.
type spentMoment struct {
	tool, call int
	spent      []int // by step
}

// momentsIn returns the moments of each tool for itself, from left to right: those
// inside a place where it has been used are none. What is spent there is worked out if it
// will be paid: in a trajectory that records usage.
func momentsIn(uses *replay.Uses, tools int, paid bool) seenMoments {
	type known struct{ until, at int32 } // the element up to which it is used; its number in out.uses, from 1
	byTool := make([]known, tools)
	out := seenMoments{uses: make([]toolMoments, 0, min(len(uses.Moments), tools))}
	for i := range uses.Moments {
		m := &uses.Moments[i]
		tool := &byTool[m.Tool]
		if m.Begin < int(tool.until) {
			continue
		}
		tool.until = int32(m.End)
		if tool.at == 0 {
			out.uses = append(out.uses, toolMoments{tool: int32(m.Tool)})
			tool.at = int32(len(out.uses))
		}
		use := &out.uses[tool.at-1]
		use.moments++
		if m.Followed {
			use.followed++
		}
		if !paid {
			continue
		}
		if spent := uses.Spent(m); spent.Reads+spent.Writes > 0 {
			out.spent = append(out.spent, spentMoment{m.Tool, m.Call, spent.ByStep})
		}
	}
	return out
}

// addMoments adds what the moments of one trajectory show. reading keeps, by turn, what it
// costs to read a token from there on.
func (c *chooser) addMoments(t *trace.Trajectory, moments *seenMoments, account *cost.Account, reading map[int]Amount) {
	for _, m := range moments.uses {
		for _, n := range c.itemsOf(int(m.tool)) {
			use := &c.items[n].use
			use.Moments += int(m.moments)
			use.Followed += int(m.followed)
		}
	}
	for i := range moments.spent {
		m := &moments.spent[i]
		items := c.itemsOf(m.tool)
		turn := t.Calls[m.call].Turn
		if len(items) == 0 || account == nil || turn < 0 {
			continue
		}
		one, known := reading[turn]
		if !known {
			r := account.Reading(thousand, turn+1, len(account.Turns)-1, nil)
			one = Amount{float64(r.Tokens()) / thousand, r.USD / thousand}
			reading[turn] = one
		}
		for _, n := range items {
			it := c.items[n]
			if it.spent == nil {
				it.spent = make([]Amount, len(m.spent))
			}
			for step, calls := range m.spent {
				it.spent[step].Tokens += float64(calls) * one.Tokens
				it.spent[step].USD += float64(calls) * one.USD
			}
		}
	}
}

// vain returns what an item reads in vain if it is used blindly.
func (c *chooser) vain(it *item) Amount {
	var sum Amount
	for step, s := range it.spent {
		tokens := c.results[it.definition.Steps[step].Tool].mean() + attachedTokens
		sum.Tokens += tokens * s.Tokens
		sum.USD += tokens * s.USD
	}
	return sum
}

// blind returns what blind use of an item is worth: of several with the same first
// call the one is used whose moments are worth most.
func (c *chooser) blind(i int32) toolUse {
	it := c.items[i]
	u := toolUse{tokens: make([]float64, len(it.definition.Steps))}
	for step := range it.definition.Steps {
		u.tokens[step] = c.results[it.definition.Steps[step].Tool].mean()
	}
	if it.use.Moments == 0 {
		return u
	}
	unit := "turns"
	switch {
	case 2*c.usage > c.turns && 2*c.priced > c.perTokenTurns:
		unit = "usd"
	case 2*c.usage > c.turns:
		unit = "tokens"
	}
	for _, t := range it.trajectories {
		for k := range c.spans[t] {
			if s := &c.spans[t][k]; s.item == i {
				u.worth += s.in(unit)
			}
		}
	}
	u.worth = (u.worth - it.vain.in(unit)) / float64(it.use.Moments)
	return u
}

// in returns what a span saves in a unit.
func (s *span) in(unit string) float64 {
	switch unit {
	case "usd":
		return float64(s.usd)
	case "tokens":
		return float64(s.tokens)
	}
	return float64(s.turns)
}
