// Package diag holds positions in input files and the problems found there.
//
// A problem is a value: it travels in streams beside the data, is counted,
// sorted and printed by whoever has a terminal. The package keeps no state,
// prints nothing and knows no file format.
package diag

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Pos is a place in an input. Line and Col count from 1, Col in bytes; 0 means
// unknown, and an empty File means that the place is not in a file.
type Pos struct {
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	Col  int    `json:"col,omitempty"`
}

// String returns "file:line:col", leaving out what is unknown.
func (p Pos) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		if b.Len() > 0 {
			b.WriteByte(':')
		}
		fmt.Fprintf(&b, "%d", p.Line)
		if p.Col > 0 {
			fmt.Fprintf(&b, ":%d", p.Col)
		}
	}
	return b.String()
}

// IsZero reports whether nothing of the place is known.
func (p Pos) IsZero() bool { return p == Pos{} }

// Compare orders positions by file, line and column.
func (p Pos) Compare(q Pos) int {
	return cmp.Or(cmp.Compare(p.File, q.File), cmp.Compare(p.Line, q.Line), cmp.Compare(p.Col, q.Col))
}

// Severity says whether a problem is a mistake or only suspicious.
type Severity uint8

// The severities. The zero value is SeverityError.
const (
	SeverityError Severity = iota
	SeverityWarning
)

// String returns "error" or "warning".
func (s Severity) String() string {
	if s == SeverityWarning {
		return "warning"
	}
	return "error"
}

// Note adds a sentence to a problem, with a place of its own or none.
type Note struct {
	Pos Pos    `json:"pos,omitzero"`
	Msg string `json:"msg"`
}

// Error is one problem in an input. Code is stable, short and kebab-case:
// scripts may match on it. Msg is one sentence for a person and never holds a
// value from the input that could be a secret.
type Error struct {
	Pos      Pos
	Code     string
	Msg      string
	Severity Severity
	Notes    []Note
	Err      error // the cause, if there is one; not printed
}

// New returns a problem at pos, with a message made as by fmt.Sprintf.
func New(pos Pos, code, format string, args ...any) *Error {
	return &Error{Pos: pos, Code: code, Msg: fmt.Sprintf(format, args...)}
}

// Warn returns a problem of SeverityWarning.
func Warn(pos Pos, code, format string, args ...any) *Error {
	e := New(pos, code, format, args...)
	e.Severity = SeverityWarning
	return e
}

// Note appends a note and returns e.
func (e *Error) Note(pos Pos, format string, args ...any) *Error {
	e.Notes = append(e.Notes, Note{Pos: pos, Msg: fmt.Sprintf(format, args...)})
	return e
}

// Error returns "file:line:col: code: message".
func (e *Error) Error() string {
	if e.Pos.IsZero() {
		return e.Code + ": " + e.Msg
	}
	return e.Pos.String() + ": " + e.Code + ": " + e.Msg
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// List is several problems of one input.
type List []*Error

// Sort orders the list by position, then code, then message, keeping the order
// of equal problems.
func (l List) Sort() {
	slices.SortStableFunc(l, func(a, b *Error) int {
		return cmp.Or(a.Pos.Compare(b.Pos), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Msg, b.Msg))
	})
}

// Errors returns the problems of SeverityError.
func (l List) Errors() List {
	return slices.DeleteFunc(slices.Clone(l), func(e *Error) bool { return e.Severity != SeverityError })
}

// Err returns the list as an error if it holds a problem of SeverityError, else nil.
func (l List) Err() error {
	if len(l.Errors()) == 0 {
		return nil
	}
	return l
}

// Error returns one problem a line.
func (l List) Error() string {
	lines := make([]string, len(l))
	for i, e := range l {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Counts is how many problems of each code were met.
type Counts struct {
	Total  int            `json:"total"`
	ByCode map[string]int `json:"by_code"`
}

// Add counts e.
func (c *Counts) Add(e *Error) {
	c.AddN(e.Code, 1)
}

// AddN counts n problems of one code.
func (c *Counts) AddN(code string, n int) {
	if n == 0 {
		return
	}
	if c.ByCode == nil {
		c.ByCode = map[string]int{}
	}
	c.Total += n
	c.ByCode[code] += n
}
