// Package lexical compares short texts without a model of language: names,
// descriptions, requests.
//
// Texts come in; their words, sparse vectors weighted by how rare the words are,
// and BM25 scores go out. An index keeps a few bytes for each word of each text.
// The package knows no tools and no tasks, and reads nothing.
//
// Everything is a function of the texts and their order, to the bit: sums run in
// the order of words, never of a map.
package lexical

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxWord is the longest word in bytes; what is longer is cut, because it is no
// word.
const maxWord = 64

// Words returns the words of a name or a text in lower case and in their order:
// runs of letters, divided where case says so (userId, HTTPServer), without digits,
// each in one form for singular and plural. Scripts that put no blanks between
// words (Han, kana, Thai) give pairs of adjacent letters.
func Words(text string) []string {
	var out []string
	for word := range split(text) {
		out = append(out, word)
	}
	return out
}

// Terms returns the Words of a text that are no stop words: those that say
// something about its matter.
func Terms(text string) []string {
	var out []string
	for word := range split(text) {
		if !stopWords[word] {
			out = append(out, word)
		}
	}
	return out
}

func split(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for i := 0; i < len(text); {
			r, size := utf8.DecodeRuneInString(text[i:])
			switch {
			case unblanked(r):
				end := i
				for end < len(text) {
					r, size := utf8.DecodeRuneInString(text[end:])
					if !unblanked(r) {
						break
					}
					end += size
				}
				if !pairs(text[i:end], yield) {
					return
				}
				i = end
			case unicode.IsLetter(r):
				end := wordEnd(text, i)
				if word := Singular(strings.ToLower(cut(text[i:end]))); !yield(word) {
					return
				}
				i = end
			default:
				i += size
			}
		}
	}
}

// cut returns a word, or its beginning.
func cut(word string) string {
	if len(word) <= maxWord {
		return word
	}
	return strings.ToValidUTF8(word[:maxWord], "")
}

// wordEnd returns where the word ends that begins at i: before a letter that is
// none, before a capital behind a small letter, and before the last capital of
// several that a small letter follows.
func wordEnd(text string, i int) int {
	var before, last rune
	lastAt := i
	for at, r := range text[i:] {
		if !unicode.IsLetter(r) && !unicode.IsMark(r) || unblanked(r) {
			return i + at
		}
		switch {
		case unicode.IsUpper(r) && unicode.IsLower(last):
			return i + at
		case unicode.IsLower(r) && unicode.IsUpper(last) && unicode.IsUpper(before) && !pluralEnd(text[i+at:]):
			return lastAt
		}
		before, last, lastAt = last, r, i+at
	}
	return len(text)
}

// pluralEnd reports whether a text begins with the s of a plural, as that of IDs.
func pluralEnd(text string) bool {
	if text[0] != 's' {
		return false
	}
	next, _ := utf8.DecodeRuneInString(text[1:])
	return !unicode.IsLower(next)
}

// unblanked reports whether a letter is of a script without blanks between words.
func unblanked(r rune) bool {
	return r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

// pairs yields every two adjacent letters of a run, or its only one.
func pairs(run string, yield func(string) bool) bool {
	_, first := utf8.DecodeRuneInString(run)
	if first == len(run) {
		return yield(run)
	}
	for i := 0; i+first < len(run); {
		_, second := utf8.DecodeRuneInString(run[i+first:])
		if !yield(run[i : i+first+second]) {
			return false
		}
		i, first = i+first, second
	}
	return true
}

// Singular returns the form of a word that its plural has too. It need not be the
// singular that a person writes: movie and movies are both movy, because category
// and categories have to be one.
func Singular(word string) string {
	if word == "ids" { // too short for the rule, and in most catalogues
		return "id"
	}
	if n := len(word); n > 3 && word[n-1] == 's' && word[n-2] != 's' && word[n-2] != 'u' && word[n-2] != 'i' {
		word = word[:n-1]
	}
	if n := len(word); n > 4 && strings.HasSuffix(word, "ie") {
		word = word[:n-2] + "y"
	}
	return word
}

// stopWords hold words in the form that Singular gives.
var stopWords = func() map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(`a about above after again all also am an and any are as at be because been before
		being below between both but by can could did do does doing down during each few for from further had has have having
		he her here hers him his how i if in into is it its just ll me more most my no nor not now of off on once only or other our
		out over own please re same she should so some such than that the their them then there these they this those through to
		too under until up us ve very via was we were what when where which while who whom why will with would you your yours d s t m`) {
		set[Singular(word)] = true
	}
	return set
}()
