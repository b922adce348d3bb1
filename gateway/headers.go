package gateway

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/awo-dev/awo/internal/jsonscan"
)

// paramHeader is an argument that requests over HTTP also have as a header, as the schema
// of a tool wants it (x-mcp-header).
type paramHeader struct {
	path   []string // below the arguments
	header string
}

// maxHeaders bounds what one schema can ask for.
const maxHeaders = 100

// headersOf returns the arguments of a tool that are headers too.
func headersOf(definition json.RawMessage) []paramHeader {
	return paramHeaders(member(definition, "inputSchema", "properties"), nil, nil)
}

func paramHeaders(properties json.RawMessage, path []string, out []paramHeader) []paramHeader {
	if len(path) > 20 {
		return out
	}
	for _, name := range keys(properties) {
		property := member(properties, name)
		here := append(path[:len(path):len(path)], name)
		if header := text(member(property, "x-mcp-header")); header != "" && len(out) < maxHeaders {
			out = append(out, paramHeader{here, "Mcp-Param-" + header})
		}
		if below := member(property, "properties"); below != nil {
			out = paramHeaders(below, here, out)
		}
	}
	return out
}

// primitive returns what a header has for an argument; false for what cannot be one:
// objects, arrays, null, and numbers that are no integers that every reader keeps.
func primitive(value json.RawMessage) (string, bool) {
	c := jsonscan.New(value)
	switch c.Kind() {
	case jsonscan.String:
		return text(value), true
	case jsonscan.Number:
		f, err := strconv.ParseFloat(string(value), 64)
		if err != nil || f != math.Trunc(f) || math.Abs(f) >= 1<<53 {
			return "", false
		}
		return strconv.FormatInt(int64(f), 10), true
	case jsonscan.Bool:
		return string(value), true
	}
	return "", false
}

// How a header says what headers cannot have.
const (
	encodedPrefix = "=?base64?"
	encodedSuffix = "?="
)

// asHeader returns a text as the value of a header.
func asHeader(s string) string {
	plain := s == strings.TrimSpace(s) && !strings.HasPrefix(s, encodedPrefix)
	for _, c := range []byte(s) {
		plain = plain && c >= 0x20 && c < 0x7f
	}
	if plain {
		return s
	}
	return encodedPrefix + base64.StdEncoding.EncodeToString([]byte(s)) + encodedSuffix
}

// ofHeader returns the text that the value of a header stands for.
func ofHeader(s string) (string, bool) {
	inner, ok := strings.CutPrefix(s, encodedPrefix)
	if !ok {
		return s, true
	}
	if inner, ok = strings.CutSuffix(inner, encodedSuffix); !ok {
		return s, true
	}
	out, err := base64.StdEncoding.DecodeString(inner)
	return string(out), err == nil
}

// disagrees returns how the headers of a request differ from what it says itself, "" if
// they do not. definition is that of the tool that it calls.
func disagrees(h http.Header, method string, params, definition json.RawMessage) string {
	if got := h.Get("Mcp-Method"); got != method {
		return "the header Mcp-Method is not the method of the message"
	}
	if name := nameOf(method, params); name != "" {
		if got, ok := ofHeader(h.Get("Mcp-Name")); !ok || got != name {
			return "the header Mcp-Name is not the name in the message"
		}
	}
	if method != "tools/call" {
		return ""
	}
	for _, p := range headersOf(definition) {
		value := member(params, append([]string{"arguments"}, p.path...)...)
		given, has := h.Get(p.header), len(h.Values(p.header)) > 0
		if len(value) == 0 || string(value) == "null" {
			if has {
				return fmt.Sprintf("the header %s is of an argument that is not there", p.header)
			}
			continue
		}
		want, ok := primitive(value)
		got, decoded := ofHeader(given)
		if f, err := strconv.ParseFloat(got, 64); err == nil && isNumber(value) && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			got = strconv.FormatInt(int64(f), 10)
		}
		if !ok || !has || !decoded || got != want {
			return fmt.Sprintf("the header %s is not the argument %s", p.header, strings.Join(p.path, "."))
		}
	}
	return ""
}

func isNumber(value json.RawMessage) bool {
	c := jsonscan.New(value)
	return c.Kind() == jsonscan.Number
}
