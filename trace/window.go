package trace

import (
	"bytes"
	"errors"
	"io"

	"github.com/awo-dev/awo/diag"
)

// blockSize is how much a window reads at once: small enough that a block is
// still in the second-level cache when it is searched, large enough that the
// part of a record that two blocks share, which is copied, is a small part.
const blockSize = 256 << 10

// window is a view of an input that slides forward. The bytes that were read
// and are not yet consumed, Rest(), are always contiguous, so a record is a
// slice of the block it was read into and is never copied, except for the part
// that a block's end cuts off.
//
// A block that a record was cut from belongs to the record: it is not written
// to again, but for its free space behind what was read.
type window struct {
	in    io.Reader
	block int // size of a new block
	limit int // of rest, when more is called

	buf  []byte // what was read of the current block
	pos  int    // index of the first byte not yet consumed
	lent bool   // records point into buf
	err  error  // why nothing more can be read

	base int64 // offset of buf[0] in the input
	line int   // line of the first byte not yet consumed, from 1
	bol  int64 // offset at which that line begins
	file string
}

func newWindow(in *Input) *window {
	block := in.block
	if block <= 0 {
		block = blockSize
	}
	return &window{in: in.Reader, block: block, limit: in.limit(), line: 1, file: in.File}
}

// Rest returns the bytes read and not yet consumed.
func (w *window) Rest() []byte { return w.buf[w.pos:] }

// offset returns the offset in the input of the first byte not yet consumed.
func (w *window) offset() int64 { return w.base + int64(w.pos) }

// indent returns how many bytes of its line stand before that byte.
func (w *window) indent() int { return int(w.offset() - w.bol) }

// At returns the position of the first byte not yet consumed.
func (w *window) At() diag.Pos {
	return diag.Pos{File: w.file, Line: w.line, Col: w.indent() + 1}
}

// More reads on, so that Rest is longer by at least a byte, and reports whether
// it did. What Rest returned before is still its beginning, but may be a copy.
func (w *window) More() bool {
	if w.err != nil {
		return false
	}
	if free := cap(w.buf) - len(w.buf); free == 0 || free < w.block/8 {
		w.renew()
	}
	n, err := readSome(w.in, w.buf[len(w.buf):cap(w.buf)])
	w.buf, w.err = w.buf[:len(w.buf)+n], err
	return n > 0
}

// readSome reads at least a byte, unless it returns an error. A source that
// gives neither again and again is given up.
func readSome(in io.Reader, p []byte) (int, error) {
	const patience = 100
	for range patience {
		if n, err := in.Read(p); n > 0 || err != nil || len(p) == 0 {
			return n, err
		}
	}
	return 0, io.ErrNoProgress
}

// renew makes room behind rest: in the same block if no record points there
// and it is of the usual size, else in a new one.
func (w *window) renew() {
	rest := w.Rest()
	size := max(len(rest)+w.block, min(2*len(rest), w.limit+w.block))
	if reusable := cap(w.buf) >= w.block && cap(w.buf) <= 2*w.block; w.lent || !reusable || len(rest) > cap(w.buf)/2 {
		w.buf = append(make([]byte, 0, size), rest...)
	} else {
		w.buf = w.buf[:copy(w.buf, rest)]
	}
	w.base += int64(w.pos)
	w.pos, w.lent = 0, false
}

// Advance consumes n bytes and counts their lines.
func (w *window) Advance(n int) {
	seen := w.buf[w.pos : w.pos+n]
	if lines := bytes.Count(seen, newline); lines > 0 {
		w.line += lines
		w.bol = w.offset() + int64(bytes.LastIndexByte(seen, '\n')) + 1
	}
	w.pos += n
}

// Record returns the next n bytes as a record, without consuming them.
func (w *window) Record(n int) Record {
	w.lent = true
	return Record{
		Data:   w.buf[w.pos : w.pos+n : w.pos+n],
		File:   w.file,
		Line:   w.line,
		Col:    w.indent() + 1,
		Offset: w.offset(),
	}
}

// SkipMark consumes a byte order mark at the beginning of the input. It is no
// column of the first line.
func (w *window) SkipMark() {
	for len(w.Rest()) < len(byteOrderMark) && w.More() {
	}
	if bytes.HasPrefix(w.Rest(), byteOrderMark) {
		w.pos += len(byteOrderMark)
		w.bol = w.offset()
	}
}

// skipSpace consumes the white space of JSON and returns the byte behind it;
// false at the end of the input.
func (w *window) skipSpace() (byte, bool) {
	for {
		rest := w.Rest()
		for i, c := range rest {
			if c > ' ' || c != ' ' && c != '\n' && c != '\t' && c != '\r' {
				w.Advance(i)
				return c, true
			}
		}
		w.Advance(len(rest))
		if !w.More() {
			return 0, false
		}
	}
}

// Failure returns why reading ended, nil if at the end of the input.
func (w *window) Failure() error {
	if w.err == nil || w.err == io.EOF {
		return nil
	}
	return readProblem(w.At(), w.err)
}

// readProblem returns a failed read as a problem at pos.
func readProblem(pos diag.Pos, err error) *diag.Error {
	if corrupt, ok := errors.AsType[*corruptError](err); ok {
		e := diag.New(pos, "compression-corrupt", "the %s data cannot be decompressed from here on: %s", corrupt.method, corrupt.what)
		e.Err = err
		return e
	}
	e := diag.New(pos, "read-failed", "reading failed here: %s", systemReason(err))
	e.Err = err
	return e
}

var (
	newline       = []byte{'\n'}
	byteOrderMark = []byte("\xef\xbb\xbf")
)
