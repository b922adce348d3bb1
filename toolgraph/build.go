package toolgraph

import (
	"cmp"
	"slices"
	"strings"

	"github.com/awo-dev/awo/internal/lexical"
	"github.com/awo-dev/awo/toolgraph/catalog"
)

// A Link is a dependency between tools that somebody states: a file of links.
type Link struct {
	From, To string
	Param    string // the argument of To that From gives, if it is said
}

// Input is what a graph is built from. All but Catalog may be left out.
type Input struct {
	Catalog  *catalog.Catalog
	Observed *Observed
	Proofs   []Proof
	Links    []Link

	Seed         uint64
	NoEvaluation bool // no held-out test of the predictor
}

// The constants of edges.
const (
	producerAt  = .6  // m from which on an output may give a parameter
	producers   = 6   // the best ones are kept
	structural  = .8  // weight of a producer is .8 m^2: an equal name is no proof
	predictions = 10  // predicted edges into a tool
	predictedAt = .02 // weight from which on they are kept

	mostCandidates = 1_000_000   // pairs of tools that are asked about, or ten a tool
	mostMatches    = 200_000_000 // pairs of places that are matched for them
)

// Build returns the graph.
func Build(in Input) *Graph {
	obs := in.Observed
	if obs == nil {
		obs = &Observed{}
	}
	tools, sources := completed(in.Catalog, obs, in.Proofs)
	g := &Graph{Trajectories: obs.Trajectories}
	g.Calls, g.StatusUnknown = obs.Statuses()
	f := newFrame(tools)
	clusters := f.clusters(f.proofs(in.Proofs))
	g.nodes(f, clusters, obs, sources)
	g.recall(&Graph{}, obs)
	g.feeds(in.Proofs)
	g.consumes(f, clusters, obs)
	g.produces(f, clusters)
	reads := make([]bool, len(g.Tools))
	for i := range reads {
		reads[i] = g.Tools[i].Effect == Reads
	}
	m := newMatcher(f, reads)
	g.link(m, obs, in)
	return g
}

// completed returns the tools with the places that calls show: results of tools
// without a schema for them, arguments of tools without a definition, and the places
// of proven links.
func completed(c *catalog.Catalog, obs *Observed, proofs []Proof) ([]catalog.Tool, []Source) {
	tools := slices.Clone(c.Tools)
	sources := make([]Source, len(tools))
	gives, takes := map[string][]string{}, map[string][]string{}
	for _, p := range proofs {
		if !p.Refused {
			gives[p.From] = append(gives[p.From], p.FromPath)
			takes[p.To] = append(takes[p.To], p.ToPath)
		}
	}
	for i := range tools {
		t := &tools[i]
		sources[i] = FromSchema
		if len(t.Outputs) == 0 {
			t.Outputs = obs.Results(t.Name)
			sources[i] = FromResults
		}
		t.Outputs = withPaths(t.Outputs, gives[t.Name])
		if !t.Defined {
			t.Inputs = obs.argumentPlaces(t.Name)
		}
		t.Inputs = withPaths(t.Inputs, takes[t.Name])
		if len(t.Outputs) == 0 {
			sources[i] = FromName
		}
	}
	return tools, sources
}

// withPaths returns places with those of some paths that are not among them.
func withPaths(places []catalog.Place, paths []string) []catalog.Place {
	if len(paths) == 0 {
		return places
	}
	places = slices.Clone(places)
	for _, text := range paths {
		if slices.ContainsFunc(places, func(p catalog.Place) bool { return p.Path == text }) {
			continue
		}
		if names := pathNames(text); len(names) > 0 {
			places = append(places, catalog.Place{Path: text, Names: names, List: strings.HasSuffix(text, "[*]")})
		}
	}
	slices.SortFunc(places, func(a, b catalog.Place) int { return cmp.Compare(a.Path, b.Path) })
	return places
}

// placeIndex finds places by tool, side and path.
func (f *frame) placeIndex() map[string]int32 {
	out := make(map[string]int32, len(f.places))
	for i := range f.places {
		p := &f.places[i]
		out[placeKey(f.tools[p.tool].Name, p.out, p.at.Path)] = int32(i)
	}
	return out
}

