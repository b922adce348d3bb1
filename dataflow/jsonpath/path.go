// Package jsonpath names places in JSON values, and fills templates.
//
// A [Path] is a closed subset of JSONPath (RFC 9535). What it selects is shared
// with the value that it is read in. [Parse] gives every error its column. What
// links and meta-tools read in results, they read by these paths, so the package
// is small enough to be written again in another language.
package jsonpath

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/awo-dev/awo/dataflow/jsonvalue"
	"github.com/awo-dev/awo/internal/bounds"
	"github.com/awo-dev/awo/trace"
)

// Path names places in a JSON value: a closed subset of JSONPath (RFC 9535)
// that is evaluated in a few lines of any language. Its steps are a member
// `.name`, an element `[i]`, every element `[*]` of an array or every member
// value of an object, and one kind of filter, `[?@.name == 'text']`. The empty
// path `$` is the value itself.
//
// A step into a string that holds the text of a JSON object or array looks
// through it, as tools often wrap one JSON text in another; RFC 9535 would
// find nothing there.
type Path []Step

// Kind is what a Step selects.
type Kind uint8

// The kinds of steps. The zero value is StepMember.
const (
	Member Kind = iota // the member Name of an object
	Index              // the element Index of an array, from 0
	Each               // every element of an array, every member value of an object
	Filter             // those of StepEach that are objects whose member Name equals Value
)

// Step is one step of a Path.
type Step struct {
	Kind  Kind
	Name  string
	Index int
	Value trace.Value // StepFilter: a scalar
	// Open marks a filter whose value is not known yet, written `?`; such a
	// path is no JSONPath and selects nothing until Bind fills it in.
	Open bool
}

// MaxSteps bounds the length of paths; what lies deeper is not looked at.
const MaxSteps = bounds.Steps

// One reports whether p selects at most one node in any value.
func (p Path) One() bool {
	for _, s := range p {
		if s.Kind == Each || s.Kind == Filter {
			return false
		}
	}
	return true
}

// Bind returns p with every open filter closed by the scalar v.
func (p Path) Bind(v trace.Value) Path {
	bound := make(Path, len(p))
	for i, s := range p {
		if s.Open {
			s.Open, s.Value = false, v
		}
		bound[i] = s
	}
	return bound
}

// Eval returns the nodes that p selects in v, in the order of the document
// (members of an object in the order of their names). It shares memory with v.
func (p Path) Eval(v trace.Value) []trace.Value {
	first, n, ok := p.head(v)
	if !ok {
		return nil
	}
	nodes := []trace.Value{first}
	for i := n; i < len(p); i++ {
		var next []trace.Value
		for j := range nodes {
			next = p[i].AppendSelected(next, &nodes[j])
		}
		if len(next) == 0 {
			return nil
		}
		nodes = next
	}
	return nodes
}

// Single returns the node that p selects in v, and false unless it is exactly one.
func (p Path) Single(v trace.Value) (trace.Value, bool) {
	first, n, ok := p.head(v)
	if !ok || n == len(p) {
		return first, ok
	}
	nodes := p[n:].Eval(first)
	if len(nodes) != 1 {
		return trace.Value{}, false
	}
	return nodes[0], true
}

// Sole returns the value if all nodes that p selects in v are the same one, numbers
// by value: a list may hold the wanted record twice.
func (p Path) Sole(v trace.Value) (trace.Value, bool) {
	first, n, ok := p.head(v)
	if !ok || n == len(p) {
		return first, ok
	}
	return jsonvalue.Sole(p[n:].Eval(first))
}

// Selects reports whether p selects any node in v.
func (p Path) Selects(v trace.Value) bool {
	first, n, ok := p.head(v)
	return ok && (n == len(p) || len(p[n:].Eval(first)) > 0)
}

// head follows the first steps of p, as far as each selects at most one node: it
// returns the node that they select, how many they are, and false if they select
// none.
func (p Path) head(v trace.Value) (node trace.Value, steps int, ok bool) {
	for i := range p {
		s := &p[i]
		if s.Kind != Member && s.Kind != Index {
			return v, i, true
		}
		if v.Kind == trace.String {
			if v, ok = LookThrough(v.Text); !ok {
				return trace.Value{}, 0, false
			}
		}
		switch {
		case s.Kind == Member && v.Kind == trace.Object:
			if v, ok = v.Lookup(s.Name); !ok {
				return trace.Value{}, 0, false
			}
		case s.Kind == Index && v.Kind == trace.Array && s.Index >= 0 && s.Index < len(v.Elems):
			v = v.Elems[s.Index]
		default:
			return trace.Value{}, 0, false
		}
	}
	return v, len(p), true
}

