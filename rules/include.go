package rules

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/yamlsrc"
)

// maxIncludes is how many files one file may include, directly or not.
const maxIncludes = 100

// builtinPrefix begins the names of built-in sets in `include`.
const builtinPrefix = "builtin:"

// include is one element of `include`.
type include struct {
	name string // for Load, or with builtinPrefix
	pos  diag.Pos
}

// includes reads the files that a file includes into c.
func (p *parser) includes(o object, c *content) {
	n := o.value("include")
	if n == nil {
		return
	}
	if n.Kind == yamlsrc.Scalar && !n.Bad {
		p.includeOne(n, o, c)
		return
	}
	for e := range p.elements(n, "include") {
		p.includeOne(e, o, c)
	}
}

func (p *parser) includeOne(n *yamlsrc.Node, o object, c *content) {
	text, ok := p.includeName(n)
	if !ok {
		return
	}
	next := include{name: text, pos: n.Pos}
	if !strings.HasPrefix(text, builtinPrefix) {
		if strings.Contains(text, `\`) || path.IsAbs(text) || strings.Contains(text, ":") {
			p.report(n.Pos, "rule-include", "an included file is named relative to this one, with / between folders; built-in sets are called %sNAME", builtinPrefix)
			return
		}
		next.name = path.Join(path.Dir(c.set.File), text)
	}
	if p.included[next.name] {
		p.reportCycle(next)
		return
	}
	if len(p.included) > maxIncludes {
		p.report(n.Pos, "rule-include", "more than %d files are included", maxIncludes)
		return
	}
	src, ok := p.load(next)
	if !ok {
		return
	}
	p.included[next.name] = true
	p.stack = append(p.stack, next)
	strict, flaws := p.strict, p.flaws
	inner := p.file(next.name, src)
	p.strict, p.flaws = strict, flaws
	p.stack = p.stack[:len(p.stack)-1]
	p.join(c, inner, o, n.Pos)
}

// includeName reads one element of `include`: a text, or {builtin: NAME}, which
// is what a space behind the colon makes of it.
func (p *parser) includeName(n *yamlsrc.Node) (string, bool) {
	if n.Kind == yamlsrc.Mapping && len(n.Entries) == 1 && n.Entries[0].Key.Text+":" == builtinPrefix {
		name, ok := p.line(n.Entries[0].Value, "builtin")
		return builtinPrefix + name, ok
	}
	return p.line(n, "include")
}

// reportCycle complains if a file that was included already is one of those being
// read. Other files are included once.
func (p *parser) reportCycle(next include) {
	if !slices.Contains(p.chain, next.name) {
		return
	}
	e := p.report(next.pos, "rule-include", "this file includes itself, directly or through others")
	for _, s := range p.stack {
		e.Note(s.pos, "%s is included here", s.name)
	}
}

// load reads an included file.
func (p *parser) load(next include) ([]byte, bool) {
	if name, isBuiltin := strings.CutPrefix(next.name, builtinPrefix); isBuiltin {
		src, ok := builtinSource(name)
		if !ok {
			names := builtinNames()
			p.report(next.pos, "rule-include", "there is no built-in set %q%s", brief(name), suggestion(name, names)).
				Note(diag.Pos{}, "the built-in sets are %s", alternatives(names))
		}
		return src, ok
	}
	if p.options.Load == nil {
		p.report(next.pos, "rule-include", "only built-in sets can be included here")
		return nil, false
	}
	src, err := p.options.Load(next.name)
	if err != nil {
		p.report(next.pos, "rule-include", "%s cannot be read", brief(next.name)).Err = err
		return nil, false
	}
	return src, true
}

// join puts what an included file says in front of what c says. Two included
// files may not state different policies, unless c states its own.
func (p *parser) join(c *content, inner content, o object, pos diag.Pos) {
	c.set.Rules = append(c.set.Rules, inner.set.Rules...)
	c.set.MetaTools = append(c.set.MetaTools, inner.set.MetaTools...)
	for _, field := range slices.Sorted(maps.Keys(inner.policies)) {
		stated := inner.policies[field]
		if o.value(field) != nil {
			continue
		}
		if first, twice := c.policies[field]; twice && c.set.policy(field) != inner.set.policy(field) {
			p.report(pos, "rule-include", "two included files differ in `%s`: state it in this one", field).
				Note(first, "first here").Note(stated, "then here")
			continue
		}
		c.policies[field] = stated
		c.set.setPolicy(field, inner.set.policy(field))
	}
}

func (s *Set) policy(field string) uint8 {
	switch field {
	case "failed":
		return uint8(s.Failed)
	case "outcome":
		return uint8(s.Outcome)
	}
	return uint8(s.StateReads)
}

func (s *Set) setPolicy(field string, value uint8) {
	switch field {
	case "failed":
		s.Failed = FailedPolicy(value)
	case "outcome":
		s.Outcome = OutcomePolicy(value)
	default:
		s.StateReads = ReadPolicy(value)
	}
}
