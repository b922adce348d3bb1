package trace

import (
	"bytes"
	"iter"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/jsonscan"
)

// SplitRecords finds the records of an input by its container: the lines of
// ContainerLines, the elements of the array of ContainerArray, the values of
// ContainerDocument; it is what a Format without a Split of its own uses. Blank
// lines and white space around records are left out.
//
// A record that is longer than Input.MaxRecord (a line with the white space
// around it) is skipped with the problem record-too-large. What is no JSON is
// left to Decode to explain, as far as it can be told apart from the records
// around it: a broken line ends with the line, a broken element or document where
// a line begins like it. Commas and brackets between records are no record's, so
// problems with them are reported here, as json-syntax and json-truncated.
func SplitRecords(in *Input) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		s := NewScanner(in, yield)
		switch {
		case in.Container == ContainerLines:
			s.lines()
		default:
			s.values(in.Container == ContainerDocument || in.Whole)
		}
	}
}

// Scanner cuts the records of one input out of a window. A Format writes its own Split
// with it, when its records are neither lines nor JSON values: it shows the bytes from the
// first that was not consumed, and hands out records without copying them. Its methods
// that return a bool return false when nothing more is to be done: the consumer has
// stopped, or the rest of the input cannot be told apart.
type Scanner struct {
	*window
	Limit int // bytes of the largest record
	yield func(Record, error) bool

	shared any  // for the records to come
	fresh  bool // only white space stands before the next byte on its line
	broken bool // the last value had no end of its own
	ended  bool // the input ended inside a record, which says so itself
}

// NewScanner returns a scanner that gives the records of an input to yield.
func NewScanner(in *Input, yield func(Record, error) bool) *Scanner {
	return &Scanner{window: newWindow(in), Limit: in.limit(), yield: yield}
}

// Yield gives a record to the consumer.
func (s *Scanner) Yield(r Record) bool { return s.yield(r, nil) }

// Problem gives a problem to the consumer.
func (s *Scanner) Problem(e *diag.Error) bool { return s.yield(Record{}, e) }

// Finish reports why reading ended, if it was not the end of the input.
func (s *Scanner) Finish() {
	if err := s.Failure(); err != nil {
		s.yield(Record{}, err)
	}
}

// TooLarge is the problem of a record of so many bytes.
func (s *Scanner) TooLarge(pos diag.Pos, size int64) *diag.Error {
	return diag.New(pos, "record-too-large", "the record has %d bytes; the limit is %d", size, s.Limit)
}

// lines yields every line that is not blank.
func (s *Scanner) lines() {
	w := s.window
	w.SkipMark()
	searched := 0
	for {
		rest := w.Rest()
		n := bytes.IndexByte(rest[searched:], '\n')
		switch {
		case n >= 0:
			n += searched
			if !s.line(rest[:n]) {
				return
			}
			w.pos += n + 1
			w.line++
			w.bol = w.offset()
			searched = 0
		case len(rest) > s.Limit:
			if !s.skipLine() {
				return
			}
			searched = 0
		default:
			searched = len(rest)
			if w.More() {
				continue
			}
			if w.Failure() != nil || s.line(rest) {
				s.Finish()
			}
			return
		}
	}
}

// line yields the line at the beginning of the window, unless it is blank.
func (s *Scanner) line(raw []byte) bool {
	if len(raw) > s.Limit {
		return s.Problem(s.TooLarge(s.At(), int64(len(raw))))
	}
	first, end := 0, len(raw)
	for first < end && isSpace(raw[first]) {
		first++
	}
	for end > first && isSpace(raw[end-1]) {
		end--
	}
	if first == end {
		return true
	}
	s.pos += first
	record := s.Record(end - first)
	s.pos -= first
	return s.yield(record, nil)
}

// skipLine skips a line up to its newline without keeping it.
func (s *Scanner) skipLine() bool {
	w := s.window
	pos, size := w.At(), int64(0)
	for {
		rest := w.Rest()
		n := bytes.IndexByte(rest, '\n')
		if n < 0 {
			n = len(rest)
		}
		size += int64(n)
		w.pos += n
		if n < len(rest) || !w.More() {
			return s.Problem(s.TooLarge(pos, size))
		}
	}
}

// literalNewline stands between records whose program wrote a backslash and an n for the
// end of a line.
var literalNewline = []byte(`\n`)

// literalNewline consumes a literal newline, and reports whether there was one.
func (s *Scanner) literalNewline() bool {
	for len(s.Rest()) < len(literalNewline) && s.More() {
		continue
	}
	found := bytes.HasPrefix(s.Rest(), literalNewline)
	if found {
		s.Advance(len(literalNewline))
	}
	return found
}

// values yields the values of the input, of an array its elements unless whole.
func (s *Scanner) values(whole bool) {
	s.each("only JSON values can stand here", func(c byte) bool {
		if c == '[' && !whole {
			return s.elements()
		}
		return s.value()
	})
}

