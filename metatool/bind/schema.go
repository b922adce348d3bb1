package bind

import (
	"fmt"
	"slices"
	"strings"

	"github.com/awo-dev/awo/internal/jsonschema"
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
	return describedAs(schema, fmt.Sprintf("For call %d, %s.", step+1, printable(tool, maxName)))
}

// describedAs adds a sentence to the description of a schema.
func describedAs(schema trace.Value, text string) trace.Value {
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
		if out, whole := jsonschema.Inline(tool.Definition.Input, own); whole {
			return out
		}
	}
	if values, ok := tool.Values(argument); ok {
		return schemaOf(values, 0)
	}
	return trace.Value{Kind: trace.Object}
}

// maxSchemaDepth bounds what is inferred from values.
const maxSchemaDepth = 20

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
	out, whole := jsonschema.Inline(d.Input, d.Input)
	if !whole {
		return trace.Value{}
	}
	return out
}
