package trace

import (
	"bytes"
	"time"

	"github.com/awo-dev/awo/internal/jsonscan"
)

// anthropicDecoder reads messages of Anthropic's Messages API, whose contents
// are lists of typed blocks. Claude Code keeps the same messages.
type anthropicDecoder struct {
	b      *builder
	blocks []anthropicBlock

	at time.Time // when calls began and results came, as far as it is recorded
}

// anthropicBlock is a block of a message that is a call or a result.
type anthropicBlock struct {
	result    bool
	id, name  []byte
	server    []byte // of an MCP tool that the interface itself called
	value     Raw    // arguments of a call, content of a result
	failed    bool
	byProgram bool // called by code that the model wrote
}

// anthropicMessage is a message with what is read of it.
type anthropicMessage struct {
	role, id, model []byte
	text, thought   Raw
	usage           Usage
}

// message reads a message. Its calls and results are left in d.blocks.
func (d *anthropicDecoder) message(c *jsonscan.Cursor) (m anthropicMessage, ok bool) {
	d.blocks = d.blocks[:0]
	if !c.Object() {
		d.b.odd(CodeMessageShape, 1)
		return m, false
	}
	for c.Member() {
		switch string(c.Key()) {
		case "role":
			m.role, _ = c.Text()
		case "id":
			m.id, _ = c.Text()
		case "model":
			m.model, _ = c.Text()
		case "content":
			d.blocks = d.blocks[:0]
			m.text, m.thought = d.content(c)
		case "usage":
			m.usage = readAnthropicUsage(c)
		}
	}
	return m, true
}

// content reads the content of a message: a string, or blocks. It returns what
// the blocks say, which is read later, and what the model thought.
func (d *anthropicDecoder) content(c *jsonscan.Cursor) (text, thought Raw) {
	if c.Kind() != jsonscan.Array {
		return rawContent(c).orAbsent(), Raw{}
	}
	for ok := c.Array(); ok && c.Element(); {
		if token := c.Token(); token != nil {
			text = joinTexts(text, Raw{Data: token, Form: FormString})
			continue
		}
		if !c.Object() {
			continue
		}
		var kind, thinking, said []byte
		var block anthropicBlock
		var input Raw
		for c.Member() {
			switch string(c.Key()) {
			case "type":
				kind, _ = c.Text()
			case "id", "tool_use_id":
				block.id, _ = c.Text()
			case "name":
				block.name, _ = c.Text()
			case "server_name":
				block.server, _ = c.Text()
			case "input":
				input = rawArgs(c)
			case "content":
				block.value = rawContent(c)
			case "is_error":
				block.failed, _ = c.Bool()
			case "thinking":
				thinking = c.Token()
			case "text":
				said = c.Token()
			case "caller":
				for ok := c.Object(); ok && c.Member(); {
					if string(c.Key()) == "type" {
						caller, _ := c.Text()
						block.byProgram = len(caller) > 0 && string(caller) != "direct"
					}
				}
			}
		}
		switch {
		case string(kind) == "text":
			// Only texts are kept: calls stand among the blocks too.
			if len(said) > 2 {
				text = joinTexts(text, Raw{Data: said, Form: FormString})
			}
		case string(kind) == "thinking":
			if len(thinking) > 2 && thought.IsZero() {
				thought = Raw{Data: thinking, Form: FormString}
			}
		case bytes.HasSuffix(kind, []byte("tool_use")):
			block.value = input
			d.blocks = append(d.blocks, block)
		case bytes.HasSuffix(kind, []byte("tool_result")):
			block.result = true
			block.failed = block.failed || isErrorContent(block.value)
			d.blocks = append(d.blocks, block)
		}
	}
	return text, thought
}

// isErrorContent reports whether the result of a tool of the interface itself is
// an error: an object whose type ends in _error.
func isErrorContent(content Raw) bool {
	if content.Form != FormJSON {
		return false
	}
	c := jsonscan.New(content.Data)
	for ok := c.Object(); ok && c.Member(); {
		if string(c.Key()) == "type" {
			kind, _ := c.Text()
			return bytes.HasSuffix(kind, []byte("_error"))
		}
	}
	return false
}

