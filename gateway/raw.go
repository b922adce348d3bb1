package gateway

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/awo-dev/awo/internal/jsonscan"
)

// span returns where the value of a member stands in an object, ok false if there is no
// such member. Of repeated members the last counts, as for every reader of JSON here.
func span(object []byte, name string) (start, end int, ok bool) {
	c := jsonscan.New(object)
	for in := c.Object(); in && c.Member(); {
		if string(c.Key()) != name {
			continue
		}
		raw := c.Raw()
		if raw == nil {
			return 0, 0, false
		}
		// Offset may stand before white space; the value ends where the cursor is.
		end = c.Offset()
		start, ok = end-len(raw), true
	}
	return start, end, ok
}

// member returns the value of a member as it is written, nil if there is none.
func member(object []byte, path ...string) []byte {
	for _, name := range path {
		start, end, ok := span(object, name)
		if !ok {
			return nil
		}
		object = object[start:end:end] // who appends to it changes nothing behind it
	}
	return object
}

// text returns what a string stands for, "" for everything else.
func text(value []byte) string {
	c := jsonscan.New(value)
	s, _ := c.Text()
	return string(s)
}

// replaced returns an object with another value for a member that it has. Everything
// else keeps its bytes.
func replaced(object []byte, name string, value []byte) []byte {
	start, end, ok := span(object, name)
	if !ok {
		return object
	}
	out := make([]byte, 0, len(object)-(end-start)+len(value))
	out = append(out, object[:start]...)
	out = append(out, value...)
	return append(out, object[end:]...)
}

// keys returns the names of an object's members, each once.
func keys(object []byte) (out []string) {
	c := jsonscan.New(object)
	for in := c.Object(); in && c.Member(); {
		if name := string(c.Key()); !slices.Contains(out, name) {
			out = append(out, name)
		}
		c.Skip()
	}
	return out
}

// with returns an object that has a value for a member: in the place of the one that it
// has, or behind all others.
func with(object []byte, name string, value []byte) []byte {
	if _, _, ok := span(object, name); ok {
		return replaced(object, name, value)
	}
	end := bytes.LastIndexByte(object, '}')
	if end < 0 {
		return object
	}
	out := make([]byte, 0, len(object)+len(name)+len(value)+4)
	out = append(out, object[:end]...)
	if c := jsonscan.New(object); c.Object() && c.Member() {
		out = append(out, ',')
	}
	out = append(append(append(out, quoted(name)...), ':'), value...)
	return append(out, object[end:]...)
}

// without returns an object without the members whose names begin in a way.
func without(object []byte, prefix string) []byte {
	out := []byte{'{'}
	c := jsonscan.New(object)
	for in := c.Object(); in && c.Member(); {
		name := string(c.Key())
		raw := c.Raw()
		if raw == nil || strings.HasPrefix(name, prefix) {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, quoted(name)...), ':'), raw...)
	}
	return append(out, '}')
}

// quoted returns a text as a JSON string.
func quoted(s string) []byte { return jsonscan.AppendQuoted(nil, s) }

// elements returns the elements of an array as they are written.
func elements(array []byte) (out []json.RawMessage) {
	c := jsonscan.New(array)
	for ok := c.Array(); ok && c.Element(); {
		if raw := c.Raw(); raw != nil {
			out = append(out, raw)
		}
	}
	return out
}

// list returns values as an array.
func list(values []json.RawMessage) []byte {
	out := []byte{'['}
	for i, v := range values {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, v...)
	}
	return append(out, ']')
}

// isObject reports whether a value is an object.
func isObject(value []byte) bool {
	c := jsonscan.New(value)
	return c.Kind() == jsonscan.Object
}
