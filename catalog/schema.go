package catalog

import (
	"cmp"
	"slices"
	"strings"

	"github.com/awo-dev/awo/dataflow/jsonpath"
	"github.com/awo-dev/awo/trace"
)

// A placer walks a schema and collects the places that hold values.
type placer struct {
	root   trace.Value // that local references lead into
	output bool
	places []Place
	seen   map[string]int // by path
	steps  int
	cut    bool
}

// maxSteps bounds the schemas that are looked at for one tool: references may lead
// to the same large one again and again.
const maxSteps = 20_000

// placesOf returns the places of a schema by path, and whether there are more.
// root is what its references lead into.
func placesOf(schema, root trace.Value, output bool) ([]Place, bool) {
	p := placer{root: root, output: output, seen: map[string]int{}}
	p.walk(schema, Place{Required: !output}, nil, nil, 0)
	slices.SortFunc(p.places, func(a, b Place) int { return cmp.Compare(a.Path, b.Path) })
	return p.places, p.cut
}

// resolve follows local references; what leads back to itself, or nowhere, is
// unknown.
func (p *placer) resolve(schema trace.Value, refs []string) (trace.Value, []string) {
	for {
		ref, ok := schema.Lookup("$ref")
		if !ok || ref.Kind != trace.String {
			return schema, refs
		}
		if slices.Contains(refs, ref.Text) {
			return trace.Value{}, refs
		}
		refs = append(refs[:len(refs):len(refs)], ref.Text)
		schema = pointer(p.root, ref.Text)
	}
}

// pointer follows a JSON Pointer (RFC 6901) behind a #; it gives null for what is
// not there.
func pointer(root trace.Value, ref string) trace.Value {
	path, local := strings.CutPrefix(ref, "#/")
	if !local {
		return trace.Value{}
	}
	for name := range strings.SplitSeq(path, "/") {
		root, _ = root.Lookup(strings.NewReplacer("~1", "/", "~0", "~").Replace(name))
	}
	return root
}

// walk adds the places of a schema that stands at the end of path.
func (p *placer) walk(schema trace.Value, at Place, path jsonpath.Path, refs []string, depth int) {
	if p.steps++; p.steps > maxSteps || depth > maxDepth {
		p.cut = true
		return
	}
	schema, refs = p.resolve(schema, refs)
	if schema.Kind != trace.Object {
		p.add(at, path)
		return
	}
	p.describe(&at, schema)
	found := false
	for _, key := range [...]string{"allOf", "anyOf", "oneOf"} {
		list, _ := schema.Lookup(key)
		for _, part := range list.Elems {
			if kind, _ := part.Lookup("type"); kind.Text == "null" {
				continue
			}
			inner := at
			inner.Required = at.Required && (key == "allOf" || len(path) > 0)
			p.walk(part, inner, path, refs, depth+1)
			found = true
		}
	}
	properties, _ := schema.Lookup("properties")
	required, _ := schema.Lookup("required")
	for _, m := range properties.Members {
		inner := Place{Names: append(at.Names[:len(at.Names):len(at.Names)], m.Name)}
		inner.Required = at.Required && slices.ContainsFunc(required.Elems, func(v trace.Value) bool { return v.Text == m.Name })
		// The older way to say it, inside the property.
		if own, _ := m.Value.Lookup("required"); own.Kind == trace.Bool && own.Bool && at.Required {
			inner.Required = true
		}
		p.walk(m.Value, inner, append(path[:len(path):len(path)], jsonpath.Step{Kind: jsonpath.Member, Name: m.Name}), refs, depth+1)
		found = true
	}
	if items, ok := schema.Lookup("items"); ok {
		found = p.elements(items, at, path, refs, depth) || found
	}
	if !found {
		p.add(at, path)
	}
}

