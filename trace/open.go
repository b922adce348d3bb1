package trace

import (
	"bytes"
	"errors"
	"io"

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
	at     io.ReaderAt     // the bytes of a plain file, anywhere; nil for others
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
	if at, ok := in.(io.ReaderAt); ok && f.plain {
		f.at = at
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
