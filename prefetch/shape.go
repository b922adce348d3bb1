package prefetch

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Shape says what values look like, without any of them: runs of character classes with
// their lengths. a stands for a lower-case letter, A for an upper-case letter, 9 for a digit,
// X for an upper-case letter or a digit, w for a letter or a digit; other characters stand
// for themselves, with a backslash before them where they have a meaning here. A class is
// followed by nothing (one character), {n} (n of them) or + (one or more). So #A9{7} is a
// number sign, a capital and seven digits. [ShapeEmail] is an e-mail address.
type Shape string

// ShapeEmail is the shape of e-mail addresses.
const ShapeEmail Shape = "email"

// maxShape is how long a shape may be, in bytes, and maxRun how long a run.
const (
	maxShape = 256
	maxRun   = 256
)

// The classes as every engine of regular expressions reads them: letters of ASCII alone.
var classes = map[rune]string{'a': "[a-z]", 'A': "[A-Z]", '9': "[0-9]", 'X': "[A-Z0-9]", 'w': "[A-Za-z0-9]"}

// email is kept simple: it finds addresses in texts and checks none.
const email = `[A-Za-z0-9_.+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+`

// Expression returns the shape as a regular expression of RE2, of Python and of JavaScript,
// which matches where nothing of a word stands before or behind the value.
func (s Shape) Expression() (string, error) {
	if s == ShapeEmail {
		return `\b` + email + `\b`, nil
	}
	if s == "" || len(s) > maxShape || !utf8.ValidString(string(s)) {
		return "", fmt.Errorf("a shape has 1 to %d bytes", maxShape)
	}
	var b strings.Builder
	first, word := true, false
	for rest := string(s); rest != ""; {
		r, size := utf8.DecodeRuneInString(rest)
		rest = rest[size:]
		class, is := classes[r]
		if !is {
			if r == '\\' {
				if r, size = utf8.DecodeRuneInString(rest); size == 0 {
					return "", fmt.Errorf("shape %q ends with a backslash", s)
				}
				rest = rest[size:]
			} else if strings.ContainsRune("{}+", r) {
				return "", fmt.Errorf("shape %q has %q where a class or a character must be", s, r)
			}
			first, word = false, r == '_'
			b.WriteString(quoted(r))
			continue
		}
		if first {
			b.WriteString(`\b`)
		}
		first, word = false, true
		b.WriteString(class)
		switch {
		case strings.HasPrefix(rest, "+"):
			b.WriteByte('+')
			rest = rest[1:]
		case strings.HasPrefix(rest, "{"):
			number, behind, ok := strings.Cut(rest[1:], "}")
			n, err := strconv.Atoi(number)
			if !ok || err != nil || n < 1 || n > maxRun {
				return "", fmt.Errorf("shape %q has a run that is not of 1 to %d characters", s, maxRun)
			}
			fmt.Fprintf(&b, "{%d}", n)
			rest = behind
		}
	}
	if word {
		b.WriteString(`\b`)
	}
	return b.String(), nil
}

// Times writes the length of a run.
func Times(n int) string { return fmt.Sprintf("{%d}", min(n, maxRun)) }

// quoted returns a character that stands for itself. Not every engine lets a backslash
// stand before a character that needs none.
func quoted(r rune) string {
	if strings.ContainsRune(`\.+*?()|[]{}^$/-`, r) {
		return `\` + string(r)
	}
	return string(r)
}

// Slot is an argument whose value stands in a message.
type Slot struct {
	Argument string
	Shapes   []Shape  // that the value has, one of them
	Number   bool     // the argument is a number
	Near     bool     // only spaces or a few other characters are between the slot before and this one
	After    []string // words of small letters of which one stands before the value; nil for any
	Not      []string // such words that are no values, in any case, sorted
}

// Bounds of slots.
const (
	maxSlots      = 8
	maxAlternates = 8
	maxWord       = 32
	// MaxNot is how many words a slot has that are no values.
	MaxNot = 128
	// maxGap is how many characters of a message may be between two slots.
	maxGap = 200
)

func isNoWord(word string) bool {
	return word == "" || len(word) > maxWord || strings.ContainsFunc(word, func(r rune) bool { return r < 'a' || r > 'z' })
}

// Pattern returns the regular expression of slots, with a group for each. RE2, Python (with
// re.ASCII) and JavaScript read it alike.
func Pattern(slots []Slot) (string, error) {
	if len(slots) == 0 || len(slots) > maxSlots {
		return "", fmt.Errorf("a message gives 1 to %d arguments", maxSlots)
	}
	var b strings.Builder
	for i := range slots {
		s := &slots[i]
		if len(s.Shapes) == 0 || len(s.Shapes) > maxAlternates || len(s.After) > maxAlternates*4 || len(s.Not) > MaxNot {
			return "", fmt.Errorf("argument %d has no shape, or too many shapes or words", i+1)
		}
		if slices.ContainsFunc(slices.Concat(s.After, s.Not), isNoWord) {
			return "", fmt.Errorf("argument %d has what is not a word of small letters", i+1)
		}
		switch {
		case i > 0 && s.Near:
			b.WriteString(`[ \t\r\n,:;'"*()]{1,4}`)
		case i > 0:
			fmt.Fprintf(&b, `[\s\S]{0,%d}?`, maxGap)
		}
		if s.After != nil {
			b.WriteString(`\b(?:`)
			for k, word := range s.After {
				if k > 0 {
					b.WriteByte('|')
				}
				for _, r := range word { // not every engine can be told to ignore the case of a part
					fmt.Fprintf(&b, "[%c%c]", r-'a'+'A', r)
				}
			}
			b.WriteString(`)\b[^A-Za-z0-9]{1,4}`)
		}
		b.WriteByte('(')
		for k, shape := range s.Shapes {
			text, err := shape.Expression()
			if err != nil {
				return "", err
			}
			if k > 0 {
				b.WriteByte('|')
			}
			b.WriteString(text)
		}
		b.WriteByte(')')
	}
	return b.String(), nil
}
