package trace

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"

	"github.com/awo-dev/awo/diag"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zstd"
)

// maxDirectory is how many bytes of the list of its entries are read of a zip
// archive. An entry takes some hundred bytes there and about as many in memory.
const maxDirectory = 16 << 20

// zipZstd is the method by which archives hold entries compressed with zstd.
const zipZstd = 93

// Archive is a zip archive that is open. The names of its entries are read and
// compared, and never used as paths.
type Archive struct {
	Entries []*zip.File // each name once: the last, as writers append what they replace
	in      *archiveBytes
}

// ArchiveRecords are the entries of an archive that are records of a format, and
// what its others say about all of them.
type ArchiveRecords struct {
	Entries []*zip.File
	Shared  any
}

// isZip reports whether a file begins like a zip archive.
func isZip(magic []byte) bool {
	return bytes.Equal(magic, []byte("PK\x03\x04")) || bytes.Equal(magic, []byte("PK\x05\x06"))
}

// archiveBytes reads the file of an archive, and keeps the error that ended it.
type archiveBytes struct {
	in     io.ReaderAt
	budget int64 // bytes that may still be read; negative if any number
	err    error
}

var errDirectory = errors.New("the list of entries is too long")

func (a *archiveBytes) ReadAt(p []byte, offset int64) (int, error) {
	if a.budget >= 0 {
		if a.budget -= int64(len(p)); a.budget < 0 {
			a.budget = 0
			return 0, errDirectory
		}
	}
	n, err := a.in.ReadAt(p, offset)
	if err != nil && err != io.EOF {
		a.err = err
	}
	return n, err
}

// OpenArchive reads the list of the entries of a zip archive.
func OpenArchive(in io.ReaderAt, size int64) (*Archive, error) {
	a := &Archive{in: &archiveBytes{in: in, budget: maxDirectory}}
	z, err := zip.NewReader(a.in, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, a.explain(err)
	}
	a.in.budget = -1
	z.RegisterDecompressor(zip.Deflate, flate.NewReader)
	z.RegisterDecompressor(zipZstd, zstd.ZipDecompressor(zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow)))
	last := make(map[string]int, len(z.File))
	for i, entry := range z.File {
		last[entry.Name] = i
	}
	var stored uint64
	for i, entry := range z.File {
		if last[entry.Name] != i {
			continue
		}
		// Entries that share their bytes would make a small file endless.
		if stored += entry.CompressedSize64; stored < entry.CompressedSize64 || stored > uint64(size) {
			return nil, &corruptError{"zip", "its entries overlap", zip.ErrFormat}
		}
		a.Entries = append(a.Entries, entry)
	}
	return a, nil
}

// explain tells what is wrong with an archive from what is wrong with the file
// that it is.
func (a *Archive) explain(err error) error {
	switch {
	case a.in.err != nil:
		return a.in.err
	case errors.Is(err, errDirectory):
		return &corruptError{"zip", "the list of entries is too long", err}
	case errors.Is(err, zip.ErrAlgorithm):
		return &corruptError{"zip", "an entry is compressed by a method that is not known", err}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &corruptError{"zip", "they end too early", err}
	}
	return &corruptError{"zip", "they are damaged", err}
}

// Entry returns the entry with a name, nil if there is none.
func (a *Archive) Entry(name string) *zip.File {
	for _, e := range a.Entries {
		if e.Name == name {
			return e
		}
	}
	return nil
}

// maxDeflate is how many bytes deflate makes of one at most.
const maxDeflate = 1032

