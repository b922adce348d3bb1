package report

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Escape makes s safe to print anywhere on one line: control characters, line
// and paragraph separators, characters without ink that reorder or hide text,
// odd spaces and bytes that are not UTF-8 become Go escapes such as \n, \x1b
// or \u202e. A backslash stays as it is, so the result is for reading, not for
// parsing.
func Escape(s string) string { return escape(s, false) }

// escape does the work of Escape, keeping newlines if lines is set.
func escape(s string, lines bool) string {
	if !needsEscape(s, lines) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			const hex = "0123456789abcdef"
			b.WriteString(`\x`)
			b.WriteByte(hex[s[i]>>4])
			b.WriteByte(hex[s[i]&15])
		case lines && r == '\n', unicode.IsPrint(r):
			b.WriteString(s[i : i+size])
		default:
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		i += size
	}
	return b.String()
}

func needsEscape(s string, lines bool) bool {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if (r == utf8.RuneError && size == 1) || (!unicode.IsPrint(r) && !(lines && r == '\n')) {
			return true
		}
		i += size
	}
	return false
}

// EscapeMarkdown makes s plain text in Markdown, in table cells too. Characters
// that CommonMark or GitHub's extensions give a meaning are escaped only where they
// could have it, so that get_user_details stays readable. Angle brackets become
// entities, which are text to programs that know less of Markdown, too.
func EscapeMarkdown(s string) string {
	s = Escape(s)
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if entity := entities[s[i]]; entity != "" {
			b.WriteString(entity)
			continue
		}
		if markdownActive(s, i) {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
		if s[i] == '@' && i+1 < len(s) && isWord(s[i+1]) {
			// No backslash stops a mention: it is found in the finished page.
			b.WriteString("<!-- -->")
		}
	}
	return b.String()
}

// entities are what Markdown has for characters that begin and end markup.
var entities = [256]string{'<': "&lt;", '>': "&gt;"}

// markdownActive reports whether the byte at i could begin or end anything.
func markdownActive(s string, i int) bool {
	rest := s[i+1:]
	switch s[i] {
	case '\\':
		return rest == "" || isPunctuation(rest[0])
	case '|', '`', '*', '[', ']', '~', '$':
		return true
	case '_':
		return i == 0 || rest == "" || !isWord(s[i-1]) || !isWord(rest[0])
	case '&':
		return rest != "" && (isWord(rest[0]) || rest[0] == '#')
	case ':':
		return strings.HasPrefix(rest, "//")
	case '.':
		return i >= 3 && strings.EqualFold(s[i-3:i], "www") || beginsItem(s, i)
	case ')':
		return beginsItem(s, i)
	case '#', '+', '-', '=':
		return strings.TrimLeft(s[:i], " ") == ""
	}
	return false
}

// beginsItem reports whether the byte at i ends the number of a list item.
func beginsItem(s string, i int) bool {
	return i > 0 && strings.Trim(s[:i], "0123456789") == "" && (i+1 == len(s) || s[i+1] == ' ')
}

func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= utf8.RuneSelf
}

func isPunctuation(c byte) bool {
	return c > ' ' && c < utf8.RuneSelf && !isWord(c)
}

// codeSpan writes s as inline code, in which nothing is a link, a mention or emphasis.
// What holds a character of HTML, a backquote, or a pipe, which ends a cell even in
// code, is written as plain text instead.
func codeSpan(s string) string {
	s = Escape(s)
	switch {
	case s == "":
		return ""
	case strings.ContainsAny(s, "<>&|`"):
		return EscapeMarkdown(s)
	case s[0] == ' ' && s[len(s)-1] == ' ' && strings.Trim(s, " ") != "":
		s = " " + s + " " // one space on both sides is taken off again
	}
	return "`" + s + "`"
}

// escapeCSV makes s safe in a spreadsheet: a text that would be read as a
// formula gets an apostrophe in front. Where lists are separated by semicolons
// a spreadsheet splits there too, so what follows one is treated alike. Numbers
// are not texts, and keep their sign.
func escapeCSV(s string) string {
	s = Escape(s)
	if !strings.ContainsAny(s, "=+-@＝＋－＠") {
		return s
	}
	var b strings.Builder
	start := true
	for i, r := range s {
		if start && strings.ContainsRune("=+-@＝＋－＠", r) {
			b.WriteByte('\'')
		}
		start = r == ';' || start && (r == ' ' || r == '"') && i > 0
		b.WriteRune(r)
	}
	return b.String()
}
