package trace

import (
	"bytes"
	"time"

	"github.com/awo-dev/awo/internal/jsonscan"
)

// formatOpenAIChat reads OpenAI's chat messages in the layouts in which they are
// kept, one trajectory a record:
//
//	{"messages": [...], "tools": [...]}     a request, or a line for fine-tuning
//	[{"role": ...}, ...]                    messages alone
//	{"request": {...}, "response": {...}}   a log of requests, with the answer
//
// Each assistant message is a turn. Tool calls are functions with arguments that
// are quoted JSON, custom tools with free text, or the older function_call, whose
// results have the tool's name and no id. Contents are strings or lists of parts.
// The format has no error flag; only logged answers have usage and a time.
//
// Logs repeat the history in every request: records of a conversation are joined,
// and what they repeat is counted once. Those with a response are known for
// requests; of others the beginning of the file has to show that they repeat one
// another and end with what the model is to answer.
var formatOpenAIChat = Format{
	Name:   "openai-chat",
	Doc:    "OpenAI chat messages: requests, fine-tuning lines, bare lists of messages, and logs of requests with responses.",
	Spec:   "https://platform.openai.com/docs/api-reference/chat",
	Detect: detectOpenAIChat,
	Decode: decodeOpenAIChat,
	Assemble: func(_ string, parts []Fragment) ([]*Trajectory, error) {
		return assembleRequests(parts, readChatRequest, decodeWholeChat)
	},
}

// The members of a record that are read.
const (
	chatMessages members = 1 << iota
	chatTools
	chatModel
	chatRequest
	chatResponse
)

func decodeOpenAIChat(r Record) ([]Fragment, error) {
	d, fragments, err := decodeChatRecord(r)
	if err != nil {
		return fragments, err
	}
	return requestFragments(r, fragments, d.answered && d.asked, d.waiting), nil
}

// decodeWholeChat decodes a record that is a trajectory of its own.
func decodeWholeChat(r Record) ([]Fragment, error) {
	_, fragments, err := decodeChatRecord(r)
	return fragments, err
}

func decodeChatRecord(r Record) (*openAIDecoder, []Fragment, error) {
	b := newBuilder(len(r.Data))
	b.memo = r.memo
	d := &openAIDecoder{chatDecoder: chatDecoder{b: b}}
	c := jsonscan.New(r.Data)
	if !d.messages(&c) {
		d.record(&c, true)
	} else {
		d.found = true
	}
	if d.model != nil {
		b.t.Model = b.text(d.model)
	}
	shape := ""
	if !d.found {
		shape = `this record has no list of messages "messages"`
	}
	fragments, err := b.finishRecord(r, &c, shape)
	return d, fragments, err
}

// openAIDecoder reads the record around the messages.
type openAIDecoder struct {
	chatDecoder
	found    bool   // there were messages
	asked    bool   // in a request
	answered bool   // by a response
	model    []byte // the model, of the answer if it has one
	answer   Raw    // a response that stands before its request

	answerAt int // item that the answer begins with, of requests as items
	told     response
}

// record reads a request; outer says that it may instead be a log entry that has
// the request in it.
func (d *openAIDecoder) record(c *jsonscan.Cursor, outer bool) {
	if !c.Object() {
		return
	}
	b := d.b
	var seen members
	var model []byte
	for c.Member() {
		switch string(c.Key()) {
		case "messages":
			if seen.note(b, chatMessages) {
				d.restart()
			}
			d.found = d.messages(c) || d.found
		case "tools", "functions":
			if tools := b.readTools(c); len(tools) > 0 {
				seen.note(b, chatTools)
				b.t.Tools = tools
			}
		case "model":
			seen.note(b, chatModel)
			model, _ = c.Text()
		case "body":
			if !outer && !d.found {
				d.record(c, false)
			}
		case "request":
			if outer {
				if seen.note(b, chatRequest) {
					d.restart()
				}
				d.asked = true
				d.nested(c, func(c *jsonscan.Cursor) { d.record(c, false) })
			}
		case "response":
			if outer {
				seen.note(b, chatResponse)
				if seen&chatRequest != 0 {
					d.answer = Raw{}
					d.nested(c, d.response)
				} else {
					d.answer = rawValue(c)
				}
			}
		}
	}
	if !d.answer.IsZero() && outer {
		later := jsonscan.New(d.answer.Data)
		d.answer = Raw{}
		d.nested(&later, d.response)
	}
	if d.model == nil {
		d.model = model
	}
}

