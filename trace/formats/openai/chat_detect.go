package openai

import (
	"bytes"

	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/message"
)

func detectOpenAIChat(h trace.Head) trace.Match {
	if len(h.Records) == 0 {
		return trace.Match{}
	}
	m := trace.Match{Whole: h.Container == trace.ContainerArray && h.Records[0].Has("role")}
	var s message.Signs
	for _, r := range h.Records {
		if s.Add(r, m.Whole); !m.Whole && s.Messages {
			break // of a bare list all records are one
		}
	}
	other := s.Other || s.System || s.Blocks || s.Schemas || s.Parts
	switch {
	case !s.Messages:
		if !other {
			m.Lacks = lacksMessages(h.Records[0])
		}
	case other:
		m.Lacks = "the messages are those of another interface"
	case !s.Chat:
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
