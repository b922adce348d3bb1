package sessions

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/internal/message"
)

// Messages reads messages of any form that package message knows, in envelopes in
// which agents and libraries keep them:
//
//	{"role", "message": {"content": [...]}}                 Cursor, a message a line
//	{"type": "message", "message": {"role", "content"}}     OpenClaw, Pi, Factory Droid
//	{"type", "sessionId", "message": {"role", "parts"}}     Qwen Code
//	{"info": {...}, "messages": [{"info", "parts"}]}        opencode
//	{"role", "content": [{"type": "toolRequest", ...}]}     goose
//	{"type": "user", "content", "toolCalls"}                Grok CLI
//	{"session_id", "tools", "messages": [...]}              Hermes, and others with messages and tools
//	{"conversations": [{"from", "value"}], "tools"}         ShareGPT, LLaMA-Factory
//	{"source", "type": "TextMessage", "content"}            AutoGen
//	{"kind": "request", "parts": [{"part_kind", ...}]}      pydantic-ai
//
// A record with a list of messages is a session; records that are messages are
// together the session of their file. A message of the model is a turn, and what it
// writes down as calls in its text is calls.
var Messages = trace.Format{
	Name:     "messages",
	Doc:      "Messages of agents and libraries: opencode, Cursor, OpenClaw, Droid, Qwen Code, goose, AutoGen, pydantic-ai, ShareGPT.",
	Spec:     "https://opencode.ai/docs/cli/#export",
	Detect:   detectMessages,
	Decode:   decoder(holdsMessages, nil),
	Assemble: assembler("", readMessages),
}

// messageLists are the members that hold the messages of a session.
var messageLists = []string{"messages", "conversations", "conversation", "history", "trajectory", "items"}

// messageList returns the messages of a session, nil if it has none.
func messageList(record []byte) []byte {
	if build.IsKind(record, '[') {
		return record
	}
	for _, name := range messageLists {
		if list := build.MemberRaw(record, name); build.IsKind(list, '[') {
			return list
		}
	}
	return nil
}

func holdsMessages(record []byte) bool { return messageList(record) != nil }

// readMessages adds the messages of a record.
func readMessages(l *log, record []byte) {
	t := l.b.Trajectory
	if list := messageList(record); list != nil {
		if build.IsKind(record, '{') {
			about(l, record)
		}
		c := jsonscan.New(list)
		for ok := c.Array(); ok && c.Element(); {
			if one := c.Raw(); build.IsKind(one, '{') {
				readMessage(l, one)
			}
		}
		return
	}
	kind := text(record, "type")
	switch kind {
	case "session", "session_start", "session_meta", "session_info":
		t.ID, t.Session = cmp.Or(t.ID, text(record, "id"), text(record, "sessionId")), cmp.Or(t.Session, text(record, "id"))
		return
	case "model_change":
		t.Model = cmp.Or(t.Model, text(record, "modelId"), text(record, "model"))
		return
	}
	if id := cmp.Or(text(record, "sessionId"), text(record, "session_id"), text(record, "sessionID")); id != "" {
		t.ID, t.Session = cmp.Or(t.ID, id), cmp.Or(t.Session, id)
	}
	readMessage(l, record)
}

// about reads what a record says about its session.
func about(l *log, record []byte) {
	t := l.b.Trajectory
	t.ID = cmp.Or(t.ID, text(record, "session_id"), text(record, "sessionId"), text(record, "info", "id"), text(record, "conversation_id"), text(record, "id"))
	t.Session = cmp.Or(t.Session, text(record, "session_id"), text(record, "sessionId"), text(record, "info", "id"))
	t.Model = cmp.Or(t.Model, text(record, "model"))
	if tools := raw(build.MemberRaw(record, "tools")); !tools.IsZero() {
		if list := build.InnerJSON(tools); build.IsKind(list, '[') {
			l.messages.Tools = append(l.messages.Tools, message.DefinitionsIn(l.b, list)...)
		}
	}
	for _, name := range []string{"system", "system_prompt", "systemPrompt"} {
		if system := raw(build.MemberRaw(record, name)); system.Form == trace.FormString && !system.IsEmpty() {
			l.b.Message(trace.RoleSystem, system)
			break
		}
	}
}

