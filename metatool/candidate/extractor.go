package candidate

import (
	"cmp"
	"container/heap"
	"slices"
	"strings"

	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/stategraph"
)

// extractor is the state of Algorithm 1. Only edges that at least T
// trajectories take can be in a chain, so only those are followed: they are
// links. All other steps of the walks are as they were from beginning to end.
type extractor struct {
	merged    *merge.Merged
	graph     *stategraph.Graph
	walks     *merge.Walks
	threshold int
	options   Options

	// By step of the walks. What a step became part of is a chain of items: an
	// item is a step or, after compression, several steps under the place of the
	// first.
	item       []linkID
	next       []place // the item after this one, which may be of the next trajectory
	trajectory []uint32

	links []link
	nodes map[stategraph.StateID]*node

	// several counts the occurrences of a link in a trajectory where they are
	// more than one, which only cuts make possible.
	several, severalJoined map[linkAndTrajectory]int

	composites map[string]linkID
	seeds      seedHeap
	distances  *distances

	found   []*Candidate
	byCalls map[string]*Candidate

	pairs []pair // occurrences of the chain that is being looked at
}

// place is a merge.Place in half the memory.
type place uint32

// linkID is an index into extractor.links, or one of the constants.
type linkID int32

const (
	noLink   linkID = -1 // an edge that too few trajectories take, or a self-loop
	absorbed linkID = -2 // the step is part of an item that begins before it
)

// link is an edge that chains may contain: of the graph, or a composite that
// stands for a chain.
type link struct {
	from, to  stategraph.StateID
	labels    []merge.Label
	ranks     []int32 // of the labels, in the order of their texts
	composite bool

	places []place // ascending; those that became part of another item are still there
	live   int     // of them
	weight int     // trajectories that take it
	joined int     // trajectories that take it joined to the item before

	exhausted bool
	heap      int // its position in the heap of seeds, -1 if it is not there
}

// node is a state with links out of it.
type node struct {
	links  []linkID
	weight int // of all edges out of the state, links or not, self-loops left out

	majority linkID // the link that outweighs all others, noLink if there is none
	known    bool   // whether majority is up to date
}

type linkAndTrajectory struct {
	link       linkID
	trajectory uint32
}

// pair is an occurrence of a chain in the making: its first and last item.
type pair struct{ head, tail place }

func newExtractor(m *merge.Merged, o Options) *extractor {
	x := &extractor{
		merged: m, graph: m.Graph, walks: m.Walks, threshold: o.MinSupport(), options: o,
		nodes: map[stategraph.StateID]*node{}, several: map[linkAndTrajectory]int{}, severalJoined: map[linkAndTrajectory]int{},
		composites: map[string]linkID{}, byCalls: map[string]*Candidate{},
	}
	linkOf := x.makeLinks()
	x.readWalks(linkOf)
	x.distances = newDistances(x, linkOf)
	x.seeds.x = x
	for id := range x.links {
		x.seeds.links = append(x.seeds.links, linkID(id))
		x.links[id].heap = id
	}
	heap.Init(&x.seeds)
	return x
}

// makeLinks makes a link of every edge that enough trajectories take, and
// returns the links by edge.
func (x *extractor) makeLinks() []linkID {
	linkOf := make([]linkID, x.graph.Edges())
	for i := range linkOf {
		e := stategraph.EdgeID(i)
		linkOf[i] = noLink
		if x.graph.Weight(e) < x.threshold || x.graph.From(e) == x.graph.To(e) {
			continue
		}
		id := linkID(len(x.links))
		linkOf[i] = id
		x.links = append(x.links, link{
			from: x.graph.From(e), to: x.graph.To(e), labels: []merge.Label{x.graph.Label(e)}, weight: x.graph.Weight(e),
		})
		x.node(x.graph.From(e)).add(id)
	}
	x.rankLabels()
	return linkOf
}

// rankLabels orders the labels of the links by their texts.
func (x *extractor) rankLabels() {
	rank := map[merge.Label]int32{}
	var labels []merge.Label
	texts := map[merge.Label]string{}
	for i := range x.links {
		l := x.links[i].labels[0]
		if _, known := texts[l]; !known {
			texts[l] = x.merged.Labels.Text(l)
			labels = append(labels, l)
		}
	}
	slices.SortFunc(labels, func(a, b merge.Label) int {
		return cmp.Or(strings.Compare(texts[a], texts[b]), cmp.Compare(a, b))
	})
	for i, l := range labels {
		rank[l] = int32(i)
	}
	for i := range x.links {
		x.links[i].ranks = []int32{rank[x.links[i].labels[0]]}
	}
}

// node returns the node of a state, made if there is none.
func (x *extractor) node(s stategraph.StateID) *node {
	n := x.nodes[s]
	if n == nil {
		n = &node{}
		for _, e := range x.graph.Out(s) {
			if x.graph.To(e) != s {
				n.weight += x.graph.Weight(e)
			}
		}
		x.nodes[s] = n
	}
	return n
}

func (n *node) add(id linkID) {
	n.links = append(n.links, id)
	n.known = false
}

