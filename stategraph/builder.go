package stategraph

import (
	"fmt"
	"math"
	"slices"
)

// MaxStates is how many states, and how many edges, a Builder can hold.
const MaxStates = math.MaxInt32

// Builder collects walks into a graph. The zero value is ready to use. It is
// not safe for concurrent use: numbering by first appearance wants one consumer
// in input order.
type Builder struct {
	edges []edge

	// discovered holds, for every state but the root, the edge that discovered it:
	// in a prefix tree that is all there is, found without a second look-up. index
	// has the other edges.
	discovered []EdgeID
	index      map[edgeKey]EdgeID

	seen       map[EdgeID]bool // in the current execution: whether it was taken joined
	executions int
	starts     int // executions and their parts that are not empty
	steps      int
}

// edgeKey is what tells edges apart.
type edgeKey struct {
	from, to StateID
	label    Label
}

// Add counts one execution. Its states must be numbered by first appearance:
// a step may lead to a state that is known, or to the next new one. The
// edges taken are appended to taken, one a step, which may be nil: a caller that
// keeps the walk keeps those.
func (b *Builder) Add(walk []Step, taken []EdgeID) []EdgeID {
	b.executions++
	if b.seen == nil {
		b.seen, b.index = map[EdgeID]bool{}, map[edgeKey]EdgeID{}
	}
	clear(b.seen)
	from := Root
	for i := range walk {
		step := &walk[i]
		if step.Flags&Cut != 0 || i == 0 {
			from = Root
			b.starts++
		}
		id := b.edge(edgeKey{from, step.To, step.Label})
		b.count(id, step.Flags.Joined())
		taken = append(taken, id)
		from = step.To
	}
	b.steps += len(walk)
	return taken
}

// count adds one occurrence of an edge in the current execution.
func (b *Builder) count(id EdgeID, joined bool) {
	e := &b.edges[id]
	wasJoined, again := b.seen[id]
	e.occurrences++
	if !again {
		e.weight++
	}
	if joined && !wasJoined {
		e.free++
	}
	if !again || joined && !wasJoined {
		b.seen[id] = joined
	}
}

// edge finds or makes the edge of a transition.
func (b *Builder) edge(k edgeKey) EdgeID {
	known, next := b.States(), EdgeID(len(b.edges))
	if int(k.to) > known {
		panic(fmt.Sprintf("stategraph: state %d is named before state %d has appeared", k.to, known))
	}
	if int(k.to) == known {
		b.discovered = append(b.discovered, next)
	} else {
		if k.to != Root {
			id := b.discovered[k.to-1]
			if e := &b.edges[id]; e.from == k.from && e.label == k.label {
				return id
			}
		}
		if id, is := b.index[k]; is {
			return id
		}
		b.index[k] = next
	}
	if next > MaxStates {
		panic("stategraph: too many edges")
	}
	b.edges = append(b.edges, edge{from: k.from, to: k.to, label: k.label})
	return next
}

// States returns how many states there are so far, the root among them.
func (b *Builder) States() int { return len(b.discovered) + 1 }

// Graph returns the finished graph. The Builder may be added to afterwards
// without changing it.
func (b *Builder) Graph() *Graph {
	g := &Graph{states: b.States(), edges: slices.Clone(b.edges), executions: b.executions, starts: b.starts, steps: b.steps}
	g.index()
	return g
}
