package message

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
)

// MayBePython reports whether a text begins as Python prints lists, dictionaries
// and objects, and JSON does not.
func MayBePython(text []byte) bool {
	text = bytes.TrimLeft(text, " \t\r\n")
	if len(text) == 0 {
		return false
	}
	switch c := text[0]; {
	case c == '[' || c == '{' || c == '(':
		rest := bytes.TrimLeft(text[1:], " \t\r\n[")
		return len(rest) > 0 && (rest[0] == '\'' || rest[0] == '"' || rest[0] == '{' || isNameStart(rest[0]))
	case isNameStart(c):
		end := nameEnd(text, 0)
		return end < len(text) && (text[end] == '(' || text[end] == '=')
	}
	return false
}

func isNameStart(c byte) bool { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' }

// nameEnd returns the index behind the dotted name that begins at i.
func nameEnd(text []byte, i int) int {
	for i < len(text) && (isNameStart(text[i]) || text[i] >= '0' && text[i] <= '9' || text[i] == '.') {
		i++
	}
	return i
}

// PythonJSON returns the JSON of a value as Python prints it: a dictionary, list,
// tuple or set, an object with its fields (`Message(role='user')`, or without its
// name, `role='user' content='x'`), where an object becomes its fields with its
// class as "type" if it has no such field. What has no JSON is text, and False,
// None and the numbers are what they are. It returns false for what is none.
func PythonJSON(text []byte) ([]byte, bool) {
	p := pythonReader{text: text}
	p.space()
	start := p.at
	if end := nameEnd(text, start); end > start && end < len(text) && text[end] == '=' && isNameStart(text[start]) {
		p.fields("", 0)
	} else {
		p.value(0)
	}
	p.space()
	if p.bad || p.at < len(text) || len(p.out) == 0 {
		return nil, false
	}
	if c := jsonscan.New(p.out); c.End() != nil {
		return nil, false
	}
	return p.out, true
}

// pythonNesting is how deep printed values are read.
const pythonNesting = 64

// pythonReader reads what Python prints, and writes JSON.
type pythonReader struct {
	text []byte
	at   int
	out  []byte
	bad  bool
}

func (p *pythonReader) space() {
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case ' ', '\t', '\r', '\n':
			p.at++
		default:
			return
		}
	}
}

// next returns the byte that comes next, 0 at the end.
func (p *pythonReader) next() byte {
	if p.space(); p.at < len(p.text) && !p.bad {
		return p.text[p.at]
	}
	return 0
}

// take passes over a byte if it comes next.
func (p *pythonReader) take(c byte) bool {
	if p.next() != c || c == 0 {
		return false
	}
	p.at++
	return true
}

func (p *pythonReader) value(depth int) {
	if depth > pythonNesting {
		p.bad = true
		return
	}
	switch c := p.next(); {
	case c == '{':
		p.braces(depth)
	case c == '[':
		p.at++
		p.list(']', depth)
	case c == '(':
		p.at++
		p.list(')', depth)
	case c == '\'' || c == '"':
		p.strings()
	case c == '<':
		p.angle(depth)
	case c == '-' || c >= '0' && c <= '9':
		p.number()
	case isNameStart(c):
		p.name(depth)
	default:
		p.bad = true
	}
}

// list writes the elements up to a bracket.
func (p *pythonReader) list(closing byte, depth int) {
	p.out = append(p.out, '[')
	for n := 0; !p.take(closing); n++ {
		if n > 0 {
			if !p.take(',') {
				p.bad = true
				return
			}
			if p.take(closing) { // (1,)
				break
			}
			p.out = append(p.out, ',')
		}
		if p.value(depth + 1); p.bad {
			return
		}
	}
	p.out = append(p.out, ']')
}

// braces writes a dictionary, or a set as a list.
func (p *pythonReader) braces(depth int) {
	p.at++
	start := len(p.out)
	p.out = append(p.out, '{')
	closing := byte('}')
	for n := 0; !p.take('}'); n++ {
		if n > 0 {
			if !p.take(',') {
				p.bad = true
				return
			}
			if p.take('}') {
				break
			}
			p.out = append(p.out, ',')
		}
		key := len(p.out)
		if p.value(depth + 1); p.bad {
			return
		}
		switch {
		case n == 0 && p.next() != ':': // a set
			p.out[start], closing = '[', ']'
			continue
		case closing == ']':
			continue
		case !p.take(':'):
			p.bad = true
			return
		}
		if p.out[key] != '"' { // {1: 'a'}
			name := string(p.out[key:])
			p.out = jsonscan.AppendQuoted(p.out[:key], name)
		}
		p.out = append(p.out, ':')
		if p.value(depth + 1); p.bad {
			return
		}
	}
	p.out = append(p.out, closing)
}

// strings writes a string, or several side by side that are one.
func (p *pythonReader) strings() {
	var content []byte
	for c := p.next(); c == '\'' || c == '"'; c = p.next() {
		if content = p.string(content); p.bad {
			return
		}
	}
	p.out = jsonscan.AppendQuoted(p.out, trace.ValidText(content))
}

// string appends the content of the string that comes next.
func (p *pythonReader) string(content []byte) []byte {
	quote := p.text[p.at]
	closing := []byte{quote}
	if bytes.HasPrefix(p.text[p.at:], []byte{quote, quote, quote}) {
		closing = []byte{quote, quote, quote}
	}
	p.at += len(closing)
	for p.at < len(p.text) {
		if bytes.HasPrefix(p.text[p.at:], closing) {
			p.at += len(closing)
			return content
		}
		c := p.text[p.at]
		p.at++
		if c != '\\' || p.at == len(p.text) {
			content = append(content, c)
			continue
		}
		content = p.escape(content)
	}
	p.bad = true
	return content
}

