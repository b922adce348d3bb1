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
	learnt     = 4 // the version of a file with lessons, which stand before its end
	headerSize = 56
)

// Append appends the summary as it stands in a file: the same bytes for the same counts.
func (s *Summary) Append(dst []byte) []byte {
	start := len(dst)
	dst = append(dst, magic...)
	v := uint32(version)
	if s.lessons != nil {
		v = learnt
	}
	dst = binary.LittleEndian.AppendUint32(dst, v)
	dst = binary.LittleEndian.AppendUint32(dst, 0)
	dst = append(dst, make([]byte, headerSize-16)...)
	body := len(dst)
	dst = appendChoices(dst, s.choices, s.labels)
	options := sha256.Sum256(dst[body:])
	copy(dst[start+24:], options[:])
	dst = s.appendSums(dst)
	dst = s.appendRows(dst)
	dst = s.appendUsage(dst)
	dst = s.named.append(dst)
	if s.lessons != nil {
		dst = s.lessons.Append(dst)
	}
	binary.LittleEndian.PutUint64(dst[start+16:], uint64(len(dst)-start+sha256.Size))
	sum := sha256.Sum256(dst[start:])
	return append(dst, sum[:]...)
}

func appendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

func appendInt(dst []byte, n int) []byte { return binary.AppendUvarint(dst, uint64(n)) }

func appendChoices(dst []byte, choices []Option, labels []string) []byte {
	dst = appendInt(dst, len(choices))
	for _, o := range choices {
		dst = appendText(appendText(dst, o.Name), o.Value)
	}
	dst = appendInt(dst, len(labels))
	for _, l := range labels {
		dst = appendText(dst, l)
	}
	return dst
}

func appendFigures(dst []byte, figures []*int) []byte {
	for _, figure := range figures {
		dst = appendInt(dst, *figure)
	}
	return dst
}

func appendCounts(dst []byte, counts map[string]int) []byte {
	dst = appendInt(dst, len(counts))
	for _, code := range slices.Sorted(maps.Keys(counts)) {
		dst = appendInt(appendText(dst, code), counts[code])
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
	if v != version && v != learnt {
		return nil, problem(CodeVersion, "the summary is of version %d, and this program reads versions %d and %d: summarize the traces again", v, version, learnt)
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
	d := &decoder{data: data[headerSize:end]}
	s.readChoices(d)
	options := sha256.Sum256(data[headerSize : end-len(d.data)])
	if binary.LittleEndian.Uint32(data[12:]) != 0 || !bytes.Equal(options[:], data[24:headerSize]) {
		d.fail("its header")
	}
	s.readSums(d)
	s.readRows(d)
	s.readUsage(d)
	s.readNamed(d)
	if v == learnt && d.broken == "" {
		ok := false
		if s.lessons, ok = inertia.ReadLessons(d.data); !ok {
			d.fail("what was learnt")
		}
		d.data = nil
	}
	if len(d.data) > 0 {
		d.fail("its end")
	}
	s.check(d)
	if d.broken != "" {
		return nil, problem(CodeCorrupt, "the file contradicts itself in %s", d.broken)
	}
	return s, nil
}

// decoder takes values off its data. After a failure it takes zeros.
type decoder struct {
	data   []byte
	broken string // what is wrong
}

func (d *decoder) fail(what string) {
	if d.broken == "" {
		d.broken = what
	}
	d.data = nil
}

func (d *decoder) uint() uint64 {
	v, n := binary.Uvarint(d.data)
	if n <= 0 || n > 1 && d.data[n-1] == 0 {
		d.fail("a number")
		return 0
	}
	d.data = d.data[n:]
	return v
}

func (d *decoder) int() int {
	v := d.uint()
	if v > 1<<62 {
		d.fail("a count")
		return 0
	}
	return int(v)
}

func (d *decoder) signed() int64 {
	u := d.uint()
	return int64(u>>1) ^ -int64(u&1)
}

// length takes the length of a list whose elements take at least so many bytes.
func (d *decoder) length(least int) int {
	n := d.uint()
	if n > uint64(len(d.data)/least) {
		d.fail("the length of a list")
		return 0
	}
	return int(n)
}

func (d *decoder) text() string { return string(d.take(d.length(1))) }

func (d *decoder) take(n int) []byte {
	if n > len(d.data) {
		d.fail("its length")
		return make([]byte, n)
	}
	out := d.data[:n]
	d.data = d.data[n:]
	return out
}

func (d *decoder) figures(figures []*int) {
	for _, figure := range figures {
		*figure = d.int()
	}
}

// ascending notes a failure unless c, a comparison of an element with the one before,
// says that it is greater.
func (d *decoder) ascending(c int, what string) {
	if c <= 0 {
		d.fail("the order of " + what)
	}
}

func (d *decoder) counts(what string) map[string]int {
	n := d.length(2)
	out := make(map[string]int, n)
	before := ""
	for i := range n {
		code := d.text()
		if i > 0 {
			d.ascending(strings.Compare(code, before), what)
		}
		before = code
		if out[code] = d.int(); out[code] == 0 {
			d.fail("the counts of " + what)
		}
	}
	return out
}

func (s *Summary) readChoices(d *decoder) {
	for i := range d.length(2) {
		o := Option{d.text(), d.text()}
		if i > 0 {
			d.ascending(strings.Compare(o.Name, s.choices[i-1].Name), "options")
		}
		s.choices = append(s.choices, o)
	}
	for range d.length(1) {
		s.labels = append(s.labels, d.text())
	}
}
