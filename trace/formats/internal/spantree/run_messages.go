package spantree

import (
	"bytes"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/internal/message"
)

// ReadMessages reads what was told to a model, or with answer what it said, in any
// of the forms in which the interfaces of models and LangChain have it. Text is a
// message.
func ReadMessages(b *build.Builder, raw trace.Raw, answer bool) []build.Item {
	d := messageReader{b: b, items: message.Responses{Builder: b}}
	text := InnerJSON(raw)
	if text == nil {
		if raw.IsEmpty() {
			return nil
		}
		return []build.Item{{Kind: speaker(answer), Value: raw}}
	}
	c := jsonscan.New(text)
	d.read(&c, answer, 0)
	return d.out
}

// speaker returns the kind of a text without a role.
func speaker(answer bool) build.ItemKind {
	if answer {
		return build.ItemText
	}
	return build.ItemUser
}

// InnerJSON returns the object or array that a piece is, or is the text of, nil if
// it is neither.
func InnerJSON(r trace.Raw) []byte {
	if r.IsZero() {
		return nil
	}
	data := r.Data
	if r.Form == trace.FormString || r.Form == trace.FormText {
		data = r.Content()
	}
	data = bytes.TrimSpace(data)
	if len(data) == 0 || data[0] != '{' && data[0] != '[' {
		return nil
	}
	if c := jsonscan.New(data); r.Form != trace.FormJSON && c.End() != nil {
		return nil
	}
	return data
}

// messageReader reads messages.
type messageReader struct {
	b     *build.Builder
	items message.Responses
	out   []build.Item
}

// MessageNesting is how deep messages are wrapped at most.
const MessageNesting = 8

// read reads messages, or what is around them.
func (d *messageReader) read(c *jsonscan.Cursor, answer bool, depth int) {
	if depth > MessageNesting {
		d.b.Anomaly(build.CodeMessageShape, 1)
		c.Skip()
		return
	}
	switch c.Kind() {
	case jsonscan.Array:
		for ok := c.Array(); ok && c.Element(); {
			d.read(c, answer, depth+1)
		}
	case jsonscan.String:
		if raw := build.ReadRaw(c); !raw.IsEmpty() {
			d.out = append(d.out, build.Item{Kind: speaker(answer), Value: raw})
		}
	case jsonscan.Object:
		if raw := c.Raw(); raw != nil {
			d.object(raw, answer, depth)
		}
	default:
		c.Skip()
	}
}

// object reads a message, or what is around messages.
func (d *messageReader) object(raw []byte, answer bool, depth int) {
	m := ReadAnyMessage(raw)
	switch {
	case m.isItem():
		in := jsonscan.New(raw)
		if it, ok := message.ReadResponsesItem(&in); ok {
			d.out = d.items.Append(d.out, &it, answer)
		}
	case len(m.Role) > 0:
		d.message(&m)
	case !m.Kwargs.IsZero() && m.Class != nil:
		inner := ReadAnyMessage(m.Kwargs.Data)
		inner.Role = m.Class
		d.message(&inner)
	case !m.generations.IsZero():
		d.first(m.generations, depth)
	case !m.choices.IsZero():
		d.first(m.choices, depth)
	case !m.wrapped.IsZero():
		if !answer && !m.instructions.IsEmpty() {
			d.out = append(d.out, build.Item{Kind: build.ItemSystem, Value: m.instructions})
		}
		in := jsonscan.New(m.wrapped.Data)
		d.read(&in, answer, depth+1)
	case answer && (!m.Content.IsZero() || len(m.calls) > 0):
		m.Role = []byte("assistant")
		d.message(&m)
	}
}

// first reads the first of several answers of a model.
func (d *messageReader) first(list trace.Raw, depth int) {
	c := jsonscan.New(list.Data)
	n := 0
	for ok := c.Array(); ok && c.Element(); {
		n++
		switch {
		case n > 1:
			d.b.Anomaly(build.CodeChoiceIgnored, 1)
		case c.Kind() == jsonscan.Array && depth < MessageNesting:
			d.first(trace.Raw{Data: c.Raw(), Form: trace.FormJSON}, depth+1)
		default:
			d.read(&c, true, depth+1)
		}
	}
}

