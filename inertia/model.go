package inertia

import (
	"cmp"
	"math"
	"runtime"
	"slices"

	"github.com/awo-dev/awo/trace"
)

// Discounts are kept within these bounds, as those of package ngram.
const (
	minDiscount = 0.1
	maxDiscount = 0.9
)

// A Model says what comes next at a turn, by interpolated Kneser-Ney smoothing
// over contexts of the state and the last 0 to Order calls. On traces in which
// every turn makes one call and without states it is the model of package ngram;
// here the predicted symbol may be none, which enters no context.
//
// A Model is immutable, safe for concurrent use, and keeps its contexts as flat
// arrays, in which prediction allocates nothing.
type Model struct {
	Info ModelInfo

	tools   []Tool // by symbol; 0 is none
	symbols map[trace.Name]uint32
	rules   [][]Rule // by symbol

	// Contexts, parents before children: node 0 is the empty context.
	childFrom  []uint32 // by node, and one more
	childState []uint32 // by child: the older symbol, in order
	cellFrom   []uint32 // by node, and one more
	cellNext   []uint32
	cellShare  []float64 // what the node itself gives to a symbol
	cellScore  []Counts  // of the context as it stands
	backoff    []float64 // what the node leaves to the shorter context

	calibration Calibration
	keep        *Snapshot // whose memory the arrays are in, nil if they are their own
}

// ModelInfo says what a Model was made of and how.
type ModelInfo struct {
	Order        int
	Trajectories uint64
	Newest       int32 // period of the newest trajectory: days since 1970
	HalfLife     float64
	NoState      bool
}

// ModelOptions are the choices of [Graph.Model]. The zero value is the default.
type ModelOptions struct {
	Order    int     // contexts of at most this many calls; 0 means those of the graph
	HalfLife float64 // days after which a count is worth half, back from the newest trajectory; 0 lets none decay
	NoState  bool    // contexts hold calls only
	Uniform  bool    // no smoothing by how many contexts a symbol was seen in: shorter contexts count as often as they occurred
}

// A Tool is a node of the graph as a Model has it.
type Tool struct {
	Name        trace.Name
	Description string
	Effect      Effect
	Counts      Counts
	Calls       uint64
	Params      []Param
}

// Single returns the share of the turns that begin with the tool and make no
// other call. Only such turns can be avoided.
func (t *Tool) single() float64 {
	total := float64(t.Counts.Total())
	return (total - float64(t.Counts.Multiple) + 1) / (total + 1)
}

// A Param is a parameter node.
type Param struct {
	Name     string
	Required bool
	Present  uint64 // calls that have it
}

// Model compiles the graph as it is now.
func (g *Graph) Model(o ModelOptions) *Model {
	if o.Order <= 0 || o.Order > g.order {
		o.Order = g.order
	}
	order, renumbered := g.sorted()
	m := &Model{
		Info:    ModelInfo{Order: o.Order, Trajectories: g.trajectories, Newest: g.newest, HalfLife: o.HalfLife, NoState: o.NoState},
		symbols: map[trace.Name]uint32{}, tools: make([]Tool, 1, len(order)+1),
	}
	for i, s := range order {
		m.tools = append(m.tools, g.tools[s].node(g.names[s]))
		m.symbols[g.names[s]] = uint32(i + 1)
	}
	m.rules = g.rules(renumbered)
	b := g.compile(o, renumbered)
	b.smooth(o)
	b.flatten(m)
	return m
}

func (t *tool) node(name trace.Name) Tool {
	out := Tool{Name: name, Description: t.description, Effect: t.effect, Counts: t.counts, Calls: t.calls}
	names := sortedKeys(t.params)
	for p := range t.required {
		if _, ok := t.params[p]; !ok {
			names = append(names, p)
		}
	}
	slices.Sort(names)
	for _, p := range names {
		required := t.required[p]
		if !t.schema { // what practically every call has
			required = float64(t.params[p]) >= 0.95*float64(t.calls)
		}
		out.Params = append(out.Params, Param{Name: p, Required: required, Present: t.params[p]})
	}
	return out
}

// compiled is a trie of contexts while a model is made of it.
type compiled struct {
	children []map[uint32]uint32
	depth    []int
	last     []uint32 // oldest symbol
	cells    []map[uint32]*compiledCell
	mass     []float64
	share    []map[uint32]float64
}

type compiledCell struct {
	raw    Counts
	weight float64 // decayed
	used   float64 // what smoothing counts
}

