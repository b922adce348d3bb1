package candidate

import (
	"cmp"
	"slices"
	"strings"

	"github.com/awo-dev/awo/merge"
)

// patternTree is every pattern that T trajectories have: what begins with a
// pattern has it too, so they form a tree, and each is a range of the steps that
// it begins at.
type patternTree struct {
	p     *Patterns
	forms *forms
	walks *merge.Walks

	starts  []int32 // steps, grouped by pattern
	nodes   []patternNode
	scratch []int32
	keys    []int32
}

// patternNode is one pattern.
type patternNode struct {
	parent   int32 // the pattern without its last step, -1 for none
	form     int32 // of its last step
	from, to int32 // range of starts
	length   uint8
	each     uint16 // the fan-outs: bit 0 for the last step, 1 for the one before it, ...
}

// newPatternTree finds all patterns.
func newPatternTree(p *Patterns) *patternTree {
	t := &patternTree{p: p, forms: newForms(p), walks: p.merged.Walks}
	for s, sig := range p.symbol {
		if sig != noSymbol {
			t.starts = append(t.starts, int32(s))
		}
	}
	t.scratch = make([]int32, len(t.starts))
	t.keys = make([]int32, len(t.starts))
	t.divide(patternNode{parent: -1, to: int32(len(t.starts))}, -1)
	for n := 0; n < len(t.nodes); n++ {
		if t.nodes[n].length < MaxPatternSteps {
			t.divide(t.nodes[n], int32(n))
		}
	}
	return t
}

// divide makes a node of every pattern that is one step longer and that enough
// trajectories have. It groups the starts, in each group in their order.
func (t *patternTree) divide(n patternNode, id int32) {
	starts, keys := t.starts[n.from:n.to], t.keys[n.from:n.to]
	counts := map[int32]int32{}
	var order []int32
	for i, start := range starts {
		key := t.next(start, &n)
		if keys[i] = key; key == noSymbol {
			continue
		}
		if counts[key] == 0 {
			order = append(order, key)
		}
		counts[key]++
	}
	threshold := int32(t.p.options.MinSupport())
	order = slices.DeleteFunc(order, func(key int32) bool { return counts[key] < threshold })
	if len(order) == 0 {
		return
	}
	at := map[int32]int32{}
	sum := int32(0)
	for _, key := range order {
		at[key] = sum
		sum += counts[key]
	}
	rest := sum
	for i, start := range starts {
		to, ok := at[keys[i]]
		if !ok {
			t.scratch[rest] = start
			rest++
			continue
		}
		t.scratch[to] = start
		at[keys[i]] = to + 1
	}
	copy(starts, t.scratch[:len(starts)])
	for _, key := range order {
		from, to := n.from+at[key]-counts[key], n.from+at[key]
		if t.trajectories(t.starts[from:to]) < int(threshold) {
			continue
		}
		child := patternNode{parent: id, form: key, from: from, to: to, length: n.length + 1, each: n.each << 1}
		if t.forms.list[key].each {
			child.each |= 1
		}
		t.nodes = append(t.nodes, child)
	}
}

// next returns the symbol of the step after a pattern.
func (t *patternTree) next(start int32, n *patternNode) int32 {
	s := start + int32(n.length)
	if n.length > 0 && !t.joined(s) {
		return noSymbol
	}
	if t.p.symbol[s] == noSymbol {
		return noSymbol
	}
	return t.forms.of(t.p.symbol[s], int(n.length), n.each)
}

// joined reports whether a step may be done in one go with the one before.
func (t *patternTree) joined(s int32) bool {
	p := t.p
	return int(s) < len(p.symbol) && p.trajectory[s] == p.trajectory[s-1] && t.walks.Flags(merge.Place(p.place[s])).Joined()
}

// trajectories counts those of steps, given in order.
func (t *patternTree) trajectories(starts []int32) int {
	n := 0
	for i, s := range starts {
		if i == 0 || t.p.trajectory[s] != t.p.trajectory[starts[i-1]] {
			n++
		}
	}
	return n
}

// startsOf returns the steps that a pattern begins at, in order.
func (t *patternTree) startsOf(n int32) []int32 {
	node := &t.nodes[n]
	t.keys = append(t.keys[:0], t.starts[node.from:node.to]...)
	slices.Sort(t.keys)
	return t.keys
}

// path returns the symbols of a pattern.
func (t *patternTree) path(n int32) []int32 {
	path := make([]int32, t.nodes[n].length)
	for i := len(path) - 1; i >= 0; i-- {
		path[i] = t.nodes[n].form
		n = t.nodes[n].parent
	}
	return path
}

// compare orders patterns by length, then by their symbols, without regard to
// the order in which they were met.
func (t *patternTree) compare(a, b int32) int {
	if c := cmp.Compare(t.nodes[a].length, t.nodes[b].length); c != 0 || a == b {
		return c
	}
	x, y := t.path(a), t.path(b)
	for i := range x {
		if x[i] != y[i] {
			return t.forms.compare(x[i], y[i])
		}
	}
	return 0
}

// compare orders symbols by the name of the tool, then by their links, which are
// in order in the Set.
func (f *forms) compare(a, b int32) int {
	x, y := &f.list[a], &f.list[b]
	s, t := &f.p.tools[x.tool], &f.p.tools[y.tool]
	return cmp.Or(
		strings.Compare(s.name, t.name),
		strings.Compare(s.tool.Value(), t.tool.Value()),
		cmp.Compare(x.tool, y.tool),
		cmp.Compare(flag(x.each), flag(y.each)),
		cmp.Compare(x.from, y.from),
		cmp.Compare(x.link, y.link),
		slices.CompareFunc(x.args, y.args, func(a, b formArg) int {
			return cmp.Or(cmp.Compare(a.link, b.link), cmp.Compare(a.before, b.before), cmp.Compare(a.param, b.param))
		}),
	)
}
