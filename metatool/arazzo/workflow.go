package arazzo

import (
	"slices"
	"strings"

	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/internal/yamlsrc"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/trace"
)

// workflowParser reads one workflow.
type workflowParser struct {
	*parser
	tool   *metatool.Tool
	steps  map[string]int // ids of the steps so far
	inputs map[string]bool
}

func (p *workflowParser) workflow(n *yamlsrc.Node) *metatool.Tool {
	p.tool = &metatool.Tool{Name: p.text(n, "workflowId", true), Description: p.text(n, "description", false)}
	schema := trace.Value{Kind: trace.Object}
	if v := n.Lookup("inputs"); v != nil {
		schema = p.value(v)
	}
	p.takeInputs(n, schema)
	if v := n.Lookup("x-awo-annotations"); v != nil {
		p.tool.Annotations = metatool.Annotations{
			ReadOnly: p.flag(v, "readOnlyHint"), Destructive: p.flag(v, "destructiveHint"),
			Idempotent: p.flag(v, "idempotentHint"), OpenWorld: p.flag(v, "openWorldHint"),
		}
	}
	steps := p.list(n, "steps")
	if len(steps) == 0 {
		p.fail(n, CodeMissing, "a workflow has at least one step")
	}
	for _, step := range steps {
		p.step(step)
	}
	p.placeInputs(n)
	p.outputs(n)
	return p.tool
}

// takeInputs makes inputs of the properties of the schema, in the order that
// x-awo-inputs gives.
func (p *workflowParser) takeInputs(n *yamlsrc.Node, schema trace.Value) {
	properties, _ := schema.Lookup("properties")
	required, _ := schema.Lookup("required")
	add := func(name string, property trace.Value) {
		in := metatool.Input{Name: name, Schema: property}
		in.Required = slices.ContainsFunc(required.Elems, func(v trace.Value) bool { return v.Text == name })
		p.tool.Inputs = append(p.tool.Inputs, in)
		p.inputs[name] = true
	}
	if order := n.Lookup("x-awo-inputs"); order != nil {
		for _, v := range p.elements(order, "x-awo-inputs") {
			name := p.text(v, "name", true)
			property, ok := properties.Lookup(name)
			if !ok || p.inputs[name] {
				p.fail(v, CodeUnknownInput, "`inputs` has no such property, or it is named twice")
				continue
			}
			add(name, property)
		}
	}
	for _, m := range properties.Members {
		if !p.inputs[m.Name] {
			add(m.Name, m.Value)
		}
	}
}

// placeInputs says which step takes each input first, now that their ids are
// known.
func (p *workflowParser) placeInputs(n *yamlsrc.Node) {
	order := n.Lookup("x-awo-inputs")
	if order == nil || order.Kind != yamlsrc.Sequence {
		return
	}
	for _, e := range order.Entries {
		name := p.text(e.Value, "name", true)
		for i := range p.tool.Inputs {
			in := &p.tool.Inputs[i]
			if in.Name != name {
				continue
			}
			in.Argument = p.text(e.Value, "argument", false)
			if id := p.text(e.Value, "step", true); id != "" {
				in.Step = p.stepOf(e.Value, id)
			}
		}
	}
}

// stepOf returns the step with an id.
func (p *workflowParser) stepOf(n *yamlsrc.Node, id string) int {
	i, ok := p.steps[id]
	if !ok {
		p.fail(n, CodeUnknownStep, "no step with this id comes before")
	}
	return i
}

// stepOfResult returns the step whose result a runtime expression means.
func (p *workflowParser) stepOfResult(n *yamlsrc.Node, expression string) int {
	id, ok := strings.CutPrefix(expression, "$steps.")
	id, whole := strings.CutSuffix(id, ".outputs.result")
	if !ok || !whole {
		p.fail(n, CodeNotRunnable, "only results of steps can be referred to, as $steps.ID.outputs.result")
		return 0
	}
	return p.stepOf(n, id)
}

func (p *workflowParser) outputs(n *yamlsrc.Node) {
	if v := n.Lookup("outputs"); v != nil {
		if v.Kind != yamlsrc.Mapping {
			p.fail(v, CodeBadField, "`outputs` must be a mapping")
			return
		}
		for _, e := range v.Entries {
			p.tool.Output.Steps = append(p.tool.Output.Steps, p.stepOfResult(e.Value, e.Value.Text))
		}
		slices.Sort(p.tool.Output.Steps)
		p.tool.Output.Steps = slices.Compact(p.tool.Output.Steps)
	}
	if v := n.Lookup("x-awo-output-schema"); v != nil {
		p.tool.Output.Schema = p.value(v)
	}
}

