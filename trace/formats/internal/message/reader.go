package message

import (
	"bytes"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// Form says in which form messages were recorded. A later form keeps more
// of them apart.
type Form uint8

const (
	FormNone     Form = iota
	FormText          // a text without a role
	FormLines         // text in which lines begin with a role, or what Python prints
	FormMessages      // messages as values
)

// Reader reads messages: what was told to a model, or what it answered. It
// knows the forms in which the interfaces of models, libraries and frameworks write
// them, wherever they stand: as values, as the JSON text of values, as what Python
// prints, or as text. One reader for all of them means that a form that is known in
// one format is known in every format.
//
// A conversation repeats what was said before in every request, byte for byte, so
// what was read of a message is kept by how it was written.
type Reader struct {
	b      *build.Builder  // counts anomalies
	Tools  []trace.ToolDef // found among messages or beside them
	called map[string]bool // tools that were called, which some use as roles
	known  map[writtenMessage]knownMessage
	items  Responses
	Once   bool // messages are told once, so nothing is kept of them

	out  []build.Item
	form Form
}

// writtenMessage is a message as it stood in a list, and who is meant if it does
// not say.
type writtenMessage struct {
	text   string
	answer bool
}

// knownMessage is what a written message was read as.
type knownMessage struct {
	items []build.Item
	form  Form
}

func NewReader(b *build.Builder) *Reader {
	return &Reader{b: b, called: map[string]bool{}, items: Responses{Builder: b}}
}

// messageNesting is how deep messages are wrapped at most.
const messageNesting = 8

// read reads messages. Text without a role is of the user, or with answer of the
// model.
func (m *Reader) Read(raw trace.Raw, answer bool) ([]build.Item, Form) {
	m.out, m.form = nil, FormNone
	if text := build.InnerJSON(raw); text != nil {
		c := jsonscan.New(text)
		m.value(&c, answer, 0)
	} else if !raw.IsEmpty() {
		m.text(raw, answer, 0)
	}
	out := joinTextTurns(m.out)
	m.out = nil
	return out, m.form
}

// value reads messages, or what is around them.
func (m *Reader) value(c *jsonscan.Cursor, answer bool, depth int) {
	if depth > messageNesting {
		m.b.Anomaly(build.CodeMessageShape, 1)
		c.Skip()
		return
	}
	switch c.Kind() {
	case jsonscan.Array:
		raw := c.Raw()
		if isContentList(raw) {
			m.object(wrapContent(raw), answer, depth)
			return
		}
		in := jsonscan.New(raw)
		for ok := in.Array(); ok && in.Element(); {
			m.value(&in, answer, depth+1)
		}
	case jsonscan.String:
		if raw := build.ReadRaw(c); !raw.IsEmpty() {
			m.text(raw, answer, depth)
		}
	case jsonscan.Object:
		if raw := c.Raw(); m.Once && raw != nil {
			m.object(raw, answer, depth)
		} else if raw != nil {
			m.cached(raw, answer, depth)
		}
	default:
		c.Skip()
	}
}

// cached reads an object, or recalls what was read of it.
func (m *Reader) cached(raw []byte, answer bool, depth int) {
	key := writtenMessage{string(raw), answer}
	known, ok := m.known[key]
	if !ok {
		before, form := m.out, m.form
		m.out, m.form = nil, FormNone
		m.object(raw, answer, depth)
		known = knownMessage{m.out, m.form}
		for i := range known.items {
			it := &known.items[i]
			it.Alone, it.Compared = it.Next(build.ItemHash{})
			it.Hashed = true
		}
		m.out, m.form = before, form
		if m.known == nil {
			m.known = map[writtenMessage]knownMessage{}
		}
		m.known[key] = known
	}
	m.out = append(m.out, known.items...)
	m.form = max(m.form, known.form)
}

// wrapContent returns a message without a role that has a list as its content.
func wrapContent(list []byte) []byte {
	return append(append([]byte(`{"content":`), list...), '}')
}

// isContentList reports whether a list holds the parts of one message, or calls,
// and not messages.
func isContentList(list []byte) bool {
	c := jsonscan.New(list)
	if !c.Array() || !c.Element() || c.Kind() != jsonscan.Object {
		return false
	}
	var p messagePart
	p.read(c.Raw())
	return !p.hasRole && (p.isCall() || p.isResult() || p.kind() == partText || p.kind() == partThought)
}

// object reads a message, or what is around messages.
func (m *Reader) object(raw []byte, answer bool, depth int) {
	a := readAnyMessage(raw)
	if a.tools != nil {
		m.define(a.tools)
	}
	switch {
	case a.isItem():
		in := jsonscan.New(raw)
		if it, ok := ReadResponsesItem(&in); ok {
			m.add(FormMessages, m.items.Append(nil, &it, answer)...)
		}
	case a.kwargs != nil && a.class != nil:
		inner := readAnyMessage(a.kwargs)
		inner.role = a.class
		m.message(&inner, answer)
	case len(a.role) > 0:
		m.message(&a, answer)
	case a.generations != nil:
		m.first(a.generations, depth)
	case a.choices != nil:
		m.first(a.choices, depth)
	case a.candidates != nil:
		m.first(a.candidates, depth)
	case a.wrapped != nil:
		if !answer && !a.system.IsEmpty() {
			m.add(FormMessages, build.Item{Kind: build.ItemSystem, Value: a.system})
		}
		in := jsonscan.New(a.wrapped)
		m.value(&in, answer, depth+1)
	case a.content.Form == trace.FormJSON && a.content.Data[0] == '{': // {"content": {"role", "parts"}}
		in := jsonscan.New(a.content.Data)
		m.value(&in, answer, depth+1)
	case a.parts != nil, answer && (!a.content.IsZero() || len(a.calls) > 0), a.content.Form == trace.FormParts:
		m.message(&a, answer)
	case answer && a.text != nil:
		m.text(trace.Raw{Data: a.text, Form: trace.FormString}, true, depth)
	default:
		m.b.Anomaly(build.CodeMessageShape, 1)
	}
}

// add appends items.
func (m *Reader) add(form Form, items ...build.Item) {
	for i := range items {
		if items[i].Kind == build.ItemCall && len(items[i].Tool) > 0 {
			m.called[string(items[i].Tool)] = true
		}
	}
	m.out = append(m.out, items...)
	m.form = max(m.form, form)
}

// first reads the first of several answers of a model.
func (m *Reader) first(list []byte, depth int) {
	c := jsonscan.New(list)
	n := 0
	for ok := c.Array(); ok && c.Element(); {
		n++
		switch {
		case n > 1:
			m.b.Anomaly(build.CodeChoiceIgnored, 1)
		case c.Kind() == jsonscan.Array && depth < messageNesting:
			m.first(c.Raw(), depth+1)
		default:
			m.value(&c, true, depth+1)
		}
	}
}

// define notes the definitions of a list.
func (m *Reader) define(list []byte) {
	m.Tools = append(m.Tools, m.b.Definitions(list)...)
}

// isEmptyText reports whether a text is one of those that libraries print where
// nothing was said.
func isEmptyText(text []byte) bool {
	switch string(bytes.TrimSpace(text)) {
	case "", "None", "null":
		return true
	}
	return false
}
