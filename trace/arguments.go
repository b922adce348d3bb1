package trace

import (
	"github.com/awo-dev/awo/internal/jsonscan"
)

// ArgsValue returns the arguments of the call as an object. Arguments that are no
// JSON become {"_raw": text}, JSON that is no object {"_value": v}, and arguments
// that were not recorded {}; it then returns false. An object that is quoted
// twice is seen through.
func (c *Call) ArgsValue() (Value, bool) {
	var r ValueReader
	return r.Args(c)
}

// AppendCanonicalArgs appends the canonical JSON of what ArgsValue returns.
func (c *Call) AppendCanonicalArgs(dst []byte) []byte {
	var room [512]byte
	text, state := c.Args.argsText(room[:0])
	cursor := jsonscan.New(text)
	switch state {
	case argsObject:
		return appendCanonical(dst, &cursor)
	case argsJSON:
		return append(appendCanonical(append(dst, `{"_value":`...), &cursor), '}')
	case argsMissing:
		return append(dst, "{}"...)
	}
	return append(jsonscan.AppendQuoted(append(dst, `{"_raw":`...), text), '}')
}

// ResultValue returns the result of the call as a value. Text is looked through
// if it is the JSON text of an object or array, once more if it is quoted twice;
// other text is a String. It returns false if the call has no result.
func (c *Call) ResultValue() (Value, bool) {
	var r ValueReader
	return r.Result(c)
}

// argsState says what recorded arguments are.
type argsState uint8

const (
	argsMissing argsState = iota // not recorded
	argsObject                   // an object
	argsJSON                     // another JSON value
	argsRaw                      // no JSON
)

// argsText returns the JSON text of arguments that are an object or another
// value, and else the text that they are. It appends to room what has to be
// unquoted.
func (r Raw) argsText(room []byte) ([]byte, argsState) {
	switch r.Form {
	case FormNone:
		return nil, argsMissing
	case FormJSON, FormParts:
		return r.Data, stateOf(r.Data)
	}
	text := r.Data
	if r.Form == FormString {
		if jsonscan.IsPlain(text) {
			text = text[1 : len(text)-1]
		} else {
			text = jsonscan.AppendUnquoted(room, text)
		}
	}
	state := stateOf(text)
	if state == argsJSON {
		// An object that was quoted twice.
		c := jsonscan.New(text)
		if inner, ok := c.Text(); ok && stateOf(inner) == argsObject {
			return inner, argsObject
		}
	}
	return text, state
}

// stateOf says what a text is.
func stateOf(text []byte) argsState {
	c := jsonscan.New(text)
	object := c.Kind() == jsonscan.Object
	switch {
	case c.End() != nil:
		return argsRaw
	case object:
		return argsObject
	}
	return argsJSON
}
