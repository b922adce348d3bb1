package trace

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/awo-dev/awo/diag"
)

// The beginning of a file is looked at in steps: most formats are recognised by
// their first kilobytes, but in some the member that tells stands far behind.
const (
	firstHead = 64 << 10
	lastHead  = 16 << 20
)

// recognised is what detection found out about a file.
type recognised struct {
	format    *Format
	container Container
	whole     bool
	log       bool
	text      io.Reader // the whole file, its beginning included
}

// recognise finds the format of a file: named, if a name was given, else the
// first that claims it. Of a file found in a folder, failure is a warning.
func recognise(s *source, text io.Reader, formats []Format, named *Format) (recognised, *diag.Error) {
	var raw []byte
	for size := firstHead; ; size *= 4 {
		var err error
		raw, err = readUpTo(text, raw, size)
		whole := err == io.EOF
		if err != nil && !whole {
			text = &failedReader{err}
		}
		last := err != nil || size >= lastHead
		head, sure := NewHead(raw, whole)
		if !sure && !last {
			continue
		}
		format, match := detect(head, formats, named)
		if format != nil && (last || !match.Unsure) {
			return recognised{format, head.Container, match.Whole, match.Log, io.MultiReader(bytes.NewReader(raw), text)}, nil
		}
		if err != nil && !whole {
			return recognised{}, readProblem(diag.Pos{File: s.name}, err)
		}
		if last || !worthMore(head) {
			return recognised{}, unknown(s, head, whole, formats)
		}
	}
}

// readUpTo reads until raw has size bytes, or in ends with the error returned.
func readUpTo(in io.Reader, raw []byte, size int) ([]byte, error) {
	raw = slices.Grow(raw, size-len(raw))
	for len(raw) < size {
		n, err := readSome(in, raw[len(raw):size])
		raw = raw[:len(raw)+n]
		if err != nil {
			return raw, err
		}
	}
	return raw, nil
}

// failedReader gives the error again that ended reading before.
type failedReader struct{ err error }

func (r *failedReader) Read([]byte) (int, error) { return 0, r.err }

// worthMore reports whether a longer head may tell more: records are cut short
// or few.
func worthMore(h Head) bool {
	if h.Container == ContainerOther {
		return false
	}
	return len(h.Records) < MaxHeadRecords || h.Records[len(h.Records)-1].Truncated
}

// detect returns the format of a head, nil if none claims it. A format that the
// user named is taken for any JSON.
func detect(h Head, formats []Format, named *Format) (*Format, Match) {
	if named != nil {
		match := named.Detect(h)
		if match.OK || len(h.Records) > 0 {
			return named, match
		}
		return nil, match
	}
	for i := range formats {
		if match := formats[i].Detect(h); match.OK {
			return &formats[i], match
		}
	}
	return nil, Match{}
}

// unknown says why a file is of no known format.
func unknown(s *source, h Head, whole bool, formats []Format) *diag.Error {
	pos := diag.Pos{File: s.name, Line: 1, Col: 1}
	if s.found {
		return diag.Warn(pos, "file-skipped", "not read as a trace: %s", lowerFirst(reasonUnknown(h, whole).Msg))
	}
	e := reasonUnknown(h, whole)
	e.Pos = pos
	if e.Code == "format-unknown" {
		for i := range formats {
			if lacks := formats[i].Detect(h).Lacks; lacks != "" {
				e.Note(diag.Pos{}, "%s: %s", formats[i].Name, lacks)
			}
		}
		if len(e.Notes) == 0 {
			e.Note(diag.Pos{}, "no format is near; awo formats lists those that are read")
		}
	}
	return e
}

func reasonUnknown(h Head, whole bool) *diag.Error {
	var none diag.Pos
	body := bytes.TrimPrefix(h.Raw, byteOrderMark)
	if whole && len(bytes.TrimSpace(body)) == 0 {
		return diag.New(none, "file-empty", "the file is empty")
	}
	if whole && h.Container == ContainerArray && len(h.Records) == 0 {
		return diag.New(none, "file-empty", "the array of the file has no elements")
	}
	for _, m := range magics {
		if bytes.HasPrefix(h.Raw, []byte(m.magic)) {
			return diag.New(none, m.code, "%s", m.msg)
		}
	}
	if h.Container == ContainerOther && !isText(body) {
		return diag.New(none, "not-text", "the file is binary")
	}
	if h.Container == ContainerOther {
		return diag.New(none, "format-unknown", "the file is no JSON and of no known trace format")
	}
	return diag.New(none, "format-unknown", "the file is of no known trace format")
}

// magics are the first bytes of files that need another word than "binary".
var magics = []struct{ magic, code, msg string }{
	{"\xff\xfe", "not-utf8", "the file is UTF-16; convert it to UTF-8"},
	{"\xfe\xff", "not-utf8", "the file is UTF-16; convert it to UTF-8"},
	{"\xfd7zXZ\x00", "compression-unknown", "the file is compressed with xz; gzip and zstd can be read"},
	{"BZh", "compression-unknown", "the file is compressed with bzip2; gzip and zstd can be read"},
	{"\x04\"M\x18", "compression-unknown", "the file is compressed with lz4; gzip and zstd can be read"},
	{"7z\xbc\xaf\x27\x1c", "compression-unknown", "the file is a 7z archive; unpack it first"},
	{"PK\x05\x06", "compression-unknown", "the file is an empty zip archive"},
	{"PK\x03\x04", "compression-unknown", "the file is a zip archive of no known format; unpack it first"},
}

// isText reports whether the beginning of a file is UTF-8 without NUL.
func isText(raw []byte) bool {
	raw = raw[:min(len(raw), 4<<10)]
	if bytes.IndexByte(raw, 0) >= 0 {
		return false
	}
	for len(raw) > 0 {
		r, size := utf8.DecodeRune(raw)
		if r == utf8.RuneError && size == 1 && len(raw) >= utf8.UTFMax {
			return false
		}
		raw = raw[size:]
	}
	return true
}

func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }
