package build

import (
	"bytes"
	"iter"
	"slices"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
)

// Members notes which members an object has had, of those that count once.
type Members struct {
	names [12]string
	n     int
}

// Has reports whether a member was noted.
func (m *Members) Has(name string) bool { return slices.Contains(m.names[:m.n], name) }

// Note counts a member that was there before, and returns whether it was.
func (m *Members) Note(b *Builder, name string) bool {
	again := m.Has(name)
	if again {
		b.Anomaly(CodeKeyDuplicate, 1)
	} else if m.n < len(m.names) {
		m.names[m.n] = name
		m.n++
	}
	return again
}

// IsKind reports whether a text begins with the first byte of a kind of value.
func IsKind(text []byte, first byte) bool { return len(text) > 0 && text[0] == first }

// MemberRaw returns a member of an object as it is written, by a path of names; nil if it
// has none.
func MemberRaw(object []byte, names ...string) []byte {
	for _, name := range names {
		var raw []byte
		c := jsonscan.New(object)
		for ok := c.Object(); ok && c.Member(); {
			if string(c.Key()) == name {
				raw = c.Raw()
			}
		}
		object = raw
	}
	return object
}

// Elements returns the elements of a list as they are written.
func Elements(list []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		c := jsonscan.New(list)
		for ok := c.Array(); ok && c.Element(); {
			if !yield(c.Raw()) {
				return
			}
		}
	}
}

// Objects returns those elements of a list that are objects.
func Objects(list []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for one := range Elements(list) {
			if IsKind(one, '{') && !yield(one) {
				return
			}
		}
	}
}

// HasMember reports whether a text, which may be cut short, begins as an object
// with a member of a name.
func HasMember(text []byte, name string) bool {
	c := jsonscan.New(text)
	for ok := c.Object(); ok && c.Member(); {
		if string(c.Key()) == name {
			return true
		}
	}
	return false
}

// OnlyMember returns the value of the only member of an object, if it has a name.
func OnlyMember(object []byte, name string) (value trace.Raw, ok bool) {
	c := jsonscan.New(object)
	n := 0
	if !c.Object() {
		return value, false
	}
	for c.Member() {
		n++
		if string(c.Key()) == name {
			value, ok = ReadRaw(&c), true
		}
	}
	return value, ok && n == 1
}

// MemberText returns the text of a member of an object, nil if it has none.
func MemberText(object []byte, names ...string) (text []byte) {
	c := jsonscan.New(MemberRaw(object, names...))
	text, _ = c.Text()
	return text
}

// FirstElement returns what a list begins with, which may be cut short; nil if the text
// is no list, or an empty one.
func FirstElement(list []byte) []byte {
	if c := jsonscan.New(list); c.Array() && c.Element() {
		return list[c.Offset():]
	}
	return nil
}

// EachOwn enters the member "awo" of the object extra that c stands on, and calls
// read at the value of each of its members.
func EachOwn(c *jsonscan.Cursor, read func(key string)) {
	for ok := c.Object(); ok && c.Member(); {
		if string(c.Key()) != "awo" {
			continue
		}
		for ok := c.Object(); ok && c.Member(); {
			read(string(c.Key()))
		}
	}
}

// Object returns an object of names and values, which are texts or JSON; a value that is nil is
// left out.
func Object(namesAndValues ...any) []byte {
	out := []byte{'{'}
	for i := 0; i < len(namesAndValues); i += 2 {
		if raw, ok := namesAndValues[i+1].([]byte); ok && raw == nil {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(jsonscan.AppendQuoted(out, namesAndValues[i].(string)), ':')
		switch v := namesAndValues[i+1].(type) {
		case string:
			out = jsonscan.AppendQuoted(out, v)
		case []byte:
			out = append(out, v...)
		}
	}
	return append(out, '}')
}

// List returns a list of elements.
func List(elements [][]byte) []byte {
	return slices.Concat([]byte{'['}, bytes.Join(elements, []byte{','}), []byte{']'})
}

// TextAt returns the text of a member of an object, by a path of names.
func TextAt(object []byte, names ...string) string { return string(MemberText(object, names...)) }
