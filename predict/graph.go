package predict

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/awo-dev/awo/internal/bounds"
	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/trace"
)

// The lengths of contexts, in calls.
const (
	DefaultOrder = 3
	MaxOrder     = 6
)

// NoneSymbol is the turn that makes no call; tools are numbered from 1, and
// startSymbol stands before the first call of a trajectory. States are the first
// symbol of every context but the empty one.
const (
	NoneSymbol  uint32 = 0
	startSymbol uint32 = 1<<32 - 1
)

// Counts says how often something happened, by how the call ended. A turn that
// makes no call counts as Unknown.
type Counts struct {
	OK       uint64 `json:"ok"`
	Failed   uint64 `json:"failed"`
	Unknown  uint64 `json:"unknown"`
	Multiple uint64 `json:"multiple"` // of these, turns that made several calls
}

// Total returns how often it happened.
func (c Counts) Total() uint64 { return c.OK + c.Failed + c.Unknown }

// Add adds the counts of o.
func (c *Counts) Add(o Counts) {
	c.OK += o.OK
	c.Failed += o.Failed
	c.Unknown += o.Unknown
	c.Multiple += o.Multiple
}

func countsOf(s trace.Status, multiple bool) Counts {
	var c Counts
	switch s {
	case trace.StatusOK:
		c.OK = 1
	case trace.StatusFailed:
		c.Failed = 1
	default:
		c.Unknown = 1
	}
	if multiple {
		c.Multiple = 1
	}
	return c
}

// A Graph is the Tool Inertia Graph as counts: tools, what followed which
// contexts of 0 to Order calls, and where arguments came from. It is built in one
// pass and grows with new trajectories.
//
// Graphs add up: [Graph.Merge] is associative and commutative, and loses nothing.
// Two graphs with the same counts give the same [Model], whatever the order in
// which they were made. A Graph is not safe for concurrent use while it grows.
type Graph struct {
	order        int
	trajectories uint64
	newest       int32

	names    []trace.Name // by symbol; 0 is none
	symbols  map[trace.Name]uint32
	tools    []tool
	defined  []*ToolInfo // the first of lists that were added
	children map[edge]uint32
	parents  []edge // by node: how it is reached; node 0 is the empty context
	cells    map[cell]*Counts
	links    map[link]*RuleUse
	texts    []string // of parameters and paths; 0 is ""
	numbers  map[string]uint32
}

// edge is a step from a context to one that is longer by an older symbol.
type edge struct {
	node   uint32
	symbol uint32
}

// cell is what followed a context in one period.
type cell struct {
	node   uint32
	next   uint32
	period int32
}

// link is a rule for a parameter, in a class of situations.
type link struct {
	tool  uint32
	param uint32 // text
	from  uint32 // symbol of the source's tool, 0 for texts
	path  uint32 // text; "" counts the pair of tools
	side  dataflow.Side
	class Class
}

// tool is a node of the graph.
type tool struct {
	counts      Counts // of all calls, whoever decided on them
	calls       uint64 // of the model
	effect      Effect
	description string
	required    map[string]bool // by the definitions
	params      map[string]uint64
	schema      bool
}

// NewGraph returns an empty graph with contexts of up to order calls (1 to
// [MaxOrder]); 0 means [DefaultOrder].
func NewGraph(order int) *Graph {
	if order == 0 {
		order = DefaultOrder
	}
	if order < 1 || order > MaxOrder {
		panic(fmt.Sprintf("predict: contexts of %d calls", order))
	}
	return &Graph{
		order: order, names: []trace.Name{noName}, symbols: map[trace.Name]uint32{}, tools: make([]tool, 1),
		children: map[edge]uint32{}, parents: make([]edge, 1), cells: map[cell]*Counts{}, links: map[link]*RuleUse{}, texts: []string{""}, numbers: map[string]uint32{"": 0},
	}
}

// Order returns the length of the longest contexts, in calls.
func (g *Graph) Order() int { return g.order }

// Trajectories returns how many trajectories were added.
func (g *Graph) Trajectories() uint64 { return g.trajectories }

// Tools returns how many tools the graph knows.
func (g *Graph) Tools() int { return len(g.names) - 1 }

// Contexts returns how many contexts the graph has counts of.
func (g *Graph) Contexts() int { return len(g.parents) }

// symbol returns the number of a tool, which is new if it was never met.
func (g *Graph) symbol(name trace.Name) uint32 {
	if name == noName {
		name = trace.Intern("")
	}
	if s, ok := g.symbols[name]; ok {
		return s
	}
	s := uint32(len(g.names))
	g.symbols[name] = s
	g.names = append(g.names, name)
	g.tools = append(g.tools, tool{params: map[string]uint64{}})
	return s
}