// readWalks indexes the steps: what item each is, what comes after it, and where
// every link occurs.
func (x *extractor) readWalks(linkOf []linkID) {
	steps := x.walks.Steps()
	x.item = make([]linkID, steps)
	x.next = make([]place, steps)
	x.trajectory = make([]uint32, steps)
	for p := range place(steps) {
		id := linkOf[x.walks.Edge(merge.Place(p))]
		x.item[p] = id
		x.next[p] = p + 1
		if id != noLink {
			x.links[id].live++
		}
	}
	all := 0
	for i := range x.links {
		all += x.links[i].live
	}
	room := make([]place, 0, all)
	for i := range x.links {
		l := &x.links[i]
		l.places = room[len(room) : len(room) : len(room)+l.live]
		room = room[:len(room)+l.live]
	}
	for t, steps := range x.walks.All() {
		for p := place(steps[0]); p < place(steps[1]); p++ {
			x.trajectory[p] = uint32(t)
			if id := x.item[p]; id != noLink {
				x.links[id].places = append(x.links[id].places, p)
			}
		}
	}
	for i := range x.links {
		x.countTrajectories(linkID(i))
	}
}

// countTrajectories counts a link's weight from its places, all of them live.
func (x *extractor) countTrajectories(id linkID) {
	l := &x.links[id]
	l.weight, l.joined = 0, 0
	for i := 0; i < len(l.places); {
		t := x.trajectory[l.places[i]]
		n, joined := 0, 0
		for ; i < len(l.places) && x.trajectory[l.places[i]] == t; i++ {
			n++
			if x.isJoined(l.places[i]) {
				joined++
			}
		}
		l.weight++
		if joined > 0 {
			l.joined++
		}
		if n > 1 {
			x.several[linkAndTrajectory{id, t}] = n
		}
		if joined > 1 {
			x.severalJoined[linkAndTrajectory{id, t}] = joined
		}
	}
}

// isJoined reports whether the item at a place may be done in one go with the
// one before.
func (x *extractor) isJoined(p place) bool {
	flags := x.walks.Flags(merge.Place(p))
	if x.options.AsPublished {
		flags &^= stategraph.AfterUser
	}
	return flags.Joined()
}

// run takes seeds until there are none. All links in the heap are heavy enough.
func (x *extractor) run() {
	for len(x.seeds.links) > 0 {
		seed := x.seeds.links[0]
		chain := x.grow(seed)
		if len(chain) > 1 {
			x.follow(chain)
		}
		if len(chain) < 2 || len(x.pairs) == 0 {
			x.links[seed].exhausted = true
			x.seeds.remove(seed)
			continue
		}
		x.compress(chain)
	}
}

// grow returns the chain that grows from a seed. In x.pairs it leaves the
// occurrences of the chain so far, unless it follows the paper exactly.
func (x *extractor) grow(seed linkID) []linkID {
	chain := []linkID{seed}
	x.pairs = x.pairs[:0]
	started := false
	for {
		id := x.majority(x.links[chain[len(chain)-1]].to)
		if id == noLink || x.contains(chain, x.links[id].to) {
			return chain
		}
		if !x.options.AsPublished {
			if !started {
				x.start(seed)
				started = true
			}
			if x.trajectoriesInto(id) < x.threshold {
				return chain
			}
			x.advance(id)
		}
		chain = append(chain, id)
	}
}

// contains reports whether a state is in the chain.
func (x *extractor) contains(chain []linkID, s stategraph.StateID) bool {
	if x.links[chain[0]].from == s {
		return true
	}
	return slices.ContainsFunc(chain, func(id linkID) bool { return x.links[id].to == s })
}

// majority returns the link out of a state that is taken, joined to the call
// before, by more than half of the trajectories that leave the state, and by at
// least T. There is at most one.
func (x *extractor) majority(s stategraph.StateID) linkID {
	n := x.nodes[s]
	if n == nil {
		return noLink
	}
	if !n.known {
		n.known, n.majority = true, noLink
		for _, id := range n.links {
			if l := &x.links[id]; 2*l.joined > n.weight && l.joined >= x.threshold {
				n.majority = id
			}
		}
	}
	return n.majority
}

// start puts the occurrences of a link into x.pairs, and forgets those of its
// places that are no longer its own.
func (x *extractor) start(id linkID) {
	l := &x.links[id]
	l.places = slices.DeleteFunc(l.places, func(p place) bool { return x.item[p] != id })
	x.pairs = x.pairs[:0]
	for _, p := range l.places {
		x.pairs = append(x.pairs, pair{p, p})
	}
}

// follows reports whether the item after a place is of the link and joined.
func (x *extractor) follows(p place, id linkID) bool {
	n := x.next[p]
	return int(n) < len(x.item) && x.item[n] == id && x.trajectory[n] == x.trajectory[p] && x.isJoined(n)
}

// trajectoriesInto counts the trajectories of which an occurrence in x.pairs
// goes on along the link.
func (x *extractor) trajectoriesInto(id linkID) int {
	n, last := 0, -1
	for _, o := range x.pairs {
		if t := int(x.trajectory[o.head]); t != last && x.follows(o.tail, id) {
			n++
			last = t
		}
	}
	return n
}

// advance keeps the occurrences that go on along the link.
func (x *extractor) advance(id linkID) {
	kept := x.pairs[:0]
	for _, o := range x.pairs {
		if x.follows(o.tail, id) {
			kept = append(kept, pair{o.head, x.next[o.tail]})
		}
	}
	x.pairs = kept
}

// follow leaves the occurrences of the whole chain in x.pairs.
func (x *extractor) follow(chain []linkID) {
	if !x.options.AsPublished {
		return // grow has left them there
	}
	x.start(chain[0])
	for _, id := range chain[1:] {
		x.advance(id)
	}
}
