package jsonscan

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// What a string was seen to hold.
const (
	hasHigh      = 1 << iota // a byte that is no ASCII
	hasEscape                // a backslash
	hasSurrogate             // perhaps a \u escape of half a surrogate pair
	hasEnd                   // its closing quote (scanString only)
)

// str passes over the rest of the string whose content begins at i, and returns
// the index behind its closing quote, or -1, and what it holds.
//
// Names and short words end within 16 bytes and are not worth a call.
func (c *Cursor) str(i int) (int, int) {
	data := c.data
	if len(data)-i >= 16 {
		m := special(binary.LittleEndian.Uint64(data[i:]))
		at := i
		if m == 0 {
			at = i + 8
			m = special(binary.LittleEndian.Uint64(data[at:]))
		}
		if m != 0 {
			if at += bits.TrailingZeros64(m) / 8; data[at] == '"' {
				return at + 1, 0
			}
		}
	}
	return c.longStr(i)
}

func (c *Cursor) longStr(i int) (int, int) {
	at, flags := scanString(c.data[i:])
	return c.restOfStr(i, i+at, flags)
}

// restOfStr is str for a string that has been passed over up to at, and holds
// flags so far.
func (c *Cursor) restOfStr(i, at, flags int) (int, int) {
	if flags&hasEnd == 0 {
		var rest int
		if at, rest = c.slowStr(at); at < 0 {
			c.blameUTF8(i)
			return -1, 0
		}
		flags |= rest
	}
	if flags&hasHigh != 0 && !validUTF8(c.data[i:at]) {
		c.fail(CodeUTF8, i+invalidUTF8(c.data[i:at]), msgUTF8)
		return -1, 0
	}
	if flags&hasSurrogate != 0 {
		c.lone += countLone(c.data[i:at])
	}
	return at + 1, flags &^ hasEnd
}

// blameUTF8 turns the error in the string whose content begins at i into one of
// its encoding if that is wrong even before.
func (c *Cursor) blameUTF8(i int) {
	s := c.data[i:c.err.Offset]
	at := invalidUTF8(s)
	if at == len(s) || c.err.Code == CodeTruncated && !utf8.FullRune(s[at:]) {
		return
	}
	c.err = &Error{Code: CodeUTF8, Offset: i + at, Msg: msgUTF8}
}

// slowStr passes over the content of a string from i on, where no escape is
// pending, and returns the index of its closing quote, or -1, and what it holds.
// It is the whole scanner where there is no faster one, and finds out what is
// wrong where there is.
func (c *Cursor) slowStr(i int) (int, int) {
	data, flags := c.data, 0
	for {
		for len(data)-i >= 8 {
			m := special(binary.LittleEndian.Uint64(data[i:]))
			if m != 0 {
				i += bits.TrailingZeros64(m) / 8
				break
			}
			i += 8
		}
		if i >= len(data) {
			c.fail(CodeTruncated, len(data), msgString)
			return -1, 0
		}
		switch b := data[i]; {
		case b == '"':
			return i, flags
		case b == '\\':
			n, surrogate := c.escape(i)
			if n < 0 {
				return -1, 0
			}
			flags |= hasEscape | surrogate
			i += n
		case b < ' ':
			c.fail(CodeControl, i, msgControl)
			return -1, 0
		case b >= utf8.RuneSelf:
			flags |= hasHigh
			i++
			for len(data)-i >= 8 && quoteEscapeControl(binary.LittleEndian.Uint64(data[i:])) == 0 {
				i += 8
			}
		default:
			i++
		}
	}
}

// escape checks the escape at i and returns its length, or -1, and hasSurrogate
// if it writes half a surrogate pair.
func (c *Cursor) escape(i int) (int, int) {
	data := c.data
	if i+1 >= len(data) {
		c.fail(CodeTruncated, len(data), msgString)
		return -1, 0
	}
	switch data[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2, 0
	case 'u':
	default:
		c.fail(CodeEscape, i+1, msgEscape)
		return -1, 0
	}
	for n := i + 2; n < i+6; n++ {
		if n >= len(data) {
			c.fail(CodeTruncated, len(data), msgString)
			return -1, 0
		}
		if hexValue[data[n]] == noHex {
			c.fail(CodeEscape, n, msgHex)
			return -1, 0
		}
	}
	if r := hexRune(data[i+2:]); r >= surrogateMin && r <= surrogateMax {
		return 6, hasSurrogate
	}
	return 6, 0
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special returns the high bits of the bytes of w that end a run of plain ASCII
// in a string: quotes, backslashes, control characters and bytes that are no
// ASCII. Only the lowest bit set is exact.
func special(w uint64) uint64 { return quoteEscapeControl(w) | w&highs }

// quoteEscapeControl is special without the bytes that are no ASCII.
func quoteEscapeControl(w uint64) uint64 {
	quote, escape := w^('"'*ones), w^('\\'*ones)
	return ((quote-ones)&^quote | (escape-ones)&^escape | (w-' '*ones)&^w) & highs
}

// invalidUTF8 returns the index of the first byte that is no part of valid UTF-8.
func invalidUTF8(b []byte) int {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n <= 1 {
			return i
		}
		i += n
	}
	return len(b)
}
