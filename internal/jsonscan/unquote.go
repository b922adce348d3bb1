package jsonscan

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"
)

const (
	surrogateMin, surrogateMax = 0xD800, 0xDFFF
	highMax                    = 0xDBFF // first half: surrogateMin to highMax

	noHex = 0xFF
)

// hexValue is the value of a hexadecimal digit, noHex for other bytes.
var hexValue = func() (t [256]byte) {
	for i := range t {
		t[i] = noHex
	}
	for i := range byte(10) {
		t['0'+i] = i
	}
	for i := range byte(6) {
		t['a'+i], t['A'+i] = 10+i, 10+i
	}
	return t
}()

// escaped is what an escape of one letter stands for.
var escaped = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// hexRune returns the value of four hexadecimal digits.
func hexRune(b []byte) rune {
	_ = b[3]
	return rune(hexValue[b[0]])<<12 | rune(hexValue[b[1]])<<8 | rune(hexValue[b[2]])<<4 | rune(hexValue[b[3]])
}

// AppendUnquoted appends what a string token, quotes included, stands for. The
// token has to have come from a Cursor. Halves of surrogate pairs become U+FFFD.
func AppendUnquoted(dst, token []byte) []byte {
	return appendContent(dst, token[1:len(token)-1])
}

func appendContent(dst, s []byte) []byte {
	for {
		i := bytes.IndexByte(s, '\\')
		if i < 0 {
			return append(dst, s...)
		}
		dst = append(dst, s[:i]...)
		// Escapes come in runs (quoted JSON): copy what is between them by hand.
		for i < len(s) && s[i] == '\\' {
			if s[i+1] != 'u' {
				dst = append(dst, escaped[s[i+1]])
				i += 2
			} else {
				r, n := escapedRune(s[i:])
				dst = utf8.AppendRune(dst, r)
				i += n
			}
			for end := min(len(s), i+24); i < end && s[i] != '\\'; i++ {
				dst = append(dst, s[i])
			}
		}
		s = s[i:]
	}
}

// escapedRune returns the rune that the \u escape at the beginning of s writes,
// with its second half if it has one, and the length. It is U+FFFD for half a
// surrogate pair.
func escapedRune(s []byte) (rune, int) {
	r := hexRune(s[2:])
	if r < surrogateMin || r > surrogateMax {
		return r, 6
	}
	if r <= highMax && len(s) >= 12 && s[6] == '\\' && s[7] == 'u' {
		if low := hexRune(s[8:]); low > highMax && low <= surrogateMax {
			return (r-surrogateMin)<<10 + (low - highMax - 1) + 0x10000, 12
		}
	}
	return utf8.RuneError, 6
}

// countLone returns how many halves of surrogate pairs are in the content of a
// string.
func countLone(s []byte) int {
	n := 0
	for {
		i := bytes.IndexByte(s, '\\')
		if i < 0 {
			return n
		}
		if s[i+1] != 'u' {
			s = s[i+2:]
			continue
		}
		r, size := escapedRune(s[i:])
		if r == utf8.RuneError && hexRune(s[i+2:]) != utf8.RuneError {
			n++
		}
		s = s[i+size:]
	}
}

// IsPlain reports whether a string token holds no escape, so that what is
// between its quotes is what it stands for.
func IsPlain(token []byte) bool { return bytes.IndexByte(token, '\\') < 0 }

// UnquotedLen returns how many bytes AppendUnquoted appends.
func UnquotedLen(token []byte) int {
	s := token[1 : len(token)-1]
	n := len(s)
	escapes, i, isPlain := oneLetterEscapes(s)
	if n -= escapes; !isPlain {
		n = len(s)
		i = 0
	}
	for s = s[i:]; ; {
		i := bytes.IndexByte(s, '\\')
		if i < 0 {
			return n
		}
		if s[i+1] != 'u' {
			n--
			s = s[i+2:]
			continue
		}
		r, size := escapedRune(s[i:])
		n += utf8.RuneLen(r) - size
		s = s[i+size:]
	}
}

// oneLetterEscapes counts the backslashes in s up to i, which is near its end and behind no
// backslash. It returns false if one of them may not begin an escape of one letter: it stands
// behind another one, or before a u.
func oneLetterEscapes(s []byte) (n, i int, ok bool) {
	var behind, odd uint64 // high bits of bytes behind a backslash
	for ; len(s)-i >= 8; i += 8 {
		w := binary.LittleEndian.Uint64(s[i:])
		escape := EqualBytes(w, '\\')
		behind |= escape << 8
		odd |= behind & (escape | EqualBytes(w, 'u'))
		behind = escape >> 56
		n += int((escape >> 7) * ones >> 56)
	}
	if behind != 0 {
		n--
		i--
	}
	return n, i, odd == 0
}

// EqualBytes returns the high bit of each of eight bytes that equals b.
func EqualBytes(word uint64, b byte) uint64 {
	x := word ^ uint64(b)*ones
	return ^(x&^highs + ^uint64(highs) | x) & highs
}
