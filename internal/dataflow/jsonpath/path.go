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

	"github.com/awo-dev/awo/internal/bounds"
	"github.com/awo-dev/awo/internal/dataflow/jsonvalue"
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
	return p.AppendEval(nil, v)
}

// AppendEval appends what Eval returns.
func (p Path) AppendEval(nodes []trace.Value, v trace.Value) []trace.Value {
	s := selection{want: wantAll, nodes: nodes}
	s.walk(p, &v)
	return s.nodes
}

// Single returns the node that p selects in v, and false unless it is exactly one.
func (p Path) Single(v trace.Value) (trace.Value, bool) {
	s := selection{want: wantOne}
	if !s.walk(p, &v) || s.n == 0 {
		return trace.Value{}, false
	}
	return s.node, true
}

// Sole returns the value if all nodes that p selects in v are the same one, numbers
// by value: a list may hold the wanted record twice. Open filters are closed by key, as
// by Bind; nil leaves them open.
func (p Path) Sole(v, key *trace.Value) (trace.Value, bool) {
	s := selection{want: wantSame, key: key}
	if !s.walk(p, v) || s.n == 0 {
		return trace.Value{}, false
	}
	return s.node, true
}

// Selects reports whether p selects any node in v.
func (p Path) Selects(v trace.Value) bool {
	s := selection{want: wantAny}
	return !s.walk(p, &v)
}

// selection is the nodes that a path selects.
type selection struct {
	want  want
	key   *trace.Value // closes open filters; may be nil
	n     int
	node  trace.Value   // the first one, of wantOne and wantSame
	nodes []trace.Value // of wantAll
}

// want says which nodes are looked for.
type want uint8

const (
	wantAll  want = iota
	wantAny       // one is enough
	wantOne       // a second is too many
	wantSame      // another one is too many
)

// take takes a node, and returns false if no more need be looked for.
func (s *selection) take(node *trace.Value) bool {
	s.n++
	switch s.want {
	case wantAll:
		s.nodes = append(s.nodes, *node)
		return true
	case wantAny:
		return false
	}
	if s.n == 1 {
		s.node = *node
		return true
	}
	return s.want == wantSame && jsonvalue.Equal(node, &s.node)
}

// walk takes the nodes that a path selects in v, in the order of the document, until take
// returns false, which it returns then.
func (s *selection) walk(p Path, v *trace.Value) bool {
	for i := range p {
		if v.Kind == trace.String {
			inner, ok := LookThrough(v.Text)
			if !ok {
				return true
			}
			v = &inner
		}
		switch step := &p[i]; step.Kind {
		case Member:
			if v.Kind != trace.Object {
				return true
			}
			if v = v.Find(step.Name); v == nil {
				return true
			}
		case Index:
			if v.Kind != trace.Array || step.Index < 0 || step.Index >= len(v.Elems) {
				return true
			}
			v = &v.Elems[step.Index]
		default:
			for n := range v.Elems {
				if e := &v.Elems[n]; step.keeps(e, s.key) && !s.walk(p[i+1:], e) {
					return false
				}
			}
			for n := range v.Members {
				if e := &v.Members[n].Value; step.keeps(e, s.key) && !s.walk(p[i+1:], e) {
					return false
				}
			}
			return true
		}
	}
	return s.take(v)
}

// AppendSelected appends the nodes that the step selects in v.
func (s *Step) AppendSelected(nodes []trace.Value, v *trace.Value) []trace.Value {
	return Path{*s}.AppendEval(nodes, *v)
}

// keeps reports whether a step keeps an element of what it steps through. An open filter
// keeps what has the key.
func (s *Step) keeps(v, key *trace.Value) bool {
	if s.Kind == Each {
		return true
	}
	value := &s.Value
	if s.Open {
		value = key
	}
	if value == nil || v.Kind != trace.Object {
		return false
	}
	m := v.Find(s.Name)
	return m != nil && jsonvalue.Equal(m, value)
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
