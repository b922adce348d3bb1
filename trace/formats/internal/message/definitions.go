package message

import (
	"bytes"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// DefinitionsIn reads a list of tool definitions in any form: those of the
// interfaces, flat or inside of a "function"; Google's, several under
// "function_declarations"; those that libraries print as JSON text, one an element;
// OpenInference's, under "tool.json_schema". The list may be an object from names.
func DefinitionsIn(b *build.Builder, list []byte) (tools []trace.ToolDef) {
	c := jsonscan.New(list)
	for ok := c.Object(); ok && c.Member(); {
		if name := bytes.Clone(c.Key()); c.Kind() == jsonscan.Object {
			tools = appendDefinition(b, tools, c.Raw(), name)
		}
	}
	for ok := c.Array(); ok && c.Element(); {
		switch c.Kind() {
		case jsonscan.String:
			if text := build.InnerJSON(build.ReadRaw(&c)); text != nil && text[0] == '{' {
				tools = appendDefinition(b, tools, text, nil)
			}
		case jsonscan.Object:
			tools = appendDefinition(b, tools, c.Raw(), nil)
		default:
			b.Anomaly(build.CodeMessageShape, 1)
		}
	}
	return tools
}

// definition is a tool definition as far as it was read.
type definition struct {
	tool       trace.ToolDef
	name, kind []byte
	several    []byte // definitions in it
	nested     int
}

func appendDefinition(b *build.Builder, tools []trace.ToolDef, object, name []byte) []trace.ToolDef {
	d := definition{name: name}
	d.read(object)
	switch {
	case d.several != nil:
		return append(tools, DefinitionsIn(b, d.several)...)
	case string(d.kind) == "mcp": // its tools are known once the server has told them
		return tools
	case string(d.kind) == "namespace":
		return append(tools, readNamespace(b, object)...)
	case len(d.name) == 0 && len(d.kind) > 0 && string(d.kind) != "function" && string(d.kind) != "object":
		d.name = d.kind // a tool of the interface itself
	case len(d.name) == 0:
		b.Anomaly(build.CodeCallUnnamed, 1)
		return tools
	}
	d.tool.Name = b.Names.Intern(d.name)
	return append(tools, d.tool)
}

func (d *definition) read(object []byte) {
	schema := func(c *jsonscan.Cursor) trace.Raw {
		raw := build.ReadRaw(c)
		if text := build.InnerJSON(raw); text != nil {
			if inner := build.MemberRaw(text, "json"); len(inner) > 0 && inner[0] == '{' && !build.HasMember(text, "type") { // Bedrock
				text = inner
			}
			return trace.JSONOf(text)
		}
		return raw
	}
	c := jsonscan.New(object)
	for ok := c.Object(); ok && c.Member(); {
		switch key := string(c.Key()); key {
		case "function", "custom", "tool", "toolSpec", "json_schema", "tool.json_schema":
			if text := build.InnerJSON(build.ReadRaw(&c)); text != nil && text[0] == '{' && d.nested < messageNesting {
				d.nested++
				d.read(text)
				d.nested--
			}
		case "functionDeclarations", "function_declarations":
			if c.Kind() == jsonscan.Array && d.nested == 0 {
				d.several = c.Raw()
			}
		case "name", "tool.name", "tool_name":
			if text, ok := c.Text(); ok {
				d.name = text
			}
		case "type":
			d.kind, _ = c.Text()
		case "description", "tool.description":
			d.tool.Description = build.ReadRaw(&c)
		case "parameters", "input_schema", "inputSchema", "parametersJsonSchema", "parameters_json_schema", "tool.parameters", "args_schema", "schema":
			if s := schema(&c); !s.IsZero() {
				d.tool.Input = s
			}
		case "output_schema", "outputSchema", "response", "responseJsonSchema", "response_json_schema", "return_schema":
			d.tool.Output = schema(&c)
		case "annotations":
			d.tool.Annotations = build.ReadRaw(&c)
		}
	}
}
