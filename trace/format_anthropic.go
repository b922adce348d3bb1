package trace

import (
	"bytes"

	"github.com/awo-dev/awo/internal/jsonscan"
)

// formatAnthropic reads messages of Anthropic's Messages API in the layouts in
// which they are kept, one trajectory a record:
//
//	{"model", "system", "messages": [...], "tools": [...]}   a request
//	[{"role": ..., "content": [...]}, ...]                   messages alone
//	{"request": {...}, "response": {...}}                    a log of requests, with the answer
//
// Each assistant message is a turn; its tool_use blocks are calls, which the
// tool_result blocks of the next user message answer. A result without is_error
// is a success. Tools that the interface runs itself (server_tool_use,
// mcp_tool_use) answer inside the response. Blocks whose caller is a program are
// calls made from code. Only logged answers have usage; nothing has a time.
//
// Logs repeat the history in every request: records of a conversation are joined,
// and what they repeat is counted once, as those of formatOpenAIChat are.
var formatAnthropic = Format{
	Name:   "anthropic",
	Doc:    "Anthropic messages: requests, bare lists of messages, and logs of requests with responses.",
	Spec:   "https://docs.anthropic.com/en/api/messages",
	Detect: detectAnthropic,
	Decode: decodeAnthropic,
	Assemble: func(_ string, parts []Fragment) ([]*Trajectory, error) {
		return assembleRequests(parts, readAnthropicRequest, decodeWholeAnthropic)
	},
}

func decodeAnthropic(r Record) ([]Fragment, error) {
	d, fragments, err := decodeAnthropicRecord(r)
	if err != nil {
		return fragments, err
	}
	return requestFragments(r, fragments, d.asked && d.answered, d.waiting), nil
}

// decodeWholeAnthropic decodes a record that is a trajectory of its own.
func decodeWholeAnthropic(r Record) ([]Fragment, error) {
	_, fragments, err := decodeAnthropicRecord(r)
	return fragments, err
}

func decodeAnthropicRecord(r Record) (*anthropicRecord, []Fragment, error) {
	b := newBuilder(len(r.Data))
	b.memo = r.memo
	d := &anthropicRecord{anthropicDecoder: anthropicDecoder{b: b}}
	c := jsonscan.New(r.Data)
	if c.Kind() == jsonscan.Array {
		d.list(&c)
	} else {
		d.read(&c, true)
	}
	if d.model != nil {
		b.t.Model = b.text(d.model)
	}
	clearTurnModels(b.t)
	shape := ""
	if !d.found {
		shape = `this record has no list of messages "messages"`
	}
	fragments, err := b.finishRecord(r, &c, shape)
	return d, fragments, err
}

// readAnthropicRequest reads a record of a log.
func readAnthropicRequest(data []byte) *requestRecord {
	d := anthropicRecord{anthropicDecoder: anthropicDecoder{b: newBuilder(0)}, asItems: true}
	c := jsonscan.New(data)
	if c.Kind() == jsonscan.Array {
		d.list(&c)
	} else {
		d.read(&c, true)
	}
	if c.End() == nil {
		d.b.odd(CodeLoneSurrogate, c.LoneSurrogates())
	}
	r := &requestRecord{
		items: append(d.system, d.items...), answered: d.answered, response: d.told,
		model: d.model, tools: d.b.t.Tools, odd: d.b,
	}
	if r.answer = len(r.items); d.answered {
		r.items = append(r.items, d.said...)
		r.id, r.response.model = []byte(d.b.t.ID), string(d.model)
	}
	return r
}

// anthropicRecord reads the record around the messages.
type anthropicRecord struct {
	anthropicDecoder
	found    bool
	model    []byte
	answer   []byte // a response that stands before its request
	asked    bool   // the request was read
	answered bool   // there was a response
	waiting  bool   // the last message was not the model's

	asItems             bool // messages become items, and not part of a trajectory
	system, items, said []item
	told                response
}

// list reads the messages.
func (d *anthropicRecord) list(c *jsonscan.Cursor) {
	for ok := c.Array(); ok && c.Element(); {
		d.found = true
		m, ok := d.message(c)
		if !ok {
			continue
		}
		if d.waiting = string(m.role) != "assistant"; d.asItems {
			d.items = append(d.items, d.anthropicItems(m)...)
		} else {
			d.add(m)
		}
	}
}

