package bind

import (
	"github.com/awo-dev/awo/internal/stat"
)

// Plumbing is a step whose result is left out of the answer, and why.
type Plumbing struct {
	Step int `json:"step"` // index into Tool.Steps
	// Reason is "rule", or "unused": the traces show that nothing of the result is used
	// behind the chain.
	Reason string `json:"reason"`
	// Places are those where the result and what the model said later are recorded, Used
	// those where a value of it was used behind the chain, Upper the upper bound (95 %,
	// Clopper-Pearson) of their share.
	Places int     `json:"places"`
	Used   int     `json:"used"`
	Upper  float64 `json:"upper"`
}

// The reasons of Plumbing.
const (
	plumbingByRule = "rule"
	plumbingUnused = "unused"
)

// Bounds of what the traces must bear.
const (
	minPlumbingPlaces = 20
	maxPlumbingUsed   = 0.05 // the upper bound
	minPlumbingBytes  = 200  // of a result, in the mean: smaller ones cost too little to be left out
)

// useSeen is what becomes of the results of a step in one occurrence.
type useSeen struct {
	known bool // the results and what the model said are recorded
	bytes int
	until int // the last step in which a value of them is used, len(steps) behind all, -1 for none
}

// useCount is that over all occurrences.
type useCount struct {
	places, bytes int
	used          []int // by the last step in which they are used
}

func newUseCount(steps int) useCount {
	return useCount{used: make([]int, steps+1)}
}

func (c *useCount) add(seen *useSeen) {
	if !seen.known {
		return
	}
	c.places++
	c.bytes += seen.bytes
	if seen.until >= 0 {
		c.used[seen.until]++
	}
}

// judge says whether the result of a step may be left out of the answer of a meta-tool
// that ends before the step end.
func (c *useCount) judge(end int) (p Plumbing, ok bool) {
	p = Plumbing{Reason: plumbingUnused, Places: c.places, Upper: 1}
	for _, n := range c.used[end:] {
		p.Used += n
	}
	if c.places > 0 {
		p.Upper = stat.Exact(p.Used, c.places, stat.DefaultLevel).Hi
	}
	ok = c.places >= minPlumbingPlaces && p.Upper < maxPlumbingUsed && c.bytes >= minPlumbingBytes*c.places
	return p, ok
}

// findUses looks at what becomes of the results of all steps but the last.
func (o *occurrence) findUses(steps []stepSeen) {
	last := len(o.calls) - 1
	if len(o.plan.candidate.Occurrences) < minPlumbingPlaces || last < 1 || len(o.calls[0]) == 0 || len(o.calls[last]) == 0 || !o.said().HasTexts() {
		return
	}
	for k := range last {
		if !o.plan.steps[k].kept {
			steps[k].uses = o.usesOf(k)
		}
	}
}

func (o *occurrence) usesOf(k int) useSeen {
	out := useSeen{known: len(o.calls[k]) > 0, until: -1}
	for _, c := range o.calls[k] {
		result, ok := o.result(c)
		if out.known = out.known && ok; !out.known {
			return useSeen{}
		}
		out.bytes += o.t.Calls[c].Result.TextLen()
		out.until = max(out.until, o.stepAt(o.said().Last(c, &result, o.calls[0][0], nil)))
	}
	return out
}

// stepAt returns the step that a call belongs to or stands in, len(calls) behind all.
func (o *occurrence) stepAt(call int) int {
	last := o.calls[len(o.calls)-1]
	if call < 0 || call > last[len(last)-1] {
		if call < 0 {
			return -1
		}
		return len(o.calls)
	}
	at := 0
	for k, calls := range o.calls {
		if len(calls) > 0 && calls[0] <= call {
			at = k
		}
	}
	return at
}
