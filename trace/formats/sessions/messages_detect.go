package sessions

import (
	"bytes"
	"strings"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/internal/message"
)

func detectMessages(h trace.Head) trace.Match {
	if len(h.Records) == 0 {
		return trace.Match{}
	}
	lacks := ""
	for _, r := range h.Records {
		m := r.Members
		if r.Has("ts", "type") && (r.Has("say") || r.Has("ask")) {
			lacks = "this is what Cline shows; what its model was told and answered is in api_conversation_history.json, next to this file"
		}
		if r.Has("workspaceRootPath", "lastUsedAt") || r.Has("question_ID", "history") { // Craft Agents, Who&When: they have maps
			return trace.Match{}
		}
		if detectOther(r) {
			return trace.Match{OK: true}
		}
		kind := strings.Trim(string(m["type"]), `"`)
		inner := trace.NewHeadRecord(m["message"], true)
		switch {
		case kind == "message" && r.Has("role", "content") && (r.Has("model") || r.Has("sessionId")), // a response of Anthropic's interface alone, CodeBuddy
			r.Has("role", "message") && inner.Has("content"), kind == "message" && inner.Has("role"),
			r.Has("message") && inner.Has("parts") && inner.Has("role"), r.Has("role", "content", "ts"): // Cline, Roo Code
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
			if !build.IsKind(list, '[') || name == "trajectory" && r.Has("instance_id") { // SWE-agent's
				continue
			}
			for one := range build.Elements(list) {
				if foreign(one) {
					return trace.Match{OK: true}
				}
			}
		}
	}
	return trace.Match{Lacks: lacks}
}

// detectOther reports whether a record is of a session that is kept as no list of
// messages, or whose messages stand in its state.
func detectOther(r trace.HeadRecord) bool {
	m, has := r.Members, r.Has
	switch {
	case has("system", "chat") && bytes.Contains(m["chat"], []byte("USER:")),
		has("query", "answers", "tools") && bytes.Contains(m["answers"], []byte("arguments")),
		has("input", "actual_output", "tools_called"), has("test_cases") && bytes.Contains(m["test_cases"], []byte(`"tools_called"`)),
		isStep(has),
		has("data") && bytes.Contains(m["data"], []byte(`"agent_thoughts"`)), has("agent_thoughts", "query"),
		has("runs", "session_id") && bytes.Contains(m["runs"], []byte(`"messages"`)), has("run_id", "messages", "agent_id"),
		bytes.Contains(m["object"], runStepMark), has("object", "data") && bytes.Contains(m["data"], runStepMark),
		has("store", "class_name") && bytes.Contains(m["store"], []byte(`"role"`)), // LlamaIndex's chat store
		has("trajectory", "reasoning") && bytes.Contains(m["trajectory"], []byte(`"tool_name_0"`)),
		has("type", "toolName", "parameters"), has("type", "call_id", "tool_call", "subtype"):
		return true
	case has("messages") || has("trace_id") || has("traceId"):
		return false
	}
	for _, name := range []string{"values", "llm_context", "agent_states", "agent_state"} {
		if inner := m[name]; build.IsKind(inner, '{') && (bytes.Contains(inner, []byte(`"messages"`)) || bytes.Contains(inner, []byte(`"message_thread"`))) {
			return true
		}
	}
	inner := trace.NewHeadRecord(m["message"], true)
	return has("message", "message_id") && inner.Has("role", "content") // Strands
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