// restart forgets what was read of a member that an object has twice.
func (d *openAIDecoder) restart() {
	d.b.restart()
	d.items, d.answerAt = d.items[:0], -1
}

// nested reads an object, which some logs keep as a string, or a response as the
// stream that it came in.
func (d *openAIDecoder) nested(c *jsonscan.Cursor, read func(*jsonscan.Cursor)) {
	text, ok := c.Text()
	if !ok {
		read(c)
		return
	}
	if isStream(text) {
		text = d.streamed(text)
	}
	inner := jsonscan.New(text)
	read(&inner)
	if inner.End() != nil {
		d.b.odd(CodeMessageShape, 1)
	}
	d.b.odd(CodeLoneSurrogate, inner.LoneSurrogates())
}

// streamed joins a stream to the response that it is.
func (d *openAIDecoder) streamed(text []byte) []byte {
	var all []*chatStream
	done := false
	for _, payload := range eventPayloads(text) {
		done = done || string(payload) == eventDone
		if c := jsonscan.New(payload); !done && c.Kind() == jsonscan.Object && c.End() == nil {
			all = addChunk(all, payload)
		}
	}
	if len(all) == 0 {
		return []byte("{}")
	}
	s := all[0]
	if s.cut() && !done {
		d.b.odd(CodeResponseCut, 1)
		d.b.odd(CodeCallBroken, s.dropBroken())
	}
	d.b.odd(CodeChoiceIgnored, int(s.ignored)+len(all)-1)
	return s.append(nil, true)
}

// response reads the answer to a request: its first choice is the last turn.
func (d *openAIDecoder) response(c *jsonscan.Cursor) {
	b := d.b
	var usage Usage
	var created time.Time
	turn := -1
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "id":
			b.t.ID = b.readID(c)
		case "model":
			if text, ok := c.Text(); ok {
				d.model = text
			}
		case "created":
			if seconds, ok := c.Int(); ok && seconds > 0 && seconds < maxUnix {
				created = time.Unix(seconds, 0).UTC()
			}
		case "usage":
			usage = readUsage(c)
		case "choices":
			if i := d.choices(c); i >= 0 {
				turn = i
			}
		case "body":
			d.response(c)
		}
	}
	if turn >= 0 {
		d.found = true
		d.answered = true
		if !d.asItems {
			b.t.Turns[turn].Usage, b.t.Turns[turn].End = usage, created
		} else {
			d.told.usage, d.told.end = usage, created
		}
	}
}

// choices adds the first of several answers and returns the index of its turn,
// -1 if there is none.
func (d *openAIDecoder) choices(c *jsonscan.Cursor) int {
	turn := -1
	for ok := c.Array(); ok && c.Element(); {
		if turn >= 0 {
			d.b.odd(CodeChoiceIgnored, 1)
			continue
		}
		for ok := c.Object(); ok && c.Member(); {
			if string(c.Key()) != "message" {
				continue
			}
			if m, ok := d.message(c); ok && turn < 0 {
				if turn = len(d.b.t.Turns); d.asItems {
					d.answerAt = len(d.items)
				}
				d.add(chatMessage{role: []byte("assistant"), content: m.content, refusal: m.refusal, thought: m.thought})
			}
		}
	}
	return turn
}

func detectOpenAIChat(h Head) Match {
	if len(h.Records) == 0 {
		return Match{}
	}
	m := Match{Whole: h.Container == ContainerArray && h.Records[0].Has("role")}
	var s chatSigns
	for _, r := range h.Records {
		c := jsonscan.New(r.Raw)
		s.record(&c, m.Whole)
		if !m.Whole && s.messages {
			break // of a bare list all records are one
		}
	}
	switch {
	case !s.messages:
		if !s.other {
			m.Lacks = lacksMessages(h.Records[0])
		}
	case s.other:
		m.Lacks = "the messages are those of another interface"
	case !s.chat:
		m.Lacks = "the messages have no role and content"
	default:
		m.OK = true
		if repeats, sure := headRepeats(h, readChatRequest); !m.Whole {
			m.log, m.unsure = repeats, !repeats && !sure
		}
	}
	return m
}

