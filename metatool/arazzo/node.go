package arazzo

import (
	"github.com/awo-dev/awo/internal/yamlsrc"
	"github.com/awo-dev/awo/trace"
)

// mapping builds a YAML mapping, keys in the order in which they are set.
type mapping struct{ node *yamlsrc.Node }

func newMapping() mapping {
	return mapping{&yamlsrc.Node{Kind: yamlsrc.Mapping, Style: yamlsrc.Block}}
}

func (m mapping) set(key string, value *yamlsrc.Node) {
	m.node.Entries = append(m.node.Entries, &yamlsrc.Entry{Key: text(key), Value: value})
}

// list returns a YAML sequence.
func list(nodes ...*yamlsrc.Node) *yamlsrc.Node {
	n := &yamlsrc.Node{Kind: yamlsrc.Sequence, Style: yamlsrc.Block}
	for _, v := range nodes {
		n.Entries = append(n.Entries, &yamlsrc.Entry{Value: v})
	}
	return n
}

// text returns a scalar that every reader takes for this text.
func text(s string) *yamlsrc.Node {
	n := &yamlsrc.Node{Style: yamlsrc.Plain, Text: s}
	if s == "" || n.Type() != yamlsrc.String || n.Rewritten() != "" {
		n.Style = yamlsrc.SingleQuoted
	}
	return n
}

func boolean(b bool) *yamlsrc.Node {
	if b {
		return &yamlsrc.Node{Text: "true"}
	}
	return &yamlsrc.Node{Text: "false"}
}

// nodeOf returns a JSON value as YAML.
func nodeOf(v trace.Value) *yamlsrc.Node {
	switch v.Kind {
	case trace.Bool:
		return boolean(v.Bool)
	case trace.Number:
		return &yamlsrc.Node{Text: v.Text}
	case trace.String:
		return text(v.Text)
	case trace.Array:
		n := list()
		for _, e := range v.Elems {
			n.Entries = append(n.Entries, &yamlsrc.Entry{Value: nodeOf(e)})
		}
		return n
	case trace.Object:
		m := newMapping()
		for _, member := range v.Members {
			m.set(member.Name, nodeOf(member.Value))
		}
		return m.node
	}
	return &yamlsrc.Node{Text: "null"}
}
