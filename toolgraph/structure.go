package toolgraph

import (
	"cmp"
	"slices"

	"github.com/awo-dev/awo/internal/lexical"
)

// consumes adds the edges from parameters to the tools that take them.
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
		list                bool
	}
	seen, given, again := map[variety]bool{}, map[variety]int32{}, make([]bool, len(f.places))
	for i := range f.places {
		p := &f.places[i]
		v := variety{p.sig, clusters[i], p.scope, p.kind, p.list}
		if p.out {
			if p.at.Path == "$" && !f.guessed[p.tool] {
				continue
			}
			// Of places of a tool that match alike the first path counts, and places of a
			// tool stand in the order of their paths.
			if given[v] == p.tool+1 {
				again[i] = true
				continue
			}
			given[v] = p.tool + 1
			if outs[p.sig] == nil {
				outSigs = append(outSigs, p.sig)
			}
			outs[p.sig] = append(outs[p.sig], int32(i))
			continue
		}
		ins[clusters[i]] = true
		if seen[v] {
			continue
		}
		seen[v] = true
		if isSetting(lexical.Words(p.at.Name())) {
			continue // nobody is asked for it
		}
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
		if f.places[i].out && again[i] {
			continue
		}
		if f.places[i].out && clusters[i] >= 0 && ins[clusters[i]] {
			members[clusters[i]] = append(members[clusters[i]], int32(i))
		} else if _, ok := firstIn[clusters[i]]; !ok && !f.places[i].out {
			firstIn[clusters[i]] = int32(i)
		}
	}
	for c, list := range members {
		if isSetting(lexical.Words(f.places[firstIn[c]].at.Name())) {
			continue
		}
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
			// Of equal ones those that read: nobody cancels an order to learn its number.
			return cmp.Or(cmp.Compare(needy(a), needy(b)), cmp.Compare(b.Weight, a.Weight), cmp.Compare(g.cautious(a.Tool), g.cautious(b.Tool)), byParam(a, b))
		})
		kept[c] = list[:min(len(list), producers)]
	}
	g.prove(kept, clusters, f)
	for _, list := range kept {
		g.Produces = append(g.Produces, list...)
	}
	slices.SortFunc(g.Produces, byParam)
}

// cautious orders tools by what calling them may do: those that read come first.
func (g *Graph) cautious(tool int) int {
	if g.Tools[tool].Effect == Reads {
		return 0
	}
	return 1
}

// prove lets proven links stand among the producers of a parameter, with their
// evidence.
func (g *Graph) prove(kept [][]Produce, clusters []int32, f *frame) {
	if len(g.Feeds) == 0 {
		return
	}
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
