package toolgraph

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"math"
	"slices"

	"github.com/awo-dev/awo/internal/toolname"
)

// The measures of a picture, in its own units.
const (
	pictureWidth = 1080 // of the part with tools
	panelWidth   = 500  // of the part with evidence
	leastSpace   = 15   // between tools of a group
	mostSpace    = 62   // where there are few
	mostNamed    = 90   // tools whose names are written beside them
	mostEvidence = 34   // edges of a tool that the panel lists
	mostDrawn    = 2000 // tools
	mostLines    = 4000 // edges that are drawn before anything is chosen, the weightiest
	nameWidth    = 34   // characters of a name
)

// Picture returns the graph as SVG for a page: tools by group, the parameters that
// some tool gives as hubs among them, edges by kind. A click on a tool or hub shows its
// edges with their evidence; a click on a kind shows that alone. It needs no script:
// what is shown follows from the address (:target). At most 2,000 tools are drawn,
// those with most edges.
func (g *Graph) Picture() []byte {
	d := g.drawing()
	var b bytes.Buffer
	w := &errorWriter{w: &b}
	w.printf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" class="tools" font-family="sans-serif" font-size="12">`+"\n",
		pictureWidth+panelWidth, d.height, pictureWidth+panelWidth, d.height)
	w.printf("<style>%s</style>\n", pictureStyle)
	w.printf(`<rect width="100%%" height="100%%" fill="#fff"/>` + "\n")
	d.legend(w)
	for _, disc := range d.discs {
		w.printf(`<circle cx="%d" cy="%d" r="%d" class="disc"/><text x="%d" y="%d" class="group">%s</text>`+"\n", disc.x, disc.y, disc.r, disc.x, disc.y-disc.r-5, label(disc.name, 40))
	}
	d.lines(w)
	for i, at := range d.params {
		if at.known {
			w.printf(`<a href="#tools-p%d"><path d="M%d %dl6 6l-6 6l-6 -6z" class="hub"/><title>%s</title></a>`+"\n", i, at.x, at.y-6, label(g.Params[i].Name, 200))
		}
	}
	for i, at := range d.tools {
		if at.known {
			name := ""
			if len(g.Tools) <= mostNamed {
				name = fmt.Sprintf(`<text x="%d" y="%d" class="name">%s</text>`, at.x, at.y+15, label(g.Tools[i].Name, 22))
			}
			w.printf(`<a href="#tools-t%d"><circle cx="%d" cy="%d" r="5" class="tool %s"/>%s<title>%s</title></a>`+"\n", i, at.x, at.y, toolClass(&g.Tools[i]), name, label(g.Tools[i].Name, 200))
		}
	}
	for i := range g.Tools {
		if d.tools[i].known {
			d.chosen(w, fmt.Sprintf("tools-t%d", i), d.tools[i], g.Tools[i].Name, toolWords(&g.Tools[i]), d.ofTool[i])
		}
	}
	for i := range g.Params {
		if d.params[i].known {
			d.chosen(w, fmt.Sprintf("tools-p%d", i), d.params[i], g.Params[i].Name, fmt.Sprintf("a parameter: argument of %d, in results of %d places", g.Params[i].Inputs, g.Params[i].Gives), d.ofParam[i])
		}
	}
	w.printf("</svg>\n")
	return b.Bytes()
}

const pictureStyle = `
.tools .disc { fill: #f6f8fa; stroke: #d1d9e0 } .tools .group { text-anchor: middle; fill: #59636e; font-size: 11px }
.tools .tool { fill: #57606a; stroke: #fff } .tools .reads { fill: #0969da } .tools .writes { fill: #bc4c00 } .tools .pruned { fill: #fff; stroke: #cf222e } .tools .hub { fill: #8250df; stroke: #fff }
.tools .name { font-size: 9px; text-anchor: middle; fill: #24292f }
.tools a:hover .tool, .tools a:hover .hub { stroke: #000; stroke-width: 2 }
.tools line { stroke-width: 1; stroke-opacity: .35 } .tools .consumes line, .tools line.consumes { stroke: #8250df } .tools .produces line, .tools line.produces { stroke: #1a7f37 }
.tools .follows line, .tools line.follows { stroke: #57606a } .tools .predicted line, .tools line.predicted { stroke: #9a6700; stroke-dasharray: 3 3 }
.tools .predicted { display: none } .tools .predicted:target { display: inline }
.tools .chosen { display: none } .tools .chosen:target { display: inline } .tools .chosen line { stroke-width: 2; stroke-opacity: .9 } .tools .chosen .ring { fill: none; stroke: #000; stroke-width: 2 }
.tools:has(.chosen:target) .edges { opacity: .12 } .tools:has(.edges:target) .edges:not(:target) { display: none }
.tools a text:hover { text-decoration: underline }
`

