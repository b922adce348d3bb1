package dataflow

import (
	"encoding/binary"
	"sync"
	"unsafe"

	"github.com/awo-dev/awo/dataflow/jsonvalue"
	"github.com/awo-dev/awo/trace"
)

// A Digest keeps flows of trajectories, and the values of their calls, in a compact form: for
// those who read the same traces several times, and have not the memory to keep what they
// worked out. It takes about a third of what a Flow does in memory, and is in a temporary
// file but for its beginning.
//
// The flows are added in the order of a reading. Later readings give the trajectories what
// [Digest.Memory] returns for them. It holds values of arguments and results, as the traces
// do, and its file has no name while it is used and is gone with the program.
type Digest struct {
	blocks trace.Blocks
	names  jsonvalue.Dictionary[string] // of members
	slots  jsonvalue.Dictionary[Slot]
	rooms  sync.Pool // of *packRoom
}

// Bounds of a digest.
const (
	digestMemory  = 4 << 20  // bytes in memory
	digestFile    = 4 << 30  // bytes in all
	digestEntries = 1 << 16  // names, and places, that have a number
	digestFlow    = 32 << 20 // bytes of a flow in memory; a larger one is not kept
)

// NewDigest returns an empty digest, whose file will be in a folder, "" for the system's.
func NewDigest(folder string) *Digest {
	return &Digest{
		blocks: trace.Blocks{Folder: folder, Room: digestMemory, Most: digestFile},
		names:  jsonvalue.Dictionary[string]{Most: digestEntries}, slots: jsonvalue.Dictionary[Slot]{Most: digestEntries},
	}
}

// Pack returns the compact form of t's flow, which it collects if t does not remember it;
// empty for one that is too large. It may be called concurrently.
func (d *Digest) Pack(t *trace.Trajectory, c *Collector) []byte {
	f := c.Collect(t)
	if f.size() > digestFlow {
		return nil
	}
	return d.pack(t, f)
}

// Add keeps what Pack returned, in the order of the trajectories.
func (d *Digest) Add(packed []byte) { d.blocks.Add(packed) }

// End ends adding. It reports whether there is anything to remember.
func (d *Digest) End() bool { return d.blocks.Flush() && d.blocks.Len() > 0 }

// Memory returns what is kept of a trajectory, which was the i-th, from 0. What there is of
// another one it does not know.
func (d *Digest) Memory(i int, id string) trace.Memory { return &memory{digest: d, i: i, id: id} }

// Close gives up what is kept.
func (d *Digest) Close() error { return d.blocks.Close() }

// memory is one trajectory of a digest.
type memory struct {
	digest *Digest
	i      int
	id     string
	block  *block // once Open was called
}

func (m *memory) Open() int {
	if m.block = m.digest.open(m.digest.blocks.At(m.i)); m.block == nil || m.block.id != m.id {
		return -1
	}
	return len(m.block.turns)
}

func (m *memory) Value(call int, isResult bool) *trace.Parsed {
	at := 2 * call
	if isResult {
		at++
	}
	return m.block.known(at)
}

func (m *memory) Recall(key any) (any, bool) {
	if key != (flowKey{}) {
		return nil, false
	}
	f := m.block.flow()
	return f, f != nil
}

// counts are how much of everything is in a packed flow, so that each kind is allocated
// once.
type counts struct {
	front                                                               uint32 // bytes before the values of calls
	calls, values, fields, slots, uses, sources, positions, keys, words uint32
}

const countsSize = int(unsafe.Sizeof(counts{}))

// What is known of the arguments or the result of a call.
const (
	isKnown = 1 << iota
	knownOK
	hasOther // the flow has another value than the call
)

// pack returns the compact form of a flow of t.
func (d *Digest) pack(t *trace.Trajectory, f *Flow) []byte {
	room, _ := d.rooms.Get().(*packRoom)
	if room == nil {
		room = &packRoom{flow: make([]byte, countsSize)}
	}
	p := packer{Packer: jsonvalue.Packer{Names: &d.names, Data: room.flow[:countsSize]}, digest: d, calls: jsonvalue.Packer{Names: &d.names, Data: room.calls[:0]}}
	p.Text(f.ID)
	p.Uint(uint64(f.Calls))
	p.counts.calls = uint32(len(t.Calls))
	for i := range t.Calls {
		args, result := t.Calls[i].Known()
		p.callValue(args, f.Arguments(i))
		p.callValue(result, f.Result(i))
		p.Int(int(f.turns[i]))
	}
	p.counts.slots = uint32(len(f.Slots))
	for _, s := range f.Slots {
		p.slot(s)
	}
	p.counts.uses = uint32(len(f.Uses))
	for i := range f.Uses {
		p.use(&f.Uses[i])
	}
	p.evidence(f)
	p.counts.values, p.counts.fields, p.counts.front = uint32(p.Values), uint32(p.Fields), uint32(len(p.Data))
	c := (*[countsSize / 4]uint32)(unsafe.Pointer(&p.counts))
	for i, n := range c {
		binary.LittleEndian.PutUint32(p.Data[4*i:], n)
	}
	room.flow, room.calls = p.Data, p.calls.Data
	defer d.rooms.Put(room)
	return append(append(make([]byte, 0, len(p.Data)+len(p.calls.Data)), p.Data...), p.calls.Data...)
}

