package merge

import (
	"slices"

	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// application is one rule that is about a call, and what it does to it.
type application struct {
	rule *rules.Rule
	by   *rules.Rule // the later rule that decides in its place, nil if it decides itself
	idle bool        // it matches and changes nothing

	// What the rule is about, before and after: a name, a status, a label with
	// brackets around what may be shown, an effect, a domain.
	before, after string
	nameLen       int // of label texts
}

// uses are the rules that are about one call, in the order of the stages.
type uses struct {
	list []application
}

// before joins the uses of earlier stages and those of later ones.
func (u *uses) before(later *uses) *uses {
	return &uses{list: append(u.list, later.list...)}
}

// add adds the first stages of a call that is folded into another.
func (u *uses) add(other *uses) {
	for _, a := range other.list {
		if !slices.ContainsFunc(u.list, func(b application) bool { return a.rule == b.rule }) {
			u.list = append(u.list, a)
		}
	}
}

// skip is a call that became no step.
type skip struct {
	steps  int // how many steps there were before it
	call   int // index into Trajectory.Calls
	uses   *uses
	failed bool // the policy for failed calls left it out, no rule did
}

// watch makes the rewriter note which rules are about each call. Actions are
// not shared then: two calls with one label may owe it to different rules.
func (r *Rewriter) watch() { r.watching = true }

// firstUses are the rules of the first stages that are about a call, but for
// status rules, which look at its result.
func (r *Rewriter) firstUses(call *trace.Call) *uses {
	s := r.subject(call)
	u := &uses{}
	found := r.rulesFor(s.name)
	if drops := s.matching(found.of[rules.KindDrop]); len(drops) > 0 {
		for _, rule := range drops {
			u.list = append(u.list, application{rule: rule, before: s.name})
		}
		return u
	}
	name := s.name
	if rule := s.last(found.of[rules.KindRename]); rule != nil {
		name = s.newName(rule)
		u.lastWins(s.matching(found.of[rules.KindRename]), s.name, func(*rules.Rule) string { return name })
		found = r.rulesFor(name)
	}
	u.lastWins(s.matching(found.of[rules.KindFold]), "", func(rule *rules.Rule) string { return rule.Arg.String() })
	return u
}

// statusUses are the status rules about a call whose patterns fit its result.
func (p *plan) statusUses(call *trace.Call) []application {
	if p.special == nil || !call.HasResult {
		return nil
	}
	var fitting []*rules.Rule
	result := []byte(call.Result.Text())
	for _, rule := range p.special.statuses {
		if rule.Tells(result) {
			fitting = append(fitting, rule)
		}
	}
	u := uses{}
	u.lastWins(fitting, call.Status.String(), func(rule *rules.Rule) string { return rule.Is })
	return u.list
}

// lastWins adds rules of a kind of which the last one decides.
func (u *uses) lastWins(matching []*rules.Rule, before string, after func(*rules.Rule) string) {
	for i, rule := range matching {
		a := application{rule: rule, before: before, after: after(rule)}
		if last := matching[len(matching)-1]; i < len(matching)-1 {
			a.by = last
		} else {
			a.idle = a.before == a.after
		}
		u.list = append(u.list, a)
	}
}

// laterUses are the rules of the later stages that are about a call.
func (r *Rewriter) laterUses(s *subject, found *nameRules, inserted, noArgs bool) *uses {
	u := &uses{}
	if !inserted {
		for _, rule := range s.matching(found.of[rules.KindInsert]) {
			u.list = append(u.list, application{rule: rule, after: rule.Step.Tool})
		}
	}
	args := newArgument(s.args)
	label := func() string {
		if noArgs {
			return s.name
		}
		return string(args.appendBracketed([]byte(s.name)))
	}
	for _, t := range found.textual {
		absent := EachAt(s.args, t.rule.Match.Arg, func(trace.Value) bool { return false })
		if !absent && s.matches(&t.rule.Match) && r.variants[len(r.variants)-1]&t.kind != 0 {
			before := label()
			t.apply(args)
			after := label()
			u.list = append(u.list, application{rule: t.rule, before: before, after: after, nameLen: len(s.name), idle: before == after})
		}
	}
	u.lastWins(s.matching(found.of[rules.KindEffect]), "", func(rule *rules.Rule) string {
		if rule.Idempotent {
			return rule.Effect.String() + ", idempotent"
		}
		return rule.Effect.String()
	})
	var domains []*rules.Rule
	for _, rule := range s.matching(found.of[rules.KindDomain]) {
		if rule.DomainFrom == nil || firstGroup(rule.DomainFrom, s.name) != "" {
			domains = append(domains, rule)
		}
	}
	u.lastWins(domains, "", func(rule *rules.Rule) string {
		if rule.DomainFrom != nil {
			return firstGroup(rule.DomainFrom, s.name)
		}
		return rule.Domain
	})
	u.lastWins(s.matching(found.of[rules.KindLoop]), "", func(rule *rules.Rule) string {
		text := "the same again changes nothing"
		for i, path := range rule.IgnoreArgs {
			if i == 0 {
				text += ", whatever "
			} else {
				text += ", "
			}
			text += path.String()
		}
		return text
	})
	for _, side := range found.commute {
		if s.matches(side.match) && (len(u.list) == 0 || u.list[len(u.list)-1].rule != side.rule) {
			u.list = append(u.list, application{rule: side.rule, after: "commutes"})
		}
	}
	for _, rule := range s.matching(found.of[rules.KindBarrier]) {
		u.list = append(u.list, application{rule: rule, after: "barrier"})
	}
	u.lastWins(s.matching(found.of[rules.KindPlumbing]), "", func(rule *rules.Rule) string { return "the result in answers: " + rule.Answer.String() })
	for _, rule := range s.matching(found.of[rules.KindState]) {
		text := "the context enters the state:"
		for _, key := range rule.Keys {
			text += " " + key
		}
		u.list = append(u.list, application{rule: rule, after: text})
	}
	for _, rule := range s.matching(found.of[rules.KindValues]) {
		if rule.Kind == rules.KindValues {
			u.list = append(u.list, application{rule: rule, after: "values may be shown"})
		}
	}
	return u
}

// skipped notes a call that becomes no step.
func (r *Rewriter) skipped(index int, call *trace.Call, p *plan, failed bool) {
	u := r.firstUses(call)
	u.list = append(u.list, p.statusUses(call)...)
	s := skip{steps: len(r.steps), call: index, uses: u, failed: failed}
	if len(r.pending) > 0 {
		s.steps = -1 // known when the calls held back have become a step
	}
	r.skips = append(r.skips, s)
}

// settleSkips places the skipped calls among calls that were held back.
func (r *Rewriter) settleSkips() {
	for i := len(r.skips) - 1; i >= 0 && r.skips[i].steps < 0; i-- {
		r.skips[i].steps = len(r.steps)
	}
}
