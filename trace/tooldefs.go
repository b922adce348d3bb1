package trace

import (
	"github.com/awo-dev/awo/internal/jsonscan"
)

// readTools reads an array of tool definitions. Formats write one as
// {"type":"function","function":{...}}, as {"type":"custom","custom":{...}}, or as
// the inner object alone; the schemas have a name in each of the common styles.
func (b *builder) readTools(c *jsonscan.Cursor) []ToolDef {
	if b.memo == nil {
		return b.readNewTools(c)
	}
	if tools, ok := b.memo.recall(c); ok {
		return tools
	}
	start, odd, lone := c.Offset(), b.t.Oddities.Total, c.LoneSurrogates()
	tools := b.readNewTools(c)
	if c.Err() == nil && b.t.Oddities.Total == odd && c.LoneSurrogates() == lone {
		b.memo.keep(c.Since(start), newBuilder(0).readNewTools)
	}
	return tools
}

func (b *builder) readNewTools(c *jsonscan.Cursor) []ToolDef {
	var tools []ToolDef
	for ok := c.Array(); ok && c.Element(); {
		if !c.Object() {
			b.odd(CodeMessageShape, 1)
			continue
		}
		tools = b.appendTool(tools, c, nil)
	}
	return tools
}

// appendTool reads the members of a tool definition, which has a name of its own
// or the given one, and appends it.
func (b *builder) appendTool(tools []ToolDef, c *jsonscan.Cursor, name []byte) []ToolDef {
	var tool ToolDef
	b.readTool(c, &tool, &name)
	if len(name) == 0 {
		b.odd(CodeCallUnnamed, 1)
		return tools
	}
	tool.Name = b.names.intern(name)
	return append(tools, tool)
}

func (b *builder) readTool(c *jsonscan.Cursor, tool *ToolDef, name *[]byte) {
	for c.Member() {
		switch string(c.Key()) {
		case "function", "custom":
			if c.Object() {
				b.readTool(c, tool, name)
			}
		case "name":
			if text, ok := c.Text(); ok {
				*name = text
			}
		case "description":
			tool.Description = rawValue(c)
		case "parameters", "input_schema", "inputSchema":
			tool.Input = rawValue(c)
		case "output_schema", "outputSchema":
			tool.Output = rawValue(c)
		case "annotations":
			tool.Annotations = rawValue(c)
		case "extra":
			eachOwn(c, func(key string) {
				switch key {
				case "output":
					tool.Output = rawValue(c)
				case "annotations":
					tool.Annotations = rawValue(c)
				}
			})
		}
	}
}
