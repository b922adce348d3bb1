package sse

import (
	"bytes"
	"slices"

	"github.com/awo-dev/awo/internal/jsonscan"
)

// object is the members of a JSON object in their order, to be changed and written again.
type object []member

type member struct{ name, value []byte }

// room is where an object is read to that is soon forgotten.
type room [8]member

func readObject(text []byte) object { return object(nil).read(text) }

// read adds the members of an object.
func (o object) read(text []byte) object {
	c := jsonscan.New(text)
	for ok := c.Object(); ok && c.Member(); {
		o = append(o, member{c.Key(), c.Raw()})
	}
	return o
}

// get returns a member as it is written, the last of a name, nil if there is none.
func (o object) get(name string) []byte {
	for i := len(o) - 1; i >= 0; i-- {
		if string(o[i].name) == name {
			return o[i].value
		}
	}
	return nil
}

// token returns a member that is a string, quotes included, nil if it is none.
func (o object) token(name string) []byte {
	if value := o.get(name); len(value) > 0 && value[0] == '"' {
		return value
	}
	return nil
}

// number returns a member that is a whole number, 0 if it is none.
func (o object) number(name string) int64 {
	c := jsonscan.New(o.get(name))
	n, _ := c.Int()
	return n
}

// is reports whether a member is a text.
func (o object) is(name, text string) bool {
	c := jsonscan.New(o.get(name))
	said, ok := c.Text()
	return ok && string(said) == text
}

// set sets a member, unless the value is nil.
func (o *object) set(name string, value []byte) {
	if value == nil {
		return
	}
	for i := range *o {
		if string((*o)[i].name) == name {
			(*o)[i].value = value
			return
		}
	}
	*o = append(*o, member{[]byte(name), value})
}

// join adds a piece, which is a string or nil, to a member. Pieces are joined as they are written,
// so that a character whose escape is divided between two of them is whole again.
func (o *object) join(name string, piece []byte) {
	whole := o.token(name)
	if whole == nil {
		o.set(name, piece)
	} else if len(piece) > 2 {
		o.set(name, append(whole[:len(whole)-1], piece[1:]...)) // which a record has no room for
	}
}

// value returns the JSON that a member which is a string holds, nil if it holds none.
func (o object) value(name string) []byte {
	if token := o.token(name); token != nil {
		text := jsonscan.AppendUnquoted(nil, token)
		if c := jsonscan.New(text); c.End() == nil {
			return text
		}
	}
	return nil
}

// text returns the object as JSON.
func (o object) text() []byte {
	out := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(jsonscan.AppendQuoted(out, m.name), ':'), m.value...)
	}
	return append(out, '}')
}

// list returns a list of objects as JSON.
func list(objects []object) []byte {
	var elements [][]byte
	for _, o := range objects {
		elements = append(elements, o.text())
	}
	return slices.Concat([]byte{'['}, bytes.Join(elements, []byte{','}), []byte{']'})
}
