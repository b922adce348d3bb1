package message

import (
	"bytes"
	"time"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// responsesItem is an item of OpenAI's Responses interface with what is read of it.
type responsesItem struct {
	kind, role, id, callID []byte
	name, server, space    []byte
	status                 []byte
	content, summary       trace.Raw
	args, input, action    trace.Raw
	output, failure        trace.Raw
	origin                 trace.Origin
	exit                   int64 // of a shell command
	exited                 bool
}

// ReadResponsesItem reads an item. It returns false if there is none.
func ReadResponsesItem(c *jsonscan.Cursor) (m responsesItem, ok bool) {
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
			m.content = build.ReadContent(c)
		case "summary":
			m.summary = build.ReadContent(c)
		case "arguments":
			m.args = build.ReadArgs(c)
		case "input":
			m.input = build.ReadArgs(c)
		case "action", "operation", "queries", "code":
			m.action = build.ReadArgs(c)
		case "output", "outputs", "results", "result", "tools":
			m.readOutput(c)
		case "error":
			m.failure = build.ReadRaw(c)
		case "caller":
			m.origin = callerOrigin(c)
		}
	}
	return m, true
}

// readOutput reads the output of a tool: text, content parts, or what a shell
// command left behind.
func (m *responsesItem) readOutput(c *jsonscan.Cursor) {
	m.output = build.ReadContent(c)
	if m.output.Form != trace.FormParts {
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
		m.output.Form = trace.FormJSON
	}
}

// Responses reads items, and knows those that may be referred to.
type Responses struct {
	Builder *build.Builder // where anomalies are counted
	items   map[string][]build.Item
}

// List reads a list of items, or the text that a request may have instead.
// answer says that they are the output of the model.
func (d *Responses) List(c *jsonscan.Cursor, answer bool) []build.Item {
	if c.Kind() == jsonscan.String {
		return []build.Item{{Kind: build.ItemUser, Value: build.ReadRaw(c)}}
	}
	var items []build.Item
	for ok := c.Array(); ok && c.Element(); {
		m, ok := ReadResponsesItem(c)
		if !ok {
			d.Builder.Anomaly(build.CodeMessageShape, 1)
			continue
		}
		items = d.Append(items, &m, answer)
	}
	return items
}

// Append adds what an item says.
func (d *Responses) Append(items []build.Item, m *responsesItem, answer bool) []build.Item {
	start := len(items)
	kind := string(m.kind)
	switch {
	case kind == "message" || kind == "" && len(m.role) > 0:
		items = d.message(items, m, answer)
	case kind == "reasoning":
		for _, thought := range []trace.Raw{m.summary, m.content} {
			if !thought.IsEmpty() {
				items = append(items, build.Item{Kind: build.ItemThought, Value: thought})
				break
			}
		}
	case kind == "item_reference":
		known, ok := d.items[string(m.id)]
		if !ok {
			d.Builder.Anomaly(build.CodeMessageShape, 1)
		}
		return append(items, known...)
	case kind == "mcp_list_tools", kind == "mcp_approval_request", kind == "mcp_approval_response",
		kind == "compaction", kind == "additional_tools":
		// No calls: what the interface notes about itself.
	case kind == "mcp_call":
		items = append(items, d.serverCall(m))
	case bytes.HasSuffix(m.kind, []byte("_output")):
		if it := m.result(); !(answer || len(it.ID) == 0) || !answeredInside(items, &it, m.kind) {
			items = append(items, it)
		}
	case bytes.HasSuffix(m.kind, []byte("_call")), kind == "program":
		items = append(items, d.call(m))
	default:
		d.Builder.Unread(build.CodeMessageShape, "item", m.kind)
	}
	if len(m.id) > 0 && len(items) > start {
		if d.items == nil {
			d.items = map[string][]build.Item{}
		}
		d.items[string(m.id)] = items[start:len(items):len(items)]
	}
	return items
}

// answeredInside gives a call of a response the result that the interface itself put
// behind it, in the same response: of a tool that it runs. It returns false if there is
// no such call.
func answeredInside(items []build.Item, result *build.Item, kind []byte) bool {
	tool := bytes.TrimSuffix(bytes.TrimSuffix(kind, []byte("_output")), []byte("_call"))
	for i := len(items) - 1; i >= 0; i-- {
		it := &items[i]
		if it.Kind == build.ItemUser || it.Kind == build.ItemResult {
			return false
		}
		if it.Kind != build.ItemCall || len(result.ID) > 0 && !bytes.Equal(it.ID, result.ID) || len(result.ID) == 0 && (!bytes.Equal(it.Tool, tool) || !it.Result.IsZero()) {
			continue
		}
		it.Answered, it.Result = true, result.Value
		if result.Status != trace.StatusUnknown {
			it.Status = result.Status
		}
		return true
	}
	return false
}

// message adds a message.
func (d *Responses) message(items []build.Item, m *responsesItem, answer bool) []build.Item {
	switch string(m.role) {
	case "user":
		return append(items, build.Item{Kind: build.ItemUser, Value: m.content})
	case "system", "developer":
		return append(items, build.Item{Kind: build.ItemSystem, Value: m.content})
	case "assistant", "":
		if len(m.role) > 0 || answer {
			return append(items, build.Item{Kind: build.ItemText, Value: m.content})
		}
		d.Builder.Anomaly(build.CodeMessageShape, 1)
	default:
		d.Builder.Unread(build.CodeMessageRole, "role", m.role)
	}
	return items
}

