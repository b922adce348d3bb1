package candidate

import (
	"cmp"
	"encoding/binary"
	"maps"
	"math"
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
	threshold int
	options   Options

	trajectories [][]item
	links        []link
	composites   map[string]linkID
	out          map[stategraph.StateID][]linkID
	rare         map[stategraph.StateID]int // weight of the edges out of a state that are no links, self-loops left out
	distance     []int                      // by state: edges of the shortest walk from the root, as far as a trajectory walks there
	ranks        map[merge.Label]int        // of the labels, in the order of their texts

	found   []*Candidate
	byCalls map[string]*Candidate
}

// item is a step of a walk or, after compression, several of them.
type item struct {
	link  linkID
	first merge.Place
	steps int
}

// linkID is an index into extractor.links, or noLink.
type linkID int

// noLink is an edge that too few trajectories take, or a self-loop.
const noLink linkID = -1

// link is an edge that chains may contain: of the graph, or a composite that
// stands for a chain.
type link struct {
	from, to  stategraph.StateID
	labels    []merge.Label
	exhausted bool // no chain grows from it

	places []itemPlace
	weight int // trajectories that take it
	joined int // trajectories that take it joined to the item before

	last, lastJoined int // the trajectory that was counted last
}

// itemPlace is where an item stands.
type itemPlace struct{ trajectory, item int }

// unreachable is the distance of a state where no walk passes any more.
const unreachable = math.MaxInt

func newExtractor(m *merge.Merged, o Options) *extractor {
	x := &extractor{
		merged: m, graph: m.Graph, threshold: o.MinSupport(), options: o, composites: map[string]linkID{},
		out: map[stategraph.StateID][]linkID{}, rare: map[stategraph.StateID]int{}, byCalls: map[string]*Candidate{},
	}
	linkOf := make([]linkID, x.graph.Edges())
	for i := range linkOf {
		e := x.graph.Edge(stategraph.EdgeID(i))
		linkOf[i] = noLink
		switch {
		case e.IsLoop():
		case e.Weight < x.threshold:
			x.rare[e.From] += e.Weight
		default:
			linkOf[i] = x.add(link{from: e.From, to: e.To, labels: []merge.Label{e.Label}})
		}
	}
	x.rankLabels()
	x.trajectories = make([][]item, m.Walks.Trajectories())
	for t, steps := range m.Walks.All() {
		for p := steps[0]; p < steps[1]; p++ {
			x.trajectories[t] = append(x.trajectories[t], item{linkOf[m.Walks.Edge(p)], p, 1})
		}
	}
	return x
}

func (x *extractor) add(l link) linkID {
	id := linkID(len(x.links))
	x.links = append(x.links, l)
	x.out[l.from] = append(x.out[l.from], id)
	return id
}

// rankLabels orders the labels of the links by their texts.
func (x *extractor) rankLabels() {
	x.ranks = map[merge.Label]int{}
	texts := map[merge.Label]string{}
	for i := range x.links {
		l := x.links[i].labels[0]
		texts[l] = x.merged.Labels.Text(l)
	}
	labels := slices.SortedFunc(maps.Keys(texts), func(a, b merge.Label) int {
		return cmp.Or(strings.Compare(texts[a], texts[b]), cmp.Compare(a, b))
	})
	for i, l := range labels {
		x.ranks[l] = i
	}
}

// run takes seeds until there are none.
func (x *extractor) run() {
	x.count()
	for {
		seed := x.seed()
		if seed == noLink {
			return
		}
		chain, places := x.grow(seed)
		if len(chain) < 2 || len(places) == 0 {
			x.links[seed].exhausted = true
			continue
		}
		x.compress(chain, places)
		x.count()
	}
}

// count reads the walks as they are now: where every link occurs, and how far states are
// from the root.
func (x *extractor) count() {
	for i := range x.links {
		l := &x.links[i]
		l.places, l.weight, l.joined, l.last, l.lastJoined = l.places[:0], 0, 0, -1, -1
	}
	for t, items := range x.trajectories {
		for i := range items {
			if items[i].link == noLink {
				continue
			}
			l := &x.links[items[i].link]
			l.places = append(l.places, itemPlace{t, i})
			if l.last != t {
				l.weight, l.last = l.weight+1, t
			}
			if l.lastJoined != t && x.isJoined(&items[i]) {
				l.joined, l.lastJoined = l.joined+1, t
			}
		}
	}
	x.measure()
}

// measure works out the distances, breadth first.
func (x *extractor) measure() {
	x.distance = make([]int, x.graph.States())
	for s := range x.distance {
		x.distance[s] = unreachable
	}
	x.distance[stategraph.Root] = 0
	queue := []stategraph.StateID{stategraph.Root}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		reach := func(to stategraph.StateID) {
			if x.distance[to] == unreachable {
				x.distance[to] = x.distance[s] + 1
				queue = append(queue, to)
			}
		}
		for _, e := range x.graph.Out(s) {
			if x.graph.Weight(e) < x.threshold {
				reach(x.graph.To(e))
			}
		}
		for _, id := range x.out[s] {
			if l := &x.links[id]; l.weight > 0 {
				reach(l.to)
			}
		}
	}
}

