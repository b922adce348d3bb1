package trace

import "github.com/awo-dev/awo/diag"

// scanner is what a Format writes its own Split with, when its records are
// neither lines nor JSON values. It shows the bytes of an input from the first
// that was not consumed, and hands out records without copying them. Methods that
// return a bool return false when the consumer has stopped.
type scanner struct {
	s     *splitter
	limit int // bytes of the largest record
}

// newScanner returns a scanner that gives the records of an input to yield.
func newScanner(in *Input, yield func(Record, error) bool) *scanner {
	s := newSplitter(in, yield)
	return &scanner{s: s, limit: s.limit}
}

// skipMark consumes a byte order mark at the beginning of the input.
func (s *scanner) skipMark() { s.s.w.skipMark() }

// rest returns the bytes that were read and not consumed. More, Advance and Yield
// may move them.
func (s *scanner) rest() []byte { return s.s.w.rest() }

// more reads further bytes; false at the end of the input.
func (s *scanner) more() bool { return s.s.w.more() }

// advance consumes n bytes.
func (s *scanner) advance(n int) { s.s.w.advance(n) }

// at returns the position of the next byte.
func (s *scanner) at() diag.Pos { return s.s.w.at() }

// record returns the next n bytes as a record, without consuming them.
func (s *scanner) record(n int) Record { return s.s.w.record(n) }

// yield gives a record to the consumer.
func (s *scanner) yield(r Record) bool { return s.s.yield(r, nil) }

// problem gives a problem to the consumer.
func (s *scanner) problem(e *diag.Error) bool { return s.s.problem(e) }

// tooLarge is the problem of a record of so many bytes.
func (s *scanner) tooLarge(pos diag.Pos, size int64) *diag.Error { return s.s.tooLarge(pos, size) }

// failure returns why reading ended, nil if at the end of the input.
func (s *scanner) failure() error { return s.s.w.failure() }

// finish reports why reading ended, if it was not the end of the input.
func (s *scanner) finish() { s.s.finish() }
