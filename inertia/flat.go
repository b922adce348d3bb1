package inertia

import (
	"encoding/binary"
	"errors"
	"math"
	"unsafe"

	flatbuffers "github.com/google/flatbuffers/go"
)

// errFlat is a FlatBuffer that points out of itself. Its words are those of
// whoever knows the file.
var errFlat = errors.New("a table points out of its section")

// flatTable reads a FlatBuffer of one table, as snapshot.fbs has them, and trusts
// no offset in it.
//
// Note: the accessors of the FlatBuffers library index slices by offsets from the
// file, and panic where those are wrong.
type flatTable struct {
	data []byte
	at   uint32 // of the table
	view uint32 // of its vtable
	size uint32 // of its vtable
	err  error  // the first thing that was wrong
}

func openFlat(data []byte) *flatTable {
	t := &flatTable{data: data}
	t.at = t.u32(0)
	back := int64(t.at) - int64(int32(t.u32(t.at)))
	if back < 0 || back > int64(len(data)) {
		t.err = errFlat
		return t
	}
	t.view = uint32(back)
	t.size = uint32(t.u16(t.view))
	return t
}

func (t *flatTable) u16(at uint32) uint16 {
	if int64(at)+2 > int64(len(t.data)) {
		t.err = errFlat
		return 0
	}
	return binary.LittleEndian.Uint16(t.data[at:])
}

func (t *flatTable) u32(at uint32) uint32 {
	if int64(at)+4 > int64(len(t.data)) {
		t.err = errFlat
		return 0
	}
	return binary.LittleEndian.Uint32(t.data[at:])
}

// field returns where a field stands, 0 if it is left out.
func (t *flatTable) field(slot int) uint32 {
	entry := uint32(4 + 2*slot)
	if t.err != nil || entry+2 > t.size {
		return 0
	}
	offset := t.u16(t.view + entry)
	if offset == 0 {
		return 0
	}
	return t.at + uint32(offset)
}

// number returns a ulong.
func (t *flatTable) number(slot int) uint64 {
	at := t.field(slot)
	if at == 0 {
		return 0
	}
	if int64(at)+8 > int64(len(t.data)) {
		t.err = errFlat
		return 0
	}
	return binary.LittleEndian.Uint64(t.data[at:])
}

// vector returns the bytes of a vector with elements of a size, and how many they
// are.
func (t *flatTable) vector(slot int, size int64) ([]byte, int) {
	at := t.field(slot)
	if at == 0 {
		return nil, 0
	}
	return t.vectorAt(at, size)
}

func (t *flatTable) vectorAt(at uint32, size int64) ([]byte, int) {
	start := int64(at) + int64(t.u32(at))
	if t.err != nil || start+4 > int64(len(t.data)) {
		t.err = errFlat
		return nil, 0
	}
	n := int64(t.u32(uint32(start)))
	if start+4+n*size > int64(len(t.data)) {
		t.err = errFlat
		return nil, 0
	}
	return t.data[start+4 : start+4+n*size], int(n)
}

// littleEndian says whether this machine's numbers are those of the file.
var littleEndian = func() bool {
	x := uint16(1)
	return *(*byte)(unsafe.Pointer(&x)) == 1
}()

// numbers returns n elements of size bytes as they stand in data, if they are
// aligned, else decoded.
func numbers[T uint32 | uint64 | float64](data []byte, n int, decode func([]byte) T) []T {
	if n == 0 {
		return nil
	}
	size := int(unsafe.Sizeof(T(0)))
	if p := unsafe.Pointer(&data[0]); littleEndian && uintptr(p)%uintptr(size) == 0 {
		return unsafe.Slice((*T)(p), n)
	}
	out := make([]T, n)
	for i := range out {
		out[i] = decode(data[i*size:])
	}
	return out
}

func (t *flatTable) uints(slot int) []uint32 {
	data, n := t.vector(slot, 4)
	return numbers(data, n, binary.LittleEndian.Uint32)
}

func (t *flatTable) ulongs(slot int) []uint64 {
	data, n := t.vector(slot, 8)
	return numbers(data, n, binary.LittleEndian.Uint64)
}

func (t *flatTable) doubles(slot int) []float64 {
	data, n := t.vector(slot, 8)
	return numbers(data, n, func(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) })
}

// texts returns a vector of strings, copied out of the file.
func (t *flatTable) texts(slot int) []string {
	at := t.field(slot)
	if at == 0 {
		return nil
	}
	start := int64(at) + int64(t.u32(at))
	_, n := t.vectorAt(at, 4)
	out := make([]string, 0, n)
	known := map[*byte]string{} // many elements may share one text
	for i := range n {
		text, size := t.vectorAt(uint32(start)+4+4*uint32(i), 1)
		if t.err != nil {
			return nil
		}
		if size == 0 {
			out = append(out, "")
			continue
		}
		s, ok := known[&text[0]]
		if !ok {
			s = string(text)
			known[&text[0]] = s
		}
		out = append(out, s)
	}
	return out
}

// flatWriter builds a FlatBuffer of one table, slot by slot.
type flatWriter struct {
	b     *flatbuffers.Builder
	slots []func(slot int)
}

func newFlatWriter() *flatWriter { return &flatWriter{b: flatbuffers.NewBuilder(1 << 10)} }

func (w *flatWriter) number(v uint64) {
	w.slots = append(w.slots, func(slot int) { w.b.PrependUint64Slot(slot, v, 0) })
}

func (w *flatWriter) double(v float64) { w.number(math.Float64bits(v)) }

func (w *flatWriter) offset(at flatbuffers.UOffsetT) {
	w.slots = append(w.slots, func(slot int) { w.b.PrependUOffsetTSlot(slot, at, 0) })
}

func (w *flatWriter) uints(v []uint32) {
	w.b.StartVector(4, len(v), 4)
	for i := len(v) - 1; i >= 0; i-- {
		w.b.PrependUint32(v[i])
	}
	w.offset(w.b.EndVector(len(v)))
}

func (w *flatWriter) ulongs(v []uint64) {
	w.b.StartVector(8, len(v), 8)
	for i := len(v) - 1; i >= 0; i-- {
		w.b.PrependUint64(v[i])
	}
	w.offset(w.b.EndVector(len(v)))
}

func (w *flatWriter) doubles(v []float64) {
	w.b.StartVector(8, len(v), 8)
	for i := len(v) - 1; i >= 0; i-- {
		w.b.PrependFloat64(v[i])
	}
	w.offset(w.b.EndVector(len(v)))
}

func (w *flatWriter) texts(v []string) {
	at := make([]flatbuffers.UOffsetT, len(v))
	for i, s := range v {
		at[i] = w.b.CreateSharedString(s)
	}
	w.b.StartVector(4, len(v), 4)
	for i := len(v) - 1; i >= 0; i-- {
		w.b.PrependUOffsetT(at[i])
	}
	w.offset(w.b.EndVector(len(v)))
}

// bytes ends the table.
func (w *flatWriter) bytes() []byte {
	w.b.StartObject(len(w.slots))
	for i, set := range w.slots {
		set(i)
	}
	w.b.Finish(w.b.EndObject())
	return w.b.FinishedBytes()
}
