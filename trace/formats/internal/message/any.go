package message

import (
	"bytes"
	"strings"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// speaker is who a message is from, or what it is.
type speaker uint8

const (
	speakerUnknown    speaker = iota
	speakerUser               // the user, or whoever speaks for the user
	speakerModel              // the model
	speakerSystem             // a system prompt
	speakerTool               // the result of a call
	speakerCall               // a call in a message of its own
	speakerDefinition         // a tool that is offered, among the messages
	speakerNobody             // something about the conversation
)

// speakers are the roles of messages, in lower case and without separators, as
// interfaces, libraries and frameworks name them.
var speakers = map[string]speaker{
	"user": speakerUser, "human": speakerUser, "usermessage": speakerUser, "humanmessage": speakerUser, "humanmessagechunk": speakerUser,
	"textmessage": speakerUser, "userprompt": speakerUser, "request": speakerUser, "modelrequest": speakerUser,
	"assistant": speakerModel, "model": speakerModel, "ai": speakerModel, "gpt": speakerModel, "aimessage": speakerModel,
	"aimessagechunk": speakerModel, "assistantmessage": speakerModel, "chatbot": speakerModel, "gemini": speakerModel,
	"response": speakerModel, "modelresponse": speakerModel,
	"system": speakerSystem, "developer": speakerSystem, "systemmessage": speakerSystem, "systemprompt": speakerSystem,
	"tool": speakerTool, "function": speakerTool, "toolmessage": speakerTool, "functionmessage": speakerTool,
	"toolresult": speakerTool, "toolresponse": speakerTool, "functionresponse": speakerTool, "functionresult": speakerTool,
	"observation": speakerTool, "ipython": speakerTool, "tooloutput": speakerTool, "functioncalloutput": speakerTool,
	"functionexecutionresultmessage": speakerTool, "toolcallexecutionevent": speakerTool,
	"toolcall": speakerCall, "functioncall": speakerCall, "toolcallrequestevent": speakerCall,
	"toolinput": speakerDefinition, "tools": speakerDefinition, "tooldefinitions": speakerDefinition,
	"sessionmeta": speakerNobody, "context": speakerNobody, "toolcallsummarymessage": speakerNobody, "thoughtevent": speakerNobody,
}

// speakerOf returns who a role names.
func speakerOf(role []byte) speaker {
	if s, ok := speakers[string(role)]; ok {
		return s
	}
	return speakers[plainRole(role)]
}

// plainRole returns a role in lower case and without separators.
func plainRole(role []byte) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '-', '_', ' ', '.':
			return -1
		}
		return r
	}, strings.ToLower(string(role)))
}

// anyMessage is an object that is a message or holds messages, as far as its own
// members go.
type anyMessage struct {
	role, kind, class, source []byte
	name, callID, status      []byte
	ended                     trace.Status // of a call, by a flag or an exit code
	content, thought          trace.Raw
	text                      []byte // a string token
	parts                     []byte
	unread                    int      // elements that look like calls, under a name that is not known
	calls, results            [][]byte // tool calls and results, each an object
	kwargs                    []byte
	generations, choices      []byte
	candidates                []byte
	wrapped                   []byte
	system                    trace.Raw
	tools                     []byte
}

// isItem reports whether the object is an item of the Responses interface that is
// no message.
func (m *anyMessage) isItem() bool {
	if len(m.role) > 0 {
		return false
	}
	switch string(m.kind) {
	case "reasoning", "item_reference":
		return true
	case "tool_call":
		return false
	}
	return bytes.HasSuffix(m.kind, []byte("_call")) || bytes.HasSuffix(m.kind, []byte("_call_output"))
}

// classRole returns the role of a message by the name of its type or class, nil if
// it is none of LangChain's or AutoGen's.
func classRole(class []byte) []byte {
	name := string(class)
	switch name {
	case "human", "ai", "tool", "system", "function":
	default:
		if !strings.HasSuffix(name, "Message") && !strings.HasSuffix(name, "MessageChunk") && !strings.HasSuffix(name, "Event") {
			return nil
		}
	}
	switch speakerOf(class) {
	case speakerUser:
		return []byte("user")
	case speakerModel:
		return []byte("assistant")
	case speakerSystem:
		return []byte("system")
	case speakerTool:
		return []byte("tool")
	case speakerCall:
		return []byte("tool_call")
	case speakerNobody:
		return []byte("context")
	}
	return nil
}

