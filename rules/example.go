package rules

import (
	"encoding/json"
	"math"
	"path"
	"strconv"
	"strings"

	"github.com/awo-dev/awo/internal/yamlsrc"
)

// caseFields are the fields of a file of examples.
var caseFields = []string{"version", "doc", "examples"}

// ParseExamples reads a file of examples, which has the fields `version: 1`,
// `doc` and `examples`, for rules that are in another file. The error is a
// diag.List of every mistake; the examples without one are returned.
func ParseExamples(file string, src []byte) ([]Example, error) {
	p := &parser{chain: []string{path.Clean(file)}}
	root := p.root(file, src)
	if root == nil {
		return nil, p.problems.Errors().Err()
	}
	var examples []Example
	if o, ok := p.object(root, "a file of examples", caseFields); ok {
		p.version(o)
		if n := o.value("doc"); n != nil {
			p.text(n, "doc")
		}
		examples = p.examples(o.required("examples"))
	}
	p.problems.Sort()
	return examples, p.problems.Errors().Err()
}

// AllExamples returns the examples that the file itself has, those of its rules
// first. Examples of included files are left out: they are true of the rules
// there, and rules that follow may well change what they say.
func (s *Set) AllExamples() []Example {
	var own []Example
	for _, r := range s.Rules {
		if r.Pos.File == s.File {
			own = append(own, r.Examples...)
		}
	}
	return append(own, s.Examples...)
}

// exampleFields, callFields and expectationFields are the fields of examples, in
// the order in which Format puts them.
var (
	exampleFields     = []string{"call", "calls", "gives", "same_state_as", "other_state_than"}
	callFields        = []string{"tool", "args", "context", "annotations", "result", "status"}
	expectationFields = []string{"label", "tool", "args", "effect", "domain", "status", "barrier", "answer", "idempotent", "loop"}
)

// examples reads a list of examples and returns those without a mistake.
func (p *parser) examples(n *yamlsrc.Node) []Example {
	var examples []Example
	for n := range p.elements(n, "examples") {
		before := p.errors
		if e := p.example(n); p.errors == before && !p.isFlawed(n) {
			examples = append(examples, e)
		}
	}
	return examples
}

func (p *parser) example(n *yamlsrc.Node) Example {
	e := Example{Pos: n.Pos}
	o, ok := p.object(n, "an example", exampleFields)
	if !ok {
		return e
	}
	one, several := o.value("call"), o.value("calls")
	switch {
	case one == nil && several == nil:
		p.report(n.Pos, "rule-missing-field", "an example has no `call` or `calls`")
	case one != nil && several != nil:
		p.report(one.Pos, "rule-misplaced-field", "an example has `call` or `calls`, not both")
	case one != nil:
		e.Calls = []ExampleCall{p.exampleCall(one)}
	default:
		e.Calls = p.exampleCalls(several, "calls")
		if several.Kind == yamlsrc.Sequence && len(several.Entries) == 0 {
			p.report(several.Pos, "rule-missing-value", "`calls` is an empty list")
		}
	}
	gives, same, other := o.value("gives"), o.value("same_state_as"), o.value("other_state_than")
	given := 0
	for _, n := range []*yamlsrc.Node{gives, same, other} {
		if n != nil {
			given++
		}
	}
	switch {
	case given != 1:
		p.report(n.Pos, "rule-missing-field", "an example has one of `gives`, `same_state_as` and `other_state_than`")
	case gives != nil:
		e.Gives = p.expectations(gives)
	case same != nil:
		e.SameState = p.exampleCalls(same, "same_state_as")
	default:
		e.OtherState = p.exampleCalls(other, "other_state_than")
	}
	return e
}

// exampleCalls reads a list of calls, which may be empty. It does not return nil.
func (p *parser) exampleCalls(n *yamlsrc.Node, field string) []ExampleCall {
	calls := []ExampleCall{}
	for n := range p.elements(n, field) {
		calls = append(calls, p.exampleCall(n))
	}
	return calls
}

func (p *parser) exampleCall(n *yamlsrc.Node) ExampleCall {
	c := ExampleCall{Pos: n.Pos, Args: []byte("{}")}
	o, ok := p.object(n, "a call", callFields)
	if !ok {
		return c
	}
	if n := o.required("tool"); n != nil {
		c.Tool, _ = p.line(n, "tool")
	}
	if n := o.value("args"); n != nil {
		c.Args = p.jsonObject(n, "args")
	}
	c.Context = p.contextTexts(o.value("context"), "context", func(n *yamlsrc.Node) string {
		text, _ := p.text(n, "context")
		return text
	})
	c.Annotations = p.contextTexts(o.value("annotations"), "annotations", func(n *yamlsrc.Node) string {
		return string(p.appendJSON(nil, n))
	})
	if n := o.value("result"); n != nil {
		c.Result, _ = p.text(n, "result")
	}
	if n := o.value("status"); n != nil {
		if i, ok := p.word(n, "status", statusWords); ok && statusWords[i] != "unknown" {
			c.Status = statusWords[i]
		}
	}
	return c
}

// statusWords are the statuses of calls and steps.
var statusWords = []string{"ok", "failed", "unknown"}

