package toolgraph

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// plain makes a name safe in a text: control characters and those that turn the direction of
// text are shown as U+FFFD.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0xfffe || r == 0xffff || r >= 0x2028 && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return 0xfffd
		}
		return r
	}, strings.ToValidUTF8(name, "\ufffd"))
}

func quoteDOT(name string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(plain(name)) + `"`
}

// usedParams returns the parameters that an edge touches: the others say nothing.
func (g *Graph) usedParams() []bool {
	used := make([]bool, len(g.Params))
	for _, e := range g.Produces {
		used[e.Param] = true
	}
	for _, e := range g.Consumes {
		if e.Required {
			used[e.Param] = true
		}
	}
	return used
}

// DOT returns the graph for Graphviz: tools as boxes, parameters as ellipses.
func (g *Graph) DOT() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "digraph tools {\n  rankdir=LR;\n  node [shape=box];\n")
	for i := range g.Tools {
		t := &g.Tools[i]
		style := ""
		if t.State != Active {
			style = ", style=dashed"
		}
		fmt.Fprintf(&b, "  t%d [label=%s%s];\n", i, quoteDOT(t.Name), style)
	}
	used := g.usedParams()
	for i, p := range g.Params {
		if used[i] {
			fmt.Fprintf(&b, "  p%d [label=%s, shape=ellipse];\n", i, quoteDOT(p.Name))
		}
	}
	for _, e := range g.Consumes {
		if used[e.Param] {
			fmt.Fprintf(&b, "  p%d -> t%d [label=%q];\n", e.Param, e.Tool, short2(e.Weight))
		}
	}
	for _, e := range g.Produces {
		fmt.Fprintf(&b, "  t%d -> p%d [label=%q];\n", e.Tool, e.Param, short2(e.Weight))
	}
	for _, e := range g.Follows {
		fmt.Fprintf(&b, "  t%d -> t%d [label=%q, style=%s];\n", e.From, e.To, short2(e.Weight), lineStyle(e.Kind))
	}
	fmt.Fprintf(&b, "}\n")
	return b.Bytes()
}

func lineStyle(k Kind) string {
	if k == Predicted || k == Suggested {
		return "dotted"
	}
	return "solid"
}

func short2(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) }
