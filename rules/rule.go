package rules

import (
	"slices"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/failure"
	"github.com/awo-dev/awo/internal/yamlsrc"
)

// rule reads one rule. It returns nil if there is a mistake in it.
func (p *parser) rule(n *yamlsrc.Node) *Rule {
	before := p.errors
	o, ok := p.object(n, "a rule", ruleFields())
	if !ok {
		return nil
	}
	r := &Rule{Pos: n.Pos, places: map[string]diag.Pos{}}
	for name, e := range o.values {
		r.places[name] = e.Value.Pos
	}
	p.ruleID(r, o)
	kind := p.ruleKind(o)
	if n := o.value("doc"); n != nil {
		r.Doc, _ = p.text(n, "doc")
	}
	r.Examples = p.examples(o.value("examples"))
	if kind == nil {
		if n := o.value("match"); n != nil {
			p.match(n, "match", argOptional, nil)
		}
		return nil
	}
	r.Kind = kind.Kind
	matched := p.ruleMatch(r, o, kind)
	p.misplaced(o, kind)
	for _, field := range kind.required {
		if o.value(field) == nil {
			p.report(n.Pos, "rule-missing-field", "a rule of kind %s has no `%s`", kind.Kind, field)
		}
	}
	p.allowValues(r, o)
	if matched || kind.Kind != KindRename {
		kind.read(p, r, o)
	}
	if p.errors > before || p.isFlawed(n) {
		return nil
	}
	return r
}

func (p *parser) ruleID(r *Rule, o object) {
	n := o.required("id")
	if n == nil {
		return
	}
	id, ok := p.line(n, "id")
	if !ok {
		return
	}
	if first, twice := p.ids[id]; twice {
		pos := n.Pos
		if pos == first {
			pos = o.node.Pos // an alias of the other rule
		}
		p.report(pos, "rule-duplicate-id", "another rule is called %q", brief(id)).Note(first, "here")
		return
	}
	p.ids[id] = n.Pos
	r.ID = id
}

// ruleKind reads the kind. It returns nil after complaining if there is none.
func (p *parser) ruleKind(o object) *KindInfo {
	n := o.required("kind")
	if n == nil || n.Bad {
		return nil
	}
	if n.Kind != yamlsrc.Scalar || n.IsNull() {
		p.report(n.Pos, "rule-wrong-type", "`kind` is one word; this is %s", describe(n))
		return nil
	}
	for i := range kinds {
		if string(kinds[i].Kind) == n.Text {
			return &kinds[i]
		}
	}
	e := p.report(n.Pos, "rule-unknown-kind", "there is no kind %q%s", brief(n.Text), suggestion(n.Text, kindNames()))
	if suggestion(n.Text, kindNames()) == "" {
		e.Note(diag.Pos{}, "the kinds are %s", alternatives(kindNames()))
	}
	return nil
}

func (p *parser) ruleMatch(r *Rule, o object, kind *KindInfo) bool {
	n := o.value("match")
	if n == nil {
		r.Match.Pos = r.Pos
		if !kind.matchAll {
			o.required("match")
		}
		return kind.matchAll
	}
	m, ok := p.match(n, "match", kind.arg, r.places)
	r.Match = m
	return ok
}

// misplaced complains about fields of other kinds.
func (p *parser) misplaced(o object, kind *KindInfo) {
	for _, e := range o.node.Entries {
		field := e.Key.Text
		if o.values[field] != e || slices.Contains(ruleHead, field) || slices.Contains(ruleTail, field) || slices.Contains(kind.Fields, field) {
			continue
		}
		var owners []string
		for _, k := range kinds {
			if slices.Contains(k.Fields, field) {
				owners = append(owners, string(k.Kind))
			}
		}
		p.report(e.Key.Pos, "rule-misplaced-field", "a rule of kind %s has no `%s`: that is for %s", kind.Kind, field, alternatives(owners))
	}
}

func (p *parser) allowValues(r *Rule, o object) {
	if n := o.value("values"); n != nil {
		_, r.Values = p.word(n, "values", []string{"allow"})
	}
}

func (p *parser) rename(r *Rule, o object) {
	n := o.value("to")
	if n == nil {
		return
	}
	if text, ok := p.line(n, "to"); ok {
		r.To = text
		p.template(n, text, groupsOfMatch(&r.Match))
	}
}

func (p *parser) fold(r *Rule, o object) {
	if n := o.value("arg"); n != nil {
		r.Arg, _ = p.path(n, "arg")
		for _, s := range r.Arg {
			if s.Kind == SegmentEach {
				p.report(n.Pos, "rule-bad-path", "one argument is concatenated: `[]` stands for many")
				break
			}
		}
	}
	if n := o.value("separator"); n != nil {
		r.Separator, _ = p.text(n, "separator")
	}
}

// stepFields are the fields of the step that an insert rule inserts.
var stepFields = []string{"tool", "args"}

