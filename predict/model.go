package predict

import (
	"slices"
	"time"

	"github.com/awo-dev/awo/trace"
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
	g = g.bounded()
	if o.Order < g.order || o.NoState {
		all := g
		g = NewGraph(o.Order)
		g.add(all, nil, o.NoState)
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
	m.smooth(g, o, renumbered)
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

// Tools returns the tools that the model knows, in the order of their names.
func (m *Model) Tools() []Tool { return m.tools[1:] }

// Tool returns the tool of a symbol.
func (m *Model) Tool(symbol uint32) *Tool { return &m.tools[symbol] }

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
	i, ok := slices.BinarySearch(m.childState[from-1:to-1], symbol)
	return from + uint32(i), ok
}

// cellsOf returns the range of the cells of a context.
func (m *Model) cellsOf(node uint32) (from, to uint32) {
	return m.cellFrom[node], m.cellFrom[node+1]
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
	if m.Info.NoState {
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
			p[next] += weight * share[i]
		}
		weight *= m.backoff[node]
	}
	rest := weight / float64(len(p)+1)
	for i := range p {
		p[i] += rest
	}
	return rest
}

// Effects returns what the model's tools are declared to do.
func (m *Model) Effects() Effects {
	return func(name trace.Name) Effect { return m.tools[m.symbols[name]].Effect }
}

// Day returns the day of the newest trajectory, as 2006-01-02; "" if no time is
// recorded.
func (i ModelInfo) Day() string {
	if i.Newest == 0 {
		return ""
	}
	return time.Unix(int64(i.Newest)*86400, 0).UTC().Format(time.DateOnly)
}
