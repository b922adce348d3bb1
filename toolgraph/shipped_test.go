package toolgraph

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/catalog"
	"github.com/awo-dev/awo/internal/logit"
)

func taskLinks(c *catalog.Catalog, tasks []gold) [][2]int32 {
	var out [][2]int32
	for _, g := range tasks {
		for i := 1; i < len(g.Tools); i++ {
			a, ok1 := c.Find(g.Tools[i-1])
			b, ok2 := c.Find(g.Tools[i])
			if ok1 && ok2 && a != b {
				out = append(out, [2]int32{int32(a), int32(b)})
			}
		}
	}
	slices.SortFunc(out, func(a, b [2]int32) int { return slices.Compare(a[:], b[:]) })
	return slices.Compact(out)
}

type public struct {
	name  string
	m     *matcher
	links [][2]int32
}

func publicSets(t testing.TB) []public {
	var out []public
	add := func(name string, c *catalog.Catalog, o *Observed, links [][2]int32) {
		if o == nil {
			o = &Observed{}
		}
		tools, _ := completed(c, o, nil)
		out = append(out, public{name, matcherOf(newFrame(tools, nil)), links})
	}
	c := readCatalog(t, "toolgraph/toollinkos/tools.json")
	add("toollinkos", c, nil, readLinks(t, c, "toolgraph/toollinkos/links.jsonl"))
	c = readCatalog(t, "toolgraph/ultratool260/tools.json")
	o := observed(t, "toolgraph/ultratool260/traces.atif.jsonl")
	add("ultratool", c, o, followLinks(c, o))
	c = readCatalog(t, "toolgraph/livemcp/tools.json")
	o = observed(t, "toolgraph/livemcp/traces.atif.jsonl")
	add("livemcp", c, o, followLinks(c, o))
	c, _, links := nestful(t)
	var list [][2]int32
	for _, l := range links {
		a, ok := c.Find(l.From)
		b, ok2 := c.Find(l.To)
		if ok && ok2 && a != b {
			list = append(list, [2]int32{int32(a), int32(b)})
		}
	}
	slices.SortFunc(list, func(a, b [2]int32) int { return slices.Compare(a[:], b[:]) })
	add("nestful", c, nil, slices.Compact(list))
	for _, set := range []string{"tmdb", "spotify"} {
		c := readCatalog(t, "toolgraph/restbench-"+set+"/tools.json")
		add(set, c, nil, taskLinks(c, readTasks(t, "toolgraph/restbench-"+set+"/tasks.jsonl")))
	}
	return out
}

const perCatalogue = 150

func fitPublic(sets []public, but string) *logit.Model {
	var x [][]float64
	var yes []bool
	for _, p := range sets {
		if p.name == but {
			continue
		}
		all := newNet(len(p.m.tools), p.links)
		s := newSampler(len(p.m.tools), all, p.links, 7)
		links := slices.Clone(p.links)
		s.random.Shuffle(len(links), func(i, j int) { links[i], links[j] = links[j], links[i] })
		for _, r := range s.rows(links[:min(perCatalogue, len(links))], nil) {
			x = append(x, mask(p.m.features(nil, nil, r.pair[0], r.pair[1])))
			yes = append(yes, r.link)
		}
	}
	return logit.Fit(x, yes, .03)
}

var masked = map[int]bool{}

func mask(x []float64) []float64 {
	x = slices.Clone(x)
	for i := range x {
		if masked[i%contentFeatures] {
			x[i] = 0
		}
	}
	return x
}

func TestShippedAway(t *testing.T) {
	sets := publicSets(t)
	for _, try := range [][]int{{8, 9, 10, 11, 12, 13, 14}} {
		clear(masked)
		for _, i := range try {
			masked[i] = true
		}
		t.Log(try)
		for _, p := range sets {
			model := fitPublic(sets, p.name)
			all := newNet(len(p.m.tools), p.links)
			s := newSampler(len(p.m.tools), all, p.links, 8)
			var u, mt []scored
			for _, l := range p.links {
				score := func(q [2]int32) float64 { return model.Score(mask(p.m.features(nil, nil, q[0], q[1]))) }
				if q, ok := s.draw(false, nil); ok {
					u = append(u, scored{row{l, true}, score(l), 0}, scored{row{q, false}, score(q), 0})
				}
				if q, ok := s.draw(true, nil); ok {
					mt = append(mt, scored{row{l, true}, score(l), 0}, scored{row{q, false}, score(q), 0})
				}
			}
			a, _ := auc(u, nil)
			b, _ := auc(mt, nil)
			t.Logf("%s: %d links, fitted on others: %.3f %.3f", p.name, len(p.links), a, b)
		}
	}
	m := fitPublic(sets, "")
	var b strings.Builder
	for i := range m.Coef {
		fmt.Fprintf(&b, "{%.4g, %.4g, %.3g},\n", m.Mean[i], m.Scale[i], m.Coef[i])
	}
	t.Logf("intercept %.4g\n%s", m.Intercept, b.String())
}
