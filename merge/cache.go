package merge

import (
	"github.com/awo-dev/awo/merge/internal/hash128"
)

// planCache remembers plans by a hash of all that they depend on, in two
// generations: when the young one is full it becomes the old one, and what is
// asked for again is young again. So it holds between one and two times its
// limit, and what is used often stays.
type planCache struct {
	young, old planSlots
	limit      int // of one generation
}

// find returns the plan of the key, nil if it is not remembered.
func (c *planCache) find(key hash128.Hash) *plan {
	if p := c.young.find(key); p != nil {
		return p
	}
	if p := c.old.find(key); p != nil {
		c.add(key, p)
		return p
	}
	return nil
}

// add remembers a plan whose key is not in the young generation.
func (c *planCache) add(key hash128.Hash, p *plan) {
	if c.young.n >= c.limit {
		c.old, c.young = c.young, c.old
		clear(c.young.slots)
		c.young.n = 0
	}
	c.young.add(key, p)
}

// planSlots is open addressing in a power of two of slots, at most three quarters
// of them used.
type planSlots struct {
	slots []planSlot
	n     int
}

type planSlot struct {
	key  hash128.Hash
	plan *plan // nil: free
}

func (s *planSlots) find(key hash128.Hash) *plan {
	if s.n == 0 {
		return nil
	}
	return s.home(key).plan
}

// home is the slot of the key, or the free one where it belongs.
func (s *planSlots) home(key hash128.Hash) *planSlot {
	mask := uint64(len(s.slots) - 1)
	for i := key.Lo; ; i++ {
		if slot := &s.slots[i&mask]; slot.plan == nil || slot.key == key {
			return slot
		}
	}
}

func (s *planSlots) add(key hash128.Hash, p *plan) {
	if 4*s.n >= 3*len(s.slots) {
		old := s.slots
		s.slots = make([]planSlot, max(64, 2*len(old)))
		for _, slot := range old {
			if slot.plan != nil {
				*s.home(slot.key) = slot
			}
		}
	}
	*s.home(key) = planSlot{key, p}
	s.n++
}
