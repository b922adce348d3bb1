package trace

// Form says how the bytes of a Raw are to be read.
type Form uint8

// The forms. The zero value is FormNone.
const (
	FormNone   Form = iota // absent
	FormJSON               // a JSON value as written in the record
	FormString             // a JSON string token, quotes included, whose content is meant
	FormText               // the bytes are what is meant
)

// Raw is a piece of a record that is parsed when asked for. The zero value is
// an absent piece.
type Raw struct {
	Data []byte
	Form Form
}

// IsZero reports whether the piece is absent.
func (r Raw) IsZero() bool { return r.Form == FormNone }

// TextOf returns s as a Raw.
func TextOf(s string) Raw { return Raw{Data: []byte(s), Form: FormText} }

// JSONOf returns a JSON value as a Raw.
func JSONOf(b []byte) Raw { return Raw{Data: b, Form: FormJSON} }
