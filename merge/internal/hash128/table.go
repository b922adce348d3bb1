package merge

import (
	"math/bits"
)

// table numbers hashes by first appearance, in 16 bytes a hash and 5 to 7.5 for
// finding it. The zero value is ready to use.
//
// Slots hold the number plus one in their low bits, and in the bits left over a
// tag of the hash, so that looking at the wrong hash, a cache miss, is rare.
// The number of slots grows by half and is no power of two: doubling would
// leave more slots empty than the memory bound allows.
type table struct {
	hashes  [][]hash
	n       int
	slots   []uint32
	numBits uint   // low bits of a slot that hold a number
	touched uint32 // keeps the loads of touch from being optimised away
}

const (
	tableChunkBits = 12
	maxNumber      = 1<<31 - 1
)

// len returns how many hashes have a number.
func (t *table) len() int { return t.n }

func (t *table) at(i uint32) hash {
	return t.hashes[i>>tableChunkBits][i&(1<<tableChunkBits-1)]
}

// number returns the number of h, a new one if h was not known, and whether it
// was.
func (t *table) number(h hash) (n uint32, known bool) {
	if (t.n+1)*5 > len(t.slots)*4 {
		t.grow()
	}
	slot, n, known := t.find(h)
	if !known {
		if t.n >= maxNumber {
			panic("merge: more than 2^31 states")
		}
		t.slots[slot] = t.entry(h, uint32(t.n))
		t.append(h)
	}
	return n, known
}

// find looks h up: its number, or the slot for it and the number it would get.
func (t *table) find(h hash) (slot int, n uint32, known bool) {
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

// touch loads what looking up these hashes next will need. The loads do not
// wait for each other, as those of one look-up after the other do: in a table
// larger than the processor's caches that wait is most of the time.
func (t *table) touch(hashes []hash) {
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
		if entry != 0 && entry>>t.numBits == uint32(hashes[i].lo)>>t.numBits {
			sum += uint32(t.at(entry&mask - 1).lo)
		}
	}
	t.touched = sum
}

// home is the first slot for h: the high bits of h scaled to the slots.
func (t *table) home(h hash) int {
	slot, _ := bits.Mul64(h.hi, uint64(len(t.slots)))
	return int(slot)
}

func (t *table) entry(h hash, n uint32) uint32 {
	return uint32(h.lo)>>t.numBits<<t.numBits | (n + 1)
}

func (t *table) append(h hash) {
	part := t.n >> tableChunkBits
	switch {
	case part == len(t.hashes) && part == 0:
		t.hashes = append(t.hashes, nil) // the first one grows: most tables are small
	case part == len(t.hashes):
		t.hashes = append(t.hashes, make([]hash, 0, 1<<tableChunkBits))
	}
	t.hashes[part] = append(t.hashes[part], h)
	t.n++
}

func (t *table) grow() {
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

// hashSet is a set that is emptied in no time: what one walk has seen.
type hashSet struct {
	slots []hashSlot
	epoch uint32
	n     int
}

type hashSlot struct {
	hash  hash
	epoch uint32
}

func (s *hashSet) reset() {
	s.n = 0
	if s.epoch++; s.epoch == 0 || s.slots == nil {
		s.slots = make([]hashSlot, max(32, len(s.slots)))
		s.epoch = 1
	}
}

// add puts h into the set and reports whether it is new there.
func (s *hashSet) add(h hash) bool {
	if 2*s.n >= len(s.slots) {
		old := s.slots
		s.slots = make([]hashSlot, 2*len(old))
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
	*slot = hashSlot{h, s.epoch}
	s.n++
	return true
}

func (s *hashSet) find(h hash) *hashSlot {
	mask := uint64(len(s.slots) - 1)
	for i := h.lo; ; i++ {
		if slot := &s.slots[i&mask]; slot.epoch != s.epoch || slot.hash == h {
			return slot
		}
	}
}
