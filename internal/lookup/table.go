// Package lookup finds numbers by 64-bit keys in inner loops.
//
// Keys and numbers come in, numbers go out. A table is in memory as a whole, 12 bytes
// for each place. It deletes nothing and is not safe for concurrent use.
package lookup

// A Table finds numbers by key: open addressing in one slice, because most lookups are of
// keys that are not in it and should touch one cache line. Keys are hashes, or what [Pair]
// makes of two numbers. The zero value is empty.
type Table struct {
	keys  []uint64
	ids   []int32
	count int
	zero  int32 // what is stored under the key 0, plus one
}

// Pair returns a key that no other pair has. The bits of both numbers are in all of it.
func Pair(a, b uint32) uint64 {
	k := (uint64(a)<<32 | uint64(b)) * 0x9e3779b97f4a7c15
	return k ^ k>>32
}

// Len returns how many keys are in the table.
func (x *Table) Len() int { return x.count }

// Reset empties the table and keeps its memory.
func (x *Table) Reset() {
	// A table that one large use has blown up is not cleared for every small one
	// after it.
	if len(x.keys) > 1024 && len(x.keys) > 16*x.count {
		*x = Table{}
		return
	}
	if x.count > 0 {
		clear(x.keys)
	}
	x.count, x.zero = 0, 0
}

// Find returns the number stored under a key, or -1.
func (x *Table) Find(key uint64) int32 {
	if x.count == 0 {
		return -1
	}
	if key == 0 { // marks an empty place
		return x.zero - 1
	}
	mask := uint64(len(x.keys) - 1)
	for i := key & mask; ; i = (i + 1) & mask {
		switch x.keys[i] {
		case key:
			return x.ids[i]
		case 0:
			return -1
		}
	}
}

// Insert stores id under key unless something is stored there already, and returns what
// is stored then.
func (x *Table) Insert(key uint64, id int32) int32 {
	if 4*(x.count+1) > 3*len(x.keys) {
		x.grow()
	}
	if key == 0 {
		if x.zero == 0 {
			x.zero = id + 1
			x.count++
		}
		return x.zero - 1
	}
	mask := uint64(len(x.keys) - 1)
	for i := key & mask; ; i = (i + 1) & mask {
		switch x.keys[i] {
		case key:
			return x.ids[i]
		case 0:
			x.keys[i], x.ids[i] = key, id
			x.count++
			return id
		}
	}
}

func (x *Table) grow() {
	old := *x
	size := max(8, 2*len(old.keys))
	*x = Table{keys: make([]uint64, size), ids: make([]int32, size), count: old.count, zero: old.zero}
	mask := uint64(size - 1)
	for j, key := range old.keys {
		if key == 0 {
			continue
		}
		i := key & mask
		for x.keys[i] != 0 {
			i = (i + 1) & mask
		}
		x.keys[i], x.ids[i] = key, old.ids[j]
	}
}
