package candidate

import (
	"encoding/binary"
	"slices"

	"github.com/awo-dev/awo/merge"
)

// compress makes one item of every occurrence of the chain in x.pairs, records
// the candidate, and brings everything that Algorithm 1 looks at up to date.
func (x *extractor) compress(chain []linkID) {
	id := x.composite(chain)
	c := x.candidate(x.links[id].labels)
	for _, o := range x.pairs {
		calls, turns := x.saving(o)
		c.CallsSaved += calls
		c.TurnsSaved += turns
		c.Occurrences = append(c.Occurrences, Occurrence{Trajectory: int(x.trajectory[o.head]), First: merge.Place(o.head)})
	}
	for _, part := range chain {
		x.seeds.remove(part)
	}
	x.seeds.remove(id)
	for _, o := range x.pairs {
		x.absorb(o, id)
	}
	x.take(id)
	x.distances.update(id, chain)
	for _, part := range chain {
		x.seeds.insert(part)
	}
	x.seeds.insert(id)
}

// candidate returns the candidate of a sequence of calls, a new one if they were
// not found before from another state.
func (x *extractor) candidate(labels []merge.Label) *Candidate {
	key := sequenceKey(labels)
	c := x.byCalls[key]
	if c == nil {
		c = &Candidate{Labels: labels}
		x.byCalls[key] = c
		x.found = append(x.found, c)
	}
	return c
}

// composite returns the link that stands for a chain. As for edges, where it
// leads from and to and what is called on the way are what tells it apart.
func (x *extractor) composite(chain []linkID) linkID {
	c := link{from: x.links[chain[0]].from, to: x.links[chain[len(chain)-1]].to, composite: true, heap: -1}
	for _, id := range chain {
		c.labels = append(c.labels, x.links[id].labels...)
		c.ranks = append(c.ranks, x.links[id].ranks...)
	}
	key := binary.LittleEndian.AppendUint64(nil, uint64(c.from)<<32|uint64(c.to))
	key = append(key, sequenceKey(c.labels)...)
	id, known := x.composites[string(key)]
	if !known {
		id = linkID(len(x.links))
		x.composites[string(key)] = id
		x.links = append(x.links, c)
		x.node(c.from).add(id)
		x.distances.into[c.to] = append(x.distances.into[c.to], id)
	}
	return id
}

// absorb makes one item, of the composite link, of an occurrence.
func (x *extractor) absorb(o pair, composite linkID) {
	end := x.next[o.tail]
	for p := o.head; p != end; p = x.next[p] {
		x.leave(x.item[p], p)
		x.item[p] = absorbed
	}
	x.item[o.head] = composite
	x.next[o.head] = end
}

// leave takes one occurrence from a link.
func (x *extractor) leave(id linkID, p place) {
	l, n := &x.links[id], x.node(x.links[id].from)
	l.live--
	in := linkAndTrajectory{id, x.trajectory[p]}
	if isLast(x.several, in) {
		l.weight--
		n.weight--
	}
	if x.isJoined(p) && isLast(x.severalJoined, in) {
		l.joined--
	}
	n.known = false
}

// isLast takes one from a count, which is 1 if it is not there, and reports
// whether none is left.
func isLast(several map[linkAndTrajectory]int, key linkAndTrajectory) bool {
	switch several[key] {
	case 0:
		return true
	case 2:
		delete(several, key)
	default:
		several[key]--
	}
	return false
}

// take gives a composite link the occurrences in x.pairs.
func (x *extractor) take(id linkID) {
	l, n := &x.links[id], x.node(x.links[id].from)
	before := l.weight
	l.places = slices.DeleteFunc(l.places, func(p place) bool { return x.item[p] != id })
	for _, o := range x.pairs {
		l.places = append(l.places, o.head)
	}
	slices.Sort(l.places)
	l.live = len(l.places)
	x.countTrajectories(id)
	n.weight += l.weight - before
	n.known = false
}

// saving returns by how much the calls and the calling turns of its trajectory
// become fewer when an occurrence becomes one call in the turn of its first. It
// frees the turns of all its calls but that one, less the last if a later call
// is made in it too.
func (x *extractor) saving(o pair) (calls, turns int) {
	end := x.next[o.tail]
	first, last := -1, -1
	for p := o.head; p != end; p = x.next[p] {
		n, from, to := x.calls(p)
		if n == 0 {
			continue
		}
		if first < 0 {
			first, last = from, from
		}
		if from != last {
			turns++
		}
		turns += to - from
		calls, last = calls+n, to
	}
	if last != first && x.turnAfter(o.tail) == last {
		turns--
	}
	return max(0, calls-1), turns
}

// calls returns how many calls the item at a place is, and the turns of the
// first and the last of them.
func (x *extractor) calls(at place) (n, first, last int) {
	id := x.item[at]
	p := merge.Place(at)
	if id < 0 || !x.links[id].composite {
		_, _, n = x.walks.Calls(p)
		first, last = x.walks.Turns(p)
		return n, first, last
	}
	for end := p + merge.Place(len(x.links[id].labels)); p < end; p++ {
		if _, _, n := x.walks.Calls(p); n > 0 {
			first, _ = x.walks.Turns(p)
			return 1, first, first
		}
	}
	return 0, 0, 0 // made of inserted steps alone
}

// turnAfter returns the turn of the next call after an item in its trajectory,
// -1 if there is none. Steps that rules inserted are no calls.
func (x *extractor) turnAfter(p place) int {
	t := x.trajectory[p]
	for p = x.next[p]; int(p) < len(x.item) && x.trajectory[p] == t; p = x.next[p] {
		if n, first, _ := x.calls(p); n > 0 {
			return first
		}
	}
	return -1
}