// readMessage adds a message with its envelope.
func readMessage(l *log, record []byte) {
	inner := record
	role := text(record, "role")
	kind := text(record, "type")
	if m := build.MemberRaw(record, "message"); build.IsKind(m, '{') {
		inner = m
		if kind == "system" || kind != "message" && role == "" && text(m, "role") == "" {
			role = kind
		}
	} else if build.IsKind(build.MemberRaw(record, "info"), '{') { // opencode
		role = text(record, "info", "role")
	} else if role == "" {
		role = map[string]string{"user": "user", "assistant": "assistant", "system": "system", "tool_result": "tool", "tool_call": "tool_call"}[kind]
	}
	if text(inner, "role") == "" && role != "" {
		inner = append(jsonscan.AppendQuoted([]byte(`{"role":`), role), append([]byte{','}, bytes.TrimLeft(inner, " \t\r\n{")...)...)
		if c := jsonscan.New(inner); c.End() != nil {
			return
		}
	}
	s := said{
		at:    moment(record, "timestamp", "info.time.created", "time.created", "created_at", "createdAt", "created", "message.timestamp"),
		end:   moment(record, "info.time.completed", "time.completed"),
		model: cmp.Or(text(record, "model"), text(inner, "model"), text(record, "info", "modelID"), text(inner, "model_name")),
	}
	for _, usage := range [][]byte{member(inner, "usage"), member(record, "usage"), member(record, "info", "tokens"), member(inner, "metadata", "usage")} {
		if build.IsKind(usage, '{') && !s.usage.Known {
			s.usage, _ = message.FindUsage(append(append([]byte(`{"usage":`), usage...), '}'))
			if !s.usage.Known {
				s.usage = build.ReadUsage(usage, &build.UsageSession)
			}
		}
	}
	items, _ := l.messages.Read(trace.JSONOf(inner), false)
	if text(record, "subtype") == "notification" { // the program in the user's name
		for i := range items {
			if items[i].Kind == build.ItemUser {
				items[i].Kind = build.ItemSystem
			}
		}
	}
	l.add(items, s)
}

func detectMessages(h trace.Head) trace.Match {
	if len(h.Records) == 0 {
		return trace.Match{}
	}
	for _, r := range h.Records {
		m := r.Members
		kind := strings.Trim(string(m["type"]), `"`)
		inner := trace.NewHeadRecord(m["message"], true)
		switch {
		case kind == "message" && r.Has("role", "content", "model"), // a response of Anthropic's interface alone
			r.Has("role", "message") && inner.Has("content"), kind == "message" && inner.Has("role"),
			r.Has("message") && inner.Has("parts") && inner.Has("role"):
			return trace.Match{OK: true}
		case r.Has("info", "messages") && bytes.Contains(m["messages"], []byte(`"parts"`)), r.Has("info", "parts") && build.HasMember(m["info"], "role"):
			return trace.Match{OK: true}
		case r.Has("conversations") && bytes.Contains(m["conversations"], []byte(`"from"`)):
			return trace.Match{OK: true}
		case r.Has("kind", "parts") && bytes.Contains(m["parts"], []byte(`"part_kind"`)),
			r.Has("source", "content") && (strings.HasSuffix(kind, "Message") || strings.HasSuffix(kind, "Event")):
			return trace.Match{OK: true}
		case (kind == "user" || kind == "assistant") && r.Has("content") && !r.Has("message") && !r.Has("role"):
			return trace.Match{OK: true}
		}
		if foreign(r.Raw) || r.Has("messages", "tools") && bytes.Contains(m["tools"], []byte(`"input_schema"`)) && bytes.Contains(m["messages"], []byte(`"tool_calls"`)) {
			return trace.Match{OK: true}
		}
		for _, name := range messageLists {
			list := m[name]
			if !build.IsKind(list, '[') {
				continue
			}
			c := jsonscan.New(list)
			for ok := c.Array(); ok && c.Element(); {
				if foreign(c.Raw()) {
					return trace.Match{OK: true}
				}
			}
		}
	}
	return trace.Match{}
}

// foreignParts are types of parts that neither OpenAI's nor Anthropic's interfaces
// have.
var foreignParts = [][]byte{
	[]byte("toolCall"), []byte("toolRequest"), []byte("toolResponse"), []byte("tool-call"), []byte("tool-result"), []byte("tool_call"), []byte("toolResult"),
}

// foreign reports whether a message is of a form that is no interface's.
func foreign(object []byte) bool {
	if !build.IsKind(object, '{') {
		return false
	}
	found, source := false, false
	c := jsonscan.New(object)
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "source":
			source = c.Kind() == jsonscan.String
		case "type":
			kind, _ := c.Text()
			found = found || source && (bytes.HasSuffix(kind, []byte("Message")) || bytes.HasSuffix(kind, []byte("Event")))
		case "role":
			switch role, _ := c.Text(); string(role) {
			case "toolResult", "tool-call", "tool-response", "tool_response":
				found = true
			}
		case "part_kind":
			found = true
		case "content", "parts":
			for ok := c.Array(); ok && c.Element(); {
				for ok := c.Object(); ok && c.Member(); {
					switch string(c.Key()) {
					case "type":
						kind, _ := c.Text()
						for _, other := range foreignParts {
							found = found || bytes.Equal(kind, other)
						}
					case "part_kind":
						found = true
					}
				}
			}
		}
	}
	return found
}
