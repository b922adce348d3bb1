// Package lookup finds numbers by 64-bit keys.
//
// Keys and numbers come in, numbers go out. A table is in memory as a whole. It deletes
// nothing and is not safe for concurrent use.
package lookup

// A Table finds numbers by key. The zero value is empty.
type Table struct{ ids map[uint64]int32 }

// Pair returns a key that no other pair has.
func Pair(a, b uint32) uint64 { return uint64(a)<<32 | uint64(b) }

// Len returns how many keys are in the table.
func (x *Table) Len() int { return len(x.ids) }

// keptKeys is how many keys a table may have had to keep its memory.
const keptKeys = 1 << 16

// Reset empties the table and keeps its memory, unless that is much.
func (x *Table) Reset() {
	if len(x.ids) > keptKeys {
		x.ids = nil
	}
	clear(x.ids)
}

// Find returns the number stored under a key, or -1.
func (x *Table) Find(key uint64) int32 {
	if id, is := x.ids[key]; is {
		return id
	}
	return -1
}

// Insert stores id under key unless something is stored there already, and returns what
// is stored then.
func (x *Table) Insert(key uint64, id int32) int32 {
	if old, is := x.ids[key]; is {
		return old
	}
	if x.ids == nil {
		x.ids = map[uint64]int32{}
	}
	x.ids[key] = id
	return id
}
