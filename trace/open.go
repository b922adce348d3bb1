package trace

import (
	"bytes"
	"errors"
	"io"
	"os"

	"github.com/awo-dev/awo/diag"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// maxWindow is how far back the data of a zstd file may refer, which is what
// its decompression keeps in memory: the limit of the zstd tool itself.
const maxWindow = 128 << 20

// file is a source that is open: its bytes, decompressed where they are
// compressed.
type file struct {
	text   io.Reader
	raw    *countingReader // the bytes of the source itself
	plain  bool            // text is what raw reads
	zipped bool            // it is a zip archive, and plain
	stored *os.File        // a plain file, to be read anywhere; nil for others
	closes []io.Closer
}

// openSource opens a source. The error is a *diag.Error, or ends reading.
func openSource(s *source) (*file, error) {
	in, err := s.open()
	if err != nil {
		return nil, err
	}
	f := &file{raw: &countingReader{in: in}, closes: []io.Closer{in}}
	if err := f.decompress(); err != nil {
		f.close()
		return nil, readProblem(diag.Pos{File: s.name}, err)
	}
	if stored, ok := in.(*os.File); ok && f.plain {
		f.stored = stored
	}
	return f, nil
}

// decompress finds out by its first bytes how the file is compressed.
func (f *file) decompress() error {
	magic := make([]byte, 4)
	n, err := io.ReadFull(f.raw, magic)
	magic = magic[:n]
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return err
	}
	all := io.MultiReader(bytes.NewReader(magic), f.raw)
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(all)
		unpacked := &unpackReader{in: z, raw: f.raw, method: "gzip"}
		if err != nil {
			return unpacked.explain(err)
		}
		f.text, f.closes = unpacked, append(f.closes, z)
	case isZstd(magic):
		z, err := zstd.NewReader(all, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		unpacked := &unpackReader{in: z, raw: f.raw, method: "zstd"}
		if err != nil {
			return unpacked.explain(err)
		}
		f.text, f.closes = unpacked, append(f.closes, z.IOReadCloser())
	default:
		f.text, f.plain, f.zipped = all, true, isZip(magic)
	}
	return nil
}

// isZstd reports whether a zstd frame begins, or a frame for the user's own
// data, which some tools put first.
func isZstd(magic []byte) bool {
	return bytes.Equal(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}) ||
		len(magic) == 4 && magic[0]&0xf0 == 0x50 && bytes.Equal(magic[1:], []byte{0x2a, 0x4d, 0x18})
}

// close closes everything; nothing was written, so nothing can be lost by it.
func (f *file) close() {
	for i := len(f.closes) - 1; i >= 0; i-- {
		_ = f.closes[i].Close()
	}
}

// countingReader counts the bytes that were read and keeps the error that ended
// them.
type countingReader struct {
	in  io.Reader
	n   int64
	err error
}

func (r *countingReader) Read(p []byte) (int, error) {
	n, err := readSome(r.in, p)
	r.n += int64(n)
	if err != nil && err != io.EOF {
		r.err = err
	}
	return n, err
}

// corruptError says that compressed data cannot be read.
type corruptError struct {
	method string
	what   string
	err    error
}

func (e *corruptError) Error() string { return e.method + ": " + e.what }
func (e *corruptError) Unwrap() error { return e.err }

// unpackReader tells what is wrong with compressed data from what is wrong with
// the file that it is in.
type unpackReader struct {
	in     io.Reader
	raw    *countingReader
	method string
	err    error
}

func (r *unpackReader) Read(p []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	n, err := r.in.Read(p)
	if err == io.EOF {
		r.err = err
	} else if err != nil {
		r.err = r.explain(err)
	}
	return n, r.err
}

func (r *unpackReader) explain(err error) error {
	switch {
	case r.raw.err != nil:
		return r.raw.err
	case errors.Is(err, io.ErrUnexpectedEOF) || err == io.EOF:
		return &corruptError{r.method, "they end too early", err}
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		return &corruptError{r.method, "they need more memory than is allowed", err}
	}
	return &corruptError{r.method, "they are damaged", err}
}

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

// Close ends one reading; the stream stays open for the next.
func (r *streamReader) Close() error { return nil }