func (p *parser) contextTexts(n *yamlsrc.Node, field string, text func(*yamlsrc.Node) string) []ContextText {
	if n == nil || n.Bad {
		return nil
	}
	if n.Kind != yamlsrc.Mapping {
		p.report(n.Pos, "rule-wrong-type", "`%s` is a mapping of names to values; this is %s", field, describe(n))
		return nil
	}
	var texts []ContextText
	for _, e := range n.Entries {
		if !e.Key.Bad {
			texts = append(texts, ContextText{Name: e.Key.Text, Text: text(e.Value)})
		}
	}
	return texts
}

// expectations reads one step or a list of them. It does not return nil.
func (p *parser) expectations(n *yamlsrc.Node) []Expectation {
	steps := []Expectation{}
	if n.Kind == yamlsrc.Mapping {
		return append(steps, p.expectation(n))
	}
	if n.Kind == yamlsrc.Scalar && !n.Bad {
		p.report(n.Pos, "rule-wrong-type", "`gives` is a step or a list of steps; this is %s", describe(n))
		return steps
	}
	for n := range p.elements(n, "gives") {
		steps = append(steps, p.expectation(n))
	}
	return steps
}

func (p *parser) expectation(n *yamlsrc.Node) Expectation {
	x := Expectation{Pos: n.Pos}
	o, ok := p.object(n, "a step", expectationFields)
	if !ok {
		return x
	}
	if len(n.Entries) == 0 {
		p.report(n.Pos, "rule-missing-field", "this step says nothing: it has one of %s at least", alternatives(expectationFields))
	}
	if n := o.value("label"); n != nil {
		x.Label, _ = p.line(n, "label")
	}
	if n := o.value("tool"); n != nil {
		x.Tool, _ = p.line(n, "tool")
	}
	if n := o.value("args"); n != nil {
		x.Args = p.jsonObject(n, "args")
	}
	if n := o.value("effect"); n != nil {
		if i, ok := p.word(n, "effect", effectWords); ok {
			x.Effect = effectWords[i]
		}
	}
	if n := o.value("domain"); n != nil {
		if domain, ok := p.text(n, "domain"); ok {
			x.Domain = &domain
		}
	}
	if n := o.value("status"); n != nil {
		if i, ok := p.word(n, "status", statusWords); ok {
			x.Status = statusWords[i]
		}
	}
	x.Barrier = p.optionalTruth(o, "barrier")
	if n := o.value("answer"); n != nil {
		if i, ok := p.word(n, "answer", answerWords); ok {
			x.Answer = answerWords[i]
		}
	}
	x.Idempotent = p.optionalTruth(o, "idempotent")
	x.Loop = p.optionalTruth(o, "loop")
	return x
}

// optionalTruth reads true or false, or nil if the field is not there.
func (p *parser) optionalTruth(o object, field string) *bool {
	n := o.value(field)
	if n == nil {
		return nil
	}
	value, ok := p.truth(n, field)
	if !ok {
		return nil
	}
	return &value
}

// jsonObject reads a mapping as a JSON object.
func (p *parser) jsonObject(n *yamlsrc.Node, field string) []byte {
	if n.Kind != yamlsrc.Mapping {
		if !n.Bad {
			p.report(n.Pos, "rule-wrong-type", "`%s` is a mapping; this is %s", field, describe(n))
		}
		return nil
	}
	return p.appendJSON(nil, n)
}

// appendJSON writes a value as JSON, its scalars by the core schema of YAML.
func (p *parser) appendJSON(dst []byte, n *yamlsrc.Node) []byte {
	switch n.Kind {
	case yamlsrc.Sequence:
		dst = append(dst, '[')
		for i, e := range n.Entries {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = p.appendJSON(dst, e.Value)
		}
		return append(dst, ']')
	case yamlsrc.Mapping:
		dst = append(dst, '{')
		for i, e := range n.Entries {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendString(dst, e.Key.Text), ':')
			dst = p.appendJSON(dst, e.Value)
		}
		return append(dst, '}')
	}
	switch n.Type() {
	case yamlsrc.Null:
		return append(dst, "null"...)
	case yamlsrc.Bool:
		value, _ := n.Bool()
		return strconv.AppendBool(dst, value)
	case yamlsrc.Int, yamlsrc.Float:
		return p.appendNumber(dst, n)
	}
	return appendString(dst, n.Text)
}

func (p *parser) appendNumber(dst []byte, n *yamlsrc.Node) []byte {
	if json.Valid([]byte(n.Text)) {
		return append(dst, n.Text...)
	}
	if value, ok := n.Int(); ok {
		return strconv.AppendInt(dst, value, 10)
	}
	value, _ := n.Float()
	if math.IsInf(value, 0) || math.IsNaN(value) {
		p.report(n.Pos, "rule-bad-value", "%s is no JSON number: quote it if it is text", n.Text)
		return append(dst, "null"...)
	}
	return strconv.AppendFloat(dst, value, 'g', -1, 64)
}

func appendString(dst []byte, text string) []byte {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		panic(err) // a string can be encoded
	}
	return append(dst, strings.TrimSuffix(b.String(), "\n")...)
}
