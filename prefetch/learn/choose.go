package learn

import (
	"cmp"
	"fmt"
	"maps"
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
	// gain is what a condition or a bound must add to be worth having, and generality what one
	// way to look for values must add to be taken before a more general one.
	gain, generality = 1.05, 1.1
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

// Keep leaves out the rules of which keep says no, by number; Rejected has them.
func (r *Result) Keep(keep func(rule int) bool) {
	var rules []prefetch.Rule
	var evidence []stored.Evidence
	for i := range r.Set.Rules {
		if !keep(i) {
			r.Rejected = append(r.Rejected, Rejected{r.Set.Rules[i], "does-not-pay", r.Evidence[i]})
			continue
		}
		rules, evidence = append(rules, r.Set.Rules[i]), append(evidence, r.Evidence[i])
	}
	r.Set.Rules, r.Evidence = rules, evidence
}

// Rejected is a link that no rule is made of.
type Rejected struct {
	Rule   prefetch.Rule
	Reason string // "returns-credentials", "used-too-seldom", "too-little-evidence", "does-not-pay"
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
	chosen := s.chosen(threshold, nil)
	chosen = s.chosen(threshold, chosen) // now that it is known which others there are
	for _, c := range s.candidates {
		best, is := chosen[c]
		if !is {
			continue
		}
		rule := c.rule
		rule.When, rule.MaxElements = best.when, best.most
		e, spread := c.evidence(best, o)
		switch {
		case s.secrets[rule.Target.Tool]:
			out.Rejected = append(out.Rejected, Rejected{rule, "returns-credentials", e})
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
		id := fmt.Sprintf("%s-%s", cmp.Or(m.rule.Source.Tool, string(m.rule.Source.Kind)), m.rule.Target.Tool)
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

// moment is one message of one trajectory.
type moment struct{ run, message int32 }

// condition is under which a rule is followed, and what that is worth.
type condition struct {
	when   prefetch.When
	most   int
	others map[moment]bool // with When.Alone: the messages that offer another tool's read
	worth  float64
}

// chosen returns the best condition of each candidate; of those that look for the same values
// of one, the most general that is nearly as good as the best. before are the conditions that
// were chosen without regard to other candidates, nil at first.
func (s *Survey) chosen(threshold float64, before map[*candidate]condition) map[*candidate]condition {
	offering := map[string]map[moment]bool{} // by tool: the messages that offer its reads
	for c, best := range before {
		if c.rule.Source.Kind != prefetch.KindUser || best.worth <= 0 {
			continue
		}
		tool := c.rule.Target.Tool
		if offering[tool] == nil {
			offering[tool] = map[moment]bool{}
		}
		for i := range c.offers {
			offering[tool][moment{c.offers[i].run, c.offers[i].message}] = true
		}
	}
	out := map[*candidate]condition{}
	for _, c := range s.candidates {
		if before != nil && c.rule.Source.Kind != prefetch.KindUser {
			out[c] = before[c] // nothing that messages offer matters to it
			continue
		}
		others := map[moment]bool{}
		for tool, messages := range offering {
			if tool != c.rule.Target.Tool {
				maps.Copy(others, messages)
			}
		}
		out[c] = c.best(threshold, others)
	}
	best := map[int]float64{}
	for c, own := range out {
		if most, is := best[c.same]; !is || own.worth > most {
			best[c.same] = own.worth
		}
	}
	taken := map[int]bool{}
	for _, c := range s.candidates {
		// What loses is taken too where all others lose more: it is listed as rejected.
		if c.same > 0 && (taken[c.same] || max(out[c].worth, out[c].worth*generality) < best[c.same]) {
			delete(out, c)
		} else if c.same > 0 {
			taken[c.same] = true
		}
	}
	return out
}

// best returns the condition and the bound with the largest worth, the plainest of those
// that are nearly as good.
func (c *candidate) best(threshold float64, others map[moment]bool) condition {
	best := condition{worth: math.Inf(-1)}
	price := threshold / (1 - threshold)
	turns, lasts, alone := []prefetch.Turn{prefetch.AnyTime, prefetch.FirstTime, prefetch.Again}, []prefetch.Last{prefetch.LastAny, prefetch.LastOK, prefetch.LastFailed}, []bool{false}
	if c.rule.Source.Tool == "" { // no call comes before
		turns, lasts = turns[:1], lasts[:1]
	}
	if len(others) > 0 {
		alone = []bool{false, true}
	}
	for _, turn := range turns {
		for _, last := range lasts {
			for _, alone := range alone {
				for _, most := range bounds {
					one := condition{when: prefetch.When{Turn: turn, Last: last, Alone: alone}, most: most, others: others}
					used, vain := 0, 0
					for i := range c.offers {
						switch {
						case !c.offers[i].under(&one):
						case c.offers[i].used:
							used++
						default:
							vain++
						}
					}
					if used < minUses {
						continue
					}
					one.worth = float64(used) - price*float64(vain)
					if one.worth > best.worth && (best.worth <= 0 || one.worth > gain*best.worth) {
						best = one
					}
				}
			}
		}
	}
	return best
}

// under reports whether the value is offered under a condition.
func (o *offer) under(c *condition) bool {
	return c.when.Holds(o.again, o.failed) && (c.most == 0 || int(o.element) < c.most) && !(c.when.Alone && c.others[moment{o.run, o.message}])
}

// evidence returns what the offers say of a rule, and in how many tasks it is used.
func (c *candidate) evidence(under condition, options ChooseOptions) (stored.Evidence, int) {
	sum := tally{answers: c.answers}
	run := int32(-1)
	for i := range c.offers {
		o := &c.offers[i]
		if !o.under(&under) {
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
