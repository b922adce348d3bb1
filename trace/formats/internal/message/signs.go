package message

import (
	"bytes"
	"slices"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
)

// Signs are what the beginnings of records say about the interface that their messages
// are of.
type Signs struct {
	Messages bool // there is a list of messages, and not an empty one
	Chat     bool // with a role that chat messages have, and content or calls
	Parts    bool // a message has parts, or a type
	Blocks   bool // content has blocks that only Anthropic's interface has
	Schemas  bool // and so do definitions of tools
	System   bool // a system prompt stands beside messages
	Other    bool // there are members of other formats
	Agent    bool // of a coding agent that keeps such messages
}

// besideMessages are members that records of other formats have beside "messages".
var besideMessages = []string{"trajectory_format", "sessionId", "projectHash", "schema_version", "samples", "simulations", "contents", "traj"}

// Add adds the signs of a record, which may be cut short; inMessage says that it is a message
// itself.
func (s *Signs) Add(r trace.HeadRecord, inMessage bool) {
	c := jsonscan.New(r.Raw)
	if inMessage {
		s.message(&c)
	} else {
		s.record(&c)
	}
	// A record of Helicone that may be of a session: requests are joined as the spans of a trace.
	s.Other = s.Other || r.Has("request_body") && (r.Truncated || bytes.Contains(bytes.ToLower(r.Raw), []byte(`"helicone-session-id"`)))
}

func (s *Signs) record(c *jsonscan.Cursor) {
	if text, ok := c.Text(); ok {
		inner := jsonscan.New(text)
		c = &inner
	}
	if s.list(c) || !c.Object() {
		return
	}
	for c.Member() {
		key := string(c.Key())
		s.Other = s.Other || slices.Contains(besideMessages, key)
		switch key {
		case "messages":
			s.list(c)
		case "request", "body", "response", "request_body", "response_body":
			s.record(c)
		case "content":
			s.content(c)
		case "tools":
			for ok := c.Array(); ok && c.Element(); {
				for ok := c.Object(); ok && c.Member(); {
					s.Schemas = s.Schemas || string(c.Key()) == "input_schema"
				}
			}
		case "system":
			s.System = true
		case "uuid", "parentUuid", "sessionId", "session_id":
			s.Agent = true
		}
	}
}

// list looks at a list of messages. It returns false if there is none.
func (s *Signs) list(c *jsonscan.Cursor) bool {
	if !c.Array() {
		return false
	}
	for c.Element() {
		s.message(c)
	}
	return true
}

func (s *Signs) message(c *jsonscan.Cursor) {
	s.Messages = true
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
			s.content(c)
		case "tool_calls", "function_call":
			said = true
		case "parts", "type":
			s.Parts = true
		case "ts": // Cline's
			s.Agent = true
		}
	}
	s.Chat = s.Chat || role && said
}

func (s *Signs) content(c *jsonscan.Cursor) {
	for ok := c.Array(); ok && c.Element(); {
		for ok := c.Object(); ok && c.Member(); {
			if string(c.Key()) != "type" {
				continue
			}
			switch text, _ := c.Text(); string(text) {
			case "tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "mcp_tool_use":
				s.Blocks = true
			}
		}
	}
}
