package toolgraph

import (
	"cmp"
	"math"
	"slices"

	"github.com/awo-dev/awo/internal/logit"
)

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
		model, _ = m.fit(list, net, in.Seed, nil)
		model.Shift(.5, float64(len(list))/(float64(len(g.Tools))*float64(len(g.Tools)-1)))
		features = func(a, b int32) []float64 { return m.features(nil, net, a, b) }
		if !in.NoEvaluation {
			g.Prediction = m.evaluate(list, in.Seed)
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
	// All together they are bounded, however large the catalogue and its schemas.
	n, outs, ins := max(1, len(m.tools)), 0, 0
	for t := range m.tools {
		outs += len(m.profiles[t].outSigs)
		ins += len(m.profiles[t].inSigs)
	}
	most := min(200, max(10, min(mostCandidates/n, mostMatches/max(1, outs*ins/n))))
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
