package dataflow

// counter counts keys in bounded memory (Misra and Gries 1982): exactly while
// there are at most limit different ones; then a key's true count lies between
// what is stored and that plus floor, where floor is at most the number of
// additions divided by limit+1. What matters here, keys that are frequent, is
// kept.
type counter[K comparable] struct {
	counts map[K]int32
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
func (c *counter[K]) add(k K) {
	c.total++
	if n, ok := c.counts[k]; ok {
		c.counts[k] = n + 1
		return
	}
	if c.counts == nil {
		c.counts = map[K]int32{}
	}
	if len(c.counts) < c.limit && (c.budget == nil || c.budget.used < c.budget.limit || len(c.counts) < minKeys) {
		c.counts[k] = 1
		c.spend(1)
		return
	}
	c.floor++
	for other, n := range c.counts {
		if n == 1 {
			delete(c.counts, other)
			c.spend(-1)
		} else {
			c.counts[other] = n - 1
		}
	}
}

func (c *counter[K]) spend(n int) {
	if c.budget != nil {
		c.budget.used += n
	}
}

// most returns an upper bound of how often k was added.
func (c *counter[K]) most(k K) int { return int(c.counts[k] + c.floor) }

// exact reports whether every count is exact.
func (c *counter[K]) exact() bool { return c.floor == 0 }
