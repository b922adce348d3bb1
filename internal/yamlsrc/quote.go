package yamlsrc

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// scalarLines writes a scalar behind a dash or colon: what stands on the same
// line, and the lines of a block.
func scalarLines(n *Node, indent, used int) (string, []string) {
	long := used+1+utf8.RuneCountInString(n.Text) > lineWidth
	spread := n.doc != nil && n.start < n.end && strings.Contains(n.doc.source.text[n.start:n.end], "\n")
	switch {
	case n.Style == Folded && canFold(n.Text), spread && long && n.Style != Literal && canFold(n.Text):
		return ">" + chomping(n.Text), foldedLines(n.Text, indent)
	case n.Style == Literal && canBeLiteral(n.Text), n.Style == Folded && canBeLiteral(n.Text),
		(spread || n.Style == SingleQuoted || long) && strings.Contains(n.Text, "\n") && canBeLiteral(n.Text):
		return "|" + chomping(n.Text), literalLines(n.Text, indent)
	}
	return inline(n, onLine), nil
}

// setting is where a scalar is written.
type setting uint8

const (
	onLine   setting = iota // behind a dash or colon, to the end of the line
	inList                  // inside [], and no {} around that
	inBraces                // inside {}, or a key
)

// inline writes a scalar on one line, in its own style if that is possible.
func inline(n *Node, where setting) string {
	if n.Style == Plain && n.Text == "" {
		return ""
	}
	printable := isPrintable(n.Text)
	switch {
	case n.Style == Plain && printable && isPlain(n.Text, where):
		return n.Text
	case n.Style == DoubleQuoted && strings.ContainsRune(n.Text, '\'') && !strings.ContainsAny(n.Text, `"\`):
		return quoteDouble(n.Text)
	case printable:
		return "'" + strings.ReplaceAll(n.Text, "'", "''") + "'"
	}
	return quoteDouble(n.Text)
}

// isPrintable reports whether every character can be written as it is, on one
// line.
func isPrintable(text string) bool {
	for _, r := range text {
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			return false
		}
	}
	return true
}

// isPlain reports whether a printable text means itself without quotes. It
// demands more than YAML does, so that the text also survives in readers that
// see a colon everywhere inside braces.
func isPlain(text string, where setting) bool {
	if text == "" || text != strings.TrimSpace(text) || strings.Contains(text, "<<") {
		return false
	}
	first, size := utf8.DecodeRuneInString(text)
	if strings.ContainsRune(",[]{}#&*!|>'\"%@`", first) {
		return false
	}
	if strings.ContainsRune("-?:", first) {
		next, _ := utf8.DecodeRuneInString(text[size:])
		if size == len(text) || next == ' ' || strings.ContainsRune(",[]{}:-", next) {
			return false
		}
	}
	if strings.Contains(text, ": ") || strings.Contains(text, " #") || strings.HasSuffix(text, ":") || strings.HasPrefix(text, "...") {
		return false
	}
	switch where {
	case inList:
		return !strings.ContainsAny(text, ",[]{}")
	case inBraces:
		return !strings.ContainsAny(text, ",[]{}:")
	}
	return true
}

// quoteDouble writes a text in double quotes, with escapes that JSON knows too.
func quoteDouble(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case unicode.IsPrint(r) && r != utf8.RuneError:
			b.WriteRune(r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// chomping is the indicator behind | or > that keeps the line end of a text.
func chomping(text string) string {
	if strings.HasSuffix(text, "\n") {
		return ""
	}
	return "-"
}

// canBeLiteral reports whether a text can stand after | without an indicator of
// its indentation.
func canBeLiteral(text string) bool {
	if strings.HasPrefix(text, "\n") || strings.HasSuffix(text, "\n\n") {
		return false
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range lines {
		switch {
		case !isPrintable(line):
			return false
		case strings.HasSuffix(line, " "):
			return false // readers disagree on whether the spaces count
		case i == 0 && (line == "" || line[0] == ' '):
			return false
		}
	}
	return true
}

func literalLines(text string, indent int) []string {
	var lines []string
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		if line != "" {
			line = pad(indent) + line
		}
		lines = append(lines, line)
	}
	return lines
}

// canFold reports whether a text is paragraphs of words with one space between
// them: such a text can be broken into lines after > anywhere.
func canFold(text string) bool {
	if !canBeLiteral(text) {
		return false
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		if line != strings.Join(strings.Fields(line), " ") {
			return false
		}
	}
	return true
}

// foldedWidth is how many characters a line of folded text has at most.
const foldedWidth = 80

// foldedLines breaks a text into lines after >, where an empty line stands for
// a line end.
func foldedLines(text string, indent int) []string {
	var lines []string
	for i, paragraph := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if i > 0 {
			lines = append(lines, "")
		}
		line := ""
		for word := range strings.SplitSeq(paragraph, " ") {
			switch {
			case line == "":
				line = word
			case indent+utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > foldedWidth:
				lines = append(lines, pad(indent)+line)
				line = word
			default:
				line += " " + word
			}
		}
		if line != "" {
			lines = append(lines, pad(indent)+line)
		}
	}
	return lines
}
