package trace

import (
	"cmp"
	"errors"
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

	number map[groupKey]int // also of aliases
	groups []group          // in order of first appearance
	united bool             // some groups turned out to be one

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
	first  int      // the group that this one is part of; itself if of none
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
		a.groups = append(a.groups, group{groupKey: key, source: source, pos: f.Pos, first: n})
	}
	for _, alias := range f.Aliases {
		if other, ok := a.number[groupKey{format, alias}]; ok {
			a.unite(n, other)
		} else {
			a.number[groupKey{format, alias}] = n
		}
	}
	n = a.root(n)
	g := &a.groups[n]
	g.size += int64(len(f.Data))
	if g.size > a.limit {
		return nil // it will be reported and not be read, so nothing more is kept
	}
	return a.put(part{group: n, order: f.Order, pos: f.Pos, data: f.Data})
}

// root returns the group that a group is part of.
func (a *assembler) root(n int) int {
	for a.groups[n].first != n {
		a.groups[n].first = a.groups[a.groups[n].first].first
		n = a.groups[n].first
	}
	return n
}

// unite makes two groups one: the one that appeared first. Groups that are large
// already stay apart: a key that half of the input shares says nothing, and
// together they would be too large to read.
func (a *assembler) unite(n, m int) {
	n, m = a.root(n), a.root(m)
	if n == m || a.groups[n].size+a.groups[m].size > a.limit/2 {
		return
	}
	n, m = min(n, m), max(n, m)
	a.groups[m].first = n
	a.groups[n].size += a.groups[m].size
	a.united = true
}

// regroup gives the parts of groups that turned out to be one to that. Those of
// one order stay in the order in which their groups appeared.
func (a *assembler) regroup() error {
	if !a.united {
		return nil
	}
	a.united = false
	if a.runs == nil {
		a.sort()
		for i := range a.parts {
			a.parts[i].group = a.root(a.parts[i].group)
		}
		return nil // they are sorted again, stably
	}
	if err := a.spill(); err != nil { // so that no two sets are in memory
		return err
	}
	old := &assembler{runs: a.runs}
	a.runs = nil
	for p, err := range old.merged() {
		if p.group = a.root(p.group); err == nil && a.groups[p.group].size <= a.limit {
			err = a.put(p)
		}
		if err != nil {
			return errors.Join(err, old.close())
		}
	}
	return old.close()
}

// canonical returns the keys that are not those of their group, and those that
// are.
func (a *assembler) canonical() map[refKey]string {
	var keys map[refKey]string
	for key, n := range a.number {
		if own := a.groups[a.root(n)].key; own != key.key {
			if keys == nil {
				keys = map[refKey]string{}
			}
			keys[refKey{key.format.Name, key.key}] = own
		}
	}
	return keys
}

// put keeps a part, in memory or on disk.
func (a *assembler) put(p part) error {
	p.data = a.keep(p.data)
	a.parts = append(a.parts, p)
	a.used += int64(len(p.data)) + partOverhead
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
		if err := a.regroup(); err != nil {
			yield(assembly{err: err})
			return
		}
		a.sort()
		next := 0 // group whose parts are collected
		var parts []Fragment
		pass := func(to int) bool {
			for ; next < to; next++ {
				g := &a.groups[next]
				if g.first != next {
					continue
				}
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
