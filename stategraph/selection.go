package stategraph

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"
	"strings"
)

// Names says what labels are called. Each function may be nil: labels then
// show as their numbers, and belong to no tool.
type Names struct {
	Label func(Label) string // the text for an edge
	Tool  func(Label) string // the tool that is called
}

func (n Names) label(l Label) string {
	if n.Label == nil {
		return fmt.Sprintf("label %d", l)
	}
	return n.Label(l)
}

func (n Names) tool(l Label) string {
	if n.Tool == nil {
		return ""
	}
	return n.Tool(l)
}

// Mapped returns the names with their texts, those that stand for missing functions
// too, as to returns them.
func (n Names) Mapped(to func(text func(Label) string) func(Label) string) Names {
	return Names{Label: to(n.label), Tool: to(n.tool)}
}

// Selection says which part of a graph is wanted. The zero value selects all.
type Selection struct {
	MinWeight int // leave out edges that fewer executions take
	MaxStates int // keep at most so many states; 0 for no limit

	// Focus keeps the states from which and to which at most Depth edges lead,
	// counted from the focus: a state, or all edges of a tool. Nil for the root
	// and no limit of depth.
	Focus *Focus
	Depth int
}

// Focus is a state or a tool: Tool if that is not empty, else State.
type Focus struct {
	State StateID
	Tool  string
}

// View is the part of a graph that a Selection keeps.
type View struct {
	Graph   *Graph
	States  []StateID // ascending
	Edges   []EdgeID  // by source, then target, then label
	LeftOut LeftOut
}

// LeftOut says what a View does not show, and why.
type LeftOut struct {
	States int `json:"states"` // not shown, for whatever reason
	Edges  int `json:"edges"`

	LightEdges  int `json:"light_edges"`  // edges below MinWeight
	FarStates   int `json:"far_states"`   // states that the focus and its depth, or the edges left, do not reach
	ExtraStates int `json:"extra_states"` // states beyond MaxStates, the least visited
}

// IsZero reports whether nothing was left out.
func (l LeftOut) IsZero() bool { return l == LeftOut{} }

// String says in words what was left out, "" if nothing was.
func (l LeftOut) String() string {
	if l.IsZero() {
		return ""
	}
	var why []string
	add := func(n int, noun, reason string) {
		if n > 0 {
			why = append(why, count(n, noun)+" "+reason)
		}
	}
	add(l.LightEdges, "edge", "below the minimum weight")
	add(l.FarStates, "state", "not connected or too far from the focus")
	add(l.ExtraStates, "state", "beyond the maximum")
	return fmt.Sprintf("left out: %s and %s (%s)", count(l.States, "state"), count(l.Edges, "edge"), strings.Join(why, ", "))
}

// count writes a number of things.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// NoFocusError means that the focus of a Selection is not in the graph.
type NoFocusError struct{ Focus Focus }

// Error names the focus.
func (e *NoFocusError) Error() string {
	if e.Focus.Tool != "" {
		return fmt.Sprintf("no edge of the graph calls the tool %q", e.Focus.Tool)
	}
	return fmt.Sprintf("the graph has no state %d", e.Focus.State)
}

// Select returns the part of the graph that the selection keeps: the states
// within reach of the focus or the root, along edges heavy enough, and of
// those, if they are too many, the ones that a growth from there by the most
// visited neighbour takes first. What is kept hangs together, so MaxStates
// leaves the busiest surroundings and not islands. Without a focus only edges
// that lead away count, with one both directions do. The error, if any, is a
// *NoFocusError.
func (g *Graph) Select(s Selection, names Names) (*View, error) {
	n := neighbourhood{graph: g, minWeight: s.MinWeight}
	seeds, depth := []StateID{Root}, -1
	if s.Focus != nil {
		n.incoming = g.Incoming()
		seeds, depth = g.focus(*s.Focus, names), max(0, s.Depth)
		if seeds == nil {
			return nil, &NoFocusError{*s.Focus}
		}
	}
	region, within := n.region(seeds, depth)
	kept := within
	if s.MaxStates > 0 && region > s.MaxStates {
		kept = n.busiest(seeds, within, s.MaxStates)
	}
	return g.view(kept, region, s.MinWeight), nil
}

