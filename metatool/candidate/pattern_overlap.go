package candidate

import (
	"cmp"
	"slices"
)

// maxOverlapping bounds the candidates that overlap with those that were taken: of 17,000
// calls 200 give 98 % of the turns that a thousand give, at half the cost.
const maxOverlapping = 200

// overlapping returns the patterns that were not taken and would save as many calling
// turns as the threshold says, or more, if they were the only ones: those that save most
// first. Their occurrences may lie inside those of others, or across them. Altogether they
// have no more occurrences than there are steps, or fewest.
//
// Taking the best pattern first hides what it holds: where all that an agent does in one
// application begins with the same look-up of a password, the rest of it is never looked
// at without that. Which of them are worth offering is found out by replays.
func (x *patternExtractor) overlapping() []*Candidate {
	const fewest = 100_000
	for i := range x.items {
		x.items[i] = 1
	}
	clear(x.freed)
	type node struct {
		id   int32
		gain int64
	}
	wasTaken := map[int32]bool{}
	for _, n := range x.order {
		wasTaken[n] = true
	}
	least := x.p.options.MinSupport()
	var list []node
	for n := range x.tree.nodes {
		if gain, _ := x.gain(int32(n)); gain > 0 && !wasTaken[int32(n)] && x.turns(int32(n)) >= least {
			list = append(list, node{int32(n), gain})
		}
	}
	slices.SortFunc(list, func(a, b node) int {
		return cmp.Or(cmp.Compare(b.gain, a.gain), x.tree.compare(a.id, b.id))
	})
	var out []*Candidate
	room := max(fewest, len(x.p.symbol))
	for _, n := range list[:min(len(list), maxOverlapping)] {
		x.gain(n.id)
		if room -= len(x.taken); room < 0 {
			break
		}
		c := x.candidate(n.id)
		c.Overlaps, c.TurnsSaved = true, x.turns(n.id)
		for i := range c.Occurrences {
			for k := range c.Len() {
				c.CallsSaved += c.Occurrences[i].Count(k)
			}
			c.CallsSaved--
		}
		out = append(out, c)
	}
	return out
}

// turns returns how many calling turns the occurrences in x.taken save.
func (x *patternExtractor) turns(n int32) int {
	sum := 0
	for _, s := range x.taken {
		end := s + int32(x.tree.nodes[n].length)
		first, last := x.first[s], x.last[end-1]
		if first != last && x.after(end-1) == last {
			last--
		}
		sum += int(last - first)
	}
	return sum
}
