package trace

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/awo-dev/awo/internal/jsonscan"
)

// AppendCanonical appends the canonical JSON of a value, the form in which
// labels are written and values compared and hashed: members sorted by the code
// points of their names, no white space, only quotes, backslashes and control
// characters escaped. Numbers are written so that equal text means equal value
// and type:
//
//   - a number without fraction and exponent is an integer, exact at any length;
//     -0 is 0
//   - any other is the nearest double in the shortest form that reads back as it,
//     with a fraction or exponent to tell it from an integer: 1.0 and 1e0 are 1.0,
//     1E16 is 1e+16, 0.00001 is 1e-05, -0.0 stays
//   - one that no double is near enough to (1e400) keeps its text, with a small e
//
// This is what Python's json.dumps(json.loads(text), sort_keys=True,
// separators=(",", ":"), ensure_ascii=False) writes, except for two things that
// it cannot write as JSON: 1e400 (Infinity there), and halves of surrogate pairs
// (U+FFFD here).
func (v Value) AppendCanonical(dst []byte) []byte {
	switch v.Kind {
	case Bool:
		return strconv.AppendBool(dst, v.Bool)
	case Number:
		return append(dst, v.Text...)
	case String:
		return jsonscan.AppendQuoted(dst, v.Text)
	case Array:
		dst = append(dst, '[')
		for i, e := range v.Elems {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = e.AppendCanonical(dst)
		}
		return append(dst, ']')
	case Object:
		dst = append(dst, '{')
		for i, m := range v.Members {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = jsonscan.AppendQuoted(dst, m.Name)
			dst = append(dst, ':')
			dst = m.Value.AppendCanonical(dst)
		}
		return append(dst, '}')
	}
	return append(dst, "null"...)
}

// AppendCanonical appends the canonical JSON of a text, as ParseValue and
// Value.AppendCanonical together do, without building the value. The error is a
// *diag.Error, and dst then as it was.
func AppendCanonical(dst, text []byte) ([]byte, error) {
	c := jsonscan.New(text)
	out := appendCanonical(dst, &c)
	if err := c.End(); err != nil {
		return dst, ScanError(Record{Data: text, Line: 1, Col: 1}, err)
	}
	return out, nil
}

// appendCanonical appends the canonical JSON of the value that c stands on.
func appendCanonical(dst []byte, c *jsonscan.Cursor) []byte {
	switch c.Kind() {
	case jsonscan.Number:
		return appendNumber(dst, c.Raw())
	case jsonscan.String:
		return appendString(dst, c.Raw())
	case jsonscan.Array:
		dst = append(dst, '[')
		empty := len(dst)
		for c.Array(); c.Element(); {
			dst = append(appendCanonical(dst, c), ',')
		}
		return closeList(dst, empty, ']')
	case jsonscan.Object:
		return appendObject(dst, c)
	}
	return append(dst, c.Raw()...)
}

// writtenMember is where a member of an object was written, the quotes of its
// name included.
//
// Note: the name itself, kept in a slice, would make the text escape to the heap.
type writtenMember struct {
	start, nameEnd, end int
}

// appendObject writes the members as they come, and puts them in order
// afterwards if they are not.
func appendObject(dst []byte, c *jsonscan.Cursor) []byte {
	var room [8]writtenMember
	members, sorted := room[:0], true
	dst = append(dst, '{')
	empty := len(dst)
	for c.Object(); c.Member(); {
		m := writtenMember{start: len(dst)}
		dst = jsonscan.AppendQuoted(dst, c.Key())
		m.nameEnd = len(dst)
		dst = append(appendCanonical(append(dst, ':'), c), ',')
		m.end = len(dst)
		if n := len(members); n > 0 && sorted {
			sorted = compareNames(dst, members[n-1], m) < 0
		}
		members = append(members, m)
	}
	if !sorted {
		dst = sortWritten(dst, empty, members)
	}
	return closeList(dst, empty, '}')
}

// compareNames compares the names of two members by their code points.
func compareNames(dst []byte, a, b writtenMember) int {
	name, other := dst[a.start:a.nameEnd], dst[b.start:b.nameEnd]
	if jsonscan.IsPlain(name) && jsonscan.IsPlain(other) {
		return bytes.Compare(name[1:len(name)-1], other[1:len(other)-1])
	}
	return bytes.Compare(jsonscan.AppendUnquoted(nil, name), jsonscan.AppendUnquoted(nil, other))
}

// sortWritten puts the members that are written from start to the end of dst in
// order, of repeated names keeping the last.
func sortWritten(dst []byte, start int, members []writtenMember) []byte {
	end := len(dst)
	slices.SortStableFunc(members, func(a, b writtenMember) int { return compareNames(dst, a, b) })
	for i, m := range members {
		if i+1 == len(members) || compareNames(dst, m, members[i+1]) != 0 {
			dst = append(dst, dst[m.start:m.end]...)
		}
	}
	return dst[:start+copy(dst[start:], dst[end:])]
}

// closeList puts the closing bracket where the comma behind the last element is,
// or at the end if there is none.
func closeList(dst []byte, empty int, bracket byte) []byte {
	if len(dst) == empty {
		return append(dst, bracket)
	}
	dst[len(dst)-1] = bracket
	return dst
}

// appendString appends the canonical form of a string token.
func appendString(dst, token []byte) []byte {
	if jsonscan.IsPlain(token) {
		return append(dst, token...)
	}
	// Unquote behind what is to be written, then write it.
	start := len(dst)
	dst = jsonscan.AppendUnquoted(dst, token)
	end := len(dst)
	dst = jsonscan.AppendQuoted(dst, dst[start:end])
	return dst[:start+copy(dst[start:], dst[end:])]
}

// appendNumber appends the canonical form of a number.
func appendNumber(dst, text []byte) []byte {
	if len(text) == 0 {
		return dst
	}
	if !bytes.ContainsAny(text, ".eE") {
		if string(text) == "-0" {
			text = text[1:]
		}
		return append(dst, text...)
	}
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		start := len(dst)
		dst = append(dst, text...)
		if i := bytes.IndexByte(dst[start:], 'E'); i >= 0 {
			dst[start+i] = 'e'
		}
		return dst
	}
	return AppendFloat(dst, f)
}

// AppendFloat appends a finite number as Python's repr does: an exponent from
// 1e16 on and below 1e-4, otherwise a fraction.
func AppendFloat(dst []byte, f float64) []byte {
	start := len(dst)
	if abs := max(f, -f); abs == 0 || abs >= 1e-4 && abs < 1e16 {
		dst = strconv.AppendFloat(dst, f, 'f', -1, 64)
		if bytes.IndexByte(dst[start:], '.') < 0 {
			dst = append(dst, '.', '0')
		}
		return dst
	}
	return strconv.AppendFloat(dst, f, 'e', -1, 64)
}
