package backtest

import (
	"slices"

	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/metatool/bind"
)

// ForAgent is what one of several agents could be offered.
type ForAgent struct {
	Runs        []*corpus.Run // its own
	Definitions []*bind.Definition
	Options     ChooseOptions
}

// ChooseApart chooses for each agent what it is offered, and pays. The choice is that of
// all together: what is offered to one of them is in Chosen, once.
func ChooseApart(list []ForAgent) *Choice {
	out := &Choice{}
	for _, a := range list {
		out.parts = append(out.parts, Choose(a.Runs, a.Definitions, a.Options))
	}
	out.combine()
	return out
}

// combine makes the choice that of its parts together.
func (c *Choice) combine() {
	parts := c.parts
	*c = Choice{Options: parts[0].Options, Unit: parts[0].Unit, parts: parts}
	chosen := map[*bind.Definition]int{}
	for _, part := range parts {
		c.Trajectories += part.Trajectories
		c.Turns += part.Turns
		c.CallingTurns += part.CallingTurns
		if part.Unit != c.Unit {
			c.Unit = "turns"
		}
		if m := part.Money; m != nil {
			if c.Money == nil {
				c.Money = &Money{}
			}
			c.Money.Saved += m.Saved
			c.Money.Definitions += m.Definitions
		}
		for i := range part.Chosen {
			g := part.Chosen[i]
			at, is := chosen[g.Definition]
			if !is {
				chosen[g.Definition] = len(c.Chosen)
				c.Chosen = append(c.Chosen, g)
				continue
			}
			to := &c.Chosen[at]
			to.TurnsAdded += g.TurnsAdded
			to.CallsAdded += g.CallsAdded
			to.NetAdded += g.NetAdded
			to.Replay.sum(g.Replay)
			to.Use.Moments += g.Use.Moments
			to.Use.Followed += g.Use.Followed
		}
	}
	slices.SortStableFunc(c.Chosen, func(a, b Gain) int { return b.TurnsAdded - a.TurnsAdded })
	var last Gain
	for i := range c.Chosen {
		g := &c.Chosen[i]
		if c.Unit == "turns" {
			g.NetAdded = float64(g.TurnsAdded)
		}
		g.Turns, g.Calls, g.Net = last.Turns+g.TurnsAdded, last.Calls+g.CallsAdded, last.Net+g.NetAdded
		last = *g
	}
	left := map[*bind.Definition]bool{}
	for _, part := range parts {
		for _, l := range part.Left {
			if _, is := chosen[l.Definition]; !is && !left[l.Definition] {
				left[l.Definition] = true
				c.Left = append(c.Left, l)
			}
		}
	}
}

// sum adds the places of another replay.
func (a *Agreement) sum(o Agreement) {
	a.Places += o.Places
	a.Exact += o.Exact
	a.Saves += o.Saves
	a.NotComparable += o.NotComparable
}
