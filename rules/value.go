package rules

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/awo-dev/awo/internal/yamlsrc"
)

// object is a mapping whose fields are known.
type object struct {
	p      *parser
	node   *yamlsrc.Node
	what   string // "a rule", "match", ...
	values map[string]*yamlsrc.Entry
}

// object takes a node as a mapping and complains about fields that are not
// known.
func (p *parser) object(n *yamlsrc.Node, what string, known []string) (object, bool) {
	o := object{p: p, node: n, what: what, values: map[string]*yamlsrc.Entry{}}
	if n.Bad {
		return o, false
	}
	if n.Kind != yamlsrc.Mapping {
		p.report(n.Pos, "rule-wrong-type", "%s is a mapping of fields to values; this is %s", what, describe(n))
		return o, false
	}
	for _, e := range n.Entries {
		switch {
		case e.Key.Bad:
		case slices.Contains(known, e.Key.Text):
			o.values[e.Key.Text] = e
		default:
			p.report(e.Key.Pos, "rule-unknown-field", "%s has no field %q%s", what, brief(e.Key.Text), suggestion(e.Key.Text, known))
		}
	}
	return o, true
}

// value returns the value of a field, or nil.
func (o object) value(field string) *yamlsrc.Node {
	if e := o.values[field]; e != nil {
		return e.Value
	}
	return nil
}

// required returns the value of a field, or nil after complaining.
func (o object) required(field string) *yamlsrc.Node {
	n := o.value(field)
	if n == nil {
		o.p.report(o.node.Pos, "rule-missing-field", "%s has no `%s`", o.what, field)
	}
	return n
}

// describe returns what a person calls the value of a node.
func describe(n *yamlsrc.Node) string {
	if n.Kind == yamlsrc.Scalar {
		if n.IsNull() {
			return "nothing"
		}
		return n.Type().String()
	}
	return n.Kind.String()
}