func label(name string, most int) string {
	runes := []rune(plain(name))
	if len(runes) > most {
		half := most / 2
		runes = slices.Concat(runes[:half], []rune("…"), runes[len(runes)-half+1:])
	}
	return html.EscapeString(string(runes))
}

func toolClass(t *Tool) string {
	if t.State != Active {
		return "pruned"
	}
	return string(t.Effect)
}

func toolWords(t *Tool) string {
	text := string(t.Effect)
	if t.Effect == Unknown {
		text = "not known whether it writes"
	}
	if n := t.Counts; n.Calls() > 0 {
		text += fmt.Sprintf("; %d calls, %d failed", n.Calls(), n.Failed)
	} else {
		text += "; never called"
	}
	if t.State != Active {
		text += "; " + string(t.State)
	}
	return text
}

// A spot is where a node is drawn.
type spot struct {
	x, y  int
	known bool
}

type disc struct {
	name    string
	x, y, r int
	tools   []int
}

// A link is an edge as it is drawn.
type drawnEdge struct {
	class    string
	from, to spot
	fromNode string // "t3" or "p4"
	toNode   string
	fromName string
	toName   string
	weight   float64
	evidence string
}

type drawing struct {
	g             *Graph
	space         float64 // between tools
	height        int
	discs         []disc
	tools, params []spot
	edges         []drawnEdge
	ofTool        map[int][]int // edges by node
	ofParam       map[int][]int
}

func (g *Graph) drawing() *drawing {
	d := &drawing{g: g, tools: make([]spot, len(g.Tools)), params: make([]spot, len(g.Params)), ofTool: map[int][]int{}, ofParam: map[int][]int{}}
	d.place()
	d.placeParams()
	d.join()
	return d
}

// place puts the tools of each group on a disc, and the discs into rows.
func (d *drawing) place() {
	degree := make([]int, len(d.g.Tools))
	for _, e := range d.g.Follows {
		if e.Kind == Recorded || e.Kind == Given {
			degree[e.From]++
			degree[e.To]++
		}
	}
	for _, e := range d.g.Produces {
		degree[e.Tool]++
	}
	kept := make([]int, len(d.g.Tools))
	for i := range kept {
		kept[i] = i
	}
	slices.SortStableFunc(kept, func(a, b int) int { return cmp.Compare(degree[b], degree[a]) })
	kept = kept[:min(len(kept), mostDrawn)]
	by := d.groups(kept)
	d.space = min(mostSpace, max(leastSpace, math.Sqrt(pictureWidth*600/(4*float64(max(1, len(kept)))))))
	for name, tools := range by {
		slices.Sort(tools)
		d.discs = append(d.discs, disc{name: name, tools: tools, r: int(d.space*math.Sqrt(float64(len(tools)))) + 10})
	}
	slices.SortFunc(d.discs, func(a, b disc) int { return cmp.Or(cmp.Compare(b.r, a.r), cmp.Compare(a.name, b.name)) })
	x, y, row := 20, 60, 0
	for i := range d.discs {
		c := &d.discs[i]
		if x+2*c.r > pictureWidth-10 && x > 20 {
			x, y, row = 20, y+row+36, 0
		}
		c.x, c.y = x+c.r, y+c.r+14
		x += max(2*c.r+26, 92)
		row = max(row, 2*c.r)
		for j, t := range c.tools {
			// A sunflower: equal room for each.
			r, angle := d.space*.92*math.Sqrt(float64(j)+.5), 2.399963*float64(j)
			d.tools[t] = spot{c.x + int(math.Round(r*math.Cos(angle))), c.y + int(math.Round(r*math.Sin(angle))), true}
		}
	}
	d.height = max(760, y+row+60)
}