// readAnyMessage reads the members of an object.
func readAnyMessage(object []byte) (m anyMessage) {
	raw := func(c *jsonscan.Cursor, kinds ...jsonscan.Kind) []byte {
		for _, k := range kinds {
			if c.Kind() == k {
				return c.Raw()
			}
		}
		return nil
	}
	var contents, message, prompt, kind2, legacy, items []byte
	var textual trace.Raw
	c := jsonscan.New(object)
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "role", "from", "message_type", "Role":
			if text := labelText(&c); len(text) > 0 && len(m.role) == 0 {
				m.role = text
			}
		case "type":
			m.kind, _ = c.Text()
		case "kind":
			kind2, _ = c.Text()
		case "source":
			m.source, _ = c.Text()
		case "id": // the class of a LangChain object, as a path
			for ok := c.Array(); ok && c.Element(); {
				class, _ := c.Text()
				m.class = classRole(class)
			}
		case "name", "tool_name", "toolName":
			if text, ok := c.Text(); ok {
				m.name = text
			}
		case "tool_call_id", "tool_call_ids", "toolCallId", "call_id", "tool_use_id":
			if id := ownID(&c); len(id) > 0 {
				m.callID = id
			}
		case "status":
			m.status, _ = c.Text()
		case "is_error", "isError":
			if failed, ok := c.Bool(); ok {
				m.ended = build.StatusOf(!failed)
			}
		case "metadata":
			for ok := c.Object(); ok && c.Member(); {
				if string(c.Key()) == "exit_code" {
					if code, ok := c.Int(); ok {
						m.ended = build.StatusOf(code == 0)
					}
				}
			}
		case "content", "Content":
			content := build.ReadContent(&c)
			if parts := mastraParts(content); parts != nil {
				m.parts = parts
			} else if m.content.IsEmpty() {
				m.content = content
			}
		case "text", "value":
			textual = build.ReadContent(&c)
			if textual.Form == trace.FormString {
				m.text = textual.Data
			}
		case "reasoning_content", "reasoning", "thinking", "thought":
			if thought := build.ReadContent(&c); thought.Form == trace.FormString || thought.Form == trace.FormParts {
				m.thought = thought
			}
		case "parts", "blocks", "Items":
			m.parts = raw(&c, jsonscan.Array)
		case "items": // Semantic Kernel's
			items = raw(&c, jsonscan.Array)
		case "contents":
			contents = raw(&c, jsonscan.Array, jsonscan.String, jsonscan.Object)
		case "tool_calls", "toolCalls", "toolInvocations", "tools_called":
			if calls := callObjects(&c); len(calls) > 0 {
				m.calls = calls
			}
		case "tool_results", "toolResults":
			m.results = callObjects(&c)
		case "additional_kwargs":
			for ok := c.Object(); ok && c.Member(); {
				switch string(c.Key()) {
				case "tool_calls":
					if calls := callObjects(&c); len(m.calls) == 0 {
						m.calls = calls
					}
				case "tool_call_id":
					if id, ok := c.Text(); ok && len(m.callID) == 0 {
						m.callID = id
					}
				case "name":
					if text, ok := c.Text(); ok && len(m.name) == 0 {
						m.name = text
					}
				}
			}
		case "function_call", "functionCall":
			if call := raw(&c, jsonscan.Object); call != nil {
				m.calls = append(m.calls, call)
			}
		case "function_call_name", "function_call_arguments_json": // OpenInference, before it knew several calls
			legacy = append(append(append(append(legacy, ",\""...), legacyCall[string(c.Key())]...), "\":"...), c.Raw()...)
		case "kwargs", "data":
			m.kwargs = raw(&c, jsonscan.Object)
		case "generations":
			m.generations = raw(&c, jsonscan.Array)
		case "choices":
			m.choices = raw(&c, jsonscan.Array)
		case "candidates":
			m.candidates = raw(&c, jsonscan.Array)
		case "instructions", "system", "systemInstruction", "system_instruction":
			m.system = build.ReadGeminiText(&c)
		case "config", "configuration":
			m.config(&c)
		case "tools", "functions":
			m.tools = raw(&c, jsonscan.Array)
		case "message":
			message = raw(&c, jsonscan.Object, jsonscan.Array, jsonscan.String)
		case "prompt", "prompts":
			prompt = raw(&c, jsonscan.Object, jsonscan.Array, jsonscan.String)
		case "messages", "output", "input", "history", "chat_history", "conversation", "conversations", "tool_messages":
			if inner := raw(&c, jsonscan.Object, jsonscan.Array, jsonscan.String); inner != nil && m.wrapped == nil {
				m.wrapped = inner
			}
		default:
			m.unread += callsUnder(&c)
		}
	}
	if legacy != nil {
		legacy[0] = '{'
		m.calls = append(m.calls, append(legacy, '}'))
	}
	if m.parts == nil && len(m.role) > 0 {
		m.parts = items
	}
	m.settle(kind2, contents, message, prompt, textual)
	return m
}

