package trace

import (
	"cmp"
	"slices"
)

// Rework is a habit that costs turns without getting further: the same call
// again, or two tools in turn.
type Rework struct {
	Kind         string // ReworkRepeat or ReworkAlternation
	Tools        []uint32
	Occurrences  int // calls that repeat the one before; rounds of an alternation beyond the first
	Trajectories int
	Turns        int // calling turns of these calls; 0 where turns are not recorded
}

// The kinds of Rework.
const (
	ReworkRepeat      = "repeat"      // an identical call right after the call
	ReworkAlternation = "alternation" // A, B, A, B
)

// Rework counts repeated identical calls by tool, and alternations of two tools
// that go on for at least two rounds, those that cost the most turns first. It
// says what happened, not that it was in vain: polling is a repeated call too.
func (c *Corpus) Rework() []Rework {
	type key struct {
		kind string
		a, b uint32
	}
	found := map[key]*Rework{}
	for i := range c.Len() {
		q := c.Sequence(i)
		seen := map[key]bool{}
		note := func(k key, tools []uint32, at, calls int) {
			r := found[k]
			if r == nil {
				r = &Rework{Kind: k.kind, Tools: tools}
				found[k] = r
			}
			r.Occurrences++
			if !seen[k] {
				seen[k] = true
				r.Trajectories++
			}
			turns, known := Sequence{Turns: q.Turns[at : at+calls]}.CallingTurns()
			if known {
				r.Turns += turns
			}
		}
		for at := range q.Tools {
			if q.Flags[at]&FlagRepeat != 0 {
				note(key{kind: ReworkRepeat, a: q.Tools[at]}, q.Tools[at:at+1], at, 1)
			}
		}
		for at := 0; at+4 <= len(q.Tools); {
			a, b := q.Tools[at], q.Tools[at+1]
			if a == b || q.Tools[at+2] != a || q.Tools[at+3] != b {
				at++
				continue
			}
			k := key{kind: ReworkAlternation, a: a, b: b}
			at += 2
			for ; at+2 <= len(q.Tools) && q.Tools[at] == a && q.Tools[at+1] == b; at += 2 {
				note(k, []uint32{a, b}, at, 2)
			}
		}
	}
	out := make([]Rework, 0, len(found))
	for _, r := range found {
		out = append(out, *r)
	}
	slices.SortFunc(out, func(a, b Rework) int {
		return cmp.Or(cmp.Compare(b.Turns, a.Turns), cmp.Compare(b.Occurrences, a.Occurrences), cmp.Compare(a.Kind, b.Kind), slices.Compare(a.Tools, b.Tools))
	})
	return out
}
