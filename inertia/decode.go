package inertia

import (
	"math"

	"github.com/awo-dev/awo/dataflow"
)

// Graph returns the counts of the snapshot as a graph that can be merged and
// grows. The error says so if the snapshot has none.
func (s *Snapshot) Graph() (*Graph, error) {
	if !s.HasCounts() {
		return nil, s.problem(CodeSnapshotCounts, "the snapshot was written without its counts: it predicts, but cannot be merged or updated")
	}
	m, err := s.Model()
	if err != nil {
		return nil, err
	}
	info, err := s.section(sectionInfo)
	if err != nil {
		return nil, err
	}
	order := fitting(info.number(1), MaxOrder)
	t, err := s.section(sectionCounts)
	if err != nil {
		return nil, err
	}
	if order < 1 {
		return nil, s.broken(sectionInfo)
	}
	g := NewGraph(order)
	g.trajectories, g.newest = m.Info.Trajectories, m.Info.Newest
	if !g.readTools(m, t) || !g.readContexts(t) || !g.readDependencies(t) || t.err != nil {
		return nil, s.broken(sectionCounts)
	}
	return g, nil
}

func (g *Graph) readTools(m *Model, t *flatTable) bool {
	schema, from, required := t.uints(13), t.uints(14), t.texts(15)
	n := len(m.Tools())
	if len(schema) != n || !ranges(from, n, len(required)) {
		return false
	}
	for i := range m.Tools() {
		k := &m.Tools()[i]
		s := g.symbol(k.Name)
		if int(s) != i+1 {
			return false // a name that stands twice
		}
		to := &g.tools[s]
		to.counts, to.calls, to.effect, to.description, to.schema = k.Counts, k.Calls, k.Effect, k.Description, schema[i] == 1
		to.first = k.First
		for _, p := range k.Params {
			if p.Present > 0 {
				to.params[p.Name] = p.Present
			}
		}
		for j := from[i]; j < from[i+1]; j++ {
			if to.required == nil {
				to.required = map[string]bool{}
			}
			to.required[required[j]] = true
		}
	}
	return true
}

func (g *Graph) readContexts(t *flatTable) bool {
	parents, symbols := t.uints(0), t.uints(1)
	node, next, period, counts := t.uints(2), t.uints(3), t.uints(4), t.ulongs(5)
	if len(symbols) != len(parents) || len(next) != len(node) || len(period) != len(node) || len(counts) != 4*len(node) {
		return false
	}
	depth := make([]int, len(parents)+1)
	for i := range parents {
		parent, symbol := parents[i], symbols[i]
		state := parent == 0 && symbol < uint32(states)
		tool := parent != 0 && (symbol == startSymbol || symbol > 0 && int(symbol) < len(g.names))
		if int(parent) > i || !state && !tool || depth[parent] > g.order {
			return false
		}
		depth[i+1] = depth[parent] + 1
		if int(g.child(parent, symbol)) != i+1 {
			return false // a context that stands twice
		}
	}
	for i := range node {
		if int(node[i]) > len(parents) || int(next[i]) >= len(g.names) || period[i] > math.MaxInt32 {
			return false
		}
		g.count(cell{node[i], next[i], int32(period[i])}, countsAt(counts, i))
	}
	return true
}

func (g *Graph) readDependencies(t *flatTable) bool {
	tools, params, sides, from, paths, class, uses := t.uints(6), t.texts(7), t.uints(8), t.uints(9), t.texts(10), t.uints(11), t.ulongs(12)
	n := len(tools)
	if len(params) != n || len(sides) != n || len(from) != n || len(paths) != n || len(class) != n || len(uses) != 2*n {
		return false
	}
	for i := range n {
		if tools[i] == 0 || int(tools[i]) >= len(g.names) || int(from[i]) >= len(g.names) || sides[i] > uint32(dataflow.Task) || class[i] >= classes {
			return false
		}
		d := dependency{tool: tools[i], param: g.text(params[i]), from: from[i], path: g.text(paths[i]), side: dataflow.Side(sides[i]), class: Class(class[i])}
		g.depend(d, ruleCounts{uses[2*i], uses[2*i+1]})
	}
	return true
}
