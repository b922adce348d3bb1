package trace

import (
	"bytes"

	"github.com/awo-dev/awo/internal/jsonscan"
)

// readMessages reads what was told to a model, or with answer what it said, in any
// of the forms in which the interfaces of models and LangChain have it. Text is a
// message.
func readMessages(b *builder, raw Raw, answer bool) []item {
	d := messageReader{b: b, items: responsesReader{b: b}}
	text := innerJSON(raw)
	if text == nil {
		if raw.isEmpty() {
			return nil
		}
		return []item{{kind: speaker(answer), value: raw}}
	}
	c := jsonscan.New(text)
	d.read(&c, answer, 0)
	return d.out
}

// speaker returns the kind of a text without a role.
func speaker(answer bool) itemKind {
	if answer {
		return itemText
	}
	return itemUser
}

// innerJSON returns the object or array that a piece is, or is the text of, nil if
// it is neither.
func innerJSON(r Raw) []byte {
	if r.IsZero() {
		return nil
	}
	data := r.Data
	if r.Form == FormString || r.Form == FormText {
		data = r.content()
	}
	data = bytes.TrimSpace(data)
	if len(data) == 0 || data[0] != '{' && data[0] != '[' {
		return nil
	}
	if c := jsonscan.New(data); r.Form != FormJSON && c.End() != nil {
		return nil
	}
	return data
}

// messageReader reads messages.
type messageReader struct {
	b     *builder
	items responsesReader
	out   []item
}

// messageNesting is how deep messages are wrapped at most.
const messageNesting = 8

