// Package message reads messages as the interfaces of models write them: Chat those
// of OpenAI's chat completions, Anthropic those of the Messages interface, Responses
// the items of the Responses interface. Many formats hold such messages. Where a
// format may hold messages of any interface, library or framework, a Reader finds out
// which they are.
//
// A JSON cursor comes in, and a build.Builder or a list of build.Item gets what they
// say. It is O(message).
package message

import (
	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// Chat reads messages as OpenAI's chat completions have them, and keeps what they say.
type Chat struct {
	build.RequestRecord
	calls []build.Item // of the current message
}

// ChatMessage is a message with the members that are read.
type ChatMessage struct {
	Role, Name, CallID []byte
	Content, Refusal   trace.Raw
	Thought            trace.Raw
	ended              trace.Status // of the call that a result is of, where the message says so
	failure            trace.Raw
}

// Messages passes over an array of messages and adds them. It returns false if there is
// none.
func (d *Chat) Messages(c *jsonscan.Cursor) bool {
	if !c.Array() {
		return false
	}
	for c.Element() {
		if m, ok := d.Message(c); ok {
			d.Add(m)
		}
	}
	return true
}

// Message reads a message. It returns false if there is none.
func (d *Chat) Message(c *jsonscan.Cursor) (m ChatMessage, ok bool) {
	d.calls = d.calls[:0]
	if !c.Object() {
		d.Odd.Anomaly(build.CodeMessageShape, 1)
		return m, false
	}
	var seen build.Members
	unread := 0
	for c.Member() {
		switch string(c.Key()) {
		case "role":
			seen.Note(d.Odd, "role")
			m.Role, _ = c.Text()
		case "name":
			seen.Note(d.Odd, "name")
			m.Name, _ = c.Text()
		case "tool_call_id":
			seen.Note(d.Odd, "tool_call_id")
			m.CallID, _ = c.Text()
		case "content":
			seen.Note(d.Odd, "content")
			m.Content = build.ReadContent(c)
		case "refusal":
			seen.Note(d.Odd, "refusal")
			m.Refusal = build.ReadContent(c)
		case "reasoning_content", "reasoning":
			if thought := build.ReadContent(c); !thought.IsEmpty() && !seen.Note(d.Odd, "reasoning") {
				m.Thought = thought
			}
		case "tool_calls":
			if seen.Note(d.Odd, "tool_calls") {
				d.calls = d.calls[:0]
			}
			d.readCalls(c)
		case "error":
			if m.failure = build.ReadRaw(c); m.failure.Form != trace.FormNone && string(m.failure.Data) != "false" && !m.failure.IsEmpty() {
				m.ended = trace.StatusFailed
			} else {
				m.failure, m.ended = trace.Raw{}, trace.StatusOK
			}
		case "is_error", "isError":
			if failed, ok := c.Bool(); ok {
				m.ended = build.StatusOf(!failed)
			}
		case "function_call":
			seen.Note(d.Odd, "function_call")
			if c.Object() {
				d.calls = append(d.calls, build.Item{Kind: build.ItemCall})
				readFunction(c, &d.calls[len(d.calls)-1])
			}
		default:
			unread += callsUnder(c)
		}
	}
	if string(m.Role) == "assistant" && len(d.calls) == 0 {
		if unread == 0 && WritesCalls(m.Content.Data) {
			unread = 1
		}
		d.Odd.Anomaly(build.CodeCallsUnread, unread)
	}
	return m, true
}

// readCalls reads tool_calls: a list, one call alone, or the text of either.
func (d *Chat) readCalls(c *jsonscan.Cursor) {
	switch c.Kind() {
	case jsonscan.Array:
		for ok := c.Array(); ok && c.Element(); {
			d.call(c)
		}
	case jsonscan.Object:
		d.call(c)
	case jsonscan.String:
		if text := build.InnerJSON(build.ReadRaw(c)); text != nil {
			in := jsonscan.New(text)
			d.readCalls(&in)
		}
	}
}

// call reads an element of tool_calls. Those of a simulated user are left out.
func (d *Chat) call(c *jsonscan.Cursor) {
	call := build.Item{Kind: build.ItemCall}
	if name, ok := c.Text(); ok && len(name) > 0 { // its name is all that was kept
		call.Tool = name
		d.calls = append(d.calls, call)
		return
	}
	if !c.Object() {
		d.Odd.Anomaly(build.CodeMessageShape, 1)
		return
	}
	byUser := false
	for c.Member() {
		switch string(c.Key()) {
		case "id":
			call.ID, _ = c.Text()
		case "function", "custom":
			if name, ok := c.Text(); ok { // {"function": "f", "args": {}}
				call.Tool = name
			} else if c.Object() {
				readFunction(c, &call)
			}
		case "name", "tool", "tool_name", "toolName", "function_name":
			if name, ok := c.Text(); ok {
				call.Tool = name
			}
		case "arguments", "args", "parameters", "params", "input", "tool_input":
			if args := build.ReadArgs(c); call.Value.IsZero() {
				call.Value = args
			}
		case "output", "result": // of a log that keeps both in one
			call.Result = build.ReadContent(c)
			call.Answered = !call.Result.IsZero()
		case "requestor":
			who, _ := c.Text()
			byUser = string(who) == "user"
		}
	}
	if !byUser {
		d.calls = append(d.calls, call)
	}
}

// readFunction reads the members of what names the tool: a function with arguments,
// or a custom tool with free text.
func readFunction(c *jsonscan.Cursor, call *build.Item) {
	for c.Member() {
		switch string(c.Key()) {
		case "name":
			call.Tool, _ = c.Text()
		case "arguments":
			call.Value = build.ReadArgs(c)
		case "input":
			call.Value, call.Free = build.ReadArgs(c), true
		}
	}
}

// Add adds what a message says.
func (d *Chat) Add(m ChatMessage) {
	d.Waiting = string(m.Role) != "assistant"
	d.Odd.Anomaly(build.CodeContentUnknown, unreadTexts(m.Content))
	switch string(m.Role) {
	case "user":
		d.Items = append(d.Items, build.Item{Kind: build.ItemUser, Value: m.Content})
	case "system", "developer":
		d.Items = append(d.Items, build.Item{Kind: build.ItemSystem, Value: m.Content})
	case "tool", "function":
		d.Items = append(d.Items, build.Item{Kind: build.ItemResult, ID: m.CallID, Tool: m.Name, Value: m.Content, Status: m.ended, Err: m.failure})
	case "assistant":
		text := m.Content.OrAbsent()
		if text.IsZero() {
			text = m.Refusal.OrAbsent()
		}
		d.Items = append(d.Items, build.Item{Kind: build.ItemText, Value: text, Opens: true})
		if !m.Thought.IsEmpty() {
			d.Items = append(d.Items, build.Item{Kind: build.ItemThought, Value: m.Thought})
		}
		d.Items = append(d.Items, d.calls...)
		d.Turns = append(d.Turns, build.Response{})
	case "":
		d.Odd.Anomaly(build.CodeMessageShape, 1)
	default:
		d.Odd.Unread(build.CodeMessageRole, "role", m.Role)
	}
}

// unreadTexts counts the parts of a content that say that they are text, and have none
// under a name that is known.
func unreadTexts(content trace.Raw) (n int) {
	if content.Form != trace.FormParts {
		return 0
	}
	c := jsonscan.New(content.Data)
	for ok := c.Array(); ok && c.Element(); {
		text, said := false, false
		for ok := c.Object(); ok && c.Member(); {
			switch string(c.Key()) {
			case "type":
				kind, _ := c.Text()
				text = string(kind) == "text"
			case "text", "content":
				said = true
			}
		}
		if text && !said {
			n++
		}
	}
	return n
}
