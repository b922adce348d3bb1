package rules

import (
	"regexp"
	"strconv"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/yamlsrc"
)

// matchFields are the fields of `match`, in the order in which Format puts them.
var matchFields = []string{"tool", "arg", "args", "context", "annotations", "result"}

// match reads which calls a rule is about. arg says whether the rule is about
// one of their arguments. places, if not nil, takes the places of the fields.
func (p *parser) match(n *yamlsrc.Node, field string, arg argUse, places map[string]diag.Pos) (Match, bool) {
	m := Match{Pos: n.Pos}
	if n.Kind == yamlsrc.Scalar && !n.Bad && !n.IsNull() {
		p.report(n.Pos, "rule-wrong-type", "`%s` is a mapping: write `%s: {tool: …}`", field, field)
		return m, false
	}
	before := p.errors
	o, ok := p.object(n, "`"+field+"`", matchFields)
	if !ok {
		return m, false
	}
	if places != nil {
		for name, e := range o.values {
			places[field+"."+name] = e.Value.Pos
		}
	}
	if t := o.value("tool"); t != nil {
		m.Tools, _ = p.globs(t, "tool")
	}
	p.matchArg(o, &m, arg)
	m.Args = p.argPatterns(o.value("args"), "args")
	for _, e := range p.patterns(o.value("context"), "context") {
		m.Context = append(m.Context, ContextPattern{e.key.Text, e.pattern})
	}
	for _, e := range p.patterns(o.value("annotations"), "annotations") {
		m.Annotations = append(m.Annotations, ContextPattern{e.key.Text, e.pattern})
	}
	if r := o.value("result"); r != nil && r.Kind == yamlsrc.Scalar {
		if pattern, ok := p.pattern(r, "result"); ok {
			m.Result = []ArgPattern{{nil, pattern}}
		}
	} else {
		m.Result = p.argPatterns(r, "result")
	}
	if len(o.node.Entries) == 0 {
		p.report(n.Pos, "rule-missing-field", "`%s` is empty: all calls are {tool: '*'}", field)
	}
	return m, p.errors == before
}

// argPatterns reads a mapping of paths to regular expressions.
func (p *parser) argPatterns(n *yamlsrc.Node, field string) (found []ArgPattern) {
	for _, e := range p.patterns(n, field) {
		if path, ok := p.parsePath(e.key, e.key.Text); ok {
			found = append(found, ArgPattern{path, e.pattern})
		}
	}
	return found
}

// argUse says what a kind of rule makes of `match.arg`.
type argUse uint8

const (
	argRefused argUse = iota
	argOptional
	argRequired
)

func (p *parser) matchArg(o object, m *Match, use argUse) {
	n := o.value("arg")
	switch {
	case n == nil && use == argRequired:
		p.report(o.node.Pos, "rule-missing-field", "%s has no `arg`: the argument that the rule is about", o.what)
	case n == nil:
	case use == argRefused:
		p.report(n.Pos, "rule-misplaced-field", "`arg` is for rules about one argument; to look at arguments write `args: {%s: PATTERN}`", argExample(n))
	default:
		m.Arg, _ = p.path(n, "arg")
	}
}

func argExample(n *yamlsrc.Node) string {
	if n.Kind == yamlsrc.Scalar && n.Text != "" {
		return brief(n.Text)
	}
	return "PATH"
}

// namedPattern is one member of `args`, `context` or `annotations`.
type namedPattern = struct {
	key     *yamlsrc.Node
	pattern *regexp.Regexp
}

// patterns reads a mapping of names to regular expressions.
func (p *parser) patterns(n *yamlsrc.Node, field string) []namedPattern {
	if n == nil || n.Bad {
		return nil
	}
	if n.Kind != yamlsrc.Mapping {
		p.report(n.Pos, "rule-wrong-type", "`%s` is a mapping of names to regular expressions; this is %s", field, describe(n))
		return nil
	}
	if len(n.Entries) == 0 {
		p.report(n.Pos, "rule-missing-value", "`%s` is empty", field)
	}
	var found []namedPattern
	for _, e := range n.Entries {
		if e.Key.Bad {
			continue
		}
		if problem := badName(e.Key.Text); problem != "" && field != "args" && field != "result" {
			p.report(e.Key.Pos, "rule-bad-value", "a name in `%s` %s", field, problem)
			continue
		}
		if pattern, ok := p.patternOrTruth(e.Value, field); ok {
			found = append(found, namedPattern{e.Key, pattern})
		}
	}
	return found
}

// patternOrTruth reads a regular expression. Annotations are mostly true or
// false, which may stand for themselves.
func (p *parser) patternOrTruth(n *yamlsrc.Node, field string) (*regexp.Regexp, bool) {
	if field == "annotations" {
		if value, ok := n.Bool(); ok {
			return regexp.MustCompile("^" + strconv.FormatBool(value) + "$"), true
		}
	}
	return p.pattern(n, field)
}