// compile gathers the cells of a graph over periods, and over states if they do
// not count.
func (g *Graph) compile(o ModelOptions, renumbered []uint32) *compiled {
	b := &compiled{}
	b.node(0, 0)
	nodes := make([]int, len(g.parents))
	for i := 1; i < len(g.parents); i++ {
		e := g.parents[i]
		nodes[i] = -1
		parent := nodes[e.node]
		if parent < 0 || b.depth[parent] > o.Order {
			continue
		}
		symbol := e.symbol
		switch {
		case e.node == 0:
			if o.NoState && State(symbol) < StateInside {
				symbol = 0
			}
		case symbol != startSymbol:
			symbol = renumbered[symbol]
		}
		n, ok := b.children[parent][symbol]
		if !ok {
			n = b.node(b.depth[parent]+1, symbol)
			b.children[parent][symbol] = n
		}
		nodes[i] = int(n)
	}
	for c, n := range g.cells {
		node := nodes[c.node]
		if node < 0 {
			continue
		}
		next := renumbered[c.next]
		to := b.cells[node][next]
		if to == nil {
			to = &compiledCell{}
			b.cells[node][next] = to
		}
		to.raw.add(*n)
		if o.HalfLife <= 0 {
			to.weight += float64(n.Total())
		}
	}
	if o.HalfLife > 0 {
		g.decay(b, o.HalfLife, nodes, renumbered)
	}
	return b
}

