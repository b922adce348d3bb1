package trace

import (
	"cmp"
	"encoding/binary"
	"io"
	"iter"
	"os"
	"slices"

	"github.com/awo-dev/awo/diag"
)

// Ref says where a trajectory stands in the sources of a Reader, so that
// Reader.At can read it again. It is small and comparable; the zero value is
// the Ref of a trajectory that no Reader has read.
type Ref struct {
	source    int32 // index + 1; 0 for a trajectory joined from fragments
	part      int32 // index among the trajectories of the record, or of the key
	offset    int64
	length    int
	line, col int
	format    string // of a joined trajectory
	key       string // of a joined trajectory
}

// IsZero reports whether the Ref points to nothing.
func (r Ref) IsZero() bool { return r == Ref{} }

// Append appends a compact form of the Ref, which ReadRef reads.
func (r Ref) Append(to []byte) []byte {
	for _, n := range [...]int64{int64(r.source), int64(r.part), r.offset, int64(r.length), int64(r.line), int64(r.col)} {
		to = binary.AppendVarint(to, n)
	}
	for _, s := range [...]string{r.format, r.key} {
		to = append(binary.AppendUvarint(to, uint64(len(s))), s...)
	}
	return to
}

// ReadRef reads what Append wrote at the beginning of some bytes, and returns the bytes
// behind it; false if it is none.
func ReadRef(from []byte) (r Ref, rest []byte, ok bool) {
	var numbers [6]int64
	for i := range numbers {
		n, size := binary.Varint(from)
		if size <= 0 {
			return Ref{}, nil, false
		}
		numbers[i], from = n, from[size:]
	}
	var texts [2]string
	for i := range texts {
		n, size := binary.Uvarint(from)
		if size <= 0 || n > uint64(len(from)-size) {
			return Ref{}, nil, false
		}
		texts[i], from = string(from[size:size+int(n)]), from[size+int(n):]
	}
	return Ref{
		source: int32(numbers[0]), part: int32(numbers[1]), offset: numbers[2], length: int(numbers[3]),
		line: int(numbers[4]), col: int(numbers[5]), format: texts[0], key: texts[1],
	}, from, true
}

// Compare orders Refs as All yields their trajectories, but for joined ones,
// which it puts last, ordered by key.
func (r Ref) Compare(o Ref) int {
	joined := func(r Ref) int {
		if r.source == 0 {
			return 1
		}
		return 0
	}
	return cmp.Or(
		cmp.Compare(joined(r), joined(o)),
		cmp.Compare(r.source, o.source),
		cmp.Compare(r.offset, o.offset),
		cmp.Compare(r.format, o.format),
		cmp.Compare(r.key, o.key),
		cmp.Compare(r.part, o.part),
	)
}

// access is what is known, after a source was read, of how to read it again.
type access struct {
	format *Format
	known  *recognised // of an earlier reading; what is read again is not looked at again
	byLine bool
	direct bool // a record can be read by its offset
	open   bool // it holds fragments of trajectories
}

// At reads the trajectories again that have these Refs, which an All of the
// same Reader has yielded: in input order, each once, with the same Ref. Of a
// plain file only their records are read; compressed files, documents whose
// records share something and fragments are searched again. Standard input and
// named pipes must have been spooled.
//
// Errors are as in All, but a problem that All has yielded is not yielded again.
// A file that was changed meanwhile is the problem file-changed, a trajectory
// that is not found again the problem record-gone.
func (r *Reader) At(refs []Ref) iter.Seq2[*Trajectory, error] {
	return func(yield func(*Trajectory, error) bool) {
		counts := newCounts(r.sources)
		chosen, changed := newSelection(r, refs)
		for _, e := range changed {
			if !yield(nil, e) {
				return
			}
		}
		p := &pass{r: r, counts: &counts, wanted: chosen}
		stopped := false
		found := map[Ref]bool{}
		p.run(func(t *Trajectory, err error) bool {
			if t != nil {
				found[t.Ref] = true
			}
			stopped = !yield(t, err)
			return !stopped
		})
		if stopped || p.fatal != nil {
			return
		}
		for _, ref := range chosen.sorted {
			if !found[ref] && !yield(nil, ref.gone(r)) {
				return
			}
		}
	}
}

// gone returns the problem that the Ref's trajectory was not found again.
func (r Ref) gone(reader *Reader) *diag.Error {
	pos := diag.Pos{}
	if r.source > 0 && int(r.source) <= len(reader.sources) {
		pos = diag.Pos{File: reader.sources[r.source-1].name, Line: r.line, Col: r.col}
	}
	return diag.New(pos, "record-gone", "the trajectory that was read here before is not found again")
}

// selection is the trajectories that a second pass wants. It does not change
// while the pass runs. The methods of a nil selection say that everything is
// wanted.
type selection struct {
	sorted  []Ref           // in input order
	refs    map[Ref]bool    // the same
	sources [][]Ref         // those of sorted that stand in one record, by source
	keys    map[refKey]bool // of joined trajectories
	formats map[string]bool // of joined trajectories
	access  []access

	canonical map[refKey]string // see assembler.canonical
}

