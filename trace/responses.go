package trace

import (
	"bytes"
	"time"

	"github.com/awo-dev/awo/internal/jsonscan"
)

// responsesItem is an item of OpenAI's Responses interface with what is read of it.
type responsesItem struct {
	kind, role, id, callID []byte
	name, server, space    []byte
	status                 []byte
	content, summary       Raw
	args, input, action    Raw
	output, failure        Raw
	byProgram              bool
	exit                   int64 // of a shell command
	exited                 bool
}

// readResponsesItem reads an item. It returns false if there is none.
func readResponsesItem(c *jsonscan.Cursor) (m responsesItem, ok bool) {
	if !c.Object() {
		return m, false
	}
	for c.Member() {
		switch string(c.Key()) {
		case "type":
			m.kind, _ = c.Text()
		case "role":
			m.role, _ = c.Text()
		case "id":
			m.id, _ = c.Text()
		case "call_id":
			m.callID, _ = c.Text()
		case "name":
			m.name, _ = c.Text()
		case "namespace":
			m.space, _ = c.Text()
		case "server_label":
			m.server, _ = c.Text()
		case "status":
			m.status, _ = c.Text()
		case "content":
			m.content = rawContent(c)
		case "summary":
			m.summary = rawContent(c)
		case "arguments":
			m.args = rawArgs(c)
		case "input":
			m.input = rawArgs(c)
		case "action", "operation", "queries", "code":
			m.action = rawArgs(c)
		case "output", "outputs", "results", "result", "tools":
			m.readOutput(c)
		case "error":
			m.failure = rawValue(c)
		case "caller":
			for ok := c.Object(); ok && c.Member(); {
				if string(c.Key()) == "type" {
					caller, _ := c.Text()
					m.byProgram = len(caller) > 0 && string(caller) != "direct"
				}
			}
		}
	}
	return m, true
}

// readOutput reads the output of a tool: text, content parts, or what a shell
// command left behind.
func (m *responsesItem) readOutput(c *jsonscan.Cursor) {
	m.output = rawContent(c)
	if m.output.Form != FormParts {
		return
	}
	texts := 0
	in := jsonscan.New(m.output.Data)
	for ok := in.Array(); ok && in.Element(); {
		for ok := in.Object(); ok && in.Member(); {
			switch string(in.Key()) {
			case "type":
				switch kind, _ := in.Text(); string(kind) {
				case "input_text", "output_text", "text", "input_image", "input_file", "refusal":
					texts++
				}
			case "outcome":
				for ok := in.Object(); ok && in.Member(); {
					if string(in.Key()) == "exit_code" {
						if code, ok := in.Int(); ok {
							m.exited = true
							m.exit = max(m.exit, max(code, -code))
						}
					}
				}
			}
		}
	}
	if texts == 0 { // a list of something else
		m.output.Form = FormJSON
	}
}

// responsesReader reads items, and knows those that may be referred to.
type responsesReader struct {
	b     *builder // where oddities are counted
	items map[string][]item
}

// list reads a list of items, or the text that a request may have instead.
// answer says that they are the output of the model.
func (d *responsesReader) list(c *jsonscan.Cursor, answer bool) []item {
	if c.Kind() == jsonscan.String {
		return []item{{kind: itemUser, value: rawValue(c)}}
	}
	var items []item
	for ok := c.Array(); ok && c.Element(); {
		m, ok := readResponsesItem(c)
		if !ok {
			d.b.odd(CodeMessageShape, 1)
			continue
		}
		items = d.append(items, &m, answer)
	}
	return items
}

// append adds what an item says.
func (d *responsesReader) append(items []item, m *responsesItem, answer bool) []item {
	start := len(items)
	kind := string(m.kind)
	switch {
	case kind == "message" || kind == "" && len(m.role) > 0:
		items = d.message(items, m, answer)
	case kind == "reasoning":
		for _, thought := range []Raw{m.summary, m.content} {
			if !thought.isEmpty() {
				items = append(items, item{kind: itemThought, value: thought})
				break
			}
		}
	case kind == "item_reference":
		known, ok := d.items[string(m.id)]
		if !ok {
			d.b.odd(CodeMessageShape, 1)
		}
		return append(items, known...)
	case kind == "mcp_list_tools", kind == "mcp_approval_request", kind == "mcp_approval_response",
		kind == "compaction", kind == "program", kind == "program_output", kind == "additional_tools":
		// No calls: what the interface notes about itself.
	case kind == "mcp_call":
		items = append(items, d.serverCall(m))
	case bytes.HasSuffix(m.kind, []byte("_output")):
		items = append(items, m.result())
	case bytes.HasSuffix(m.kind, []byte("_call")):
		items = append(items, d.call(m))
	default:
		d.b.odd(CodeMessageShape, 1)
	}
	if len(m.id) > 0 && len(items) > start {
		if d.items == nil {
			d.items = map[string][]item{}
		}
		d.items[string(m.id)] = items[start:len(items):len(items)]
	}
	return items
}

// message adds a message.
func (d *responsesReader) message(items []item, m *responsesItem, answer bool) []item {
	switch string(m.role) {
	case "user":
		return append(items, item{kind: itemUser, value: m.content})
	case "system", "developer":
		return append(items, item{kind: itemSystem, value: m.content})
	case "assistant", "":
		if len(m.role) > 0 || answer {
			return append(items, item{kind: itemText, value: m.content})
		}
		d.b.odd(CodeMessageShape, 1)
	default:
		d.b.odd(CodeMessageRole, 1)
	}
	return items
}

