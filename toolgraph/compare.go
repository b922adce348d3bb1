package toolgraph

import (
	"cmp"
	"math"
	"slices"

	"github.com/awo-dev/awo/toolgraph/catalog"
)

// Gone returns the tools of the graph that a catalogue lacks.
func (g *Graph) Gone(c *catalog.Catalog) []string {
	var out []string
	for i := range g.Tools {
		if _, ok := c.Find(g.Tools[i].Name); !ok {
			out = append(out, g.Tools[i].Name)
		}
	}
	return out
}

// A Lack is a required argument without a producer.
type Lack struct{ Tool, Path, Param string }

// Starved returns the required arguments of tools that a catalogue has, whose
// parameter had a producer in the graph and has none among the tools of the catalogue.
// A tool that is new may be one, so what the new tools give is looked at too.
func (g *Graph) Starved(c *catalog.Catalog) []Lack {
	var fresh []catalog.Tool
	for i := range c.Tools {
		if _, known := g.Find(c.Tools[i].Name); !known {
			fresh = append(fresh, c.Tools[i])
		}
	}
	next := g
	if len(fresh) > 0 {
		added, _ := catalog.New(fresh)
		next, _ = Update(g, Input{Catalog: added, NoEvaluation: true})
	}
	there := func(g *Graph, tool int) bool { _, ok := c.Find(g.Tools[tool].Name); return ok }
	fed := map[[2]string]bool{} // tool and path of an argument that has a producer
	for _, e := range next.Consumes {
		for _, p := range next.Produces {
			if p.Param == e.Param && p.Tool != e.Tool && there(next, p.Tool) {
				fed[[2]string{next.Tools[e.Tool].Name, e.Path}] = true
				break
			}
		}
	}
	var out []Lack
	for _, e := range g.Consumes {
		had := slices.ContainsFunc(g.Produces, func(p Produce) bool { return p.Param == e.Param && p.Tool != e.Tool })
		name := g.Tools[e.Tool].Name
		if e.Required && had && there(g, e.Tool) && !fed[[2]string{name, e.Path}] {
			out = append(out, Lack{name, e.Path, g.Params[e.Param].Name})
		}
	}
	return out
}

// A Move is an edge between tools in two graphs; a weight of 0 is none.
type Move struct {
	From string  `json:"from"`
	To   string  `json:"to"`
	Old  float64 `json:"old"`
	New  float64 `json:"new"`
}

// A Turn is a tool whose state differs.
type Turn struct {
	Tool string `json:"tool"`
	Old  State  `json:"old"`
	New  State  `json:"new"`
}

// Difference is what differs between two graphs.
type Difference struct {
	Came, Went                []string // tools
	States                    []Turn
	Edges                     []Move // what moved most first
	Appeared, Vanished, Moved int
}

// Compare returns what differs between two graphs.
func Compare(a, b *Graph) *Difference {
	d := &Difference{}
	for i := range b.Tools {
		name := b.Tools[i].Name
		at, ok := a.Find(name)
		switch {
		case !ok:
			d.Came = append(d.Came, name)
		case a.Tools[at].State != b.Tools[i].State:
			d.States = append(d.States, Turn{name, a.Tools[at].State, b.Tools[i].State})
		}
	}
	for i := range a.Tools {
		if _, ok := b.Find(a.Tools[i].Name); !ok {
			d.Went = append(d.Went, a.Tools[i].Name)
		}
	}
	moves := map[Step]*Move{}
	for k, g := range []*Graph{a, b} {
		for _, e := range g.Follows {
			s := Step{g.Tools[e.From].Name, g.Tools[e.To].Name}
			m := moves[s]
			if m == nil {
				m = &Move{From: s.From, To: s.To}
				moves[s] = m
			}
			if k == 0 {
				m.Old = e.Weight
			} else {
				m.New = e.Weight
			}
		}
	}
	for _, m := range moves {
		switch {
		case m.Old == m.New:
			continue
		case m.Old == 0:
			d.Appeared++
		case m.New == 0:
			d.Vanished++
		default:
			d.Moved++
		}
		d.Edges = append(d.Edges, *m)
	}
	slices.SortFunc(d.Edges, func(x, y Move) int {
		return cmp.Or(cmp.Compare(math.Abs(y.New-y.Old), math.Abs(x.New-x.Old)), cmp.Compare(x.From, y.From), cmp.Compare(x.To, y.To))
	})
	return d
}