// lacksMessages says what is missing in a record that has something of a
// conversation but its messages, "" if there is nothing of one.
func lacksMessages(r HeadRecord) string {
	if r.Has("messages") {
		return ""
	}
	if r.Has("name", "description") && (r.Has("parameters") || r.Has("arguments") || r.Has("input_schema") || r.Has("query_parameters")) {
		return "these are definitions of tools; calls and messages are missing"
	}
	for _, value := range r.Members {
		role, call := bytes.Contains(value, []byte(`"role"`)), bytes.Contains(value, []byte(`"arguments"`))
		if len(value) > 0 && value[0] == '[' && (role || call && bytes.Contains(value, []byte(`"name"`))) {
			return `"messages" is missing: messages or calls stand under another name, without the model's answers as messages`
		}
	}
	return ""
}

// chatSigns are what the beginning of a record says about its format.
type chatSigns struct {
	messages bool // there is a list of messages, and not an empty one
	chat     bool // with a role that chat messages have, and content or calls
	other    bool // but with what only other interfaces have
}

// record looks at a record, which may be cut short; message says that it is a
// message itself.
func (s *chatSigns) record(c *jsonscan.Cursor, message bool) {
	if message {
		s.message(c)
		return
	}
	if s.list(c) || !c.Object() {
		return
	}
	for c.Member() {
		key := c.Key()
		for _, name := range notChat {
			s.other = s.other || bytes.Equal(key, name)
		}
		switch string(key) {
		case "messages":
			s.list(c)
		case "request", "body":
			if text, ok := c.Text(); ok {
				inner := jsonscan.New(text)
				s.record(&inner, false)
			} else {
				s.record(c, false)
			}
		case "tools":
			for ok := c.Array(); ok && c.Element(); {
				for ok := c.Object(); ok && c.Member(); {
					s.other = s.other || string(c.Key()) == "input_schema"
				}
			}
		}
	}
}

// list looks at a list of messages. It returns false if there is none.
func (s *chatSigns) list(c *jsonscan.Cursor) bool {
	if !c.Array() {
		return false
	}
	for c.Element() {
		s.message(c)
	}
	return true
}

func (s *chatSigns) message(c *jsonscan.Cursor) {
	s.messages = true
	role, said := false, false
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "role":
			text, _ := c.Text()
			switch string(text) {
			case "system", "developer", "user", "assistant", "tool", "function":
				role = true
			}
		case "content":
			said = true
			for ok := c.Array(); ok && c.Element(); {
				for ok := c.Object(); ok && c.Member(); {
					if string(c.Key()) != "type" {
						continue
					}
					switch text, _ := c.Text(); string(text) {
					case "tool_use", "tool_result", "thinking", "server_tool_use":
						s.other = true
					}
				}
			}
		case "tool_calls", "function_call":
			said = true
		case "parts", "type":
			s.other = true
		}
	}
	s.chat = s.chat || role && said
}

// readChatRequest reads a record of a log.
func readChatRequest(data []byte) *requestRecord {
	d := openAIDecoder{chatDecoder: chatDecoder{b: newBuilder(0), asItems: true}, answerAt: -1}
	c := jsonscan.New(data)
	if !d.messages(&c) {
		d.record(&c, true)
	}
	if c.End() == nil {
		d.b.odd(CodeLoneSurrogate, c.LoneSurrogates())
	}
	r := &requestRecord{
		items: d.items, answer: len(d.items), answered: d.answerAt >= 0,
		response: d.told, model: d.model, tools: d.b.t.Tools, odd: d.b,
	}
	if r.answered {
		r.answer = d.answerAt
		r.id, r.response.model = []byte(d.b.t.ID), string(d.model)
	}
	return r
}
