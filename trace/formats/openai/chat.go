// Package openai reads what OpenAI's interfaces and those like them are asked and
// answer: Chat for chat completions, Responses for the Responses interface.
//
// A record comes in and fragments of trajectories go out. A log in which each
// request repeats what was said before is joined to one trajectory. It is O(record),
// and keeps the id of every response while records are found.
package openai

import (
	"time"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/internal/message"
	"github.com/awo-dev/awo/trace/formats/internal/sse"
)

// Chat reads OpenAI's chat messages in the layouts in which they are
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
var Chat = trace.Format{
	General:  true,
	Name:     "openai-chat",
	Doc:      "OpenAI chat messages: requests, fine-tuning lines, bare lists of messages, and logs of requests with responses.",
	Spec:     "https://platform.openai.com/docs/api-reference/chat",
	Detect:   detectOpenAIChat,
	Decode:   readChat.Decode,
	Assemble: readChat.Assemble,
}

// readChat reads a record.
var readChat build.RequestReader = func(b *build.Builder, c *jsonscan.Cursor) *build.RequestRecord {
	d := NewChat(b)
	if d.Messages(c) {
		d.Found = true
	} else {
		d.record(c, true)
	}
	return &d.RequestRecord
}

// NewChat returns a record that counts what is odd in a builder.
func NewChat(b *build.Builder) *ChatRecord {
	return &ChatRecord{Chat: message.Chat{RequestRecord: build.NewRequest(b)}}
}

// ChatRecord reads the record around the messages.
type ChatRecord struct {
	message.Chat
	answer trace.Raw // a response that stands before its request
}

// record reads a request; outer says that it may instead be a log entry that has
// the request in it.
func (d *ChatRecord) record(c *jsonscan.Cursor, outer bool) {
	if !c.Object() {
		return
	}
	b := d.Odd
	var seen build.Members
	var model []byte
	for c.Member() {
		switch string(c.Key()) {
		case "messages":
			if seen.Note(b, "messages") {
				d.Restart()
			}
			d.Found = d.Messages(c) || d.Found
		case "tools", "functions":
			if tools := b.ReadTools(c); len(tools) > 0 {
				seen.Note(b, "tools")
				b.Trajectory.Tools = tools
			}
		case "model":
			seen.Note(b, "model")
			model, _ = c.Text()
		case "body":
			if !outer && !d.Found {
				d.record(c, false)
			}
		case "request", "request_body":
			if outer {
				if seen.Note(b, "request") {
					d.Restart()
				}
				d.Asked = true
				b.Nested(c, d.streamed, func(c *jsonscan.Cursor) { d.record(c, false) })
			}
		case "response", "response_body":
			if outer {
				seen.Note(b, "response")
				if seen.Has("request") {
					d.answer = trace.Raw{}
					b.Nested(c, d.streamed, d.Response)
				} else {
					d.answer = build.ReadRaw(c)
				}
			}
		}
	}
	if !d.answer.IsZero() && outer {
		later := jsonscan.New(d.answer.Data)
		d.answer = trace.Raw{}
		b.Nested(&later, d.streamed, d.Response)
	}
	if d.Model == nil {
		d.Model = model
	}
}

// streamed joins a text that is a stream to the response that it is.
func (d *ChatRecord) streamed(text []byte) []byte {
	if !sse.IsStream(text) {
		return text
	}
	var all []*sse.Chat
	done := false
	for _, payload := range sse.Payloads(text) {
		done = done || string(payload) == sse.Done
		if c := jsonscan.New(payload); !done && c.Kind() == jsonscan.Object && c.End() == nil {
			all = sse.AddChunk(all, payload)
		}
	}
	if len(all) == 0 {
		return []byte("{}")
	}
	s := all[0]
	if s.Cut() && !done {
		d.Odd.Anomaly(build.CodeResponseCut, 1)
		d.Odd.Anomaly(build.CodeCallBroken, s.DropBroken())
	}
	d.Odd.Anomaly(build.CodeChoiceIgnored, int(s.Ignored)+len(all)-1)
	return s.Text(true)
}

// Response reads the answer to a request: its first choice is the last turn.
func (d *ChatRecord) Response(c *jsonscan.Cursor) {
	b := d.Odd
	var usage trace.Usage
	var created time.Time
	answered := false
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "id":
			d.ID = b.ReadID(c)
		case "model":
			if text, ok := c.Text(); ok {
				d.Model = text
			}
		case "created":
			if seconds, ok := c.Int(); ok && seconds > 0 && seconds < build.MaxUnix {
				created = time.Unix(seconds, 0).UTC()
			}
		case "usage":
			usage = build.UsageChat.Read(c)
		case "choices":
			answered = d.choices(c) || answered
		case "body":
			d.Response(c)
		}
	}
	if answered {
		d.Found, d.Answered = true, true
		told := &d.Turns[len(d.Turns)-1]
		told.Usage, told.End = usage, created
	}
}

// choices adds the first of several answers. It returns false if there is none.
func (d *ChatRecord) choices(c *jsonscan.Cursor) (answered bool) {
	for ok := c.Array(); ok && c.Element(); {
		if answered {
			d.Odd.Anomaly(build.CodeChoiceIgnored, 1)
			continue
		}
		for ok := c.Object(); ok && c.Member(); {
			if string(c.Key()) != "message" {
				continue
			}
			if m, ok := d.Message(c); ok && !answered {
				answered, d.Answer = true, len(d.Items)
				d.Add(message.ChatMessage{Role: []byte("assistant"), Content: m.Content, Refusal: m.Refusal, Thought: m.Thought})
			}
		}
	}
	return answered
}
