package dataflow

import (
	"iter"
	"slices"
)

// counter counts keys in bounded memory (Misra and Gries 1982): exactly while
// there are at most limit different ones; then a key's true count lies between
// what is stored and that plus floor, where floor is at most the number of
// additions divided by limit+1. What matters here, keys that are frequent, is
// kept.
type counter struct {
	counts tally
	floor  int32
	total  int // additions
	limit  int
	budget *budget
}

// budget is the number of keys that many counters may have together.
type budget struct{ used, limit int }

// minKeys is how many keys a counter may have whatever the budget.
const minKeys = 16

// add counts k once.
func (c *counter) add(k uint64) {
	c.total++
	at := c.counts.place(k)
	if at != nil && at.count > 0 {
		at.count++
		return
	}
	if n := c.counts.kept; n < c.limit && (c.budget == nil || c.budget.used < c.budget.limit || n < minKeys) {
		c.counts.insert(at, k, 1)
		c.spend(1)
		return
	}
	c.floor++
	c.spend(-c.counts.lower())
}

func (c *counter) spend(n int) {
	if c.budget != nil {
		c.budget.used += n
	}
}

// most returns an upper bound of how often k was added.
func (c *counter) most(k uint64) int { return int(c.counts.of(k) + c.floor) }

// exact reports whether every count is exact.
func (c *counter) exact() bool { return c.floor == 0 }

// tally is counts of keys, none of them 0: open addressing, with a key beside its count,
// because nearly all additions are to another counter than the one before and touch memory
// that is far away. The zero value is empty.
type tally struct {
	slots []tallied
	kept  int // keys
}

// tallied is twelve bytes: with the key in one number it would be sixteen.
type tallied struct {
	low, high uint32 // of the key
	count     int32  // 0 for a free place
}

func (s *tallied) key() uint64 { return uint64(s.high)<<32 | uint64(s.low) }

// place returns where a key is, or belongs; nil if there is no place at all.
func (t *tally) place(k uint64) *tallied {
	if len(t.slots) == 0 {
		return nil
	}
	mask := uint64(len(t.slots) - 1)
	for i := k & mask; ; i = (i + 1) & mask {
		if s := &t.slots[i]; s.key() == k || s.count == 0 {
			return s
		}
	}
}

// insert adds a key that is not there, whose place is at.
func (t *tally) insert(at *tallied, k uint64, n int32) {
	if 4*(t.kept+1) > 3*len(t.slots) {
		old := t.slots
		t.slots = make([]tallied, max(4, 2*len(old)))
		for i := range old {
			if s := &old[i]; s.count > 0 {
				*t.place(s.key()) = *s
			}
		}
		at = t.place(k)
	}
	*at = tallied{uint32(k), uint32(k >> 32), n}
	t.kept++
}

// lower takes one off every count, and returns how many keys are gone with that.
func (t *tally) lower() (gone int) {
	left := make([]tallied, 0, t.kept)
	for _, s := range t.slots {
		if s.count > 1 {
			s.count--
			left = append(left, s)
		}
	}
	gone = t.kept - len(left)
	clear(t.slots)
	for _, s := range left {
		*t.place(s.key()) = s
	}
	t.kept = len(left)
	return gone
}

// len returns how many keys there are.
func (t *tally) len() int { return t.kept }

// of returns the count of a key.
func (t *tally) of(k uint64) int32 {
	if at := t.place(k); at != nil {
		return at.count
	}
	return 0
}

// all yields keys and counts, in no order that means anything.
func (t *tally) all() iter.Seq2[uint64, int32] {
	return func(yield func(uint64, int32) bool) {
		for i := range t.slots {
			if s := &t.slots[i]; s.count > 0 && !yield(s.key(), s.count) {
				return
			}
		}
	}
}

// sorted returns the keys in order.
func (t *tally) sorted() []uint64 {
	keys := make([]uint64, 0, t.kept)
	for k := range t.all() {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
