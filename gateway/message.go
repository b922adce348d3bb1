package gateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/awo-dev/awo/internal/jsonscan"
)

// decode reads a message. Its parameters and its result stay where they are in data, which
// must not change any more. The SDK's reader copies every message through a buffer of 32 KB,
// so it is left to say what is wrong with what is no plain message: whatever it accepts is
// accepted here.
func decode(data []byte) (jsonrpc.Message, error) {
	c := jsonscan.New(data)
	var version, id, method, params, result, failure []byte
	for in := c.Object(); in && c.Member(); {
		switch string(c.Key()) {
		case "jsonrpc":
			version = c.Raw()
		case "id":
			id = c.Raw()
		case "method":
			method = c.Raw()
		case "params":
			params = c.Raw()
		case "result":
			result = c.Raw()
		case "error":
			failure = c.Raw()
		}
	}
	own, ok := readID(id)
	switch {
	case c.End() != nil || !ok || string(version) != `"2.0"` || string(failure) == "null":
		return jsonrpc.DecodeMessage(data)
	case method != nil:
		if method[0] != '"' {
			return jsonrpc.DecodeMessage(data)
		}
		return &jsonrpc.Request{ID: own, Method: text(method), Params: params}, nil
	case !own.IsValid():
		return jsonrpc.DecodeMessage(data)
	case failure == nil:
		return &jsonrpc.Response{ID: own, Result: result}, nil
	}
	code, err := strconv.ParseInt(string(member(failure, "code")), 10, 64)
	said := member(failure, "message")
	if err != nil || len(said) == 0 || said[0] != '"' {
		return jsonrpc.DecodeMessage(data)
	}
	return &jsonrpc.Response{ID: own, Result: result, Error: &jsonrpc.Error{Code: code, Message: text(said), Data: member(failure, "data")}}, nil
}

// asWritten begins the text that stands for an id that the SDK's type cannot hold as it was
// written: a number above 2^53, or with a fraction. The rest is the id.
const asWritten = "\x00"

// readID reads an id as it stands in a message; none is none.
func readID(raw []byte) (id jsonrpc.ID, ok bool) {
	var v any
	switch c := jsonscan.New(raw); c.Kind() {
	case jsonscan.Null:
	case jsonscan.String:
		s := text(raw)
		if s[:min(1, len(s))] == asWritten {
			s = asWritten + string(raw)
		}
		v = s
	case jsonscan.Number:
		n, err := strconv.ParseInt(string(raw), 10, 64)
		if f := float64(n); err == nil && f > -1<<53 && f < 1<<53 {
			v = f
		} else {
			v = asWritten + string(raw)
		}
	default:
		return jsonrpc.ID{}, len(raw) == 0
	}
	id, err := jsonrpc.MakeID(v)
	return id, err == nil
}

// appendID appends an id as it is written.
func appendID(out []byte, id jsonrpc.ID) []byte {
	switch v := id.Raw().(type) {
	case int64:
		return strconv.AppendInt(out, v, 10)
	case string:
		if len(v) > 1 && v[:1] == asWritten {
			return append(out, v[1:]...)
		}
		return jsonscan.AppendQuoted(out, v)
	}
	return append(out, "null"...)
}

// encode writes a message on one line. Values keep their bytes; line breaks between their
// tokens become spaces.
func encode(m jsonrpc.Message) []byte {
	switch m := m.(type) {
	case *jsonrpc.Request:
		out := make([]byte, 0, 64+len(m.Method)+len(m.Params))
		out = append(out, `{"jsonrpc":"2.0",`...)
		if m.ID.IsValid() {
			out = append(appendID(append(out, `"id":`...), m.ID), ',')
		}
		out = jsonscan.AppendQuoted(append(out, `"method":`...), m.Method)
		return append(appendValue(out, `,"params":`, m.Params), '}')
	case *jsonrpc.Response:
		out := make([]byte, 0, 64+len(m.Result))
		out = appendID(append(out, `{"jsonrpc":"2.0","id":`...), m.ID)
		out = appendValue(out, `,"result":`, m.Result)
		if m.Error != nil {
			e, ok := errors.AsType[*jsonrpc.Error](m.Error)
			if !ok {
				e = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: m.Error.Error()}
			}
			out = strconv.AppendInt(append(out, `,"error":{"code":`...), e.Code, 10)
			out = jsonscan.AppendQuoted(append(out, `,"message":`...), e.Message)
			out = append(appendValue(out, `,"data":`, e.Data), '}')
		} else if len(m.Result) == 0 {
			out = append(out, `,"result":null`...)
		}
		return append(out, '}')
	}
	return nil // there are no other messages
}

// appendValue appends a value behind its name, nothing if there is none.
func appendValue(out []byte, name string, value json.RawMessage) []byte {
	if len(value) == 0 {
		return out
	}
	out = append(out, name...)
	start := len(out)
	out = append(out, value...)
	if bytes.ContainsAny(value, "\r\n") {
		for i, b := range out[start:] {
			if b == '\n' || b == '\r' {
				out[start+i] = ' '
			}
		}
	}
	return out
}

// batch returns the messages of a line: one, or those of an array, which older versions of
// the protocol allow.
func batch(line []byte) (out []jsonrpc.Message, err error) {
	c := jsonscan.New(line)
	if c.Kind() != jsonscan.Array {
		m, err := decode(line)
		if err != nil {
			return nil, err
		}
		return []jsonrpc.Message{m}, nil
	}
	for _, raw := range elements(line) {
		m, err := decode(raw)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	if c.End() != nil || len(out) == 0 {
		return nil, errors.New("an array of no messages")
	}
	return slices.Clip(out), nil
}

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

func kindOf(value []byte) jsonscan.Kind {
	c := jsonscan.New(value)
	return c.Kind()
}

func isObject(value []byte) bool { return kindOf(value) == jsonscan.Object }
