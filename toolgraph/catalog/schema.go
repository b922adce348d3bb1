package catalog

import (
	"cmp"
	"slices"
	"strings"

	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/internal/jsonschema"
	"github.com/awo-dev/awo/trace"
)

// A placer walks a schema and collects the places that hold values.
type placer struct {
	root   trace.Value // that local references lead into
	output bool
	most   int // places
	places []Place
	seen   map[string]int // by path
	queue  []visit
	steps  int
	cut    bool
}

// A visit is a schema that is still to be looked at, at the end of a path.
type visit struct {
	schema trace.Value
	at     Place
	path   jsonpath.Path
	refs   []string
	depth  int
}

// stepsPerPlace bounds the schemas that are looked at for one place that is kept:
// references may lead to the same large one again and again.
const stepsPerPlace = 10

// placesOf returns the places of a schema by path, at most that many, and whether
// there are more. root is what its references lead into. Places nearer to the root come
// first: an argument counts before a member of a member of another.
func placesOf(schema, root trace.Value, output bool, most int) ([]Place, bool) {
	p := placer{root: root, output: output, most: most, seen: map[string]int{}}
	p.push(visit{schema: schema, at: Place{Required: !output}})
	for len(p.queue) > 0 && len(p.places) < most {
		next := p.queue[0]
		p.queue = p.queue[1:]
		p.walk(next)
	}
	p.cut = p.cut || len(p.queue) > 0
	slices.SortFunc(p.places, func(a, b Place) int { return cmp.Compare(a.Path, b.Path) })
	return p.places, p.cut
}

// push puts off a visit, and reports whether the bounds allow for it.
func (p *placer) push(v visit) bool {
	if p.steps++; p.steps > stepsPerPlace*p.most || v.depth > maxDepth {
		p.cut = true
		return false
	}
	p.queue = append(p.queue, v)
	return true
}

// walk adds the place of a schema, or puts off its parts.
func (p *placer) walk(v visit) {
	schema, refs := jsonschema.Follow(p.root, v.schema, v.refs)
	at, path := v.at, v.path
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
			found = true
			if !p.push(visit{part, inner, path, refs, v.depth + 1}) {
				break
			}
		}
	}
	properties, _ := schema.Lookup("properties")
	required := p.required(schema)
	for _, m := range properties.Members {
		inner := Place{Names: append(at.Names[:len(at.Names):len(at.Names)], m.Name), Required: at.Required && required[m.Name]}
		// The older way to say it, inside the property.
		if own, _ := m.Value.Lookup("required"); own.Kind == trace.Bool && own.Bool && at.Required {
			inner.Required = true
		}
		found = true
		if !p.push(visit{m.Value, inner, append(path[:len(path):len(path)], jsonpath.Step{Kind: jsonpath.Member, Name: m.Name}), refs, v.depth + 1}) {
			break
		}
	}
	if items, ok := schema.Lookup("items"); ok {
		found = p.elements(items, at, path, refs, v.depth) || found
	}
	if !found {
		p.add(at, path)
	}
}

// required returns the members that a schema requires.
func (p *placer) required(schema trace.Value) map[string]bool {
	list, _ := schema.Lookup("required")
	out := map[string]bool{}
	for _, e := range list.Elems[:min(len(list.Elems), stepsPerPlace*p.most)] {
		out[e.Text] = true
	}
	return out
}

// elements adds the places of a list's elements, and reports whether there are
// any: a list of scalars that is an argument is one place, because it is given whole.
func (p *placer) elements(items trace.Value, at Place, path jsonpath.Path, refs []string, depth int) bool {
	items, refs = jsonschema.Follow(p.root, items, refs)
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
	p.push(visit{items, Place{Names: at.Names, Required: at.Required}, inside, refs, depth + 1})
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
	if len(p.places) == p.most {
		p.cut = true
		return
	}
	p.seen[at.Path] = len(p.places)
	p.places = append(p.places, at)
}
