package process

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/completeness"
)

// Bounds of a Map. What is beyond them is counted under OtherTools, or in
// Map.EdgesLeftOut.
const (
	MaxNodes = 2000
	MaxEdges = 100000
)

// OtherTools stands for the tools that are not nodes of their own.
const OtherTools = "(other tools)"

// Map is the directly-follows graph of the calls that a model decided on.
type Map struct {
	Trajectories int // with at least one such call
	Nodes        []Node
	Edges        []Edge
	OtherTools   int // calls of tools beyond MaxNodes
	EdgesLeftOut int // steps from one call to the next beyond MaxEdges
}

// Node is a tool.
type Node struct {
	Tool         string      `json:"tool"`
	Calls        int         `json:"calls"`
	Trajectories int         `json:"trajectories"`
	Failed       int         `json:"failed"`            // calls that failed
	Judged       int         `json:"calls_with_status"` // calls of which it is known whether they failed
	Median       stat.Figure `json:"median_seconds"`

	Duration completeness.Distribution `json:"-"` // nanoseconds
}

// The ends of an Edge that are no tool.
const (
	Start = -1 // of a trajectory
	End   = -2
)

// Edge says that one call came right after another.
type Edge struct {
	From         int         `json:"-"` // indexes of Map.Nodes, or Start and End
	To           int         `json:"-"`
	FromTool     *string     `json:"from"` // nil: the trajectory begins
	ToTool       *string     `json:"to"`   // nil: the trajectory ends
	Count        int         `json:"count"`
	Trajectories int         `json:"trajectories"`
	Parallel     int         `json:"in_one_turn"` // of Count
	Between      stat.Figure `json:"median_seconds_between"`

	Gap completeness.Distribution `json:"-"` // nanoseconds from the end of the one to the start of the other
}

// Builder makes a Map.
type Builder struct {
	numbers map[trace.Name]int32
	nodes   []Node
	edges   map[[2]int32]*Edge
	seen    map[[2]int32]struct{} // edges of the trajectory at hand
	met     map[int32]struct{}    // nodes of it
	runs    int
	other   int
	dropped int
}

// NewBuilder returns an empty Builder.
func NewBuilder() *Builder {
	return &Builder{
		numbers: map[trace.Name]int32{}, edges: map[[2]int32]*Edge{},
		seen: map[[2]int32]struct{}{}, met: map[int32]struct{}{},
	}
}

// Add counts a trajectory. It keeps nothing of t.
func (b *Builder) Add(t *trace.Trajectory) {
	clear(b.seen)
	clear(b.met)
	before, last := int32(Start), (*trace.Call)(nil)
	for i := range t.Calls {
		c := &t.Calls[i]
		if c.Origin != trace.OriginModel {
			continue
		}
		n := b.node(c)
		b.edge(before, n, last, c)
		before, last = n, c
	}
	if last == nil {
		return
	}
	b.edge(before, End, last, nil)
	b.runs++
}

// node counts a call and returns the number of its tool.
func (b *Builder) node(c *trace.Call) int32 {
	n, ok := b.numbers[c.Tool]
	if !ok {
		if len(b.nodes) < MaxNodes {
			n = int32(len(b.nodes))
			b.nodes = append(b.nodes, Node{Tool: c.Tool.Value()})
		} else {
			n = b.otherNode()
		}
		b.numbers[c.Tool] = n
	}
	node := &b.nodes[n]
	node.Calls++
	if n >= MaxNodes {
		b.other++
	}
	if _, ok := b.met[n]; !ok {
		b.met[n] = struct{}{}
		node.Trajectories++
	}
	if c.Status != trace.StatusUnknown {
		node.Judged++
		if c.Status == trace.StatusFailed {
			node.Failed++
		}
	}
	if took := c.End.Sub(c.Start); !c.Start.IsZero() && !c.End.IsZero() && took >= 0 {
		node.Duration.Add(uint64(took))
	}
	return n
}

// otherNode returns the node behind the last one, for all other tools.
func (b *Builder) otherNode() int32 {
	if len(b.nodes) == MaxNodes {
		b.nodes = append(b.nodes, Node{Tool: OtherTools})
	}
	return MaxNodes
}

// edge counts a step from one call to the next.
func (b *Builder) edge(from, to int32, last, next *trace.Call) {
	key := [2]int32{from, to}
	e := b.edges[key]
	if e == nil {
		if len(b.edges) >= MaxEdges {
			b.dropped++
			return
		}
		e = &Edge{From: int(from), To: int(to)}
		b.edges[key] = e
	}
	e.Count++
	if _, ok := b.seen[key]; !ok {
		b.seen[key] = struct{}{}
		e.Trajectories++
	}
	if last == nil || next == nil {
		return
	}
	if last.Turn >= 0 && last.Turn == next.Turn {
		e.Parallel++
	}
	if !last.End.IsZero() && !next.Start.IsZero() && next.Start.After(last.End) {
		e.Gap.Add(uint64(next.Start.Sub(last.End)))
	}
}

// Map returns what was counted: nodes by calls, most first, and then by name; edges
// by count, most first, and then by nodes.
func (b *Builder) Map() *Map {
	order := make([]int, len(b.nodes))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, k int) int {
		x, y := &b.nodes[i], &b.nodes[k]
		return cmp.Or(cmp.Compare(y.Calls, x.Calls), strings.Compare(x.Tool, y.Tool))
	})
	m := &Map{Trajectories: b.runs, OtherTools: b.other, EdgesLeftOut: b.dropped, Nodes: make([]Node, len(order))}
	place := map[int]int{Start: Start, End: End}
	for at, i := range order {
		m.Nodes[at], place[i] = b.nodes[i], at
		m.Nodes[at].Median = SpreadOf(&b.nodes[i].Duration, float64(time.Second), "the traces do not record when these calls began and ended").Median
	}
	for _, e := range b.edges {
		moved := *e
		moved.From, moved.To = place[e.From], place[e.To]
		moved.FromTool, moved.ToTool = m.name(moved.From), m.name(moved.To)
		moved.Between = SpreadOf(&e.Gap, float64(time.Second), "the traces do not record when the first call ended and the second began, or they overlap").Median
		m.Edges = append(m.Edges, moved)
	}
	slices.SortFunc(m.Edges, func(x, y Edge) int {
		return cmp.Or(cmp.Compare(y.Count, x.Count), cmp.Compare(x.From, y.From), cmp.Compare(x.To, y.To))
	})
	return m
}

// name returns the tool of a node, nil for the ends of a trajectory.
func (m *Map) name(node int) *string {
	if node < 0 {
		return nil
	}
	return &m.Nodes[node].Tool
}
