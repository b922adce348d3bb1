package trace

import (
	"bytes"
	"iter"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/jsonscan"
)

// DocumentMember is a member of a document that stands before its records.
type DocumentMember struct {
	Name  string
	Value Record
}

// SplitMember returns a Split for documents that are objects, one of whose
// members is an array with the records: {"info": ..., "tasks": ...,
// "simulations": [...]}. The records are read one by one, however many there
// are. The members that stand before them are kept, each up to the limit of a
// record, and given to prepare, whose result is the Shared of all records (nil:
// the []DocumentMember itself); those that stand behind them are skipped.
//
// A document without the member, and a value that is no object, is a problem
// with the code json-shape.
func SplitMember(name string, prepare func([]DocumentMember) any) func(*Input) iter.Seq2[Record, error] {
	if prepare == nil {
		prepare = func(members []DocumentMember) any { return members }
	}
	return func(in *Input) iter.Seq2[Record, error] {
		return func(yield func(Record, error) bool) {
			m := memberSplitter{Scanner: NewScanner(in, yield), name: name, prepare: prepare}
			m.documents()
		}
	}
}

type memberSplitter struct {
	*Scanner
	name    string
	prepare func([]DocumentMember) any
}

// documents yields the records of every document of the input.
func (s *memberSplitter) documents() {
	s.each("only an object can stand here", func(c byte) bool {
		if c == '{' {
			return s.document()
		}
		return s.Problem(diag.New(s.At(), "json-shape", "this is no object with a member %q", s.name)) && s.pass()
	})
}

// document yields the records of the object that begins here.
func (s *memberSplitter) document() bool {
	w := s.window
	start := w.At()
	w.Advance(1)
	var before []DocumentMember
	found := false
	for comma := true; ; {
		c, ok := s.space()
		if ok && c == ',' && !comma {
			comma = true
			w.Advance(1)
			c, ok = s.space()
		}
		switch {
		case !ok:
			return s.unclosed("object")
		case c == '}':
			w.Advance(1)
			return found || s.Problem(diag.New(start, "json-shape", "the object has no member %q", s.name))
		case c != '"' || !comma:
			return s.stray("only a member or the end of the object can stand here")
		}
		comma = false
		key, ok := s.key()
		if !ok {
			return false
		}
		if c, ok = s.space(); !ok {
			return s.unclosed("object")
		} else if !startsValue(c) {
			return s.stray("only the value of a member can stand here")
		}
		switch {
		case key == s.name && c == '[' && !found:
			found = true
			s.shared = s.prepare(before)
			before = nil
			if !s.elements() {
				return false
			}
		case key == s.name:
			if !s.Problem(diag.New(w.At(), "json-shape", "the member %q is not one array", s.name)) || !s.pass() {
				return false
			}
			found = true
		case found:
			if !s.pass() {
				return false
			}
		default:
			member, small, ok := s.take()
			if !ok {
				return false
			}
			if small { // the block it is in may hold many records: let go of it
				member.Data = bytes.Clone(member.Data)
				before = append(before, DocumentMember{Name: key, Value: member})
			}
		}
	}
}

// stray reports bytes that make the rest of the document unreadable.
func (s *memberSplitter) stray(msg string) bool { return s.resume(unknownIndent, msg) }

// key consumes the name of a member and the colon behind it.
func (s *memberSplitter) key() (string, bool) {
	record, _, ok := s.take()
	if !ok {
		return "", false
	}
	c, more := s.space()
	switch {
	case !more:
		s.unclosed("object")
		return "", false
	case c != ':':
		return "", s.stray("only a colon can stand here")
	}
	s.Advance(1)
	return unquote(record.Data), true
}

// pass consumes a value without keeping it.
func (s *memberSplitter) pass() bool {
	w := s.window
	nest := jsonscan.NewNesting(w.Rest()[0])
	for done := false; !done; {
		if len(w.Rest()) == 0 && !w.More() {
			return nest.Scalar() || s.unclosed("object")
		}
		var n int
		n, done = nest.Skip(w.Rest())
		w.Advance(n)
	}
	return true
}

// unquote returns the content of a string token; of a broken one, what stands
// between its ends.
func unquote(token []byte) string {
	if !jsonscan.IsPlain(token) {
		scan := jsonscan.New(token)
		if text, ok := scan.Text(); ok {
			return string(text)
		}
	}
	return string(bytes.Trim(token, `"`))
}
