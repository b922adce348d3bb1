package dataflow

import (
	"encoding/binary"
	"sync/atomic"
	"unsafe"

	"github.com/awo-dev/awo/dataflow/jsonvalue"
	"github.com/awo-dev/awo/trace"
)

// block is a packed flow of which everything is unpacked when it is asked for.
type block struct {
	id     string
	calls  int
	turns  []int32
	counts counts
	rest   unpacker // of the flow, behind what is above

	names  []string
	data   []byte // the values of calls
	values []callValue
	parsed []atomic.Pointer[trace.Parsed] // those that were asked for
}

// callValue is where the arguments or the result of a call are in the data of a block.
type callValue struct {
	flags       uint8
	value, flow span // what the call remembers; what the flow has, if that is another
}

// span is a value that is packed.
type span struct{ at, size, values, fields uint32 }

// open returns what pack was given; nil for what it did not make.
func (d *Digest) open(data []byte) *block {
	if len(data) < countsSize {
		return nil
	}
	b := &block{names: d.names.List()}
	n := &b.counts
	for i := range countsSize / 4 {
		(*[countsSize / 4]uint32)(unsafe.Pointer(n))[i] = binary.LittleEndian.Uint32(data[4*i:])
	}
	for _, c := range (*[countsSize / 4]uint32)(unsafe.Pointer(n)) {
		if int64(c) > int64(len(data)) { // each takes a byte at least
			return nil
		}
	}
	if n.front < uint32(countsSize) {
		return nil
	}
	b.data = data[n.front:]
	u := unpacker{Unpacker: jsonvalue.NewUnpacker(data[countsSize:n.front], b.names, 0, 0), slots: d.slots.List()}
	b.id, b.calls = u.Text(), int(u.Uint())
	b.turns, b.values, b.parsed = make([]int32, n.calls), make([]callValue, 2*n.calls), make([]atomic.Pointer[trace.Parsed], 2*n.calls)
	at := uint32(0)
	for i := range b.values {
		v := &b.values[i]
		if v.flags = uint8(u.Uint()); v.flags&isKnown != 0 {
			at = b.span(&u, at, &v.value)
		}
		if v.flow = v.value; v.flags&hasOther != 0 {
			at = b.span(&u, at, &v.flow)
		}
		if i%2 == 1 {
			b.turns[i/2] = int32(u.Int())
		}
	}
	if u.Failed {
		return nil
	}
	b.rest = u
	return b
}

// span reads where a value is, which begins at a place, and returns where it ends.
func (b *block) span(u *unpacker, at uint32, to *span) uint32 {
	size, values, fields := u.Uint(), u.Uint(), u.Uint()
	if left := uint64(len(b.data)) - uint64(at); size > left || values > size || fields > size {
		u.Failed = true
		return at
	}
	*to = span{at, uint32(size), uint32(values), uint32(fields)}
	return at + uint32(size)
}

// unpack returns the value in a span; false for what no packer wrote.
func (b *block) unpack(s span) (v trace.Value, ok bool) {
	u := jsonvalue.NewUnpacker(b.data[s.at:s.at+s.size], b.names, int(s.values), int(s.fields))
	u.Value(&v)
	return v, !u.Failed
}

// known returns what a call remembers, nil for nothing.
func (b *block) known(i int) *trace.Parsed {
	v := &b.values[i]
	if v.flags&isKnown == 0 {
		return nil
	}
	if p := b.parsed[i].Load(); p != nil {
		return p
	}
	value, ok := b.unpack(v.value)
	if !ok {
		return nil
	}
	b.parsed[i].CompareAndSwap(nil, &trace.Parsed{Value: value, OK: v.flags&knownOK != 0})
	return b.parsed[i].Load()
}

// ofFlow returns what the flow has.
func (b *block) ofFlow(i int) trace.Value {
	if v := &b.values[i]; v.flags&hasOther != 0 {
		value, _ := b.unpack(v.flow)
		return value
	}
	if p := b.known(i); p != nil {
		return p.Value
	}
	return trace.Value{}
}

// flow returns the flow, nil for what pack did not make.
func (b *block) flow() *Flow {
	n, u := &b.counts, b.rest
	left := *u.Unpacker
	u.Unpacker = left.WithRoom(int(n.values), int(n.fields))
	u.sourceRoom, u.positionRoom, u.keyRoom, u.wordRoom = make([]Source, n.sources), make([]int, n.positions), make([]Key, n.keys), make([]uint64, n.words)
	f := &Flow{ID: b.id, Calls: b.calls, turns: b.turns, packed: b, Slots: make([]Slot, n.slots), Uses: make([]Use, n.uses)}
	for i := range f.Slots {
		f.Slots[i] = u.slot()
	}
	for i := range f.Uses {
		u.use(&f.Uses[i])
	}
	if u.Failed {
		return nil
	}
	f.evidence = u
	return f
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
