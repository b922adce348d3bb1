package trace

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/awo-dev/awo/internal/jsonscan"
)

// Form says how the bytes of a Raw are to be read.
type Form uint8

// The forms. The zero value is FormNone.
const (
	FormNone   Form = iota // absent
	FormJSON               // a JSON value as written in the record
	FormString             // a JSON string token, quotes included, whose content is meant
	FormText               // the bytes are what is meant
	FormParts              // a JSON array of content parts, whose texts are meant
)

// Raw is a piece of a record that is parsed when asked for. The zero value is
// an absent piece. Its JSON is valid: it comes from a decoder that has checked
// the record, or from JSONOf.
type Raw struct {
	Data []byte
	Form Form
}

// IsZero reports whether the piece is absent.
func (r Raw) IsZero() bool { return r.Form == FormNone }

// TextOf returns s as a Raw.
func TextOf(s string) Raw { return Raw{Data: []byte(s), Form: FormText} }

// JSONOf returns a JSON value, which has to be valid, as a Raw.
func JSONOf(b []byte) Raw { return Raw{Data: b, Form: FormJSON} }

// Text returns what the piece says: the content of a string, the texts of
// content parts (one a line), JSON as it is written, "" if it is absent.
func (r Raw) Text() string {
	if r.Form == FormString && jsonscan.IsPlain(r.Data) {
		return string(r.Data[1 : len(r.Data)-1])
	}
	if r.Form == FormText || r.Form == FormJSON {
		return string(r.Data)
	}
	return string(r.AppendText(make([]byte, 0, len(r.Data))))
}

// AppendText appends what Text returns.
func (r Raw) AppendText(dst []byte) []byte {
	switch r.Form {
	case FormString:
		return jsonscan.AppendUnquoted(dst, r.Data)
	case FormParts:
		return appendParts(dst, r.Data)
	case FormNone:
		return dst
	}
	return append(dst, r.Data...)
}

// TextLen returns the length in bytes of what Text returns, without building it.
func (r Raw) TextLen() int {
	switch r.Form {
	case FormNone:
		return 0
	case FormString:
		return jsonscan.UnquotedLen(r.Data)
	case FormParts:
		return len(appendParts(nil, r.Data))
	}
	return len(r.Data)
}

// appendParts appends the texts of an array of content parts, one a line. A part
// is a string, or an object with a member "text" (text, input_text, output_text)
// or "refusal", or of the type "text" with a member "content"; others, such as images,
// have no text.
func appendParts(dst, parts []byte) []byte {
	start := len(dst)
	c := jsonscan.New(parts)
	for ok := c.Array(); ok && c.Element(); {
		token := c.Token()
		var content []byte // of a text
		isText := false
		for ok := token == nil && c.Object(); ok && c.Member(); {
			switch string(c.Key()) {
			case "text", "refusal":
				token = c.Token()
			case "content":
				content = c.Token()
			case "type":
				kind, _ := c.Text()
				isText = string(kind) == "text"
			}
		}
		if token == nil && isText {
			token = content
		}
		if token == nil {
			continue
		}
		if len(dst) > start {
			dst = append(dst, '\n')
		}
		dst = jsonscan.AppendUnquoted(dst, token)
	}
	return dst
}

// Content returns the piece without what JSON needs to write it: the content of
// a string if that holds no escape, and else a copy.
func (r Raw) Content() []byte { return r.contentIn(nil) }

// contentIn is content with room for the copy.
func (r Raw) contentIn(room []byte) []byte {
	switch {
	case r.isQuoted():
		return r.AppendText(slices.Grow(room, len(r.Data)))
	case r.Form == FormString:
		return r.Data[1 : len(r.Data)-1]
	}
	return r.Data
}

// isQuoted reports whether the content has to be copied to be read.
func (r Raw) isQuoted() bool {
	return r.Form != FormText && r.Form != FormJSON && !(r.Form == FormString && jsonscan.IsPlain(r.Data))
}

// ValidText returns text as a string, with U+FFFD for each byte that is no part
// of valid UTF-8.
func ValidText(text []byte) string {
	if !utf8.Valid(text) {
		return string([]rune(string(text)))
	}
	return string(text)
}

// IsEmpty reports whether the piece is absent or an empty string or array.
func (r Raw) IsEmpty() bool {
	switch r.Form {
	case FormNone:
		return true
	case FormText:
		return len(r.Data) == 0
	case FormString:
		return len(r.Data) <= 2
	case FormParts:
		return len(bytes.TrimSpace(r.Data[1:])) <= 1
	}
	return false
}

// OrAbsent returns the piece, the absent one for one that is empty: formats write
// "" and null for the same where nothing was said.
func (r Raw) OrAbsent() Raw {
	if r.IsEmpty() {
		return Raw{}
	}
	return r
}
