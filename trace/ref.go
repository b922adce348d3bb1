package trace

import (
	"cmp"
	"iter"

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
