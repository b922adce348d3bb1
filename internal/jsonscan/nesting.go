package jsonscan

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// Nesting finds where a JSON value ends. It looks at quotes, backslashes and
// brackets only and takes every kind of bracket for the same, so it is fast and
// believes anything; what it finds is checked when it is decoded. Its state
// carries over from one piece of the input to the next.
//
// Note: a bit map of the structural bytes made 64 bytes at a time, as SIMD
// parsers do, does not pay without SIMD; jumping from quote to quote does,
// because traces are mostly strings.
type Nesting struct {
	depth    int
	inString bool
	escaped  bool // the next byte of the string follows a backslash that counts
	scalar   bool // the value is a number or a literal
}

// Scalar reports whether the value is a number or a literal, which ends with the input
// where nothing follows it.
func (s *Nesting) Scalar() bool { return s.scalar }

// NewNesting returns the state before a value whose first byte is c.
func NewNesting(c byte) Nesting {
	return Nesting{scalar: c != '{' && c != '[' && c != '"'}
}

// Skip reads b, the beginning of a value or what follows earlier pieces of it.
// It returns the number of bytes up to the end of the value and true, or len(b)
// and false if the value goes on. A number or literal ends before the byte that
// ends it, so it may still be whole where the input ends.
func (s *Nesting) Skip(b []byte) (int, bool) {
	i := 0
	switch {
	case s.scalar:
		return endOfScalar(b)
	case s.inString:
		if i = s.closeString(b, 0); i < 0 {
			return len(b), false
		}
		if s.depth == 0 {
			return i, true
		}
	}
	for {
		if i = nextStructural(b, i); i >= len(b) {
			return len(b), false
		}
		switch b[i] {
		case '"':
			s.inString = true
			if i = s.closeString(b, i+1); i < 0 {
				return len(b), false
			}
			if s.depth == 0 {
				return i, true
			}
		case '{', '[':
			s.depth++
			i++
		case '}', ']':
			s.depth--
			i++
			if s.depth <= 0 {
				return i, true
			}
		}
	}
}

func endOfScalar(b []byte) (int, bool) {
	for i, c := range b {
		switch c {
		case ' ', '\n', '\t', '\r', ',', ':', '"', '{', '}', '[', ']':
			return i, true
		}
	}
	return len(b), false
}

// closeString returns the index behind the quote that ends the string in which
// b[i] is, or -1 if b ends before. Most strings are short, or have quotes of
// their own near each other, so it searches a few words before it calls for the
// search that is fast on long stretches and slow to start.
func (s *Nesting) closeString(b []byte, i int) int {
	if s.escaped {
		if i == len(b) {
			return -1
		}
		s.escaped = false
		i++
	}
	from := i
	for i < len(b) {
		for near := min(i+32, len(b)-8); i < near; i += 8 {
			quote := binary.LittleEndian.Uint64(b[i:]) ^ quotes
			for hits := (quote - everyByte) &^ quote & highBits; hits != 0; hits &= hits - 1 {
				at := i + bits.TrailingZeros64(hits)>>3
				if b[at] == '"' && !escapes(b, from, at) {
					s.inString = false
					return at + 1
				}
			}
		}
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			break
		}
		i += n
		if !escapes(b, from, i) {
			s.inString = false
			return i + 1
		}
		i++
	}
	s.escaped = trailingBackslashes(b[from:])%2 == 1
	return -1
}

// escapes reports whether an odd number of backslashes stand before b[i], not
// looking before b[from].
func escapes(b []byte, from, i int) bool {
	if i == from || b[i-1] != '\\' {
		return false
	}
	if i-1 == from || b[i-2] != '\\' {
		return true
	}
	return trailingBackslashes(b[from:i])%2 == 1
}

func trailingBackslashes(b []byte) int {
	n := 0
	for n < len(b) && b[len(b)-1-n] == '\\' {
		n++
	}
	return n
}

const (
	everyByte = 0x0101010101010101
	highBits  = 0x80 * everyByte
	quotes    = '"' * everyByte
	// The four brackets are the bytes that are 0x59 under this mask, with four
	// others that stand outside strings in broken JSON only, or in a literal
	// (Y, y, _ and DEL).
	bracketMask = 0xD9 * everyByte
	bracketBits = 0x59 * everyByte
)

// nextStructural returns the index of the first quote or bracket in b[i:], or
// len(b). It looks at eight bytes at a time: x-1 borrows into the high bit of
// the lowest byte that is zero in x, and bytes below it are left alone.
func nextStructural(b []byte, i int) int {
	for ; i+8 <= len(b); i += 8 {
		word := binary.LittleEndian.Uint64(b[i:])
		quote := word ^ quotes
		bracket := word&bracketMask ^ bracketBits
		hits := ((quote-everyByte)&^quote | (bracket-everyByte)&^bracket) & highBits
		for ; hits != 0; hits &= hits - 1 {
			at := i + bits.TrailingZeros64(hits)>>3
			if isStructural(b[at]) {
				return at
			}
		}
	}
	for ; i < len(b); i++ {
		if isStructural(b[i]) {
			return i
		}
	}
	return len(b)
}

func isStructural(c byte) bool {
	return c == '"' || c == '{' || c == '}' || c == '[' || c == ']'
}

// IsWhole reports whether a text has as many closing brackets as opening ones.
func IsWhole(text []byte) bool {
	nest := NewNesting(text[0])
	_, done := nest.Skip(text)
	return done
}
