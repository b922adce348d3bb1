package trace

import (
	"slices"
	"strings"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/jsonscan"
)

// Kind is the type of a JSON value.
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

// String returns "null", "bool", "number", "string", "array" or "object".
func (k Kind) String() string {
	return [...]string{"null", "bool", "number", "string", "array", "object"}[k]
}

// Value is a parsed JSON value in canonical form: members sorted by the code
// points of their names, of repeated names the last, numbers in canonical text
// (integers exact, others in the shortest form that round-trips; see
// AppendCanonical).
type Value struct {
	Kind    Kind
	Bool    bool
	Text    string // String: the content; Number: the canonical text
	Elems   []Value
	Members []Member
}

// Member is one member of an object.
type Member struct {
	Name  string
	Value Value
}

// ParseValue parses one JSON text, strictly: RFC 8259 syntax in valid UTF-8, at
// most 1000 levels deep. Halves of surrogate pairs become U+FFFD. The error is a
// *diag.Error whose Line and Col are those in data.
func ParseValue(data []byte) (Value, error) {
	var r ValueReader
	return r.parse(data)
}

// ScanError places an error of the scanner in a record.
func ScanError(r Record, err error) *diag.Error {
	e := err.(*jsonscan.Error) //nolint:errorlint // the scanner returns nothing else
	problem := diag.New(r.At(e.Offset), e.Code, "%s", e.Msg)
	problem.Err = err
	return problem
}

// ValueParser builds a Value. The elements and members of what it stands in are
// on stacks, so that each list is allocated once, in its size.
type ValueParser struct {
	texts   TextArena
	Scratch []byte // for strings that hold an escape
	elems   []Value
	members []Member
}

// stackRoom is how many elements, and members, there is room for at first.
const stackRoom = 8

// Value reads the value that c stands on.
func (p *ValueParser) Value(c *jsonscan.Cursor) Value {
	switch c.Kind() {
	case jsonscan.Bool:
		b, _ := c.Bool()
		return Value{Kind: Bool, Bool: b}
	case jsonscan.Number:
		p.Scratch = appendNumber(p.Scratch[:0], c.Raw())
		return Value{Kind: Number, Text: p.texts.Add(p.Scratch)}
	case jsonscan.String:
		return Value{Kind: String, Text: p.String(c.Raw())}
	case jsonscan.Array:
		start := len(p.elems)
		for c.Array(); c.Element(); {
			v := p.Value(c)
			if p.elems == nil {
				p.elems = make([]Value, 0, stackRoom)
			}
			p.elems = append(p.elems, v)
		}
		v := Value{Kind: Array, Elems: exactly(p.elems[start:])}
		p.elems = p.elems[:start]
		return v
	case jsonscan.Object:
		start := len(p.members)
		for c.Object(); c.Member(); {
			m := Member{Name: p.texts.Add(c.Key())}
			m.Value = p.Value(c)
			if p.members == nil {
				p.members = make([]Member, 0, stackRoom)
			}
			p.members = append(p.members, m)
		}
		v := Value{Kind: Object, Members: SortedMembers(exactly(p.members[start:]))}
		p.members = p.members[:start]
		return v
	}
	c.Skip()
	return Value{}
}

// exactly returns a copy of list without room for more, nil if it is empty.
func exactly[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	out := make([]T, len(list))
	copy(out, list)
	return out
}

// String returns the content of a token, which is nil at an error.
func (p *ValueParser) String(token []byte) string {
	switch {
	case token == nil:
		return ""
	case jsonscan.IsPlain(token):
		return p.texts.Add(token[1 : len(token)-1])
	}
	p.Scratch = jsonscan.AppendUnquoted(p.Scratch[:0], token)
	return p.texts.Add(p.Scratch)
}

// SortedMembers sorts members by name, of repeated names keeping the last.
func SortedMembers(members []Member) []Member {
	sorted := true
	for i := 1; i < len(members) && sorted; i++ {
		sorted = members[i-1].Name < members[i].Name
	}
	if sorted {
		return members
	}
	slices.SortStableFunc(members, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
	kept := members[:0]
	for i, m := range members {
		if i+1 == len(members) || members[i+1].Name != m.Name {
			kept = append(kept, m)
		}
	}
	clear(members[len(kept):])
	return kept
}

// Lookup returns the member of an object with a name.
func (v Value) Lookup(name string) (Value, bool) {
	if m := v.Find(name); m != nil {
		return *m, true
	}
	return Value{}, false
}

// fewMembers are compared one after the other sooner than searched.
const fewMembers = 12

// Find is Lookup without a copy: it returns nil if there is no such member.
func (v *Value) Find(name string) *Value {
	if len(v.Members) <= fewMembers {
		for i := range v.Members {
			if v.Members[i].Name == name {
				return &v.Members[i].Value
			}
		}
		return nil
	}
	from, to := 0, len(v.Members) // by hand: members are too large to be handed to a function
	for from < to {
		middle := (from + to) / 2
		if v.Members[middle].Name < name {
			from = middle + 1
		} else {
			to = middle
		}
	}
	if from == len(v.Members) || v.Members[from].Name != name {
		return nil
	}
	return &v.Members[from].Value
}

// Equal reports whether two values have the same canonical form.
func (v Value) Equal(w Value) bool {
	return v.Kind == w.Kind && v.Bool == w.Bool && v.Text == w.Text &&
		slices.EqualFunc(v.Elems, w.Elems, Value.Equal) &&
		slices.EqualFunc(v.Members, w.Members, func(a, b Member) bool {
			return a.Name == b.Name && a.Value.Equal(b.Value)
		})
}

// NewObject returns an object of these members, in canonical order; of repeated
// names it keeps the last.
func NewObject(members ...Member) Value { return Value{Kind: Object, Members: SortedMembers(members)} }

// NewString returns a string.
func NewString(s string) Value { return Value{Kind: String, Text: s} }

// Member returns the first member of some names that is not null.
func (v Value) Member(names ...string) Value {
	for _, name := range names {
		if m, ok := v.Lookup(name); ok && m.Kind != Null {
			return m
		}
	}
	return Value{}
}
