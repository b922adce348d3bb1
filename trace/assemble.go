package trace

import (
	"cmp"
	"errors"
	"hash/fnv"
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

	number  map[groupKey]int // also of aliases
	groups  []group          // in order of first appearance
	united  bool             // some groups turned out to be one
	sources *joining         // nil without Options.Joined

	parts []part
	seq   int64  // of the next part
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
	source  int       // that the first fragment came from
	pos     diag.Pos  // of the first fragment
	size    int64     // of all Data
	parts   int       // how many
	first   int       // the group that this one is part of; itself if of none
	divided *division // nil if it was not
}

// division is what is known of groups that are one and too large together.
type division struct {
	groups int
	size   int64
	parts  int
}

// part is a fragment in the order in which it is wanted.
type part struct {
	group int
	order int64
	seq   int64 // in the input
	pos   diag.Pos
	data  []byte
}

// partOverhead is about what a part takes in memory besides its data.
const partOverhead = 104

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
	if !ok || a.groups[n].groupKey != key { // new, or an alias so far
		other := n
		n = len(a.groups)
		a.number[key] = n
		a.groups = append(a.groups, group{groupKey: key, source: source, pos: f.Pos, first: n})
		if ok {
			a.unite(n, other)
		}
	}
	a.sources.join(source, a.groups[n].source)
	for _, alias := range f.Aliases {
		if other, ok := a.number[groupKey{format, alias}]; ok {
			a.unite(n, other)
		} else {
			a.number[groupKey{format, alias}] = n
		}
	}
	g := &a.groups[n]
	g.size += int64(len(f.Data))
	if g.size > a.limit {
		return nil // it will be reported and not be read, so nothing more is kept
	}
	g.parts++
	a.seq++
	return a.put(part{group: n, order: f.Order, seq: a.seq, pos: f.Pos, data: f.Data})
}

// root returns the group that a group is part of.
func (a *assembler) root(n int) int {
	for a.groups[n].first != n {
		a.groups[n].first = a.groups[a.groups[n].first].first
		n = a.groups[n].first
	}
	return n
}

// unite makes two groups one: the one that appeared first.
func (a *assembler) unite(n, m int) {
	a.sources.join(a.groups[n].source, a.groups[m].source)
	n, m = a.root(n), a.root(m)
	a.groups[max(n, m)].first = min(n, m)
}

// settle decides which groups are one when all fragments are there. Groups that
// are too large together to be read stay apart, all of them: whether they do must
// not depend on which came first. That is a problem of the first; see problem.
func (a *assembler) settle() {
	whole := make([]division, len(a.groups))
	for i := range a.groups {
		g := &a.groups[i]
		g.first = a.groups[g.first].first // which is before it and has found its own
		whole[g.first].groups++
		whole[g.first].size += g.size
		whole[g.first].parts += g.parts
	}
	for i := len(a.groups) - 1; i >= 0; i-- {
		g := &a.groups[i]
		switch all := &whole[g.first]; {
		case all.groups == 1:
		case all.size <= a.limit:
			a.united = true
			a.groups[g.first].size, a.groups[g.first].parts = all.size, all.parts
		case g.first == i:
			g.divided = all
		default:
			g.first = i
		}
	}
}

// regroup gives the parts of groups that turned out to be one to that.
func (a *assembler) regroup() error {
	if a.settle(); !a.united {
		return nil
	}
	a.united = false
	if a.runs == nil {
		for i := range a.parts {
			a.parts[i].group = a.root(a.parts[i].group)
		}
		return nil
	}
	if err := a.spill(); err != nil { // so that no two sets are in memory
		return err
	}
	old := &assembler{runs: a.runs}
	a.runs = nil
	for p, err := range old.merged() {
		if p.group = a.root(p.group); err == nil {
			err = a.put(p)
		}
		if err != nil {
			return errors.Join(err, old.close())
		}
	}
	return old.close()
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

// sort brings the parts in memory into the order in which they are wanted.
func (a *assembler) sort() {
	slices.SortFunc(a.parts, func(p, q part) int { return p.compare(&q) })
}

// compare orders parts by their group, in it by their order, and then as they
// stand in the input.
func (p *part) compare(q *part) int {
	return cmp.Or(cmp.Compare(p.group, q.group), cmp.Compare(p.order, q.order), cmp.Compare(p.seq, q.seq))
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
			if parts == nil {
				parts = make([]Fragment, 0, a.groups[p.group].parts)
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
		t.ID = cmp.Or(t.ID, PartName(g.key, i))
	}
	return trajectories, err
}

// problem says of a group that it was too large together with others.
func (m assembly) problem() *diag.Error {
	d := m.group.divided
	if d == nil {
		return nil
	}
	return diag.Warn(m.group.pos, "trajectory-divided", "%d sets of parts belong together and have %d bytes; the limit is %d, so each was read alone",
		d.groups, d.size, m.limit)
}

// bytes is what the parts of an assembly hold.
func (m assembly) bytes() int {
	n := 0
	for i := range m.parts {
		n += len(m.parts[i].Data) + partOverhead
	}
	return n
}

// Joined are files that hold parts of the same trajectories.
type Joined struct {
	Files []string // in reading order
	// Keys are hashes of what fragments in them are joined by, in order: other files with
	// one of these would belong to them.
	Keys []uint64
}

// joining notes which sources hold fragments of the same trajectory.
type joining struct {
	first []int // of each source: another one that it belongs to, or itself
}

func newJoining(sources int) *joining {
	j := &joining{first: make([]int, sources)}
	for i := range j.first {
		j.first[i] = i
	}
	return j
}

func (j *joining) root(source int) int {
	for j.first[source] != source {
		j.first[source] = j.first[j.first[source]]
		source = j.first[source]
	}
	return source
}

// join notes that two sources belong together; nil notes nothing.
func (j *joining) join(a, b int) {
	if j == nil {
		return
	}
	a, b = j.root(a), j.root(b)
	j.first[max(a, b)] = min(a, b)
}

// joined returns which of some sources belong together, by what the assembler knows.
func (a *assembler) joined(sources []source) []Joined {
	out := make([]Joined, 0, len(sources))
	place := map[int]int{}
	for i := range sources {
		root := a.sources.root(i)
		at, ok := place[root]
		if !ok {
			at = len(out)
			place[root] = at
			out = append(out, Joined{})
		}
		out[at].Files = append(out[at].Files, sources[i].name)
	}
	for key, n := range a.number {
		h := fnv.New64a()
		_, _ = h.Write([]byte(key.format.Name + "\x00" + key.key)) // a hash takes everything
		of := &out[place[a.sources.root(a.groups[n].source)]]
		of.Keys = append(of.Keys, h.Sum64())
	}
	for i := range out {
		slices.Sort(out[i].Keys)
	}
	return out
}

// Joined returns the files of the latest All that was read to its end, those that hold parts
// of the same trajectories together; nil without Options.Joined.
func (r *Reader) Joined() []Joined { return r.joined }