// call returns a call that the user's program answers, or one of a tool of the
// interface itself that tells no more than its status.
func (d *Responses) call(m *responsesItem) build.Item {
	it := build.Item{Kind: build.ItemCall, ID: m.callID, Tool: m.name, Value: m.args, Origin: m.origin}
	if it.Value.IsZero() {
		it.Value = m.input
	}
	if it.Value.IsZero() {
		it.Value = m.action
	}
	if len(m.space) > 0 && len(it.Tool) > 0 && !bytes.Equal(m.space, m.name) { // a tool that was looked for is its own namespace
		it.Tool = bytes.Join([][]byte{bytes.TrimSuffix(m.space, []byte("__")), m.name}, []byte("__"))
	}
	switch string(m.kind) {
	case "custom_tool_call":
		it.Free = true
		return it
	case "function_call":
		return it
	}
	it.Tool = bytes.TrimSuffix(m.kind, []byte("_call"))
	it.Free = string(m.kind) == "program"
	if len(m.callID) > 0 { // answered by an item of its own
		return it
	}
	it.ID = m.id
	switch string(m.status) {
	case "completed":
		it.Answered, it.Status = true, trace.StatusOK
	case "failed", "incomplete":
		it.Answered, it.Status = string(m.status) == "failed", trace.StatusFailed
	}
	if !m.output.IsZero() {
		it.Answered = true
	}
	it.Result = m.output
	return it
}

// serverCall returns a call of a tool of an MCP server, which the interface made
// itself.
func (d *Responses) serverCall(m *responsesItem) build.Item {
	it := build.Item{Kind: build.ItemCall, ID: m.id, Tool: m.name, Value: m.args, Result: m.output, Err: m.failure, Origin: m.origin}
	if len(m.server) > 0 && len(m.name) > 0 {
		it.Tool = bytes.Join([][]byte{m.server, m.name}, []byte("__"))
	}
	switch {
	case !m.failure.IsZero(), string(m.status) == "failed":
		it.Answered, it.Status = true, trace.StatusFailed
	case !m.output.IsZero(), string(m.status) == "completed":
		it.Answered, it.Status = true, trace.StatusOK
	}
	return it
}

// result returns the result of a call. Functions have no sign of failure, a
// patch has a status and a command an exit code.
func (m *responsesItem) result() build.Item {
	it := build.Item{Kind: build.ItemResult, ID: m.callID, Value: m.output}
	switch string(m.kind) {
	case "apply_patch_call_output":
		switch string(m.status) {
		case "completed":
			it.Status = trace.StatusOK
		case "failed":
			it.Status = trace.StatusFailed
		}
	case "shell_call_output":
		switch {
		case m.exited && m.exit == 0:
			it.Status = trace.StatusOK
		case m.exited:
			it.Status = trace.StatusFailed
		}
	}
	return it
}

// ResponsesBody is a request or a response.
type ResponsesBody struct {
	ID, Previous                    []byte
	Conversation                    []byte
	Model                           []byte
	Instructions                    trace.Raw
	Tools                           []trace.ToolDef
	Status                          []byte
	Failed                          bool
	Input, Output                   trace.Raw
	Usage                           trace.Usage
	Created, Ended                  time.Time
	HasInput, HasOutput, IsResponse bool
}

// ReadResponsesBody reads a request or a response, which some logs keep as a
// string, and some in a member "body".
func ReadResponsesBody(b *build.Builder, c *jsonscan.Cursor, m *ResponsesBody) {
	if text, ok := c.Text(); ok {
		inner := jsonscan.New(text)
		if inner.Kind() == jsonscan.Object {
			ReadResponsesBody(b, &inner, m)
		}
		if inner.End() != nil {
			*m = ResponsesBody{}
			b.Anomaly(build.CodeMessageShape, 1)
		}
		return
	}
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "body", "params":
			if !m.HasInput && !m.HasOutput {
				ReadResponsesBody(b, c, m)
			}
		case "id":
			m.ID, _ = c.Text()
		case "object":
			object, _ := c.Text()
			m.IsResponse = string(object) == "response"
		case "previous_response_id":
			m.Previous, _ = c.Text()
		case "conversation":
			if text, ok := c.Text(); ok {
				m.Conversation = text
				continue
			}
			for ok := c.Object(); ok && c.Member(); {
				if string(c.Key()) == "id" {
					m.Conversation, _ = c.Text()
				}
			}
		case "model":
			m.Model, _ = c.Text()
		case "instructions":
			m.Instructions = build.ReadContent(c)
		case "tools":
			m.Tools = b.ReadTools(c)
		case "status":
			m.Status, _ = c.Text()
		case "error":
			m.Failed = c.Kind() == jsonscan.Object
		case "input":
			m.HasInput = c.Kind() == jsonscan.Array || c.Kind() == jsonscan.String
			m.Input = build.ReadRaw(c)
		case "output":
			m.HasOutput = c.Kind() == jsonscan.Array
			m.Output = build.ReadRaw(c)
		case "usage":
			m.Usage = build.UsageResponses.Read(c)
		case "created_at":
			m.Created = build.ReadUnix(c)
		case "completed_at":
			m.Ended = build.ReadUnix(c)
		}
	}
}
