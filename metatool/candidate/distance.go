package candidate

import (
	"container/heap"
	"math"

	"github.com/awo-dev/awo/stategraph"
)

// distances keeps, while links come and go, how many edges the shortest walk
// from the root to each state has, as far as a trajectory still walks there
// (after Ramalingam and Reps, An incremental algorithm for a generalization of
// the shortest-path problem, 1996). What does not change costs nothing.
type distances struct {
	x        *extractor
	of       []uint32
	linkOf   []linkID // by edge of the graph
	incoming *stategraph.Incoming
	into     map[stategraph.StateID][]linkID // composite links by target

	queue    distanceQueue
	affected map[stategraph.StateID]bool
}

// unreachable is the distance of a state where no walk passes any more.
const unreachable = math.MaxUint32

func newDistances(x *extractor, linkOf []linkID) *distances {
	d := &distances{
		x: x, linkOf: linkOf, incoming: x.graph.Incoming(),
		of: make([]uint32, x.graph.States()), into: map[stategraph.StateID][]linkID{},
		affected: map[stategraph.StateID]bool{},
	}
	for s := range d.of {
		d.of[s] = uint32(x.graph.Distance(stategraph.StateID(s)))
	}
	return d
}

// update takes into account that a composite link has got occurrences, which the
// links that it stands for have lost.
func (d *distances) update(composite linkID, chain []linkID) {
	d.shorten(d.x.links[composite].to, d.of[d.x.links[composite].from]+1)
	var lost []stategraph.StateID
	for _, id := range chain {
		if d.x.links[id].live == 0 {
			lost = append(lost, d.x.links[id].to)
		}
	}
	if d.collect(lost) {
		d.settle()
	}
}

// shorten sets the distance of a state, if that is less than it was, and of what
// comes after it.
func (d *distances) shorten(s stategraph.StateID, distance uint32) {
	if distance >= d.of[s] {
		return
	}
	d.set(s, distance)
	ring := []stategraph.StateID{s}
	for len(ring) > 0 {
		s, ring = ring[0], ring[1:]
		d.eachNext(s, func(to stategraph.StateID) {
			if d.of[s]+1 < d.of[to] {
				d.set(to, d.of[s]+1)
				ring = append(ring, to)
			}
		})
	}
}

// collect puts the states into d.affected that have lost all walks of the
// length that their distance says: some of those that lost an edge, and what
// hangs on them. It goes by distance, so that all that could support a state are
// decided on before it. It reports whether there are any.
func (d *distances) collect(lost []stategraph.StateID) bool {
	clear(d.affected)
	d.queue = d.queue[:0]
	for _, s := range lost {
		d.queue = append(d.queue, queued{s, d.of[s]})
	}
	heap.Init(&d.queue)
	for len(d.queue) > 0 {
		s := heap.Pop(&d.queue).(queued).state
		if d.affected[s] || s == stategraph.Root || d.of[s] == unreachable || d.isSupported(s) {
			continue
		}
		d.affected[s] = true
		d.eachNext(s, func(to stategraph.StateID) {
			if d.of[to] == d.of[s]+1 {
				heap.Push(&d.queue, queued{to, d.of[to]})
			}
		})
	}
	return len(d.affected) > 0
}

// isSupported reports whether a state that is not affected is one edge nearer to
// the root and leads to s.
func (d *distances) isSupported(s stategraph.StateID) bool {
	supported := false
	d.eachBefore(s, func(from stategraph.StateID) bool {
		supported = !d.affected[from] && d.of[from] != unreachable && d.of[from]+1 == d.of[s]
		return !supported
	})
	return supported
}

// settle works out the distances of the affected states from those of the others.
func (d *distances) settle() {
	d.queue = d.queue[:0]
	best := map[stategraph.StateID]uint32{}
	for s := range d.affected {
		distance := uint32(unreachable)
		d.eachBefore(s, func(from stategraph.StateID) bool {
			if !d.affected[from] && d.of[from] != unreachable {
				distance = min(distance, d.of[from]+1)
			}
			return true
		})
		best[s] = distance
		if distance != unreachable {
			d.queue = append(d.queue, queued{s, distance})
		}
	}
	heap.Init(&d.queue)
	for len(d.queue) > 0 {
		q := heap.Pop(&d.queue).(queued)
		if !d.affected[q.state] || q.distance > best[q.state] {
			continue
		}
		delete(d.affected, q.state)
		d.set(q.state, q.distance)
		d.eachNext(q.state, func(to stategraph.StateID) {
			if d.affected[to] && q.distance+1 < best[to] {
				best[to] = q.distance + 1
				heap.Push(&d.queue, queued{to, q.distance + 1})
			}
		})
	}
	for s := range d.affected {
		d.set(s, unreachable)
	}
	clear(d.affected)
}

// set changes a distance, and the order of the seeds with it.
func (d *distances) set(s stategraph.StateID, distance uint32) {
	n := d.x.nodes[s]
	if n == nil || d.of[s] == distance {
		d.of[s] = distance
		return
	}
	var moved []linkID
	for _, id := range n.links {
		if d.x.links[id].heap >= 0 {
			d.x.seeds.remove(id)
			moved = append(moved, id)
		}
	}
	d.of[s] = distance
	for _, id := range moved {
		d.x.seeds.insert(id)
	}
}

// isLive reports whether some trajectory takes an edge.
func (d *distances) isLive(e stategraph.EdgeID) bool {
	id := d.linkOf[e]
	return id == noLink || d.x.links[id].live > 0
}

// eachNext calls f for every state that an edge from s leads to.
func (d *distances) eachNext(s stategraph.StateID, f func(stategraph.StateID)) {
	for _, e := range d.x.graph.Out(s) {
		if to := d.x.graph.To(e); to != s && d.isLive(e) {
			f(to)
		}
	}
	if n := d.x.nodes[s]; n != nil {
		for _, id := range n.links {
			if l := &d.x.links[id]; l.composite && l.live > 0 {
				f(l.to)
			}
		}
	}
}

// eachBefore calls f for every state from which an edge leads to s, until f
// returns false.
func (d *distances) eachBefore(s stategraph.StateID, f func(stategraph.StateID) bool) {
	for _, e := range d.incoming.In(s) {
		if from := d.x.graph.From(e); from != s && d.isLive(e) && !f(from) {
			return
		}
	}
	for _, id := range d.into[s] {
		if l := &d.x.links[id]; l.live > 0 && !f(l.from) {
			return
		}
	}
}

// distanceQueue is a heap of states, the nearest first.
type distanceQueue []queued

type queued struct {
	state    stategraph.StateID
	distance uint32
}

func (q distanceQueue) Len() int           { return len(q) }
func (q distanceQueue) Less(i, j int) bool { return q[i].distance < q[j].distance }
func (q distanceQueue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *distanceQueue) Push(x any)        { *q = append(*q, x.(queued)) }

func (q *distanceQueue) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	*q = (*q)[:last]
	return x
}
