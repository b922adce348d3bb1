package trace

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

// Value is a parsed JSON value in canonical form: members sorted by the code
// points of their names, of repeated names the last, numbers in canonical text
// (integers exact, others in the shortest form that round-trips).
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
