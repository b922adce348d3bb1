// Package yamlvalue makes JSON values of YAML.
//
// A node of a parsed file comes in, a value goes out, or the node that stands for none: JSON
// has no infinity and no octal numbers. It keeps nothing and is O(nodes).
package yamlvalue

import (
	"github.com/awo-dev/awo/internal/yamlsrc"
	"github.com/awo-dev/awo/trace"
)

// Of returns the value that a node stands for. What is quoted is a text. A plain scalar is
// what JSON takes it for, digits and all; else nothing, true or false as YAML writes them, or a
// text. bad is the first scalar that is a number to YAML and none to JSON, nil if there is none.
func Of(n *yamlsrc.Node) (v trace.Value, bad *yamlsrc.Node) {
	note := func(below *yamlsrc.Node) {
		if bad == nil {
			bad = below
		}
	}
	switch {
	case n.Kind == yamlsrc.Sequence:
		v := trace.Value{Kind: trace.Array}
		for _, e := range n.Entries {
			elem, below := Of(e.Value)
			v.Elems = append(v.Elems, elem)
			note(below)
		}
		return v, bad
	case n.Kind == yamlsrc.Mapping:
		var members []trace.Member
		for _, e := range n.Entries {
			member, below := Of(e.Value)
			members = append(members, trace.Member{Name: e.Key.Text, Value: member})
			note(below)
		}
		return trace.NewObject(members...), bad
	case n.Style != yamlsrc.Plain || n.Bad:
		return trace.NewString(n.Text), nil
	}
	if v, err := trace.ParseValue([]byte(n.Text)); err == nil && v.Kind != trace.Array && v.Kind != trace.Object && v.Kind != trace.String {
		return v, nil
	}
	switch n.Type() {
	case yamlsrc.Null:
		return trace.Value{}, nil
	case yamlsrc.Bool:
		b, _ := n.Bool()
		return trace.Value{Kind: trace.Bool, Bool: b}, nil
	case yamlsrc.String:
		return trace.NewString(n.Text), nil
	}
	return trace.Value{}, n
}
