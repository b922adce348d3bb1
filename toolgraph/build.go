package toolgraph

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/awo-dev/awo/catalog"
	"github.com/awo-dev/awo/dataflow/jsonpath"
	"github.com/awo-dev/awo/internal/lexical"
	"github.com/awo-dev/awo/internal/logit"
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

	mostCandidates = 1_000_000 // pairs of tools that are asked about, or ten a tool
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
		path, err := jsonpath.Parse(text)
		if err != nil {
			continue
		}
		p := catalog.Place{Path: text}
		for _, s := range path {
			if s.Kind == jsonpath.Member {
				p.Names = append(p.Names, s.Name)
			}
		}
		p.List = len(path) > 0 && path[len(path)-1].Kind == jsonpath.Each
		if len(p.Names) > 0 {
			places = append(places, p)
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

func (g *Graph) consumes(f *frame, clusters []int32, obs *Observed) {
	for i := range f.tools {
		t := &f.tools[i]
		calls := obs.Calls[t.Name].Calls()
		for _, id := range f.inputs[i] {
			p := &f.places[id]
			e := Consume{Param: int(clusters[id]), Tool: i, Path: p.at.Path, Required: p.required, Calls: calls}
			if len(p.at.Names) > 0 {
				e.Given = obs.Given[t.Name][memberPath("$", p.at.Names[0])]
			}
			switch {
			case e.Required:
				e.Weight = 1
			case calls > 0:
				e.Weight = min(1, float64(e.Given)/float64(calls))
			}
			g.Consumes = append(g.Consumes, e)
		}
	}
	slices.SortFunc(g.Consumes, byTool)
}

// produces adds, for each parameter that some tool takes, its best producers: those
// whose outputs match an argument best, and all that a link is proved of.
func (g *Graph) produces(f *frame, clusters []int32) {
	ins := map[int32]bool{}
	outs := map[int32][]int32{} // places by signature
	var inSigs, outSigs []int32
	inPlaces := map[int32][]int32{} // by signature, one for each cluster, type and scope
	type variety struct {
		sig, cluster, scope int32
		kind                kind
	}
	seen := map[variety]bool{}
	for i := range f.places {
		p := &f.places[i]
		if p.out {
			if p.at.Path == "$" && !f.guessed[p.tool] {
				continue
			}
			if outs[p.sig] == nil {
				outSigs = append(outSigs, p.sig)
			}
			outs[p.sig] = append(outs[p.sig], int32(i))
			continue
		}
		ins[clusters[i]] = true
		v := variety{p.sig, clusters[i], p.scope, p.kind}
		if seen[v] {
			continue
		}
		seen[v] = true
		if inPlaces[p.sig] == nil {
			inSigs = append(inSigs, p.sig)
		}
		inPlaces[p.sig] = append(inPlaces[p.sig], int32(i))
	}
	needs := map[[2]int32]bool{} // tool and parameter that it requires
	for i := range f.places {
		if p := &f.places[i]; p.required {
			needs[[2]int32{p.tool, clusters[i]}] = true
		}
	}
	best := map[[2]int32]Produce{} // by parameter and tool
	offer := func(out, in int32) {
		p := &f.places[out]
		if isSetting(lexical.Words(f.places[in].at.Name())) {
			return
		}
		m := f.match(p, &f.places[in])
		if clusters[out] >= 0 && clusters[out] == clusters[in] {
			m = max(m, joinAt) // they are one parameter, if not by name
		}
		if m < producerAt {
			return
		}
		key := [2]int32{clusters[in], p.tool}
		e := Produce{Tool: int(p.tool), Param: int(clusters[in]), Path: p.at.Path, Match: m, Weight: structural * m * m, From: FromSchema}
		if f.guessed[p.tool] {
			e.From = FromName
		}
		if old, ok := best[key]; !ok || e.Weight > old.Weight || e.Weight == old.Weight && e.Path < old.Path {
			best[key] = e
		}
	}
	pairs := f.similar(inSigs, outSigs, producerAt)
	for _, s := range inSigs {
		if outs[s] != nil {
			pairs = append(pairs, pair{s, s, 1})
		}
	}
	for _, p := range pairs {
		for _, in := range inPlaces[p.a] {
			for _, out := range outs[p.b] {
				offer(out, in)
			}
		}
	}
	// Places of one cluster need not share words: shapes and proofs join them too.
	members := map[int32][]int32{}
	firstIn := map[int32]int32{}
	for i := range f.places {
		if f.places[i].out && clusters[i] >= 0 && ins[clusters[i]] {
			members[clusters[i]] = append(members[clusters[i]], int32(i))
		} else if _, ok := firstIn[clusters[i]]; !ok && !f.places[i].out {
			firstIn[clusters[i]] = int32(i)
		}
	}
	for c, list := range members {
		for _, out := range list {
			offer(out, firstIn[c])
		}
	}
	kept := make([][]Produce, len(g.Params))
	for _, e := range best {
		kept[e.Param] = append(kept[e.Param], e)
	}
	for c := range kept {
		list := kept[c]
		// What needs the parameter itself gives it to nobody who lacks it, so it comes
		// after those that do not.
		needy := func(e Produce) int {
			if needs[[2]int32{int32(e.Tool), int32(e.Param)}] {
				return 1
			}
			return 0
		}
		slices.SortFunc(list, func(a, b Produce) int {
			return cmp.Or(cmp.Compare(needy(a), needy(b)), byParam(a, b))
		})
		kept[c] = list[:min(len(list), producers)]
	}
	g.prove(kept, clusters, f)
	for _, list := range kept {
		g.Produces = append(g.Produces, list...)
	}
	slices.SortFunc(g.Produces, byParam)
}

// prove lets proven links stand among the producers of a parameter, with their
// evidence.
func (g *Graph) prove(kept [][]Produce, clusters []int32, f *frame) {
	index := f.placeIndex()
	for _, e := range g.Feeds {
		in, ok := index[placeKey(g.Tools[e.ToTool].Name, false, e.ToPath)]
		if !ok || e.Refused {
			continue
		}
		c := clusters[in]
		at := slices.IndexFunc(kept[c], func(p Produce) bool { return p.Tool == e.FromTool })
		if at < 0 {
			at = len(kept[c])
			kept[c] = append(kept[c], Produce{Tool: e.FromTool, Param: int(c), Path: e.FromPath, From: FromResults})
		}
		p := &kept[c][at]
		if e.Trials > 0 && (p.Trials == 0 || e.Weight > p.Weight || e.Weight == p.Weight && e.Hits > p.Hits) {
			p.Path, p.Hits, p.Trials, p.From = e.FromPath, e.Hits, e.Trials, FromResults
			p.Weight = max(p.Weight, e.Weight)
		}
	}
}

// link adds the edges between tools: those that calls show, those that are given,
// and those that the predictor expects.
func (g *Graph) link(m *matcher, obs *Observed, in Input) {
	given := map[[2]int32]bool{}
	for _, l := range in.Links {
		a, ok1 := g.Find(l.From)
		b, ok2 := g.Find(l.To)
		if ok1 && ok2 && a != b {
			given[[2]int32{int32(a), int32(b)}] = true
		}
	}
	links := map[[2]int32]bool{}
	for l := range given {
		links[l] = true
	}
	for s, n := range obs.Follows {
		a, ok1 := g.Find(s.From)
		b, ok2 := g.Find(s.To)
		if ok1 && ok2 && a != b && n.Succeeded() > 0 {
			links[[2]int32{int32(a), int32(b)}] = true
		}
	}
	for _, e := range g.Feeds {
		if e.FromTool != e.ToTool && !e.Refused {
			links[[2]int32{int32(e.FromTool), int32(e.ToTool)}] = true
		}
	}
	list := make([][2]int32, 0, len(links))
	for l := range links {
		list = append(list, l)
	}
	slices.SortFunc(list, func(a, b [2]int32) int { return slices.Compare(a[:], b[:]) })
	g.Links = len(list)
	net := newNet(len(g.Tools), list)
	model, kind := shipped(), Suggested
	features := func(a, b int32) []float64 { return m.features(nil, nil, a, b) }
	if len(list) >= leastLinks {
		kind = Predicted
		model = m.fit(list, net, in.Seed, nil)
		model.Shift(.5, float64(len(list))/(float64(len(g.Tools))*float64(len(g.Tools)-1)))
		features = func(a, b int32) []float64 { return m.features(nil, net, a, b) }
		if !in.NoEvaluation {
			p := &Prediction{}
			p.Uniform, p.Matched, p.Unseen, p.UnseenUniform = m.evaluate(list, in.Seed)
			g.Prediction = p
		}
	} else if len(list) > 0 {
		model.Shift(.5, max(1, float64(len(list)))/(float64(len(g.Tools))*float64(max(1, len(g.Tools)-1))))
	} else {
		model.Shift(.5, 1/float64(max(2, len(g.Tools))))
	}
	g.follow(m, model, features, net, given, obs, kind)
}

// follow adds the weighted edges into each tool.
func (g *Graph) follow(m *matcher, model *logit.Model, features func(a, b int32) []float64, net *net, given map[[2]int32]bool, obs *Observed, kind Kind) {
	candidates := m.candidates(net)
	for b := range int32(len(g.Tools)) {
		of := g.Tools[b].Counts.Calls()
		var expected []Follow
		for _, a := range candidates(b) {
			prior := model.Probability(features(a, b))
			succeeded := obs.Follows[Step{g.Tools[a].Name, g.Tools[b].Name}].Succeeded()
			e := Follow{From: int(a), To: int(b), Succeeded: succeeded, Of: of, Prior: prior, Weight: EdgeWeight(succeeded, of, prior, Shrink), Kind: kind}
			switch {
			case given[[2]int32{a, b}]:
				e.Kind, e.Weight = Given, 1
			case succeeded > 0:
				e.Kind = Recorded
			default:
				if e.Weight >= predictedAt {
					expected = append(expected, e)
				}
				continue
			}
			g.Follows = append(g.Follows, e)
		}
		slices.SortFunc(expected, byTarget)
		g.Follows = append(g.Follows, expected[:min(len(expected), predictions)]...)
	}
	for i := range g.Follows {
		e := &g.Follows[i]
		e.Weight, e.Prior = rounded(e.Weight), rounded(e.Prior)
	}
	slices.SortFunc(g.Follows, byTarget)
}

// rounded keeps four digits: what the last ones of a fit are differs between
// processors.
func rounded(x float64) float64 { return math.Round(x*1e4) / 1e4 }

// candidates returns a function that gives the tools that may precede a tool: those
// linked to it, those whose outputs match its arguments, those near it in words, and
// those linked to what is near it.
func (m *matcher) candidates(net *net) func(b int32) []int32 {
	// All together they are bounded, however large the catalogue.
	most := min(200, max(10, mostCandidates/max(1, len(m.tools))))
	var inSigs, outSigs []int32
	givers := map[int32][]int32{} // tools by signature of their outputs
	taken := map[int32]bool{}
	for t := range m.tools {
		for _, id := range m.profiles[t].outSigs {
			s := m.places[id].sig
			if givers[s] == nil {
				outSigs = append(outSigs, s)
			}
			if n := len(givers[s]); n == 0 || givers[s][n-1] != int32(t) {
				givers[s] = append(givers[s], int32(t))
			}
		}
		for _, id := range m.profiles[t].inSigs {
			if s := m.places[id].sig; !taken[s] {
				taken[s] = true
				inSigs = append(inSigs, s)
			}
		}
	}
	matches := map[int32][]int32{} // signatures of outputs by that of an argument
	for _, s := range inSigs {
		if givers[s] != nil {
			matches[s] = append(matches[s], s)
		}
	}
	pairs := m.similar(inSigs, outSigs, .5)
	slices.SortFunc(pairs, func(x, y pair) int {
		return cmp.Or(cmp.Compare(x.a, y.a), cmp.Compare(y.cosine, x.cosine), cmp.Compare(x.b, y.b))
	})
	for _, p := range pairs {
		matches[p.a] = append(matches[p.a], p.b)
	}
	seen := make([]int32, len(m.tools))
	return func(b int32) []int32 {
		var out []int32
		add := func(a int32) {
			if a != b && seen[a] != b+1 {
				seen[a] = b + 1
				out = append(out, a)
			}
		}
		for _, a := range net.in[b] {
			add(a)
		}
		bound := len(out) + most
		for _, c := range m.near[b] {
			add(c)
			for _, a := range net.in[c] {
				if len(out) < bound {
					add(a)
				}
			}
		}
		for _, id := range m.profiles[b].inSigs {
			n := 0
			for _, s := range matches[m.places[id].sig] {
				for _, a := range givers[s] {
					if n++; n <= most && len(out) < 2*bound {
						add(a)
					}
				}
			}
		}
		slices.Sort(out)
		return out
	}
}