func (p *workflowParser) step(n *yamlsrc.Node) {
	id := p.text(n, "stepId", true)
	s := metatool.Step{Tool: p.text(n, "operationId", true), ReadOnly: p.flag(n, "x-awo-read-only"), Idempotent: p.flag(n, "x-awo-idempotent")}
	s.Name = s.Tool
	if n.Lookup("x-awo-name") != nil {
		s.Name = p.text(n, "x-awo-name", true)
	}
	if v := n.Lookup("x-awo-each"); v != nil {
		each := p.binding(v, 0)
		s.Each = &each
	}
	if v := n.Lookup("x-awo-instead"); v != nil {
		for _, tool := range p.elements(v, "x-awo-instead") {
			if tool.Kind != yamlsrc.Scalar || tool.Text == "" {
				p.fail(tool, CodeBadField, "`x-awo-instead` must be a list of names")
				continue
			}
			s.Instead = append(s.Instead, tool.Text)
		}
	}
	p.arguments(n, &s)
	if v := n.Lookup("successCriteria"); v != nil {
		for _, c := range p.elements(v, "successCriteria") {
			if c.Lookup("context") != nil {
				e := metatool.Expectation{Path: p.path(c, "condition")}
				if !slices.ContainsFunc(s.Expect, func(o metatool.Expectation) bool { return o.Path.String() == e.Path.String() }) {
					s.Expect = append(s.Expect, e)
				}
			}
		}
	}
	if _, taken := p.steps[id]; taken {
		p.fail(n, CodeRepeated, "another step has the same stepId")
	}
	p.steps[id] = len(p.tool.Steps)
	p.tool.Steps = append(p.tool.Steps, s)
}

// arguments reads what a step passes, from all the places where it is said.
func (p *workflowParser) arguments(n *yamlsrc.Node, s *metatool.Step) {
	if n.Lookup("parameters") != nil || n.Lookup("workflowId") != nil {
		p.fail(n, CodeNotRunnable, "steps with parameters, and those that run workflows, are not supported")
	}
	add := func(at *yamlsrc.Node, name string, b metatool.Binding) {
		if slices.ContainsFunc(s.Args, func(a metatool.Argument) bool { return a.Name == name }) {
			p.fail(at, CodeBadField, "the argument is bound twice")
		}
		s.Args = append(s.Args, metatool.Argument{Name: name, Binding: b})
	}
	if body := n.Lookup("requestBody"); body != nil {
		if payload := body.Lookup("payload"); payload != nil {
			if payload.Kind != yamlsrc.Mapping {
				p.fail(payload, CodeNotRunnable, "`payload` must be a mapping of arguments")
			} else {
				for _, e := range payload.Entries {
					add(e.Key, e.Key.Text, p.literal(e.Value))
				}
			}
		}
		if v := body.Lookup("replacements"); v != nil {
			for _, r := range p.elements(v, "replacements") {
				target, ok := strings.CutPrefix(p.text(r, "target", true), "/")
				if !ok || strings.Contains(target, "/") {
					p.fail(r, CodeNotRunnable, "a replacement must set one argument")
				}
				add(r, strings.NewReplacer("~1", "/", "~0", "~").Replace(target), p.selector(r))
			}
		}
	}
	if v := n.Lookup("x-awo-arguments"); v != nil {
		for _, e := range v.Entries {
			if e.Key == nil {
				p.fail(e.Value, CodeBadField, "`x-awo-arguments` must be a mapping")
				continue
			}
			add(e.Key, e.Key.Text, p.binding(e.Value, 0))
		}
	}
	slices.SortFunc(s.Args, func(a, b metatool.Argument) int { return strings.Compare(a.Name, b.Name) })
	if v := n.Lookup("x-awo-optional"); v != nil {
		for _, name := range p.elements(v, "x-awo-optional") {
			i := slices.IndexFunc(s.Args, func(a metatool.Argument) bool { return a.Name == name.Text })
			if i < 0 {
				p.fail(name, CodeBadField, "the step has no such argument")
				continue
			}
			s.Args[i].Optional = true
		}
	}
	p.types(n, s)
}

