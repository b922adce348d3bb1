package trace

import "github.com/awo-dev/awo/diag"

// Scanner is what a Format writes its own Split with, when its records are
// neither lines nor JSON values. It shows the bytes of an input from the first
// that was not consumed, and hands out records without copying them. Methods that
// return a bool return false when the consumer has stopped.
type Scanner struct {
	s     *splitter
	Limit int // bytes of the largest record
}

// NewScanner returns a scanner that gives the records of an input to yield.
func NewScanner(in *Input, yield func(Record, error) bool) *Scanner {
	s := newSplitter(in, yield)
	return &Scanner{s: s, Limit: s.limit}
}

// SkipMark consumes a byte order mark at the beginning of the input.
func (s *Scanner) SkipMark() { s.s.w.skipMark() }

// Rest returns the bytes that were read and not consumed. More, Advance and Yield
// may move them.
func (s *Scanner) Rest() []byte { return s.s.w.rest() }

// More reads further bytes; false at the end of the input.
func (s *Scanner) More() bool { return s.s.w.more() }

// Advance consumes n bytes.
func (s *Scanner) Advance(n int) { s.s.w.advance(n) }

// At returns the position of the next byte.
func (s *Scanner) At() diag.Pos { return s.s.w.at() }

// Record returns the next n bytes as a record, without consuming them.
func (s *Scanner) Record(n int) Record { return s.s.w.record(n) }

// Yield gives a record to the consumer.
func (s *Scanner) Yield(r Record) bool { return s.s.yield(r, nil) }

// Problem gives a problem to the consumer.
func (s *Scanner) Problem(e *diag.Error) bool { return s.s.problem(e) }

// TooLarge is the problem of a record of so many bytes.
func (s *Scanner) TooLarge(pos diag.Pos, size int64) *diag.Error { return s.s.tooLarge(pos, size) }

// Failure returns why reading ended, nil if at the end of the input.
func (s *Scanner) Failure() error { return s.s.w.failure() }

// Finish reports why reading ended, if it was not the end of the input.
func (s *Scanner) Finish() { s.s.finish() }
