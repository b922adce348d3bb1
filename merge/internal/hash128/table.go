package hash128

import (
	"math/bits"
)

// Table numbers hashes by first appearance, in 16 bytes a hash and 5 to 7.5 for
// finding it. The zero value is ready to use.
//
// Slots hold the number plus one in their low bits, and in the bits left over a
// tag of the Hash, so that looking at the wrong hash, a cache miss, is rare.
// The number of slots grows by half and is no power of two: doubling would
// leave more slots empty than the memory bound allows.
type Table struct {
	hashes  [][]Hash
	n       int
	slots   []uint32
	numBits uint   // low bits of a slot that hold a number
	touched uint32 // keeps the loads of touch from being optimised away
}

const (
	tableChunkBits = 12
	maxNumber      = 1<<31 - 1
)

// Len returns how many hashes have a number.
func (t *Table) Len() int { return t.n }

func (t *Table) at(i uint32) Hash {
	return t.hashes[i>>tableChunkBits][i&(1<<tableChunkBits-1)]
}

// Number returns the number of h, a new one if h was not known, and whether it
// was.
func (t *Table) Number(h Hash) (n uint32, known bool) {
	if (t.n+1)*5 > len(t.slots)*4 {
		t.grow()
	}
	slot, n, known := t.slot(h)
	if !known {
		if t.n >= maxNumber {
			panic("hash128: more than 2^31 hashes")
		}
		t.slots[slot] = t.entry(h, uint32(t.n))
		t.append(h)
	}
	return n, known
}

// Find returns the number of h, if it has one.
func (t *Table) Find(h Hash) (n uint32, known bool) {
	_, n, known = t.slot(h)
	return n, known
}

// slot looks h up: its number, or the slot for it and the number it would get.
func (t *Table) slot(h Hash) (slot int, n uint32, known bool) {
	if len(t.slots) == 0 {
		return 0, 0, false
	}
	tag := t.entry(h, 0) >> t.numBits
	mask := uint32(1)<<t.numBits - 1
	for slot = t.home(h); ; slot++ {
		if slot == len(t.slots) {
			slot = 0
		}
		entry := t.slots[slot]
		if entry == 0 {
			return slot, uint32(t.n), false
		}
		if entry>>t.numBits == tag {
			if n := entry&mask - 1; t.at(n) == h {
				return slot, n, true
			}
		}
	}
}

// Touch loads what looking up these hashes next will need. The loads do not
// wait for each other, as those of one look-up after the other do: in a table
// larger than the processor's caches that wait is most of the time.
func (t *Table) Touch(hashes []Hash) {
	if len(t.slots) == 0 {
		return
	}
	sum := uint32(0)
	for i := range hashes {
		sum += t.slots[t.home(hashes[i])]
	}
	mask := uint32(1)<<t.numBits - 1
	for i := range hashes {
		entry := t.slots[t.home(hashes[i])]
		if entry != 0 && entry>>t.numBits == uint32(hashes[i].Lo)>>t.numBits {
			sum += uint32(t.at(entry&mask - 1).Lo)
		}
	}
	t.touched = sum
}

// home is the first slot for h: the high bits of h scaled to the slots.
func (t *Table) home(h Hash) int {
	slot, _ := bits.Mul64(h.Hi, uint64(len(t.slots)))
	return int(slot)
}

func (t *Table) entry(h Hash, n uint32) uint32 {
	return uint32(h.Lo)>>t.numBits<<t.numBits | (n + 1)
}

func (t *Table) append(h Hash) {
	part := t.n >> tableChunkBits
	switch {
	case part == len(t.hashes) && part == 0:
		t.hashes = append(t.hashes, nil) // the first one grows: most tables are small
	case part == len(t.hashes):
		t.hashes = append(t.hashes, make([]Hash, 0, 1<<tableChunkBits))
	}
	t.hashes[part] = append(t.hashes[part], h)
	t.n++
}

func (t *Table) grow() {
	size := max(16, len(t.slots)+len(t.slots)/2)
	t.slots = make([]uint32, size)
	t.numBits = uint(bits.Len(uint(size)))
	for n := range t.n {
		h := t.at(uint32(n))
		slot := t.home(h)
		for t.slots[slot] != 0 {
			if slot++; slot == size {
				slot = 0
			}
		}
		t.slots[slot] = t.entry(h, uint32(n))
	}
}

// Set is a set that is emptied in no time: what one walk has seen.
type Set struct {
	slots []setSlot
	epoch uint32
	n     int
}

type setSlot struct {
	hash  Hash
	epoch uint32
}

// Reset empties the set.
func (s *Set) Reset() {
	s.n = 0
	if s.epoch++; s.epoch == 0 || s.slots == nil {
		s.slots = make([]setSlot, max(32, len(s.slots)))
		s.epoch = 1
	}
}

// Add puts h into the set and reports whether it is new there.
func (s *Set) Add(h Hash) bool {
	if 2*s.n >= len(s.slots) {
		old := s.slots
		s.slots = make([]setSlot, 2*len(old))
		for _, slot := range old {
			if slot.epoch == s.epoch {
				*s.find(slot.hash) = slot
			}
		}
	}
	slot := s.find(h)
	if slot.epoch == s.epoch {
		return false
	}
	*slot = setSlot{h, s.epoch}
	s.n++
	return true
}

func (s *Set) find(h Hash) *setSlot {
	mask := uint64(len(s.slots) - 1)
	for i := h.Lo; ; i++ {
		if slot := &s.slots[i&mask]; slot.epoch != s.epoch || slot.hash == h {
			return slot
		}
	}
}
