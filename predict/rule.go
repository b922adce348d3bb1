package predict

import (
	"cmp"
	"slices"

	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/trace"
)

// A Rule says where a parameter's value can be taken from: a path in the newest
// result or arguments of a tool, or an identifier of a shape in what the user
// said. A path through a list means its first element that the parameter has not
// had yet; one with an open filter, `$[?@.app == ?].key`, the record whose member is
// a part of the name of the tool that is called.
type Rule struct {
	Param string
	Side  dataflow.Side // Output, Input, or Task for what the user said
	From  trace.Name    // zero for texts
	Path  string        // a text's shape: letters a and A, digits 9, mixed X, with lengths
	Uses  [classes]RuleUse
}

// RuleUse is how often a rule could be tried and gave the recorded value, by the
// class of its source. For paths Tried counts every call with the source before
// it, whether or not the path was there: the share errs downwards.
type RuleUse struct{ Tried, Right uint64 }

func (u *RuleUse) add(o RuleUse) {
	u.Tried += o.Tried
	u.Right += o.Right
}

// key returns how a history reads the rule.
func (r *Rule) key() ruleKey { return ruleKey{r.Side, r.From, r.Path} }

// Share returns how often the rule is expected to be right in a class: the share
// in this class, drawn towards that in all classes by two uses.
func (r *Rule) Share(c Class) float64 {
	var all RuleUse
	for _, u := range r.Uses {
		all.add(u)
	}
	mean := (float64(all.Right) + 0.5) / (float64(all.Tried) + 1.5)
	return (float64(r.Uses[c].Right) + 2*mean) / (float64(r.Uses[c].Tried) + 2)
}

// The least that a rule must have been worth to be kept: what was right once is
// a coincidence as likely as not.
const (
	minRuleRight = 2
	minRuleShare = 0.05
	maxRules     = 12 // of one parameter
)

// rules gathers the rules of each tool from the counts, the best of each
// parameter first.
func (g *Graph) rules(renumbered []uint32) [][]Rule {
	found := map[link]*Rule{}
	for l, n := range g.links {
		if n.Right == 0 || l.path == 0 {
			continue
		}
		id := l
		id.class = 0
		r := found[id]
		if r == nil {
			r = &Rule{Param: g.texts[l.param], Side: l.side, From: g.names[l.from], Path: g.texts[l.path]}
			for c := range Class(classes) {
				key := l
				if key.class = c; l.side <= dataflow.Input {
					key.path = 0
				}
				if n := g.links[key]; n != nil {
					r.Uses[c].Tried = n.Tried
				}
			}
			found[id] = r
		}
		r.Uses[l.class].Right += n.Right
	}
	out := make([][]Rule, len(renumbered))
	for id, r := range found {
		var right, tried uint64
		for _, u := range r.Uses {
			right += u.Right
			tried += u.Tried
		}
		if right >= minRuleRight && float64(right) >= minRuleShare*float64(tried) {
			s := renumbered[id.tool]
			out[s] = append(out[s], *r)
		}
	}
	for s := range out {
		slices.SortFunc(out[s], func(a, b Rule) int {
			return cmp.Or(cmp.Compare(a.Param, b.Param), cmp.Compare(b.overall(), a.overall()), a.key().compare(b.key()))
		})
		out[s] = cutRules(out[s])
	}
	return out
}

func (r *Rule) overall() float64 {
	return max(r.Share(Near), r.Share(Walk), r.Share(Far))
}

// cutRules keeps the best rules of each parameter.
func cutRules(rules []Rule) []Rule {
	kept, n := rules[:0], 0
	for i := range rules {
		if len(kept) > 0 && kept[len(kept)-1].Param == rules[i].Param {
			n++
		} else {
			n = 1
		}
		if n <= maxRules {
			kept = append(kept, rules[i])
		}
	}
	return kept
}

// Rules returns the rules of a tool's parameters, the best of each first.
func (m *Model) Rules(symbol uint32) []Rule { return m.rules[symbol] }