// groups returns the tools by group; those without one by the first word of their
// names, if at least three share it.
func (d *drawing) groups(tools []int) map[string][]int {
	first := map[string]int{}
	word := func(i int) string {
		if words := toolname.Words(d.g.Tools[i].Name); len(words) > 1 && !toolname.IsVerb(words[0]) {
			return words[0]
		}
		return ""
	}
	for _, i := range tools {
		first[word(i)]++
	}
	by := map[string][]int{}
	for _, i := range tools {
		name := d.g.Tools[i].Group
		if w := word(i); name == "" && w != "" && first[w] >= 3 {
			name = w
		}
		if name == "" {
			name = "no group"
		}
		by[name] = append(by[name], i)
	}
	return by
}

// placeParams puts each parameter that some tool gives in the middle of its tools.
func (d *drawing) placeParams() {
	type middle struct{ x, y, n int }
	at := make([]middle, len(d.g.Params))
	add := func(p, t int) {
		if d.tools[t].known {
			at[p] = middle{at[p].x + d.tools[t].x, at[p].y + d.tools[t].y, at[p].n + 1}
		}
	}
	given := make([]bool, len(d.g.Params))
	for _, e := range d.g.Produces {
		given[e.Param] = true
		add(e.Param, e.Tool)
	}
	for _, e := range d.g.Consumes {
		if e.Weight > 0 {
			add(e.Param, e.Tool)
		}
	}
	taken := map[spot]bool{}
	for p, m := range at {
		if !given[p] || m.n == 0 {
			continue
		}
		s := spot{m.x / m.n, m.y / m.n, true}
		for taken[s] {
			s.x += 9
		}
		taken[s] = true
		d.params[p] = s
	}
}

// join collects the edges.
func (d *drawing) join() {
	g := d.g
	add := func(e drawnEdge, tools, params []int) {
		if !e.from.known || !e.to.known {
			return
		}
		at := len(d.edges)
		d.edges = append(d.edges, e)
		for _, t := range tools {
			d.ofTool[t] = append(d.ofTool[t], at)
		}
		for _, p := range params {
			d.ofParam[p] = append(d.ofParam[p], at)
		}
	}
	node := func(kind string, i int) string { return fmt.Sprintf("%s%d", kind, i) }
	for _, e := range g.Produces {
		add(drawnEdge{"produces", d.tools[e.Tool], d.params[e.Param], node("t", e.Tool), node("p", e.Param), g.Tools[e.Tool].Name, g.Params[e.Param].Name, e.Weight, producedBy(e).String()},
			[]int{e.Tool}, []int{e.Param})
	}
	for _, e := range g.Consumes {
		if e.Weight > 0 {
			evidence := "required"
			if !e.Required {
				evidence = fmt.Sprintf("given in %d/%d", e.Given, e.Calls)
			}
			add(drawnEdge{"consumes", d.params[e.Param], d.tools[e.Tool], node("p", e.Param), node("t", e.Tool), g.Params[e.Param].Name, g.Tools[e.Tool].Name, e.Weight, evidence},
				[]int{e.Tool}, []int{e.Param})
		}
	}
	for _, e := range g.Follows {
		class := "follows"
		if e.Kind == Predicted || e.Kind == Suggested {
			class = "predicted"
		}
		add(drawnEdge{class, d.tools[e.From], d.tools[e.To], node("t", e.From), node("t", e.To), g.Tools[e.From].Name, g.Tools[e.To].Name, e.Weight, followedBy(e).String()},
			[]int{e.From, e.To}, nil)
	}
}

