package trace

import (
	"cmp"
	"iter"
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
		for span := range q.Rework() {
			k := key{kind: span.Kind, a: q.Tools[span.At]}
			if span.Calls > 1 {
				k.b = q.Tools[span.At+1]
			}
			r := found[k]
			if r == nil {
				r = &Rework{Kind: k.kind, Tools: q.Tools[span.At : span.At+span.Calls]}
				found[k] = r
			}
			r.Occurrences++
			if !seen[k] {
				seen[k] = true
				r.Trajectories++
			}
			turns, known := Sequence{Turns: q.Turns[span.At : span.At+span.Calls]}.CallingTurns()
			if known {
				r.Turns += turns
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

// ReworkSpan is one occurrence of Rework: Calls calls of a Sequence from At on.
type ReworkSpan struct {
	Kind      string
	At, Calls int
}

// Rework yields the occurrences of rework in a sequence: first the repeated
// calls, then the rounds of alternations.
func (s Sequence) Rework() iter.Seq[ReworkSpan] {
	return func(yield func(ReworkSpan) bool) {
		for at := range s.Tools {
			if s.Flags[at]&FlagRepeat != 0 && !yield(ReworkSpan{ReworkRepeat, at, 1}) {
				return
			}
		}
		for at := 0; at+4 <= len(s.Tools); {
			a, b := s.Tools[at], s.Tools[at+1]
			if a == b || s.Tools[at+2] != a || s.Tools[at+3] != b {
				at++
				continue
			}
			at += 2
			for ; at+2 <= len(s.Tools) && s.Tools[at] == a && s.Tools[at+1] == b; at += 2 {
				if !yield(ReworkSpan{ReworkAlternation, at, 2}) {
					return
				}
			}
		}
	}
}

// Repeats returns, by call of t, the earlier call that it repeats, -1 for none; see Again.
func (t *Trajectory) Repeats(changes func(call int) bool) []int {
	repeats, _ := t.Again(changes)
	return repeats
}

// Again returns, by call of t, the last earlier call of the same tool with the same
// arguments (canonical JSON), if no call between the two changes anything, as changes
// says: in repeats if that call did not fail, in retries if it did; -1 for none. A call
// that failed changed nothing. What a repeat would tell is known already.
//
// Calls whose arguments are not recorded repeat nothing.
func (t *Trajectory) Again(changes func(call int) bool) (repeats, retries []int) {
	repeats, retries = make([]int, len(t.Calls)), make([]int, len(t.Calls))
	last := map[string]int{} // tool and arguments -> the last such call
	changed := -1            // the last call that changed something
	// Arguments are made canonical only where an earlier call of the tool is left to repeat.
	type newest struct {
		call   int
		isKept bool // it is in last, with all of the tool from changed on
	}
	var numbers Numbering[Name]
	var tools []newest
	var key []byte
	keyOf := func(i int) []byte {
		c := &t.Calls[i]
		key = c.AppendCanonicalArgs(append(append(key[:0], c.Tool.Value()...), 0))
		return key
	}
	for i := range t.Calls {
		c := &t.Calls[i]
		repeats[i], retries[i] = -1, -1
		if !c.ArgsMissing() {
			n := int(numbers.Number(c.Tool))
			met := n < len(tools)
			if !met {
				tools = append(tools, newest{})
			}
			before := tools[n]
			isKept := met && changed <= before.call
			if isKept {
				if !before.isKept {
					last[string(keyOf(before.call))] = before.call
				}
				if same, ok := last[string(keyOf(i))]; ok && changed <= same {
					if t.Calls[same].Status == StatusFailed {
						retries[i] = same
					} else {
						repeats[i] = same
					}
				}
				last[string(key)] = i
			}
			tools[n] = newest{i, isKept}
		}
		if c.Status != StatusFailed && changes(i) {
			changed = i
		}
	}
	return repeats, retries
}
