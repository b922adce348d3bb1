package dataflow

import (
	"encoding/binary"
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
func (d *Digest) Memory(i int, id string) trace.Memory { return &memory{d, i, id} }

// Close gives up what is kept.
func (d *Digest) Close() error { return d.blocks.Close() }

// memory is one trajectory of a digest.
type memory struct {
	digest *Digest
	i      int
	id     string
}

func (m *memory) Recall() (values []trace.CallValues, key, value any, ok bool) {
	f, values := m.digest.unpack(m.digest.blocks.At(m.i))
	return values, flowKey{}, f, f != nil && f.ID == m.id
}

// counts are how much of everything is in a packed flow, so that each kind is allocated
// once.
type counts struct {
	calls, values, fields, slots, uses, sources, positions, keys, words uint32
}

const countsSize = int(unsafe.Sizeof(counts{}))

// What is known of the values of a call.
const (
	hasArgs = 1 << iota
	argsOK
	hasResult
	resultOK
	otherArgs   // the flow has others than the call
	otherResult // likewise
)

// pack returns the compact form of a flow of t.
func (d *Digest) pack(t *trace.Trajectory, f *Flow) []byte {
	p := packer{Packer: jsonvalue.Packer{Names: &d.names, Data: make([]byte, countsSize, countsSize+f.size())}, digest: d}
	p.Text(f.ID)
	p.Uint(uint64(f.Calls))
	p.counts.calls = uint32(len(t.Calls))
	for i := range t.Calls {
		p.callValues(t.Calls[i].Known(), &f.values.args[i], &f.values.results[i])
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
	p.counts.values, p.counts.fields = uint32(p.Values), uint32(p.Fields)
	c := (*[countsSize / 4]uint32)(unsafe.Pointer(&p.counts))
	for i, n := range c {
		binary.LittleEndian.PutUint32(p.Data[4*i:], n)
	}
	return append(make([]byte, 0, len(p.Data)), p.Data...)
}

// packer writes flows.
type packer struct {
	jsonvalue.Packer
	digest *Digest
	counts counts
}

// callValues writes the values of a call: those that it remembers, and those of the flow
// where they are others.
func (p *packer) callValues(known trace.CallValues, args, result *trace.Value) {
	flags := 0
	if known.Args != nil {
		flags |= hasArgs
		if known.Args.OK {
			flags |= argsOK
		}
	}
	if known.Result != nil {
		flags |= hasResult
		if known.Result.OK {
			flags |= resultOK
		}
	}
	if known.Args == nil || !isSame(&known.Args.Value, args) {
		flags |= otherArgs
	}
	if known.Result == nil || !isSame(&known.Result.Value, result) {
		flags |= otherResult
	}
	p.Uint(uint64(flags))
	if flags&hasArgs != 0 {
		p.Value(&known.Args.Value)
	}
	if flags&otherArgs != 0 {
		p.Value(args)
	}
	if flags&hasResult != 0 {
		p.Value(&known.Result.Value)
	}
	if flags&otherResult != 0 {
		p.Value(result)
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

// unpack returns what pack was given; nil for what it did not make.
func (d *Digest) unpack(block []byte) (*Flow, []trace.CallValues) {
	if len(block) < countsSize {
		return nil, nil
	}
	var n counts
	for i := range countsSize / 4 {
		(*[countsSize / 4]uint32)(unsafe.Pointer(&n))[i] = binary.LittleEndian.Uint32(block[4*i:])
	}
	for _, c := range (*[countsSize / 4]uint32)(unsafe.Pointer(&n)) {
		if int64(c) > int64(len(block)) { // each takes a byte at least
			return nil, nil
		}
	}
	u := unpacker{
		Unpacker: jsonvalue.NewUnpacker(block[countsSize:], d.names.List(), int(n.values), int(n.fields)), slots: d.slots.List(),
		sourceRoom: make([]Source, n.sources), positionRoom: make([]int, n.positions), keyRoom: make([]Key, n.keys), wordRoom: make([]uint64, n.words),
	}
	f := &Flow{ID: u.Text(), Calls: int(u.Uint()), turns: make([]int32, n.calls), values: newValues(int(n.calls)), Slots: make([]Slot, n.slots), Uses: make([]Use, n.uses)}
	values, room := make([]trace.CallValues, n.calls), make([]trace.Parsed, 2*n.calls)
	for i := range values {
		values[i] = u.callValues(room[2*i:], &f.values.args[i], &f.values.results[i])
		f.turns[i] = int32(u.Int())
	}
	for i := range f.Slots {
		f.Slots[i] = u.slot()
	}
	for i := range f.Uses {
		u.use(&f.Uses[i])
	}
	if u.Failed {
		return nil, nil
	}
	f.evidence = u
	return f, values
}

// unpacker reads flows.
type unpacker struct {
	*jsonvalue.Unpacker
	slots []Slot

	sourceRoom   []Source
	positionRoom []int
	keyRoom      []Key
	wordRoom     []uint64
}

func (u *unpacker) callValues(room []trace.Parsed, args, result *trace.Value) (known trace.CallValues) {
	flags := u.Uint()
	if flags&hasArgs != 0 {
		known.Args = &room[0]
		known.Args.OK = flags&argsOK != 0
		u.Value(&known.Args.Value)
		*args = known.Args.Value
	}
	if flags&otherArgs != 0 {
		*args = trace.Value{}
		u.Value(args)
	}
	if flags&hasResult != 0 {
		known.Result = &room[1]
		known.Result.OK = flags&resultOK != 0
		u.Value(&known.Result.Value)
		*result = known.Result.Value
	}
	if flags&otherResult != 0 {
		*result = trace.Value{}
		u.Value(result)
	}
	return known
}

func (u *unpacker) slot() Slot {
	n := u.Uint()
	switch {
	case n == 0:
		return Slot{Side: Side(u.Uint()), Tool: u.tool(), Path: u.Text()}
	case n > uint64(len(u.slots)):
		u.Failed = true
		return Slot{}
	}
	return u.slots[n-1]
}

func (u *unpacker) tool() trace.Name {
	if u.Uint() == 0 {
		return noTool
	}
	return trace.Intern(u.Name())
}

func (u *unpacker) use(to *Use) {
	to.Call, to.Param = int(u.Uint()), int(u.Uint())
	to.Positions = u.positions()
	to.Kind = trace.Kind(u.Uint())
	flags := u.Uint()
	to.Whole, to.Short, to.empty, to.Seen.Normalized = flags&useWhole != 0, flags&useShort != 0, flags&useEmpty != 0, flags&useNormalized != 0
	to.Value = u.Hash()
	to.Seen.Turn, to.Seen.Side, to.Seen.Index = u.Int(), Side(u.Uint()), int(u.Uint())
	n := u.Int()
	if n > len(u.sourceRoom) {
		u.Failed = true
	}
	if n < 0 || u.Failed {
		return
	}
	to.Sources, u.sourceRoom = u.sourceRoom[:n:n], u.sourceRoom[n:]
	for i := range to.Sources {
		u.source(&to.Sources[i])
	}
}

func (u *unpacker) positions() []int {
	n := u.Count()
	if n > len(u.positionRoom) {
		u.Failed = true
	}
	if n == 0 || u.Failed {
		return nil
	}
	list := u.positionRoom[:n:n]
	u.positionRoom = u.positionRoom[n:]
	for i := range list {
		list[i] = int(u.Uint())
	}
	return list
}

func (u *unpacker) source(to *Source) {
	to.Slot, to.Relation, to.Call = int(u.Uint()), Relation(u.Uint()), int(u.Uint())
	calls := u.Uint()
	to.Calls, to.Echo = int(calls>>1), calls&1 != 0
	to.Positions = u.positions()
	n := u.Count()
	if n > len(u.keyRoom) || u.Failed {
		u.Failed = true
		return
	}
	if n > 0 {
		to.Keys, u.keyRoom = u.keyRoom[:n:n], u.keyRoom[n:]
	}
	for i := range to.Keys {
		k := &to.Keys[i]
		k.Step, k.Name = int(u.Uint()), u.Name()
		u.Value(&k.Value)
		k.Arg, k.Input = u.Int(), u.Int()
	}
	to.Before, to.After, to.Template = u.Text(), u.Text(), u.Name()
	to.Part, to.value = int(u.Uint()), u.Hash()
	if n = u.Count(); n > len(u.wordRoom) || u.Failed {
		u.Failed = true
		return
	}
	if n > 0 {
		to.words, u.wordRoom = u.wordRoom[:n:n], u.wordRoom[n:]
	}
	for i := range to.words {
		to.words[i] = u.Hash()
	}
}

// weigh reads what only Links asks for, if that has not been done. One goroutine at a time
// may call it.
func (f *Flow) weigh() {
	u := f.evidence
	if u.Unpacker == nil {
		return
	}
	f.evidence = unpacker{}
	for _, list := range [...]*[]content{&f.contents, &f.words} {
		if n := u.Count(); n > 0 {
			*list = make([]content, n)
		}
		for i := range *list {
			(*list)[i] = content{int32(u.Uint()), u.Hash()}
		}
	}
	if n := u.Count(); n > 0 {
		f.full = make([]int32, n)
	}
	for i := range f.full {
		f.full[i] = int32(u.Uint())
	}
	if n := u.Count(); n > 0 {
		f.given = make([]given, n)
	}
	for i := range f.given {
		f.given[i] = given{Side(u.Uint()), u.tool(), int32(u.Uint())}
	}
	if n := u.Count(); n > 0 {
		f.same = make([]samePair, n)
	}
	for i := range f.same {
		f.same[i] = samePair{int32(u.Uint()), int32(u.Uint()), int32(u.Uint())}
	}
	f.dropped = int(u.Uint())
}
