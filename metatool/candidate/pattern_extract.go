package candidate

import (
	"container/heap"

	"github.com/awo-dev/awo/merge"
)

// Extraction takes patterns until none gains anything.
//
// No gain ever rises when others are taken, but for patterns that overlap with
// themselves: so the best one is found without looking at all of them anew, from
// a heap of gains as they once were.
func (p *Patterns) Extraction() *Extraction {
	for ; p.next < p.merged.Walks.Trajectories(); p.next++ {
		p.offsets = append(p.offsets, len(p.worth))
	}
	x := &patternExtractor{p: p, tree: newPatternTree(p), items: make([]uint8, len(p.symbol))}
	for i := range x.items {
		x.items[i] = 1
	}
	x.readTurns()
	x.run()
	m := p.merged
	result := &Extraction{
		Options: p.options, Candidates: x.found,
		Calls: m.Calls, CallsAfter: m.Calls, Turns: m.Turns, TurnsAfter: m.Turns,
	}
	for _, c := range x.found {
		result.CallsAfter -= c.CallsSaved
		result.TurnsAfter -= c.TurnsSaved
	}
	result.Overlapping = x.overlapping()
	return result
}

// patternExtractor is the state of the search.
type patternExtractor struct {
	p    *Patterns
	tree *patternTree

	// By step: how many steps are one item that begins here, with composed if it
	// is a pattern that was taken, or 0 if the step is inside one.
	items []uint8

	// By step: its first and last calling turn, numbered over all trajectories;
	// -1 if nobody called it.
	first, last []int32
	freed       []bool // by calling turn: no longer needed

	heap    patternHeap
	gains   []int64 // by node of the tree: the gain of its entry in the heap that counts
	demoted []int32 // patterns in the heap with less than their bound
	taken   []int32 // starts of the occurrences of the pattern looked at last

	found []*Candidate
	order []int32 // by found: its node of the tree
}

const composed = 1 << 7

// readTurns numbers the calling turns.
func (x *patternExtractor) readTurns() {
	p, w := x.p, x.p.merged.Walks
	x.first, x.last = make([]int32, len(p.symbol)), make([]int32, len(p.symbol))
	base, turns := int32(0), int32(0)
	for s := range p.symbol {
		if s > 0 && p.trajectory[s] != p.trajectory[s-1] {
			base, turns = base+turns, 0
		}
		x.first[s], x.last[s] = -1, -1
		for place := merge.Place(p.place[s]); place < x.end(s); place++ {
			from, to := w.Turns(place)
			turns = max(turns, int32(to)+1)
			if w.Inserted(place) {
				continue
			}
			if x.first[s] < 0 {
				x.first[s] = base + int32(from)
			}
			x.last[s] = base + int32(to)
		}
	}
	x.freed = make([]bool, base+turns)
}

// end returns the place behind a step.
func (x *patternExtractor) end(s int) merge.Place {
	if s+1 < len(x.p.place) && x.p.trajectory[s+1] == x.p.trajectory[s] {
		return merge.Place(x.p.place[s+1])
	}
	_, end := x.p.merged.Walks.Of(int(x.p.trajectory[s]))
	return end
}

// calls returns how many calls a step is.
func (x *patternExtractor) calls(s int) int { return int(x.end(s)) - int(x.p.place[s]) }

// worth returns what a calling turn is worth that is still needed.
func (x *patternExtractor) worth(trajectory uint32, base, turn int32) int64 {
	switch {
	case x.freed[turn]:
		return 0
	case x.p.options.Gain == nil:
		return 1
	}
	return x.p.worth[x.p.offsets[trajectory]+int(turn-base)]
}