// child returns the context that is older by symbol.
func (g *Graph) child(node, symbol uint32) uint32 {
	e := edge{node, symbol}
	n, ok := g.children[e]
	if !ok {
		n = uint32(len(g.parents))
		g.children[e] = n
		g.parents = append(g.parents, e)
	}
	return n
}

func (g *Graph) count(c cell, n Counts) {
	to := g.cells[c]
	if to == nil {
		to = &Counts{}
		g.cells[c] = to
	}
	to.Add(n)
}

// text returns the number of a parameter or path.
func (g *Graph) text(s string) uint32 {
	n, ok := g.numbers[s]
	if !ok {
		n = uint32(len(g.texts))
		g.numbers[s] = n
		g.texts = append(g.texts, s)
	}
	return n
}

func (g *Graph) link(l link, n RuleUse) {
	to := g.links[l]
	if to == nil {
		to = &RuleUse{}
		g.links[l] = to
	}
	to.add(n)
}

// Add adds what a trajectory teaches.
func (g *Graph) Add(o *Observation) {
	g.trajectories++
	g.newest = max(g.newest, o.Period)
	g.define(o.Defined)
	calls := make([]uint32, len(o.Calls))
	for i, name := range o.Calls {
		calls[i] = g.symbol(name)
		g.tools[calls[i]].calls++
	}
	for i := range o.Decisions {
		d := &o.Decisions[i]
		next, n := NoneSymbol, countsOf(d.Status, d.Multiple)
		if !d.None() {
			next = calls[d.Call]
			g.tools[next].counts.Add(n)
		}
		g.follow(d, calls, func(node uint32) { g.count(cell{node, next, o.Period}, n) })
	}
	for _, x := range o.others {
		g.tools[g.symbol(x.tool)].counts.Add(countsOf(x.status, false))
	}
	g.addUses(o)
}

// addUses adds what the arguments of a trajectory say about rules.
func (g *Graph) addUses(o *Observation) {
	params, rules := make([]link, len(o.params)), make([]link, len(o.rules))
	for i, p := range o.params {
		params[i] = link{tool: g.symbol(p.tool), param: g.text(p.param)}
		g.tools[params[i].tool].params[p.param] += p.calls
	}
	for i, r := range o.rules {
		rules[i] = link{side: r.side, path: g.text(r.path)}
		if r.side <= dataflow.Input {
			rules[i].from = g.symbol(r.tool)
		}
	}
	for i := range o.uses {
		u := &o.uses[i]
		l := rules[u.rule]
		l.tool, l.param, l.class = params[u.param].tool, params[u.param].param, u.class
		g.link(l, u.RuleUse)
	}
}

// maxDefined is how many lists of definitions are told apart from new ones.
const maxDefined = 64

// define adds a list of definitions. One that is added again, as most trajectories offer one
// of a few, says nothing new.
func (g *Graph) define(infos []ToolInfo) {
	if len(infos) == 0 || slices.Contains(g.defined, &infos[0]) {
		return
	}
	if len(g.defined) < maxDefined {
		g.defined = append(g.defined, &infos[0])
	}
	for i := range infos {
		g.Define(infos[i])
	}
}

// Met yields the tools that trajectories name, and whether one of them calls it.
func (g *Graph) Met() iter.Seq2[trace.Name, bool] {
	return func(yield func(trace.Name, bool) bool) {
		for i := 1; i < len(g.names); i++ {
			if t := &g.tools[i]; !yield(g.names[i], t.calls > 0 || t.counts.Total() > 0) {
				return
			}
		}
	}
}

// follow calls do for every context of a decision, the empty one first.
func (g *Graph) follow(d *Decision, calls []uint32, do func(node uint32)) {
	node := uint32(0)
	do(node)
	node = g.child(node, uint32(d.State))
	do(node)
	for i := range g.order {
		symbol := startSymbol
		if place := d.Before - 1 - i; place >= 0 {
			symbol = calls[place]
		}
		node = g.child(node, symbol)
		do(node)
		if symbol == startSymbol {
			return
		}
	}
}

// Define adds what a definition says about a tool, which may be all that is
// known of it. Of several descriptions the longest counts, of equally long ones
// the first in order.
func (g *Graph) Define(info ToolInfo) {
	t := &g.tools[g.symbol(info.Name)]
	t.describe(info.Description)
	if !info.Schema {
		return
	}
	t.schema = true
	for _, p := range info.Required {
		t.require(p)
	}
}

