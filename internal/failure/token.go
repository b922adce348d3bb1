package failure

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// NoneIn reports whether the text of a string token, quotes included, fits no sure
// pattern, as far as that can be seen without unquoting it: results are most of a trace,
// nearly all fit none, and an object in quotes has an escape every few bytes. Where it
// returns false the text has to be unquoted and asked about. The token has to have come
// from a jsonscan.Cursor.
func NoneIn(token []byte) bool {
	s := token[1 : len(token)-1]
	i, isSpace := 0, true // so far there was nothing but white space
	for i < len(s) {
		switch b := s[i]; {
		case b == ' ':
			i++
		case b == '<' || b == '[' || b == '(' || b == '*':
			i, isSpace = i+1, false
		case b == '\\':
			switch s[i+1] {
			case 'n', 't', 'r':
				i += 2
			case '\\':
				return true // no text begins with a backslash
			default: // a text in further quotes, or a character written as its number
				return false
			}
		case b == '{' && isSpace:
			return !mayHaveMember(s[i:])
		default:
			return !mayBegin[b]
		}
	}
	return true
}

// mayBegin are the bytes that the text of a sure pattern may begin with, behind white
// space and brackets. Letters may stand for others of the same fold, so that every byte
// that is no ASCII is one.
var mayBegin = func() (t [256]bool) {
	for b := range t {
		c := byte(b)
		t[b] = 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == '4' || c == '5' || c >= 0x80
	}
	return t
}()

// mayHaveMember reports whether an object, written in a string token, may have a member
// with a name of a sure pattern, wherever it stands: in front of an escaped quote stands
// how such a name ends, or letters may be written as numbers.
func mayHaveMember(s []byte) bool {
	for i := 0; ; i += 2 {
		n := bytes.IndexByte(s[i:], '\\')
		if n < 0 {
			return false
		}
		switch i += n; s[i+1] {
		case '"':
			if i >= 4 && slices.Contains(memberEnds, binary.LittleEndian.Uint32(s[i-4:])) {
				return true
			}
		case '\\':
			if i+2 < len(s) && s[i+2] == 'u' {
				return true
			}
		case 'u':
			return true
		}
	}
}

// memberEnds are the last four bytes of the names of members that are of sure patterns.
var memberEnds = func() (ends []uint32) {
	for _, p := range Patterns {
		for name := range p.members {
			if p.Sure {
				ends = append(ends, binary.LittleEndian.Uint32([]byte(name[len(name)-4:])))
			}
		}
	}
	slices.Sort(ends)
	return slices.Compact(ends)
}()