// run takes the best pattern until there is none.
func (x *patternExtractor) run() {
	x.heap.tree = x.tree
	x.gains = make([]int64, len(x.tree.nodes))
	for n := range x.gains {
		if x.gains[n] = x.bound(int32(n)); x.gains[n] > 0 {
			x.heap.entries = append(x.heap.entries, heapEntry{x.gains[n], int32(n)})
		}
	}
	heap.Init(&x.heap)
	for len(x.heap.entries) > 0 {
		top := x.heap.entries[0]
		if top.gain != x.gains[top.node] {
			heap.Pop(&x.heap)
			continue
		}
		gain, bound := x.gain(top.node)
		switch x.gains[top.node] = gain; {
		case gain <= 0:
			heap.Pop(&x.heap)
		case gain == top.gain:
			heap.Pop(&x.heap)
			x.take(top.node)
			x.gains[top.node] = 0
			x.restore()
		default:
			if x.heap.entries[0].gain = gain; bound > gain {
				x.demoted = append(x.demoted, top.node)
			}
			heap.Fix(&x.heap, 0)
		}
	}
}

// restore gives patterns that overlap with themselves their bounds again: which
// of their occurrences count may have changed.
func (x *patternExtractor) restore() {
	for _, n := range x.demoted {
		if x.gains[n] = x.bound(n); x.gains[n] > 0 {
			heap.Push(&x.heap, heapEntry{x.gains[n], n})
		}
	}
	x.demoted = x.demoted[:0]
}

// bound returns the gain of all occurrences of a pattern, overlapping ones too.
func (x *patternExtractor) bound(n int32) int64 {
	sum := int64(0)
	node := &x.tree.nodes[n]
	for _, s := range x.tree.starts[node.from:node.to] {
		if x.fits(s, node.length) {
			sum += x.saving(s, node.length)
		}
	}
	return sum
}

// gain returns the gain of a pattern, 0 if too few trajectories have it, and its
// bound. It leaves the occurrences in x.taken.
func (x *patternExtractor) gain(n int32) (gain, bound int64) {
	node := &x.tree.nodes[n]
	x.taken = x.taken[:0]
	end := int32(0)
	for _, s := range x.tree.startsOf(n) {
		if !x.fits(s, node.length) {
			continue
		}
		saving := x.saving(s, node.length)
		bound += saving
		if s >= end {
			gain += saving
			end = s + int32(node.length)
			x.taken = append(x.taken, s)
		}
	}
	if x.tree.trajectories(x.taken) < x.p.options.MinSupport() {
		return 0, 0
	}
	return gain, bound
}

// fits reports whether steps are whole items, and more than one that was taken
// already.
func (x *patternExtractor) fits(s int32, length uint8) bool {
	if x.items[s] == length|composed {
		return false
	}
	end := s + int32(length)
	for s < end {
		n := x.items[s] &^ composed
		if n == 0 {
			return false
		}
		s += int32(n)
	}
	return s == end
}

// saving returns what is gained when steps become one call in the turn of the
// first: the turns of all others, less the last if a later call is made in it
// too.
func (x *patternExtractor) saving(s int32, length uint8) int64 {
	end := s + int32(length)
	first, last := x.first[s], x.last[end-1]
	if first == last {
		return 0
	}
	if x.after(end-1) == last {
		last--
	}
	trajectory := x.p.trajectory[s]
	base := x.base(s)
	sum := int64(0)
	for turn := first + 1; turn <= last; turn++ {
		sum += x.worth(trajectory, base, turn)
	}
	return sum
}

// base returns the number of the first calling turn of a step's trajectory.
func (x *patternExtractor) base(s int32) int32 {
	turn, _ := x.p.merged.Walks.Turns(merge.Place(x.p.place[s]))
	return x.first[s] - int32(turn)
}

// after returns the turn of the next call after a step in its trajectory, -1 if
// there is none.
func (x *patternExtractor) after(s int32) int32 {
	for n := s + 1; int(n) < len(x.first) && x.p.trajectory[n] == x.p.trajectory[s]; n++ {
		if x.first[n] >= 0 {
			return x.first[n]
		}
	}
	return -1
}

