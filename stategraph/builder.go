package stategraph

import (
	"fmt"
	"math"
	"slices"
)

// EdgeRef names an edge while a Builder still grows. Graph.Edge numbers are
// known at the end only; [Builder.Resolve] translates.
type EdgeRef uint32

// further marks the reference of an edge that did not discover the state it
// leads to. Without the mark, the reference is that state's number.
const further EdgeRef = 1 << 31

// MaxStates is how many states, and how many edges beside those that discover
// a state, a Builder can hold.
const MaxStates = 1<<31 - 1

// Builder collects walks into a graph. The zero value is ready to use. It is
// not safe for concurrent use: numbering by first appearance wants one consumer
// in input order.
type Builder struct {
	// first holds, for every state but the root, the edge that discovered it:
	// in a prefix tree that is all there is, found without a second look-up.
	first chunks[edgeCount]
	// more are the other edges, found through index.
	more  chunks[furtherEdge]
	index edgeIndex

	// repeats counts the occurrences of an edge beyond one an execution: only
	// self-loops and cut executions have any.
	repeats map[EdgeRef]uint32

	seen       repeatSet
	slots      []uint32 // scratch of touch
	touched    uint32   // keeps its loads from being optimised away
	executions int
	starts     int // executions and their parts that are not empty
	steps      int
}

// edgeCount is an edge whose target is known from where it is stored.
type edgeCount struct {
	from   StateID
	label  Label
	weight uint32 // executions that take it
	free   uint32 // executions that take it joined to the step before
}

type furtherEdge struct {
	edgeCount
	to StateID
}

// Add counts one execution. Its states must be numbered by first appearance:
// a step may lead to a state that is known, or to the next new one. The
// references of the edges taken are appended to refs, one a step, which may be
// nil: a caller that keeps the walk keeps those.
func (b *Builder) Add(walk []Step, refs []EdgeRef) []EdgeRef {
	b.executions++
	b.seen.reset(len(walk))
	b.touch(walk)
	from := Root
	for i := range walk {
		step := &walk[i]
		if step.Flags&Cut != 0 || i == 0 {
			from = Root
			b.starts++
		}
		ref, edge := b.edge(from, step.Label, step.To)
		b.count(ref, edge, step.Flags.Joined())
		refs = append(refs, ref)
		from = step.To
	}
	b.steps += len(walk)
	return refs
}

// touch loads the edges that the walk is about to take. The loads do not wait
// for each other, as those of one look-up after the other do: in a graph larger
// than the processor's caches that wait is most of the time.
func (b *Builder) touch(walk []Step) {
	known := StateID(b.States())
	sum := uint32(0)
	for i := range walk {
		if to := walk[i].To; to != Root && to < known {
			sum += b.first.at(int(to) - 1).weight
		}
	}
	if len(b.index.slots) > 0 {
		mask := uint64(len(b.index.slots) - 1)
		b.slots = b.slots[:0]
		from := Root
		for i := range walk {
			step := &walk[i]
			if step.To < known && (step.To == Root || !b.discovered(from, step)) {
				b.slots = append(b.slots, b.index.slots[edgeHash(from, step.Label, step.To)&mask])
			}
			from = step.To
		}
		for _, at := range b.slots {
			if at != 0 {
				sum += b.more.at(int(at - 1)).weight
			}
		}
	}
	b.touched = sum
}

// discovered reports whether the step takes the edge that discovered its state.
func (b *Builder) discovered(from StateID, step *Step) bool {
	edge := b.first.at(int(step.To) - 1)
	return edge.from == from && edge.label == step.Label
}

// count adds one occurrence of an edge in the current execution.
func (b *Builder) count(ref EdgeRef, edge *edgeCount, joined bool) {
	switch old := b.seen.add(ref, joined); {
	case old == notSeen:
		edge.weight++
		if joined {
			edge.free++
		}
	default:
		if joined && old == seenBlocked {
			edge.free++
		}
		if b.repeats == nil {
			b.repeats = map[EdgeRef]uint32{}
		}
		b.repeats[ref]++
	}
}

// edge finds or makes the edge of a transition.
func (b *Builder) edge(from StateID, label Label, to StateID) (EdgeRef, *edgeCount) {
	known := b.States()
	switch {
	case int(to) == known:
		if known > MaxStates {
			panic("stategraph: more than MaxStates states")
		}
		return EdgeRef(to), b.first.append(edgeCount{from: from, label: label})
	case int(to) > known:
		panic(fmt.Sprintf("stategraph: state %d is named before state %d has appeared", to, known))
	case to != Root:
		if edge := b.first.at(int(to) - 1); edge.from == from && edge.label == label {
			return EdgeRef(to), edge
		}
	}
	at, found := b.index.find(&b.more, from, label, to)
	if !found {
		b.more.append(furtherEdge{edgeCount{from: from, label: label}, to})
	}
	return further | EdgeRef(at), &b.more.at(at).edgeCount
}

// States returns how many states there are so far, the root among them.
func (b *Builder) States() int { return b.first.len() + 1 }

// Resolve returns the number that the edge has in the Graph that Graph returns
// now. It is fixed once no more walks are added.
func (b *Builder) Resolve(ref EdgeRef) EdgeID {
	if ref&further == 0 {
		return EdgeID(ref - 1)
	}
	return EdgeID(b.first.len()) + EdgeID(ref&^further)
}

