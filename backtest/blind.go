package backtest

import (
	"math"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/replay"
)

// Use is how meta-tools are used blindly: whenever the first call is wanted, and what
// else they take is known.
type Use struct {
	Moments  int // at which the first call is made
	Followed int // of them: the rest followed, as the meta-tool makes it
}

// Precision returns the share of the moments at which the rest followed, with an
// interval that takes moments for independent.
func (u Use) Precision() stat.Proportion { return stat.Share(u.Followed, u.Moments) }

// Blind is what would be done in a trajectory if the meta-tools were used blindly: at
// each moment that is not in a place where one was used, the one that is worth most in
// the training part.
type Blind struct {
	Finding
	Use
	Reads, Writes float64 // that were not asked for there
}

// vain is what a meta-tool reads in vain: tokens that later turns read.
type vain struct {
	turn   int // in which it is called
	tokens float64
}

// toolUse is what the training part says of a meta-tool's use.
type toolUse struct {
	worth  float64   // of a moment, in the unit that decides; see chooser
	tokens []float64 // by step: the mean tokens of a result
}

// blindly uses the set blindly.
func (s *toolset) blindly(c *Case) *Blind {
	b := &Blind{}
	if c.uses == nil {
		return b
	}
	moments := c.uses.Moments
	for i, until := 0, 0; i < len(moments); {
		m := &moments[i]
		best, place := -1, -1
		for ; i < len(moments) && moments[i].Begin == m.Begin; i++ {
			n, offered := s.of[moments[i].Tool]
			if offered && (best < 0 || s.uses[n].worth > s.uses[place].worth || s.uses[n].worth == s.uses[place].worth && n < place) {
				best, place = i, n
			}
		}
		if best < 0 || m.Begin < until {
			continue
		}
		until = s.use(c, &moments[best], place, b)
	}
	b.Used = b.Moments > 0
	b.Added = b.handBacks
	return b
}

// use calls a meta-tool, by its place in the set, at a moment. It returns the element behind what it does.
func (s *toolset) use(c *Case, m *replay.Moment, place int, b *Blind) int {
	b.Moments++
	one := share{span: replay.Span{Begin: m.Call, End: m.Call + 1}, tool: place, calls: [][]int{{m.Call}}}
	if m.Followed {
		b.Followed++
		b.Removed = append(b.Removed, m.Removed()...)
		one.span.End, one.removed, one.calls = m.Last()+1, m.Removed(), m.Calls()
	}
	b.shares = append(b.shares, one)
	spent := c.uses.Spent(m)
	b.Reads += float64(spent.Reads)
	b.Writes += float64(spent.Writes)
	if spent.HandedBack {
		b.handBacks++
	}
	tokens := 0.0
	for step, calls := range spent.ByStep {
		if calls > 0 {
			tokens += float64(calls) * (s.uses[place].tokens[step] + attachedTokens)
		}
	}
	if turn := c.Trajectory.Calls[m.Call].Turn; tokens > 0 && turn >= 0 {
		b.vain = append(b.vain, vain{turn, tokens})
	}
	return m.End
}

// inVain returns what it costs to read what meta-tools read in vain.
func (f *Finding) inVain(a *cost.Account) cost.Totals {
	var sum cost.Totals
	for _, v := range f.vain {
		sum.Add(a.Reading(int64(math.Round(v.tokens)), v.turn+1, len(a.Turns)-1, f.Removed))
	}
	return sum
}

// writes reports whether a meta-tool writes beyond the call that an agent asks for.
func writes(t *metatool.Tool) bool {
	for i := range t.Steps {
		if s := &t.Steps[i]; !s.ReadOnly && (i > 0 || s.Each != nil) {
			return true
		}
	}
	return false
}

// justifies reports whether a meta-tool that writes may be offered: the rest followed
// at all moments, and they are enough to say that it mostly does.
func (u Use) justifies(precision float64) bool {
	return precision <= 0 || u.Moments > 0 && u.Followed == u.Moments && u.Precision().Interval.Lo >= precision
}
