package trace

import (
	"cmp"
	"iter"
	"slices"

	"github.com/awo-dev/awo/diag"
)

// assembler collects the open fragments of the whole input and gives them back
// by key. It keeps the keys in memory, and the parts as far as the budget goes;
// beyond it they are sorted and written to a temporary file, run by run, and
// merged at the end. The result does not depend on the budget.
type assembler struct {
	budget int64
	folder string
	limit  int64 // bytes of a trajectory

	number map[groupKey]int
	groups []group // in order of first appearance

	parts []part
	arena []byte // where the Data of parts is copied to: a slice of it keeps no record
	used  int64
	runs  *runFile // nil if nothing was spilled
}

// groupKey is what the fragments of a trajectory have in common.
type groupKey struct {
	format *Format
	key    string
}

// group is what is known of the fragments of one key.
type group struct {
	groupKey
	source int      // that the first fragment came from
	pos    diag.Pos // of the first fragment
	size   int64    // of all Data
}

// part is a fragment in the order in which it is wanted.
type part struct {
	group int
	order int64
	pos   diag.Pos
	data  []byte
}

// partOverhead is about what a part takes in memory besides its data.
const partOverhead = 96

// arenaSize is the size of the pieces of memory that parts are copied to.
const arenaSize = 256 << 10

func newAssembler(o *Options) *assembler {
	return &assembler{
		budget: o.spillBudget(),
		folder: o.TempDir,
		limit:  int64(o.maxRecord()),
		number: map[groupKey]int{},
	}
}

// add takes an open fragment that was decoded from a record of a source. The
// only errors are those of the temporary file.
func (a *assembler) add(format *Format, source int, f Fragment) error {
	key := groupKey{format, f.Key}
	n, ok := a.number[key]
	if !ok {
		n = len(a.groups)
		a.number[key] = n
		a.groups = append(a.groups, group{groupKey: key, source: source, pos: f.Pos})
	}
	g := &a.groups[n]
	g.size += int64(len(f.Data))
	if g.size > a.limit {
		return nil // it will be reported and not be read, so nothing more is kept
	}
	a.parts = append(a.parts, part{group: n, order: f.Order, pos: f.Pos, data: a.keep(f.Data)})
	a.used += int64(len(f.Data)) + partOverhead
	if a.used <= a.budget {
		return nil
	}
	return a.spill()
}

// keep copies data into the arena.
func (a *assembler) keep(data []byte) []byte {
	if len(data) > cap(a.arena)-len(a.arena) {
		a.arena = make([]byte, 0, max(arenaSize, len(data)))
	}
	start := len(a.arena)
	a.arena = append(a.arena, data...)
	return a.arena[start:len(a.arena):len(a.arena)]
}

// sort brings the parts in memory into the order in which they are wanted:
// stable, so that what is equal stays in input order.
func (a *assembler) sort() {
	slices.SortStableFunc(a.parts, func(p, q part) int {
		return cmp.Or(cmp.Compare(p.group, q.group), cmp.Compare(p.order, q.order))
	})
}

func (a *assembler) spill() error {
	if a.runs == nil {
		runs, err := newRunFile(a.folder)
		if err != nil {
			return err
		}
		a.runs = runs
	}
	a.sort()
	if err := a.runs.write(a.parts); err != nil {
		return err
	}
	clear(a.parts) // or the old slice keeps what was written
	a.parts, a.arena, a.used = a.parts[:0], nil, 0
	return nil
}

// close gives up the temporary file, once.
func (a *assembler) close() error {
	runs := a.runs
	a.runs = nil
	if runs == nil {
		return nil
	}
	return runs.close()
}

// assembly is the fragments of one key, ready to be joined, or the reason why
// nothing more comes.
type assembly struct {
	group *group
	parts []Fragment // nil if they are too large
	limit int64
	err   error
}

// assemblies yields the fragments of every key, in order of first appearance.
func (a *assembler) assemblies() iter.Seq[assembly] {
	return func(yield func(assembly) bool) {
		a.sort()
		next := 0 // group whose parts are collected
		var parts []Fragment
		pass := func(to int) bool {
			for ; next < to; next++ {
				g := &a.groups[next]
				if g.size > a.limit {
					parts = nil
				}
				if !yield(assembly{group: g, parts: parts, limit: a.limit}) {
					return false
				}
				parts = nil
			}
			return true
		}
		for p, err := range a.merged() {
			if err != nil {
				yield(assembly{err: err})
				return
			}
			if !pass(p.group) {
				return
			}
			parts = append(parts, Fragment{Key: a.groups[p.group].key, Order: p.order, Data: p.data, Pos: p.pos})
		}
		pass(len(a.groups))
	}
}

// merged yields all parts in the order in which they are wanted.
func (a *assembler) merged() iter.Seq2[part, error] {
	if a.runs != nil {
		return a.runs.merge(a.parts)
	}
	return func(yield func(part, error) bool) {
		for _, p := range a.parts {
			if !yield(p, nil) {
				return
			}
		}
	}
}

// join makes the trajectories of a group. It is called from several goroutines.
func (m assembly) join() ([]*Trajectory, error) {
	g := m.group
	if m.parts == nil {
		return nil, diag.New(g.pos, "record-too-large", "the parts of the trajectory have %d bytes; the limit is %d", g.size, m.limit)
	}
	trajectories, err := g.format.Assemble(g.key, m.parts)
	first := m.parts[0].Pos
	for i, t := range trajectories {
		t.Format = cmp.Or(t.Format, g.format.Name)
		t.Offset = -1
		if t.Source.IsZero() {
			t.Source = first
		}
		t.ID = cmp.Or(t.ID, partName(g.key, i))
		t.Ref = Ref{format: g.format.Name, key: g.key, part: int32(i)}
	}
	return trajectories, err
}

// bytes is what the parts of an assembly hold.
func (m assembly) bytes() int {
	n := 0
	for i := range m.parts {
		n += len(m.parts[i].Data) + partOverhead
	}
	return n
}
