// Package anthropic reads what Anthropic's Messages interface is asked and answers.
//
// A record comes in and fragments of trajectories go out, as in package openai. It
// is O(record).
package anthropic

import (
	"slices"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/internal/message"
	"github.com/awo-dev/awo/trace/formats/internal/sse"
)

// Format reads messages of Anthropic's Messages API in the layouts in
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
var Format = trace.Format{
	Name:     "anthropic",
	Doc:      "Anthropic messages: requests, bare lists of messages, and logs of requests with responses.",
	Spec:     "https://docs.anthropic.com/en/api/messages",
	Detect:   detectAnthropic,
	Decode:   read.Decode,
	Assemble: read.Assemble,
}

// read reads a record.
var read build.RequestReader = func(b *build.Builder, c *jsonscan.Cursor) *build.RequestRecord {
	d := NewRecord(b)
	if c.Kind() == jsonscan.Array {
		d.list(c)
	} else {
		d.read(c, true)
	}
	return &d.RequestRecord
}

// NewRecord returns a record that counts what is odd in a builder.
func NewRecord(b *build.Builder) *Record {
	return &Record{Anthropic: message.Anthropic{Builder: b}, RequestRecord: build.NewRequest(b)}
}

// Record reads the record around the messages.
type Record struct {
	message.Anthropic
	build.RequestRecord
	answer []byte // a response that stands before its request
}

// list reads the messages.
func (d *Record) list(c *jsonscan.Cursor) {
	for ok := c.Array(); ok && c.Element(); {
		d.Found = true
		if m, ok := d.Message(c); ok {
			d.Waiting = string(m.Role) != "assistant"
			d.AddItems(&d.RequestRecord, m)
		}
	}
}

// read reads a request; outer says that it may instead be a log entry that has
// the request in it.
func (d *Record) read(c *jsonscan.Cursor, outer bool) {
	if !c.Object() {
		return
	}
	b := d.Builder
	for c.Member() {
		switch string(c.Key()) {
		case "messages":
			if d.Found {
				b.Anomaly(build.CodeKeyDuplicate, 1)
				d.Restart()
			}
			d.list(c)
			d.Found = true
		case "system":
			if text := build.ReadContent(c); !text.IsEmpty() {
				d.Items = slices.Insert(d.Items, 0, build.Item{Kind: build.ItemSystem, Value: text})
			}
		case "tools":
			if tools := b.ReadTools(c); len(tools) > 0 {
				b.Trajectory.Tools = tools
			}
		case "model":
			d.Model, _ = c.Text()
		case "id":
			if outer {
				d.ID = b.ReadID(c)
			}
		case "request", "body", "request_body":
			if outer {
				b.Nested(c, d.streamed, func(c *jsonscan.Cursor) { d.read(c, false) })
				d.Asked = true
			}
		case "response", "response_body":
			switch {
			case !outer:
			case d.Asked:
				b.Nested(c, d.streamed, d.Response)
			default:
				d.answer = c.Raw()
			}
		}
	}
	if outer && d.answer != nil {
		later := jsonscan.New(d.answer)
		b.Nested(&later, d.streamed, d.Response)
	}
}

// streamed joins a text that is a stream to the response that it is.
func (d *Record) streamed(text []byte) []byte {
	if !sse.IsStream(text) {
		return text
	}
	s := &sse.Message{}
	for _, payload := range sse.Payloads(text) {
		if c := jsonscan.New(payload); c.Kind() == jsonscan.Object && c.End() == nil {
			s.Add(payload)
		}
	}
	joined := s.Text()
	sse.CountCut(d.Builder, joined)
	return joined
}

// Response reads the answer to a request: the last turn.
func (d *Record) Response(c *jsonscan.Cursor) {
	if c.Kind() != jsonscan.Object {
		return
	}
	m, ok := d.Message(c)
	if !ok || string(m.Role) != "assistant" {
		return
	}
	d.Found, d.Answered, d.Answer = true, true, len(d.Items)
	d.AddItems(&d.RequestRecord, m)
	d.ID = d.Builder.Text(m.ID)
	if len(m.Model) > 0 {
		d.Model = m.Model
	}
}

func detectAnthropic(h trace.Head) trace.Match {
	if len(h.Records) == 0 {
		return trace.Match{}
	}
	whole := h.Container == trace.ContainerArray && h.Records[0].Has("role")
	for _, r := range h.Records {
		var s message.Signs
		switch s.Add(r, whole); {
		case s.Other || s.Agent:
			return trace.Match{Whole: whole}
		case s.Blocks || s.Schemas:
			m := trace.Match{OK: true, Whole: whole}
			if repeats, sure := read.Repeats(h); !whole {
				m.Log, m.Unsure = repeats, !repeats && !sure
			}
			return m
		}
	}
	m := trace.Match{Whole: whole}
	if whole || h.Records[0].Has("messages") || h.Records[0].Has("request") || h.Records[0].Has("content") {
		m.Lacks = "no message has a tool_use or tool_result block, and no tool an input_schema"
	}
	return m
}
