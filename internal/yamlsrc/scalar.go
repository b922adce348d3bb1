package yamlsrc

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/awo-dev/awo/diag"
)

// Type is what an unquoted scalar is read as by the core schema of YAML 1.2.2
// (section 10.3.2). Every other scalar is a string.
type Type uint8

// The types. The zero value is String.
const (
	String Type = iota
	Null
	Bool
	Int
	Float
)

// String returns what a person calls a value of the type.
func (t Type) String() string {
	return [...]string{"a text", "nothing", "true or false", "a whole number", "a number"}[t]
}

// Type returns the type of a scalar, and String for other nodes.
func (n *Node) Type() Type {
	if n.Kind != Scalar || n.Style != Plain || n.Bad {
		return String
	}
	switch n.Text {
	case "", "~", "null", "Null", "NULL":
		return Null
	case "true", "True", "TRUE", "false", "False", "FALSE":
		return Bool
	}
	if _, ok := integer(n.Text); ok {
		return Int
	}
	if _, ok := float(n.Text); ok {
		return Float
	}
	return String
}

// IsNull reports whether the node is a scalar without a value.
func (n *Node) IsNull() bool { return n.Kind == Scalar && n.Type() == Null }

// Bool returns the value of a node of type Bool.
func (n *Node) Bool() (value, ok bool) {
	return strings.EqualFold(n.Text, "true"), n.Kind == Scalar && n.Type() == Bool
}

// Int returns the value of a node of type Int that fits.
func (n *Node) Int() (value int64, ok bool) {
	if n.Kind != Scalar || n.Type() != Int {
		return 0, false
	}
	return integer(n.Text)
}

// Float returns the value of a node of type Int or Float.
func (n *Node) Float() (value float64, ok bool) {
	if t := n.Type(); n.Kind != Scalar || (t != Int && t != Float) {
		return 0, false
	}
	if value, ok := float(n.Text); ok {
		return value, true
	}
	whole, ok := integer(n.Text) // octal or hexadecimal
	return float64(whole), ok
}

// integer reads a whole number: decimal, 0o octal or 0x hexadecimal.
func integer(text string) (int64, bool) {
	digits, base := text, 10
	switch {
	case strings.HasPrefix(text, "0o"):
		digits, base = text[2:], 8
	case strings.HasPrefix(text, "0x"):
		digits, base = text[2:], 16
	}
	if base != 10 && strings.ContainsAny(digits, "+-_") {
		return 0, false
	}
	value, err := strconv.ParseInt(digits, base, 64)
	return value, err == nil
}

// float reads a number of the core schema, which knows fewer forms than Go.
func float(text string) (float64, bool) {
	switch text {
	case ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF":
		return math.Inf(1), true
	case "-.inf", "-.Inf", "-.INF":
		return math.Inf(-1), true
	case ".nan", ".NaN", ".NAN":
		return math.NaN(), true
	}
	if strings.Trim(text, "0123456789+-.eE") != "" || !strings.ContainsAny(text, "0123456789") {
		return 0, false
	}
	value, err := strconv.ParseFloat(text, 64)
	return value, err == nil || math.IsInf(value, 0)
}

// Rewritten says what some reader of YAML makes of an unquoted scalar that is
// meant as text, or "" if all take it for text. Beside the core schema these
// are the types of YAML 1.1, which many readers still know (but for y and n,
// which hardly any does).
func (n *Node) Rewritten() string {
	if n.Kind != Scalar || n.Style != Plain || n.Bad {
		return ""
	}
	switch n.Type() {
	case Null:
		return "nothing"
	case Bool:
		return "true or false"
	case Int, Float:
		return "a number"
	}
	switch strings.ToLower(n.Text) {
	case "yes", "no", "on", "off":
		return "true or false"
	}
	if looksNumeric(n.Text) {
		return "a number or a date"
	}
	return ""
}

// looksNumeric reports whether a text is a number, time or date in YAML 1.1:
// 1_000, 0b11, 12:30:00, 2001-12-14.
func looksNumeric(text string) bool {
	if strings.Trim(text, "0123456789") == text {
		return false
	}
	if first := strings.TrimLeft(text, "+-"); first == "" || first[0] < '0' || first[0] > '9' {
		return false
	}
	if strings.HasPrefix(text, "0b") || strings.HasPrefix(text, "0x") {
		return strings.Trim(text[2:], "0123456789abcdefABCDEF_") == ""
	}
	if len(text) >= 8 && strings.Count(text, "-") >= 2 && strings.Trim(text, "0123456789-:.TtZz+ ") == "" {
		return true
	}
	return strings.Trim(text, "0123456789+-_:.") == ""
}

// PosAt returns the position of byte i of a scalar's Text in the source, where
// the text stands on one line; otherwise that of the scalar.
func (n *Node) PosAt(i int) diag.Pos {
	if n.Kind != Scalar || n.Alias != "" || n.doc == nil || i < 0 || i > len(n.Text) {
		return n.Pos
	}
	raw := n.doc.source.text[n.start:n.end]
	if strings.Contains(raw, "\n") {
		return n.Pos
	}
	offset := n.start
	switch n.Style {
	case Plain:
		offset += i
	case SingleQuoted:
		offset += singleOffset(raw, i)
	case DoubleQuoted:
		offset += doubleOffset(raw, i)
	default:
		return n.Pos
	}
	return n.doc.source.pos(min(offset, n.end))
}

// singleOffset returns where byte i of the content of a single-quoted text is
// written.
func singleOffset(raw string, i int) int {
	at := 1
	for ; i > 0 && at < len(raw); i-- {
		if raw[at] == '\'' {
			at++
		}
		at++
	}
	return at
}

// doubleOffset returns where byte i of the content of a double-quoted text is
// written.
func doubleOffset(raw string, i int) int {
	at := 1
	for i > 0 && at < len(raw) {
		written, meant := 1, 1
		if raw[at] == '\\' && at+1 < len(raw) {
			written, meant = escapeWidths(raw[at:])
		}
		if i < meant {
			break
		}
		at, i = at+written, i-meant
	}
	return at
}

// escapeWidths returns how many bytes an escape has and how many it stands for.
func escapeWidths(raw string) (written, meant int) {
	digits := escapeDigits(raw[1])
	written = 2 + digits
	if digits == 0 || written > len(raw) {
		return 2, utf8.RuneLen(map[byte]rune{'N': 0x85, '_': 0xa0, 'L': 0x2028, 'P': 0x2029}[raw[1]])
	}
	value, err := strconv.ParseUint(raw[2:written], 16, 32)
	if err != nil {
		return written, 1
	}
	if value >= 0xd800 && value < 0xdc00 && len(raw) >= written+6 {
		return written + 6, 4 // a pair of surrogates
	}
	if meant = utf8.RuneLen(rune(value)); meant < 0 {
		meant = 3 // a lone surrogate is read as U+FFFD
	}
	return written, meant
}
