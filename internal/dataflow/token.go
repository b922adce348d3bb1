package dataflow

import (
	"unicode"
	"unicode/utf8"

	"github.com/awo-dev/awo/internal/dataflow/jsonvalue"
)

// Texts are searched by whole words: a value is found in a text where its
// words follow one another in it. Words are runs of letters and digits;
// scripts that are written without blanks have one-character words. The search is
// by hash, so that one pass over a text finds any of thousands of values.

// token is one word of a text: text[start:end], with the hash of its
// characters in lower case.
type token struct {
	start, end int32
	hash       uint64
}

// seedToken keeps the hashes of words apart from others.
const seedToken = 9

// maxText is how many bytes of one text are searched.
const maxText = 1 << 20

// Classes of bytes below utf8.RuneSelf.
const (
	classOther = iota
	classWord
	classUpper
)

var asciiClass = func() (class [utf8.RuneSelf]uint8) {
	for c := range class {
		switch {
		case c >= 'A' && c <= 'Z':
			class[c] = classUpper
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
			class[c] = classWord
		}
	}
	return class
}()

// appendTokens appends the words of text.
func appendTokens(tokens []token, text string) []token {
	text = text[:min(len(text), maxText)]
	for i := 0; i < len(text); {
		start := i
		var h uint64 = seedToken
		for i < len(text) && text[i] < utf8.RuneSelf {
			c := text[i]
			class := asciiClass[c]
			if class == classOther {
				break
			}
			if class == classUpper {
				c |= 0x20
			}
			h = h*0x100000001b3 ^ uint64(c)
			i++
		}
		if i < len(text) && text[i] >= utf8.RuneSelf {
			i, h = wideToken(text, start, i, h)
		}
		if i > start {
			tokens = append(tokens, token{int32(start), int32(i), jsonvalue.Mix(h, seedToken)})
		}
		// What ended the word is a separator, or the first character of the next.
		if i < len(text) && !beginsWord(text[i:]) {
			_, size := utf8.DecodeRuneInString(text[i:])
			i += size
		}
	}
	return tokens
}

// wideToken continues the word that began at start at byte i, where a character
// beyond ASCII stands.
func wideToken(text string, start, i int, h uint64) (int, uint64) {
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		alone := isAlone(r)
		if !isWord(r) || alone && i > start {
			break
		}
		h = h*0x100000001b3 ^ uint64(fold(r))
		i += size
		if alone {
			break
		}
	}
	return i, h
}

func beginsWord(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return isWord(r)
}

func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return asciiClass[r] != classOther
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// isAlone reports whether r is a word by itself: it belongs to a script that
// does not separate words.
func isAlone(r rune) bool {
	return r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// fold maps characters that differ in case only to one.
func fold(r rune) rune {
	if r < utf8.RuneSelf {
		if r >= 'A' && r <= 'Z' {
			r |= 0x20
		}
		return r
	}
	return unicode.ToLower(unicode.ToUpper(r))
}

// matchFolded reports whether text begins with value, where case does not count
// and every run of blanks is equal to every other, and how many bytes of text
// that takes.
func matchFolded(text, value string) (int, bool) {
	i, j := 0, 0
	for j < len(value) {
		if i >= len(text) {
			return 0, false
		}
		a, sizeA := utf8.DecodeRuneInString(text[i:])
		b, sizeB := utf8.DecodeRuneInString(value[j:])
		if unicode.IsSpace(a) && unicode.IsSpace(b) {
			i, j = skipBlanks(text, i), skipBlanks(value, j)
			continue
		}
		if fold(a) != fold(b) {
			return 0, false
		}
		i += sizeA
		j += sizeB
	}
	return i, true
}

func skipBlanks(text string, i int) int {
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !unicode.IsSpace(r) {
			break
		}
		i += size
	}
	return i
}

// tokenBase is the base of the rolling hash over words: odd, so that powers
// of it never lose bits.
const tokenBase = 0x9e3779b97f4a7c15

// phraseHash hashes a sequence of words; prefixHashes gives the same for any
// part of a text.
func phraseHash(tokens []token) uint64 {
	var h uint64
	for _, t := range tokens {
		h = h*tokenBase + t.hash
	}
	return h
}

// appendPrefixHashes appends the hashes of the first 0, 1, 2, ... words, from which
// the hash of words i to j is prefix[j] - prefix[i]*tokenBase^(j-i).
func appendPrefixHashes(prefix []uint64, tokens []token) []uint64 {
	var h uint64
	prefix = append(prefix, 0)
	for _, t := range tokens {
		h = h*tokenBase + t.hash
		prefix = append(prefix, h)
	}
	return prefix
}

// standsAlone reports whether text[start:end] is a number of its own, and not
// a part of a time, a date, a fraction, a name or another number: 10:30,
// 2024-05-20, 1.5 and room-7, but not 30-minute.
func standsAlone(text string, start, end int) bool {
	if start > 1 && isSign(text[start-1]) && (text[start-2] >= utf8.RuneSelf || asciiClass[text[start-2]] != classOther) {
		return false
	}
	return end+1 >= len(text) || !isSign(text[end]) || !isDigit(text[end+1])
}