// call returns a call that the user's program answers, or one of a tool of the
// interface itself that tells no more than its status.
func (d *responsesReader) call(m *responsesItem) item {
	it := item{kind: itemCall, id: m.callID, tool: m.name, value: m.args}
	if m.byProgram {
		it.origin = OriginCode
	}
	if it.value.IsZero() {
		it.value = m.input
	}
	if it.value.IsZero() {
		it.value = m.action
	}
	if len(m.space) > 0 && len(it.tool) > 0 {
		it.tool = bytes.Join([][]byte{bytes.TrimSuffix(m.space, []byte("__")), m.name}, []byte("__"))
	}
	switch string(m.kind) {
	case "function_call", "custom_tool_call":
		return it
	}
	it.tool = bytes.TrimSuffix(m.kind, []byte("_call"))
	if len(m.callID) > 0 { // answered by an item of its own
		return it
	}
	it.id = m.id
	switch string(m.status) {
	case "completed":
		it.answered, it.status = true, StatusOK
	case "failed", "incomplete":
		it.answered, it.status = string(m.status) == "failed", StatusFailed
	}
	if !m.output.IsZero() {
		it.answered = true
	}
	it.result = m.output
	return it
}

// serverCall returns a call of a tool of an MCP server, which the interface made
// itself.
func (d *responsesReader) serverCall(m *responsesItem) item {
	it := item{kind: itemCall, id: m.id, tool: m.name, value: m.args, result: m.output, err: m.failure}
	if len(m.server) > 0 && len(m.name) > 0 {
		it.tool = bytes.Join([][]byte{m.server, m.name}, []byte("__"))
	}
	if m.byProgram {
		it.origin = OriginCode
	}
	switch {
	case !m.failure.IsZero(), string(m.status) == "failed":
		it.answered, it.status = true, StatusFailed
	case !m.output.IsZero(), string(m.status) == "completed":
		it.answered, it.status = true, StatusOK
	}
	return it
}

// result returns the result of a call. Functions have no sign of failure, a
// patch has a status and a command an exit code.
func (m *responsesItem) result() item {
	it := item{kind: itemResult, id: m.callID, value: m.output}
	switch string(m.kind) {
	case "apply_patch_call_output":
		switch string(m.status) {
		case "completed":
			it.status = StatusOK
		case "failed":
			it.status = StatusFailed
		}
	case "shell_call_output":
		switch {
		case m.exited && m.exit == 0:
			it.status = StatusOK
		case m.exited:
			it.status = StatusFailed
		}
	}
	return it
}

// responsesBody is a request or a response.
type responsesBody struct {
	id, previous                    []byte
	conversation                    []byte
	model                           []byte
	instructions                    Raw
	tools                           []ToolDef
	status                          []byte
	failed                          bool
	input, output                   Raw
	usage                           Usage
	created, ended                  time.Time
	hasInput, hasOutput, isResponse bool
}

// readResponsesBody reads a request or a response, which some logs keep as a
// string, and some in a member "body".
func readResponsesBody(b *builder, c *jsonscan.Cursor, m *responsesBody) {
	if text, ok := c.Text(); ok {
		inner := jsonscan.New(text)
		if inner.Kind() == jsonscan.Object {
			readResponsesBody(b, &inner, m)
		}
		if inner.End() != nil {
			*m = responsesBody{}
			b.odd(CodeMessageShape, 1)
		}
		return
	}
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "body", "params":
			if !m.hasInput && !m.hasOutput {
				readResponsesBody(b, c, m)
			}
		case "id":
			m.id, _ = c.Text()
		case "object":
			object, _ := c.Text()
			m.isResponse = string(object) == "response"
		case "previous_response_id":
			m.previous, _ = c.Text()
		case "conversation":
			if text, ok := c.Text(); ok {
				m.conversation = text
				continue
			}
			for ok := c.Object(); ok && c.Member(); {
				if string(c.Key()) == "id" {
					m.conversation, _ = c.Text()
				}
			}
		case "model":
			m.model, _ = c.Text()
		case "instructions":
			m.instructions = rawContent(c)
		case "tools":
			m.tools = readResponsesTools(b, c)
		case "status":
			m.status, _ = c.Text()
		case "error":
			m.failed = c.Kind() == jsonscan.Object
		case "input":
			m.hasInput = c.Kind() == jsonscan.Array || c.Kind() == jsonscan.String
			m.input = rawValue(c)
		case "output":
			m.hasOutput = c.Kind() == jsonscan.Array
			m.output = rawValue(c)
		case "usage":
			m.usage = readResponsesUsage(c)
		case "created_at":
			m.created = readUnix(c)
		case "completed_at":
			m.ended = readUnix(c)
		}
	}
}

// readResponsesTools reads tool definitions. Tools of the interface itself have
// no name but their type.
func readResponsesTools(b *builder, c *jsonscan.Cursor) []ToolDef {
	var tools []ToolDef
	for ok := c.Array(); ok && c.Element(); {
		raw := c.Raw()
		if raw == nil {
			return tools
		}
		kind := memberText(raw, "type")
		switch string(kind) {
		case "mcp": // its tools are known once the server has told them
			continue
		case "namespace":
			tools = append(tools, readNamespace(b, raw)...)
			continue
		}
		in := jsonscan.New(raw)
		if in.Object() {
			tools = b.appendTool(tools, &in, kind)
		}
	}
	return tools
}

// readNamespace reads the tools of a namespace.
func readNamespace(b *builder, raw []byte) (tools []ToolDef) {
	space := string(bytes.TrimSuffix(memberText(raw, "name"), []byte("__")))
	c := jsonscan.New(raw)
	for ok := c.Object(); ok && c.Member(); {
		if string(c.Key()) == "tools" {
			tools = b.readNewTools(&c)
		}
	}
	for i := range tools {
		tools[i].Name = Intern(space + "__" + tools[i].Name.Value())
	}
	return tools
}
