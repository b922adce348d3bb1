package dataflow

import (
	"maps"
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
	if c.counts == nil {
		c.counts = tally{}
	}
	n := len(c.counts)
	if c.counts[k] > 0 {
		c.counts[k]++
		return
	}
	if n < c.limit && (c.budget == nil || c.budget.used < c.budget.limit || n < minKeys) {
		c.counts[k] = 1
		c.spend(1)
		return
	}
	c.floor++
	for key, count := range c.counts { // what gets to 0 is gone
		if c.counts[key] = count - 1; count == 1 {
			delete(c.counts, key)
		}
	}
	c.spend(len(c.counts) - n)
}

func (c *counter) spend(n int) {
	if c.budget != nil {
		c.budget.used += n
	}
}

// most returns an upper bound of how often k was added.
func (c *counter) most(k uint64) int { return int(c.counts[k] + c.floor) }

// exact reports whether every count is exact.
func (c *counter) exact() bool { return c.floor == 0 }

// tally is counts of keys, none of them 0.
type tally map[uint64]int32

// sorted returns the keys in order.
func (t tally) sorted() []uint64 { return slices.Sorted(maps.Keys(t)) }
