package trace

import (
	"bytes"
	"slices"

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
		b.memo.keep(c.Since(start))
	}
	return tools
}

// toolMemo is lists of definitions that were read before, the latest first. Runs
// of a few agents repeat a few lists, and often they are the larger part of a
// record; trajectories with the same list share it. A memo is used by one worker
// at a time.
type toolMemo struct {
	lists [memoLists]toolList
	used  int
}

// toolList is a list of definitions with its text, which it points into.
type toolList struct {
	text  []byte
	tools []ToolDef
}

// The limits of a toolMemo, so that it is bounded whatever comes.
const (
	memoLists = 48
	memoText  = 256 << 10
)

// recall passes over a list that is known, and returns it.
func (m *toolMemo) recall(c *jsonscan.Cursor) ([]ToolDef, bool) {
	for i := range m.used {
		if !c.SkipSame(m.lists[i].text) {
			continue
		}
		found := m.lists[i]
		copy(m.lists[1:i+1], m.lists[:i])
		m.lists[0] = found
		return found.tools, true
	}
	return nil, false
}

// keep remembers a list that was read without any oddity. It reads a copy, since
// the list would otherwise keep the whole block that it was found in.
func (m *toolMemo) keep(text []byte) {
	if len(text) > memoText {
		return
	}
	text = bytes.Clone(text)
	c := jsonscan.New(text)
	tools := newBuilder(0).readNewTools(&c)
	m.used = min(m.used+1, memoLists)
	copy(m.lists[1:m.used], m.lists[:m.used-1])
	m.lists[0] = toolList{text: text, tools: slices.Clip(tools)}
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

// eachOwn enters the member "awo" of the object extra that c stands on, and calls
// read at the value of each of its members.
func eachOwn(c *jsonscan.Cursor, read func(key string)) {
	for ok := c.Object(); ok && c.Member(); {
		if string(c.Key()) != "awo" {
			continue
		}
		for ok := c.Object(); ok && c.Member(); {
			read(string(c.Key()))
		}
	}
}
