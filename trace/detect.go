package trace

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/jsonscan"
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
	text      io.Reader   // the whole file, its beginning included
	mixed     *diag.Error // that records are of several formats; nil if they are not
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
			known := recognised{format, head.Container, match.Whole, match.Log, io.MultiReader(bytes.NewReader(raw), text), nil}
			if named == nil && !match.Whole && format.Split == nil {
				known.mix(s.name, head, formats)
			}
			return known, nil
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
		if h.Container != ContainerOther {
			e.Note(diag.Pos{}, "--map reads other layouts by a map; awo inspect drafts one")
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

// MaxHeadRecords is how many records of a file are looked at to recognise it:
// files of several formats begin with records about themselves.
const MaxHeadRecords = 20

// NewHead reads the beginning of a file; whole says that it is all of it. It is
// not sure about the container if the beginning is one long line.
func NewHead(raw []byte, whole bool) (h Head, sure bool) {
	body := bytes.TrimPrefix(raw, byteOrderMark)
	h.Raw = raw
	h.Container, sure = containerOf(body)
	switch h.Container {
	case ContainerLines:
		h.Records = headLines(body, whole)
	case ContainerArray:
		body = body[bytes.IndexByte(body, '[')+1:]
		h.Records = headValues(body, whole)
	case ContainerDocument:
		h.Records = headValues(body, whole)
	}
	return h, sure || whole
}

// containerOf says how the records of a file are laid out, by its beginning.
func containerOf(body []byte) (c Container, sure bool) {
	trimmed := bytes.TrimLeft(body, " \t\r\n")
	if len(trimmed) == 0 {
		return ContainerOther, true
	}
	first := trimmed[0]
	if first != '{' && first != '[' {
		// One line that is no JSON does not make a file of lines something else.
		if hasJSONLine(trimmed) {
			return ContainerLines, true
		}
		return ContainerOther, true
	}
	nest := jsonscan.NewNesting(first)
	n, done := nest.Skip(trimmed)
	lineEnd := bytes.IndexByte(trimmed, '\n')
	switch {
	case done && (lineEnd < 0 || n <= lineEnd):
		return containerAfter(first, trimmed[n:]), true
	case lineEnd < 0 && first == '{':
		return ContainerLines, false
	case breaksLine(trimmed, lineEnd):
		return ContainerLines, true
	case first == '[':
		return ContainerArray, true
	}
	return ContainerDocument, true
}

// containerAfter says what a file is whose first value ends on its first line,
// by what follows it.
func containerAfter(first byte, rest []byte) Container {
	line, following, _ := bytes.Cut(rest, newline)
	switch {
	case len(bytes.TrimSpace(line)) > 0:
		return ContainerDocument // another value on the same line
	case first == '[' && len(bytes.TrimSpace(following)) == 0:
		return ContainerArray
	}
	return ContainerLines
}

// breaksLine reports whether the first line of a file, whose value does not end
// on it, is a broken record of a file of lines: no JSON goes on with a bracket
// on the next line if it does not end with a comma, a colon or a bracket.
func breaksLine(trimmed []byte, lineEnd int) bool {
	if lineEnd < 0 {
		return false
	}
	line := bytes.TrimRight(trimmed[:lineEnd], " \t\r")
	next := trimmed[lineEnd+1:]
	if len(next) == 0 || next[0] != '{' && next[0] != '[' {
		return false
	}
	switch line[len(line)-1] {
	case ',', ':', '[', '{':
		return false
	}
	return true
}

// hasJSONLine reports whether one of the first lines is an object or an array.
func hasJSONLine(body []byte) bool {
	n := 0
	for line := range bytes.Lines(body) {
		if n++; n > MaxHeadRecords {
			return false
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] != '{' && line[0] != '[' {
			continue
		}
		nest := jsonscan.NewNesting(line[0])
		if end, done := nest.Skip(line); done && end == len(line) && closes(line) {
			return true
		}
	}
	return false
}

func headLines(body []byte, whole bool) []HeadRecord {
	var records []HeadRecord
	for line := range bytes.Lines(body) {
		text := bytes.TrimSpace(line)
		if len(text) == 0 || text[0] != '{' && text[0] != '[' {
			continue // blank, or no record
		}
		nest := jsonscan.NewNesting(text[0])
		_, done := nest.Skip(text)
		cut := !whole && !done && line[len(line)-1] != '\n'
		if records = append(records, NewHeadRecord(text, cut)); len(records) == MaxHeadRecords {
			break
		}
	}
	return records
}

// headValues reads values with white space, commas and literal newlines between them.
func headValues(body []byte, whole bool) []HeadRecord {
	var records []HeadRecord
	for len(records) < MaxHeadRecords {
		body = bytes.TrimLeft(body, " \t\r\n,")
		if after, found := bytes.CutPrefix(body, literalNewline); found {
			body = after
			continue
		}
		if len(body) == 0 || !startsValue(body[0]) {
			break
		}
		nest := jsonscan.NewNesting(body[0])
		n, done := nest.Skip(body)
		records = append(records, NewHeadRecord(body[:n], !done && !whole))
		body = body[n:]
	}
	return records
}

// NewHeadRecord reads the members of a record that is an object, as far as they go.
func NewHeadRecord(raw []byte, cut bool) HeadRecord {
	r := HeadRecord{Raw: raw, Truncated: cut}
	if len(raw) == 0 || raw[0] != '{' {
		return r
	}
	r.Members = map[string][]byte{}
	rest := raw[1:]
	for {
		rest = bytes.TrimLeft(rest, " \t\r\n,")
		if len(rest) == 0 || rest[0] != '"' {
			return r
		}
		nest := jsonscan.NewNesting('"')
		n, done := nest.Skip(rest)
		if !done {
			return r
		}
		key := unquote(rest[:n])
		rest = bytes.TrimLeft(rest[n:], " \t\r\n")
		if len(rest) == 0 || rest[0] != ':' {
			return r
		}
		rest = bytes.TrimLeft(rest[1:], " \t\r\n")
		if len(rest) > 0 && !startsValue(rest[0]) {
			return r
		}
		var value []byte
		if len(rest) > 0 {
			nest = jsonscan.NewNesting(rest[0])
			n, _ = nest.Skip(rest)
			value, rest = rest[:n], rest[n:]
		}
		r.Keys = append(r.Keys, key)
		r.Members[key] = value
	}
}

// mixture reads a file whose records are of several formats, each by its own.
type mixture struct {
	main    *Format // of the file as a whole
	formats []Format
}

// mix makes the format of a file a mixture if the head has a record of another one.
func (k *recognised) mix(file string, h Head, formats []Format) {
	m := mixture{k.format, formats}
	for _, r := range h.Records[:max(len(h.Records)-1, 0)] { // the last may be cut short
		if k.mixAt(file, h, r, m) {
			return
		}
	}
	if n := len(h.Records); n > 1 && !h.Records[n-1].Truncated {
		k.mixAt(file, h, h.Records[n-1], m)
	}
}

func (k *recognised) mixAt(file string, h Head, r HeadRecord, m mixture) bool {
	other := m.formatOf(r.Raw)
	if other == m.main {
		return false
	}
	line := 1 + bytes.Count(h.Raw[:max(bytes.Index(h.Raw, r.Raw), 0)], newline)
	k.mixed = diag.Warn(diag.Pos{File: file, Line: line, Col: 1}, "formats-mixed",
		"the file has records of several formats: %s, and here %s; each is read by its own", m.main.Name, other.Name)
	k.mixed.Note(diag.Pos{}, "keep each format in a file of its own: only the first %d records show whether formats are mixed", MaxHeadRecords)
	k.format = &Format{Name: m.main.Name, Decode: m.decode, Assemble: m.assemble}
	return true
}

// formatOf returns the format of a record: that of the file, unless the record alone is of
// another one and not of that.
func (m mixture) formatOf(data []byte) *Format {
	data = bytes.TrimSpace(data)
	head := Head{Records: []HeadRecord{NewHeadRecord(data, false)}, Raw: data}
	if m.main.Detect(head).OK {
		return m.main
	}
	other, _ := detect(head, m.formats, nil)
	if other == nil || other.Split != nil {
		return m.main
	}
	if m.main.General || other.General { // which is told by what the record holds for the file's
		if parts, _ := m.main.Decode(Record{Data: data, Line: 1, Col: 1}); len(parts) > 0 {
			return m.main
		}
	}
	return other
}

// decode reads a record. The keys of its fragments begin with their format.
func (m mixture) decode(r Record) ([]Fragment, error) {
	f := m.formatOf(r.Data)
	parts, err := f.Decode(r)
	for i := range parts {
		p := &parts[i]
		if p.Trajectory != nil {
			p.Trajectory.Format = f.Name
			continue
		}
		p.Key = f.Name + "\x00" + p.Key
		for j := range p.Aliases {
			p.Aliases[j] = f.Name + "\x00" + p.Aliases[j]
		}
	}
	return parts, err
}

func (m mixture) assemble(key string, parts []Fragment) ([]*Trajectory, error) {
	for i := range m.formats {
		f := &m.formats[i]
		own, ok := strings.CutPrefix(key, f.Name+"\x00")
		if !ok {
			continue
		}
		out, err := f.Assemble(own, parts)
		for _, t := range out {
			t.Format = f.Name
		}
		return out, err
	}
	return nil, nil
}
