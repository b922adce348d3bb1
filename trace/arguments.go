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
	text, state := c.Args.ArgsText(room[:0])
	cursor := jsonscan.New(text)
	switch state {
	case ArgsObject:
		return appendCanonical(dst, &cursor)
	case ArgsJSON:
		return append(appendCanonical(append(dst, `{"_value":`...), &cursor), '}')
	case ArgsMissing:
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
	ArgsMissing argsState = iota // not recorded
	ArgsObject                   // an object
	ArgsJSON                     // another JSON value
	ArgsRaw                      // no JSON
)

// ArgsText returns the JSON text of arguments that are an object or another
// value, and else the text that they are. It appends to room what has to be
// unquoted.
func (r Raw) ArgsText(room []byte) ([]byte, argsState) {
	switch r.Form {
	case FormNone:
		return nil, ArgsMissing
	case FormJSON, FormParts:
		return r.Data, ArgsStateOf(r.Data)
	}
	text := r.Data
	if r.Form == FormString {
		if jsonscan.IsPlain(text) {
			text = text[1 : len(text)-1]
		} else {
			text = jsonscan.AppendUnquoted(room, text)
		}
	}
	state := ArgsStateOf(text)
	if state == ArgsJSON {
		// An object that was quoted twice.
		c := jsonscan.New(text)
		if inner, ok := c.Text(); ok && ArgsStateOf(inner) == ArgsObject {
			return inner, ArgsObject
		}
	}
	return text, state
}

// ArgsStateOf says what a text is.
func ArgsStateOf(text []byte) argsState {
	c := jsonscan.New(text)
	object := c.Kind() == jsonscan.Object
	switch {
	case c.End() != nil:
		return ArgsRaw
	case object:
		return ArgsObject
	}
	return ArgsJSON
}
