package inertia

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
	var out []word
	for _, field := range strings.FieldsFunc(text, func(r rune) bool {
		return r <= ' ' || strings.ContainsRune(`,;!?"'()[]{}<>*`+"`", r)
	}) {
		field = strings.Trim(field, ".:-_")
		if len(field) < minWord || len(field) > maxWord || len(out) == maxWords {
			continue
		}
		if shape, ok := shapeOf(field); ok {
			out = append(out, word{field, shape})
		}
	}
	return out
}

// shapeOf returns the form of an identifier without its content: runs of letters
// and digits by kind, those with digits by length too. It is false for plain
// words.
func shapeOf(text string) (string, bool) {
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

// shapeOf returns the form of a text of the trajectory.
func (h *History) shapeOf(text string) (string, bool) {
	if h.shapes != nil {
		shape, ok := h.shapes[text]
		return shape, ok
	}
	return shapeOf(text)
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
