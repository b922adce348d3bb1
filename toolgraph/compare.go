package toolgraph

import (
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