// each calls read where a value begins, up to the end of the input. What else stands there
// is skipped, and said.
func (s *Scanner) each(stray string, read func(first byte) bool) {
	s.SkipMark()
	for {
		c, ok := s.space()
		switch {
		case !ok:
			s.Finish()
			return
		case startsValue(c):
			if !read(c) {
				return
			}
		case s.literalNewline():
		default:
			if !s.resume(0, stray) {
				return
			}
		}
	}
}

// elements yields the elements of the array that begins here.
func (s *Scanner) elements() bool {
	w := s.window
	w.Advance(1)
	indent := unknownIndent
	for comma := true; ; {
		c, ok := s.space()
		if ok && c == ',' && !comma {
			comma = true
			w.Advance(1)
			c, ok = s.space()
			if ok && c == ']' && !s.Problem(diag.Warn(w.At(), "json-syntax", "a comma before the end of the array")) {
				return false
			}
		}
		switch {
		case !ok:
			return s.unclosed("array")
		case c == ']':
			w.Advance(1)
			return true
		case !startsValue(c):
			if !s.resume(indent, "only a comma or the end of the array can stand here") {
				return false
			}
		case !comma && !s.broken:
			if !s.Problem(diag.New(w.At(), "json-syntax", "a comma is missing before this element of the array")) {
				return false
			}
		}
		if s.fresh {
			indent = s.indent()
		}
		if !s.value() {
			return false
		}
		comma = false
	}
}

// unclosed reports that the input ends inside an array or object, and what went
// wrong with reading if something did.
func (s *Scanner) unclosed(what string) bool {
	if err := s.Failure(); err != nil {
		s.yield(Record{}, err)
		return false
	}
	return s.ended || s.Problem(diag.New(s.At(), "json-truncated", "the input ends inside the %s that holds the records", what))
}

// value yields the value that begins here as a record.
func (s *Scanner) value() bool {
	record, found, ok := s.take()
	if !found {
		return ok
	}
	record.Shared = s.shared
	return s.yield(record, nil)
}

// take consumes the value that begins here and returns it as a record, if it is
// not too large. The last result is false if nothing more is to be done.
func (s *Scanner) take() (record Record, found, ok bool) {
	w := s.window
	nest := jsonscan.NewNesting(w.Rest()[0])
	n, done := 0, false
	for {
		m, end := nest.Skip(w.Rest()[n:])
		n += m
		if done = end; done || n > s.Limit || !w.More() {
			break
		}
	}
	s.broken = false
	large, atEnd := n > s.Limit, !done && n <= s.Limit
	switch {
	case atEnd && w.Failure() != nil:
		s.Finish()
		return Record{}, false, false
	case !large && (done && closes(w.Rest()[:n]) || atEnd && nest.Scalar()):
		return s.cut(n), true, true
	}
	// The value goes on too long, or ends with the wrong bracket or not at all: a
	// quote or a bracket may be missing. What follows it is saved if it can be found.
	if next, near := s.nextLike(min(n, s.Limit)); near {
		s.broken = true
		return s.cut(next), true, true
	}
	if large {
		return Record{}, false, s.skipValue(&nest, n, done)
	}
	s.ended = s.ended || atEnd
	return s.cut(n), true, true
}

// cut consumes the next n bytes and returns them as a record. White space and a
// comma at their end, which only a broken value has, belong to no record.
func (s *Scanner) cut(n int) Record {
	end := n
	for data := s.Rest(); end > 1 && (isSpace(data[end-1]) || data[end-1] == ','); {
		end--
	}
	record := s.Record(end)
	s.Advance(n)
	return record
}

// skipValue skips a value that is too large, of which n bytes were looked at.
func (s *Scanner) skipValue(nest *jsonscan.Nesting, n int, done bool) bool {
	w := s.window
	pos, size := w.At(), int64(n)
	w.Advance(n)
	for !done {
		if len(w.Rest()) == 0 && !w.More() {
			s.ended = true
			break
		}
		n, done = nest.Skip(w.Rest())
		w.Advance(n)
		size += int64(n)
	}
	return s.Problem(s.TooLarge(pos, size))
}

// space consumes white space and returns the byte behind it.
func (s *Scanner) space() (byte, bool) {
	before := s.offset()
	c, ok := s.skipSpace()
	s.fresh = s.bol >= before
	return c, ok
}

func startsValue(c byte) bool {
	switch c {
	case '{', '[', '"', '-', 't', 'f', 'n':
		return true
	}
	return '0' <= c && c <= '9'
}

// closes reports whether a value ends with the bracket that its first asks for.
func closes(value []byte) bool {
	switch last := value[len(value)-1]; value[0] {
	case '{':
		return last == '}'
	case '[':
		return last == ']'
	}
	return true
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }
