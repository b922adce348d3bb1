package cost

import (
	"time"

	"github.com/awo-dev/awo/trace"
)

// What providers' prompt caches need: OpenAI and Anthropic keep prefixes of 1,024 tokens and
// more, for five minutes after they were last read.
const (
	minCached    = 1024
	cacheFor     = 5 * time.Minute
	cachedBefore = 0.9 // of the list price without a cache: who paid less had one
)

// Cache says what a provider's prompt cache did for a trajectory, or would have done.
type Cache struct {
	// Off says that no turn records input that was read from a cache or written to one,
	// although prefixes repeat.
	Off bool

	// Unsaid says that a cache was on, by what was paid, and that the usage does not say so.
	Unsaid bool

	Turns  []int   // that read again, at the full price, what a cache could have held
	Tokens int64   // that they read so
	Paid   float64 // what a cache would have saved; negative where writing costs more
	Priced bool    // a price is known for them

	fixed map[int]Turn
}

// Turn returns what turn i of a costs where the cache is as it could be.
func (c *Cache) Turn(a *Account, i int) Totals {
	if t, ok := c.fixed[i]; ok {
		return t.one(a.Price(i))
	}
	return a.Turn(i)
}

// Caching returns what prompt caching did for the trajectory t, whose account a is. A turn
// can read from a cache what the turn before it sent, if that is long enough, was sent less
// than five minutes ago where times are recorded, and was not rebuilt. Where a cache is on,
// a turn that read less than half of that counts as one that did not. Usage that is
// estimated says nothing.
func (a *Account) Caching(t *trace.Trajectory) *Cache {
	c := &Cache{fixed: map[int]Turn{}}
	if len(a.Turns) == 0 || a.Estimated() > 0 {
		return c
	}
	off := true
	for i := range a.Turns {
		off = off && a.Turns[i].Cached == 0 && a.Turns[i].Write == 0
	}
	if list := a.Total(); off && a.RecordedTurns == len(a.Turns) && list.Unpriced == 0 && a.RecordedUSD < cachedBefore*list.USD {
		c.Unsaid = true
		return c
	}
	for i := range a.Turns {
		if from := a.reread(t, i); from > 0 && int(a.Turns[i].Cached) < from/2 {
			c.add(a, i, int32(from))
		}
	}
	if c.Off = off && len(c.Turns) > 0; c.Off {
		c.fill(a) // a cache that is turned on is written to, too
	}
	return c
}

// reread returns how many tokens turn i reads that the turn before it had sent and that a
// cache could hold, 0 if none.
func (a *Account) reread(t *trace.Trajectory, i int) int {
	if i == 0 || i >= len(t.Turns) {
		return 0
	}
	before, at := &a.Turns[i-1], &a.Turns[i]
	last, now := t.Turns[i-1].End, t.Turns[i].Start
	if last.IsZero() {
		last = t.Turns[i-1].Start
	}
	p := a.Price(i)
	switch {
	case before.Input < minCached || at.Input < before.Input || at.model != before.model:
		return 0
	case p != nil && !p.HasCached:
		return 0 // the provider has none, or it is not known
	case !last.IsZero() && !now.IsZero() && now.Sub(last) > cacheFor:
		return 0
	}
	return int(before.Input)
}

func (c *Cache) add(a *Account, i int, cached int32) {
	t := a.Turns[i]
	c.Turns = append(c.Turns, i)
	c.Tokens += int64(cached - t.Cached)
	t.Cached = cached
	if p := a.Price(i); p != nil {
		c.Priced = true
		if t.Write = 0; p.Write > 0 {
			t.Write = t.Input - t.Cached
		}
		c.Paid += a.Turn(i).Paid - t.one(p).Paid
	}
	c.fixed[i] = t
}

// fill charges the turns that are left for what they write.
func (c *Cache) fill(a *Account) {
	for i := range a.Turns {
		t, p := a.Turns[i], a.Price(i)
		if _, ok := c.fixed[i]; ok || p == nil || p.Write == 0 || t.Input < minCached {
			continue
		}
		t.Write = t.Input
		c.Paid += a.Turn(i).Paid - t.one(p).Paid
		c.fixed[i] = t
	}
}
