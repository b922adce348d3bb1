package inertia

import (
	"cmp"
	"encoding/binary"
	"hash/crc32"
	"math"
	"slices"

	"github.com/awo-dev/awo/trace"
)

// The file of a snapshot: a header of 32 bytes, a table of sections, and the
// sections, each a FlatBuffer of snapshot.fbs that begins at a multiple of 16.
//
//	0   magic, 8 bytes
//	8   version, number of sections (uint32 each)
//	16  size of the file (uint64)
//	24  CRC-32 (Castagnoli) of the bytes 0-23 and the table; 4 bytes of zero
//	32  the table: kind, CRC-32 of the section (uint32), offset, length (uint64)
//
// All numbers are little-endian.
const (
	snapshotMagic   = "AWOinert"
	snapshotVersion = 1
	headerSize      = 32
	entrySize       = 24
	maxSections     = 64
)

// The kinds of sections.
const (
	sectionInfo uint32 = iota + 1
	sectionTools
	sectionContexts
	sectionScores
	sectionRules
	sectionCalibration
	sectionCounts
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// AppendSnapshot appends the file of m to dst. With the graph that it was made of
// the file can be merged and updated; without it, nil, it only predicts. Equal
// graphs and models give equal bytes.
func (m *Model) AppendSnapshot(dst []byte, g *Graph) []byte {
	type section struct {
		kind uint32
		data []byte
	}
	sections := []section{
		{sectionInfo, m.encodeInfo(g)},
		{sectionTools, m.encodeTools()},
		{sectionContexts, m.encodeContexts()},
		{sectionScores, m.encodeScores()},
		{sectionRules, m.encodeRules()},
		{sectionCalibration, m.encodeCalibration()},
	}
	if g != nil {
		sections = append(sections, section{sectionCounts, g.encode()})
	}
	header := make([]byte, headerSize+entrySize*len(sections))
	copy(header, snapshotMagic)
	binary.LittleEndian.PutUint32(header[8:], snapshotVersion)
	binary.LittleEndian.PutUint32(header[12:], uint32(len(sections)))
	at := align16(len(header))
	for i, s := range sections {
		e := header[headerSize+entrySize*i:]
		binary.LittleEndian.PutUint32(e, s.kind)
		binary.LittleEndian.PutUint32(e[4:], crc32.Checksum(s.data, castagnoli))
		binary.LittleEndian.PutUint64(e[8:], uint64(at))
		binary.LittleEndian.PutUint64(e[16:], uint64(len(s.data)))
		at = align16(at + len(s.data))
	}
	binary.LittleEndian.PutUint64(header[16:], uint64(at))
	binary.LittleEndian.PutUint32(header[24:], headerSum(header))
	begin := len(dst)
	dst = append(dst, header...)
	for _, s := range sections {
		dst = append(dst, make([]byte, begin+align16(len(dst)-begin)-len(dst))...)
		dst = append(dst, s.data...)
	}
	return append(dst, make([]byte, begin+at-len(dst))...)
}

func align16(n int) int { return (n + 15) &^ 15 }

// headerSum is the checksum of a header and its table.
func headerSum(header []byte) uint32 {
	return crc32.Update(crc32.Checksum(header[:24], castagnoli), castagnoli, header[headerSize:])
}

func (m *Model) encodeInfo(g *Graph) []byte {
	w := newFlatWriter()
	order := m.Info.Order
	if g != nil {
		order = g.order
	}
	w.number(uint64(m.Info.Order))
	w.number(uint64(order))
	w.number(m.Info.Trajectories)
	w.number(uint64(m.Info.Newest))
	w.double(m.Info.HalfLife)
	w.number(uint64(flag(m.Info.NoState)))
	return w.bytes()
}

func flag(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

func (m *Model) encodeTools() []byte {
	var names, descriptions, params []string
	var effects, required, first []uint32
	var counts, calls, present []uint64
	composed := false
	from := []uint32{0}
	for i := range m.Tools() {
		t := &m.Tools()[i]
		names, descriptions = append(names, t.Name.Value()), append(descriptions, t.Description)
		effects = append(effects, uint32(t.Effect))
		first, composed = append(first, m.symbols[t.First]), composed || t.First != noName
		counts = appendCounts(counts, t.Counts)
		calls = append(calls, t.Calls)
		for _, p := range t.Params {
			params, required, present = append(params, p.Name), append(required, flag(p.Required)), append(present, p.Present)
		}
		from = append(from, uint32(len(params)))
	}
	w := newFlatWriter()
	w.texts(names)
	w.texts(descriptions)
	w.uints(effects)
	w.ulongs(counts)
	w.ulongs(calls)
	w.uints(from)
	w.texts(params)
	w.uints(required)
	w.ulongs(present)
	if composed {
		w.uints(first)
	}
	return w.bytes()
}

func appendCounts(to []uint64, c Counts) []uint64 {
	return append(to, c.OK, c.Failed, c.Unknown, c.Multiple)
}

func (m *Model) encodeContexts() []byte {
	w := newFlatWriter()
	w.uints(m.childFrom)
	w.uints(m.childState)
	w.uints(m.cellFrom)
	w.uints(m.cellNext)
	w.doubles(m.cellShare)
	w.doubles(m.backoff)
	return w.bytes()
}

func (m *Model) encodeScores() []byte {
	var counts []uint64
	for _, c := range m.cellScore {
		counts = appendCounts(counts, c)
	}
	w := newFlatWriter()
	w.ulongs(counts)
	return w.bytes()
}

func (m *Model) encodeRules() []byte {
	var params, paths []string
	var sides, sources []uint32
	var uses []uint64
	from := []uint32{0}
	for s := range m.rules {
		for i := range m.rules[s] {
			r := &m.rules[s][i]
			params, paths = append(params, r.Param), append(paths, r.Path)
			sides, sources = append(sides, uint32(r.Side)), append(sources, m.symbols[r.From])
			for _, u := range r.Uses {
				uses = append(uses, u.Tried, u.Right)
			}
		}
		from = append(from, uint32(len(params)))
	}
	w := newFlatWriter()
	w.uints(from)
	w.texts(params)
	w.uints(sides)
	w.uints(sources)
	w.texts(paths)
	w.ulongs(uses)
	return w.bytes()
}

func (m *Model) encodeCalibration() []byte {
	c := &m.calibration
	var tools, last, state, class, flags []uint32
	var tried, right []uint64
	for _, p := range c.Places {
		tools, last = append(tools, m.symbols[p.Tool]), append(last, m.symbols[p.Last])
		state, class = append(state, uint32(p.State)), append(class, uint32(p.Class))
		flags = append(flags, flag(p.List)|flag(p.Repeated)<<1)
		tried, right = append(tried, p.Tried), append(right, p.Right)
	}
	w := newFlatWriter()
	w.number(uint64(c.Examples))
	w.doubles(c.Weights[:])
	w.uints(tools)
	w.uints(last)
	w.uints(state)
	w.uints(class)
	w.uints(flags)
	w.ulongs(tried)
	w.ulongs(right)
	return w.bytes()
}

// encode writes the counts of a graph, its tools and contexts numbered as those of
// a model: equal graphs give equal bytes.
func (g *Graph) encode() []byte {
	g = g.bounded()
	order, renumbered := g.sorted()
	parents, symbols, nodes := g.breadthFirst(renumbered)
	type numbered struct {
		cell
		counts Counts
	}
	cells := make([]numbered, 0, len(g.cells))
	for i := range g.cells {
		c := &g.cells[i]
		cells = append(cells, numbered{cell{nodes[c.node], renumbered[c.next], c.period}, c.counts})
	}
	slices.SortFunc(cells, func(a, b numbered) int {
		return cmp.Or(cmp.Compare(a.node, b.node), cmp.Compare(a.next, b.next), cmp.Compare(a.period, b.period))
	})
	var cellNode, cellNext, cellPeriod []uint32
	var counts []uint64
	for _, c := range cells {
		cellNode, cellNext, cellPeriod = append(cellNode, c.node), append(cellNext, c.next), append(cellPeriod, uint32(c.period))
		counts = appendCounts(counts, c.counts)
	}
	w := newFlatWriter()
	w.uints(parents)
	w.uints(symbols)
	w.uints(cellNode)
	w.uints(cellNext)
	w.uints(cellPeriod)
	w.ulongs(counts)
	g.encodeDependencies(w, renumbered)
	var schema []uint32
	var required []string
	from := []uint32{0}
	for _, s := range order {
		schema = append(schema, flag(g.tools[s].schema))
		required = append(required, sortedKeys(g.tools[s].required)...)
		from = append(from, uint32(len(required)))
	}
	w.uints(schema)
	w.uints(from)
	w.texts(required)
	return w.bytes()
}

// breadthFirst numbers contexts in the order of their symbols.
func (g *Graph) breadthFirst(renumbered []uint32) (parents, symbols, nodes []uint32) {
	children := make([][]uint32, len(g.parents))
	symbol := func(n uint32) uint32 {
		e := g.parents[n]
		if e.node == 0 || e.symbol == startSymbol {
			return e.symbol
		}
		return renumbered[e.symbol]
	}
	for n := 1; n < len(g.parents); n++ {
		children[g.parents[n].node] = append(children[g.parents[n].node], uint32(n))
	}
	nodes = make([]uint32, len(g.parents))
	queue := []uint32{0}
	for i := 0; i < len(queue); i++ {
		below := children[queue[i]]
		slices.SortFunc(below, func(a, b uint32) int { return cmp.Compare(symbol(a), symbol(b)) })
		for _, n := range below {
			nodes[n] = uint32(len(queue))
			queue = append(queue, n)
			parents, symbols = append(parents, uint32(i)), append(symbols, symbol(n))
		}
	}
	return parents, symbols, nodes
}

func (g *Graph) encodeDependencies(w *flatWriter, renumbered []uint32) {
	type numbered struct {
		dependency
		param, path string
		uses        ruleCounts
	}
	deps := make([]numbered, 0, len(g.deps))
	for i := range g.deps {
		d := g.deps[i].dependency
		d.tool, d.from = renumbered[d.tool], renumbered[d.from]
		deps = append(deps, numbered{d, g.texts[d.param], g.texts[d.path], g.deps[i].worth})
	}
	slices.SortFunc(deps, func(a, b numbered) int {
		return cmp.Or(cmp.Compare(a.tool, b.tool), cmp.Compare(a.param, b.param), cmp.Compare(a.side, b.side),
			cmp.Compare(a.from, b.from), cmp.Compare(a.path, b.path), cmp.Compare(a.class, b.class))
	})
	var tools, sides, from, classes []uint32
	var params, paths []string
	var uses []uint64
	for _, d := range deps {
		tools, sides, from, classes = append(tools, d.tool), append(sides, uint32(d.side)), append(from, d.from), append(classes, uint32(d.class))
		params, paths = append(params, d.param), append(paths, d.path)
		uses = append(uses, d.uses.tried, d.uses.right)
	}
	w.uints(tools)
	w.texts(params)
	w.uints(sides)
	w.uints(from)
	w.texts(paths)
	w.uints(classes)
	w.ulongs(uses)
}

// fitting limits what a file says to what can be.
func fitting(v uint64, most int) int { return int(min(v, uint64(max(most, 0)), math.MaxInt32)) }

func nameAt(tools []Tool, symbol uint32) (trace.Name, bool) {
	if symbol == 0 || int(symbol) >= len(tools) {
		return noName, false
	}
	return tools[symbol].Name, true
}
