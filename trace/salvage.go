package trace

import (
	"bytes"
	"errors"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/jsonscan"
)

// nextLike looks within the first n bytes for a value that begins like the
// broken one that begins here: on a line of its own, with the same indent and
// the same bracket. It returns the index of that line.
//
// The line is looked for behind the place where the broken value is no JSON any
// more. If there is none, a bracket may be missing, and what follows is valid
// inside the broken value; then every line counts, provided that the layout is
// one in which no part of a value begins like the value: with an indent, or with
// more than the bracket on the first line.
func (s *Scanner) nextLike(n int) (int, bool) {
	data := s.Rest()[:n]
	indent := s.indent()
	if indent == unknownIndent {
		return 0, false
	}
	scan := jsonscan.New(data)
	scan.Skip()
	fault, ok := errors.AsType[*jsonscan.Error](scan.Err())
	if !ok {
		return 0, false
	}
	if next, ok := lineLike(data, max(bytes.LastIndexByte(data[:fault.Offset], '\n'), 0), indent); ok {
		return next, true
	}
	if first, _, _ := bytes.Cut(data, newline); indent > 0 || len(bytes.TrimSpace(first)) > 1 {
		return lineLike(data, 0, indent)
	}
	return 0, false
}

// lineLike returns the index of the first line of data, behind a newline at or
// after from, that begins with the indent and the first byte of data.
func lineLike(data []byte, from, indent int) (int, bool) {
	for {
		i := bytes.IndexByte(data[from:], '\n')
		if i < 0 {
			return 0, false
		}
		from += i + 1
		if beginsLike(data[from:], indent, data[0]) {
			return from, true
		}
	}
}

const (
	unknownIndent = -1      // of records that share lines
	maxIndent     = 1 << 10 // what is deeper is taken for unknown
)

// indent returns the indent of the value that begins here.
func (s *Scanner) indent() int {
	if indent := s.window.indent(); s.fresh && indent <= maxIndent {
		return indent
	}
	return unknownIndent
}

// resume reports stray bytes and skips them, up to a line that begins with a
// bracket behind the indent; false if there is none.
func (s *Scanner) resume(indent int, msg string) bool {
	w := s.window
	if indent == unknownIndent {
		s.Problem(diag.New(w.At(), "json-syntax", "%s; the rest of the input is not read", msg))
		return false
	}
	if !s.Problem(diag.New(w.At(), "json-syntax", "%s; what follows is skipped up to the next record that can be recognised", msg)) {
		return false
	}
	for {
		i := bytes.IndexByte(w.Rest(), '\n')
		if i < 0 {
			w.Advance(len(w.Rest()))
			if !w.More() {
				s.Finish()
				return false
			}
			continue
		}
		w.Advance(i + 1)
		for len(w.Rest()) <= indent && w.More() {
		}
		if beginsLike(w.Rest(), indent, '{') || beginsLike(w.Rest(), indent, '[') {
			w.Advance(indent)
			s.fresh = true
			return true
		}
	}
}

// beginsLike reports whether line begins with indent bytes of white space and
// then the bracket.
func beginsLike(line []byte, indent int, bracket byte) bool {
	if len(line) <= indent || line[indent] != bracket {
		return false
	}
	for _, c := range line[:indent] {
		if c != ' ' && c != '\t' {
			return false
		}
	}
	return true
}
