package world

import (
	"slices"
	"strconv"
	"unicode/utf8"
)

// Kind is the type of a Value.
type Kind uint8

// The kinds. The zero value is Null.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

// Value is a JSON value whose members keep the order in which a tool writes
// them. Its leaves know which datum they show, see Datum.
type Value struct {
	Kind    Kind
	Text    string // String: the content; Number and Bool: the JSON text
	Items   []Value
	Members []Member
	Datum   Datum
}

// Member is one member of an object.
type Member struct {
	Name  string
	Value Value
}

// Datum says of which fact a leaf is a copy, so that two leaves with the same
// text can be told apart: the amount of an invoice in a list and in its details
// is one datum, the equal amount of another invoice is a coincidence. The zero
// Datum stands for values that are their own identity (ids, tokens, addresses,
// names): with it, equal text is the same datum.
type Datum uint64

// DatumOf returns the datum for a field of an entity.
func DatumOf(entity, field string) Datum {
	return Datum(hash(0x9e3779b97f4a7c15, entity, field) | 1)
}

// Str returns a string.
func Str(s string) Value { return Value{Kind: String, Text: s} }

// Int returns a whole number.
func Int(n int) Value { return Value{Kind: Number, Text: strconv.Itoa(n)} }

// Money returns an amount given in cents as a number in the shortest form.
func Money(cents int) Value { return Value{Kind: Number, Text: moneyText(cents)} }

// Truth returns a boolean.
func Truth(b bool) Value { return Value{Kind: Bool, Text: strconv.FormatBool(b)} }

// List returns an array.
func List(items ...Value) Value { return Value{Kind: Array, Items: items} }

// Obj returns an object.
func Obj(members ...Member) Value { return Value{Kind: Object, Members: members} }

// M returns a member.
func M(name string, v Value) Member { return Member{Name: name, Value: v} }

// As returns v as a copy of the datum d.
func (v Value) As(d Datum) Value {
	v.Datum = d
	return v
}

// Field returns the member of that name, or false.
func (v Value) Field(name string) (Value, bool) {
	for i := range v.Members {
		if v.Members[i].Name == name {
			return v.Members[i].Value, true
		}
	}
	return Value{}, false
}

// IsLeaf reports whether v is no array and no object.
func (v Value) IsLeaf() bool { return v.Kind != Array && v.Kind != Object }

// SameText reports whether two leaves show the same value.
func (v Value) SameText(w Value) bool { return v.Kind == w.Kind && v.Text == w.Text }

// Equal reports whether two values show the same JSON. Data are not compared.
func (v Value) Equal(w Value) bool {
	if v.Kind != w.Kind || v.Text != w.Text {
		return false
	}
	return slices.EqualFunc(v.Items, w.Items, Value.Equal) &&
		slices.EqualFunc(v.Members, w.Members, func(a, b Member) bool {
			return a.Name == b.Name && a.Value.Equal(b.Value)
		})
}

// Leaves calls f with every leaf and its path, in order. Paths are written as
// in rule files: names joined by dots, elements as [0], from the root.
func (v Value) Leaves(f func(path string, leaf Value)) { v.leaves(nil, f) }

func (v Value) leaves(path []byte, f func(string, Value)) {
	switch v.Kind {
	case Array:
		for i := range v.Items {
			v.Items[i].leaves(appendIndex(path, i), f)
		}
	case Object:
		for i := range v.Members {
			v.Members[i].Value.leaves(appendName(path, v.Members[i].Name), f)
		}
	default:
		f(string(path), v)
	}
}

// HasLeaf reports whether f holds for some leaf. Paths are not built, which
// makes it much cheaper than Leaves.
func (v Value) HasLeaf(f func(leaf Value) bool) bool {
	switch v.Kind {
	case Array:
		for i := range v.Items {
			if v.Items[i].HasLeaf(f) {
				return true
			}
		}
		return false
	case Object:
		for i := range v.Members {
			if v.Members[i].Value.HasLeaf(f) {
				return true
			}
		}
		return false
	}
	return f(v)
}

// PathName appends a member's name to a path.
func PathName(path, name string) string { return string(appendName([]byte(path), name)) }

// PathIndex appends an element's index to a path.
func PathIndex(path string, i int) string { return string(appendIndex([]byte(path), i)) }

func appendName(path []byte, name string) []byte {
	path = slices.Clip(path)
	if len(path) > 0 {
		path = append(path, '.')
	}
	return append(path, name...)
}

func appendIndex(path []byte, i int) []byte {
	path = append(slices.Clip(path), '[')
	path = strconv.AppendInt(path, int64(i), 10)
	return append(path, ']')
}

// AppendJSON appends v as JSON without spaces.
func (v Value) AppendJSON(dst []byte) []byte {
	switch v.Kind {
	case Null:
		return append(dst, "null"...)
	case Bool, Number:
		return append(dst, v.Text...)
	case String:
		return AppendString(dst, v.Text)
	case Array:
		dst = append(dst, '[')
		for i := range v.Items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = v.Items[i].AppendJSON(dst)
		}
		return append(dst, ']')
	default:
		dst = append(dst, '{')
		for i := range v.Members {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendString(dst, v.Members[i].Name)
			dst = append(dst, ':')
			dst = v.Members[i].Value.AppendJSON(dst)
		}
		return append(dst, '}')
	}
}

// AppendString appends s as a JSON string token. What is no UTF-8 becomes the
// replacement character.
func AppendString[T string | []byte](dst []byte, s T) []byte {
	const digits = "0123456789abcdef"
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(string(s[i:min(i+utf8.UTFMax, len(s))]))
			if r == utf8.RuneError && n == 1 {
				dst = append(dst, s[start:i]...)
				dst = append(dst, "\ufffd"...)
				start = i + n
			}
			i += n
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = append(dst, s[start:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\r':
			dst = append(dst, '\\', 'r')
		default:
			dst = append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		}
		i++
		start = i
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

func moneyText(cents int) string {
	sign := ""
	if cents < 0 {
		sign, cents = "-", -cents
	}
	whole, rest := strconv.Itoa(cents/100), cents%100
	switch {
	case rest == 0:
		return sign + whole
	case rest%10 == 0:
		return sign + whole + "." + strconv.Itoa(rest/10)
	case rest < 10:
		return sign + whole + ".0" + strconv.Itoa(rest)
	}
	return sign + whole + "." + strconv.Itoa(rest)
}
