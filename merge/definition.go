package merge

import (
	"strings"

	"github.com/awo-dev/awo/internal/jsonschema"
	"github.com/awo-dev/awo/trace"
)

// Definition is a tool as it was offered to a model, parsed.
type Definition struct {
	Known       bool
	Description string
	Input       trace.Value // JSON Schema of the arguments; Null if not recorded
	Annotations trace.Value // MCP annotations; Null if not recorded
}

func newDefinition(def *trace.ToolDef) Definition {
	return Definition{
		Known: true, Description: strings.Clone(def.Description.Text()),
		Input: valueOf(def.Input), Annotations: valueOf(def.Annotations),
	}
}

// valueOf parses a recorded piece of JSON, Null if it is none.
func valueOf(raw trace.Raw) trace.Value {
	if raw.IsZero() {
		return trace.Value{}
	}
	v, err := trace.ParseValue([]byte(raw.Text()))
	if err != nil {
		return trace.Value{}
	}
	return v
}

// annotationsOf are the recorded annotations of the tools of one trajectory.
type annotationsOf map[trace.Name]trace.Raw

func annotationsByTool(t *trace.Trajectory) annotationsOf {
	a := annotationsOf{}
	for i := range t.Tools {
		if def := &t.Tools[i]; !def.Annotations.IsZero() {
			a[def.Name] = def.Annotations
		}
	}
	return a
}

func (a annotationsOf) value(tool trace.Name) trace.Value { return valueOf(a[tool]) }

// Property returns the schema of a top-level argument as it is written, which
// may be a reference; Null if the definition has none.
func (d *Definition) Property(name string) trace.Value {
	if found := jsonschema.Members(d.Input, name, d.Input); len(found) > 0 {
		return found[0]
	}
	return trace.Value{}
}

// Requires reports whether the definition requires a top-level argument.
func (d *Definition) Requires(name string) bool { return jsonschema.Requires(d.Input, name) }

// listsValue reports whether schemas, with references into root, name a value: it is an element of an
// `enum`, a `const`, or a truth value where one is asked for.
func listsValue(root trace.Value, schemas []trace.Value, v trace.Value) bool {
	text := string(v.AppendCanonical(nil))
	for _, schema := range jsonschema.Alternatives(root, schemas...) {
		listed, _ := schema.Lookup("enum")
		for _, e := range listed.Elems {
			if string(e.AppendCanonical(nil)) == text {
				return true
			}
		}
		if fixed, ok := schema.Lookup("const"); ok && string(fixed.AppendCanonical(nil)) == text {
			return true
		}
		if kind, _ := schema.Lookup("type"); v.Kind == trace.Bool && kind.Text == "boolean" {
			return true
		}
	}
	return false
}