// Graph returns the finished graph. The Builder may be added to afterwards
// without changing it.
func (b *Builder) Graph() *Graph {
	states, edges := b.States(), b.first.len()+b.more.len()
	if edges > math.MaxUint32 {
		panic("stategraph: too many edges for 32 bits")
	}
	g := &Graph{
		states:     states,
		from:       make([]StateID, 0, edges),
		label:      make([]Label, 0, edges),
		weight:     make([]uint32, 0, edges),
		free:       make([]uint32, 0, edges),
		to:         make([]StateID, 0, b.more.len()),
		repeats:    make(map[EdgeID]uint32, len(b.repeats)),
		executions: b.executions,
		starts:     b.starts,
		steps:      b.steps,
	}
	add := func(e *edgeCount) {
		g.from = append(g.from, e.from)
		g.label = append(g.label, e.label)
		g.weight = append(g.weight, e.weight)
		g.free = append(g.free, e.free)
	}
	for i := range b.first.len() {
		add(b.first.at(i))
	}
	for i := range b.more.len() {
		e := b.more.at(i)
		add(&e.edgeCount)
		g.to = append(g.to, e.to)
	}
	for ref, n := range b.repeats {
		g.repeats[b.Resolve(ref)] = n
	}
	g.index()
	return g
}

// chunks is a slice that grows without copying, so that a large one costs what
// it holds and not up to twice as much.
type chunks[T any] struct {
	parts [][]T
	n     int
}

const chunkBits = 12

func (c *chunks[T]) len() int { return c.n }

func (c *chunks[T]) at(i int) *T { return &c.parts[i>>chunkBits][i&(1<<chunkBits-1)] }

func (c *chunks[T]) append(x T) *T {
	part := c.n >> chunkBits
	switch {
	case part == len(c.parts) && part == 0:
		c.parts = append(c.parts, nil) // the first one grows: most graphs are small
	case part == len(c.parts):
		c.parts = append(c.parts, make([]T, 0, 1<<chunkBits))
	}
	c.parts[part] = append(c.parts[part], x)
	c.n++
	return &c.parts[part][len(c.parts[part])-1]
}

// edgeIndex finds the further edges: open addressing over their positions plus
// one, 0 for a free slot.
type edgeIndex struct {
	slots []uint32
}

// find returns the position of the edge in edges and true, or the position
// where the caller is to append it and false.
func (x *edgeIndex) find(edges *chunks[furtherEdge], from StateID, label Label, to StateID) (int, bool) {
	if (edges.len()+1)*4 > len(x.slots)*3 {
		x.grow(edges)
	}
	mask := uint64(len(x.slots) - 1)
	for i := edgeHash(from, label, to); ; i++ {
		at := x.slots[i&mask]
		if at == 0 {
			if edges.len() >= MaxStates {
				panic("stategraph: too many edges")
			}
			x.slots[i&mask] = uint32(edges.len()) + 1
			return edges.len(), false
		}
		if e := edges.at(int(at - 1)); e.from == from && e.label == label && e.to == to {
			return int(at - 1), true
		}
	}
}

func (x *edgeIndex) grow(edges *chunks[furtherEdge]) {
	x.slots = make([]uint32, max(16, 2*len(x.slots)))
	mask := uint64(len(x.slots) - 1)
	for n := range edges.len() {
		e := edges.at(n)
		i := edgeHash(e.from, e.label, e.to)
		for x.slots[i&mask] != 0 {
			i++
		}
		x.slots[i&mask] = uint32(n) + 1
	}
}

// edgeHash mixes the three numbers of an edge. They are dense numbers made
// here, not input that somebody could choose.
func edgeHash(from StateID, label Label, to StateID) uint64 {
	h := uint64(from)<<32 | uint64(to)
	h = (h ^ uint64(label)*0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9
	h ^= h >> 29
	h *= 0x94d049bb133111eb
	return h ^ h>>32
}

// repeatSet knows which edges the current execution has taken. It is emptied
// by counting the execution, not by clearing.
type repeatSet struct {
	slots []repeatSlot
	epoch uint32
}

type repeatSlot struct {
	ref    EdgeRef
	epoch  uint32
	joined bool
}

type seenState uint8

const (
	notSeen seenState = iota
	seenBlocked
	seenJoined
)

// reset empties the set and makes room for n edges.
func (s *repeatSet) reset(n int) {
	s.epoch++
	if s.epoch == 0 || len(s.slots) < 2*n {
		size := max(64, len(s.slots))
		for size < 2*n {
			size *= 2
		}
		s.slots = slices.Grow(s.slots[:0], size)[:size]
		clear(s.slots)
		s.epoch = 1
	}
}

// add notes that the execution took the edge and says whether it had before.
func (s *repeatSet) add(ref EdgeRef, joined bool) seenState {
	mask := uint32(len(s.slots) - 1)
	for i := uint32(ref) * 0x9e3779b1 >> 7; ; i++ {
		slot := &s.slots[i&mask]
		switch {
		case slot.epoch != s.epoch:
			*slot = repeatSlot{ref, s.epoch, joined}
			return notSeen
		case slot.ref != ref:
		case slot.joined:
			return seenJoined
		default:
			slot.joined = joined
			return seenBlocked
		}
	}
}
