package jsonvalue

import (
	"encoding/binary"
	"sync"
	"unsafe"

	"github.com/awo-dev/awo/trace"
)

// A Dictionary gives what repeats a number, so that a compact form holds the number in its
// place. It may be used concurrently. The zero value is empty.
type Dictionary[T comparable] struct {
	Most int // entries; there is no room for more

	mutex   sync.RWMutex
	numbers map[T]uint64
	list    []T
}

// Number returns the number of x, from 1, or 0 if there is no room for it.
func (d *Dictionary[T]) Number(x T) uint64 {
	d.mutex.RLock()
	n, full := d.numbers[x], len(d.list) >= d.Most
	d.mutex.RUnlock()
	if n > 0 || full {
		return n
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if n = d.numbers[x]; n > 0 || len(d.list) >= d.Most {
		return n
	}
	if d.numbers == nil {
		d.numbers = map[T]uint64{}
	}
	d.list = append(d.list, x)
	n = uint64(len(d.list))
	d.numbers[x] = n
	return n
}

// List returns all that has a number, in order.
func (d *Dictionary[T]) List() []T {
	d.mutex.RLock()
	defer d.mutex.RUnlock()
	return d.list
}

// longName is how long the name of a member may be to be in a dictionary.
const longName = 128

// Packer writes values and numbers in a compact form, which an Unpacker with the names of
// its dictionary reads.
type Packer struct {
	Names  *Dictionary[string]
	Data   []byte
	Values int // elements of arrays that were written
	Fields int // members of objects
}

// Uint writes a number.
func (p *Packer) Uint(n uint64) { p.Data = binary.AppendUvarint(p.Data, n) }

// Int writes a number that is -1 or more.
func (p *Packer) Int(n int) { p.Uint(uint64(n + 1)) }

// Hash writes eight bytes.
func (p *Packer) Hash(h uint64) { p.Data = binary.LittleEndian.AppendUint64(p.Data, h) }

// Text writes a text.
func (p *Packer) Text(s string) {
	p.Uint(uint64(len(s)))
	p.Data = append(p.Data, s...)
}

// Name writes a text that probably repeats.
func (p *Packer) Name(s string) {
	n := uint64(0)
	if len(s) <= longName {
		n = p.Names.Number(s)
	}
	if p.Uint(n); n == 0 {
		p.Text(s)
	}
}

// packedTrue is what stands for the kind of a true.
const packedTrue = 0xff

// Value writes a value.
func (p *Packer) Value(v *trace.Value) {
	if v.Kind == trace.Bool && v.Bool {
		p.Data = append(p.Data, packedTrue)
		return
	}
	p.Data = append(p.Data, byte(v.Kind))
	switch v.Kind {
	case trace.Number, trace.String:
		p.Text(v.Text)
	case trace.Array:
		p.Uint(uint64(len(v.Elems)))
		p.Values += len(v.Elems)
		for i := range v.Elems {
			p.Value(&v.Elems[i])
		}
	case trace.Object:
		p.Uint(uint64(len(v.Members)))
		p.Fields += len(v.Members)
		for i := range v.Members {
			p.Name(v.Members[i].Name)
			p.Value(&v.Members[i].Value)
		}
	}
}

// Unpacker reads what a Packer wrote. What it returns holds on to the bytes. After bytes that
// no Packer wrote Failed is true, and what is returned means nothing.
type Unpacker struct {
	Failed bool

	names  []string
	data   string
	values []trace.Value
	fields []trace.Member
}

// NewUnpacker returns an Unpacker of data, which nobody may change any more, with so many
// elements of arrays and members of objects.
func NewUnpacker(data []byte, names []string, values, fields int) *Unpacker {
	u := &Unpacker{names: names, data: unsafe.String(unsafe.SliceData(data), len(data))}
	if values < 0 || fields < 0 || values > len(data) || fields > len(data) { // each takes a byte at least
		u.Failed = true
		return u
	}
	u.values, u.fields = make([]trace.Value, values), make([]trace.Member, fields)
	return u
}

// WithRoom returns an Unpacker of what is left, with room for so many elements of arrays and
// members of objects.
func (u *Unpacker) WithRoom(values, fields int) *Unpacker {
	return &Unpacker{Failed: u.Failed, names: u.names, data: u.data, values: make([]trace.Value, values), fields: make([]trace.Member, fields)}
}

// Rest returns how many bytes are left.
func (u *Unpacker) Rest() int { return len(u.data) }

// Uint reads a number.
func (u *Unpacker) Uint() uint64 {
	var n uint64
	for i := 0; i < len(u.data) && i < binary.MaxVarintLen64; i++ {
		b := u.data[i]
		n |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			u.data = u.data[i+1:]
			return n
		}
	}
	u.fail()
	return 0
}

func (u *Unpacker) fail() { u.Failed, u.data = true, "" }

// Int reads what Packer.Int wrote.
func (u *Unpacker) Int() int { return int(u.Uint()) - 1 }

// Count reads a number of things that take a byte each at least.
func (u *Unpacker) Count() int {
	n := u.Uint()
	if n > uint64(len(u.data)) {
		u.fail()
		return 0
	}
	return int(n)
}

// Hash reads eight bytes.
func (u *Unpacker) Hash() uint64 {
	d := u.data
	if len(d) < 8 {
		u.fail()
		return 0
	}
	u.data = d[8:]
	return uint64(d[0]) | uint64(d[1])<<8 | uint64(d[2])<<16 | uint64(d[3])<<24 | uint64(d[4])<<32 | uint64(d[5])<<40 | uint64(d[6])<<48 | uint64(d[7])<<56
}

// Text reads a text.
func (u *Unpacker) Text() string {
	n := u.Count()
	s := u.data[:n]
	u.data = u.data[n:]
	return s
}

// Name reads what Packer.Name wrote.
func (u *Unpacker) Name() string {
	n := u.Uint()
	switch {
	case n == 0:
		return u.Text()
	case n > uint64(len(u.names)):
		u.fail()
		return ""
	}
	return u.names[n-1]
}

// Value reads a value.
func (u *Unpacker) Value(to *trace.Value) {
	if u.data == "" {
		u.fail()
		return
	}
	kind := u.data[0]
	u.data = u.data[1:]
	if kind == packedTrue {
		to.Kind, to.Bool = trace.Bool, true
		return
	}
	to.Kind = trace.Kind(kind)
	switch to.Kind {
	case trace.Null, trace.Bool:
	case trace.Number, trace.String:
		to.Text = u.Text()
	case trace.Array:
		n := u.Count()
		if n > len(u.values) {
			u.fail()
			return
		}
		if n == 0 {
			return
		}
		to.Elems, u.values = u.values[:n:n], u.values[n:]
		for i := range to.Elems {
			u.Value(&to.Elems[i])
		}
	case trace.Object:
		n := u.Count()
		if n > len(u.fields) {
			u.fail()
			return
		}
		if n == 0 {
			return
		}
		to.Members, u.fields = u.fields[:n:n], u.fields[n:]
		for i := range to.Members {
			to.Members[i].Name = u.Name()
			u.Value(&to.Members[i].Value)
		}
	default:
		u.fail()
	}
}