// anyMessage is an object that is a message or holds one.
type anyMessage struct {
	Role, kind, Class            []byte
	name, CallID, Status         []byte
	Content, thought             trace.Raw
	calls                        []build.Item
	Kwargs, generations, choices trace.Raw
	wrapped, instructions        trace.Raw
}

// isItem reports whether the object is an item of the Responses interface.
func (m *anyMessage) isItem() bool {
	switch string(m.kind) {
	case "reasoning", "message", "item_reference":
		return true
	case "tool_call":
		return false
	}
	return bytes.HasSuffix(m.kind, []byte("_call")) || bytes.HasSuffix(m.kind, []byte("_call_output"))
}

// ReadAnyMessage reads an object.
func ReadAnyMessage(object []byte) (m anyMessage) {
	c := jsonscan.New(object)
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "role":
			m.Role, _ = c.Text()
		case "type":
			m.kind, _ = c.Text()
		case "id": // the class of a LangChain object, as a path
			for ok := c.Array(); ok && c.Element(); {
				class, _ := c.Text()
				m.Class = classRole(class)
			}
		case "name":
			m.name, _ = c.Text()
		case "tool_call_id":
			m.CallID, _ = c.Text()
		case "status":
			m.Status, _ = c.Text()
		case "content", "text":
			if m.Content.IsEmpty() {
				m.Content = build.ReadContent(&c)
			}
		case "reasoning_content", "reasoning":
			m.thought = build.ReadContent(&c)
		case "tool_calls":
			if calls := readAnyCalls(&c); len(calls) > 0 {
				m.calls = calls
			}
		case "additional_kwargs":
			for ok := c.Object(); ok && c.Member(); {
				if string(c.Key()) == "tool_calls" {
					if calls := readAnyCalls(&c); len(m.calls) == 0 {
						m.calls = calls
					}
				}
			}
		case "function_call":
			if c.Kind() == jsonscan.Object {
				m.calls = append(m.calls, readAnyCall(&c))
			}
		case "kwargs", "data":
			if c.Kind() == jsonscan.Object {
				m.Kwargs = build.ReadRaw(&c)
			}
		case "generations":
			m.generations = build.ReadRaw(&c)
		case "choices":
			m.choices = build.ReadRaw(&c)
		case "instructions", "system":
			m.instructions = build.ReadContent(&c)
		case "message", "messages", "output", "input", "prompts", "prompt":
			switch c.Kind() {
			case jsonscan.Object, jsonscan.Array, jsonscan.String:
				m.wrapped = build.ReadRaw(&c)
			}
		}
	}
	if role := classRole(m.kind); role != nil && len(m.Role) == 0 {
		if m.Kwargs.IsZero() {
			m.Role = role
		} else { // {"type": "human", "data": {...}}
			m.Class = role
		}
	}
	return m
}

// classRole returns the role of a message by its LangChain type or class, nil if
// it is none.
func classRole(class []byte) []byte {
	switch string(class) {
	case "human", "HumanMessage", "HumanMessageChunk":
		return []byte("user")
	case "ai", "AIMessage", "AIMessageChunk":
		return []byte("assistant")
	case "system", "SystemMessage":
		return []byte("system")
	case "tool", "ToolMessage", "FunctionMessage":
		return []byte("tool")
	}
	return nil
}

// readAnyCalls reads a list of tool calls.
func readAnyCalls(c *jsonscan.Cursor) (calls []build.Item) {
	for ok := c.Array(); ok && c.Element(); {
		if c.Kind() == jsonscan.Object {
			calls = append(calls, readAnyCall(c))
		}
	}
	return calls
}

// readAnyCall reads a tool call, flat or with a function in it.
func readAnyCall(c *jsonscan.Cursor) build.Item {
	it := build.Item{Kind: build.ItemCall}
	members := func(key string) {
		switch key {
		case "id":
			it.ID, _ = c.Text()
		case "name":
			it.Tool, _ = c.Text()
		case "args", "arguments", "input":
			it.Value = build.ReadArgs(c)
		}
	}
	for ok := c.Object(); ok && c.Member(); {
		key := string(c.Key())
		if key != "function" {
			members(key)
			continue
		}
		for ok := c.Object(); ok && c.Member(); {
			members(string(c.Key()))
		}
	}
	return it
}

