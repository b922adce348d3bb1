package encode

import (
	"strconv"
	"time"

	"github.com/awo-dev/awo/testdata/gen/office"
	"github.com/awo-dev/awo/testdata/gen/world"
)

// The lines are put together by hand: this is the hot path of large corpora,
// and the order of members is part of what must not change.

func appendText(dst []byte, s string) []byte { return world.AppendString(dst, s) }

// appendMember appends `"name":"text"` after a comma.
func appendMember(dst []byte, name, text string) []byte {
	dst = append(dst, ',', '"')
	dst = append(dst, name...)
	dst = append(dst, '"', ':')
	return appendText(dst, text)
}

func appendNumber(dst []byte, name string, n int) []byte {
	dst = append(dst, ',', '"')
	dst = append(dst, name...)
	dst = append(dst, '"', ':')
	return strconv.AppendInt(dst, int64(n), 10)
}

func appendTime(dst []byte, t time.Time) []byte {
	dst = append(dst, '"')
	dst = t.AppendFormat(dst, "2006-01-02T15:04:05.000Z")
	return append(dst, '"')
}

// appendTools appends the definitions offered to the model, in the form of
// OpenAI's function calling. With hints, each carries the annotations that a
// Model Context Protocol server gave for it.
func appendTools(dst []byte, tools []*world.Tool, hints bool) []byte {
	dst = append(dst, '[')
	for i, t := range tools {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"type":"function","function":`...)
		dst = append(dst, t.Function...)
		if hints {
			dst = append(dst, `,"annotations":`...)
			dst = append(dst, t.Annotations...)
		}
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

// appendQuoted appends JSON as the content of a JSON string.
func appendQuoted(dst []byte, v world.Value) []byte {
	var buffer [512]byte
	return world.AppendString(dst, v.AppendJSON(buffer[:0]))
}

// appendResult appends what a call returned as a JSON string.
func appendResult(dst []byte, c *office.Call) []byte {
	if c.Result.Value.Kind == world.String {
		return appendText(dst, c.Result.Value.Text)
	}
	return appendQuoted(dst, c.Result.Value)
}