// take makes a candidate of a pattern whose occurrences are in x.taken.
func (x *patternExtractor) take(n int32) {
	c := x.candidate(n)
	for _, s := range x.taken {
		calls, turns := x.merge(s, x.tree.nodes[n].length)
		c.CallsSaved += calls
		c.TurnsSaved += turns
	}
	x.found, x.order = append(x.found, c), append(x.order, n)
}

// candidate returns the candidate that a pattern is, with the occurrences in x.taken.
func (x *patternExtractor) candidate(n int32) *Candidate {
	c := &Candidate{Pattern: x.steps(n), Support: x.tree.trajectories(x.taken)}
	c.Occurrences = make([]Occurrence, 0, len(x.taken))
	for _, s := range x.taken {
		c.Occurrences = append(c.Occurrences, x.occurrence(s, x.tree.nodes[n].length))
	}
	return c
}

// merge makes one item of an occurrence, and returns what that saves.
func (x *patternExtractor) merge(s int32, length uint8) (calls, turns int) {
	end := s + int32(length)
	first, last := x.first[s], x.last[end-1]
	if first != last && x.after(end-1) == last {
		last--
	}
	for turn := first + 1; turn <= last; turn++ {
		if !x.freed[turn] {
			x.freed[turn] = true
			turns++
		}
	}
	for at := s; at < end; {
		n := x.items[at]
		if n&composed != 0 {
			calls++
		} else {
			calls += x.calls(int(at))
		}
		x.items[at] = 0
		at += int32(n &^ composed)
	}
	x.items[s] = length | composed
	return calls - 1, turns
}

func (x *patternExtractor) occurrence(s int32, length uint8) Occurrence {
	o := Occurrence{Trajectory: int(x.p.trajectory[s]), First: merge.Place(x.p.place[s])}
	for i := range int(length) {
		if x.calls(int(s)+i) == 1 {
			continue
		}
		if o.Counts == nil {
			o.Counts = make([]int32, length)
			for k := range o.Counts {
				o.Counts[k] = 1
			}
		}
		o.Counts[i] = int32(x.calls(int(s) + i))
	}
	return o
}

// steps returns the steps of a pattern.
func (x *patternExtractor) steps(n int32) []PatternStep {
	path := x.tree.path(n)
	steps := make([]PatternStep, len(path))
	for i, id := range path {
		f := &x.tree.forms.list[id]
		t := &x.p.tools[f.tool]
		steps[i] = PatternStep{Tool: t.tool, Name: t.name, From: -1}
		if f.each {
			steps[i].Each = &x.p.set.Links[f.link]
			if f.from > 0 {
				steps[i].From = i - f.from
			}
		}
		for _, a := range f.args {
			steps[i].Args = append(steps[i].Args, PatternArg{&x.p.set.Links[a.link], i - int(a.before)})
		}
	}
	return steps
}

// patternHeap has the pattern with the largest gain first.
type patternHeap struct {
	tree    *patternTree
	entries []heapEntry
}

type heapEntry struct {
	gain int64
	node int32
}

// Len returns the number of entries.
func (h *patternHeap) Len() int { return len(h.entries) }

// Less orders entries by gain, then length, then symbols.
func (h *patternHeap) Less(i, j int) bool {
	a, b := h.entries[i], h.entries[j]
	if a.gain != b.gain {
		return a.gain > b.gain
	}
	return h.tree.compare(a.node, b.node) < 0
}

// Swap swaps two entries.
func (h *patternHeap) Swap(i, j int) { h.entries[i], h.entries[j] = h.entries[j], h.entries[i] }

// Push appends an entry.
func (h *patternHeap) Push(e any) { h.entries = append(h.entries, e.(heapEntry)) }

// Pop removes the last entry.
func (h *patternHeap) Pop() any {
	last := h.entries[len(h.entries)-1]
	h.entries = h.entries[:len(h.entries)-1]
	return last
}