// lines draws the edges of each kind, the weightiest.
func (d *drawing) lines(w *errorWriter) {
	for _, class := range []string{"consumes", "produces", "follows", "predicted"} {
		var list []drawnEdge
		for _, e := range d.edges {
			if e.class == class {
				list = append(list, e)
			}
		}
		slices.SortStableFunc(list, func(a, b drawnEdge) int { return cmp.Compare(b.weight, a.weight) })
		w.printf(`<g id="tools-%s" class="edges %s">`+"\n", class, class)
		for _, e := range list[:min(len(list), mostLines/4)] {
			w.printf(`<line x1="%d" y1="%d" x2="%d" y2="%d"/>`+"\n", e.from.x, e.from.y, e.to.x, e.to.y)
		}
		w.printf("</g>\n")
	}
}

func (d *drawing) legend(w *errorWriter) {
	w.printf(`<g id="tools">` + "\n")
	x := 20
	for _, l := range []struct{ href, text, colour string }{
		{"#tools", "all", "#000"},
		{"#tools-consumes", "consumes", "#8250df"},
		{"#tools-produces", "produces", "#1a7f37"},
		{"#tools-follows", "follows", "#57606a"},
		{"#tools-predicted", "predicted", "#9a6700"},
	} {
		w.printf(`<a href="%s"><text x="%d" y="22" fill="%s">%s</text></a>`+"\n", l.href, x, l.colour, l.text)
		x += 20 + 8*len(l.text)
	}
	w.printf(`<circle cx="%d" cy="18" r="5" class="tool reads"/><text x="%d" y="22">reads</text><circle cx="%d" cy="18" r="5" class="tool writes"/><text x="%d" y="22">writes</text>`, x+20, x+30, x+80, x+90)
	w.printf(`<circle cx="%d" cy="18" r="5" class="tool unknown"/><text x="%d" y="22">not known</text><path d="M%d 12l6 6l-6 6l-6 -6z" class="hub"/><text x="%d" y="22">parameter</text>`+"\n", x+150, x+160, x+240, x+250)
	w.printf(`<text x="%d" y="22" fill="#59636e">Click a tool or a parameter for its edges and their evidence.</text>`+"\n", pictureWidth+10)
	w.printf("</g>\n")
}

// chosen draws what is shown of a node that was clicked.
func (d *drawing) chosen(w *errorWriter, id string, at spot, name, words string, edges []int) {
	edges = slices.Clone(edges)
	slices.SortStableFunc(edges, func(a, b int) int { return cmp.Compare(d.edges[b].weight, d.edges[a].weight) })
	w.printf(`<g id="%s" class="chosen"><rect x="%d" y="34" width="%d" height="%d" fill="#fff"/>`+"\n", id, pictureWidth, panelWidth, d.height-40)
	w.printf(`<text x="%d" y="52" font-weight="bold">%s</text><text x="%d" y="68" fill="#59636e">%s</text>`+"\n", pictureWidth+10, label(name, 62), pictureWidth+10, html.EscapeString(words))
	for _, i := range edges[:min(len(edges), 4*mostEvidence)] {
		e := d.edges[i]
		w.printf(`<line x1="%d" y1="%d" x2="%d" y2="%d" class="%s"/>`+"\n", e.from.x, e.from.y, e.to.x, e.to.y, e.class)
	}
	w.printf(`<circle cx="%d" cy="%d" r="9" class="ring"/>`+"\n", at.x, at.y)
	y := 90
	for _, i := range edges[:min(len(edges), mostEvidence)] {
		e := d.edges[i]
		other, arrow, shown := e.toNode, "→", e.toName
		if "tools-"+e.toNode == id {
			other, arrow, shown = e.fromNode, "←", e.fromName
		}
		w.printf(`<a href="#tools-%s"><text x="%d" y="%d">%s %s</text></a><text x="%d" y="%d" fill="#59636e">%s %s</text>`+"\n",
			other, pictureWidth+10, y, arrow, label(shown, nameWidth), pictureWidth+panelWidth-230, y, e.class, html.EscapeString(e.evidence))
		y += 18
	}
	if more := len(edges) - mostEvidence; more > 0 {
		w.printf(`<text x="%d" y="%d" fill="#59636e">and %d more edges: graph.json has all</text>`+"\n", pictureWidth+10, y, more)
	}
	w.printf("</g>\n")
}
