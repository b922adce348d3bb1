package summary

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"
	"strings"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/inertia"
	"github.com/awo-dev/awo/internal/varint"
)

// The layout of a file. All that is fixed is little-endian:
//
//	 0  8  magic
//	 8  4  version
//	12  4  nothing, 0
//	16  8  size of the file
//	24 32  SHA-256 of the options and labels as they stand in the body
//	56     body
//	-32 32 SHA-256 of everything before
//
// Numbers in the body are varints in their shortest form, texts stand behind their
// length, lists behind the number of their elements and in ascending order.
const (
	magic      = "\x89awosum\n"
	version    = 3
	more       = 5 // the version of a file with sums by task, or lessons behind them, or both
	headerSize = 56
)

// Append appends the summary as it stands in a file: the same bytes for the same counts.
func (s *Summary) Append(dst []byte) []byte {
	start := len(dst)
	dst = append(dst, magic...)
	v := uint32(version)
	if len(s.byTask) > 0 || s.lessons != nil {
		v = more
	}
	dst = binary.LittleEndian.AppendUint32(dst, v)
	dst = binary.LittleEndian.AppendUint32(dst, 0)
	dst = append(dst, make([]byte, headerSize-16)...)
	body := len(dst)
	dst = appendChoices(dst, s.choices, s.labels)
	options := sha256.Sum256(dst[body:])
	copy(dst[start+24:], options[:])
	dst = s.appendSums(dst)
	rows := s.ordered()
	dst = rows.append(dst)
	dst = s.appendUsage(dst)
	dst = s.named.append(dst)
	if v == more {
		dst = s.byTask.append(dst, rows.tasks())
	}
	if s.lessons != nil {
		dst = s.lessons.Append(dst)
	}
	binary.LittleEndian.PutUint64(dst[start+16:], uint64(len(dst)-start+sha256.Size))
	sum := sha256.Sum256(dst[start:])
	return append(dst, sum[:]...)
}

func appendChoices(dst []byte, choices []Option, labels []string) []byte {
	dst = varint.Append(dst, len(choices))
	for _, o := range choices {
		dst = varint.AppendText(varint.AppendText(dst, o.Name), o.Value)
	}
	dst = varint.Append(dst, len(labels))
	for _, l := range labels {
		dst = varint.AppendText(dst, l)
	}
	return dst
}

func appendFigures(dst []byte, figures []*int) []byte {
	for _, figure := range figures {
		dst = varint.Append(dst, *figure)
	}
	return dst
}

func appendCounts(dst []byte, counts map[string]int) []byte {
	dst = varint.Append(dst, len(counts))
	for _, code := range slices.Sorted(maps.Keys(counts)) {
		dst = varint.Append(varint.AppendText(dst, code), counts[code])
	}
	return dst
}

// Read takes the bytes of a summary; file is only a name. Errors are of type *diag.Error.
//
// Every file is taken for hostile: what contradicts itself is an error, and memory is in
// proportion to the file.
func Read(file string, data []byte) (*Summary, error) {
	problem := func(code, format string, args ...any) error {
		return diag.New(diag.Pos{File: file}, code, format, args...)
	}
	if len(data) < len(magic) || string(data[:len(magic)]) != magic {
		return nil, problem(CodeForeign, "this is no summary of awo")
	}
	if len(data) < headerSize+sha256.Size {
		return nil, problem(CodeTruncated, "the file ends inside its header")
	}
	v := binary.LittleEndian.Uint32(data[8:])
	if v != version && v != more {
		return nil, problem(CodeVersion, "the summary is of version %d, and this program reads versions %d and %d: summarize the traces again", v, version, more)
	}
	if size := binary.LittleEndian.Uint64(data[16:]); size != uint64(len(data)) {
		return nil, problem(CodeTruncated, "the file has %d bytes and says that it has %d", len(data), size)
	}
	end := len(data) - sha256.Size
	if sum := sha256.Sum256(data[:end]); !bytes.Equal(sum[:], data[end:]) {
		return nil, problem(CodeCorrupt, "the file is not what was written: its checksum differs")
	}
	s := New(Options{})
	s.scratch, s.file = nil, file
	d := &decoder{varint.Reader{Data: data[headerSize:end]}}
	s.readChoices(d)
	options := sha256.Sum256(data[headerSize : end-len(d.Data)])
	if binary.LittleEndian.Uint32(data[12:]) != 0 || !bytes.Equal(options[:], data[24:headerSize]) {
		d.Fail("its header")
	}
	s.readSums(d)
	s.readRows(d)
	s.readUsage(d)
	s.readNamed(d)
	if v == more {
		s.readByTask(d)
	}
	if len(d.Data) > 0 && v == more {
		ok := false
		if s.lessons, ok = inertia.ReadLessons(d.Data); !ok {
			d.Fail("what was learnt")
		}
		d.Data = nil
	}
	if len(d.Data) > 0 {
		d.Fail("its end")
	}
	s.check(d)
	if d.Broken != "" {
		return nil, problem(CodeCorrupt, "the file contradicts itself in %s", d.Broken)
	}
	return s, nil
}

// decoder reads what Append wrote.
type decoder struct{ varint.Reader }

func (d *decoder) figures(figures []*int) {
	for _, figure := range figures {
		*figure = d.Int()
	}
}

// ascending notes a failure unless c, a comparison of an element with the one before,
// says that it is greater.
func (d *decoder) ascending(c int, what string) {
	if c <= 0 {
		d.Fail("the order of " + what)
	}
}

func (d *decoder) counts(what string) map[string]int {
	n := d.Length(2)
	out := make(map[string]int, n)
	before := ""
	for i := range n {
		code := d.Text()
		if i > 0 {
			d.ascending(strings.Compare(code, before), what)
		}
		before = code
		if out[code] = d.Int(); out[code] == 0 {
			d.Fail("the counts of " + what)
		}
	}
	return out
}

func (s *Summary) readChoices(d *decoder) {
	for i := range d.Length(2) {
		o := Option{d.Text(), d.Text()}
		if i > 0 {
			d.ascending(strings.Compare(o.Name, s.choices[i-1].Name), "options")
		}
		s.choices = append(s.choices, o)
	}
	for range d.Length(1) {
		s.labels = append(s.labels, d.Text())
	}
}
