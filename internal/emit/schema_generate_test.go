package emit_test

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/bind"
	"github.com/awo-dev/awo/metatool/candidate"
	"github.com/awo-dev/awo/trace"
)

// anySchema is a schema as a tool may have it, or something that is none.
func anySchema(depth int) *rapid.Generator[trace.Value] {
	return rapid.Custom(func(t *rapid.T) trace.Value {
		if rapid.IntRange(0, 12).Draw(t, "odd") == 0 {
			return anyValue(2).Draw(t, "no schema")
		}
		var out []trace.Member
		set := func(name string, v trace.Value) { out = append(out, trace.Member{Name: name, Value: v}) }
		kinds := []string{"string", "integer", "number", "boolean", "null", "array", "object", "object", "odd"}
		switch rapid.IntRange(0, 5).Draw(t, "type") {
		case 0:
		case 1:
			set("type", anyTexts(rapid.SliceOfN(rapid.SampledFrom(kinds), 0, 3).Draw(t, "types")))
		default:
			set("type", trace.NewString(rapid.SampledFrom(kinds).Draw(t, "type")))
		}
		if rapid.IntRange(0, 2).Draw(t, "described") == 0 {
			set("description", rapid.OneOf(rapid.Map(anyText(), trace.NewString), anyValue(1)).Draw(t, "description"))
		}
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{
			"enum", "const", "default", "format", "minimum", "maxLength", "minItems", "uniqueItems", "multipleOf", "pattern", "additionalProperties", "not", "$ref", "title",
			"examples", "if", "$defs", "propertyNames", "required",
		}), 0, 2, rapid.ID).Draw(t, "keywords") {
			switch name {
			case "enum":
				set(name, trace.Value{Kind: trace.Array, Elems: rapid.SliceOfN(anyValue(1), 0, 4).Draw(t, "enum")})
			default:
				set(name, rapid.OneOf(anyValue(2), rapid.SampledFrom([]trace.Value{parsed("2"), parsed("-1"), parsed("0"), parsed("1e400"), parsed("false")})).Draw(t, name))
			}
		}
		if depth > 0 {
			switch rapid.IntRange(0, 3).Draw(t, "holds") {
			case 0:
				var members []trace.Member
				var required []string
				for _, name := range rapid.SliceOfNDistinct(rapid.OneOf(rapid.SampledFrom([]string{"a", "b", "c d"}), anyText()), 0, 3, rapid.ID).Draw(t, "names") {
					members = append(members, trace.Member{Name: name, Value: anySchema(depth-1).Draw(t, "member")})
					if rapid.IntRange(0, 3).Draw(t, "required") > 0 {
						required = append(required, name)
					}
				}
				set("properties", trace.NewObject(members...))
				set("required", anyTexts(required))
			case 1:
				set("items", anySchema(depth-1).Draw(t, "items"))
			case 2:
				set(rapid.SampledFrom([]string{"anyOf", "oneOf", "allOf"}).Draw(t, "of"), trace.Value{Kind: trace.Array, Elems: rapid.SliceOfN(anySchema(depth-1), 0, 3).Draw(t, "branches")})
			}
		}
		return trace.NewObject(out...)
	})
}

func anyTexts(list []string) trace.Value {
	out := trace.Value{Kind: trace.Array}
	for _, s := range list {
		out.Elems = append(out.Elems, trace.NewString(s))
	}
	return out
}

// schemaTool is a meta-tool with inputs of these schemas, every other one required.
func schemaTool(schemas ...trace.Value) *bind.Definition {
	d := &bind.Definition{Candidate: &candidate.Candidate{}}
	d.Name, d.Description = "tool", "Calls "+strings.Repeat("things ", 200)+"."
	d.Steps = []metatool.Step{{Tool: "t"}}
	for i, s := range schemas {
		d.Inputs = append(d.Inputs, metatool.Input{Name: fmt.Sprintf("in_%d", i), Schema: s, Required: i%2 == 0})
	}
	return d
}