// read reads messages, or what is around them.
func (d *messageReader) read(c *jsonscan.Cursor, answer bool, depth int) {
	if depth > messageNesting {
		d.b.odd(CodeMessageShape, 1)
		c.Skip()
		return
	}
	switch c.Kind() {
	case jsonscan.Array:
		for ok := c.Array(); ok && c.Element(); {
			d.read(c, answer, depth+1)
		}
	case jsonscan.String:
		if raw := rawValue(c); !raw.isEmpty() {
			d.out = append(d.out, item{kind: speaker(answer), value: raw})
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
	m := readAnyMessage(raw)
	switch {
	case m.isItem():
		in := jsonscan.New(raw)
		if it, ok := readResponsesItem(&in); ok {
			d.out = d.items.append(d.out, &it, answer)
		}
	case len(m.role) > 0:
		d.message(&m)
	case !m.kwargs.IsZero() && m.class != nil:
		inner := readAnyMessage(m.kwargs.Data)
		inner.role = m.class
		d.message(&inner)
	case !m.generations.IsZero():
		d.first(m.generations, depth)
	case !m.choices.IsZero():
		d.first(m.choices, depth)
	case !m.wrapped.IsZero():
		if !answer && !m.instructions.isEmpty() {
			d.out = append(d.out, item{kind: itemSystem, value: m.instructions})
		}
		in := jsonscan.New(m.wrapped.Data)
		d.read(&in, answer, depth+1)
	case answer && (!m.content.IsZero() || len(m.calls) > 0):
		m.role = []byte("assistant")
		d.message(&m)
	}
}

// first reads the first of several answers of a model.
func (d *messageReader) first(list Raw, depth int) {
	c := jsonscan.New(list.Data)
	n := 0
	for ok := c.Array(); ok && c.Element(); {
		n++
		switch {
		case n > 1:
			d.b.odd(CodeChoiceIgnored, 1)
		case c.Kind() == jsonscan.Array && depth < messageNesting:
			d.first(Raw{Data: c.Raw(), Form: FormJSON}, depth+1)
		default:
			d.read(&c, true, depth+1)
		}
	}
}

// anyMessage is an object that is a message or holds one.
type anyMessage struct {
	role, kind, class            []byte
	name, callID, status         []byte
	content, thought             Raw
	calls                        []item
	kwargs, generations, choices Raw
	wrapped, instructions        Raw
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

// readAnyMessage reads an object.
func readAnyMessage(object []byte) (m anyMessage) {
	c := jsonscan.New(object)
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "role":
			m.role, _ = c.Text()
		case "type":
			m.kind, _ = c.Text()
		case "id": // the class of a LangChain object, as a path
			for ok := c.Array(); ok && c.Element(); {
				class, _ := c.Text()
				m.class = classRole(class)
			}
		case "name":
			m.name, _ = c.Text()
		case "tool_call_id":
			m.callID, _ = c.Text()
		case "status":
			m.status, _ = c.Text()
		case "content", "text":
			if m.content.isEmpty() {
				m.content = rawContent(&c)
			}
		case "reasoning_content", "reasoning":
			m.thought = rawContent(&c)
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
				m.kwargs = rawValue(&c)
			}
		case "generations":
			m.generations = rawValue(&c)
		case "choices":
			m.choices = rawValue(&c)
		case "instructions", "system":
			m.instructions = rawContent(&c)
		case "message", "messages", "output", "input", "prompts", "prompt":
			switch c.Kind() {
			case jsonscan.Object, jsonscan.Array, jsonscan.String:
				m.wrapped = rawValue(&c)
			}
		}
	}
	if role := classRole(m.kind); role != nil && len(m.role) == 0 {
		if m.kwargs.IsZero() {
			m.role = role
		} else { // {"type": "human", "data": {...}}
			m.class = role
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
func readAnyCalls(c *jsonscan.Cursor) (calls []item) {
	for ok := c.Array(); ok && c.Element(); {
		if c.Kind() == jsonscan.Object {
			calls = append(calls, readAnyCall(c))
		}
	}
	return calls
}

// readAnyCall reads a tool call, flat or with a function in it.
func readAnyCall(c *jsonscan.Cursor) item {
	it := item{kind: itemCall}
	members := func(key string) {
		switch key {
		case "id":
			it.id, _ = c.Text()
		case "name":
			it.tool, _ = c.Text()
		case "args", "arguments", "input":
			it.value = rawArgs(c)
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
	role := m.role
	if known := classRole(role); known != nil {
		role = known
	}
	switch string(role) {
	case "user":
		results, text := d.blocks(m.content)
		d.out = append(d.out, results...)
		if text || len(results) == 0 {
			d.out = append(d.out, item{kind: itemUser, value: m.content})
		}
	case "system", "developer":
		d.out = append(d.out, item{kind: itemSystem, value: m.content})
	case "assistant", "model":
		calls, _ := d.blocks(m.content)
		d.out = append(d.out, item{kind: itemText, value: m.content, opens: true})
		if !m.thought.isEmpty() {
			d.out = append(d.out, item{kind: itemThought, value: m.thought})
		}
		if len(m.calls) > 0 { // LangChain has its own beside Anthropic's blocks
			calls = m.calls
		}
		d.out = append(d.out, calls...)
	case "tool", "function":
		d.result(m)
	default:
		d.b.odd(CodeMessageRole, 1)
	}
}

// result adds the result of a call.
func (d *messageReader) result(m *anyMessage) {
	if m.isDefinition() {
		return
	}
	it := item{kind: itemResult, id: m.callID, tool: m.name, value: asResult(m.content)}
	switch string(m.status) {
	case "success":
		it.status = StatusOK
	case "error":
		it.status = StatusFailed
	}
	d.out = append(d.out, it)
}

// isDefinition reports whether the message is a tool definition, which Langfuse
// puts among the messages.
func (m *anyMessage) isDefinition() bool {
	return len(m.callID) == 0 && m.content.Form == FormJSON && hasMember(m.content.Data, "function")
}

// asResult returns a content as a result: a list without texts is one of values.
func asResult(r Raw) Raw {
	if r.Form == FormParts && r.TextLen() == 0 {
		r.Form = FormJSON
	}
	return r
}

// blocks returns the calls and results that stand in the content of a message, as
// Anthropic has them; text says whether it has anything else.
func (d *messageReader) blocks(content Raw) (items []item, text bool) {
	if content.Form != FormParts {
		return nil, !content.isEmpty()
	}
	a := anthropicDecoder{b: d.b}
	c := jsonscan.New(content.Data)
	said, _ := a.content(&c)
	for _, block := range a.blocks {
		it := item{kind: itemCall, id: block.id, tool: block.name, value: block.value}
		if block.result {
			it.kind, it.status = itemResult, StatusOK
			if block.failed {
				it.status = StatusFailed
			}
		}
		items = append(items, it)
	}
	return items, !said.IsZero() || len(items) == 0
}

// readRunTools reads the definitions beside or among the messages of an input.
func readRunTools(b *builder, input Raw) (tools []ToolDef) {
	c := jsonscan.New(innerJSON(input))
	if c.Kind() == jsonscan.Object {
		for ok := c.Object(); ok && c.Member(); {
			if string(c.Key()) == "tools" {
				tools = readResponsesTools(b, &c)
			}
		}
		return tools
	}
	for ok := c.Array(); ok && c.Element(); {
		raw := c.Raw()
		if len(raw) == 0 || raw[0] != '{' {
			continue
		}
		if m := readAnyMessage(raw); string(m.role) == "tool" && m.isDefinition() {
			in := jsonscan.New(m.content.Data)
			if in.Object() {
				tools = b.appendTool(tools, &in, nil)
			}
		}
	}
	return tools
}
