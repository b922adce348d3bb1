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
		s := newSplitter(in, yield)
		switch {
		case in.Container == ContainerLines:
			s.lines()
		default:
			s.values(in.Container == ContainerDocument || in.Whole)
		}
	}
}

// splitter cuts the records of one input out of a window. Its methods that
// return a bool return false when nothing more is to be done: the consumer has
// stopped, or the rest of the input cannot be told apart.
type splitter struct {
	w     *window
	limit int
	yield func(Record, error) bool

	shared any  // for the records to come
	fresh  bool // only white space stands before the next byte on its line
	broken bool // the last value had no end of its own
	ended  bool // the input ended inside a record, which says so itself
}

func newSplitter(in *Input, yield func(Record, error) bool) *splitter {
	return &splitter{w: newWindow(in), limit: in.limit(), yield: yield}
}

func (s *splitter) problem(e *diag.Error) bool { return s.yield(Record{}, e) }

// finish reports why reading ended, if it was not the end of the input.
func (s *splitter) finish() {
	if err := s.w.failure(); err != nil {
		s.yield(Record{}, err)
	}
}

func (s *splitter) tooLarge(pos diag.Pos, size int64) *diag.Error {
	return diag.New(pos, "record-too-large", "the record has %d bytes; the limit is %d", size, s.limit)
}

// lines yields every line that is not blank.
func (s *splitter) lines() {
	w := s.w
	w.skipMark()
	searched := 0
	for {
		rest := w.rest()
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
		case len(rest) > s.limit:
			if !s.skipLine() {
				return
			}
			searched = 0
		default:
			searched = len(rest)
			if w.more() {
				continue
			}
			if w.failure() != nil || s.line(rest) {
				s.finish()
			}
			return
		}
	}
}

// line yields the line at the beginning of the window, unless it is blank.
func (s *splitter) line(raw []byte) bool {
	if len(raw) > s.limit {
		return s.problem(s.tooLarge(s.w.at(), int64(len(raw))))
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
	s.w.pos += first
	record := s.w.record(end - first)
	s.w.pos -= first
	return s.yield(record, nil)
}

// skipLine skips a line up to its newline without keeping it.
func (s *splitter) skipLine() bool {
	w := s.w
	pos, size := w.at(), int64(0)
	for {
		rest := w.rest()
		n := bytes.IndexByte(rest, '\n')
		if n < 0 {
			n = len(rest)
		}
		size += int64(n)
		w.pos += n
		if n < len(rest) || !w.more() {
			return s.problem(s.tooLarge(pos, size))
		}
	}
}

// literalNewline stands between records whose program wrote a backslash and an n for the
// end of a line.
var literalNewline = []byte(`\n`)

// literalNewline consumes a literal newline, and reports whether there was one.
func (s *splitter) literalNewline() bool {
	for len(s.w.rest()) < len(literalNewline) && s.w.more() {
		continue
	}
	found := bytes.HasPrefix(s.w.rest(), literalNewline)
	if found {
		s.w.advance(len(literalNewline))
	}
	return found
}

// values yields the values of the input, of an array its elements unless whole.
func (s *splitter) values(whole bool) {
	s.w.skipMark()
	for {
		c, ok := s.space()
		switch {
		case !ok:
			s.finish()
			return
		case c == '[' && !whole:
			if !s.elements() {
				return
			}
		case startsValue(c):
			if !s.value() {
				return
			}
		case s.literalNewline():
		default:
			if !s.resume(0, "only JSON values can stand here") {
				return
			}
		}
	}
}

// elements yields the elements of the array that begins here.
func (s *splitter) elements() bool {
	w := s.w
	w.advance(1)
	indent := unknownIndent
	for comma := true; ; {
		c, ok := s.space()
		if ok && c == ',' && !comma {
			comma = true
			w.advance(1)
			c, ok = s.space()
			if ok && c == ']' && !s.problem(diag.Warn(w.at(), "json-syntax", "a comma before the end of the array")) {
				return false
			}
		}
		switch {
		case !ok:
			return s.unclosed("array")
		case c == ']':
			w.advance(1)
			return true
		case !startsValue(c):
			if !s.resume(indent, "only a comma or the end of the array can stand here") {
				return false
			}
		case !comma && !s.broken:
			if !s.problem(diag.New(w.at(), "json-syntax", "a comma is missing before this element of the array")) {
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
func (s *splitter) unclosed(what string) bool {
	if err := s.w.failure(); err != nil {
		s.yield(Record{}, err)
		return false
	}
	return s.ended || s.problem(diag.New(s.w.at(), "json-truncated", "the input ends inside the %s that holds the records", what))
}

// value yields the value that begins here as a record.
func (s *splitter) value() bool {
	record, found, ok := s.take()
	if !found {
		return ok
	}
	record.Shared = s.shared
	return s.yield(record, nil)
}

// take consumes the value that begins here and returns it as a record, if it is
// not too large. The last result is false if nothing more is to be done.
func (s *splitter) take() (record Record, found, ok bool) {
	w := s.w
	nest := jsonscan.NewNesting(w.rest()[0])
	n, done := 0, false
	for {
		m, end := nest.Skip(w.rest()[n:])
		n += m
		if done = end; done || n > s.limit || !w.more() {
			break
		}
	}
	s.broken = false
	large, atEnd := n > s.limit, !done && n <= s.limit
	switch {
	case atEnd && w.failure() != nil:
		s.finish()
		return Record{}, false, false
	case !large && (done && closes(w.rest()[:n]) || atEnd && nest.Scalar()):
		return s.cut(n), true, true
	}
	// The value goes on too long, or ends with the wrong bracket or not at all: a
	// quote or a bracket may be missing. What follows it is saved if it can be found.
	if next, near := s.nextLike(min(n, s.limit)); near {
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
func (s *splitter) cut(n int) Record {
	end := n
	for data := s.w.rest(); end > 1 && (isSpace(data[end-1]) || data[end-1] == ','); {
		end--
	}
	record := s.w.record(end)
	s.w.advance(n)
	return record
}

// skipValue skips a value that is too large, of which n bytes were looked at.
func (s *splitter) skipValue(nest *jsonscan.Nesting, n int, done bool) bool {
	w := s.w
	pos, size := w.at(), int64(n)
	w.advance(n)
	for !done {
		if len(w.rest()) == 0 && !w.more() {
			s.ended = true
			break
		}
		n, done = nest.Skip(w.rest())
		w.advance(n)
		size += int64(n)
	}
	return s.problem(s.tooLarge(pos, size))
}

// space consumes white space and returns the byte behind it.
func (s *splitter) space() (byte, bool) {
	before := s.w.offset()
	c, ok := s.w.skipSpace()
	s.fresh = s.w.bol >= before
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