// escapes are those of one letter.
var pythonEscapes = map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', '\\': '\\', '\'': '\'', '"': '"', 'a': 7, 'b': 8, 'f': 12, 'v': 11, '0': 0}

// escape appends what an escape stands for.
func (p *pythonReader) escape(content []byte) []byte {
	c := p.text[p.at]
	p.at++
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
	if digits > 0 && p.at+digits <= len(p.text) {
		if n, err := strconv.ParseUint(string(p.text[p.at:p.at+digits]), 16, 32); err == nil {
			p.at += digits
			r := rune(n)
			if !utf8.ValidRune(r) {
				r = utf8.RuneError
			}
			return utf8.AppendRune(content, r)
		}
	}
	if c == '\n' {
		return content
	}
	if e, ok := pythonEscapes[c]; ok {
		return append(content, e)
	}
	return append(content, '\\', c)
}

// angle writes an object that Python only names: <Role.USER: 'user'> is its value,
// others are their text.
func (p *pythonReader) angle(depth int) {
	start, open := p.at, 0
	var quote byte
	for ; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '<':
			open++
		case c == '>':
			open--
		}
		if open == 0 {
			break
		}
	}
	if open != 0 {
		p.bad = true
		return
	}
	p.at++
	whole := p.text[start:p.at]
	if _, value, ok := bytes.Cut(whole[1:len(whole)-1], []byte(": ")); ok {
		inner := pythonReader{text: value}
		if inner.value(depth + 1); !inner.bad && inner.at == len(value) {
			p.out = append(p.out, inner.out...)
			return
		}
	}
	p.out = jsonscan.AppendQuoted(p.out, trace.ValidText(whole))
}

func (p *pythonReader) number() {
	start := p.at
	for p.at < len(p.text) && bytes.IndexByte([]byte("+-0123456789.eE_xabcdfABCDFjn"), p.text[p.at]) >= 0 {
		p.at++
	}
	text := p.text[start:p.at]
	c := jsonscan.New(text)
	if c.Kind() == jsonscan.Number && c.End() == nil {
		p.out = append(p.out, text...)
		return
	}
	p.out = jsonscan.AppendQuoted(p.out, trace.ValidText(text))
}

// name writes what begins with a name: a constant, a prefixed string, an object
// with its fields, or a name alone.
func (p *pythonReader) name(depth int) {
	start := p.at
	p.at = nameEnd(p.text, p.at)
	name := p.text[start:p.at]
	switch string(name) {
	case "None", "null", "nan", "inf", "NaN", "Infinity", "Undefined":
		p.out = append(p.out, "null"...)
		return
	case "True", "true":
		p.out = append(p.out, "true"...)
		return
	case "False", "false":
		p.out = append(p.out, "false"...)
		return
	}
	if p.at < len(p.text) && (p.text[p.at] == '\'' || p.text[p.at] == '"') && len(name) <= 2 { // b'x', r'x'
		p.strings()
		return
	}
	if p.at == len(p.text) || p.text[p.at] != '(' {
		p.out = jsonscan.AppendQuoted(p.out, name)
		return
	}
	p.at++
	if p.positional() {
		p.rest(start)
		return
	}
	p.fields(string(name), depth)
}

// positional reports whether an object is printed with values that have no names,
// as UUID('...') and datetime.datetime(...) are.
func (p *pythonReader) positional() bool {
	c := p.next()
	if c == ')' {
		return false
	}
	end := nameEnd(p.text, p.at)
	return end == p.at || end >= len(p.text) || p.text[end] != '='
}

// rest writes an object as its text.
func (p *pythonReader) rest(start int) {
	depth := 1
	var quote byte
	for ; p.at < len(p.text) && depth > 0; p.at++ {
		switch c := p.text[p.at]; {
		case quote != 0:
			if c == '\\' {
				p.at++
			} else if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '(':
			depth++
		case c == ')':
			depth--
		}
	}
	if depth > 0 || p.at > len(p.text) {
		p.bad = true
		return
	}
	p.out = jsonscan.AppendQuoted(p.out, trace.ValidText(p.text[start:p.at]))
}

// fields writes the fields of an object up to its bracket, or without a class up
// to the end of the text.
func (p *pythonReader) fields(class string, depth int) {
	start, closing := len(p.out), byte(0)
	if class != "" {
		closing = ')'
	}
	p.out = append(p.out, '{')
	typed := p.named(closing, depth)
	if class != "" && !typed {
		if len(p.out) > start+1 {
			p.out = append(p.out, ',')
		}
		p.out = jsonscan.AppendQuoted(append(p.out, `"type":`...), class)
	}
	p.out = append(p.out, '}')
}

// named writes values with names as members up to a bracket, 0 for the end of the text,
// and reports whether one is called "type".
func (p *pythonReader) named(closing byte, depth int) (typed bool) {
	ends := func() bool { return closing != 0 && p.take(closing) || closing == 0 && p.next() == 0 }
	for n := 0; !p.bad && !ends(); n++ {
		if n > 0 {
			if !p.take(',') && closing != 0 {
				p.bad = true
				break
			}
			if ends() {
				break
			}
			p.out = append(p.out, ',')
		}
		p.space()
		from := p.at
		p.at = nameEnd(p.text, p.at)
		name := p.text[from:p.at]
		if len(name) == 0 || !p.take('=') {
			p.bad = true
			break
		}
		typed = typed || string(name) == "type"
		p.out = append(jsonscan.AppendQuoted(p.out, name), ':')
		p.value(depth + 1)
	}
	return typed
}
