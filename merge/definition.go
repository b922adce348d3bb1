package merge

import (
	"slices"
	"strings"

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
// may be a reference for Resolve; Null if the definition has none.
func (d *Definition) Property(name string) trace.Value {
	s := schemaSearch{root: d.Input}
	if found := s.members([]trace.Value{d.Input}, name); len(found) > 0 {
		return found[0]
	}
	return trace.Value{}
}

// Requires reports whether the definition requires a top-level argument.
func (d *Definition) Requires(name string) bool {
	required, _ := d.Input.Lookup("required")
	for _, e := range required.Elems {
		if e.Kind == trace.String && e.Text == name {
			return true
		}
	}
	return false
}

// schemaSearch finds the parts of a JSON Schema that are about a place of the
// value. Schemas are input like any other: they may be large, and refer to
// themselves.
type schemaSearch struct {
	root trace.Value
}

// maxAlternatives bounds how many schemas of one place are looked at.
const maxAlternatives = 200

// Resolve returns the part of the definition's schema that a local reference
// such as "#/$defs/date" leads to, false if there is none.
func (d *Definition) Resolve(ref string) (trace.Value, bool) {
	return lookupPointer(d.Input, ref)
}

// lookupPointer follows a local reference, a JSON Pointer (RFC 6901) behind a #.
func lookupPointer(root trace.Value, ref string) (trace.Value, bool) {
	path, local := strings.CutPrefix(ref, "#/")
	if !local {
		return trace.Value{}, false
	}
	at := root
	for name := range strings.SplitSeq(path, "/") {
		name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
		var ok bool
		if at, ok = at.Lookup(name); !ok {
			return trace.Value{}, false
		}
	}
	return at, true
}

// resolve follows local references.
func (s *schemaSearch) resolve(schema trace.Value) trace.Value {
	for range maxReferences {
		ref, ok := schema.Lookup("$ref")
		if !ok || ref.Kind != trace.String {
			return schema
		}
		if schema, ok = lookupPointer(s.root, ref.Text); !ok {
			break
		}
	}
	return trace.Value{}
}

// maxReferences bounds how many references are followed in a row.
const maxReferences = 20

// alternatives returns the schemas that together make up some schemas: what
// anyOf, oneOf and allOf name, and themselves.
func (s *schemaSearch) alternatives(schemas []trace.Value) []trace.Value {
	var all []trace.Value
	queue := slices.Clone(schemas)
	for len(queue) > 0 && len(all) < maxAlternatives {
		schema := s.resolve(queue[0])
		queue = queue[1:]
		all = append(all, schema)
		for _, key := range [...]string{"anyOf", "oneOf", "allOf"} {
			list, _ := schema.Lookup(key)
			queue = append(queue, list.Elems...)
		}
	}
	return all
}

// members returns the schemas of a member of the values that the schemas describe.
func (s *schemaSearch) members(schemas []trace.Value, name string) []trace.Value {
	var found []trace.Value
	for _, schema := range s.alternatives(schemas) {
		properties, _ := schema.Lookup("properties")
		if member, ok := properties.Lookup(name); ok {
			found = append(found, member)
		}
	}
	return found
}

// elements returns the schemas of the elements of lists.
func (s *schemaSearch) elements(schemas []trace.Value) []trace.Value {
	var found []trace.Value
	for _, schema := range s.alternatives(schemas) {
		if items, ok := schema.Lookup("items"); ok {
			found = append(found, items)
		}
	}
	return found
}

// names reports whether the schemas name the value: it is an element of an
// `enum`, a `const`, or a truth value where one is asked for.
func (s *schemaSearch) names(schemas []trace.Value, v trace.Value) bool {
	text := string(v.AppendCanonical(nil))
	for _, schema := range s.alternatives(schemas) {
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
