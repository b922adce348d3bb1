package arazzo

import (
	"fmt"
	"strings"

	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/internal/yamlsrc"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/trace"
)

// The names of the files that refer to each other.
const (
	File        = "metatools.arazzo.yaml"
	OpenAPIFile = "tools.openapi.json"
)

// version is that of the Arazzo Specification.
const version = "1.1.0"

// Append appends a description of meta-tools to dst and returns it.
func Append(dst []byte, tools []*metatool.Tool) []byte {
	doc := newMapping()
	doc.set("arazzo", text(version))
	info := newMapping()
	info.set("title", text("Meta-tools"))
	info.set("description", text("Sequences of tool calls that agents make as a habit, each as one call. Made by awo from recorded trajectories."))
	info.set("version", text("1.0.0"))
	doc.set("info", info.node)
	source := newMapping()
	source.set("name", text("tools"))
	source.set("url", text("./"+OpenAPIFile))
	source.set("type", text("openapi"))
	doc.set("sourceDescriptions", list(source.node))
	workflows := list()
	for _, t := range tools {
		workflows.Entries = append(workflows.Entries, &yamlsrc.Entry{Value: workflow(t)})
	}
	workflows.Spaced = true
	doc.set("workflows", workflows)
	return (&yamlsrc.Document{Root: doc.node}).Append(dst)
}

// workflow returns a meta-tool as an Arazzo workflow.
func workflow(t *metatool.Tool) *yamlsrc.Node {
	w := writer{tool: t, ids: stepIDs(t.Steps)}
	m := newMapping()
	m.set("workflowId", text(t.Name))
	if t.Description != "" {
		m.set("description", text(t.Description))
	}
	m.set("inputs", nodeOf(t.InputSchema()))
	m.set("x-awo-inputs", w.inputs())
	m.set("x-awo-annotations", annotations(t.Annotations))
	steps := list()
	for i := range t.Steps {
		steps.Entries = append(steps.Entries, &yamlsrc.Entry{Value: w.step(i)})
	}
	m.set("steps", steps)
	if len(t.Output.Steps) > 0 {
		outputs := newMapping()
		for _, step := range t.Output.Steps {
			outputs.set(w.ids[step], text(resultOf(w.ids[step])))
		}
		m.set("outputs", outputs.node)
	}
	if t.Output.Schema.Kind == trace.Object {
		m.set("x-awo-output-schema", nodeOf(t.Output.Schema))
	}
	return m.node
}

// stepIDs returns the ids of steps: the tools' names as far as ids allow, told
// apart by numbers.
func stepIDs(steps []metatool.Step) []string {
	ids, taken := make([]string, len(steps)), map[string]bool{}
	for i := range steps {
		base := strings.Map(func(r rune) rune {
			if r < 0x80 && (r == '_' || r == '-' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z') {
				return r
			}
			return '_'
		}, steps[i].Tool)
		base = base[:min(len(base), 64)]
		if base == "" {
			base = "step"
		}
		id := base
		for n := 2; taken[id]; n++ {
			id = fmt.Sprintf("%s_%d", base, n)
		}
		ids[i], taken[id] = id, true
	}
	return ids
}

// resultOf is the runtime expression for what a step returned.
func resultOf(id string) string { return "$steps." + id + ".outputs.result" }

func annotations(a metatool.Annotations) *yamlsrc.Node {
	m := newMapping()
	m.set("readOnlyHint", boolean(a.ReadOnly))
	m.set("destructiveHint", boolean(a.Destructive))
	m.set("idempotentHint", boolean(a.Idempotent))
	m.set("openWorldHint", boolean(a.OpenWorld))
	return m.node
}

// writer writes the steps of one workflow.
type writer struct {
	tool *metatool.Tool
	ids  []string
}

// inputs says which step takes each input first.
func (w *writer) inputs() *yamlsrc.Node {
	out := list()
	for i := range w.tool.Inputs {
		in := &w.tool.Inputs[i]
		m := newMapping()
		m.set("name", text(in.Name))
		if in.Step >= 0 && in.Step < len(w.ids) {
			m.set("step", text(w.ids[in.Step]))
		}
		m.set("argument", text(in.Argument))
		out.Entries = append(out.Entries, &yamlsrc.Entry{Value: m.node})
	}
	return out
}