// packRoom is memory that pack uses again.
type packRoom struct{ flow, calls []byte }

// packer writes flows.
type packer struct {
	jsonvalue.Packer
	digest *Digest
	counts counts
	calls  jsonvalue.Packer // the values of calls, which are behind all else
}

// callValue writes the arguments or the result of a call: what it remembers, and what the
// flow has where that is another.
func (p *packer) callValue(known *trace.Parsed, of trace.Value) {
	flags := 0
	if known != nil {
		if flags |= isKnown; known.OK {
			flags |= knownOK
		}
	}
	if known == nil || !isSame(&known.Value, &of) {
		flags |= hasOther
	}
	p.Uint(uint64(flags))
	if known != nil {
		p.span(&known.Value)
	}
	if flags&hasOther != 0 {
		p.span(&of)
	}
}

// span writes a value behind all else, and what it takes.
func (p *packer) span(v *trace.Value) {
	c := &p.calls
	size, values, fields := len(c.Data), c.Values, c.Fields
	c.Value(v)
	for _, n := range [...]int{len(c.Data) - size, c.Values - values, c.Fields - fields} {
		p.Uint(uint64(n))
	}
}

// isSame reports whether two values are copies of one.
func isSame(a, b *trace.Value) bool {
	return a.Kind == b.Kind && a.Bool == b.Bool && len(a.Text) == len(b.Text) && unsafe.StringData(a.Text) == unsafe.StringData(b.Text) &&
		len(a.Elems) == len(b.Elems) && unsafe.SliceData(a.Elems) == unsafe.SliceData(b.Elems) &&
		len(a.Members) == len(b.Members) && unsafe.SliceData(a.Members) == unsafe.SliceData(b.Members)
}

func (p *packer) slot(s Slot) {
	n := uint64(0)
	if len(s.Path) <= maxValue {
		n = p.digest.slots.Number(s)
	}
	if p.Uint(n); n > 0 {
		return
	}
	p.Uint(uint64(s.Side))
	p.tool(s.Tool)
	p.Text(s.Path)
}

// tool writes the name of a tool, which may be none.
func (p *packer) tool(name trace.Name) {
	if name == noTool {
		p.Uint(0)
		return
	}
	p.Uint(1)
	p.Name(name.Value())
}

// What is true of a use.
const (
	useWhole = 1 << iota
	useShort
	useEmpty
	useNormalized
)

func (p *packer) use(u *Use) {
	p.Uint(uint64(u.Call))
	p.Uint(uint64(u.Param))
	p.positions(u.Positions)
	p.Uint(uint64(u.Kind))
	flags := 0
	for i, is := range [...]bool{u.Whole, u.Short, u.empty, u.Seen.Normalized} {
		if is {
			flags |= 1 << i
		}
	}
	p.Uint(uint64(flags))
	p.Hash(u.Value)
	p.Int(u.Seen.Turn)
	p.Uint(uint64(u.Seen.Side))
	p.Uint(uint64(u.Seen.Index))
	if u.Sources == nil {
		p.Int(-1)
	} else {
		p.Int(len(u.Sources))
	}
	p.counts.sources += uint32(len(u.Sources))
	for i := range u.Sources {
		p.source(&u.Sources[i])
	}
}

func (p *packer) positions(list []int) {
	p.Uint(uint64(len(list)))
	p.counts.positions += uint32(len(list))
	for _, n := range list {
		p.Uint(uint64(n))
	}
}

func (p *packer) source(s *Source) {
	p.Uint(uint64(s.Slot))
	p.Uint(uint64(s.Relation))
	p.Uint(uint64(s.Call))
	echo := uint64(0)
	if s.Echo {
		echo = 1
	}
	p.Uint(uint64(s.Calls)<<1 | echo)
	p.positions(s.Positions)
	p.Uint(uint64(len(s.Keys)))
	p.counts.keys += uint32(len(s.Keys))
	for i := range s.Keys {
		k := &s.Keys[i]
		p.Uint(uint64(k.Step))
		p.Name(k.Name)
		p.Value(&k.Value)
		p.Int(k.Arg)
		p.Int(k.Input)
	}
	p.Text(s.Before)
	p.Text(s.After)
	p.Name(s.Template)
	p.Uint(uint64(s.Part))
	p.Hash(s.value)
	p.Uint(uint64(len(s.words)))
	p.counts.words += uint32(len(s.words))
	for _, h := range s.words {
		p.Hash(h)
	}
}

// evidence writes what only Links asks for.
func (p *packer) evidence(f *Flow) {
	for _, list := range [...][]content{f.contents, f.words} {
		p.Uint(uint64(len(list)))
		for _, c := range list {
			p.Uint(uint64(c.slot))
			p.Hash(c.hash)
		}
	}
	p.Uint(uint64(len(f.full)))
	for _, slot := range f.full {
		p.Uint(uint64(slot))
	}
	p.Uint(uint64(len(f.given)))
	for _, g := range f.given {
		p.Uint(uint64(g.side))
		p.tool(g.tool)
		p.Uint(uint64(g.turn))
	}
	p.Uint(uint64(len(f.same)))
	for _, s := range f.same {
		p.Uint(uint64(s.param))
		p.Uint(uint64(s.source))
		p.Uint(uint64(s.count))
	}
	p.Uint(uint64(f.dropped))
}