// message adds a message.
func (d *messageReader) message(m *anyMessage) {
	role := m.Role
	if known := classRole(role); known != nil {
		role = known
	}
	switch string(role) {
	case "user":
		results, text := d.blocks(m.Content)
		d.out = append(d.out, results...)
		if text || len(results) == 0 {
			d.out = append(d.out, build.Item{Kind: build.ItemUser, Value: m.Content})
		}
	case "system", "developer":
		d.out = append(d.out, build.Item{Kind: build.ItemSystem, Value: m.Content})
	case "assistant", "model":
		calls, _ := d.blocks(m.Content)
		d.out = append(d.out, build.Item{Kind: build.ItemText, Value: m.Content, Opens: true})
		if !m.thought.IsEmpty() {
			d.out = append(d.out, build.Item{Kind: build.ItemThought, Value: m.thought})
		}
		if len(m.calls) > 0 { // LangChain has its own beside Anthropic's blocks
			calls = m.calls
		}
		d.out = append(d.out, calls...)
	case "tool", "function":
		d.result(m)
	default:
		d.b.Anomaly(build.CodeMessageRole, 1)
	}
}

// result adds the result of a call.
func (d *messageReader) result(m *anyMessage) {
	if m.isDefinition() {
		return
	}
	it := build.Item{Kind: build.ItemResult, ID: m.CallID, Tool: m.name, Value: AsResult(m.Content)}
	switch string(m.Status) {
	case "success":
		it.Status = trace.StatusOK
	case "error":
		it.Status = trace.StatusFailed
	}
	d.out = append(d.out, it)
}

// isDefinition reports whether the message is a tool definition, which Langfuse
// puts among the messages.
func (m *anyMessage) isDefinition() bool {
	return len(m.CallID) == 0 && m.Content.Form == trace.FormJSON && build.HasMember(m.Content.Data, "function")
}

// AsResult returns a content as a result: a list without texts is one of values.
func AsResult(r trace.Raw) trace.Raw {
	if r.Form == trace.FormParts && r.TextLen() == 0 {
		r.Form = trace.FormJSON
	}
	return r
}

// blocks returns the calls and results that stand in the content of a message, as
// Anthropic has them; text says whether it has anything else.
func (d *messageReader) blocks(content trace.Raw) (items []build.Item, text bool) {
	if content.Form != trace.FormParts {
		return nil, !content.IsEmpty()
	}
	a := message.Anthropic{Builder: d.b}
	c := jsonscan.New(content.Data)
	said, _ := a.Content(&c)
	for _, block := range a.Blocks {
		it := build.Item{Kind: build.ItemCall, ID: block.ID, Tool: block.Name, Value: block.Value}
		if block.Result {
			it.Kind, it.Status = build.ItemResult, trace.StatusOK
			if block.Failed {
				it.Status = trace.StatusFailed
			}
		}
		items = append(items, it)
	}
	return items, !said.IsZero() || len(items) == 0
}

// ReadRunTools reads the definitions beside or among the messages of an input.
func ReadRunTools(b *build.Builder, input trace.Raw) (tools []trace.ToolDef) {
	c := jsonscan.New(InnerJSON(input))
	if c.Kind() == jsonscan.Object {
		for ok := c.Object(); ok && c.Member(); {
			if string(c.Key()) == "tools" {
				tools = message.ReadResponsesTools(b, &c)
			}
		}
		return tools
	}
	for ok := c.Array(); ok && c.Element(); {
		raw := c.Raw()
		if len(raw) == 0 || raw[0] != '{' {
			continue
		}
		if m := ReadAnyMessage(raw); string(m.Role) == "tool" && m.isDefinition() {
			in := jsonscan.New(m.Content.Data)
			if in.Object() {
				tools = b.AppendTool(tools, &in, nil)
			}
		}
	}
	return tools
}
