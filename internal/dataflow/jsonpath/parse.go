package jsonpath

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/trace"
)

// Parse reads a path as Path.String writes it, and the other spellings that
// RFC 9535 has for the same steps: double quotes, blanks inside brackets,
// `.*`. What the subset does not hold (slices, unions, `..`, negative indices,
// functions, other filters) is an error: a *diag.Error with code bad-path, or
// deep-path for more than 64 steps, whose column is the byte that it is about.
func Parse(text string) (Path, error) {
	p := pathParser{text: text}
	if !utf8.ValidString(text) {
		return nil, p.fail("a path must be valid UTF-8")
	}
	if !p.take("$") {
		return nil, p.fail("a path begins with $")
	}
	path := Path{}
	for p.at < len(p.text) {
		if len(path) == MaxSteps {
			return nil, diag.New(diag.Pos{Col: p.at + 1}, "deep-path", "a path has at most %d steps", MaxSteps)
		}
		step, err := p.step()
		if err != nil {
			return nil, err
		}
		path = append(path, step)
	}
	return path, nil
}

// pathParser reads one path; at is the next byte.
type pathParser struct {
	text string
	at   int
}

func (p *pathParser) fail(msg string) error {
	return diag.New(diag.Pos{Col: p.at + 1}, "bad-path", "%s", msg)
}

// take moves past prefix if it comes next.
func (p *pathParser) take(prefix string) bool {
	if !strings.HasPrefix(p.text[p.at:], prefix) {
		return false
	}
	p.at += len(prefix)
	return true
}

// blanks moves past blank characters.
func (p *pathParser) blanks() {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
}

// step reads `.name`, `.*` or a bracket.
func (p *pathParser) step() (Step, error) {
	if p.take(".*") {
		return Step{Kind: Each}, nil
	}
	if p.take(".") {
		name, ok := p.shorthand()
		if !ok {
			return Step{}, p.fail("a name must follow the dot; quote other names as ['name']")
		}
		return Step{Kind: Member, Name: name}, nil
	}
	if !p.take("[") {
		return Step{}, p.fail("a step begins with . or [")
	}
	p.blanks()
	step, err := p.selector()
	if err != nil {
		return Step{}, err
	}
	p.blanks()
	if !p.take("]") {
		return Step{}, p.fail("a ] must follow")
	}
	return step, nil
}

// shorthand reads a name that needs no quotes.
func (p *pathParser) shorthand() (string, bool) {
	start := p.at
	for p.at < len(p.text) {
		c := p.text[p.at]
		if !isLetter(c) && c < utf8.RuneSelf && (p.at == start || !isDecimal(c)) {
			break
		}
		p.at++
	}
	return p.text[start:p.at], p.at > start
}

// selector reads what stands inside a bracket.
func (p *pathParser) selector() (Step, error) {
	switch {
	case p.take("*"):
		return Step{Kind: Each}, nil
	case p.take("?"):
		return p.filter()
	case p.at < len(p.text) && (p.text[p.at] == '\'' || p.text[p.at] == '"'):
		name, err := p.quoted()
		return Step{Kind: Member, Name: name}, err
	}
	start := p.at
	for p.at < len(p.text) && isDecimal(p.text[p.at]) {
		p.at++
	}
	digits := p.text[start:p.at]
	index, err := strconv.ParseInt(digits, 10, 32)
	if err != nil || len(digits) > 1 && digits[0] == '0' {
		p.at = start
		return Step{}, p.fail("an element is a number from 0, *, a filter ?@.name == 'text', or a quoted name")
	}
	return Step{Kind: Index, Index: int(index)}, nil
}

// filter reads `@.name == literal`, after the question mark.
func (p *pathParser) filter() (Step, error) {
	step := Step{Kind: Filter}
	p.blanks()
	if !p.take("@") {
		return step, p.fail("a filter compares a member of @")
	}
	var err error
	if p.take(".") {
		var ok bool
		if step.Name, ok = p.shorthand(); !ok {
			return step, p.fail("a name must follow the dot; quote other names as ['name']")
		}
	} else if p.take("[") {
		p.blanks()
		if step.Name, err = p.quoted(); err != nil {
			return step, err
		}
		p.blanks()
		if !p.take("]") {
			return step, p.fail("a ] must follow")
		}
	} else {
		return step, p.fail("a filter compares one member of @")
	}
	p.blanks()
	if !p.take("==") {
		return step, p.fail("a filter compares with ==")
	}
	p.blanks()
	if p.take("?") {
		step.Open = true
		return step, nil
	}
	step.Value, err = p.literal()
	return step, err
}

// literal reads a scalar.
func (p *pathParser) literal() (trace.Value, error) {
	if p.at < len(p.text) && (p.text[p.at] == '\'' || p.text[p.at] == '"') {
		text, err := p.quoted()
		return trace.Value{Kind: trace.String, Text: text}, err
	}
	start := p.at
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n]", p.text[p.at]) < 0 {
		p.at++
	}
	v, err := trace.ParseValue([]byte(p.text[start:p.at]))
	if err != nil || v.Kind == trace.Array || v.Kind == trace.Object {
		p.at = start
		return v, p.fail("a filter compares with a string, a number, true, false or null")
	}
	return v, nil
}

// quoted reads a string literal in single or double quotes.
func (p *pathParser) quoted() (string, error) {
	if p.at >= len(p.text) || p.text[p.at] != '\'' && p.text[p.at] != '"' {
		return "", p.fail("a quoted name must follow")
	}
	quote := p.text[p.at]
	p.at++
	var b strings.Builder
	for p.at < len(p.text) {
		c := p.text[p.at]
		switch {
		case c == quote:
			p.at++
			return b.String(), nil
		case c < 0x20:
			return "", p.fail("control characters must be escaped")
		case c == '\\':
			if err := p.escape(&b, quote); err != nil {
				return "", err
			}
		default:
			b.WriteByte(c)
			p.at++
		}
	}
	return "", p.fail("the quote is not closed")
}

// escape reads one escape, at the backslash.
func (p *pathParser) escape(b *strings.Builder, quote byte) error {
	if p.at+1 >= len(p.text) {
		return p.fail("the quote is not closed")
	}
	c := p.text[p.at+1]
	if c == 'u' {
		return p.unicodeEscape(b)
	}
	plain := strings.IndexByte(`bfnrt/\`, c)
	switch {
	case plain >= 0:
		b.WriteByte("\b\f\n\r\t/\\"[plain])
	case c == quote:
		b.WriteByte(quote)
	default:
		return p.fail("no such escape")
	}
	p.at += 2
	return nil
}

// unicodeEscape reads \uXXXX, or two of them for a character beyond U+FFFF.
func (p *pathParser) unicodeEscape(b *strings.Builder) error {
	unit, ok := p.hex(p.at)
	if !ok {
		return p.fail(`four hexadecimal digits must follow \u`)
	}
	r, size := rune(unit), 6
	if utf16.IsSurrogate(r) {
		low, ok := p.hex(p.at + 6)
		if r = utf16.DecodeRune(r, rune(low)); !ok || r == utf8.RuneError {
			return p.fail("half of a surrogate pair")
		}
		size = 12
	}
	b.WriteRune(r)
	p.at += size
	return nil
}

// hex reads the \uXXXX that begins at byte i.
func (p *pathParser) hex(i int) (uint16, bool) {
	if i+6 > len(p.text) || p.text[i] != '\\' || p.text[i+1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(p.text[i+2:i+6], 16, 16)
	return uint16(n), err == nil
}