// focus returns the states that a Focus means, nil if there are none.
func (g *Graph) focus(f Focus, names Names) []StateID {
	if f.Tool == "" {
		if int(f.State) >= g.States() {
			return nil
		}
		return []StateID{f.State}
	}
	var seeds []StateID
	isTool := map[Label]bool{}
	for i := range g.edges {
		e := &g.edges[i]
		is, known := isTool[e.label]
		if !known {
			is = names.tool(e.label) == f.Tool
			isTool[e.label] = is
		}
		if is {
			seeds = append(seeds, e.from, e.to)
		}
	}
	slices.Sort(seeds)
	return slices.Compact(seeds)
}

// view makes the View of the states that are kept, out of a region of so many.
func (g *Graph) view(kept []bool, region, minWeight int) *View {
	v := &View{Graph: g}
	for s := range StateID(g.States()) {
		if !kept[s] {
			continue
		}
		v.States = append(v.States, s)
		for _, e := range g.Out(s) {
			if g.Weight(e) >= minWeight && kept[g.To(e)] {
				v.Edges = append(v.Edges, e)
			}
		}
	}
	v.LeftOut = LeftOut{
		States:      g.States() - len(v.States),
		Edges:       g.Edges() - len(v.Edges),
		FarStates:   g.States() - region,
		ExtraStates: region - len(v.States),
	}
	for i := range g.edges {
		if int(g.edges[i].weight) < minWeight {
			v.LeftOut.LightEdges++
		}
	}
	return v
}

// neighbourhood says which states are next to each other for a Selection.
type neighbourhood struct {
	graph     *Graph
	minWeight int
	incoming  [][]EdgeID // nil: along the edges only
}

// each calls f for every state next to s.
func (n *neighbourhood) each(s StateID, f func(StateID)) {
	for _, e := range n.graph.Out(s) {
		if n.graph.Weight(e) >= n.minWeight {
			f(n.graph.To(e))
		}
	}
	if n.incoming == nil {
		return
	}
	for _, e := range n.incoming[s] {
		if n.graph.Weight(e) >= n.minWeight {
			f(n.graph.From(e))
		}
	}
}

// region marks the states at most depth edges away from the seeds, any number
// if depth is negative, and counts them.
func (n *neighbourhood) region(seeds []StateID, depth int) (int, []bool) {
	within := make([]bool, n.graph.States())
	var ring []StateID
	count := 0
	enter := func(s StateID) {
		if !within[s] {
			within[s] = true
			count++
			ring = append(ring, s)
		}
	}
	for _, s := range seeds {
		enter(s)
	}
	for ; len(ring) > 0 && depth != 0; depth-- {
		last := ring
		ring = nil
		for _, s := range last {
			n.each(s, enter)
		}
	}
	return count, within
}

// busiest marks the limit states that growing from the seeds by the most
// visited neighbour takes first.
func (n *neighbourhood) busiest(seeds []StateID, within []bool, limit int) []bool {
	kept := make([]bool, len(within))
	queued := make([]bool, len(within))
	frontier := byVisits{visits: n.graph.Visits()}
	enter := func(s StateID) {
		if within[s] && !queued[s] {
			queued[s] = true
			heap.Push(&frontier, s)
		}
	}
	for _, s := range seeds {
		enter(s)
	}
	for ; limit > 0 && len(frontier.states) > 0; limit-- {
		s := heap.Pop(&frontier).(StateID)
		kept[s] = true
		n.each(s, enter)
	}
	return kept
}

// byVisits is a heap of states, the most visited first, then the earliest.
type byVisits struct {
	visits []int
	states []StateID
}

func (h *byVisits) Len() int { return len(h.states) }

func (h *byVisits) Less(i, j int) bool {
	a, b := h.states[i], h.states[j]
	return cmp.Or(cmp.Compare(h.visits[b], h.visits[a]), cmp.Compare(a, b)) < 0
}

func (h *byVisits) Swap(i, j int) { h.states[i], h.states[j] = h.states[j], h.states[i] }

func (h *byVisits) Push(s any) { h.states = append(h.states, s.(StateID)) }

func (h *byVisits) Pop() any {
	last := len(h.states) - 1
	s := h.states[last]
	h.states = h.states[:last]
	return s
}
