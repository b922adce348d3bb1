package yamlsrc

import (
	"strings"
	"unicode/utf8"

	"github.com/awo-dev/awo/diag"
	lib "github.com/goccy/go-yaml/token"
)

// lost is the problem of a source that does not go on as the library says. The
// library is not believed then: what it read is not what is written.
func (l *lexer) lost() *diag.Error {
	at := l.src.pos(l.at)
	if strings.HasPrefix(l.src.text[l.at:], "!") {
		return l.tag()
	}
	return diag.New(at, "yaml-syntax", "this is not valid YAML")
}

// tag is the problem of a tag.
func (l *lexer) tag() *diag.Error {
	return diag.New(l.src.pos(l.at), "yaml-unsupported", "tags (`!`) are not read: quote the text if the `!` is part of it")
}

// invalid is the problem that the scanner found, in our words. Its own text is
// only looked at to tell the cases apart.
func (l *lexer) invalid(raw *lib.Token) *diag.Error {
	l.skipSpace()
	found := l.src.offset(raw.Position.Line, raw.Position.Column)
	here, there := l.src.pos(l.at), l.src.pos(max(l.at, found))
	says := func(words string) bool { return strings.Contains(raw.Error, words) }
	switch {
	case says("could not find end character"):
		if at := l.badEscape(); at >= 0 {
			return diag.New(l.src.pos(at), "yaml-escape", "this escape is not complete or means no character")
		}
		return diag.New(here, "yaml-unclosed", "this quote is never closed")
	case says("document separator"):
		return diag.New(here, "yaml-unclosed", "this quote is still open at a `---` or `...` line")
	case says("unknown escape character"):
		return l.unknownEscape(found)
	case says("escaped UTF"), says("surrogate"):
		return diag.New(there, "yaml-escape", "this escape is not complete or means no character")
	case says("tab"), says("'\\t'"), says("'\t'"):
		return diag.New(l.src.pos(found), "yaml-tab", "YAML is indented with spaces: a tab stands here")
	case says("reserved character"):
		return diag.New(here, "yaml-syntax", "a text that begins with %s wants quotes", quoteRune(l.src.text[l.at:]))
	case says("header option"):
		return diag.New(here, "yaml-syntax", "after `|` or `>` comes the end of the line, or one of + - 1 to 9")
	case says("multi-line content"), says("indent"):
		return diag.New(there, "yaml-indent", "the text of a `|` or `>` block is indented evenly, and deeper than its key")
	case says("tag character"):
		return l.tag()
	default:
		return diag.New(there, "yaml-syntax", "this is not valid YAML")
	}
}

// unknownEscape is the problem of a backslash that begins no escape. The place
// that the scanner gives is behind or at the backslash.
func (l *lexer) unknownEscape(found int) *diag.Error {
	text := l.src.text
	at := l.at
	if i := strings.LastIndexByte(text[:min(found+1, len(text))], '\\'); i > at {
		at = i
	}
	return diag.New(l.src.pos(at), "yaml-escape",
		"inside double quotes a backslash begins an escape, and with this letter none: a regular expression goes into single quotes")
}

// quoteRune returns the first character of text in backquotes, or a word for it
// if it is one.
func quoteRune(text string) string {
	switch r, size := utf8.DecodeRuneInString(text); {
	case size == 0:
		return "this character"
	case r == '`':
		return "a backquote"
	default:
		return "`" + string(r) + "`"
	}
}

// badEscape returns where on its line the double-quoted text that begins here
// has an incomplete escape, which may have swallowed its closing quote, or -1.
func (l *lexer) badEscape() int {
	text := l.src.text[:l.src.lineEnd(l.at)]
	if !strings.HasPrefix(text[l.at:], `"`) {
		return -1
	}
	for i := l.at + 1; i < len(text)-1; i++ {
		if text[i] != '\\' {
			continue
		}
		if !validEscape(text[i:]) {
			return i
		}
		i++
	}
	return -1
}

// validEscape reports whether text begins with an escape whose digits, if it
// has any, name a character. Which letters are escapes the scanner knows.
func validEscape(text string) bool {
	if len(text) < 2 {
		return false
	}
	digits := escapeDigits(text[1])
	if len(text) < 2+digits {
		return false
	}
	value := 0
	for _, c := range []byte(text[2 : 2+digits]) {
		digit := strings.IndexByte("0123456789abcdef", c|0x20)
		if c >= '0' && c <= '9' {
			digit = int(c - '0')
		}
		if digit < 0 {
			return false
		}
		value = value<<4 | digit
	}
	return value <= utf8.MaxRune
}

// escapeDigits returns how many hexadecimal digits follow the letter of an
// escape.
func escapeDigits(letter byte) int {
	switch letter {
	case 'x':
		return 2
	case 'u':
		return 4
	case 'U':
		return 8
	}
	return 0
}
