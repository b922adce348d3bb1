package openai

import (
	"bytes"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/message"
)

func detectOpenAIChat(h trace.Head) trace.Match {
	if len(h.Records) == 0 {
		return trace.Match{}
	}
	m := trace.Match{Whole: h.Container == trace.ContainerArray && h.Records[0].Has("role")}
	var s chatSigns
	for _, r := range h.Records {
		if message.InSession(r) {
			s.other = true
			break
		}
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
		if repeats, sure := readChat.Repeats(h); !m.Whole {
			m.Log, m.Unsure = repeats, !repeats && !sure
		}
	}
	return m
}

// lacksMessages says what is missing in a record that has something of a
// conversation but its messages, "" if there is nothing of one.
func lacksMessages(r trace.HeadRecord) string {
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
func (s *chatSigns) record(c *jsonscan.Cursor, inMessage bool) {
	if inMessage {
		s.message(c)
		return
	}
	if s.list(c) || !c.Object() {
		return
	}
	for c.Member() {
		key := c.Key()
		for _, name := range message.NotChat {
			s.other = s.other || bytes.Equal(key, name)
		}
		switch string(key) {
		case "messages":
			s.list(c)
		case "request", "body", "request_body":
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