// AppendSelected appends the nodes that the step selects in v.
func (s *Step) AppendSelected(nodes []trace.Value, v *trace.Value) []trace.Value {
	if v.Kind == trace.String {
		inner, ok := LookThrough(v.Text)
		if !ok {
			return nodes
		}
		v = &inner
	}
	switch s.Kind {
	case Member:
		if m, ok := v.Lookup(s.Name); ok && v.Kind == trace.Object {
			nodes = append(nodes, m)
		}
	case Index:
		if v.Kind == trace.Array && s.Index >= 0 && s.Index < len(v.Elems) {
			nodes = append(nodes, v.Elems[s.Index])
		}
	case Each:
		nodes = append(nodes, v.Elems...)
		for i := range v.Members {
			nodes = append(nodes, v.Members[i].Value)
		}
	case Filter:
		for i := range v.Elems {
			if s.keeps(&v.Elems[i]) {
				nodes = append(nodes, v.Elems[i])
			}
		}
		for i := range v.Members {
			if s.keeps(&v.Members[i].Value) {
				nodes = append(nodes, v.Members[i].Value)
			}
		}
	}
	return nodes
}

// keeps reports whether the filter keeps an element.
func (s *Step) keeps(v *trace.Value) bool {
	if s.Open || v.Kind != trace.Object {
		return false
	}
	m, ok := v.Lookup(s.Name)
	return ok && jsonvalue.Equal(&m, &s.Value)
}

// LookThrough parses the text of a string that holds a JSON object or array.
func LookThrough(text string) (trace.Value, bool) {
	if !mayBeJSON(text) {
		return trace.Value{}, false
	}
	v, err := trace.ParseValue([]byte(strings.TrimSpace(text)))
	return v, err == nil
}

// mayBeJSON reports whether a text begins as an object or array does.
func mayBeJSON(text string) bool {
	trimmed := strings.TrimSpace(text)
	return trimmed != "" && (trimmed[0] == '{' || trimmed[0] == '[')
}

// String returns p in the notation of RFC 9535, always the same for equal paths:
// `.name` for ASCII identifiers, `['name']` with escapes for all else.
func (p Path) String() string { return string(p.appendTo([]byte("$"))) }

func (p Path) appendTo(b []byte) []byte {
	for i := range p {
		b = p[i].Append(b)
	}
	return b
}

func (s *Step) Append(b []byte) []byte {
	switch s.Kind {
	case Member:
		return appendMember(b, s.Name)
	case Index:
		b = append(b, '[')
		b = strconv.AppendInt(b, int64(s.Index), 10)
		return append(b, ']')
	case Each:
		return append(b, "[*]"...)
	}
	b = append(b, "[?@"...)
	b = appendMember(b, s.Name)
	b = append(b, " == "...)
	if s.Open {
		b = append(b, '?')
	} else {
		b = appendLiteral(b, s.Value)
	}
	return append(b, ']')
}

func appendMember(b []byte, name string) []byte {
	if isIdentifier(name) {
		b = append(b, '.')
		return append(b, name...)
	}
	b = append(b, '[')
	b = appendQuoted(b, name)
	return append(b, ']')
}

func isIdentifier(name string) bool {
	for i := range len(name) {
		c := name[i]
		if !isLetter(c) && (i == 0 || !isDecimal(c)) {
			return false
		}
	}
	return name != ""
}

func isLetter(c byte) bool  { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' }
func isDecimal(c byte) bool { return c >= '0' && c <= '9' }

func appendLiteral(b []byte, v trace.Value) []byte {
	switch v.Kind {
	case trace.Null:
		return append(b, "null"...)
	case trace.Bool:
		return strconv.AppendBool(b, v.Bool)
	case trace.Number:
		return append(b, v.Text...)
	case trace.String:
		return appendQuoted(b, v.Text)
	}
	panic("jsonpath: a filter compares with " + strconv.Itoa(int(v.Kind)) + ", no scalar")
}

// appendQuoted writes a string literal in single quotes. What could be
// mistaken for something else where the path is shown or embedded (controls,
// line separators, bidirectional marks) is escaped.
func appendQuoted(b []byte, s string) []byte {
	b = append(b, '\'')
	for _, r := range s {
		switch {
		case r == '\'' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, '\\', 'n')
		case r == '\r':
			b = append(b, '\\', 'r')
		case r == '\t':
			b = append(b, '\\', 't')
		case r < 0x20 || !unicode.IsPrint(r) && r < 0x10000:
			b = appendEscape(b, uint16(r))
		case !unicode.IsPrint(r):
			r -= 0x10000
			b = appendEscape(b, uint16(0xd800+r>>10))
			b = appendEscape(b, uint16(0xdc00+r&0x3ff))
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '\'')
}

func appendEscape(b []byte, unit uint16) []byte {
	const hex = "0123456789abcdef"
	return append(b, '\\', 'u', hex[unit>>12], hex[unit>>8&15], hex[unit>>4&15], hex[unit&15])
}

// Fill puts strings or numbers into the holes of a template, in order. It is
// false if there are not as many as holes, or others among them.
func Fill(template string, parts ...trace.Value) (string, bool) {
	fixed := strings.Split(template, Hole)
	if len(fixed) != len(parts)+1 {
		return "", false
	}
	var b strings.Builder
	b.WriteString(fixed[0])
	for i := range parts {
		if !jsonvalue.IsText(&parts[i]) {
			return "", false
		}
		b.WriteString(jsonvalue.Text(&parts[i]))
		b.WriteString(fixed[i+1])
	}
	return b.String(), true
}

// Hole stands in a template where a value goes.
const Hole = "\x00"
