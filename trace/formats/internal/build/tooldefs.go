package build

import (
	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
)

// ReadTools reads an array of tool definitions. Formats write one as
// {"type":"function","function":{...}}, as {"type":"custom","custom":{...}}, or as
// the inner object alone; the schemas have a name in each of the common styles.
func (b *Builder) ReadTools(c *jsonscan.Cursor) []trace.ToolDef {
	if b.Memo == nil {
		return b.ReadNewTools(c)
	}
	if tools, ok := b.Memo.Recall(c); ok {
		return tools
	}
	start, anomalies, lone := c.Offset(), b.Trajectory.Anomalies.Total, c.LoneSurrogates()
	tools := b.ReadNewTools(c)
	if c.Err() == nil && b.Trajectory.Anomalies.Total == anomalies && c.LoneSurrogates() == lone {
		b.Memo.Keep(c.Since(start), New(0).ReadNewTools)
	}
	return tools
}

func (b *Builder) ReadNewTools(c *jsonscan.Cursor) []trace.ToolDef {
	var tools []trace.ToolDef
	for ok := c.Array(); ok && c.Element(); {
		if !c.Object() {
			b.Anomaly(CodeMessageShape, 1)
			continue
		}
		tools = b.AppendTool(tools, c, nil)
	}
	return tools
}

// AppendTool reads the members of a tool definition, which has a name of its own
// or the given one, and appends it.
func (b *Builder) AppendTool(tools []trace.ToolDef, c *jsonscan.Cursor, name []byte) []trace.ToolDef {
	var tool trace.ToolDef
	b.readTool(c, &tool, &name)
	if len(name) == 0 {
		b.Anomaly(CodeCallUnnamed, 1)
		return tools
	}
	tool.Name = b.Names.Intern(name)
	return append(tools, tool)
}

func (b *Builder) readTool(c *jsonscan.Cursor, tool *trace.ToolDef, name *[]byte) {
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
			tool.Description = ReadRaw(c)
		case "parameters", "input_schema", "inputSchema":
			tool.Input = ReadRaw(c)
		case "output_schema", "outputSchema":
			tool.Output = ReadRaw(c)
		case "annotations":
			tool.Annotations = ReadRaw(c)
		case "extra":
			EachOwn(c, func(key string) {
				switch key {
				case "output":
					tool.Output = ReadRaw(c)
				case "annotations":
					tool.Annotations = ReadRaw(c)
				}
			})
		}
	}
}