// seed returns the link from which the next chain grows, noLink if there is none.
func (x *extractor) seed() linkID {
	best := noLink
	for i := range x.links {
		l := &x.links[i]
		if !l.exhausted && l.weight >= x.threshold && (best == noLink || x.compare(l, &x.links[best]) < 0) {
			best = linkID(i)
		}
	}
	return best
}

// compare orders seeds, the first one first.
func (x *extractor) compare(a, b *link) int {
	if c := cmp.Compare(b.weight, a.weight); c != 0 {
		return c
	}
	rank := func(a, b merge.Label) int { return cmp.Compare(x.ranks[a], x.ranks[b]) }
	return cmp.Or(
		cmp.Compare(x.distance[a.from], x.distance[b.from]),
		slices.CompareFunc(a.labels, b.labels, rank),
		cmp.Compare(a.from, b.from),
		cmp.Compare(a.to, b.to),
	)
}

// isJoined reports whether an item may be done in one go with the one before.
func (x *extractor) isJoined(i *item) bool {
	flags := x.merged.Walks.Flags(i.first)
	if x.options.AsPublished {
		flags &^= stategraph.AfterUser
	}
	return flags.Joined()
}

// grow returns the chain that grows from a seed, and where it is followed whole.
func (x *extractor) grow(seed linkID) (chain []linkID, places []itemPlace) {
	chain, places = []linkID{seed}, x.links[seed].places
	for {
		id := x.majority(x.links[chain[len(chain)-1]].to)
		if id == noLink || x.contains(chain, x.links[id].to) {
			return chain, places
		}
		var next []itemPlace
		support, last := 0, -1
		for _, p := range places {
			if !x.follows(p, len(chain), id) {
				continue
			}
			next = append(next, p)
			if p.trajectory != last {
				support, last = support+1, p.trajectory
			}
		}
		if !x.options.AsPublished && support < x.threshold {
			return chain, places
		}
		chain, places = append(chain, id), next
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
	best, leave := noLink, x.rare[s]
	for _, id := range x.out[s] {
		l := &x.links[id]
		leave += l.weight
		if best == noLink || l.joined > x.links[best].joined {
			best = id
		}
	}
	if best != noLink && 2*x.links[best].joined > leave && x.links[best].joined >= x.threshold {
		return best
	}
	return noLink
}

// follows reports whether so many items after a place there is one of the link, joined.
func (x *extractor) follows(p itemPlace, after int, id linkID) bool {
	items := x.trajectories[p.trajectory]
	at := p.item + after
	return at < len(items) && items[at].link == id && x.isJoined(&items[at])
}

// compress records the candidate of a chain, and makes one item of every place where it is
// followed.
func (x *extractor) compress(chain []linkID, places []itemPlace) {
	id := x.composite(chain)
	c := x.candidate(x.links[id].labels)
	for _, p := range places {
		items := x.trajectories[p.trajectory]
		calls, turns := x.saving(items[p.item:], len(chain))
		c.CallsSaved += calls
		c.TurnsSaved += turns
		c.Occurrences = append(c.Occurrences, Occurrence{Trajectory: p.trajectory, First: items[p.item].first})
	}
	for _, p := range slices.Backward(places) { // making one item moves those behind it
		items := x.trajectories[p.trajectory]
		whole := item{link: id, first: items[p.item].first}
		for _, part := range items[p.item : p.item+len(chain)] {
			whole.steps += part.steps
		}
		x.trajectories[p.trajectory] = slices.Replace(items, p.item, p.item+len(chain), whole)
	}
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
	c := link{from: x.links[chain[0]].from, to: x.links[chain[len(chain)-1]].to}
	for _, id := range chain {
		c.labels = append(c.labels, x.links[id].labels...)
	}
	key := string(binary.LittleEndian.AppendUint64(nil, uint64(c.from)<<32|uint64(c.to))) + sequenceKey(c.labels)
	id, known := x.composites[key]
	if !known {
		id = x.add(c)
		x.composites[key] = id
	}
	return id
}

// saving returns by how much the calls and the calling turns of a trajectory become fewer when
// the first n items become one call in the turn of the first. It frees the turns of all its
// calls but that one, less the last if a later call is made in it too.
func (x *extractor) saving(items []item, n int) (calls, turns int) {
	first, last := -1, -1
	for i := range items[:n] {
		made, from, to := x.calls(&items[i])
		if made == 0 {
			continue
		}
		if first < 0 {
			first, last = from, from
		}
		if from != last {
			turns++
		}
		turns += to - from
		calls, last = calls+made, to
	}
	if last != first && x.turnOf(items[n:]) == last {
		turns--
	}
	return max(0, calls-1), turns
}

// calls returns how many calls an item is, and the turns of the first and the last of them.
func (x *extractor) calls(i *item) (n, first, last int) {
	w := x.merged.Walks
	if i.steps == 1 {
		_, _, n = w.Calls(i.first)
		first, last = w.Turns(i.first)
		return n, first, last
	}
	for p := i.first; p < i.first+merge.Place(i.steps); p++ {
		if _, _, n := w.Calls(p); n > 0 {
			first, _ = w.Turns(p)
			return 1, first, first
		}
	}
	return 0, 0, 0 // made of inserted steps alone
}

// turnOf returns the turn of the first call of some items, -1 if there is none. Steps that
// rules inserted are no calls.
func (x *extractor) turnOf(items []item) int {
	for i := range items {
		if n, first, _ := x.calls(&items[i]); n > 0 {
			return first
		}
	}
	return -1
}
