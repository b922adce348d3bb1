package gemini

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// Answers are streamed in pieces: texts, and arguments, each with its place.
//
//	{"text": "It is "}, {"text": "sunny"}
//	{"functionCall": {"name": "f", "willContinue": true}}
//	{"functionCall": {"partialArgs": [{"jsonPath": "$.city", "stringValue": "Par", "willContinue": true}], "willContinue": true}}
//	{"functionCall": {"partialArgs": [{"jsonPath": "$.city", "stringValue": "is"}], "willContinue": true}}
//	{"functionCall": {}}

// part is a part of an answer, as far as pieces of it are joined.
type part struct {
	raw     []byte
	text    []byte // a token
	thought bool
	call    *piece
}

// piece is a call, or a piece of one.
type piece struct {
	id, name []byte // tokens
	whole    bool   // it has its arguments, or none
	args     any
}

// join returns the parts of an answer with its pieces joined, and counts the calls whose
// pieces make no arguments. Pieces whose call is not there are left out.
func join(b *build.Builder, parts [][]byte) []byte {
	var joined []*part
	var open *piece
	for _, raw := range parts {
		p := readPart(raw)
		last := &part{}
		if n := len(joined); n > 0 {
			last = joined[n-1]
		}
		switch {
		case p.text != nil && last.text != nil && p.thought == last.thought:
			last.text = append(append(last.text[:len(last.text)-1:len(last.text)-1], p.text[1:len(p.text)-1]...), '"')
			continue
		case p.call == nil || p.call.whole:
		case p.call.name != nil:
			open = p.call
			readPieces(open, raw)
		default:
			if open != nil {
				readPieces(open, raw)
			}
			continue
		}
		joined = append(joined, p)
	}
	out := []byte(`{"role":"model","parts":[`)
	for i, p := range joined {
		if i > 0 {
			out = append(out, ',')
		}
		out = p.append(out, b)
	}
	return append(out, "]}"...)
}

// readPart reads a part.
func readPart(raw []byte) *part {
	p := &part{raw: raw}
	c := jsonscan.New(raw)
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "text":
			p.text = c.Token()
		case "thought":
			p.thought, _ = c.Bool()
		case "functionCall", "function_call":
			p.call = &piece{}
			streamed, members := false, 0
			for ok := c.Object(); ok && c.Member(); {
				members++
				switch string(c.Key()) {
				case "id":
					p.call.id = c.Token()
				case "name":
					p.call.name = c.Token()
				case "args":
					p.call.whole = true
				case "partialArgs", "partial_args", "willContinue", "will_continue":
					streamed = true
				}
			}
			p.call.whole = p.call.whole || !streamed && members > 0
		}
	}
	return p
}

// append appends a part as JSON.
func (p *part) append(dst []byte, b *build.Builder) []byte {
	switch {
	case p.text != nil:
		dst = append(append(dst, `{"text":`...), p.text...)
		return append(append(append(dst, `,"thought":`...), strconv.FormatBool(p.thought)...), '}')
	case p.call == nil || p.call.whole:
		return append(dst, p.raw...)
	}
	dst = append(append(dst, `{"functionCall":{"name":`...), p.call.name...)
	if p.call.id != nil {
		dst = append(append(dst, `,"id":`...), p.call.id...)
	}
	args, _ := json.Marshal(p.call.args)
	if p.call.args == nil {
		b.Anomaly(build.CodeArgsStreamed, 1)
	}
	return append(append(append(dst, `,"args":`...), args...), "}}"...)
}

// readPieces adds the pieces of arguments in a part to its call.
func readPieces(call *piece, raw []byte) {
	var read struct {
		FunctionCall, Function_call struct {
			PartialArgs, Partial_args []map[string]any
		}
	}
	if json.Unmarshal(raw, &read) != nil {
		return
	}
	pieces := append(read.FunctionCall.PartialArgs, read.FunctionCall.Partial_args...)
	for _, one := range append(append(pieces, read.Function_call.PartialArgs...), read.Function_call.Partial_args...) {
		path, _ := first(one, "jsonPath", "json_path").(string)
		steps := stepsOf(path)
		if steps == nil {
			continue
		}
		call.args = build.Edit(call.args, steps, func(old any) any {
			if text, ok := first(one, "stringValue", "string_value").(string); ok {
				before, _ := old.(string)
				return before + text
			}
			return first(one, "numberValue", "number_value", "boolValue", "bool_value")
		})
	}
}

// first returns the first of some members that is there.
func first(object map[string]any, names ...string) any {
	for _, name := range names {
		if v, ok := object[name]; ok {
			return v
		}
	}
	return nil
}

// step is a step of a path like $.a[0].b.
var step = regexp.MustCompile(`^(?:\.?([^.\[\]]+)|\[(\d{1,4})\]|\[['"]([^\]]*)['"]\])`)

// stepsOf returns the steps of a path, nil if it is none.
func stepsOf(path string) (steps []any) {
	rest, ok := strings.CutPrefix(path, "$")
	for ok && rest != "" {
		found := step.FindStringSubmatch(rest)
		if found == nil {
			return nil
		}
		rest = rest[len(found[0]):]
		if found[2] != "" {
			index, _ := strconv.ParseFloat(found[2], 64)
			steps = append(steps, index)
		} else {
			steps = append(steps, found[1]+found[3])
		}
	}
	return steps
}