// read reads a request; outer says that it may instead be a log entry that has
// the request in it.
func (d *anthropicRecord) read(c *jsonscan.Cursor, outer bool) {
	if !c.Object() {
		return
	}
	b := d.b
	for c.Member() {
		switch string(c.Key()) {
		case "messages":
			if d.found {
				b.odd(CodeKeyDuplicate, 1)
				b.restart()
				d.items, d.system = d.items[:0], d.system[:0]
			}
			d.list(c)
			d.found = true
		case "system":
			if text := rawContent(c); text.isEmpty() {
				continue
			} else if d.asItems {
				d.system = append(d.system, item{kind: itemSystem, value: text})
			} else {
				b.message(RoleSystem, text)
			}
		case "tools":
			if tools := b.readTools(c); len(tools) > 0 {
				b.t.Tools = tools
			}
		case "model":
			d.model, _ = c.Text()
		case "id":
			if outer {
				b.t.ID = b.readID(c)
			}
		case "request", "body":
			if outer {
				d.nested(c, func(c *jsonscan.Cursor) { d.read(c, false) })
				d.asked = true
			}
		case "response":
			switch {
			case !outer:
			case d.asked:
				d.nested(c, d.response)
			default:
				d.answer = c.Raw()
			}
		}
	}
	if outer && d.answer != nil {
		later := jsonscan.New(d.answer)
		d.nested(&later, d.response)
	}
}

// nested reads an object, which some logs keep as a string, or a response as the
// stream that it came in.
func (d *anthropicRecord) nested(c *jsonscan.Cursor, read func(*jsonscan.Cursor)) {
	text, ok := c.Text()
	if !ok {
		read(c)
		return
	}
	if isStream(text) {
		s := &messageStream{}
		for _, payload := range eventPayloads(text) {
			if c := jsonscan.New(payload); c.Kind() == jsonscan.Object && c.End() == nil {
				s.add(payload)
			}
		}
		text = s.append(nil)
		countCut(d.b, text)
	}
	inner := jsonscan.New(text)
	read(&inner)
	if inner.End() != nil {
		d.b.odd(CodeMessageShape, 1)
	}
	d.b.odd(CodeLoneSurrogate, inner.LoneSurrogates())
}

// response reads the answer to a request: the last turn.
func (d *anthropicRecord) response(c *jsonscan.Cursor) {
	if c.Kind() != jsonscan.Object {
		return
	}
	m, ok := d.message(c)
	if !ok || string(m.role) != "assistant" {
		return
	}
	d.found, d.answered = true, true
	if d.asItems {
		d.said, d.told = d.anthropicItems(m), response{usage: m.usage}
	} else {
		d.addTurn(m)
	}
	d.b.t.ID = d.b.text(m.id)
	if len(m.model) > 0 {
		d.model = m.model
	}
}

func detectAnthropic(h Head) Match {
	if len(h.Records) == 0 {
		return Match{}
	}
	whole := h.Container == ContainerArray && h.Records[0].Has("role")
	for _, r := range h.Records {
		var s anthropicSigns
		c := jsonscan.New(r.Raw)
		s.record(&c, whole)
		switch {
		case s.other:
			return Match{Whole: whole}
		case s.blocks:
			m := Match{OK: true, Whole: whole}
			if repeats, sure := headRepeats(h, readAnthropicRequest); !whole {
				m.log, m.unsure = repeats, !repeats && !sure
			}
			return m
		}
	}
	m := Match{Whole: whole}
	if whole || h.Records[0].Has("messages") || h.Records[0].Has("request") || h.Records[0].Has("content") {
		m.Lacks = "no message has a tool_use or tool_result block, and no tool an input_schema"
	}
	return m
}

// anthropicSigns are what the beginning of a record says about its format.
type anthropicSigns struct {
	blocks bool // there are blocks or definitions that only this interface has
	other  bool // it is a record of another format with such messages in it
}

// record looks at a record, which may be cut short; message says that it is a
// message itself.
func (s *anthropicSigns) record(c *jsonscan.Cursor, message bool) {
	if message {
		s.message(c)
		return
	}
	if c.Kind() == jsonscan.Array {
		for ok := c.Array(); ok && c.Element(); {
			s.message(c)
		}
		return
	}
	for ok := c.Object(); ok && c.Member(); {
		key := c.Key()
		for _, name := range notChat {
			// A system prompt beside the messages is this interface's own.
			s.other = s.other || bytes.Equal(key, name) && string(name) != "system"
		}
		switch string(key) {
		case "messages":
			for ok := c.Array(); ok && c.Element(); {
				s.message(c)
			}
		case "request", "body", "response":
			s.record(c, false)
		case "content":
			s.content(c)
		case "tools":
			for ok := c.Array(); ok && c.Element(); {
				for ok := c.Object(); ok && c.Member(); {
					s.blocks = s.blocks || string(c.Key()) == "input_schema"
				}
			}
		case "uuid", "parentUuid", "sessionId", "session_id":
			s.other = true // lines of coding agents
		}
	}
}

func (s *anthropicSigns) message(c *jsonscan.Cursor) {
	for ok := c.Object(); ok && c.Member(); {
		if string(c.Key()) == "content" {
			s.content(c)
		}
	}
}

func (s *anthropicSigns) content(c *jsonscan.Cursor) {
	for ok := c.Array(); ok && c.Element(); {
		for ok := c.Object(); ok && c.Member(); {
			if string(c.Key()) != "type" {
				continue
			}
			switch text, _ := c.Text(); string(text) {
			case "tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "mcp_tool_use":
				s.blocks = true
			}
		}
	}
}