func (w *writer) step(i int) *yamlsrc.Node {
	s := &w.tool.Steps[i]
	m := newMapping()
	m.set("stepId", text(w.ids[i]))
	m.set("operationId", text(s.Tool))
	if s.Name != "" && s.Name != s.Tool {
		m.set("x-awo-name", text(s.Name))
	}
	if s.Each != nil {
		m.set("x-awo-each", w.binding(s.Each))
	}
	payload, replacements, extended, optional, types := newMapping(), list(), newMapping(), list(), newMapping()
	for a := range s.Args {
		arg := &s.Args[a]
		switch b := &arg.Binding; {
		case b.Kind == metatool.BindConst && isLiteral(b.Const) && b.Coerce == metatool.CoerceNone:
			payload.set(arg.Name, nodeOf(b.Const))
		case b.Kind == metatool.BindInput && b.Coerce == metatool.CoerceNone:
			payload.set(arg.Name, text("$inputs."+b.Input))
		case b.Kind == metatool.BindStep && b.Key == nil && b.Coerce == metatool.CoerceNone:
			replacements.Entries = append(replacements.Entries, &yamlsrc.Entry{Value: w.replacement(arg.Name, b)})
		default:
			extended.set(arg.Name, w.binding(b))
		}
		if schema, ok := arg.Schema.Lookup("type"); ok {
			types.set(arg.Name, nodeOf(schema))
		}
		if arg.Optional {
			optional.Entries = append(optional.Entries, &yamlsrc.Entry{Value: text(arg.Name)})
		}
	}
	body := newMapping()
	body.set("contentType", text("application/json"))
	body.set("payload", payload.node)
	if len(replacements.Entries) > 0 {
		body.set("replacements", replacements)
	}
	m.set("requestBody", body.node)
	if len(extended.node.Entries) > 0 {
		m.set("x-awo-arguments", extended.node)
	}
	if len(types.node.Entries) > 0 {
		m.set("x-awo-types", types.node)
	}
	if len(optional.Entries) > 0 {
		optional.Style = yamlsrc.Flow
		m.set("x-awo-optional", optional)
	}
	m.set("successCriteria", criteria(s.Expect))
	outputs := newMapping()
	outputs.set("result", text("$response.body"))
	m.set("outputs", outputs.node)
	if s.ReadOnly {
		m.set("x-awo-read-only", boolean(true))
	}
	if s.Idempotent {
		m.set("x-awo-idempotent", boolean(true))
	}
	if len(s.Instead) > 0 {
		instead := list()
		for _, tool := range s.Instead {
			instead.Entries = append(instead.Entries, &yamlsrc.Entry{Value: text(tool)})
		}
		instead.Style = yamlsrc.Flow
		m.set("x-awo-instead", instead)
	}
	return m.node
}

// isLiteral reports whether a value means itself in a payload: no text in it
// could be taken for a runtime expression.
func isLiteral(v trace.Value) bool {
	switch v.Kind {
	case trace.String:
		return !strings.HasPrefix(v.Text, "$") && !strings.Contains(v.Text, "{$")
	case trace.Array:
		for _, e := range v.Elems {
			if !isLiteral(e) {
				return false
			}
		}
	case trace.Object:
		for _, m := range v.Members {
			if !isLiteral(m.Value) {
				return false
			}
		}
	}
	return true
}

// replacement puts a value from an earlier result into the payload.
func (w *writer) replacement(name string, b *metatool.Binding) *yamlsrc.Node {
	m := newMapping()
	m.set("target", text("/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(name)))
	m.set("value", w.selector(b))
	return m.node
}

// selector returns an Arazzo selector object on the result of a step.
func (w *writer) selector(b *metatool.Binding) *yamlsrc.Node {
	m := newMapping()
	m.set("context", text(resultOf(w.ids[b.Step])))
	m.set("selector", text(b.Path.String()))
	m.set("type", text("jsonpath"))
	return m.node
}

// binding returns a binding of any kind in the terms of this package.
func (w *writer) binding(b *metatool.Binding) *yamlsrc.Node {
	m := newMapping()
	switch b.Kind {
	case metatool.BindConst:
		m.set("const", nodeOf(b.Const))
	case metatool.BindInput:
		m.set("input", text(b.Input))
	case metatool.BindStep:
		m.set("step", text(w.ids[b.Step]))
		m.set("path", text(b.Path.String()))
	case metatool.BindElement:
		m.set("element", text(b.Path.String()))
	case metatool.BindTemplate:
		pieces := list()
		for i, piece := range strings.Split(b.Template, jsonpath.Hole) {
			if i > 0 && i <= len(b.Parts) {
				pieces.Entries = append(pieces.Entries, &yamlsrc.Entry{Value: w.binding(&b.Parts[i-1])})
			}
			pieces.Entries = append(pieces.Entries, &yamlsrc.Entry{Value: text(piece)})
		}
		m.set("template", pieces)
	}
	if b.Key != nil {
		m.set("key", w.binding(b.Key))
	}
	if b.Coerce != metatool.CoerceNone {
		m.set("coerce", text(coercions[b.Coerce]))
	}
	return m.node
}

// coercions are the words for coercions, by number.
var coercions = [...]string{metatool.CoerceNone: "none", metatool.CoerceString: "string", metatool.CoerceNumber: "number"}

// criteria returns when a step counts as done: the tool did not answer with an
// error (a caller reports 200 for ok, 500 for an error), and the result holds
// what is expected of it.
func criteria(expect []metatool.Expectation) *yamlsrc.Node {
	status := newMapping()
	status.set("condition", text("$statusCode == 200"))
	out := list(status.node)
	seen := map[string]bool{}
	for _, e := range expect {
		if seen[e.Path.String()] {
			continue // Arazzo wants them to differ
		}
		seen[e.Path.String()] = true
		m := newMapping()
		m.set("context", text("$response.body"))
		m.set("condition", text(e.Path.String()))
		m.set("type", text("jsonpath"))
		out.Entries = append(out.Entries, &yamlsrc.Entry{Value: m.node})
	}
	return out
}