type refKey struct{ format, key string }

// newSelection leaves out what stands in files that have changed, and returns a
// problem for each of these files.
func newSelection(r *Reader, refs []Ref) (*selection, []*diag.Error) {
	s := &selection{
		refs:    map[Ref]bool{},
		sources: make([][]Ref, len(r.sources)),
		keys:    map[refKey]bool{},
		formats: map[string]bool{},
		access:  slices.Clone(r.access),

		canonical: r.canonical,
	}
	sorted := slices.Clone(refs)
	slices.SortFunc(sorted, Ref.Compare)
	for _, ref := range slices.Compact(sorted) {
		s.add(ref)
	}
	var problems []*diag.Error
	stale := map[int32]bool{} // sources, as in Ref
	for i := range r.sources {
		if s.wantsSource(i) && r.sources[i].changed() {
			stale[int32(i+1)] = true
			problems = append(problems, diag.New(diag.Pos{File: r.sources[i].name}, "file-changed",
				"the file was changed while it was in use; what was read from it before is not read again"))
		}
	}
	if len(stale) > 0 {
		s.drop(stale)
	}
	return s, problems
}

func (s *selection) add(ref Ref) {
	switch {
	case ref.IsZero():
		return
	case ref.source == 0:
		s.keys[refKey{ref.format, ref.key}] = true
		s.formats[ref.format] = true
	case int(ref.source) <= len(s.sources): // else it is of another Reader and not found
		s.sources[ref.source-1] = append(s.sources[ref.source-1], ref)
	}
	s.sorted = append(s.sorted, ref)
	s.refs[ref] = true
}

// drop leaves out what stands in sources, and what is joined from fragments
// that stand there.
func (s *selection) drop(sources map[int32]bool) {
	formats := map[string]bool{}
	for source := range sources {
		if a := s.access[source-1]; a.open {
			formats[a.format.Name] = true
		}
		s.sources[source-1] = nil
	}
	s.sorted = slices.DeleteFunc(s.sorted, func(ref Ref) bool {
		gone := sources[ref.source] || ref.source == 0 && formats[ref.format]
		if gone {
			delete(s.refs, ref)
		}
		return gone
	})
	for format := range formats {
		delete(s.formats, format)
	}
}

// changed reports whether a file is not the one that was listed.
func (s *source) changed() bool {
	if s.info == nil {
		return false
	}
	now, err := os.Stat(s.path)
	return err != nil || now.Size() != s.info.Size() || !now.ModTime().Equal(s.info.ModTime())
}

// has reports whether a trajectory is wanted.
func (s *selection) has(ref Ref) bool { return s == nil || s.refs[ref] }

// hasKey reports whether the fragments of a key are wanted.
func (s *selection) hasKey(format *Format, key string) bool {
	if s == nil {
		return true
	}
	return s.keys[refKey{format.Name, s.ownKey(format, key)}]
}

// ownKey returns the key of the trajectory that the fragments of a key are part
// of.
func (s *selection) ownKey(format *Format, key string) string {
	if own, ok := s.canonical[refKey{format.Name, key}]; ok {
		return own
	}
	return key
}

// forParts reports whether a source is read for the fragments in it.
func (s *selection) forParts(source int) bool {
	a := &s.access[source]
	return a.open && s.formats[a.format.Name]
}

// wantsSource reports whether anything in a source is wanted.
func (s *selection) wantsSource(source int) bool {
	return s == nil || len(s.sources[source]) > 0 || s.forParts(source)
}

// hasRecord reports whether anything in the record at an offset is wanted.
func (s *selection) hasRecord(source int, offset int64) bool {
	if s == nil || s.forParts(source) {
		return true
	}
	_, ok := slices.BinarySearchFunc(s.sources[source], offset, func(r Ref, offset int64) int {
		return cmp.Compare(r.offset, offset)
	})
	return ok
}

// direct reports whether the records of a source are read by their offsets.
func (s *selection) direct(source int) bool {
	return s != nil && s.access[source].direct && !s.forParts(source)
}

// direct reads the wanted records of a source by their offsets.
func (f *finder) direct(i int) bool {
	s, a := &f.r.sources[i], &f.r.access[i]
	f.b.format, f.b.byLine = a.format, a.byLine
	in, err := s.open()
	if err != nil {
		return f.fail(err)
	}
	defer in.Close()
	last := int64(-1)
	for _, ref := range f.wanted.sources[i] {
		if ref.offset == last {
			continue
		}
		last = ref.offset
		data := make([]byte, ref.length)
		if _, err := in.(io.ReaderAt).ReadAt(data, ref.offset); err != nil {
			continue // it will be missed
		}
		if !f.add(Record{Data: data, File: s.name, Line: ref.line, Col: ref.col, Offset: ref.offset}) {
			return false
		}
	}
	return true
}
