package stategraph

import (
	"cmp"
	"slices"
)

// Graph is a finished graph of states. It does not change, and any number of
// readers may share it.
type Graph struct {
	states int

	edges []edge // by EdgeID

	// Edges by source: those of state s are out[outStart[s]:outStart[s+1]],
	// ordered by target, then label.
	outStart []uint32
	out      []EdgeID

	distance []uint32

	executions, starts, steps int
}

// Edge is one edge of a Graph with its counts.
type Edge struct {
	From, To    StateID
	Label       Label
	Weight      int // executions that take it at least once
	Occurrences int // times that it is taken
	Free        int // executions in which it is taken joined to the step before (Flags.Joined)
}

// edge is an Edge in half the memory.
type edge struct {
	from, to                  StateID
	label                     Label
	weight, occurrences, free uint32
}

// IsLoop reports whether the edge leaves the state as it is.
func (e Edge) IsLoop() bool { return e.From == e.To }

// index works out what is derived from the edges: the lists of outgoing edges
// and the distances from the root.
func (g *Graph) index() {
	g.outStart = make([]uint32, g.states+1)
	for i := range g.edges {
		g.outStart[g.edges[i].from+1]++
	}
	for s := range g.states {
		g.outStart[s+1] += g.outStart[s]
	}
	g.out = make([]EdgeID, len(g.edges))
	next := slices.Clone(g.outStart[:g.states])
	for i := range g.edges {
		s := g.edges[i].from
		g.out[next[s]] = EdgeID(i)
		next[s]++
	}
	for s := range g.states {
		slices.SortFunc(g.Out(StateID(s)), func(a, b EdgeID) int {
			return cmp.Or(cmp.Compare(g.To(a), g.To(b)), cmp.Compare(g.Label(a), g.Label(b)))
		})
	}
	g.distance = g.distances(next)
}

// distances is a breadth-first search. Every state is reachable: the edge that
// discovered it belongs to a walk from the root. queue is scratch space for at
// least as many numbers as there are states.
func (g *Graph) distances(queue []uint32) []uint32 {
	distance := make([]uint32, g.states)
	queue = append(queue[:0], uint32(Root))
	for i := 0; i < len(queue); i++ {
		s := StateID(queue[i])
		for _, e := range g.Out(s) {
			if to := g.To(e); to != Root && distance[to] == 0 {
				distance[to] = distance[s] + 1
				queue = append(queue, uint32(to))
			}
		}
	}
	return distance
}

// States returns the number of states, the root among them.
func (g *Graph) States() int { return g.states }

// Edges returns the number of edges, told apart by source, label and target.
func (g *Graph) Edges() int { return len(g.edges) }

// Executions returns how many walks were added, empty ones included.
func (g *Graph) Executions() int { return g.executions }

// Starts returns how many times a walk began at the root: once for every
// execution that is not empty, and once for every cut.
func (g *Graph) Starts() int { return g.starts }

// Steps returns how many steps all walks had.
func (g *Graph) Steps() int { return g.steps }

// Edge returns an edge.
func (g *Graph) Edge(id EdgeID) Edge {
	e := &g.edges[id]
	return Edge{e.from, e.to, e.label, int(e.weight), int(e.occurrences), int(e.free)}
}

// From returns the state that e leaves.
func (g *Graph) From(e EdgeID) StateID { return g.edges[e].from }

// To returns the state that e leads to.
func (g *Graph) To(e EdgeID) StateID { return g.edges[e].to }

// Label returns what is written on e.
func (g *Graph) Label(e EdgeID) Label { return g.edges[e].label }

// Weight returns how many executions take e at least once.
func (g *Graph) Weight(e EdgeID) int { return int(g.edges[e].weight) }

// Out returns the edges that leave s, by target, then label. The slice is the
// graph's own: it must not be changed.
func (g *Graph) Out(s StateID) []EdgeID { return g.out[g.outStart[s]:g.outStart[s+1]] }

// Distance returns how many edges the shortest walk from the root to s has.
func (g *Graph) Distance(s StateID) int { return int(g.distance[s]) }

// Visits returns, by state, how often executions arrived there or, for the
// root, began there. Their sum is Steps() + Starts(), whatever was merged.
func (g *Graph) Visits() []int {
	visits := make([]int, g.states)
	visits[Root] = g.starts
	for i := range g.edges {
		visits[g.edges[i].to] += int(g.edges[i].occurrences)
	}
	return visits
}

// Ends returns, by state, how many walks (parts of cut executions counted
// singly) ended there. Their sum is Starts().
func (g *Graph) Ends() []int {
	ends := g.Visits()
	for i := range g.edges {
		ends[g.edges[i].from] -= int(g.edges[i].occurrences)
	}
	return ends
}

// Incoming returns the edges that lead to each state, in the order of their numbers. It is
// worked out anew at every call: few passes need it.
func (g *Graph) Incoming() [][]EdgeID {
	in := make([][]EdgeID, g.states)
	for i := range g.edges {
		to := g.edges[i].to
		in[to] = append(in[to], EdgeID(i))
	}
	return in
}
