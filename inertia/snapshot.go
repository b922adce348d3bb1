package inertia

import (
	"encoding/binary"
	"hash/crc32"
	"io/fs"
	"math"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/edsrzf/mmap-go"

	"github.com/awo-dev/awo/dataflow"
	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/trace"
)

// The codes of problems with snapshots.
const (
	CodeSnapshotMissing   = "snapshot-missing"   // there is no such file, or it cannot be read
	CodeSnapshotForeign   = "snapshot-foreign"   // no snapshot
	CodeSnapshotNewer     = "snapshot-newer"     // of a version that this program does not know
	CodeSnapshotTruncated = "snapshot-truncated" // shorter or longer than it says
	CodeSnapshotCorrupt   = "snapshot-corrupt"   // something in it contradicts itself or its checksum
	CodeSnapshotCounts    = "snapshot-no-counts" // it only predicts, and cannot be merged or updated
)

// A Snapshot is a compiled graph in a file, mapped into memory. Opening looks at
// the header and the table of sections only, and a section is read when it is
// first needed. It is immutable and safe for concurrent use, and its memory is
// given back when neither it nor a model of it is reachable any more, so that a
// running agent can turn to another one at any time (see [Current]).
//
// Every file is taken for hostile: what contradicts itself is an error, whose
// codes are above, and never a crash. Only a file that another program shortens
// while it is mapped is beyond that; replace files by renaming.
type Snapshot struct {
	file     string
	data     []byte
	sections []sectionEntry
	model    func() (*Model, error)
	mapped   *mapping
}

type sectionEntry struct {
	kind, sum uint32
	data      []byte
}

// mapping is memory that is given back once.
type mapping struct {
	once sync.Once
	m    mmap.MMap
}

func (m *mapping) unmap() {
	m.once.Do(func() { _ = m.m.Unmap() })
}

// Open maps a snapshot. Errors are of type *diag.Error.
func Open(path string) (*Snapshot, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, missing(path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, missing(path, err)
	}
	if info.Size() < headerSize {
		head := make([]byte, info.Size())
		n, _ := f.Read(head)
		return Read(path, head[:n])
	}
	m, err := mmap.Map(f, mmap.RDONLY, 0)
	if err != nil {
		return nil, missing(path, err)
	}
	held := &mapping{m: m}
	s, err := Read(path, m)
	if err != nil {
		held.unmap()
		return nil, err
	}
	s.mapped = held
	runtime.AddCleanup(s, func(held *mapping) { held.unmap() }, held)
	return s, nil
}

func missing(path string, err error) error {
	e := diag.New(diag.Pos{File: path}, CodeSnapshotMissing, "the file cannot be read as a snapshot")
	if err != nil {
		if reason, ok := err.(*fs.PathError); ok {
			err = reason.Err
		}
		e.Msg = "the file cannot be read: " + err.Error()
	}
	return e
}

// Read takes the bytes of a snapshot, which must not change. file is only a name.
func Read(file string, data []byte) (*Snapshot, error) {
	s := &Snapshot{file: file, data: data}
	if len(data) < len(snapshotMagic) || string(data[:len(snapshotMagic)]) != snapshotMagic {
		return nil, s.problem(CodeSnapshotForeign, "this is no snapshot of awo")
	}
	if len(data) < headerSize {
		return nil, s.problem(CodeSnapshotTruncated, "the file ends inside its header")
	}
	if v := binary.LittleEndian.Uint32(data[8:]); v != snapshotVersion {
		return nil, s.problem(CodeSnapshotNewer, "the snapshot is of version %d, and this program reads version %d", v, snapshotVersion)
	}
	n := int(binary.LittleEndian.Uint32(data[12:]))
	if size := binary.LittleEndian.Uint64(data[16:]); size != uint64(len(data)) {
		return nil, s.problem(CodeSnapshotTruncated, "the file has %d bytes and says that it has %d", len(data), size)
	}
	if n > maxSections || headerSize+entrySize*n > len(data) {
		return nil, s.problem(CodeSnapshotCorrupt, "the table of sections does not fit into the file")
	}
	head := data[:headerSize+entrySize*n]
	if headerSum(head) != binary.LittleEndian.Uint32(data[24:]) {
		return nil, s.problem(CodeSnapshotCorrupt, "the header contradicts its checksum")
	}
	for i := range n {
		e := head[headerSize+entrySize*i:]
		at, size := binary.LittleEndian.Uint64(e[8:]), binary.LittleEndian.Uint64(e[16:])
		if at%16 != 0 || at > uint64(len(data)) || size > uint64(len(data))-at || size > math.MaxInt32 {
			return nil, s.problem(CodeSnapshotCorrupt, "a section lies outside of the file")
		}
		s.sections = append(s.sections, sectionEntry{binary.LittleEndian.Uint32(e), binary.LittleEndian.Uint32(e[4:]), data[at : at+size]})
	}
	s.model = sync.OnceValues(s.readModel)
	return s, nil
}

