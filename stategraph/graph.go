package stategraph

import (
	"cmp"
	"slices"
)

// Graph is a finished graph of states. It does not change, and any number of
// readers may share it.
type Graph struct {
	states int

	// By EdgeID. An edge below states-1 leads to the state after its own number,
	// so only the later ones need a target.
	from   []StateID
	label  []Label
	weight []uint32
	free   []uint32
	to     []StateID // by EdgeID - (states-1)

	repeats map[EdgeID]uint32 // occurrences beyond one an execution

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

// IsLoop reports whether the edge leaves the state as it is.
func (e Edge) IsLoop() bool { return e.From == e.To }

// index works out what is derived from the edges: the lists of outgoing edges
// and the distances from the root.
func (g *Graph) index() {
	g.outStart = make([]uint32, g.states+1)
	for _, s := range g.from {
		g.outStart[s+1]++
	}
	for s := range g.states {
		g.outStart[s+1] += g.outStart[s]
	}
	g.out = make([]EdgeID, len(g.from))
	next := slices.Clone(g.outStart[:g.states])
	for e, s := range g.from {
		g.out[next[s]] = EdgeID(e)
		next[s]++
	}
	for s := range g.states {
		slices.SortFunc(g.Out(StateID(s)), func(a, b EdgeID) int {
			return cmp.Or(cmp.Compare(g.To(a), g.To(b)), cmp.Compare(g.label[a], g.label[b]))
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
func (g *Graph) Edges() int { return len(g.from) }

// Executions returns how many walks were added, empty ones included.
func (g *Graph) Executions() int { return g.executions }

// Starts returns how many times a walk began at the root: once for every
// execution that is not empty, and once for every cut.
func (g *Graph) Starts() int { return g.starts }

// Steps returns how many steps all walks had.
func (g *Graph) Steps() int { return g.steps }

// Edge returns the edge e.
func (g *Graph) Edge(e EdgeID) Edge {
	return Edge{
		From: g.from[e], To: g.To(e), Label: g.label[e],
		Weight: int(g.weight[e]), Occurrences: int(g.weight[e] + g.repeats[e]), Free: int(g.free[e]),
	}
}

// From returns the state that e leaves.
func (g *Graph) From(e EdgeID) StateID { return g.from[e] }

// To returns the state that e leads to.
func (g *Graph) To(e EdgeID) StateID {
	if int(e) < g.states-1 {
		return StateID(e) + 1
	}
	return g.to[int(e)-(g.states-1)]
}

// Label returns what is written on e.
func (g *Graph) Label(e EdgeID) Label { return g.label[e] }

// Weight returns how many executions take e at least once.
func (g *Graph) Weight(e EdgeID) int { return int(g.weight[e]) }

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
	for e := range g.from {
		visits[g.To(EdgeID(e))] += int(g.weight[e] + g.repeats[EdgeID(e)])
	}
	return visits
}

// Ends returns, by state, how many walks (parts of cut executions counted
// singly) ended there. Their sum is Starts().
func (g *Graph) Ends() []int {
	ends := g.Visits()
	for e, s := range g.from {
		ends[s] -= int(g.weight[e] + g.repeats[EdgeID(e)])
	}
	return ends
}

// Incoming is the edges of a graph by target.
type Incoming struct {
	start []uint32
	edges []EdgeID
}

// In returns the edges that lead to s, in the order of their numbers.
func (in *Incoming) In(s StateID) []EdgeID { return in.edges[in.start[s]:in.start[s+1]] }

// Incoming returns the edges by target. It is worked out anew at every call:
// few passes need it.
func (g *Graph) Incoming() *Incoming {
	in := &Incoming{start: make([]uint32, g.states+1), edges: make([]EdgeID, len(g.from))}
	for e := range g.from {
		in.start[g.To(EdgeID(e))+1]++
	}
	for s := range g.states {
		in.start[s+1] += in.start[s]
	}
	next := slices.Clone(in.start[:g.states])
	for e := range g.from {
		to := g.To(EdgeID(e))
		in.edges[next[to]] = EdgeID(e)
		next[to]++
	}
	return in
}
