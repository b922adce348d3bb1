package gemini

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// Arguments that are streamed come in pieces, each with its place:
//
//	{"functionCall": {"name": "f", "willContinue": true}}
//	{"functionCall": {"partialArgs": [{"jsonPath": "$.city", "stringValue": "Par", "willContinue": true}], "willContinue": true}}
//	{"functionCall": {"partialArgs": [{"jsonPath": "$.city", "stringValue": "is"}], "willContinue": true}}
//	{"functionCall": {}}
//
// Until all are there a call keeps its pieces in Also, as a list.

// maxPieceDepth is how deep the place of a piece is at most, and maxPieceIndex what
// place in a list it names at most.
const (
	maxPieceDepth = 64
	maxPieceIndex = 1 << 12
)

// joinPiece adds a piece to the call that it is of. It returns false if it is none, or
// there is no such call.
func joinPiece(items []build.Item, it *build.Item) bool {
	if it.Kind != build.ItemCall || len(it.Tool) > 0 || it.Also == nil {
		return false
	}
	for i := len(items) - 1; i >= 0; i-- {
		call := &items[i]
		if call.Kind != build.ItemCall || call.Also == nil {
			continue
		}
		more := bytes.TrimSpace(it.Also[1 : len(it.Also)-1])
		if len(more) == 0 {
			return true
		}
		joined := call.Also[: len(call.Also)-1 : len(call.Also)-1]
		if len(bytes.TrimSpace(joined)) > 1 {
			joined = append(joined, ',')
		}
		call.Also = append(append(joined, more...), ']')
		return true
	}
	return false
}

// finishPieces gives calls the arguments that their pieces make. Pieces whose call is
// not there are left out.
func finishPieces(items []build.Item, anomalies map[string]int) []build.Item {
	out := items[:0]
	for _, it := range items {
		if it.Kind != build.ItemCall || it.Also == nil {
			out = append(out, it)
			continue
		}
		if len(it.Tool) == 0 {
			continue
		}
		if args := pieceArgs(it.Also); args != nil {
			it.Value = trace.JSONOf(args)
		} else {
			anomalies[build.CodeArgsStreamed]++
		}
		it.Also = nil
		out = append(out, it)
	}
	return out
}

// argument is a value that pieces put together: an object, a list, or what it is.
type argument struct {
	names []string
	kids  map[string]*argument
	list  bool
	text  []byte // of a string, joined
	value []byte // any other
}

// pieceArgs returns the object that pieces make, nil if they make none.
func pieceArgs(pieces []byte) []byte {
	root := &argument{kids: map[string]*argument{}}
	c := jsonscan.New(pieces)
	for ok := c.Array(); ok && c.Element(); {
		var path string
		var text, value []byte
		is := false
		for ok := c.Object(); ok && c.Member(); {
			switch string(c.Key()) {
			case "jsonPath", "json_path":
				t, _ := c.Text()
				path = string(t)
			case "stringValue", "string_value":
				text, is = c.Text()
			case "numberValue", "number_value", "boolValue", "bool_value":
				value = c.Raw()
			case "nullValue", "null_value":
				value = []byte("null")
			}
		}
		at := root.find(path)
		switch {
		case at == nil || at == root:
		case is:
			if at.value = nil; at.text == nil {
				at.text = []byte{}
			}
			at.text = append(at.text, text...)
		case value != nil:
			at.value = value
		}
	}
	if len(root.names) == 0 {
		return nil
	}
	return root.append(nil)
}

// find returns the value at a path like $.a[0].b, which it makes if it is not there;
// nil if the path is no such.
func (a *argument) find(path string) *argument {
	rest, ok := strings.CutPrefix(path, "$")
	for depth := 0; ok && rest != ""; depth++ {
		if depth > maxPieceDepth {
			return nil
		}
		var name string
		list := rest[0] == '['
		if list {
			if name, rest, ok = strings.Cut(rest[1:], "]"); !ok {
				return nil
			}
			if quoted := strings.Trim(name, `'"`); quoted != name {
				name, list = quoted, false
			} else if n, err := strconv.Atoi(name); err != nil || n < 0 || n > maxPieceIndex {
				return nil
			}
		} else {
			rest = strings.TrimPrefix(rest, ".")
			end := strings.IndexAny(rest, ".[")
			if end < 0 {
				end = len(rest)
			}
			if name, rest = rest[:end], rest[end:]; name == "" {
				return nil
			}
		}
		if a.kids == nil {
			a.kids = map[string]*argument{}
		}
		if len(a.names) == 0 {
			a.list = list
		}
		kid := a.kids[name]
		if kid == nil {
			kid = &argument{}
			a.kids[name], a.names = kid, append(a.names, name)
		}
		a = kid
	}
	if !ok {
		return nil
	}
	return a
}

// append appends the value as JSON.
func (a *argument) append(dst []byte) []byte {
	switch {
	case a.text != nil:
		return jsonscan.AppendQuoted(dst, string(a.text))
	case a.value != nil:
		return append(dst, a.value...)
	case len(a.names) == 0:
		return append(dst, "null"...)
	case a.list:
		dst = append(dst, '[')
	default:
		dst = append(dst, '{')
	}
	for i, name := range a.names {
		if i > 0 {
			dst = append(dst, ',')
		}
		if !a.list {
			dst = append(jsonscan.AppendQuoted(dst, name), ':')
		}
		dst = a.kids[name].append(dst)
	}
	if a.list {
		return append(dst, ']')
	}
	return append(dst, '}')
}