func (p *parser) insert(r *Rule, o object) {
	before, after := o.value("before"), o.value("after")
	n, field := after, "after"
	switch {
	case before == nil && after == nil:
		p.report(r.Pos, "rule-missing-field", "a rule of kind insert has no `before` or `after`")
		return
	case before != nil && after != nil:
		p.report(before.Pos, "rule-misplaced-field", "a rule inserts one step: `before` and `after` are two").Note(after.Pos, "`after` is here")
		return
	case before != nil:
		n, field, r.Position = before, "before", SideBefore
	}
	step, ok := p.object(n, "`"+field+"`", stepFields)
	if !ok {
		return
	}
	if tool := step.required("tool"); tool != nil {
		r.Step.Tool, _ = p.line(tool, "tool")
	}
	args := step.value("args")
	if args == nil || args.Bad {
		return
	}
	if args.Kind != yamlsrc.Mapping {
		p.report(args.Pos, "rule-wrong-type", "`args` is a mapping of names to texts; this is %s", describe(args))
		return
	}
	r.Step.Args = map[string]string{}
	for _, e := range args.Entries {
		if text, ok := p.text(e.Value, "args"); ok && !e.Key.Bad {
			r.Step.Args[e.Key.Text] = text
		}
	}
}

func (p *parser) status(r *Rule, o object) {
	result, known := o.value("result"), o.value("failure")
	switch {
	case result == nil && known == nil:
		p.report(r.Pos, "rule-missing-field", "a rule of kind status has no `result` or `failure`")
	case result != nil && known != nil:
		p.report(known.Pos, "rule-misplaced-field", "a rule looks for one thing in results: `result` and `failure` are two").Note(result.Pos, "`result` is here")
	case result != nil:
		r.Pattern, _ = p.pattern(result, "result")
	default:
		names := failure.Names()
		if i, ok := p.word(known, "failure", names); ok {
			r.Failure = names[i]
		}
	}
	if n := o.value("is"); n != nil {
		words := []string{"failed", "ok"}
		if i, ok := p.word(n, "is", words); ok {
			r.Is = words[i]
		}
	}
}

func (p *parser) rewrite(r *Rule, o object) {
	known := false
	if n := o.value("pattern"); n != nil {
		r.Pattern, known = p.pattern(n, "pattern")
	}
	if n := o.value("with"); n != nil {
		var ok bool
		if r.With, ok = p.text(n, "with"); ok && known {
			p.template(n, r.With, groupsOf(r.Pattern))
		}
	}
}

// effectWords are the effects in the order of their constants.
var effectWords = []string{Mutator.String(), Accessor.String(), Annotator.String()}

func (p *parser) effect(r *Rule, o object) {
	if n := o.value("effect"); n != nil {
		i, _ := p.word(n, "effect", effectWords)
		r.Effect = Effect(max(i, 0))
	}
	if n := o.value("idempotent"); n != nil {
		r.Idempotent, _ = p.truth(n, "idempotent")
	}
}

func (p *parser) domain(r *Rule, o object) {
	name, from := o.value("domain"), o.value("domain_from")
	switch {
	case name == nil && from == nil:
		p.report(r.Pos, "rule-missing-field", "a rule of kind domain has no `domain` or `domain_from`")
	case name != nil && from != nil:
		p.report(name.Pos, "rule-misplaced-field", "a call has one domain: `domain` and `domain_from` are two").Note(from.Pos, "`domain_from` is here")
	case name != nil:
		r.Domain, _ = p.line(name, "domain")
	default:
		pattern, ok := p.pattern(from, "domain_from")
		if ok && pattern.NumSubexp() == 0 {
			p.report(from.Pos, "rule-group-missing", "`domain_from` takes the domain from its first group, and has none in parentheses")
			return
		}
		r.DomainFrom = pattern
	}
}

func (p *parser) loop(r *Rule, o object) {
	for n := range p.elements(o.value("ignore_args"), "ignore_args") {
		if path, ok := p.path(n, "ignore_args"); ok {
			r.IgnoreArgs = append(r.IgnoreArgs, path)
		}
	}
}

func (p *parser) commute(r *Rule, o object) {
	n := o.value("with")
	if n == nil {
		return
	}
	if other, ok := p.match(n, "with", argRefused, r.places); ok {
		r.Other = &other
	}
}

func (p *parser) plumbing(r *Rule, o object) {
	r.Answer = AnswerLeaveOut
	if n := o.value("answer"); n != nil {
		if i, ok := p.word(n, "answer", answerWords[AnswerLeaveOut:]); ok {
			r.Answer = AnswerLeaveOut + Answer(i)
		}
	}
}

func (p *parser) state(r *Rule, o object) {
	n := o.value("keys")
	for e := range p.elements(n, "keys") {
		if key, ok := p.line(e, "keys"); ok {
			r.Keys = append(r.Keys, key)
		}
	}
	if n != nil && n.Kind == yamlsrc.Sequence && len(n.Entries) == 0 {
		p.report(n.Pos, "rule-missing-value", "`keys` is an empty list")
	}
}
