package trace

import (
	"errors"
	"io"
	"os"

	"github.com/awo-dev/awo/diag"
)

// stream is a source that can be read once only: the standard input or a named
// pipe. If it is spooled, what was read is kept in a temporary file, so that it
// can be read again from the beginning. One reader at a time may use it.
type stream struct {
	open   func() (io.ReadCloser, error)
	spool  bool
	folder string

	in     io.ReadCloser // nil before the first use
	end    error         // what reading in ended with
	kept   *os.File      // what was read so far, if spooled
	length int64         // of kept
}

func newStream(o *Options, open func() (io.ReadCloser, error)) *stream {
	return &stream{open: open, spool: o.Spool, folder: o.TempDir}
}

// reader returns a reader from the beginning. A stream that is not spooled has
// one only once; the second time it is the problem stream-spent.
func (s *stream) reader(name string) (io.ReadCloser, error) {
	if s.in == nil {
		in, err := s.open()
		if err != nil {
			return nil, openProblem(name, err)
		}
		s.in = in
		if s.spool {
			if s.kept, err = scratchFile(s.folder); err != nil {
				return nil, err
			}
		}
	} else if s.kept == nil {
		return nil, diag.New(diag.Pos{File: name}, "stream-spent", "it was read already and cannot be read again")
	}
	return &streamReader{stream: s}, nil
}

// close closes the stream and gives up what was kept of it.
func (s *stream) close() error {
	var errs []error
	if s.in != nil {
		errs = append(errs, s.in.Close())
	}
	if s.kept != nil {
		errs = append(errs, discard(s.kept))
	}
	s.in, s.kept = nil, nil
	return errors.Join(errs...)
}

// streamReader reads what is kept of a stream and then the stream itself.
type streamReader struct {
	stream *stream
	offset int64
}

func (r *streamReader) Read(p []byte) (int, error) {
	s := r.stream
	if s.kept != nil && r.offset < s.length {
		n, err := s.kept.ReadAt(p[:min(int64(len(p)), s.length-r.offset)], r.offset)
		r.offset += int64(n)
		if n > 0 {
			return n, nil
		}
		return 0, &scratchError{err}
	}
	if s.end != nil {
		return 0, s.end
	}
	n, err := s.in.Read(p)
	s.end = err
	if s.kept != nil {
		if _, err := s.kept.WriteAt(p[:n], s.length); err != nil {
			s.end = &scratchError{err}
			return 0, s.end
		}
		s.length += int64(n)
	}
	r.offset += int64(n)
	return n, err
}

// ReadAt reads what was kept, for records that were read before.
func (r *streamReader) ReadAt(p []byte, offset int64) (int, error) {
	if r.stream.kept == nil {
		return 0, io.ErrUnexpectedEOF
	}
	return r.stream.kept.ReadAt(p, offset)
}

// Close ends one reading; the stream stays open for the next.
func (r *streamReader) Close() error { return nil }