func (t *tool) require(param string) {
	if t.required == nil {
		t.required = map[string]bool{}
	}
	t.required[param] = true
}

func (t *tool) describe(text string) {
	if cmp.Or(cmp.Compare(len(text), len(t.description)), cmp.Compare(t.description, text)) > 0 {
		t.description = text
	}
}

// Declare notes what a tool's calls may change. Of several declarations that of a
// write counts.
func (g *Graph) Declare(name trace.Name, e Effect) {
	t := &g.tools[g.symbol(name)]
	t.effect = max(t.effect, e)
}

// Merge adds the counts of o, which stays as it is. It refuses graphs with
// contexts of another length.
func (g *Graph) Merge(o *Graph) error {
	if g.order != o.order {
		return fmt.Errorf("contexts of up to %d calls do not add to those of up to %d", o.order, g.order)
	}
	g.add(o, nil, false)
	return nil
}

// add adds the counts of o as far as they fit g: of no longer contexts, without the tools
// that are left out, and without states all as of one.
func (g *Graph) add(o *Graph, isLeftOut []bool, noState bool) {
	g.trajectories += o.trajectories
	g.newest = max(g.newest, o.newest)
	symbols := make([]uint32, len(o.names)) // 0 is none, and what is left out
	for i := 1; i < len(o.names); i++ {
		if isLeftOut == nil || !isLeftOut[i] {
			symbols[i] = g.symbol(o.names[i])
			g.tools[symbols[i]].merge(&o.tools[i])
		}
	}
	nodes, depth, kept := make([]uint32, len(o.parents)), make([]int, len(o.parents)), make([]bool, len(o.parents))
	kept[0] = true
	for i := 1; i < len(o.parents); i++ { // parents stand before their children
		e := o.parents[i]
		symbol := e.symbol
		switch {
		case e.node == 0 && noState:
			symbol = 0
		case e.node != 0 && symbol != startSymbol:
			symbol = symbols[symbol]
		}
		depth[i] = depth[e.node] + 1
		if kept[i] = kept[e.node] && depth[i] <= g.order+1 && (e.node == 0 || symbol != 0); kept[i] {
			nodes[i] = g.child(nodes[e.node], symbol)
		}
	}
	for c, n := range o.cells {
		if kept[c.node] && (c.next == NoneSymbol || symbols[c.next] != 0) {
			g.count(cell{nodes[c.node], symbols[c.next], c.period}, *n)
		}
	}
	for l, n := range o.links {
		if symbols[l.tool] != 0 && (l.from == 0 || symbols[l.from] != 0) {
			l.tool, l.from, l.param, l.path = symbols[l.tool], symbols[l.from], g.text(o.texts[l.param]), g.text(o.texts[l.path])
			g.link(l, *n)
		}
	}
}

func (t *tool) merge(o *tool) {
	t.counts.Add(o.counts)
	t.calls += o.calls
	t.effect = max(t.effect, o.effect)
	t.describe(o.description)
	t.schema = t.schema || o.schema
	for p := range o.required {
		t.require(p)
	}
	for p, n := range o.params {
		t.params[p] += n
	}
}

// bounded returns the graph without the tools beyond bounds.Tools, the rarest: a
// prediction looks at every tool. What was counted of them is left out too.
func (g *Graph) bounded() *Graph {
	if g.Tools() <= bounds.Tools {
		return g
	}
	order := make([]uint32, g.Tools())
	for i := range order {
		order[i] = uint32(i + 1)
	}
	slices.SortFunc(order, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(g.tools[b].calls, g.tools[a].calls), cmp.Compare(g.names[a].Value(), g.names[b].Value()))
	})
	isLeftOut := make([]bool, len(g.names))
	for _, s := range order[bounds.Tools:] {
		isLeftOut[s] = true
	}
	out := NewGraph(g.order)
	out.add(g, isLeftOut, false)
	return out
}

// sorted returns the symbols in the order of their names, and the new number of
// each: what is made from a graph must not depend on the order in which tools
// were met.
func (g *Graph) sorted() (order, renumbered []uint32) {
	for s := 1; s < len(g.names); s++ {
		order = append(order, uint32(s))
	}
	slices.SortFunc(order, func(a, b uint32) int { return cmp.Compare(g.names[a].Value(), g.names[b].Value()) })
	renumbered = make([]uint32, len(g.names))
	for i, s := range order {
		renumbered[s] = uint32(i + 1)
	}
	return order, renumbered
}

// sortedKeys returns the keys of a map in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
