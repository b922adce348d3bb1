package merge

import (
	"cmp"
	"regexp"
	"slices"

	"github.com/awo-dev/awo/merge/internal/hash128"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// action is what the state needs to know of a step: a letter of the alphabet
// over which histories are words. Calls that the rules cannot tell apart share
// one while it is cached.
type action struct {
	tool   trace.Name
	name   string  // what rules call it, the tool's name if none renames it
	beside *beside // steps that rules insert next to this one; nil for none

	// The label in the forms that strategies compare; the last one is the label.
	text  labelText
	texts []labelText // all of them, if there are several

	context    hash128.Hash // of the values that enter the state; zero for none
	domainName string

	label  Label
	domain domainID
	class  classID

	domainHash, classHash uint64

	loop int32 // which of the loop rules of its name applies; -1 for none

	effect     rules.Effect
	said       bool // a rule says what the effect is
	idempotent bool
	barrier    bool
	answer     rules.Answer
	counted    bool // the forms of the label have been counted

	uses *uses // the rules that are about it; nil unless the rewriter watches
}

// beside are steps that rules insert before and after another.
type beside struct{ before, after []*action }

// labelText is a label in one form.
type labelText struct {
	hash hash128.Hash
	// loops are the hashes of the label less what each of the loop rules of its
	// name ignores. Labels of one name have the same loop rules.
	loops []hash128.Hash
}

// form returns a form of the label.
func (a *action) form(variant int) *labelText {
	if a.texts == nil {
		return &a.text
	}
	return &a.texts[variant]
}

// entry is the hash that stands for the label in a set of reads.
func (a *action) entry(variant int, loops bool) hash128.Hash {
	text := a.form(variant)
	if loops && a.loop >= 0 {
		return text.loops[a.loop]
	}
	return text.hash
}

// action works out the later stages for a call.
func (r *Rewriter) action(s *subject, tool trace.Name, inserted, noArgs bool) *action {
	found := r.rulesFor(s.name)
	loops := found.of[rules.KindLoop]
	a := &action{tool: tool, name: s.name, loop: int32(slices.Index(loops, s.last(loops)))}
	if rule := s.last(found.of[rules.KindEffect]); rule != nil {
		a.effect, a.idempotent, a.said = rule.Effect, rule.Idempotent, true
	}
	if len(found.of[rules.KindDomain]) > 0 {
		a.domainName = s.domain(found.of[rules.KindDomain])
		a.domain, a.domainHash = r.interns.domains.number(a.domainName), domainHash(a.domainName)
	}
	a.barrier = s.last(found.of[rules.KindBarrier]) != nil
	if rule := s.last(found.of[rules.KindPlumbing]); rule != nil {
		a.answer = rule.Answer
	}
	a.class, a.classHash = r.class(s, found)
	a.context = contextHash(s, found)
	if matching := s.matching(found.of[rules.KindInsert]); len(matching) > 0 && !inserted {
		a.beside = r.beside(s, matching)
	}
	isRewritten := r.label(a, s, found, noArgs)
	if r.watching {
		a.uses = r.laterUses(s, found, inserted, noArgs)
	} else if isRewritten && a.beside == nil {
		return r.shared(a)
	}
	return a
}

// shared returns an action that is the same in all that matters, if there was
// one: rules make many calls alike, and few actions stay in the processor's
// cache.
func (r *Rewriter) shared(a *action) *action {
	key := hash128.Mix(a.context, r.seeds.Text(a.tool.Value()))
	for i := range r.variants {
		text := a.form(i)
		key = hash128.Mix(key, text.hash)
		for _, h := range text.loops {
			key = hash128.Mix(key, h)
		}
	}
	rest := uint64(a.effect)<<4 | uint64(a.answer)<<2
	if a.idempotent {
		rest |= 1
	}
	if a.barrier {
		rest |= 2
	}
	if a.said {
		rest |= 1 << 8
	}
	key = hash128.Mix(key, hash128.Hash{Hi: uint64(a.domain)<<32 | uint64(a.class), Lo: uint64(uint32(a.loop))<<32 | rest})
	if known := r.actions[key]; known != nil {
		return known
	}
	if len(r.actions) >= r.plans.limit {
		clear(r.actions)
	}
	r.actions[key] = a
	return a
}

// beside makes the actions that rules insert next to s.
func (r *Rewriter) beside(s *subject, inserts []*rules.Rule) *beside {
	b := &beside{}
	for _, rule := range inserts {
		if a := r.insertedAction(s, rule); rule.Position == rules.SideBefore {
			b.before = append(b.before, a)
		} else {
			b.after = append(b.after, a)
		}
	}
	return b
}

// insertedAction is the action of a step that a rule inserts next to s.
func (r *Rewriter) insertedAction(s *subject, rule *rules.Rule) *action {
	args := trace.Value{Kind: trace.Object}
	for name, text := range rule.Step.Args {
		args.Members = append(args.Members, trace.Member{Name: name, Value: trace.Value{Kind: trace.String, Text: text}})
	}
	slices.SortFunc(args.Members, func(a, b trace.Member) int { return cmp.Compare(a.Name, b.Name) })
	other := subject{name: rule.Step.Tool, args: args, context: s.context}
	a := r.action(&other, trace.Intern(rule.Step.Tool), true, false)
	if r.watching {
		a.uses = (&uses{list: []application{{rule: rule, after: rule.Step.Tool}}}).before(a.uses)
	}
	return a
}

// domain is the domain of the last rule that matches. A rule whose regular
// expression finds none in the name does not match.
func (s *subject) domain(candidates []*rules.Rule) string {
	for i := len(candidates) - 1; i >= 0; i-- {
		rule := candidates[i]
		name := rule.Domain
		if rule.DomainFrom != nil {
			name = firstGroup(rule.DomainFrom, s.name)
		}
		if name != "" && s.matches(&rule.Match) {
			return name
		}
	}
	return ""
}

// firstGroup returns what the first group of the pattern matches in text, the
// whole match if it has no groups, "" if there is no match.
func firstGroup(pattern *regexp.Regexp, text string) string {
	switch match := pattern.FindStringSubmatch(text); len(match) {
	case 0:
		return ""
	case 1:
		return match[0]
	default:
		return match[1]
	}
}

// class numbers the sides of commute rules that the call is on, and hashes them as
// domainHash does a domain.
func (r *Rewriter) class(s *subject, found *nameRules) (classID, uint64) {
	var sides []int
	var hash hash128.Hash
	for _, side := range found.commute {
		if s.matches(side.match) {
			sides = append(sides, side.bit)
			hash = hash.Plus(hash128.Mix(hash128.Of([]byte(side.rule.ID)), hash128.Hash{Lo: uint64(side.bit & 1)}))
		}
	}
	return r.interns.classes.number(sides), hash.Hi
}

// contextHash hashes the context values that enter the state, zero for none.
// Several rules add up.
func contextHash(s *subject, found *nameRules) hash128.Hash {
	if len(found.of[rules.KindState]) == 0 {
		return hash128.Hash{}
	}
	var keys []string
	for _, rule := range s.matching(found.of[rules.KindState]) {
		keys = append(keys, rule.Keys...)
	}
	slices.Sort(keys)
	var h hash128.Hash
	for _, key := range slices.Compact(keys) {
		for _, c := range s.context {
			if c.Name == key {
				h = h.Plus(hash128.Mix(hash128.Of([]byte(key)), hash128.Of([]byte(c.Value))))
			}
		}
	}
	return h
}

// label works out the forms of the label and numbers the last of them. It
// reports whether rules may have made it like that of other calls.
func (r *Rewriter) label(a *action, s *subject, found *nameRules, noArgs bool) bool {
	var matched []textRule
	for _, t := range found.textual {
		if s.matches(&t.rule.Match) {
			matched = append(matched, t)
		}
	}
	if len(r.variants) > 1 {
		a.texts = make([]labelText, len(r.variants))
	}
	for i, kinds := range r.variants {
		*a.form(i) = r.labelForm(s, found, matched, kinds, noArgs)
	}
	if r.labels != nil {
		h := a.form(len(r.variants) - 1).hash
		a.label = r.labels.add(h, r.scratch, len(s.name), a, r.labels.shapes.of(s.args))
	}
	return len(matched) > 0
}

// labelForm hashes the label with the textual rules of some kinds, whole and as
// each loop rule sees it, and leaves it in r.scratch, its arguments bracketed.
func (r *Rewriter) labelForm(s *subject, found *nameRules, matched []textRule, kinds kindSet, noArgs bool) labelText {
	value := s.args
	var args *argument // only if rules work on it
	for _, t := range matched {
		if kinds&t.kind == 0 {
			continue
		}
		if args == nil {
			args = newArgument(s.args)
		}
		t.apply(args)
	}
	if args != nil {
		value = args.value()
	}
	text := labelText{}
	for _, rule := range found.of[rules.KindLoop] {
		h := hash128.Hash{}
		if len(rule.IgnoreArgs) > 0 {
			h = r.hashLess(s.name, value, rule.IgnoreArgs, noArgs)
		}
		text.loops = append(text.loops, h)
	}
	text.hash = r.hashLabel(s.name, value, noArgs)
	for i, rule := range found.of[rules.KindLoop] {
		if len(rule.IgnoreArgs) == 0 {
			text.loops[i] = text.hash
		}
	}
	for _, rule := range found.of[rules.KindValues] {
		if s.matches(&rule.Match) {
			if args == nil {
				args = newArgument(s.args)
			}
			args.each(rule.Match.Arg, func(a *argument) { a.allowed = true })
		}
	}
	if args != nil && !noArgs {
		r.scratch = args.appendBracketed(append(r.scratch[:0], s.name...))
	}
	return text
}

// hashLabel hashes a label and leaves it in r.scratch.
func (r *Rewriter) hashLabel(name string, args trace.Value, noArgs bool) hash128.Hash {
	r.scratch = append(r.scratch[:0], name...)
	if !noArgs {
		r.scratch = args.AppendCanonical(r.scratch)
	}
	return hashLabel(r.scratch, len(name))
}

// hashLess hashes a label without some of its arguments.
func (r *Rewriter) hashLess(name string, args trace.Value, ignored []rules.Path, noArgs bool) hash128.Hash {
	rest := newArgument(args)
	for _, path := range ignored {
		rest.drop(path)
	}
	return r.hashLabel(name, rest.value(), noArgs)
}