func placeKey(tool string, out bool, path string) string {
	if out {
		return tool + "\x00>" + path
	}
	return tool + "\x00<" + path
}

// proofs returns the pairs of places that proofs join or keep apart, those of most
// trajectories first.
func (f *frame) proofs(list []Proof) []proof {
	index := f.placeIndex()
	var out []proof
	for _, p := range list {
		from, ok1 := index[placeKey(p.From, true, p.FromPath)]
		to, ok2 := index[placeKey(p.To, false, p.ToPath)]
		if ok1 && ok2 && (p.Refused || p.Whole) {
			out = append(out, proof{from, to, !p.Refused, p.Trials})
		}
	}
	slices.SortFunc(out, func(a, b proof) int {
		return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	return slices.Compact(out)
}

// nodes adds tools and parameters.
func (g *Graph) nodes(f *frame, clusters []int32, obs *Observed, sources []Source) {
	n := int32(0)
	for _, c := range clusters {
		n = max(n, c+1)
	}
	g.Params = make([]Param, n)
	effect, why := effects(f.tools)
	for i := range f.tools {
		t := &f.tools[i]
		node := Tool{Name: t.Name, Group: t.Group, Description: t.Description, Defined: t.Defined, Counts: obs.Calls[t.Name], State: Active, OutputsFrom: sources[i]}
		node.Effect, node.Why = effect[i], why[i]
		for _, id := range f.inputs[i] {
			p := &f.places[id]
			node.Inputs = append(node.Inputs, Place{p.at.Path, p.at.Type, p.at.Required, p.list, int(clusters[id]), short(p.at.Description)})
			g.Params[clusters[id]].Inputs++
		}
		if sources[i] != FromName {
			for _, id := range f.outputs[i] {
				p := &f.places[id]
				node.Outputs = append(node.Outputs, Place{Path: p.at.Path, Type: p.at.Type, List: p.list, Param: int(clusters[id])})
				g.Params[clusters[id]].Gives++
			}
		}
		g.Tools = append(g.Tools, node)
	}
	g.nameParams(f, clusters)
}

// short cuts the description of an argument.
func short(text string) string {
	if len(text) <= 400 {
		return text
	}
	return strings.ToValidUTF8(text[:400], "")
}

// nameParams names each parameter by the argument name that most of its places
// have, ties by name; one that says nothing is replaced by the words of a place's
// signature.
func (g *Graph) nameParams(f *frame, clusters []int32) {
	votes := make([]map[string]int, len(g.Params))
	for i := range f.places {
		c := clusters[i]
		if c < 0 {
			continue
		}
		p := &f.places[i]
		if g.Params[c].Inputs > 0 && p.out {
			continue
		}
		name := p.at.Name()
		if allGeneric(lexical.Words(name)) {
			name = strings.Join(signature(&f.tools[p.tool], p.at, p.out), "_")
		}
		if votes[c] == nil {
			votes[c] = map[string]int{}
		}
		votes[c][name]++
	}
	for c, v := range votes {
		for name, n := range v {
			if best := g.Params[c].Name; best == "" || n > v[best] || n == v[best] && name < best {
				g.Params[c].Name = name
			}
		}
	}
}

// feeds adds the edges between places that proofs show, and what they refuse.
func (g *Graph) feeds(list []Proof) {
	for _, p := range list {
		from, ok1 := g.Find(p.From)
		to, ok2 := g.Find(p.To)
		if !ok1 || !ok2 {
			continue
		}
		g.Feeds = append(g.Feeds, Feed{
			FromTool: from, ToTool: to, FromPath: p.FromPath, ToPath: p.ToPath, Refused: p.Refused, Whole: p.Whole,
			Weight: rounded(EdgeWeight(p.Uses, p.Of, 0, 0)), Uses: p.Uses, Of: p.Of, Hits: p.Hits, Trials: p.Trials,
		})
	}
	slices.SortStableFunc(g.Feeds, byPlaces)
	// Several relations between two places are one edge: the one with most uses.
	g.Feeds = slices.CompactFunc(g.Feeds, func(a, b Feed) bool { return byPlaces(a, b) == 0 })
}
