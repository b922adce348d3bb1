package toolgraph

import (
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// plain makes a name safe inside quotes of DOT and as a text of XML: what could end
// the quotes is escaped, what no XML may hold is shown as U+FFFD.
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

// WriteDOT writes the graph for Graphviz: tools as boxes, parameters as ellipses.
func (g *Graph) WriteDOT(w io.Writer) error {
	b := &errorWriter{w: w}
	b.printf("digraph tools {\n  rankdir=LR;\n  node [shape=box];\n")
	for i := range g.Tools {
		t := &g.Tools[i]
		style := ""
		if t.State != Active {
			style = ", style=dashed"
		}
		b.printf("  t%d [label=%s%s];\n", i, quoteDOT(t.Name), style)
	}
	used := g.usedParams()
	for i, p := range g.Params {
		if used[i] {
			b.printf("  p%d [label=%s, shape=ellipse];\n", i, quoteDOT(p.Name))
		}
	}
	for _, e := range g.Consumes {
		if used[e.Param] {
			b.printf("  p%d -> t%d [label=%q];\n", e.Param, e.Tool, short2(e.Weight))
		}
	}
	for _, e := range g.Produces {
		b.printf("  t%d -> p%d [label=%q];\n", e.Tool, e.Param, short2(e.Weight))
	}
	for _, e := range g.Follows {
		b.printf("  t%d -> t%d [label=%q, style=%s];\n", e.From, e.To, short2(e.Weight), lineStyle(e.Kind))
	}
	b.printf("}\n")
	return b.err
}

func lineStyle(k Kind) string {
	if k == Predicted || k == Suggested {
		return "dotted"
	}
	return "solid"
}

func short2(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) }

// WriteGraphML writes the graph as GraphML.
func (g *Graph) WriteGraphML(w io.Writer) error {
	b := &errorWriter{w: w}
	text := func(s string) string {
		var out strings.Builder
		if err := xml.EscapeText(&out, []byte(plain(s))); err != nil {
			b.err = err
		}
		return out.String()
	}
	b.printf("%s<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n", xml.Header)
	for _, key := range []string{"node kind string", "node label string", "node group string", "node state string", "edge kind string", "edge weight double", "edge evidence string"} {
		f := strings.Fields(key)
		b.printf("  <key id=\"%s_%s\" for=\"%s\" attr.name=\"%s\" attr.type=\"%s\"/>\n", f[0], f[1], f[0], f[1], f[2])
	}
	b.printf("  <graph id=\"tools\" edgedefault=\"directed\">\n")
	for i := range g.Tools {
		t := &g.Tools[i]
		b.printf("    <node id=\"t%d\"><data key=\"node_kind\">tool</data><data key=\"node_label\">%s</data><data key=\"node_group\">%s</data><data key=\"node_state\">%s</data></node>\n",
			i, text(t.Name), text(t.Group), text(string(t.State)))
	}
	used := g.usedParams()
	for i, p := range g.Params {
		if used[i] {
			b.printf("    <node id=\"p%d\"><data key=\"node_kind\">parameter</data><data key=\"node_label\">%s</data></node>\n", i, text(p.Name))
		}
	}
	edge := func(from, to, kind string, weight float64, evidence string) {
		b.printf("    <edge source=\"%s\" target=\"%s\"><data key=\"edge_kind\">%s</data><data key=\"edge_weight\">%s</data><data key=\"edge_evidence\">%s</data></edge>\n",
			from, to, kind, strconv.FormatFloat(rounded(weight), 'f', -1, 64), text(evidence))
	}
	for _, e := range g.Consumes {
		if used[e.Param] {
			edge(fmt.Sprint("p", e.Param), fmt.Sprint("t", e.Tool), "consumes", e.Weight, e.Path)
		}
	}
	for _, e := range g.Produces {
		edge(fmt.Sprint("t", e.Tool), fmt.Sprint("p", e.Param), "produces", e.Weight, producedBy(e).String())
	}
	for _, e := range g.Follows {
		edge(fmt.Sprint("t", e.From), fmt.Sprint("t", e.To), "follows", e.Weight, followedBy(e).String())
	}
	b.printf("  </graph>\n</graphml>\n")
	return b.err
}

// An errorWriter keeps the first error of a writer.
type errorWriter struct {
	w   io.Writer
	err error
}

func (b *errorWriter) printf(format string, args ...any) {
	if b.err == nil {
		_, b.err = fmt.Fprintf(b.w, format, args...)
	}
}
