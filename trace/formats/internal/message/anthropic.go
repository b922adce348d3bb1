package message

import (
	"bytes"
	"time"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// Anthropic reads messages of Anthropic's Messages API, whose contents
// are lists of typed blocks. Claude Code keeps the same messages.
type Anthropic struct {
	Builder *build.Builder
	Blocks  []build.Item // calls and results of the message that was read last

	At time.Time // when calls began and results came, as far as it is recorded
}

// AnthropicMessage is a message with what is read of it.
type AnthropicMessage struct {
	Role, ID, Model []byte
	Text, thought   trace.Raw
	Usage           trace.Usage
}

// Message reads a message. Its calls and results are left in d.blocks.
func (d *Anthropic) Message(c *jsonscan.Cursor) (m AnthropicMessage, ok bool) {
	d.Blocks = d.Blocks[:0]
	if !c.Object() {
		d.Builder.Anomaly(build.CodeMessageShape, 1)
		return m, false
	}
	for c.Member() {
		switch string(c.Key()) {
		case "role":
			m.Role, _ = c.Text()
		case "id":
			m.ID, _ = c.Text()
		case "model":
			m.Model, _ = c.Text()
		case "content":
			d.Blocks = d.Blocks[:0]
			m.Text, m.thought = d.Content(c)
		case "usage":
			m.Usage = build.UsageAnthropic.Read(c)
		}
	}
	return m, true
}

// Content reads the content of a message: a string, or blocks. It returns what
// the blocks say, which is read later, and what the model thought.
func (d *Anthropic) Content(c *jsonscan.Cursor) (text, thought trace.Raw) {
	if c.Kind() != jsonscan.Array {
		return build.ReadContent(c).OrAbsent(), trace.Raw{}
	}
	for ok := c.Array(); ok && c.Element(); {
		if token := c.Token(); token != nil {
			text = build.JoinTexts(text, trace.Raw{Data: token, Form: trace.FormString})
			continue
		}
		if !c.Object() {
			continue
		}
		var kind, server, thinking, said []byte
		var content trace.Raw
		var block build.Item
		failed := false
		for c.Member() {
			switch string(c.Key()) {
			case "type":
				kind, _ = c.Text()
			case "id", "tool_use_id":
				block.ID, _ = c.Text()
			case "name":
				block.Tool, _ = c.Text()
			case "server_name": // of an MCP tool that the interface itself called
				server, _ = c.Text()
			case "input":
				block.Value = build.ReadArgs(c)
			case "content":
				content = build.ReadContent(c)
				if bytes.Contains(content.Data, []byte(`"tool_reference"`)) { // tools that a search found
					content = AsResult(content)
				}
			case "is_error":
				failed, _ = c.Bool()
			case "thinking":
				thinking = c.Token()
			case "text":
				said = c.Token()
			case "caller":
				block.Origin = callerOrigin(c)
			}
		}
		switch {
		case string(kind) == "text":
			// Only texts are kept: calls stand among the blocks too.
			if len(said) > 2 {
				text = build.JoinTexts(text, trace.Raw{Data: said, Form: trace.FormString})
			}
		case string(kind) == "thinking":
			if len(thinking) > 2 && thought.IsZero() {
				thought = trace.Raw{Data: thinking, Form: trace.FormString}
			}
		case bytes.HasSuffix(kind, []byte("tool_use")):
			block.Kind = build.ItemCall
			if len(server) > 0 && len(block.Tool) > 0 {
				block.Tool = bytes.Join([][]byte{server, block.Tool}, []byte("__"))
			}
			d.Blocks = append(d.Blocks, block)
		case bytes.HasSuffix(kind, []byte("tool_result")):
			status := build.StatusOf(!failed && !isErrorContent(content))
			d.Blocks = append(d.Blocks, build.Item{Kind: build.ItemResult, ID: block.ID, Value: content, Status: status})
		}
	}
	return text, thought
}

// callerOrigin returns who makes a call by its member "caller": the model, or code that it
// wrote.
func callerOrigin(c *jsonscan.Cursor) (origin trace.Origin) {
	for ok := c.Object(); ok && c.Member(); {
		if string(c.Key()) == "type" {
			if caller, _ := c.Text(); len(caller) > 0 && string(caller) != "direct" {
				origin = trace.OriginCode
			}
		}
	}
	return origin
}

// isErrorContent reports whether the result of a tool of the interface itself is
// an error: an object whose type ends in _error.
func isErrorContent(content trace.Raw) bool {
	if content.Form != trace.FormJSON {
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

// AddTurn adds a response of the model.
func (d *Anthropic) AddTurn(m AnthropicMessage) *trace.Turn {
	turn := d.Builder.Turn()
	turn.Text, turn.Thought, turn.Usage = m.Text.OrAbsent(), m.thought, m.Usage
	if len(m.Model) > 0 {
		turn.Model = d.Builder.Text(m.Model)
	}
	d.AddBlocks()
	return turn
}

// ExtendTurn adds a further piece of the response that the last turn is: pieces
// repeat the usage, of which the latest counts most output.
func (d *Anthropic) ExtendTurn(m AnthropicMessage) {
	t := d.Builder.Trajectory
	turn := &t.Turns[len(t.Turns)-1]
	if text := m.Text.OrAbsent(); !text.IsZero() {
		turn.Text = build.JoinTexts(turn.Text, text)
	}
	if !m.thought.IsZero() {
		turn.Thought = build.JoinTexts(turn.Thought, m.thought)
	}
	if m.Usage.Known && (!turn.Usage.Known || m.Usage.Output >= turn.Usage.Output) {
		turn.Usage = m.Usage
	}
	d.AddBlocks()
}

// AddBlocks adds the calls and results of the message that was read last, in
// their order: tools of the interface itself answer inside the response.
func (d *Anthropic) AddBlocks() {
	for i := range d.Blocks {
		it := &d.Blocks[i]
		if it.Kind == build.ItemCall {
			if call := d.Builder.Say(it); call != nil {
				call.Start = d.At
			}
		} else if call := d.Builder.Told(it); call != nil {
			call.End = d.At
		}
	}
}

// AddItems adds what a message says to a record. Results inside the model's own message are
// those of tools of the interface itself.
func (d *Anthropic) AddItems(r *build.RequestRecord, m AnthropicMessage) {
	switch string(m.Role) {
	case "user":
		// The results of the last turn stand before what the user says next.
		r.Items = append(r.Items, d.Blocks...)
		if !m.Text.IsEmpty() {
			r.Items = append(r.Items, build.Item{Kind: build.ItemUser, Value: m.Text})
		}
	case "assistant":
		start := len(r.Items)
		r.Items = append(r.Items, build.Item{Kind: build.ItemText, Value: m.Text.OrAbsent(), Opens: true})
		if !m.thought.IsZero() {
			r.Items = append(r.Items, build.Item{Kind: build.ItemThought, Value: m.thought})
		}
		for _, it := range d.Blocks {
			if it.Kind == build.ItemCall || !answered(r.Items[start:], &it) {
				r.Items = append(r.Items, it)
			}
		}
		r.Turns = append(r.Turns, build.Response{Usage: m.Usage, Model: string(m.Model)})
	case "system", "developer":
		r.Items = append(r.Items, build.Item{Kind: build.ItemSystem, Value: m.Text})
	case "":
		d.Builder.Anomaly(build.CodeMessageShape, 1)
	default:
		d.Builder.Unread(build.CodeMessageRole, "role", m.Role)
	}
}

// answered gives the call among items that a result answers the result; false if there is
// none.
func answered(items []build.Item, result *build.Item) bool {
	for i := range items {
		it := &items[i]
		if it.Kind == build.ItemCall && !it.Answered && bytes.Equal(it.ID, result.ID) {
			it.Answered, it.Result, it.Status = true, result.Value, result.Status
			return true
		}
	}
	return false
}
