package toolgraph

import (
	"maps"
	"slices"

	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/toolgraph/catalog"
)

// What a graph was built from, as far as it keeps it: an update builds the next graph
// from this and what is new.

// catalogWith returns the tools of the graph with those of another catalogue, whose
// definitions count where both have one.
func (g *Graph) catalogWith(other *catalog.Catalog) *catalog.Catalog {
	var tools []catalog.Tool
	if other != nil {
		for i := range other.Tools {
			if j, known := g.Find(other.Tools[i].Name); other.Tools[i].Defined || !known || !g.Tools[j].Defined {
				tools = append(tools, other.Tools[i])
			}
		}
	}
	own := slices.Clone(tools)
	have := map[string]bool{}
	for i := range tools {
		have[tools[i].Name] = true
	}
	for i := range g.Tools {
		if !have[g.Tools[i].Name] {
			own = append(own, g.tool(i))
		}
	}
	c, _ := catalog.New(own)
	return c
}

// tool returns a node as the definition that it was made of. Places of results that
// were recorded are no schema, and come back with the observations.
func (g *Graph) tool(i int) catalog.Tool {
	n := &g.Tools[i]
	t := catalog.Tool{Name: n.Name, Group: n.Group, Defined: n.Defined}
	t.SetDescription(n.Description)
	if n.Why == "annotation" || n.Why == "method" {
		t.ReadOnly = catalog.No
		if n.Effect == Reads {
			t.ReadOnly = catalog.Yes
		}
		t.Annotated = annotationMark(n.Why)
	}
	for _, p := range n.Inputs {
		if n.Defined {
			t.Inputs = append(t.Inputs, p.place())
		}
	}
	if n.OutputsFrom == FromSchema {
		for _, p := range n.Outputs {
			t.Outputs = append(t.Outputs, p.place())
		}
	}
	return t
}

func (p *Place) place() catalog.Place {
	return catalog.Place{Path: p.Path, Type: p.Type, Required: p.Required, List: p.List, Description: p.Description, Names: pathNames(p.Path)}
}

// pathNames returns the members that a path passes.
func pathNames(path string) []string {
	steps, err := jsonpath.Parse(path)
	if err != nil {
		return nil
	}
	var names []string
	for _, s := range steps {
		if s.Kind == jsonpath.Member {
			names = append(names, s.Name)
		}
	}
	return names
}

// observedWith returns what the graph's trajectories and new ones show together.
func (g *Graph) observedWith(fresh *Observed) *Observed {
	o := &Observed{
		Trajectories: g.Trajectories + fresh.Trajectories, Days: fresh.Days,
		Calls: map[string]Counts{}, Follows: map[Step]Counts{}, Given: map[string]map[string]int{},
		leaves: map[string]map[string]*leaf{}, cut: map[string]bool{},
	}
	maps.Copy(o.Calls, fresh.Calls)
	maps.Copy(o.Follows, fresh.Follows)
	for tool, given := range fresh.Given {
		o.Given[tool] = maps.Clone(given)
	}
	maps.Copy(o.leaves, fresh.leaves)
	for i := range g.Tools {
		t := &g.Tools[i]
		if n := t.Counts; n != (Counts{}) {
			o.Calls[t.Name] = n.plus(o.Calls[t.Name])
		}
		if t.OutputsFrom == FromResults {
			o.leaves[t.Name] = withLeaves(o.leaves[t.Name], t.Outputs)
		}
	}
	for _, e := range g.Follows {
		if e.Succeeded > 0 {
			s := Step{g.Tools[e.From].Name, g.Tools[e.To].Name}
			o.Follows[s] = Counts{Unknown: e.Succeeded}.plus(o.Follows[s])
		}
	}
	for _, e := range g.Consumes {
		if names := pathNames(e.Path); e.Given > 0 && len(names) == 1 {
			tool := g.Tools[e.Tool].Name
			if o.Given[tool] == nil {
				o.Given[tool] = map[string]int{}
			}
			o.Given[tool][e.Path] += e.Given
		}
	}
	return o
}

func (c Counts) plus(d Counts) Counts {
	return Counts{c.OK + d.OK, c.Failed + d.Failed, c.Unknown + d.Unknown}
}

// withLeaves returns recorded places with those of a node, each met often enough to
// be kept.
func withLeaves(fresh map[string]*leaf, places []Place) map[string]*leaf {
	out := map[string]*leaf{}
	maps.Copy(out, fresh)
	for i := range places {
		p := &places[i]
		l := &leaf{names: pathNames(p.Path), list: p.List}
		if old := out[p.Path]; old != nil {
			l.kinds = old.kinds
		}
		l.kinds[kindOf(p.Type)] += 2
		out[p.Path] = l
	}
	return out
}

// proofsWith returns the proofs of the graph and new ones; what both have is added
// up, and an accepted one counts before a refusal.
func (g *Graph) proofsWith(fresh []Proof) []Proof {
	var all []Proof
	for _, e := range g.Feeds {
		all = append(all, Proof{
			From: g.Tools[e.FromTool].Name, FromPath: e.FromPath, To: g.Tools[e.ToTool].Name, ToPath: e.ToPath,
			Uses: e.Uses, Of: e.Of, Hits: e.Hits, Trials: e.Trials, Whole: e.Whole, Refused: e.Refused,
		})
	}
	all = append(all, fresh...)
	slices.SortStableFunc(all, Proof.compare)
	var out []Proof
	for _, p := range all {
		last := len(out) - 1
		if last >= 0 && out[last].From == p.From && out[last].FromPath == p.FromPath && out[last].To == p.To && out[last].ToPath == p.ToPath {
			q := &out[last]
			q.Uses, q.Of, q.Hits, q.Trials = q.Uses+p.Uses, q.Of+p.Of, q.Hits+p.Hits, q.Trials+p.Trials
			continue
		}
		out = append(out, p)
	}
	return out
}

// given returns the links that somebody stated.
func (g *Graph) given() []Link {
	var out []Link
	for _, e := range g.Follows {
		if e.Kind == Given {
			out = append(out, Link{From: g.Tools[e.From].Name, To: g.Tools[e.To].Name})
		}
	}
	return out
}
