package predict

import (
	"strconv"
	"strings"

	"github.com/awo-dev/awo/trace"
)

// A word is a piece of a message that looks like an identifier: it has digits,
// or is put together by signs.
type word struct {
	text  string
	shape string
}

// The bounds of what is taken for an identifier.
const (
	minWord  = 3
	maxWord  = 64
	maxWords = 400 // of one message
)

// words returns the identifiers of a text.
//
// Note: the fixed words before a value were tried as templates too. They are text
// of the traces, which may be secret, and told little more than the shape.
func words(text string) []word {
	out := []word{}
	for i := 0; i < len(text) && len(out) < maxWords; i++ {
		start := i
		for i < len(text) && !separates[text[i]] {
			i++
		}
		if i-start < minWord {
			continue
		}
		field := strings.Trim(text[start:i], ".:-_")
		if len(field) < minWord || len(field) > maxWord {
			continue
		}
		if shape, ok := shapeOf(field); ok {
			out = append(out, word{field, shape})
		}
	}
	return out
}

// separates says which bytes stand between words: blanks and signs of ASCII.
var separates = func() (is [256]bool) {
	for c := range is {
		is[c] = c <= ' ' || strings.IndexByte(`,;!?"'()[]{}<>*`+"`", byte(c)) >= 0
	}
	return is
}()

// shapeOf returns the form of an identifier without its content: runs of letters
// and digits by kind, those with digits by length too. It is false for plain
// words.
func shapeOf(text string) (string, bool) {
	if isPlain(text) {
		return "", false
	}
	var b strings.Builder
	telling := false
	for i := 0; i < len(text); {
		c := text[i]
		if !alphanumeric(c) {
			if c >= 0x80 {
				return "", false
			}
			b.WriteByte(c)
			telling = telling || i > 0 && i < len(text)-1
			i++
			continue
		}
		j, upper, lower, digit := i, false, false, false
		for ; j < len(text) && alphanumeric(text[j]); j++ {
			upper = upper || text[j] >= 'A' && text[j] <= 'Z'
			lower = lower || text[j] >= 'a' && text[j] <= 'z'
			digit = digit || text[j] >= '0' && text[j] <= '9'
		}
		switch {
		case digit && (upper || lower):
			b.WriteString("X" + strconv.Itoa(j-i))
		case digit:
			b.WriteString("9" + strconv.Itoa(j-i))
		case upper && !lower && j-i > 1:
			b.WriteString("A" + strconv.Itoa(j-i))
		default:
			b.WriteByte('a')
		}
		telling = telling || digit || upper && !lower && j-i > 1
		i = j
	}
	return b.String(), telling
}

// isPlain reports whether a text is a word of letters, of which only the first may be large.
func isPlain(text string) bool {
	for i := range len(text) {
		if c := text[i]; (c < 'a' || c > 'z') && (i > 0 || c < 'A' || c > 'Z') {
			return false
		}
	}
	return text != ""
}

func alphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// readText returns the identifier of a shape in the newest message that has one,
// of several the first that the parameter has not had.
func (v view) readText(shape string, tool trace.Name, param string) (trace.Value, bool) {
	for i := v.messages - 1; i >= since(v.messages); i-- {
		if v.h.t.Messages[i].Role != trace.RoleUser {
			continue
		}
		for _, w := range v.h.messageWords(i) {
			if w.shape != shape {
				continue
			}
			if value := trace.NewString(w.text); !v.had(tool, param, &value) {
				return value, true
			}
		}
	}
	return trace.Value{}, false
}