// brief cuts a text that is shown in a message.
func brief(text string) string {
	const most = 60
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

// elements yields the elements of a list, after complaining if it is none. A nil
// node has no elements.
func (p *parser) elements(n *yamlsrc.Node, field string) func(func(*yamlsrc.Node) bool) {
	return func(yield func(*yamlsrc.Node) bool) {
		switch {
		case n == nil || n.Bad:
			return
		case n.Kind != yamlsrc.Sequence:
			p.report(n.Pos, "rule-wrong-type", "`%s` is a list; this is %s", field, describe(n))
			return
		}
		for _, e := range n.Entries {
			if !yield(e.Value) {
				return
			}
		}
	}
}

// word reads one of a few words and returns its index.
func (p *parser) word(n *yamlsrc.Node, field string, words []string) (int, bool) {
	if n.Bad {
		return 0, false
	}
	if n.Kind != yamlsrc.Scalar || n.IsNull() {
		p.report(n.Pos, "rule-wrong-type", "`%s` is %s; this is %s", field, alternatives(words), describe(n))
		return 0, false
	}
	i := slices.Index(words, n.Text)
	if i < 0 {
		p.report(n.Pos, "rule-bad-value", "`%s` is %s, not %q%s", field, alternatives(words), brief(n.Text), suggestion(n.Text, words))
	}
	return i, i >= 0
}

// text reads a text. Other scalars are taken as they are written, with a warning
// where readers of YAML would make something else of them.
func (p *parser) text(n *yamlsrc.Node, field string) (string, bool) {
	switch {
	case n.Bad:
		return "", false
	case n.Kind != yamlsrc.Scalar:
		p.report(n.Pos, "rule-wrong-type", "`%s` is a text; this is %s%s", field, n.Kind, unquoted(n))
		return "", false
	case n.IsNull():
		p.report(n.Pos, "rule-missing-value", "`%s` has no value%s", field, emptyText(n))
		return "", false
	}
	if meant := n.Rewritten(); meant != "" {
		if p.strict {
			p.report(n.Pos, "rule-wrong-type", "`%s` is a text; this is %s", field, describe(n))
			return "", false
		}
		p.warn(n.Pos, "rule-unquoted", "without quotes %s is %s to some readers of YAML: write '%s'", brief(n.Text), meant, brief(n.Text))
	}
	return n.Text, true
}

// unquoted explains brackets that were probably meant as text.
func unquoted(n *yamlsrc.Node) string {
	if n.Style != yamlsrc.Flow {
		return ""
	}
	if n.Kind == yamlsrc.Mapping && len(n.Entries) == 1 && n.Entries[0].Value.IsNull() && n.Entries[0].Value.Text == "" {
		return fmt.Sprintf(": write '{%s}' if the braces are part of the text", brief(n.Entries[0].Key.Text))
	}
	return ": quote it if the brackets are part of the text"
}

// emptyText explains how an empty text is written.
func emptyText(n *yamlsrc.Node) string {
	if n.Text == "" {
		return ": the empty text is ''"
	}
	return fmt.Sprintf(": write '%s' if it is text", brief(n.Text))
}

// line reads a text that is a name or the like: not empty, one line, no space at
// its ends.
func (p *parser) line(n *yamlsrc.Node, field string) (string, bool) {
	text, ok := p.text(n, field)
	if !ok {
		return "", false
	}
	if problem := badName(text); problem != "" {
		p.report(n.Pos, "rule-bad-value", "`%s` %s", field, problem)
		return "", false
	}
	return text, true
}

// truth reads true or false.
func (p *parser) truth(n *yamlsrc.Node, field string) (bool, bool) {
	if n.Bad {
		return false, false
	}
	value, ok := n.Bool()
	if !ok {
		p.report(n.Pos, "rule-wrong-type", "`%s` is true or false, without quotes; this is %s", field, describe(n))
	}
	return value, ok
}

// maxPatternBytes and maxPatternSteps bound regular expressions: the text of one
// and, as far as it can be told before compiling, the program of all.
const (
	maxPatternBytes = 10_000
	maxPatternSteps = 1_000_000
)

// pattern reads a regular expression.
func (p *parser) pattern(n *yamlsrc.Node, field string) (*regexp.Regexp, bool) {
	text, ok := p.text(n, field)
	if !ok {
		return nil, false
	}
	if len(text) > maxPatternBytes {
		p.report(n.Pos, "rule-bad-pattern", "a regular expression has at most %d bytes", maxPatternBytes)
		return nil, false
	}
	steps, problem := patternSteps(text)
	if problem != nil {
		p.report(n.PosAt(problem.offset), "rule-bad-pattern", "%s", problem.message)
		return nil, false
	}
	if p.budget -= steps; p.budget < 0 {
		p.report(n.Pos, "rule-bad-pattern", "with this regular expression, those of the file are too large together")
		p.budget = 0
		return nil, false
	}
	compiled, err := regexp.Compile(text)
	if err != nil {
		p.report(n.Pos, "rule-bad-pattern", "this regular expression is too large")
		return nil, false
	}
	return compiled, true
}

// path reads a path into arguments.
func (p *parser) path(n *yamlsrc.Node, field string) (Path, bool) {
	text, ok := p.text(n, field)
	if !ok {
		return nil, false
	}
	return p.parsePath(n, text)
}

func (p *parser) parsePath(n *yamlsrc.Node, text string) (Path, bool) {
	path, err := ParsePath(text)
	if err != nil {
		p.report(n.PosAt(err.(*PathError).Offset), "rule-bad-path", "%s", err)
		return nil, false
	}
	return path, true
}

// globs reads a glob or a list of them.
func (p *parser) globs(n *yamlsrc.Node, field string) ([]Glob, bool) {
	if n.Kind == yamlsrc.Scalar || n.Bad {
		g, ok := p.glob(n, field)
		return []Glob{g}, ok
	}
	if n.Kind != yamlsrc.Sequence {
		p.report(n.Pos, "rule-wrong-type", "`%s` is a glob or a list of globs; this is %s%s", field, n.Kind, unquoted(n))
		return nil, false
	}
	if len(n.Entries) == 0 {
		p.report(n.Pos, "rule-missing-value", "`%s` is an empty list", field)
		return nil, false
	}
	var globs []Glob
	all := true
	for _, e := range n.Entries {
		g, ok := p.glob(e.Value, field)
		globs = append(globs, g)
		all = all && ok
	}
	return globs, all
}

func (p *parser) glob(n *yamlsrc.Node, field string) (Glob, bool) {
	text, ok := p.text(n, field)
	if !ok {
		return "", false
	}
	if problem := badName(text); problem != "" {
		p.report(n.Pos, "rule-bad-glob", "a glob %s", problem)
		return "", false
	}
	if odd := oddGlob(text); odd >= 0 {
		p.warn(n.PosAt(odd), "rule-odd-glob", "in globs only `*` is special: %q stands for itself", text[odd:odd+1])
	}
	return Glob(text), true
}
