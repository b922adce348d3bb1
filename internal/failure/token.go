package failure

import (
	"encoding/binary"
	"slices"

	"github.com/awo-dev/awo/internal/jsonscan"
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
	i := 0
	// By eight bytes: high bits of those behind a backslash, behind an o, behind a d, and
	// behind "or" or "de", how all such names end.
	var escaped, afterO, afterD, afterEnd uint64
	for ; len(s)-i >= 8; i += 8 {
		w := binary.LittleEndian.Uint64(s[i:])
		escape, o, d := jsonscan.EqualBytes(w, '\\'), jsonscan.EqualBytes(w, 'o'), jsonscan.EqualBytes(w, 'd')
		escaped, afterO, afterD = escaped|escape<<8, afterO|o<<8, afterD|d<<8
		if escaped&jsonscan.EqualBytes(w, 'u') != 0 {
			return true
		}
		end := afterO&jsonscan.EqualBytes(w, 'r') | afterD&jsonscan.EqualBytes(w, 'e')
		afterEnd |= end << 8
		if escape&afterEnd != 0 && endsMember(s, i, i+8) {
			return true
		}
		escaped, afterO, afterD, afterEnd = escape>>56, o>>56, d>>56, end>>56
	}
	return endsMember(s, max(i-1, 0), len(s))
}

// endsMember reports whether one of the backslashes of s from some index to another stands
// behind how a name ends, or before a u.
func endsMember(s []byte, from, to int) bool {
	for i := from; i < to; i++ {
		if s[i] != '\\' || i+1 >= len(s) {
			continue
		}
		if s[i+1] == 'u' || s[i+1] == '"' && i >= 4 && slices.Contains(memberEnds, binary.LittleEndian.Uint32(s[i-4:])) {
			return true
		}
	}
	return false
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
