package dataflow

import (
	"github.com/awo-dev/awo/internal/bounds"
	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/internal/dataflow/jsonvalue"
	"github.com/awo-dev/awo/trace"
)

// A places is the tree of all paths that a trajectory has.
type places struct {
	nodes []place
	roots map[rootKey]int32
	deep  bool // the newest place that was refused stands too deep
}

type rootKey struct {
	side Side
	tool trace.Name
}

// place is a path of one tool's results or arguments.
type place struct {
	side  Side
	tool  trace.Name
	path  string // canonical text
	depth int32
	each  int32 // the place of its elements, 0 if there is none yet

	children map[string]child
	order    []child // the members of the last object here, which the next one probably has too

	slot int32 // in the Flow
}

type child struct {
	name  string
	place int32
	hash  uint64 // of the name as a string value
}

// begin makes an empty tree.
func (p *places) begin() {
	*p = places{roots: map[rootKey]int32{}, nodes: make([]place, 1)} // place 0 is none
}

// root returns the place of a tool's whole result or arguments.
func (p *places) root(side Side, tool trace.Name) int32 {
	key := rootKey{side, tool}
	at, ok := p.roots[key]
	if !ok {
		if !p.hasRoom(0) {
			return 0
		}
		at = p.add(place{side: side, tool: tool, path: "$"})
		p.roots[key] = at
	}
	return at
}

// hasRoom reports whether there may be one more place, so deep.
func (p *places) hasRoom(depth int32) bool {
	p.deep = depth > bounds.Steps
	return !p.deep && len(p.nodes) <= bounds.Places
}

func (p *places) add(n place) int32 {
	n.slot = -1
	p.nodes = append(p.nodes, n)
	return int32(len(p.nodes) - 1)
}

// member returns the place of the i-th member of an object at a place, 0 where there is no
// room for it, and the hash of its name.
func (p *places) member(at int32, i int, name string) (int32, uint64) {
	n := &p.nodes[at]
	if i < len(n.order) && n.order[i].name == name {
		return n.order[i].place, n.order[i].hash
	}
	c, ok := n.children[name]
	if !ok {
		if !p.hasRoom(n.depth + 1) {
			return 0, jsonvalue.HashString(name)
		}
		step := jsonpath.Step{Kind: jsonpath.Member, Name: name}
		c = child{name: name, hash: jsonvalue.HashString(name)}
		c.place = p.add(place{side: n.side, tool: n.tool, depth: n.depth + 1, path: string(step.Append([]byte(n.path)))})
		n = &p.nodes[at] // add may have moved it
		if n.children == nil {
			n.children = map[string]child{}
		}
		n.children[c.name] = c
	}
	if i < len(n.order) {
		n.order[i] = c
	} else if i == len(n.order) {
		n.order = append(n.order, c)
	}
	return c.place, c.hash
}

// elements returns the place of the elements of a list or map at a place, likewise.
func (p *places) elements(at int32) int32 {
	n := &p.nodes[at]
	next := n.each
	if next == 0 {
		if !p.hasRoom(n.depth + 1) {
			return 0
		}
		next = p.add(place{side: n.side, tool: n.tool, depth: n.depth + 1, path: n.path + "[*]"})
		p.nodes[at].each = next
	}
	return next
}

// IsMap reports whether an object is a map from data to values rather than a
// record with named members: all of its names look like data (ids, addresses,
// dates: at least three digits, or a character that names do not have), or
// there are more than 256. The members of a map are one place, like the elements
// of a list.
func IsMap(v *trace.Value) bool {
	if len(v.Members) > bounds.Record {
		return true
	}
	for i := range v.Members {
		if !isData(v.Members[i].Name) {
			return false
		}
		if v.Members[i].Value.Kind != v.Members[0].Value.Kind {
			return false
		}
	}
	return len(v.Members) > 0
}

func isData(name string) bool {
	digits := 0
	for i := range len(name) {
		switch c := name[i]; {
		case isDigit(c):
			digits++
		case c == '@' || c == '/':
			return true
		}
	}
	return digits >= 3
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