// add adds a message to the trajectory.
func (d *anthropicDecoder) add(m anthropicMessage) {
	switch string(m.role) {
	case "user":
		// The results of the last turn stand before what the user says next.
		d.addBlocks()
		if !m.text.isEmpty() {
			d.b.message(RoleUser, m.text)
		}
	case "assistant":
		d.addTurn(m)
	case "system", "developer":
		d.b.message(RoleSystem, m.text)
	case "":
		d.b.odd(CodeMessageShape, 1)
	default:
		d.b.odd(CodeMessageRole, 1)
	}
}

// addTurn adds a response of the model.
func (d *anthropicDecoder) addTurn(m anthropicMessage) *Turn {
	turn := d.b.turn()
	turn.Text, turn.Thought, turn.Usage = m.text.orAbsent(), m.thought, m.usage
	if len(m.model) > 0 {
		turn.Model = d.b.text(m.model)
	}
	d.addBlocks()
	return turn
}

// extendTurn adds a further piece of the response that the last turn is: pieces
// repeat the usage, of which the latest counts most output.
func (d *anthropicDecoder) extendTurn(m anthropicMessage) {
	t := d.b.t
	turn := &t.Turns[len(t.Turns)-1]
	if text := m.text.orAbsent(); !text.IsZero() {
		turn.Text = joinTexts(turn.Text, text)
	}
	if !m.thought.IsZero() {
		turn.Thought = joinTexts(turn.Thought, m.thought)
	}
	if m.usage.Known && (!turn.Usage.Known || m.usage.Output >= turn.Usage.Output) {
		turn.Usage = m.usage
	}
	d.addBlocks()
}

// addBlocks adds the calls and results of the message that was read last, in
// their order: tools of the interface itself answer inside the response.
func (d *anthropicDecoder) addBlocks() {
	b := d.b
	for i := range d.blocks {
		block := &d.blocks[i]
		switch {
		case block.result:
			if call := b.result(block.id, block.value); call != nil {
				call.End = d.at
				call.Status = StatusOK
				if block.failed {
					call.Status = StatusFailed
				}
			}
		case len(block.name) == 0:
			b.odd(CodeCallUnnamed, 1)
		default:
			origin := OriginModel
			if block.byProgram {
				origin = OriginCode
			}
			b.call(b.text(block.id), b.names.intern(block.tool()), block.value, origin).Start = d.at
		}
	}
}

// tool returns the name of the tool that a block calls.
func (block *anthropicBlock) tool() []byte {
	if len(block.server) == 0 || len(block.name) == 0 {
		return block.name
	}
	return append(append(append([]byte{}, block.server...), "__"...), block.name...)
}

// anthropicItems returns what a message says. Results inside the model's own
// message are those of tools of the interface itself.
func (d *anthropicDecoder) anthropicItems(m anthropicMessage) (items []item) {
	switch string(m.role) {
	case "user":
		for i := range d.blocks {
			if block := &d.blocks[i]; block.result {
				it := item{kind: itemResult, id: block.id, value: block.value, status: statusOf(!block.failed)}
				items = append(items, it)
			}
		}
		if !m.text.isEmpty() {
			items = append(items, item{kind: itemUser, value: m.text})
		}
	case "assistant":
		items = append(items, item{kind: itemText, value: m.text.orAbsent(), opens: true})
		if !m.thought.IsZero() {
			items = append(items, item{kind: itemThought, value: m.thought})
		}
		for i := range d.blocks {
			items = d.blocks[i].appendOwn(items)
		}
	case "system", "developer":
		items = append(items, item{kind: itemSystem, value: m.text})
	case "":
		d.b.odd(CodeMessageShape, 1)
	default:
		d.b.odd(CodeMessageRole, 1)
	}
	return items
}

// appendOwn appends a call of the model, or gives the call that it answers its
// result.
func (block *anthropicBlock) appendOwn(items []item) []item {
	if !block.result {
		origin := OriginModel
		if block.byProgram {
			origin = OriginCode
		}
		return append(items, item{kind: itemCall, id: block.id, tool: block.tool(), value: block.value, origin: origin})
	}
	for i := range items {
		it := &items[i]
		if it.kind == itemCall && !it.answered && bytes.Equal(it.id, block.id) {
			it.answered, it.result, it.status = true, block.value, statusOf(!block.failed)
			return items
		}
	}
	return append(items, item{kind: itemResult, id: block.id, value: block.value, status: statusOf(!block.failed)})
}
