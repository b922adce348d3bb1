package stategraph

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// maxLabelRunes is how much of a label the pictures show. Labels hold
// arguments, and a picture with a page of text on an edge shows nothing.
const maxLabelRunes = 80

// WriteDOT writes the view in the language of Graphviz. Edges are as wide as
// the logarithm of their weight; states in which executions end have a double
// border.
func (v *View) WriteDOT(w io.Writer, names Names) error {
	out := bufio.NewWriter(w)
	ends := v.Graph.Ends()
	fmt.Fprintln(out, "digraph states {")
	fmt.Fprintln(out, "  rankdir=LR;")
	fmt.Fprintln(out, `  node [shape=circle, fontname="sans-serif", fontsize=10];`)
	fmt.Fprintln(out, `  edge [fontname="sans-serif", fontsize=9];`)
	if !v.LeftOut.IsZero() {
		fmt.Fprintf(out, "  label=%s;\n", quoteDOT(v.LeftOut.String()))
	}
	for _, s := range v.States {
		switch {
		case s == Root:
			fmt.Fprintf(out, "  s%d [label=\"root\", shape=box];\n", s)
		case ends[s] > 0:
			fmt.Fprintf(out, "  s%d [label=\"%d\", shape=doublecircle];\n", s, s)
		default:
			fmt.Fprintf(out, "  s%d [label=\"%d\"];\n", s, s)
		}
	}
	for _, id := range v.Edges {
		e := v.Graph.Edge(id)
		fmt.Fprintf(out, "  s%d -> s%d [label=%s, weight=%d, penwidth=%s];\n",
			e.From, e.To, quoteDOT(edgeText(e, names)), e.Weight, penWidth(e.Weight))
	}
	fmt.Fprintln(out, "}")
	return out.Flush()
}

// penWidth grows with the logarithm: weights span orders of magnitude.
func penWidth(weight int) string {
	return strconv.FormatFloat(1+math.Log10(float64(max(weight, 1))), 'f', 1, 64)
}

// edgeText is the text on an edge of a picture: its label, on one line and cut
// short, and how many executions take it.
func edgeText(e Edge, names Names) string {
	return shorten(names.label(e.Label)) + " ×" + strconv.Itoa(e.Weight)
}

// shorten makes one printable line of a text and cuts it to maxLabelRunes.
func shorten(text string) string {
	n := 0
	for i := range text {
		if n == maxLabelRunes {
			text = text[:i] + "…"
			break
		}
		n++
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == unicode.ReplacementChar:
			return '?' // stands for broken UTF-8, which some readers of DOT refuse
		case !unicode.IsPrint(r):
			return ' '
		}
		return r
	}, text)
}

// quoteDOT writes a DOT string of a text without control characters.
// Backslashes are doubled, because Graphviz reads \N, \G and the like in labels.
func quoteDOT(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// WriteMermaid writes the view as a Mermaid flowchart. Mermaid itself refuses
// to draw charts of more than 500 edges: a Selection keeps them small.
func (v *View) WriteMermaid(w io.Writer, names Names) error {
	out := bufio.NewWriter(w)
	ends := v.Graph.Ends()
	fmt.Fprintln(out, "flowchart LR")
	if !v.LeftOut.IsZero() {
		fmt.Fprintf(out, "  %%%% %s\n", v.LeftOut)
	}
	for _, s := range v.States {
		switch {
		case s == Root:
			fmt.Fprintf(out, "  s%d[\"root\"]\n", s)
		case ends[s] > 0:
			fmt.Fprintf(out, "  s%d(((\"%d\")))\n", s, s)
		default:
			fmt.Fprintf(out, "  s%d((\"%d\"))\n", s, s)
		}
	}
	for _, id := range v.Edges {
		e := v.Graph.Edge(id)
		fmt.Fprintf(out, "  s%d -->|\"%s\"| s%d\n", e.From, escapeMermaid(edgeText(e, names)), e.To)
	}
	return out.Flush()
}

// escapeMermaid writes every character that could mean something to Mermaid,
// Markdown or HTML as a numbered entity. What remains is harmless in a quoted
// text.
func escapeMermaid(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r == ' ' || r == '_' || r == '-' || r == '.' || r == ',' || r == ':' || unicode.IsLetter(r) || unicode.IsDigit(r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "#%d;", r)
		}
	}
	return b.String()
}

// graphML's keys: what the data elements of nodes and edges hold.
var graphMLKeys = [...]struct{ id, on, name, kind string }{
	{"distance", "node", "distance", "int"},
	{"visits", "node", "visits", "int"},
	{"ends", "node", "ends", "int"},
	{"label", "edge", "label", "string"},
	{"tool", "edge", "tool", "string"},
	{"weight", "edge", "weight", "int"},
	{"occurrences", "edge", "occurrences", "int"},
	{"joined", "edge", "joined", "int"},
}

// WriteGraphML writes the view as GraphML, with whole labels, for programs
// such as Gephi or networkx.
func (v *View) WriteGraphML(w io.Writer, names Names) error {
	out := bufio.NewWriter(w)
	fmt.Fprint(out, xml.Header)
	fmt.Fprintln(out, `<graphml xmlns="http://graphml.graphdrawing.org/xmlns">`)
	if !v.LeftOut.IsZero() {
		fmt.Fprintf(out, "  <desc>%s</desc>\n", escapeXML(v.LeftOut.String()))
	}
	for _, k := range graphMLKeys {
		fmt.Fprintf(out, "  <key id=%q for=%q attr.name=%q attr.type=%q/>\n", k.id, k.on, k.name, k.kind)
	}
	fmt.Fprintln(out, `  <graph id="states" edgedefault="directed">`)
	visits, ends := v.Graph.Visits(), v.Graph.Ends()
	data := func(key string, value any) { fmt.Fprintf(out, "<data key=%q>%v</data>", key, value) }
	for _, s := range v.States {
		fmt.Fprintf(out, `    <node id="s%d">`, s)
		data("distance", v.Graph.Distance(s))
		data("visits", visits[s])
		data("ends", ends[s])
		fmt.Fprintln(out, "</node>")
	}
	for _, id := range v.Edges {
		e := v.Graph.Edge(id)
		fmt.Fprintf(out, `    <edge id="e%d" source="s%d" target="s%d">`, id, e.From, e.To)
		data("label", escapeXML(names.label(e.Label)))
		if tool := names.tool(e.Label); tool != "" {
			data("tool", escapeXML(tool))
		}
		data("weight", e.Weight)
		data("occurrences", e.Occurrences)
		data("joined", e.Free)
		fmt.Fprintln(out, "</edge>")
	}
	fmt.Fprintln(out, "  </graph>")
	fmt.Fprintln(out, "</graphml>")
	return out.Flush()
}

// escapeXML escapes a text. Characters that XML cannot hold become U+FFFD, and so do
// control characters that it can (C1, as 0x9b), because a terminal acts on them.
func escapeXML(text string) string {
	text = strings.Map(func(r rune) rune {
		if r >= 0x7f && r < 0xa0 {
			return '\uFFFD'
		}
		return r
	}, text)
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a strings.Builder does not fail
	return b.String()
}
