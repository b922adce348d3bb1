package trace

import "github.com/awo-dev/awo/internal/jsonscan"

// ValueReader parses values one after the other and keeps scratch memory between
// them, which is half of what parsing a small value takes. Values share nothing.
// The zero value is ready; it belongs to one goroutine.
type ValueReader struct {
	p    ValueParser
	room []byte // for what is quoted
}

// Bounds of the scratch memory between values.
const (
	maxStack = 1024    // elements
	maxRoom  = 1 << 16 // bytes
)

// roomFor returns room to unquote a piece in.
func (r *ValueReader) roomFor(raw Raw) []byte {
	n := len(raw.Data)
	switch {
	case raw.Form == FormJSON || raw.Form == FormText || n > maxRoom:
		return nil
	case cap(r.room) < n:
		r.room = make([]byte, 0, n)
	}
	return r.room[:0]
}

// Args returns what Call.ArgsValue does.
func (r *ValueReader) Args(c *Call) (Value, bool) {
	if c.Parsed != nil {
		return c.Parsed.Args, c.Parsed.ArgsOK
	}
	room := r.roomFor(c.Args)
	if text := c.Args.ArgsContent(room); beginsObject(text) {
		if v, err := r.parse(text); err == nil {
			return v, true
		}
	}
	text, state := c.Args.ArgsText(room)
	switch state {
	case ArgsObject:
		v, err := r.parse(text)
		return v, err == nil
	case ArgsJSON:
		if v, err := r.parse(text); err == nil {
			return Value{Kind: Object, Members: []Member{{Name: "_value", Value: v}}}, false
		}
	case ArgsMissing:
		return Value{Kind: Object}, false
	}
	return Value{Kind: Object, Members: []Member{{Name: "_raw", Value: Value{Kind: String, Text: ValidText(text)}}}}, false
}

// Result returns what Call.ResultValue does.
func (r *ValueReader) Result(c *Call) (Value, bool) {
	if !c.HasResult || c.Result.IsZero() {
		return Value{}, false
	}
	if c.Parsed != nil {
		return c.Parsed.Result, c.Parsed.ResultOK
	}
	text := c.Result.contentIn(r.roomFor(c.Result))
	if c.Result.Form == FormJSON {
		v, err := r.parse(text)
		return v, err == nil
	}
	if v, ok := r.lookThrough(text, 2); ok {
		return v, true
	}
	return Value{Kind: String, Text: ValidText(text)}, true
}

// lookThrough returns the object or array that a text is the JSON of, or that it
// quotes.
func (r *ValueReader) lookThrough(text []byte, levels int) (Value, bool) {
	c := jsonscan.New(text)
	switch kind := c.Kind(); {
	case kind == jsonscan.Object, kind == jsonscan.Array:
		v, err := r.parse(text)
		return v, err == nil
	case kind == jsonscan.String && levels > 1:
		if inner, ok := c.Text(); ok && c.End() == nil {
			return r.lookThrough(inner, levels-1)
		}
	}
	return Value{}, false
}

func (r *ValueReader) parse(data []byte) (Value, error) {
	c := jsonscan.New(data)
	r.p.texts = TextArena{first: len(data)}
	v := r.p.Value(&c)
	r.release()
	if err := c.End(); err != nil {
		return Value{}, ScanError(Record{Data: data, Line: 1, Col: 1}, err)
	}
	return v, nil
}

// release lets go of the last value, and of scratch memory that a large one took.
func (r *ValueReader) release() {
	p := &r.p
	p.texts = TextArena{}
	if cap(p.elems) > maxStack || cap(p.members) > maxStack {
		p.elems, p.members = nil, nil
	}
	clear(p.elems[:cap(p.elems)])
	clear(p.members[:cap(p.members)])
}

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
	if text := c.Args.ArgsContent(room[:0]); beginsObject(text) {
		cursor := jsonscan.New(text)
		if whole := appendCanonical(dst, &cursor); cursor.End() == nil {
			return whole
		}
	}
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
	text := r.ArgsContent(room)
	switch r.Form {
	case FormNone:
		return nil, ArgsMissing
	case FormJSON, FormParts:
		return text, ArgsStateOf(text)
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

// ArgsContent returns arguments as they are written, without their quotes if they are a
// string. It appends to room what has to be unquoted.
func (r Raw) ArgsContent(room []byte) []byte {
	switch {
	case r.Form != FormString:
		return r.Data
	case jsonscan.IsPlain(r.Data):
		return r.Data[1 : len(r.Data)-1]
	}
	return jsonscan.AppendUnquoted(room, r.Data)
}

// beginsObject reports whether a text is an object if it is JSON: most arguments are, and
// reading them finds out whether they are JSON.
func beginsObject(text []byte) bool { return len(text) > 0 && text[0] == '{' }

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
