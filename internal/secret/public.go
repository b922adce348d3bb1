package secret

import (
	"iter"
	"strings"
	"sync"
	"unicode"
)

// maxWord is how many bytes a word has that may be written down because it is public.
const maxWord = 32

// Public is the words that need no hiding, because they are written elsewhere for anybody
// to read: in definitions of tools and in a user's own rules. A text that always stands in the
// same argument may be a password; a short word among these is none. Memory is
// O(different words), and nothing before one is asked for.
type Public struct {
	words map[string]bool
	read  func() // once, before words are looked at
}

// NewPublic returns the words of texts, which are read, to the end, when the first word is
// asked for.
func NewPublic(texts iter.Seq[string]) *Public {
	p := &Public{words: map[string]bool{}}
	p.read = sync.OnceFunc(func() { texts(func(text string) bool { p.text(text); return true }) })
	return p
}

func (p *Public) has(word string) bool {
	p.read()
	return p.words[strings.ToLower(word)]
}

// text adds the words of a text: runs of letters, digits and the signs inside names, whole
// and in their parts.
func (p *Public) text(text string) {
	for run := range strings.FieldsFuncSeq(text, func(r rune) bool { return !isWordRune(r) && !strings.ContainsRune(joints, r) }) {
		p.add(strings.Trim(run, joints))
		for part := range strings.FieldsFuncSeq(run, func(r rune) bool { return strings.ContainsRune(joints, r) }) {
			p.add(part)
		}
	}
}

// joints are the signs that join the parts of a word.
const joints = "_-./:@+"

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func (p *Public) add(word string) {
	if word != "" && len(word) <= maxWord {
		p.words[strings.ToLower(word)] = true
	}
}

// Shows reports whether a scalar may be written down as the constant of an argument: it is
// no credential, and if it is a text, it is a short public word, or a few letters that say
// yes or no, or name a country or a currency.
func (p *Public) Shows(argument string, isText bool, text string) bool {
	return (!isText || isFewLetters(text) || p.has(text)) && !Holds(argument, text)
}

func isFewLetters(text string) bool {
	return len(text) <= 3 && strings.IndexFunc(text, func(r rune) bool { return !unicode.IsLetter(r) }) < 0
}

// ShowsPiece reports whether a text may be written down as a fixed part of a template: its
// words are public or of letters alone, as those of a sentence are, and none of it is a
// credential.
func (p *Public) ShowsPiece(text string) bool {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !isWordRune(r) }) {
		if strings.ContainsFunc(word, unicode.IsDigit) && !p.has(word) {
			return false
		}
	}
	return !Holds("", strings.TrimSpace(text))
}
