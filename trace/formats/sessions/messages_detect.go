package sessions

import (
	"bytes"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/internal/message"
	"github.com/awo-dev/awo/trace/formats/maps"
)

// claims is what the map of heads says.
var claims = maps.Detect("messages")

func detectMessages(h trace.Head) trace.Match {
	match := claims(h)
	for _, r := range h.Records {
		if r.Has("workspaceRootPath", "lastUsedAt") || r.Has("question_ID", "history") { // Craft Agents, Who&When: they have maps
			return trace.Match{}
		}
		match.OK = match.OK || foreign(r.Raw)
		for _, name := range messageLists {
			list := r.Members[name]
			if match.OK || !build.IsKind(list, '[') || name == "trajectory" && r.Has("instance_id") { // SWE-agent's
				continue
			}
			for one := range build.Elements(list) {
				match.OK = match.OK || foreign(one)
			}
		}
	}
	return match
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
	found, source, human, said, dumped := false, false, false, false, false
	c := jsonscan.New(object)
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "source":
			source = c.Kind() == jsonscan.String
		case "type":
			kind, _ := c.Text()
			found = found || source && (bytes.HasSuffix(kind, []byte("Message")) || bytes.HasSuffix(kind, []byte("Event")))
			human = string(kind) == "human" || string(kind) == "ai"
		case "data":
			found = found || human && build.HasMember(c.Raw(), "content")
		case "role", "Role":
			if c.Kind() == jsonscan.Object {
				found = true
			}
			switch role, _ := c.Text(); string(role) {
			case "toolResult", "tool-call", "tool-response", "tool_response", "function_call", "observation", "human", "ai", "gpt":
				found = true
			}
		case "part_kind", "additional_kwargs", "Items", "from_history":
			found = true
		case "message_type": // Letta
			kind, _ := c.Text()
			found = found || bytes.HasSuffix(kind, []byte("_message"))
		case "lc": // an object as LangChain dumps it
			dumped = c.Kind() == jsonscan.Number
		case "kwargs":
			found = found || dumped && build.HasMember(c.Raw(), "content")
		case "items": // Semantic Kernel's
			found = found || c.Array() && c.Element() && build.HasMember(c.Raw(), "content_type")
		case "toolInvocations", "tools_called", "blocks":
			found = found || c.Array() && c.Element() && c.Kind() == jsonscan.Object
		case "content":
			said = true
			if text, ok := c.Text(); ok {
				found = found || message.WritesCalls(text)
				continue
			}
			if c.Kind() == jsonscan.Object { // Mastra
				found = build.HasMember(c.Raw(), "parts") || found
				continue
			}
			found = foreignContent(&c, false) || found
		case "parts":
			found = foreignContent(&c, true) || found
		}
	}
	return found || human && said
}

// foreignContent reports whether a list of parts has one that no interface has. Parts
// under a name of their own have no type in Gemini's interface.
func foreignContent(c *jsonscan.Cursor, typed bool) (found bool) {
	for ok := c.Array(); ok && c.Element(); {
		for ok := c.Object(); ok && c.Member(); {
			switch string(c.Key()) {
			case "type":
				kind, _ := c.Text()
				found = found || typed && len(kind) > 0
				for _, other := range foreignParts {
					found = found || bytes.Equal(kind, other)
				}
			case "part_kind", "toolUse", "toolResult", "tool_call", "tool_call_result":
				found = true
			case "text":
				said, _ := c.Text()
				found = found || message.WritesCalls(said)
			}
		}
	}
	return found
}
