package dataflow

import (
	"github.com/awo-dev/awo/dataflow/jsonpath"
	"github.com/awo-dev/awo/trace"
)

// visit calls do for the nodes that p, the path of an Input slot, selects in v,
// with the position of the element at each [*]. In such paths [*] is never a
// member of a record, which would be a place of its own, and JSON text in a
// string is not looked through.
func visit(p jsonpath.Path, v trace.Value, positions []int, do func(node trace.Value, positions []int)) {
	for len(p) > 0 && p[0].Kind == jsonpath.Member {
		m, ok := v.Lookup(p[0].Name)
		if !ok || v.Kind != trace.Object {
			return
		}
		v, p = m, p[1:]
	}
	if len(p) == 0 {
		do(v, positions)
		return
	}
	if v.Kind == trace.String || p[0].Kind == jsonpath.Each && v.Kind == trace.Object && !isMap(&v) {
		return
	}
	nodes := p[0].AppendSelected(nil, &v)
	for i := range nodes {
		if p[0].Kind == jsonpath.Each {
			visit(p[1:], nodes[i], append(positions[:len(positions):len(positions)], i), do)
		} else {
			visit(p[1:], nodes[i], positions, do)
		}
	}
}

// beside returns the nodes that p selects in v next to the node that another
// path selects with these positions: as far as both go the same way, in the
// same elements.
func beside(p jsonpath.Path, v trace.Value, other jsonpath.Path, positions []int) []trace.Value {
	nodes := []trace.Value{v}
	together := true
	for i := range p {
		together = together && i < len(other) && p[i].Kind == other[i].Kind && p[i].Name == other[i].Name && p[i].Index == other[i].Index
		var next []trace.Value
		for j := range nodes {
			next = p[i].AppendSelected(next, &nodes[j])
		}
		if together && p[i].Kind == jsonpath.Each && len(positions) > 0 {
			if positions[0] >= len(next) {
				return nil
			}
			next, positions = next[positions[0]:positions[0]+1], positions[1:]
		}
		nodes = next
	}
	return nodes
}
