package trace

import (
	"cmp"
	"iter"
	"os"
	"slices"

	"github.com/awo-dev/awo/diag"
)

// Ref says where a trajectory stands in the sources of a Reader, so that
// Reader.At can read it again. It is small and comparable; the zero value is
// the Ref of a trajectory that no Reader has read.
type Ref struct {
	source int32 // index + 1; 0 for a trajectory joined from fragments
	part   int32 // index among the trajectories of the record
	offset int64 // of the record; of a joined trajectory its number among these, from 1
}

// IsZero reports whether the Ref points to nothing.
func (r Ref) IsZero() bool { return r == Ref{} }

// Compare orders Refs as All yields their trajectories.
func (r Ref) Compare(o Ref) int {
	return cmp.Or(
		cmp.Compare(uint32(r.source-1), uint32(o.source-1)), // joined ones are last
		cmp.Compare(r.offset, o.offset),
		cmp.Compare(r.part, o.part),
	)
}

// record returns the Ref of the first trajectory of the record.
func (r Ref) record() Ref { return Ref{source: r.source, offset: r.offset} }

// access is what is known of a source after it was read.
type access struct {
	known *recognised // what is read again is not looked at again
	open  bool        // it holds fragments of trajectories
}

// At reads the trajectories again that have these Refs, which an All of the
// same Reader has yielded: in input order, each once, with the same Ref. Records
// that are not wanted are found and not decoded. Standard input and named pipes
// must have been spooled.
//
// Errors are as in All, but a problem that All has yielded is not yielded again.
// A file that was changed meanwhile is the problem file-changed, a trajectory
// that is not found again the problem record-gone.
func (r *Reader) At(refs []Ref) iter.Seq2[*Trajectory, error] {
	return func(yield func(*Trajectory, error) bool) {
		chosen, changed := newSelection(r, refs)
		for _, e := range changed {
			if !yield(nil, e) {
				return
			}
		}
		counts := newCounts(r.sources)
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
		pos.File = reader.sources[r.source-1].name
	}
	return diag.New(pos, "record-gone", "a trajectory that was read here before is not found again")
}

// selection is the trajectories that a second pass wants. It does not change
// while the pass runs. The methods of a nil selection say that everything is
// wanted.
type selection struct {
	sorted  []Ref        // in input order
	refs    map[Ref]bool // the same
	records map[Ref]bool // those that are in one record, by that
	sources map[int]bool // in which these stand
	joined  bool         // some were joined from fragments
	access  []access
}

// newSelection leaves out what stands in files that have changed, and returns a
// problem for each of these files.
func newSelection(r *Reader, refs []Ref) (s *selection, problems []*diag.Error) {
	s = &selection{refs: map[Ref]bool{}, records: map[Ref]bool{}, sources: map[int]bool{}, access: slices.Clone(r.access)}
	wanted := slices.Clone(refs)
	slices.SortFunc(wanted, Ref.Compare)
	changed, parts := map[int]bool{}, false // of the parts of trajectories
	for i := range r.sources {
		if r.sources[i].changed() {
			changed[i] = true
			parts = parts || s.access[i].open
		}
	}
	for _, ref := range slices.Compact(wanted) {
		source := int(ref.source) - 1
		if isStale := changed[source] || source < 0 && parts; ref.IsZero() || isStale {
			continue
		}
		s.sorted, s.refs[ref] = append(s.sorted, ref), true
		if source < 0 {
			s.joined = true
			continue
		}
		s.records[ref.record()], s.sources[source] = true, true
	}
	for i := range r.sources {
		if changed[i] {
			problems = append(problems, diag.New(diag.Pos{File: r.sources[i].name}, "file-changed",
				"the file was changed while it was in use; what was read from it before is not read again"))
		}
	}
	return s, problems
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

// hasParts reports whether trajectories that are joined from fragments are wanted.
func (s *selection) hasParts() bool { return s == nil || s.joined }

// wantsSource reports whether anything in a source is wanted.
func (s *selection) wantsSource(source int) bool {
	return s == nil || s.sources[source] || s.joined && s.access[source].open
}

// hasRecord reports whether anything in the record at an offset is wanted.
func (s *selection) hasRecord(source int, offset int64) bool {
	return s == nil || s.joined && s.access[source].open || s.records[Ref{source: int32(source + 1), offset: offset}]
}