// File returns the name that the snapshot was opened by.
func (s *Snapshot) File() string { return s.file }

func (s *Snapshot) problem(code, format string, args ...any) error {
	return diag.New(diag.Pos{File: s.file}, code, format, args...)
}

// Verify reads everything: every checksum, and that all of it fits together.
func (s *Snapshot) Verify() error {
	for _, e := range s.sections {
		if crc32.Checksum(e.data, castagnoli) != e.sum {
			return s.problem(CodeSnapshotCorrupt, "section %d contradicts its checksum", e.kind)
		}
	}
	m, err := s.Model()
	if err != nil {
		return err
	}
	if !m.sound() {
		return s.problem(CodeSnapshotCorrupt, "the contexts contradict themselves")
	}
	if s.HasCounts() {
		_, err = s.Graph()
	}
	runtime.KeepAlive(s)
	return err
}

// HasCounts reports whether the snapshot can be merged and updated.
func (s *Snapshot) HasCounts() bool {
	return slices.ContainsFunc(s.sections, func(e sectionEntry) bool { return e.kind == sectionCounts })
}

// Close gives the memory back at once. No model of the snapshot may be used
// afterwards; who cannot be sure leaves it to the collector.
func (s *Snapshot) Close() error {
	if s.mapped != nil {
		s.mapped.unmap()
	}
	return nil
}

func (s *Snapshot) section(kind uint32) (*flatTable, error) {
	for _, e := range s.sections {
		if e.kind == kind {
			t := openFlat(e.data)
			if t.err != nil {
				return nil, s.broken(kind)
			}
			return t, nil
		}
	}
	return nil, s.problem(CodeSnapshotCorrupt, "section %d is missing", kind)
}

func (s *Snapshot) broken(kind uint32) error {
	return s.problem(CodeSnapshotCorrupt, "section %d points out of itself, or its columns differ in length", kind)
}

// Model returns the model, whose contexts stay in the file.
func (s *Snapshot) Model() (*Model, error) { return s.model() }

func (s *Snapshot) readModel() (*Model, error) {
	m := &Model{keep: s, symbols: map[trace.Name]uint32{}}
	for _, part := range []struct {
		kind uint32
		read func(*flatTable) bool
	}{
		{sectionInfo, m.readInfo},
		{sectionTools, m.readTools},
		{sectionContexts, m.readContexts},
		{sectionScores, m.readScores},
		{sectionRules, m.readRules},
		{sectionCalibration, m.readCalibration},
	} {
		t, err := s.section(part.kind)
		if err != nil {
			return nil, err
		}
		if !part.read(t) || t.err != nil {
			return nil, s.broken(part.kind)
		}
	}
	return m, nil
}

func (m *Model) readInfo(t *flatTable) bool {
	m.Info = ModelInfo{
		Order: fitting(t.number(0), MaxOrder), Trajectories: t.number(2), Newest: int32(fitting(t.number(3), math.MaxInt32)),
		HalfLife: math.Float64frombits(t.number(4)), NoState: t.number(5) == 1,
	}
	return m.Info.Order >= 1
}

func (m *Model) readTools(t *flatTable) bool {
	names, descriptions, effects := t.texts(0), t.texts(1), t.uints(2)
	counts, calls, from := t.ulongs(3), t.ulongs(4), t.uints(5)
	params, required, present := t.texts(6), t.uints(7), t.ulongs(8)
	n := len(names)
	if len(descriptions) != n || len(effects) != n || len(counts) != 4*n || len(calls) != n ||
		!ranges(from, n, len(params)) || len(required) != len(params) || len(present) != len(params) {
		return false
	}
	first := t.uints(9)
	if len(first) != 0 && len(first) != n {
		return false
	}
	m.tools = make([]Tool, 1, n+1)
	for i := range n {
		tool := Tool{Name: trace.Intern(names[i]), Description: descriptions[i], Effect: Effect(min(effects[i], uint32(EffectWrites))), Counts: countsAt(counts, i), Calls: calls[i]}
		for j := from[i]; j < from[i+1]; j++ {
			tool.Params = append(tool.Params, Param{params[j], required[j] == 1, present[j]})
		}
		m.tools = append(m.tools, tool)
		m.symbols[tool.Name] = uint32(i + 1)
	}
	for i, symbol := range first {
		if symbol == NoneSymbol {
			continue
		}
		var ok bool
		if m.tools[i+1].First, ok = nameAt(m.tools, symbol); !ok {
			return false
		}
	}
	m.noteMeta()
	return true
}

// ranges reports whether from holds the beginnings of n rows in a vector.
func ranges(from []uint32, n, vector int) bool {
	return len(from) == n+1 && from[0] == 0 && int(from[n]) == vector && slices.IsSorted(from)
}

