package report

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/awo-dev/awo/internal/stat"
)

// kind is what a cell holds. The zero value is kindText, so that a zero Cell is
// an empty text.
type kind uint8

const (
	kindText kind = iota
	kindName
	kindBool
	kindInt
	kindFloat
	kindShare
	kindInterval
	kindMissing
)

// Cell is one value of a table with what is needed to write it in any format.
type Cell struct {
	kind     kind
	text     string // text, name; missing: the reason
	integer  int64
	number   float64
	digits   int
	interval stat.Interval
}

// Text is a cell of our own words.
func Text(s string) Cell { return Cell{kind: kindText, text: s} }

// Textf is Text with a text made as by fmt.Sprintf.
func Textf(format string, args ...any) Cell { return Text(fmt.Sprintf(format, args...)) }

// Name is a cell with something from the traces: a tool, a label, a file. In
// Markdown it is code, so that it can be no link and no mention.
func Name(s string) Cell { return Cell{kind: kindName, text: s} }

// Bool is a cell with "yes" or "no".
func Bool(b bool) Cell {
	c := Cell{kind: kindBool}
	if b {
		c.integer = 1
	}
	return c
}

// Int is a cell with a count.
func Int(n int) Cell { return Cell{kind: kindInt, integer: int64(n)} }

// Int64 is Int for 64 bits.
func Int64(n int64) Cell { return Cell{kind: kindInt, integer: n} }

// Float is a cell with a number, shown with that many digits after the point.
// CSV and JSON hold it in full. A number that is none is a Missing cell.
func Float(v float64, digits int) Cell { return number(kindFloat, v, digits) }

// Share is a cell with a part of one, shown in percent with that many digits
// after the point: give the column the unit "%". CSV and JSON hold the part.
func Share(v float64, digits int) Cell { return number(kindShare, v, digits) }

func number(k kind, v float64, digits int) Cell {
	if math.IsNaN(v) {
		return Missing("not a number")
	}
	return Cell{kind: k, number: v, digits: digits}
}

// Range is a cell with an interval, its bounds shown with that many digits
// after the point. Its Column must say Interval.
func Range(i stat.Interval, digits int) Cell {
	if reason := i.Missing(); reason != "" {
		return Missing(reason)
	}
	return Cell{kind: kindInterval, interval: i, digits: digits}
}

// ShareRange is Range for the bounds of a Share.
func ShareRange(i stat.Interval, digits int) Cell {
	c := Range(i, digits)
	if c.kind == kindInterval {
		c.integer = 1
	}
	return c
}

// Missing is a cell for a figure that the input does not support: null, with a note
// that gives the reason.
func Missing(reason string) Cell { return Cell{kind: kindMissing, text: reason} }

// shown returns the cell as a person reads it, unescaped and without notes.
func (c Cell) shown() string {
	switch c.kind {
	case kindBool:
		return [...]string{"no", "yes"}[c.integer]
	case kindInt:
		return group(strconv.FormatInt(c.integer, 10))
	case kindFloat:
		return Decimal(c.number, c.digits)
	case kindShare:
		return Decimal(100*c.number, c.digits)
	case kindInterval:
		scale := 1.0
		if c.integer == 1 {
			scale = 100
		}
		return "[" + Decimal(scale*c.interval.Lo, c.digits) + ", " + Decimal(scale*c.interval.Hi, c.digits) + "]"
	case kindMissing:
		return "–"
	}
	return c.text
}

// raw returns the cell as CSV holds it: numbers in full, nothing for null.
func (c Cell) raw() string {
	switch c.kind {
	case kindBool:
		return strconv.FormatBool(c.integer == 1)
	case kindInt:
		return strconv.FormatInt(c.integer, 10)
	case kindFloat, kindShare:
		return rawFloat(c.number)
	case kindText, kindName:
		return escapeCSV(c.text)
	}
	return ""
}

// rawFloat writes v in the shortest form that reads back as v, nothing if v is
// not finite.
func rawFloat(v float64) string {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// value returns the cell as encoding/json is to write it, nil for null.
func (c Cell) value() any {
	switch c.kind {
	case kindBool:
		return c.integer == 1
	case kindInt:
		return c.integer
	case kindFloat, kindShare:
		if math.IsInf(c.number, 0) {
			return nil
		}
		return c.number
	case kindInterval:
		return c.interval
	case kindMissing:
		return nil
	}
	return c.text
}

// isNull reports whether there is nothing in the cell.
func (c *Cell) isNull() bool { return c.kind == kindMissing || c.kind == kindText && c.text == "" }

// compare orders cells of one column: numbers by size, intervals by where they begin,
// texts by their letters, and numbers before texts.
func (c *Cell) compare(o *Cell) int {
	x, isNumber := c.size()
	y, other := o.size()
	if isNumber && other {
		return cmp.Compare(x, y)
	}
	return cmp.Or(cmp.Compare(bit(!isNumber), bit(!other)), cmp.Compare(c.text, o.text))
}

func (c *Cell) size() (float64, bool) {
	switch c.kind {
	case kindBool, kindInt:
		return float64(c.integer), true
	case kindFloat, kindShare:
		return c.number, true
	case kindInterval:
		return c.interval.Lo, true
	}
	return 0, false
}

// missing returns why the cell is null in CSV and JSON, "" if it is not.
func (c Cell) missing() string {
	switch {
	case c.kind == kindMissing && c.text == "":
		return "not known"
	case c.kind == kindMissing:
		return c.text
	case (c.kind == kindFloat || c.kind == kindShare) && math.IsInf(c.number, 0):
		return "infinite"
	}
	return ""
}

// Decimal writes v with digits after the point and its thousands grouped; never
// "-0.0".
func Decimal(v float64, digits int) string {
	switch {
	case math.IsInf(v, 1):
		return "∞"
	case math.IsInf(v, -1):
		return "-∞"
	case math.Abs(v) >= 1e15:
		return strconv.FormatFloat(v, 'e', max(digits, 1), 64)
	}
	s := strconv.FormatFloat(v, 'f', digits, 64)
	if strings.Trim(s, "-0.") == "" {
		s = strings.TrimPrefix(s, "-")
	}
	return group(s)
}

// Grouped writes a count as tables show it: 1,234,567.
func Grouped(n int) string { return group(strconv.Itoa(n)) }

// group puts a comma between the thousands of a decimal number.
func group(s string) string {
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	whole, fraction, _ := strings.Cut(s, ".")
	if fraction != "" {
		fraction = "." + fraction
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	return sign + whole + fraction
}
