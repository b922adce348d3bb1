package trace

import (
	"github.com/awo-dev/awo/internal/jsonscan"
)

// chatDecoder reads messages as OpenAI's chat completions have them.
type chatDecoder struct {
	b       *builder
	calls   []chatCall // of the current message
	waiting bool       // the last message was not the model's

	asItems bool // messages become items, and not part of a trajectory
	items   []item
}

// chatCall is a tool call before it is known whose it is.
type chatCall struct {
	id, name []byte
	args     Raw
	user     bool // asked for by a simulated user
}

// chatMessage is a message with the members that are read.
type chatMessage struct {
	role, name, callID []byte
	content, refusal   Raw
	thought            Raw
}

// messages passes over an array of messages and adds them to the trajectory. It
// returns false if there is none.
func (d *chatDecoder) messages(c *jsonscan.Cursor) bool {
	if !c.Array() {
		return false
	}
	for c.Element() {
		if m, ok := d.message(c); ok {
			d.add(m)
		}
	}
	return true
}

// The members of a message that are read.
const (
	chatRole members = 1 << iota
	chatName
	chatCallID
	chatContent
	chatRefusal
	chatThought
	chatCalls
	chatFunctionCall
)

// message reads a message. It returns false if there is none.
func (d *chatDecoder) message(c *jsonscan.Cursor) (m chatMessage, ok bool) {
	d.calls = d.calls[:0]
	if !c.Object() {
		d.b.odd(CodeMessageShape, 1)
		return m, false
	}
	var seen members
	for c.Member() {
		switch string(c.Key()) {
		case "role":
			seen.note(d.b, chatRole)
			m.role, _ = c.Text()
		case "name":
			seen.note(d.b, chatName)
			m.name, _ = c.Text()
		case "tool_call_id":
			seen.note(d.b, chatCallID)
			m.callID, _ = c.Text()
		case "content":
			seen.note(d.b, chatContent)
			m.content = rawContent(c)
		case "refusal":
			seen.note(d.b, chatRefusal)
			m.refusal = rawContent(c)
		case "reasoning_content", "reasoning":
			if thought := rawContent(c); !thought.isEmpty() && !seen.note(d.b, chatThought) {
				m.thought = thought
			}
		case "tool_calls":
			if seen.note(d.b, chatCalls) {
				d.calls = d.calls[:0]
			}
			for ok := c.Array(); ok && c.Element(); {
				d.call(c)
			}
		case "function_call":
			seen.note(d.b, chatFunctionCall)
			if c.Object() {
				d.calls = append(d.calls, chatCall{})
				d.function(c, &d.calls[len(d.calls)-1])
			}
		}
	}
	return m, true
}

// call reads an element of tool_calls.
func (d *chatDecoder) call(c *jsonscan.Cursor) {
	if !c.Object() {
		d.b.odd(CodeMessageShape, 1)
		return
	}
	d.calls = append(d.calls, chatCall{})
	call := &d.calls[len(d.calls)-1]
	for c.Member() {
		switch string(c.Key()) {
		case "id":
			call.id, _ = c.Text()
		case "function", "custom":
			if c.Object() {
				d.function(c, call)
			}
		case "name":
			call.name, _ = c.Text()
		case "arguments":
			call.args = rawArgs(c)
		case "requestor":
			who, _ := c.Text()
			call.user = string(who) == "user"
		}
	}
}

// function reads the members of what names the tool: a function with arguments,
// or a custom tool with free text.
func (d *chatDecoder) function(c *jsonscan.Cursor, call *chatCall) {
	for c.Member() {
		switch string(c.Key()) {
		case "name":
			call.name, _ = c.Text()
		case "arguments", "input":
			call.args = rawArgs(c)
		}
	}
}

// add adds a message to the trajectory.
func (d *chatDecoder) add(m chatMessage) {
	d.waiting = string(m.role) != "assistant"
	if d.asItems {
		d.addItems(m)
		return
	}
	b := d.b
	switch string(m.role) {
	case "user":
		b.message(RoleUser, m.content.orAbsent())
	case "system", "developer":
		b.message(RoleSystem, m.content.orAbsent())
	case "assistant":
		d.addTurn(m)
	case "tool", "function":
		d.result(m.callID, m.name, m.content)
	case "":
		b.odd(CodeMessageShape, 1)
	default:
		b.odd(CodeMessageRole, 1)
	}
}

// addItems adds what a message says to the items.
func (d *chatDecoder) addItems(m chatMessage) {
	add := func(it item) { d.items = append(d.items, it) }
	switch string(m.role) {
	case "user":
		add(item{kind: itemUser, value: m.content})
	case "system", "developer":
		add(item{kind: itemSystem, value: m.content})
	case "tool", "function":
		add(item{kind: itemResult, id: m.callID, tool: m.name, value: m.content})
	case "assistant":
		text := m.content.orAbsent()
		if text.IsZero() {
			text = m.refusal.orAbsent()
		}
		add(item{kind: itemText, value: text, opens: true})
		if !m.thought.isEmpty() {
			add(item{kind: itemThought, value: m.thought})
		}
		for i := range d.calls {
			if call := &d.calls[i]; !call.user {
				add(item{kind: itemCall, id: call.id, tool: call.name, value: call.args})
			}
		}
	case "":
		d.b.odd(CodeMessageShape, 1)
	default:
		d.b.odd(CodeMessageRole, 1)
	}
}

// addTurn adds a message of the model, and returns its turn.
func (d *chatDecoder) addTurn(m chatMessage) *Turn {
	turn := d.b.turn()
	turn.Text, turn.Thought = m.content.orAbsent(), m.thought.orAbsent()
	if turn.Text.IsZero() {
		turn.Text = m.refusal.orAbsent()
	}
	d.addCalls()
	return turn
}

// addCalls adds the calls of the message that was read last, but for those of a
// simulated user.
func (d *chatDecoder) addCalls() {
	for i := range d.calls {
		call := &d.calls[i]
		switch {
		case call.user:
		case len(call.name) == 0:
			d.b.odd(CodeCallUnnamed, 1)
		default:
			d.b.call(d.b.text(call.id), d.b.names.intern(call.name), call.args, OriginModel)
		}
	}
}

// result adds the result of a call by its id, or by the tool's name if it has
// none. It returns nil for an orphan.
func (d *chatDecoder) result(id, name []byte, content Raw) *Call {
	if len(id) > 0 {
		return d.b.result(id, content)
	}
	return d.b.namedResult(name, content)
}

// notChat are members that records of other formats have beside "messages".
var notChat = [][]byte{
	[]byte("system"), []byte("trajectory_format"), []byte("sessionId"), []byte("projectHash"),
	[]byte("schema_version"), []byte("samples"), []byte("simulations"), []byte("contents"), []byte("traj"),
}
