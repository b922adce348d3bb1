package learn

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/awo-dev/awo/prefetch"
	"github.com/awo-dev/awo/prefetch/stored"
)

// DefaultThreshold is the P(use) from which a value is worth reading ahead where nothing
// is known of prices: one read that is used is worth a little more than two in vain.
const DefaultThreshold = 0.3

const (
	// minUses and minTasks are the uses, and the tasks that they are from, without which
	// no rule is followed.
	minUses, minTasks = 3, 2
	// gain is what a condition or a bound must add to be worth having.
	gain = 1.05
)

// bounds are the numbers of elements that are tried, all (0) first.
var bounds = []int{0, 20, 10, 5, 3, 2, 1}

// ChooseOptions say which rules are worth following. The zero value is the default.
type ChooseOptions struct {
	Threshold float64 // of P(use); 0 means DefaultThreshold
	Seed      uint64  // of intervals

	NoIntervals bool // for those who only follow the rules
}

// Result is rules with what speaks for them.
type Result struct {
	Set       prefetch.Set
	Threshold float64           // of P(use) that was asked for
	Evidence  []stored.Evidence // of each rule of Set
	Rejected  []Rejected
	Dropped   int // values that were offered beyond what is kept
}

// File returns the rules with their evidence as they are stored. Tools that no rule
// names stay in it: what is called between a read and its use must be known to read, too.
func (r *Result) File() *stored.File {
	return &stored.File{Set: r.Set, Threshold: r.Threshold, Evidence: r.Evidence}
}

// Rejected is a link that no rule is made of.
type Rejected struct {
	Rule   prefetch.Rule
	Reason string // "used-too-seldom", "too-little-evidence"
	stored.Evidence
}

// Choose returns the rules that are worth following: of each link the calls after which,
// and the number of values up to which, uses outweigh what is read in vain, a read that
// is used being worth (1 - threshold)/threshold reads in vain.
func (s *Survey) Choose(o ChooseOptions) *Result {
	threshold := cmp.Or(o.Threshold, DefaultThreshold)
	out := &Result{Dropped: s.dropped, Threshold: threshold}
	out.Set.Reads = slices.Clone(s.reads)
	type made struct {
		rule     prefetch.Rule
		evidence stored.Evidence
	}
	var rules []made
	for _, c := range s.candidates {
		when, most := c.best(threshold)
		rule := c.rule
		rule.When, rule.MaxElements = when, most
		e, spread := c.evidence(when, most, o)
		switch {
		case spread < minTasks || e.Used < minUses:
			out.Rejected = append(out.Rejected, Rejected{rule, "too-little-evidence", e})
		case e.Use() < threshold:
			out.Rejected = append(out.Rejected, Rejected{rule, "used-too-seldom", e})
		default:
			rules = append(rules, made{rule, e})
		}
	}
	slices.SortStableFunc(rules, func(a, b made) int {
		return cmp.Or(cmp.Compare(b.evidence.Use(), a.evidence.Use()), cmp.Compare(b.evidence.Used, a.evidence.Used))
	})
	ids := map[string]int{}
	for _, m := range rules {
		id := fmt.Sprintf("%s-%s", m.rule.Source.Tool, m.rule.Target.Tool)
		if ids[id]++; ids[id] > 1 {
			id = fmt.Sprintf("%s-%d", id, ids[id])
		}
		m.rule.ID = id
		// A rule follows what another read ahead if both together are used often enough.
		for _, first := range rules {
			if first.rule.Target.Tool == m.rule.Source.Tool && first.evidence.Use()*m.evidence.Use() >= threshold {
				m.rule.Depth = 2
			}
		}
		out.Set.Rules = append(out.Set.Rules, m.rule)
		out.Evidence = append(out.Evidence, m.evidence)
	}
	return out
}

// best returns the condition and the bound with the largest worth, the plainest of those
// that are nearly as good.
func (c *candidate) best(threshold float64) (prefetch.When, int) {
	var best prefetch.When
	bound, top := 0, math.Inf(-1)
	price := threshold / (1 - threshold)
	for _, turn := range []prefetch.Turn{prefetch.AnyTime, prefetch.FirstTime, prefetch.Again} {
		for _, last := range []prefetch.Last{prefetch.LastAny, prefetch.LastOK, prefetch.LastFailed} {
			for _, most := range bounds {
				when := prefetch.When{Turn: turn, Last: last}
				used, vain := 0, 0
				for i := range c.offers {
					if !c.offers[i].under(when, most) {
						continue
					}
					if c.offers[i].used {
						used++
					} else {
						vain++
					}
				}
				if used < minUses {
					continue
				}
				if worth := float64(used) - price*float64(vain); worth > top && (top <= 0 || worth > gain*top) {
					best, bound, top = when, most, worth
				}
			}
		}
	}
	return best, bound
}

// under reports whether the value is offered under a condition and a bound.
func (o *offer) under(w prefetch.When, most int) bool {
	return w.Holds(o.again, o.failed) && (most == 0 || int(o.element) < most)
}

// evidence returns what the offers say of a rule, and in how many tasks it is used.
func (c *candidate) evidence(when prefetch.When, most int, options ChooseOptions) (stored.Evidence, int) {
	sum := tally{answers: c.answers}
	run := int32(-1)
	for i := range c.offers {
		o := &c.offers[i]
		if !o.under(when, most) {
			continue
		}
		sum.add(o)
		if o.run != run {
			run = o.run
			sum.runs++
		}
	}
	e := sum.evidence(options)
	if c.tokens.calls > 0 {
		e.TokensUsed = float64(c.tokens.sum) / float64(c.tokens.calls)
		e.TokensVain = (1 - e.Use()) * e.TokensUsed
	}
	return e, sum.spread()
}