// decay sums what counts are worth, in a fixed order: sums of fractions depend on
// it.
func (g *Graph) decay(b *compiled, halfLife float64, nodes []int, renumbered []uint32) {
	var all []cell
	for c := range g.cells {
		if nodes[c.node] >= 0 {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(x, y cell) int {
		return cmp.Or(cmp.Compare(nodes[x.node], nodes[y.node]), cmp.Compare(renumbered[x.next], renumbered[y.next]),
			cmp.Compare(x.period, y.period), cmp.Compare(g.cells[x].Total(), g.cells[y].Total()))
	})
	for _, c := range all {
		to := b.cells[nodes[c.node]][renumbered[c.next]]
		to.weight += float64(g.cells[c].Total()) * math.Exp2(-float64(g.newest-c.period)/halfLife)
	}
}

func (b *compiled) node(depth int, last uint32) uint32 {
	b.children = append(b.children, map[uint32]uint32{})
	b.cells = append(b.cells, map[uint32]*compiledCell{})
	b.depth = append(b.depth, depth)
	b.last = append(b.last, last)
	b.share = append(b.share, map[uint32]float64{})
	b.mass = append(b.mass, 1)
	return uint32(len(b.depth) - 1)
}

// smooth works out what every context gives by itself.
func (b *compiled) smooth(o ModelOptions) {
	deepest := o.Order + 1
	for i := range b.cells {
		for next, c := range b.cells[i] {
			c.used = c.weight
			if o.Uniform || b.depth[i] == deepest || b.depth[i] > 1 && b.last[i] == startSymbol {
				continue
			}
			// The number of different older symbols that were seen before the
			// context and its successor.
			c.used = 0
			for _, symbol := range sortedSymbols(b.children[i]) {
				if d := b.cells[b.children[i][symbol]][next]; d != nil {
					c.used += min(1, d.weight)
				}
			}
		}
	}
	b.sumStates(o)
	discounts := b.discounts(deepest)
	for i := range b.cells {
		total, kept := 0.0, 0.0
		for _, next := range sortedSymbols(b.cells[i]) {
			used := b.cells[i][next].used
			total += used
			rest := max(used-discounts[b.depth[i]], 0)
			b.share[i][next] = rest
			kept += rest
		}
		if total <= 0 || o.NoState && i == 0 {
			clear(b.share[i]) // no more to be learnt from it
			continue
		}
		for next := range b.share[i] {
			b.share[i][next] /= total
		}
		b.mass[i] = (total - kept) / total
	}
}

// sumStates lets the empty context count what its states count: they are few, so
// the number of those that a symbol followed says nothing.
func (b *compiled) sumStates(o ModelOptions) {
	if o.Uniform {
		return
	}
	for next, c := range b.cells[0] {
		c.used = 0
		for state := range uint32(states) {
			child, ok := b.children[0][state]
			if !ok || State(state) == StateInside {
				continue
			}
			if d := b.cells[child][next]; d != nil {
				c.used += d.used
			}
		}
	}
}

// discounts returns D of every length of contexts: n1/(n1+2 n2).
func (b *compiled) discounts(deepest int) []float64 {
	once, twice := make([]float64, deepest+1), make([]float64, deepest+1)
	for i := range b.cells {
		for _, c := range b.cells[i] {
			switch math.Round(c.used) {
			case 1:
				once[b.depth[i]]++
			case 2:
				twice[b.depth[i]]++
			}
		}
	}
	d := make([]float64, deepest+1)
	for i := range d {
		d[i] = minDiscount
		if once[i] > 0 {
			d[i] = min(max(once[i]/(once[i]+2*twice[i]), minDiscount), maxDiscount)
		}
	}
	return d
}

func sortedSymbols[V any](m map[uint32]V) []uint32 {
	out := make([]uint32, 0, len(m))
	for s := range m {
		out = append(out, s)
	}
	slices.Sort(out)
	return out
}

// flatten writes the trie to the model, breadth first and in the order of
// symbols.
func (b *compiled) flatten(m *Model) {
	queue := []uint32{0}
	m.childFrom, m.cellFrom = []uint32{1}, []uint32{0}
	for i := 0; i < len(queue); i++ {
		n := queue[i]
		for _, symbol := range sortedSymbols(b.children[n]) {
			queue = append(queue, b.children[n][symbol])
			m.childState = append(m.childState, symbol)
		}
		for _, next := range sortedSymbols(b.cells[n]) {
			m.cellNext = append(m.cellNext, next)
			m.cellShare = append(m.cellShare, b.share[n][next])
			m.cellScore = append(m.cellScore, b.cells[n][next].raw)
		}
		m.childFrom = append(m.childFrom, uint32(len(queue)))
		m.cellFrom = append(m.cellFrom, uint32(len(m.cellNext)))
		m.backoff = append(m.backoff, b.mass[n])
	}
}

// Tools returns the tools that the model knows, in the order of their names.
func (m *Model) Tools() []Tool { return m.tools[1:] }

// Contexts returns how many contexts the model has, the empty one included.
func (m *Model) Contexts() int { return len(m.backoff) }

// Symbol returns the number of a tool, from 1; 0 if the model does not know it.
func (m *Model) Symbol(name trace.Name) uint32 { return m.symbols[name] }

// Alphabet returns how many outcomes the model knows: none and its tools. There
// is one more, a tool that it does not know.
func (m *Model) Alphabet() int { return len(m.tools) }

// child returns the context older by symbol. Children are numbered in order.
func (m *Model) child(node, symbol uint32) (uint32, bool) {
	from, to := m.childFrom[node], m.childFrom[node+1]
	if from == 0 || to < from || int(to)-1 > len(m.childState) {
		return 0, false // no file that Verify passes
	}
	i, ok := slices.BinarySearch(m.childState[from-1:to-1], symbol)
	return from + uint32(i), ok
}

// cellsOf returns the range of the cells of a context.
func (m *Model) cellsOf(node uint32) (from, to uint32) {
	from, to = m.cellFrom[node], m.cellFrom[node+1]
	if to < from || int(to) > len(m.cellNext) {
		return 0, 0 // no file that Verify passes
	}
	return from, to
}

// unknownSymbol is a tool that the model does not know.
const unknownSymbol uint32 = 1<<32 - 2

// A Context is where a prediction stands: the state, and the symbols of the last
// calls, the newest first, with the start at its end if it is in sight.
type Context struct {
	State State
	Calls [MaxOrder]uint32
	N     int
}

// ContextOf returns the context after calls in a state, the newest call last.
func (m *Model) ContextOf(s State, calls []trace.Name) Context {
	c := Context{State: s}
	if m.Info.NoState && s < StateInside {
		c.State = 0
	}
	for c.N < m.Info.Order {
		i := len(calls) - 1 - c.N
		if i < 0 {
			c.Calls[c.N] = startSymbol
			c.N++
			break
		}
		symbol := unknownSymbol
		if known := m.symbols[calls[i]]; known != 0 {
			symbol = known
		}
		c.Calls[c.N] = symbol
		c.N++
	}
	return c
}

// path returns the contexts that c holds, from the empty one, as far as they were
// seen.
func (m *Model) path(c *Context) (nodes [MaxOrder + 2]uint32, n int) {
	n = 1
	node, ok := m.child(0, uint32(c.State))
	for i := 0; ok; i++ {
		nodes[n] = node
		n++
		if i == c.N {
			break
		}
		node, ok = m.child(node, c.Calls[i])
	}
	return nodes, n
}

// Distribution writes the probabilities of none and of the tools, by symbol, to
// p, whose length is [Model.Alphabet], and returns that of any other tool.
func (m *Model) Distribution(c Context, p []float64) float64 {
	clear(p)
	nodes, n := m.path(&c)
	weight := 1.0
	for l := n - 1; l >= 0; l-- {
		node := nodes[l]
		from, to := m.cellsOf(node)
		share := m.cellShare[from:to]
		for i, next := range m.cellNext[from:to] {
			if int(next) < len(p) {
				p[next] += weight * share[i]
			}
		}
		weight *= m.backoff[node]
	}
	runtime.KeepAlive(m) // the arrays may be those of a file
	rest := weight / float64(len(p)+1)
	for i := range p {
		p[i] += rest
	}
	return rest
}