func countsAt(v []uint64, i int) Counts {
	return Counts{OK: v[4*i], Failed: v[4*i+1], Unknown: v[4*i+2], Multiple: v[4*i+3]}
}

func (m *Model) readContexts(t *flatTable) bool {
	m.childFrom, m.childState, m.cellFrom = t.uints(0), t.uints(1), t.uints(2)
	m.cellNext, m.cellShare, m.backoff = t.uints(3), t.doubles(4), t.doubles(5)
	n := len(m.backoff)
	return n > 0 && len(m.childFrom) == n+1 && len(m.childState) == n-1 && len(m.cellFrom) == n+1 && len(m.cellShare) == len(m.cellNext)
}

func (m *Model) readScores(t *flatTable) bool {
	counts := t.ulongs(0)
	if len(counts) != 4*len(m.cellNext) {
		return false
	}
	if len(counts) > 0 {
		// A Counts is four numbers in the order of the file.
		m.cellScore = unsafe.Slice((*Counts)(unsafe.Pointer(&counts[0])), len(m.cellNext))
	}
	return true
}

func (m *Model) readRules(t *flatTable) bool {
	from, params, sides, sources, paths, uses := t.uints(0), t.texts(1), t.uints(2), t.uints(3), t.texts(4), t.ulongs(5)
	n := len(params)
	if !ranges(from, len(m.tools), n) || len(sides) != n || len(sources) != n || len(paths) != n || len(uses) != 2*classes*n {
		return false
	}
	m.rules = make([][]Rule, len(m.tools))
	for s := range m.rules {
		for j := from[s]; j < from[s+1]; j++ {
			r := Rule{Param: params[j], Side: dataflow.Side(min(sides[j], uint32(dataflow.Task))), Path: paths[j]}
			if r.Side <= dataflow.Input {
				var ok bool
				if r.From, ok = nameAt(m.tools, sources[j]); !ok {
					return false
				}
			}
			for c := range classes {
				r.Uses[c] = RuleUse{uses[2*(classes*int(j)+c)], uses[2*(classes*int(j)+c)+1]}
			}
			m.rules[s] = append(m.rules[s], r)
		}
	}
	return true
}

func (m *Model) readCalibration(t *flatTable) bool {
	c := &m.calibration
	c.Examples = fitting(t.number(0), math.MaxInt32)
	weights := t.doubles(1)
	tools, last, state, class, flags := t.uints(2), t.uints(3), t.uints(4), t.uints(5), t.uints(6)
	tried, right := t.ulongs(7), t.ulongs(8)
	n := len(tools)
	if len(weights) != curveTerms || len(last) != n || len(state) != n || len(class) != n || len(flags) != n || len(tried) != n || len(right) != n {
		return false
	}
	copy(c.Weights[:], weights)
	for i := range n {
		p := PlaceCount{Place: Place{State: State(state[i]), Class: Class(class[i]), List: flags[i]&1 != 0, Repeated: flags[i]&2 != 0}, Tried: tried[i], Right: right[i]}
		p.Tool, _ = nameAt(m.tools, tools[i])
		p.Last, _ = nameAt(m.tools, last[i])
		c.Places = append(c.Places, p)
	}
	return slices.IsSortedFunc(c.Places, func(a, b PlaceCount) int { return a.Place.compare(b.Place) })
}

// sound reports whether the contexts are a tree whose probabilities can add up.
func (m *Model) sound() bool {
	n := len(m.backoff)
	if m.childFrom[0] != 1 || int(m.childFrom[n]) != n || !slices.IsSorted(m.childFrom) || !ranges(m.cellFrom, n, len(m.cellNext)) {
		return false
	}
	for i := range n {
		if int(m.childFrom[i]) <= i && m.childFrom[i] != m.childFrom[i+1] || !(m.backoff[i] >= 0 && m.backoff[i] <= 1) {
			return false
		}
	}
	for i, next := range m.cellNext {
		if int(next) >= len(m.tools) || !(m.cellShare[i] >= 0 && m.cellShare[i] <= 1) {
			return false
		}
	}
	return true
}

// Current holds the model that a running agent predicts with, which may change at
// any time. The zero value holds none.
type Current struct{ model atomic.Pointer[Model] }

// Model returns the model as it is now, nil if there is none yet.
func (c *Current) Model() *Model { return c.model.Load() }

// Swap puts another model in its place. Predictions under way go on with the one
// that they began with.
func (c *Current) Swap(m *Model) { c.model.Store(m) }

// Load opens a snapshot, and swaps its model in if it can be read.
func (c *Current) Load(path string) error {
	s, err := Open(path)
	if err != nil {
		return err
	}
	m, err := s.Model()
	if err != nil {
		return err
	}
	c.Swap(m)
	return nil
}
