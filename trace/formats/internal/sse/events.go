// Package sse puts responses together that were streamed: Chat, Message and Response
// take the events of OpenAI's chat completions, Anthropic's Messages and OpenAI's
// Responses, and write what the interface gives without streaming.
//
// The text of a stream comes in and JSON goes out. It is O(response).
package sse

import (
	"bytes"
	"iter"

	"github.com/awo-dev/awo/internal/jsonscan"
)

// Family is whose events a stream has.
type Family uint8

const (
	FamilyUnknown   Family = iota
	FamilyChat             // OpenAI chat completions
	FamilyMessages         // Anthropic Messages
	FamilyResponses        // OpenAI Responses
)

// Head is what an event says about the stream that it is in.
type Head struct {
	Family       Family
	ID           []byte // of the response, where every event has it
	Begins, Ends bool   // a response
	Response     []byte // as far as the interface has made it
}

// Done is what ends a stream of chat completions.
const Done = "[DONE]"

// ReadHead reads what an event is; false if it is none that is known.
func ReadHead(payload []byte) (h Head, ok bool) {
	if string(payload) == Done {
		return Head{Ends: true}, true
	}
	var kind, object []byte
	choices := false
	c := jsonscan.New(payload)
	for more := c.Object(); more && c.Member(); {
		switch string(c.Key()) {
		case "type":
			kind, _ = c.Text()
		case "object":
			object, _ = c.Text()
		case "id":
			h.ID, _ = c.Text()
		case "choices":
			choices = c.Kind() == jsonscan.Array
		case "response":
			if c.Kind() == jsonscan.Object {
				h.Response = c.Raw()
			}
		}
	}
	switch name := string(kind); {
	case bytes.HasPrefix(kind, []byte("response.")):
		h.Family, h.ID = FamilyResponses, nil
		h.Begins = name == "response.created"
		h.Ends = name == "response.completed" || name == "response.failed" || name == "response.incomplete"
	case name == "message_start", name == "message_delta", name == "message_stop",
		name == "content_block_start", name == "content_block_delta", name == "content_block_stop":
		h.Family, h.ID = FamilyMessages, nil
		h.Begins, h.Ends = name == "message_start", name == "message_stop"
	case string(object) == "chat.completion.chunk", choices && len(kind) == 0 && len(object) == 0:
		h.Family = FamilyChat
	default:
		return Head{}, false
	}
	return h, true
}

// Payload returns what a line of a stream carries: what stands behind
// "data:", or the line itself if events stand alone on their lines. Other fields
// and comments carry nothing.
func Payload(line []byte) (payload []byte, field bool) {
	line = bytes.TrimSpace(line)
	if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
		return bytes.TrimSpace(data), true
	}
	if len(line) > 0 && line[0] == '{' || string(line) == Done {
		return line, false
	}
	return nil, false
}

// IsStream reports whether a text is a stream of events, and not JSON.
func IsStream(text []byte) bool {
	text = bytes.TrimLeft(text, " \t\r\n")
	return bytes.HasPrefix(text, []byte("data:")) || bytes.HasPrefix(text, []byte("event:"))
}

// Payloads yields what the events of a stream carry, each with its offset. An
// event whose data stands on several lines is put together, and stands at the
// first of them.
func Payloads(text []byte) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		var open []byte // the lines of an event that is not complete
		start, offset := 0, 0
		for line := range bytes.Lines(text) {
			at := offset
			offset += len(line)
			payload, field := Payload(line)
			if payload != nil {
				at += bytes.Index(line, payload)
			}
			switch {
			case len(open) > 0 && field:
				open = append(append(open, '\n'), payload...)
			case len(open) > 0 && len(bytes.TrimSpace(line)) > 0:
				continue
			case len(payload) > 0:
				start, open = at, payload[:len(payload):len(payload)]
			case len(open) == 0:
				continue
			default: // a blank line ends what is there
				if !yield(start, open) {
					return
				}
				open = nil
				continue
			}
			if string(open) != Done && !jsonscan.IsWhole(open) && field {
				continue
			}
			if !yield(start, open) {
				return
			}
			open = nil
		}
		if len(open) > 0 {
			yield(start, open)
		}
	}
}
