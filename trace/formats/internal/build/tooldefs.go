package build

import (
	"bytes"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
)

// ReadTools reads the list of tool definitions that c stands on, which records repeat.
func (b *Builder) ReadTools(c *jsonscan.Cursor) []trace.ToolDef {
	if b.Memo == nil {
		return b.definitions(c.Raw(), true)
	}
	if tools, ok := b.Memo.Recall(c); ok {
		return tools
	}
	anomalies, lone := b.Trajectory.Anomalies.Total, c.LoneSurrogates()
	list := c.Raw()
	tools := b.definitions(list, true)
	if c.Err() == nil && b.Trajectory.Anomalies.Total == anomalies && c.LoneSurrogates() == lone {
		b.Memo.Keep(list, func(list []byte) []trace.ToolDef { return New(0).definitions(list, true) })
	}
	return tools
}

// definitionNesting is how deep a definition stands in others at most.
const definitionNesting = 8

// Definitions reads a list of tool definitions in any form: those of the
// interfaces, flat or inside of a "function"; Google's, several under
// "function_declarations"; those that libraries print as JSON text, one an element;
// OpenInference's, under "tool.json_schema". The list may be an object from names.
func (b *Builder) Definitions(list []byte) []trace.ToolDef { return b.definitions(list, false) }

// definitions is Definitions, where exact keeps schemas that are texts as they are.
func (b *Builder) definitions(list []byte, exact bool) (tools []trace.ToolDef) {
	c := jsonscan.New(list)
	for ok := c.Object(); ok && c.Member(); {
		if name := bytes.Clone(c.Key()); c.Kind() == jsonscan.Object {
			tools = b.appendDefinition(tools, c.Raw(), definition{name: name, exact: exact})
		}
	}
	for ok := c.Array(); ok && c.Element(); {
		switch c.Kind() {
		case jsonscan.String:
			if text := InnerJSON(ReadRaw(&c)); text != nil && text[0] == '{' {
				tools = b.appendDefinition(tools, text, definition{exact: exact})
			}
		case jsonscan.Object:
			tools = b.appendDefinition(tools, c.Raw(), definition{exact: exact})
		default:
			b.Anomaly(CodeMessageShape, 1)
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
	exact      bool
}

// appendDefinition appends the tools of an object, of which d is known before.
func (b *Builder) appendDefinition(tools []trace.ToolDef, object []byte, d definition) []trace.ToolDef {
	d.read(object)
	switch {
	case d.several != nil:
		return append(tools, b.definitions(d.several, d.exact)...)
	case string(d.kind) == "mcp": // its tools are known once the server has told them
		return tools
	case string(d.kind) == "namespace":
		return append(tools, b.namespace(object)...)
	case len(d.name) == 0 && len(d.kind) > 0 && string(d.kind) != "function" && string(d.kind) != "object":
		d.name = d.kind // a tool of the interface itself
	case len(d.name) == 0:
		b.Anomaly(CodeCallUnnamed, 1)
		return tools
	}
	d.tool.Name = b.Names.Intern(d.name)
	return append(tools, d.tool)
}

func (d *definition) read(object []byte) {
	schema := func(c *jsonscan.Cursor) trace.Raw {
		raw := ReadRaw(c)
		if d.exact && raw.Form == trace.FormString {
			return raw
		}
		if text := InnerJSON(raw); text != nil {
			if inner := MemberRaw(text, "json"); len(inner) > 0 && inner[0] == '{' && !HasMember(text, "type") { // Bedrock
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
			if text := InnerJSON(ReadRaw(&c)); text != nil && text[0] == '{' && d.nested < definitionNesting {
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
			d.tool.Description = ReadRaw(&c)
		case "parameters", "input_schema", "inputSchema", "parametersJsonSchema", "parameters_json_schema", "tool.parameters", "args_schema", "schema":
			if s := schema(&c); !s.IsZero() {
				d.tool.Input = s
			}
		case "output_schema", "outputSchema", "response", "responseJsonSchema", "response_json_schema", "return_schema":
			d.tool.Output = schema(&c)
		case "annotations":
			d.tool.Annotations = ReadRaw(&c)
		case "defer_loading", "deferLoading":
			d.tool.Deferred, _ = c.Bool()
		case "extra":
			EachOwn(&c, func(key string) {
				switch key {
				case "output":
					d.tool.Output = ReadRaw(&c)
				case "annotations":
					d.tool.Annotations = ReadRaw(&c)
				case "deferred":
					d.tool.Deferred, _ = c.Bool()
				}
			})
		}
	}
}

// namespace returns the tools of a namespace.
func (b *Builder) namespace(object []byte) []trace.ToolDef {
	space := string(bytes.TrimSuffix(MemberText(object, "name"), []byte("__")))
	tools := b.Definitions(MemberRaw(object, "tools"))
	for i := range tools {
		tools[i].Name = trace.Intern(space + "__" + tools[i].Name.Value())
	}
	return tools
}
