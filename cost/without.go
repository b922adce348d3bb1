package cost

import (
	"slices"
	"sort"
)

// Without returns what the trajectory would have cost without some turns: removed
// are their indices, each once, in rising order; added are the tokens of further
// definitions, which every turn that is left reads (negative: fewer).
//
// A removed turn saves its input and its output, and every later turn no longer
// reads that output; results stay in the context, as the next turn that is left
// needs them. With a cache, a token costs in each turn what it cost at its place
// in the prompt: what a turn sends beyond the turn before it is not in the cache,
// so what a removed turn would have written, the next turn that is left writes, or
// reads at the full price. Added definitions stand in front of everything, at the
// price of what the turn has there.
//
// A context that shrinks was rebuilt (compaction), and nothing said before is read
// again after it. Indices out of range are ignored. The time is O(turns log turns).
func (a *Account) Without(removed []int, added int64) Totals {
	var sum Totals
	a.without(removed, added, func(t *Turn) { sum.Add(t.one(a.meter.prices[t.price])) })
	return sum
}

// Left returns the account of what is left without some turns, as Without takes
// them: its turns are those that are left, in order, and its definitions those that
// were recorded. What the traces record of costs is not in it.
func (a *Account) Left(removed []int) *Account {
	out := &Account{Turns: make([]Turn, 0, len(a.Turns)), Definitions: a.Definitions, Offered: a.Offered, meter: a.meter}
	a.without(removed, 0, func(t *Turn) { out.Turns = append(out.Turns, *t) })
	for i, found := range a.found {
		if _, gone := slices.BinarySearch(removed, i); !gone {
			out.found = append(out.found, found)
		}
	}
	return out
}

// without calls do with each turn that is left, as it then is.
func (a *Account) without(removed []int, added int64, do func(*Turn)) {
	var (
		gone   gaps
		before int64 // tokens that the turn left before this one, or a cache from outside, holds
		last   = -1  // index of that turn in the context at hand
		next   int
	)
	for i := range a.Turns {
		t := &a.Turns[i]
		if i == 0 || t.Input < a.Turns[i-1].Input {
			gone.reset()
			before, last = int64(t.Cached), i-1
		}
		for next < len(removed) && removed[next] < i {
			next++
		}
		if next < len(removed) && removed[next] == i {
			gone.add(int64(t.Input), int64(t.Reread))
			continue
		}
		do(t.left(&gone, before, last == i-1, added))
		before, last = int64(t.Input), i
	}
}

// left returns the turn without the gaps. If turns just before it were removed,
// its cache holds no more than before.
func (t *Turn) left(gone *gaps, before int64, adjacent bool, added int64) *Turn {
	cached, written := int64(t.Cached), int64(t.Cached)+int64(t.Write)
	if !adjacent {
		moved := cached - min(cached, before)
		cached -= moved
		if t.Write == 0 {
			written = cached
		}
	}
	out := *t
	input := int64(t.Input) - gone.upTo(int64(t.Input))
	toCache := written - gone.upTo(written)
	fromCache := cached - gone.upTo(cached)
	switch {
	case fromCache > 0:
		fromCache += added
		toCache += added
	case toCache > 0:
		toCache += added
	}
	out.Input, out.Cached = tokens32(input+added), tokens32(fromCache)
	out.Write = tokens32(toCache - fromCache)
	out.Cached = min(out.Cached, out.Input)
	out.Write = min(out.Write, out.Input-out.Cached)
	return &out
}

// gaps is the places in a growing context where the output of removed turns
// stood, in rising order and apart from each other.
type gaps struct {
	starts []int64
	sums   []int64 // lengths of the gaps before and with each
}

func (g *gaps) reset() { g.starts, g.sums = g.starts[:0], g.sums[:0] }

// add notes a gap of n tokens from a place on, or from the end of the last gap.
func (g *gaps) add(start, n int64) {
	if k := len(g.starts); k > 0 {
		start = max(start, g.starts[k-1]+g.length(k-1))
		n += g.sums[k-1]
	}
	g.starts, g.sums = append(g.starts, start), append(g.sums, n)
}

func (g *gaps) length(i int) int64 {
	if i == 0 {
		return g.sums[0]
	}
	return g.sums[i] - g.sums[i-1]
}

// upTo returns how many of the first n tokens are gone.
func (g *gaps) upTo(n int64) int64 {
	i := sort.Search(len(g.starts), func(i int) bool { return g.starts[i] >= n }) - 1
	if i < 0 {
		return 0
	}
	return g.sums[i] - max(g.length(i)-(n-g.starts[i]), 0)
}

// Saving returns what is saved by removing turns, as Without takes them, with
// further definitions in every turn that is left: negative where those cost more.
func (a *Account) Saving(removed []int, added int64) Totals {
	if !slices.IsSorted(removed) {
		removed = slices.Sorted(slices.Values(removed))
	}
	return a.Total().Less(a.Without(removed, added))
}