// types reads which types the arguments of a step may have.
func (p *workflowParser) types(n *yamlsrc.Node, s *metatool.Step) {
	all := n.Lookup("x-awo-types")
	if all == nil {
		return
	}
	for _, e := range all.Entries {
		i := -1
		if e.Key != nil {
			i = slices.IndexFunc(s.Args, func(a metatool.Argument) bool { return a.Name == e.Key.Text })
		}
		if i < 0 {
			p.fail(e.Value, CodeBadField, "`x-awo-types` must be a mapping of arguments of the step")
			continue
		}
		v := p.value(e.Value)
		if v.Kind != trace.String && (v.Kind != trace.Array || slices.ContainsFunc(v.Elems, func(t trace.Value) bool { return t.Kind != trace.String })) {
			p.fail(e.Value, CodeBadField, "a type is a name or a list of names")
			continue
		}
		s.Args[i].Schema = trace.NewObject(trace.Member{Name: "type", Value: v})
	}
}

// literal reads a member of a payload: an input or a value.
func (p *workflowParser) literal(n *yamlsrc.Node) metatool.Binding {
	v := p.value(n)
	if input, ok := strings.CutPrefix(v.Text, "$inputs."); ok && v.Kind == trace.String {
		if !p.inputs[input] {
			p.fail(n, CodeUnknownInput, "`inputs` has no such property")
		}
		return metatool.Binding{Kind: metatool.BindInput, Input: input}
	}
	if !isLiteral(v) {
		p.fail(n, CodeNotRunnable, "of runtime expressions only $inputs.NAME is supported here")
	}
	return metatool.Binding{Kind: metatool.BindConst, Const: v}
}

// selector reads the value of a replacement.
func (p *workflowParser) selector(n *yamlsrc.Node) metatool.Binding {
	v := n.Lookup("value")
	if v == nil || v.Kind != yamlsrc.Mapping {
		p.fail(n, CodeNotRunnable, "the value of a replacement must be a selector")
		return metatool.Binding{}
	}
	if p.text(v, "type", true) != "jsonpath" {
		p.fail(v, CodeNotRunnable, "selectors must be of type jsonpath")
	}
	return metatool.Binding{Kind: metatool.BindStep, Step: p.stepOfResult(v, p.text(v, "context", true)), Path: p.path(v, "selector")}
}

// binding reads a binding in the terms of this package.
func (p *workflowParser) binding(n *yamlsrc.Node, depth int) metatool.Binding {
	var b metatool.Binding
	if n.Kind != yamlsrc.Mapping || depth > maxNesting {
		p.fail(n, CodeBadField, "a binding must be a mapping, and not too deep")
		return b
	}
	switch {
	case n.Lookup("const") != nil:
		b.Const = p.value(n.Lookup("const"))
	case n.Lookup("input") != nil:
		b.Kind, b.Input = metatool.BindInput, p.text(n, "input", true)
		if !p.inputs[b.Input] {
			p.fail(n, CodeUnknownInput, "`inputs` has no such property")
		}
	case n.Lookup("step") != nil:
		b.Kind, b.Step, b.Path = metatool.BindStep, p.stepOf(n, p.text(n, "step", true)), p.path(n, "path")
	case n.Lookup("element") != nil:
		b.Kind, b.Path = metatool.BindElement, p.path(n, "element")
	case n.Lookup("template") != nil:
		b.Kind = metatool.BindTemplate
		p.template(n.Lookup("template"), &b, depth)
	default:
		p.fail(n, CodeMissing, "a binding has one of const, input, step, element and template")
	}
	if v := n.Lookup("key"); v != nil {
		key := p.binding(v, depth+1)
		b.Key = &key
	}
	if word := p.text(n, "coerce", false); word != "" {
		i := slices.Index(coercions[:], word)
		if i < 0 {
			p.fail(n, CodeBadField, "`coerce` must be string or number")
			i = 0
		}
		b.Coerce = metatool.Coercion(i)
	}
	return b
}

// template reads texts and bindings by turns.
func (p *workflowParser) template(n *yamlsrc.Node, b *metatool.Binding, depth int) {
	var pieces strings.Builder
	for i, piece := range p.elements(n, "template") {
		switch {
		case i%2 == 1:
			pieces.WriteString(jsonpath.Hole)
			b.Parts = append(b.Parts, p.binding(piece, depth+1))
		case piece.Kind != yamlsrc.Scalar || piece.Type() != yamlsrc.String || strings.Contains(piece.Text, jsonpath.Hole):
			p.fail(piece, CodeBadField, "texts and bindings take turns in a template")
		default:
			pieces.WriteString(piece.Text)
		}
	}
	b.Template = pieces.String()
}