// elements adds the places of a list's elements, and reports whether there are
// any: a list of scalars that is an argument is one place, since it is given whole.
func (p *placer) elements(items trace.Value, at Place, path jsonpath.Path, refs []string, depth int) bool {
	items, refs = p.resolve(items, refs)
	inside := append(path[:len(path):len(path)], jsonpath.Step{Kind: jsonpath.Each})
	if !compound(items) {
		if !p.output {
			return false
		}
		inner := at
		inner.List = true
		inner.Type, inner.Format = "", ""
		p.describe(&inner, items)
		if inner.Description == "" {
			inner.Description = at.Description
		}
		p.add(inner, inside)
		return true
	}
	inner := Place{Names: at.Names, Required: at.Required}
	p.walk(items, inner, inside, refs, depth+1)
	return true
}

// compound reports whether a schema has parts.
func compound(schema trace.Value) bool {
	for _, key := range [...]string{"properties", "items", "allOf", "anyOf", "oneOf"} {
		if v, ok := schema.Lookup(key); ok && (len(v.Members) > 0 || len(v.Elems) > 0) {
			return true
		}
	}
	return false
}

// describe takes type, format and description over from a schema, if it says them.
func (p *placer) describe(at *Place, schema trace.Value) {
	switch kind, _ := schema.Lookup("type"); kind.Kind {
	case trace.String:
		at.Type = plainType(kind.Text)
	case trace.Array:
		for _, k := range kind.Elems {
			if k.Text != "null" {
				at.Type = plainType(k.Text)
				break
			}
		}
	}
	if format, _ := schema.Lookup("format"); format.Kind == trace.String {
		at.Format = cutText(format.Text)
	}
	if text, _ := schema.Lookup("description"); text.Kind == trace.String {
		at.Description = cutText(text.Text)
	}
}

// plainType returns the name of JSON Schema for a type; other dialects name types
// as Python or Gemini does.
func plainType(name string) string {
	switch name = strings.ToLower(name); name {
	case "string", "number", "integer", "boolean", "array", "object":
		return name
	case "dict":
		return "object"
	case "float", "double":
		return "number"
	case "int", "long":
		return "integer"
	case "bool":
		return "boolean"
	case "list", "tuple":
		return "array"
	case "str":
		return "string"
	}
	return ""
}

func (p *placer) add(at Place, path jsonpath.Path) {
	if len(path) == 0 {
		return // nothing is said of what stands there
	}
	at.Path = path.String()
	if i, again := p.seen[at.Path]; again {
		old := &p.places[i]
		old.Required = old.Required || at.Required
		if old.Type != at.Type {
			old.Type = ""
		}
		return
	}
	if len(p.places) == maxPlaces {
		p.cut = true
		return
	}
	p.seen[at.Path] = len(p.places)
	p.places = append(p.places, at)
}

// The bounds of what inlined copies.
const (
	maxInlined      = 2000 // nodes
	maxInlinedDepth = 24
)

// inlined returns a schema with what it refers to in place. What is too large or
// refers to itself becomes a schema that takes anything.
func inlined(root, schema trace.Value) trace.Value {
	nodes := 0
	var copied func(v trace.Value, refs []string, depth int) trace.Value
	copied = func(v trace.Value, refs []string, depth int) trace.Value {
		if nodes++; nodes > maxInlined || depth > maxInlinedDepth {
			return trace.Value{Kind: trace.Object}
		}
		switch v.Kind {
		case trace.Array:
			out := trace.Value{Kind: trace.Array}
			for _, e := range v.Elems {
				out.Elems = append(out.Elems, copied(e, refs, depth+1))
			}
			return out
		case trace.Object:
			if ref, ok := v.Lookup("$ref"); ok && ref.Kind == trace.String {
				target := pointer(root, ref.Text)
				if target.Kind != trace.Object || slices.Contains(refs, ref.Text) {
					return trace.Value{Kind: trace.Object}
				}
				return copied(target, append(refs[:len(refs):len(refs)], ref.Text), depth+1)
			}
			out := trace.Value{Kind: trace.Object}
			for _, m := range v.Members {
				out.Members = append(out.Members, trace.Member{Name: m.Name, Value: copied(m.Value, refs, depth+1)})
			}
			return out
		}
		return v
	}
	return copied(schema, nil, 0)
}
