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
	Blocks  []Block

	At time.Time // when calls began and results came, as far as it is recorded
}

// Block is a block of a message that is a call or a result.
type Block struct {
	Result    bool
	ID, Name  []byte
	server    []byte    // of an MCP tool that the interface itself called
	Value     trace.Raw // arguments of a call, content of a result
	Failed    bool
	byProgram bool // called by code that the model wrote
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
		var kind, thinking, said []byte
		var block Block
		var input trace.Raw
		for c.Member() {
			switch string(c.Key()) {
			case "type":
				kind, _ = c.Text()
			case "id", "tool_use_id":
				block.ID, _ = c.Text()
			case "name":
				block.Name, _ = c.Text()
			case "server_name":
				block.server, _ = c.Text()
			case "input":
				input = build.ReadArgs(c)
			case "content":
				block.Value = build.ReadContent(c)
			case "is_error":
				block.Failed, _ = c.Bool()
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
				text = build.JoinTexts(text, trace.Raw{Data: said, Form: trace.FormString})
			}
		case string(kind) == "thinking":
			if len(thinking) > 2 && thought.IsZero() {
				thought = trace.Raw{Data: thinking, Form: trace.FormString}
			}
		case bytes.HasSuffix(kind, []byte("tool_use")):
			block.Value = input
			d.Blocks = append(d.Blocks, block)
		case bytes.HasSuffix(kind, []byte("tool_result")):
			block.Result = true
			block.Failed = block.Failed || isErrorContent(block.Value)
			d.Blocks = append(d.Blocks, block)
		}
	}
	return text, thought
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

// Add adds a message to the trajectory.
func (d *Anthropic) Add(m AnthropicMessage) {
	switch string(m.Role) {
	case "user":
		// The results of the last turn stand before what the user says next.
		d.AddBlocks()
		if !m.Text.IsEmpty() {
			d.Builder.Message(trace.RoleUser, m.Text)
		}
	case "assistant":
		d.AddTurn(m)
	case "system", "developer":
		d.Builder.Message(trace.RoleSystem, m.Text)
	case "":
		d.Builder.Anomaly(build.CodeMessageShape, 1)
	default:
		d.Builder.Anomaly(build.CodeMessageRole, 1)
	}
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
	b := d.Builder
	for i := range d.Blocks {
		block := &d.Blocks[i]
		switch {
		case block.Result:
			if call := b.Result(block.ID, block.Value); call != nil {
				call.End = d.At
				call.Status = trace.StatusOK
				if block.Failed {
					call.Status = trace.StatusFailed
				}
			}
		case len(block.Name) == 0:
			b.Anomaly(build.CodeCallUnnamed, 1)
		default:
			origin := trace.OriginModel
			if block.byProgram {
				origin = trace.OriginCode
			}
			b.Call(b.Text(block.ID), b.Names.Intern(block.tool()), block.Value, origin).Start = d.At
		}
	}
}

// tool returns the name of the tool that a block calls.
func (block *Block) tool() []byte {
	if len(block.server) == 0 || len(block.Name) == 0 {
		return block.Name
	}
	return append(append(append([]byte{}, block.server...), "__"...), block.Name...)
}

// Items returns what a message says. Results inside the model's own
// message are those of tools of the interface itself.
func (d *Anthropic) Items(m AnthropicMessage) (items []build.Item) {
	switch string(m.Role) {
	case "user":
		for i := range d.Blocks {
			if block := &d.Blocks[i]; block.Result {
				it := build.Item{Kind: build.ItemResult, ID: block.ID, Value: block.Value, Status: build.StatusOf(!block.Failed)}
				items = append(items, it)
			}
		}
		if !m.Text.IsEmpty() {
			items = append(items, build.Item{Kind: build.ItemUser, Value: m.Text})
		}
	case "assistant":
		items = append(items, build.Item{Kind: build.ItemText, Value: m.Text.OrAbsent(), Opens: true})
		if !m.thought.IsZero() {
			items = append(items, build.Item{Kind: build.ItemThought, Value: m.thought})
		}
		for i := range d.Blocks {
			items = d.Blocks[i].appendOwn(items)
		}
	case "system", "developer":
		items = append(items, build.Item{Kind: build.ItemSystem, Value: m.Text})
	case "":
		d.Builder.Anomaly(build.CodeMessageShape, 1)
	default:
		d.Builder.Anomaly(build.CodeMessageRole, 1)
	}
	return items
}

// appendOwn appends a call of the model, or gives the call that it answers its
// result.
func (block *Block) appendOwn(items []build.Item) []build.Item {
	if !block.Result {
		origin := trace.OriginModel
		if block.byProgram {
			origin = trace.OriginCode
		}
		return append(items, build.Item{Kind: build.ItemCall, ID: block.ID, Tool: block.tool(), Value: block.Value, Origin: origin})
	}
	for i := range items {
		it := &items[i]
		if it.Kind == build.ItemCall && !it.Answered && bytes.Equal(it.ID, block.ID) {
			it.Answered, it.Result, it.Status = true, block.Value, build.StatusOf(!block.Failed)
			return items
		}
	}
	return append(items, build.Item{Kind: build.ItemResult, ID: block.ID, Value: block.Value, Status: build.StatusOf(!block.Failed)})
}
