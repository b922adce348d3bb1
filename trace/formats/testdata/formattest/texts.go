package formattest

import (
	"fmt"
	"strings"
)

func ATIFDocument(members string) string {
	return `{"schema_version": "ATIF-v1.7", "session_id": "s", "agent": {"name": "a", "version": "1"}, ` + members + `}`
}

// SSE writes events as they are sent.
func SSE(payloads ...string) string {
	var b strings.Builder
	for _, p := range payloads {
		fmt.Fprintf(&b, "data: %s\n\n", p)
	}
	return b.String()
}

// Chunk writes a chunk of a chat completion.
func Chunk(id, delta string) string {
	return fmt.Sprintf(`{"id":%q,"object":"chat.completion.chunk","created":1767348000,"model":"gpt-x","choices":[{"index":0,"delta":%s,"finish_reason":null}]}`, id, delta)
}