// mastraParts returns the parts in a content that says which form they have, as Mastra
// keeps it: {"format": 2, "parts": [...]}. It returns nil for any other content.
func mastraParts(content trace.Raw) []byte {
	if content.Form != trace.FormJSON || !build.IsKind(content.Data, '{') || !build.HasMember(content.Data, "format") {
		return nil
	}
	if parts := build.MemberRaw(content.Data, "parts"); build.IsKind(parts, '[') {
		return parts
	}
	return nil
}

// legacyCall is what the members of a message that is a call are called in one.
var legacyCall = map[string]string{"function_call_name": "name", "function_call_arguments_json": "arguments"}

// config reads the settings of a request as Google's libraries write them.
func (m *anyMessage) config(c *jsonscan.Cursor) {
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "system_instruction", "systemInstruction":
			m.system = build.ReadGeminiText(c)
		case "tools":
			if c.Kind() == jsonscan.Array {
				m.tools = c.Raw()
			}
		}
	}
}

// settle decides what the members mean that mean several things.
func (m *anyMessage) settle(kind2, contents, message, prompt []byte, textual trace.Raw) {
	if message != nil {
		m.wrapped = message
	}
	if m.wrapped == nil && prompt != nil {
		m.wrapped = prompt
	}
	switch {
	case contents == nil:
	case len(m.role) > 0 && contents[0] == '[':
		m.parts = contents
	case m.wrapped == nil:
		m.wrapped = contents
	}
	if len(m.role) == 0 && m.parts != nil && len(kind2) > 0 && speakerOf(kind2) != speakerUnknown {
		m.role = kind2 // pydantic-ai
	}
	if role := classRole(m.kind); role != nil && len(m.role) == 0 {
		switch {
		case m.kwargs != nil: // {"type": "human", "data": {...}}
			m.class = role
		case string(m.kind) == "TextMessage" && len(m.source) > 0 && string(m.source) != "user":
			m.role = []byte("assistant")
		default:
			m.role = role
		}
	}
	if len(m.role) == 0 && string(m.kind) == "message" && !m.content.IsEmpty() && m.wrapped == nil {
		m.role = []byte("assistant") // a response of an interface, or an item of one
	}
	if len(m.role) > 0 && m.content.IsEmpty() && m.parts == nil && !textual.IsZero() {
		m.content = textual
	}
}

// labelText returns a text, or that of an object that only names something.
func labelText(c *jsonscan.Cursor) (text []byte) {
	if t, ok := c.Text(); ok {
		return t
	}
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "value", "label", "Label":
			text, _ = c.Text()
		}
	}
	return text
}

// ownID returns an id. Of a list, which may be its JSON text, it is the last: the ids of
// what the call is in come first.
func ownID(c *jsonscan.Cursor) (id []byte) {
	if t, ok := c.Text(); ok {
		if len(t) > 1 && t[0] == '[' {
			return CallID(t)
		}
		return t
	}
	for ok := c.Array(); ok && c.Element(); {
		if t, ok := c.Text(); ok && len(t) > 0 {
			id = t
		}
	}
	return id
}

// CallID returns the id in a text that is an id, or the JSON text of a list of ids.
func CallID(text []byte) []byte {
	in := jsonscan.New(text)
	if len(text) < 2 || text[0] != '[' || in.End() != nil {
		return text
	}
	in = jsonscan.New(text)
	if id := ownID(&in); len(id) > 0 {
		return id
	}
	return text
}

// callObjects returns the objects of a list of tool calls, which may be its JSON
// text.
func callObjects(c *jsonscan.Cursor) (calls [][]byte) {
	if text, ok := c.Text(); ok {
		in := jsonscan.New(text)
		if in.Kind() == jsonscan.Array {
			return callObjects(&in)
		}
		return nil
	}
	if c.Kind() == jsonscan.Object { // one alone
		return [][]byte{c.Raw()}
	}
	for ok := c.Array(); ok && c.Element(); {
		if name, ok := c.Text(); ok && len(name) > 0 { // its name is all that was kept
			calls = append(calls, append(jsonscan.AppendQuoted([]byte(`{"name":`), name), '}'))
		} else if raw := c.Raw(); len(raw) > 0 && raw[0] == '{' {
			calls = append(calls, raw)
		}
	}
	return calls
}

// System returns the instructions beside the messages of a request or a response.
func System(object []byte) trace.Raw {
	m := readAnyMessage(object)
	return m.system
}
