package rules

import (
	"strings"
	"unicode"

	"github.com/awo-dev/awo/diag"
)

// alternatives lists words: "a, b or c".
func alternatives(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// suggestion returns the end of a message that asks whether another word was
// meant, or "".
func suggestion(word string, known []string) string {
	if near := diag.Nearest(word, known); near != "" {
		return ": did you mean `" + near + "`?"
	}
	return ""
}

// badName says what keeps a text from being a name, or returns "".
func badName(text string) string {
	switch {
	case text == "":
		return "is not empty"
	case strings.TrimSpace(text) != text:
		return "has no space at its ends"
	case strings.ContainsFunc(text, unicode.IsControl):
		return "has no control characters or line ends"
	}
	return ""
}

// oddGlob returns where a text has a character that is special in other kinds of
// globs, or -1.
func oddGlob(text string) int {
	if at := strings.IndexAny(text, "?[{"); at >= 0 {
		return at
	}
	return strings.IndexByte(text, '|')
}
