package bind

import (
	"fmt"
	"slices"
	"strings"

	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/trace"
)

// with returns the object with a member set.
func with(v trace.Value, name string, member trace.Value) trace.Value {
	members := slices.DeleteFunc(slices.Clone(v.Members), func(m trace.Member) bool { return m.Name == name })
	return trace.NewObject(append(members, trace.Member{Name: name, Value: member})...)
}

// inputName returns a valid name for an argument of a step: the argument's own
// if no step before took it, else with the number of the step. Not all providers
// take hyphens here.
func inputName(argument string, step int, taken map[string]bool) string {
	base := strings.ReplaceAll(cutName(validName(argument), maxName), "-", "_")
	name := base
	for i := step + 1; taken[name]; i++ {
		suffix := fmt.Sprintf("_%d", i)
		name = cutName(base, maxName-len(suffix)) + suffix
	}
	taken[name] = true
	return name
}

// tellApart adds to a description which of several calls the input is for.
func tellApart(schema trace.Value, step int, tool string) trace.Value {
	text := fmt.Sprintf("For call %d, %s.", step+1, printable(tool, maxName))
	if own, _ := schema.Lookup("description"); own.Kind == trace.String && own.Text != "" {
		text = strings.TrimSpace(own.Text) + " " + text
	}
	return with(schema, "description", trace.NewString(text))
}

// argumentSchema returns the schema of an argument: the tool's own if it was
// recorded, else one that the values seen fit.
func argumentSchema(tool *merge.CatalogTool, argument string) trace.Value {
	if tool == nil {
		return trace.Value{Kind: trace.Object}
	}
	if own := tool.Definition.Property(argument); own.Kind == trace.Object {
		in := inliner{definition: &tool.Definition}
		if whole := in.inline(own, 0); !in.failed {
			return whole
		}
	}
	if values, ok := tool.Values(argument); ok {
		return schemaOf(values, 0)
	}
	return trace.Value{Kind: trace.Object}
}

// maxSchemaDepth and maxSchemaNodes bound what is taken over from a recorded
// schema or inferred from values.
const (
	maxSchemaDepth = 20
	maxSchemaNodes = 2000
)

// inliner copies a schema with what it refers to put in place, because a part of
// a definition has to stand on its own.
type inliner struct {
	definition *merge.Definition
	nodes      int
	failed     bool // too large, too deep, or refers to itself or to nothing
}

func (in *inliner) inline(v trace.Value, depth int) trace.Value {
	if in.nodes++; in.nodes > maxSchemaNodes || depth > maxSchemaDepth {
		in.failed = true
	}
	if in.failed {
		return trace.Value{Kind: trace.Object}
	}
	switch v.Kind {
	case trace.Array:
		elems := make([]trace.Value, len(v.Elems))
		for i, e := range v.Elems {
			elems[i] = in.inline(e, depth+1)
		}
		return trace.Value{Kind: trace.Array, Elems: elems}
	case trace.Object:
		if ref, ok := v.Lookup("$ref"); ok && ref.Kind == trace.String {
			return in.resolve(v, ref.Text, depth)
		}
		copied := trace.Value{Kind: trace.Object, Members: make([]trace.Member, 0, len(v.Members))}
		for _, m := range v.Members {
			if m.Name == "$defs" || m.Name == "definitions" || m.Name == "$id" || m.Name == "$schema" {
				continue
			}
			copied.Members = append(copied.Members, trace.Member{Name: m.Name, Value: in.inline(m.Value, depth+1)})
		}
		return copied
	}
	return v
}

// resolve puts the target of a reference in its place, with what stands beside
// the reference added to it.
func (in *inliner) resolve(v trace.Value, ref string, depth int) trace.Value {
	target, ok := in.definition.Resolve(ref)
	if !ok || target.Kind != trace.Object {
		in.failed = true
		return trace.Value{Kind: trace.Object}
	}
	whole := in.inline(target, depth+1)
	for _, m := range v.Members {
		if m.Name != "$ref" && !in.failed {
			whole = with(whole, m.Name, in.inline(m.Value, depth+1))
		}
	}
	return whole
}

// schemaOf returns a schema that the values fit.
func schemaOf(values merge.Values, depth int) trace.Value {
	schema := trace.Value{Kind: trace.Object}
	types := values.Types()
	switch len(types) {
	case 0:
		return schema
	case 1:
		schema = with(schema, "type", trace.NewString(types[0]))
	default:
		list := trace.Value{Kind: trace.Array}
		for _, t := range types {
			list.Elems = append(list.Elems, trace.NewString(t))
		}
		schema = with(schema, "type", list)
	}
	if depth == maxSchemaDepth {
		return schema
	}
	if elements, ok := values.Elements(); ok {
		schema = with(schema, "items", schemaOf(elements, depth+1))
	}
	if names, all := values.Members(); all && len(names) > 0 {
		var properties []trace.Member
		required := trace.Value{Kind: trace.Array}
		for _, name := range names {
			member, always := values.Member(name)
			properties = append(properties, trace.Member{Name: name, Value: schemaOf(member, depth+1)})
			if always {
				required.Elems = append(required.Elems, trace.NewString(name))
			}
		}
		schema = with(with(schema, "properties", trace.NewObject(properties...)), "required", required)
	}
	return schema
}

// ArgumentsSchema returns the JSON Schema of a tool's arguments that stands on
// its own, local references put in place; Null if no definition was recorded or
// it cannot be made to.
func ArgumentsSchema(d *merge.Definition) trace.Value {
	if d.Input.Kind != trace.Object {
		return trace.Value{}
	}
	in := inliner{definition: d}
	whole := in.inline(d.Input, 0)
	if in.failed {
		return trace.Value{}
	}
	return whole
}
