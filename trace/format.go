package trace

import (
	"bytes"
	"cmp"
	"io"
	"iter"
	"strings"

	"github.com/awo-dev/awo/diag"
)

// Format is a trace format. A Reader knows those in Options.Formats.
type Format struct {
	Name string // for --input-format
	Doc  string // one sentence for `awo formats`
	Spec string // where the format is defined

	// Detect says whether the head of a file is of this format. It must be
	// cheap, and claim nothing that another format's files look like.
	Detect func(Head) Match

	// General says that one of its records alone may look like those of other formats, or
	// theirs like its own.
	General bool

	// Split finds the records of one file, serially. Nil means SplitRecords:
	// lines, the elements of a top-level array, or whole documents; see also
	// SplitMember. An error is a *diag.Error about the place where reading goes on.
	Split func(in *Input) iter.Seq2[Record, error]

	// Decode turns a record into fragments, none if it holds nothing of a
	// trajectory. It is pure and runs in parallel. The error, if not nil, is a
	// *diag.Error positioned by Record.At and means that the record is skipped,
	// but for the fragments returned with it.
	//
	// The Reader fills in what a closed fragment's trajectory leaves zero and the
	// record tells: ID, Source, Offset, Format and Ref. The slice becomes its own.
	Decode func(Record) ([]Fragment, error)

	// Assemble joins the open fragments of one key, ordered by (Order, then
	// input order), into trajectories. Nil for formats whose fragments are all
	// closed. It is pure and runs in parallel, and may keep slices of the parts'
	// Data, but not write to them. The error, if not nil, is a *diag.Error.
	Assemble func(key string, parts []Fragment) ([]*Trajectory, error)

	// archive finds the records in a zip archive, none of which may be larger than
	// limit. Nil for formats that have no archives; false if the archive is none.
	Archive func(a *Archive, limit int) (ArchiveRecords, bool)
}

// Match is the answer of Format.Detect.
type Match struct {
	OK    bool
	Lacks string // if not OK but near: what is missing, for the error message

	// Whole says that a top-level array is one record, as a list of messages is,
	// and not a list of records. It counts also when the user names the format.
	Whole bool

	Log    bool // the records are requests that repeat what was said before
	Unsure bool // more of the file would tell whether they are
}

// Container is how the records of a file are laid out.
type Container uint8

// The containers.
const (
	ContainerLines    Container = iota // one JSON value a line
	ContainerArray                     // one JSON array
	ContainerDocument                  // one JSON value over several lines, or several such
	ContainerOther                     // not JSON
)

// Head is the beginning of a file, enough to recognise its format.
type Head struct {
	Container Container
	// Records are the first values of the file (at most 20): lines, the
	// elements of a top-level array, or the document itself. The last may be cut
	// short where the head ends. Lines that begin no object or array are left out.
	Records []HeadRecord
	Raw     []byte // the undecoded beginning of the file (after decompression)
}

// HeadRecord is one value at the beginning of a file.
type HeadRecord struct {
	Raw       []byte
	Keys      []string          // keys of a top-level object, in order, as far as seen
	Members   map[string][]byte // their raw values; the last may be cut short
	Truncated bool
}

// Has reports whether the record is an object with all of these keys.
func (r HeadRecord) Has(keys ...string) bool {
	for _, k := range keys {
		if _, ok := r.Members[k]; !ok {
			return false
		}
	}
	return len(keys) > 0
}

// Record is what Split finds and Decode reads: one JSON value.
type Record struct {
	Data   []byte
	File   string
	Line   int   // of the first byte, from 1
	Col    int   // of the first byte, from 1
	Offset int64 // of the first byte in the decompressed file
	Shared any   // what Split read before its records and passes to each of them

	Memo   *ToolMemo // of the batch that is decoded; nil if there is none
	ByLine bool      // one record a line
	Log    bool      // as Match says
}

// At returns the position of the byte at offset i of the record.
func (r Record) At(i int) diag.Pos {
	p := Positions{Record: r}
	return p.At(i)
}

// Positions gives the positions of many bytes of a record: of each it passes over those
// behind the one before. The zero value of its other members is its start.
type Positions struct {
	Record Record
	passed int // bytes in which lines were counted
	lines  int // that end among these
	begin  int // of the last line
	looked int // bytes that were looked at in all
}

// At is Record.At. It looks at the whole record again only where i is before the last one.
func (p *Positions) At(i int) diag.Pos {
	r := &p.Record
	i = max(0, min(i, len(r.Data)))
	if i < p.passed {
		p.passed, p.lines, p.begin = 0, 0, 0
	}
	news := r.Data[p.passed:i]
	if last := bytes.LastIndexByte(news, '\n'); last >= 0 {
		p.lines, p.begin = p.lines+bytes.Count(news, []byte{'\n'}), p.passed+last+1
	}
	p.looked += len(news)
	p.passed = i
	if p.lines == 0 {
		return diag.Pos{File: r.File, Line: r.Line, Col: max(r.Col, 1) + i}
	}
	return diag.Pos{File: r.File, Line: r.Line + p.lines, Col: i - p.begin + 1}
}

// Pos returns the position of the record's first byte.
func (r Record) Pos() diag.Pos { return r.At(0) }

// UnpackedName returns the name that a file has when it is not compressed.
func UnpackedName(file string) string {
	for _, suffix := range []string{".gz", ".zst"} {
		if name, ok := strings.CutSuffix(file, suffix); ok {
			return name
		}
	}
	return file
}

// Fragment is a trajectory or a part of one. A closed fragment holds a whole
// trajectory and passes straight through the Reader; the open fragments of a
// key are collected over lines and files, spilled to disk where they are many,
// and joined by Format.Assemble at the end of the input.
type Fragment struct {
	Trajectory *Trajectory // set: the fragment is closed, the rest is unused

	Key string // which trajectory (session, trace id) the part belongs to
	// Aliases are further keys of the same: fragments that share one are joined,
	// whatever their Key, under the Key of the first.
	Aliases []string
	Order   int64  // sort order inside the key
	Data    []byte // the part itself, in a form that Assemble understands
	Pos     diag.Pos
}

// Input is one opened file, decompressed, as Split sees it.
type Input struct {
	Reader    io.Reader
	File      string // name for positions; "-" for standard input
	Container Container
	Whole     bool // as Format.Detect said: a top-level array is one record
	MaxRecord int  // bytes; a larger record is skipped with a problem; 0 means DefaultMaxRecord

	block int // bytes read at once, for tests; 0 means blockSize
}

// limit returns the bytes of the largest record.
func (in *Input) limit() int { return cmp.Or(max(in.MaxRecord, 0), DefaultMaxRecord) }