// Read returns the content of an entry. It is nil, with no error, if that is
// larger than the limit.
func (a *Archive) Read(e *zip.File, limit int) ([]byte, error) {
	if e.UncompressedSize64 > uint64(limit) {
		return nil, nil
	}
	in, err := e.Open()
	if err != nil {
		return nil, a.explain(err)
	}
	defer in.Close()
	// The size is what the archive says: believed as far as it can be true.
	size := min(e.UncompressedSize64, maxDeflate*e.CompressedSize64)
	out := bytes.NewBuffer(make([]byte, 0, int(size)+bytes.MinRead))
	if _, err := out.ReadFrom(io.LimitReader(in, int64(limit)+1)); err != nil {
		return nil, a.explain(err)
	}
	if out.Len() > limit {
		return nil, nil
	}
	return out.Bytes(), nil
}

// entryName returns the name of an entry in problems and names of records.
func entryName(file string, number int, e *zip.File) string {
	name := e.Name
	if name == "" || len(name) > 256 || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }) {
		name = "#" + strconv.Itoa(number+1)
	}
	return file + "/" + name
}

// zipFile opens an open source that is a zip archive. What can be read once only
// is copied to a temporary file, because the list of entries stands at the end.
func (f *file) zipFile(folder string) (*Archive, error) {
	if f.stored != nil {
		info, err := f.stored.Stat()
		if err != nil {
			return nil, err
		}
		return OpenArchive(f.stored, info.Size())
	}
	copied, err := scratchFile(folder)
	if err != nil {
		return nil, err
	}
	f.closes = append(f.closes, scratchCloser{copied})
	size, err := io.Copy(scratchWriter{copied}, f.text)
	if err != nil {
		return nil, err
	}
	f.text = io.NewSectionReader(copied, 0, size)
	return OpenArchive(copied, size)
}

// scratchWriter tells failures with a temporary file from those of the input.
type scratchWriter struct{ file *os.File }

func (w scratchWriter) Write(p []byte) (int, error) {
	n, err := w.file.Write(p)
	if err != nil {
		return n, &scratchError{err}
	}
	return n, nil
}

type scratchCloser struct{ file *os.File }

func (c scratchCloser) Close() error { return discard(c.file) }

// archive finds the records of a zip archive; done is false if it is no archive
// of a known format, which is left to recognise to say.
func (f *finder) archive(i int, opened *file) (more, done bool) {
	s := &f.r.sources[i]
	a, err := opened.zipFile(f.r.options.TempDir)
	if _, ok := errors.AsType[*scratchError](err); ok {
		return f.fail(err), true
	}
	if err != nil {
		return f.fail(readProblem(diag.Pos{File: s.name}, err)), true
	}
	limit := f.r.options.maxRecord()
	for j := range f.r.formats {
		format := &f.r.formats[j]
		if format.Archive == nil || f.r.named != nil && f.r.named != format {
			continue
		}
		if records, ok := format.Archive(a, limit); ok {
			f.b.format = format
			return f.entries(i, a, records), true
		}
	}
	return true, false
}

// entries reads the entries of an archive that are records.
func (f *finder) entries(i int, a *Archive, records ArchiveRecords) bool {
	name := f.r.sources[i].name
	limit := f.r.options.maxRecord()
	f.text = &countingReader{}
	for n, e := range records.Entries {
		pos := diag.Pos{File: entryName(name, n, e), Line: 1, Col: 1}
		data, err := a.Read(e, limit)
		var problem error
		switch {
		case err != nil:
			problem = readProblem(pos, err)
		case data == nil:
			problem = diag.New(pos, "record-too-large", "the record has more than %d bytes, which is the limit", limit)
		}
		f.raw.n += int64(e.CompressedSize64)
		offset := f.text.n
		f.text.n += int64(max(len(data), 1)) // no two begin at the same place
		switch {
		case problem != nil:
			if problem = f.news(problem); problem != nil && !f.fail(problem) {
				return false
			}
		case f.wanted.hasRecord(i, offset):
			body := bytes.TrimPrefix(data, byteOrderMark)
			if !f.add(Record{Data: body, File: pos.File, Line: 1, Col: 1, Offset: offset, Shared: records.Shared}) {
				return false
			}
		}
	}
	return true
}
