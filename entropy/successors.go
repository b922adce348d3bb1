package entropy

import (
	"cmp"
	"slices"

	"github.com/awo-dev/awo/entropy/ngram"
	"github.com/awo-dev/awo/internal/stat"
)

// A Successor is a symbol that followed a context.
type Successor struct {
	Symbol   uint32        `json:"symbol"`
	N        uint64        `json:"n"`
	Share    float64       `json:"share"` // of what followed the context
	Interval stat.Interval `json:"interval,omitzero"`
}

// A Context is what followed a run of symbols.
type Context struct {
	Symbols []uint32 `json:"symbols"`
	N       uint64   `json:"n"`     // how often something followed
	Share   float64  `json:"share"` // of all windows of that length
	// Bits is the plug-in entropy of what follows, too low where N is small; times
	// Share it is what the context contributes to the entropy of its order.
	Bits     float64     `json:"bits"`
	Next     []Successor `json:"next"`     // the most frequent first
	Distinct int         `json:"distinct"` // successors, those not in Next included
	Tasks    int         `json:"tasks"`    // that have it; 0 until intervals are added
	Warnings []Warning   `json:"warnings,omitempty"`
}

// ContextOptions choose what [Contexts] lists. The zero value lists everything
// after contexts of one symbol.
type ContextOptions struct {
	MaxLength int // list contexts of 1..MaxLength symbols; 0 means 1
	Most      int // list this many of each length; 0 means all
	Top       int // list this many successors; 0 means all
	// Compare orders symbols that occur equally often; nil means by number.
	Compare func(a, b uint32) int
}

// Contexts returns the contexts of each length and what followed them, the most
// frequent first (AutoTool, figure 1).
func Contexts(c *ngram.Counts, o ContextOptions) []Context {
	compare := o.Compare
	if compare == nil {
		compare = cmp.Compare[uint32]
	}
	list := []Context{}
	for k := 1; k <= min(max(o.MaxLength, 1), c.MaxOrder()); k++ {
		list = append(list, mostFrequent(c.Order(k), o.Most, func(a, b Context) int {
			return cmp.Or(-cmp.Compare(a.N, b.N), slices.CompareFunc(a.Symbols, b.Symbols, compare))
		})...)
	}
	for i := range list {
		list[i].Next = successors(c, list[i].Symbols, o.Top, compare)
	}
	return list
}

// mostFrequent returns the first contexts in this order, all of them where most
// is 0.
func mostFrequent(t ngram.Order, most int, compare func(a, b Context) int) []Context {
	var contexts []Context
	cut := func() {
		slices.SortFunc(contexts, compare)
		if most > 0 {
			contexts = contexts[:min(most, len(contexts))]
		}
	}
	n := float64(t.Summary().N)
	for x := range t.Contexts() {
		contexts = append(contexts, Context{
			Symbols: slices.Clone(x.Symbols), N: x.N, Share: float64(x.N) / n,
			Bits: contextBits(x) / float64(x.N), Distinct: len(x.Next),
		})
		if most > 0 && len(contexts) >= 2*most+1000 {
			cut() // so that a few of millions take the memory of a few
		}
	}
	cut()
	return contexts
}

// successors returns what followed a context, the most frequent first.
func successors(c *ngram.Counts, symbols []uint32, top int, compare func(a, b uint32) int) []Successor {
	x, _ := c.Context(symbols)
	slices.SortFunc(x.Next, func(a, b ngram.Successor) int {
		return cmp.Or(-cmp.Compare(a.N, b.N), compare(a.Symbol, b.Symbol))
	})
	if top > 0 {
		x.Next = x.Next[:min(top, len(x.Next))]
	}
	next := make([]Successor, len(x.Next))
	for i, s := range x.Next {
		next[i] = Successor{Symbol: s.Symbol, N: s.N, Share: float64(s.N) / float64(x.N)}
	}
	return next
}

// A TopShare is how much of what follows is covered by the M most frequent
// successors of each context (AutoTool, figure 3).
type TopShare struct {
	M int `json:"m"`
	// Share is of all windows: a guess of M symbols holds the right one that often,
	// on the data it was counted in.
	Share float64 `json:"share"`
	// Mean is the mean of the contexts' own shares, whatever they weigh: rare
	// contexts push it up.
	Mean float64 `json:"mean"`
}

// TopShares returns the curve for contexts of k symbols and m from 1 to at most
// most.
func TopShares(c *ngram.Counts, k, most int) []TopShare {
	summary := c.Order(k).Summary()
	covered := make([]uint64, most)
	means := make([]sum, most)
	var counts []uint64
	for x := range c.Order(k).Contexts() {
		counts = counts[:0]
		for _, s := range x.Next {
			counts = append(counts, s.N)
		}
		slices.SortFunc(counts, func(a, b uint64) int { return cmp.Compare(b, a) })
		n := uint64(0)
		for m := range most {
			if m < len(counts) {
				n += counts[m]
			}
			covered[m] += n
			means[m].add(float64(n) / float64(x.N))
		}
	}
	curve := []TopShare{}
	for m := range most {
		if summary.N == 0 {
			break
		}
		curve = append(curve, TopShare{m + 1, float64(covered[m]) / float64(summary.N), means[m].value() / float64(summary.Contexts)})
		if covered[m] == summary.N {
			break
		}
	}
	return curve
}
