package merge

import (
	"slices"

	"github.com/awo-dev/awo/rules"
)

// nameRules are the rules that may be about calls of one name, by kind and in file order.
// Those of the kind values are all that let values be shown.
type nameRules struct {
	of      map[rules.Kind][]*rules.Rule
	textual []textRule
	commute []commuteSide
}

// textRule is a drop_arg or rewrite rule.
type textRule struct {
	rule *rules.Rule
	kind kindSet
	with template
}

// apply changes arguments as the rule says.
func (t *textRule) apply(args *argument) {
	if t.rule.Kind == rules.KindDropArg {
		args.drop(t.rule.Match.Arg)
		return
	}
	args.each(t.rule.Match.Arg, func(a *argument) { a.rewrite(t.rule.Pattern, t.with) })
}

// commuteSide is one side of a commute rule.
type commuteSide struct {
	rule  *rules.Rule
	match *rules.Match
	bit   int
}

// rulesFor returns the rules about a name, as far as the strategy has them.
func (r *Rewriter) rulesFor(name string) *nameRules {
	if n, known := r.names[name]; known {
		return n
	}
	n := &nameRules{of: map[rules.Kind][]*rules.Rule{}}
	commutes := 0
	for _, rule := range r.set.Rules {
		if rule.Kind == rules.KindCommute {
			n.addCommute(rule, name, commutes)
			commutes++
			continue
		}
		if r.kinds.has(rule.Kind) && rule.Match.MatchesTool(name) {
			n.add(rule)
		}
	}
	if len(r.names) < maxNames {
		r.names[name] = n
	}
	return n
}

// maxNames bounds how many names are remembered: a rename rule can make as many
// as there are calls.
const maxNames = 1 << 16

func (n *nameRules) add(rule *rules.Rule) {
	if rule.Values {
		n.of[rules.KindValues] = append(n.of[rules.KindValues], rule)
	}
	switch rule.Kind {
	case rules.KindValues:
	case rules.KindDropArg:
		n.textual = append(n.textual, textRule{rule: rule, kind: kindOf(rule.Kind)})
	case rules.KindRewrite:
		n.textual = append(n.textual, textRule{rule, kindOf(rule.Kind), newTemplate(rule.Pattern, rule.With)})
	default:
		n.of[rule.Kind] = append(n.of[rule.Kind], rule)
	}
}

func (n *nameRules) addCommute(rule *rules.Rule, name string, i int) {
	other := rule.Other
	if other == nil {
		other = &rule.Match
	}
	for side, match := range [...]*rules.Match{&rule.Match, other} {
		if match.MatchesTool(name) {
			n.commute = append(n.commute, commuteSide{rule, match, 2*i + side})
		}
	}
}

// last returns the last rule that matches, nil if none does.
func (s *subject) last(candidates []*rules.Rule) *rules.Rule {
	for _, rule := range slices.Backward(candidates) {
		if s.matches(&rule.Match) {
			return rule
		}
	}
	return nil
}

// matching returns the rules that match.
func (s *subject) matching(candidates []*rules.Rule) []*rules.Rule {
	var matching []*rules.Rule
	for _, rule := range candidates {
		if s.matches(&rule.Match) {
			matching = append(matching, rule)
		}
	}
	return matching
}
