package toolgraph

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/awo-dev/awo/internal/recordings"
)

// drawn returns a random graph of a few tools and parameters.
func drawn(t *rapid.T) *Graph {
	g := &Graph{}
	n, params := rapid.IntRange(1, 7).Draw(t, "tools"), rapid.IntRange(1, 5).Draw(t, "params")
	for i := range n {
		g.Tools = append(g.Tools, Tool{Name: string(rune('a' + i)), State: Active, Effect: Reads})
	}
	for range params {
		g.Params = append(g.Params, Param{})
	}
	weight := rapid.Float64Range(.05, 1)
	for range rapid.IntRange(0, 12).Draw(t, "consumes") {
		g.Consumes = append(g.Consumes, Consume{Tool: rapid.IntRange(0, n-1).Draw(t, "t"), Param: rapid.IntRange(0, params-1).Draw(t, "p"), Path: "$.x", Required: true, Weight: 1})
	}
	for range rapid.IntRange(0, 12).Draw(t, "produces") {
		g.Produces = append(g.Produces, Produce{Tool: rapid.IntRange(0, n-1).Draw(t, "t"), Param: rapid.IntRange(0, params-1).Draw(t, "p"), Path: "$.y", Weight: weight.Draw(t, "w")})
	}
	for range rapid.IntRange(0, 8).Draw(t, "follows") {
		g.Follows = append(g.Follows, Follow{From: rapid.IntRange(0, n-1).Draw(t, "a"), To: rapid.IntRange(0, n-1).Draw(t, "b"), Weight: weight.Draw(t, "w"), Kind: Recorded})
	}
	return g
}

// exhaustive returns the best score of every tool over all ways without repetition.
func (n *Navigator) exhaustive(q Query) map[int]float64 {
	best := map[int]float64{}
	on := map[int32]bool{}
	var walk func(at int32, score float64)
	walk = func(at int32, score float64) {
		on[at] = true
		defer delete(on, at)
		for _, a := range n.back[at] {
			isTool := int(a.to) < n.tools
			if on[a.to] || !isTool && q.Have[int(a.to)-n.tools] {
				continue
			}
			s := score * a.weight
			if isTool {
				s *= Decay
			}
			if s < least {
				continue
			}
			if isTool {
				best[int(a.to)] = max(best[int(a.to)], s)
			}
			walk(a.to, s)
		}
	}
	walk(int32(q.Target), 1)
	return best
}

// The exact search finds what looking at every way finds; so does the pruned one, by
// its tools, where nothing is pruned.
func TestExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := NewNavigator(drawn(t))
		q := Query{Target: 0}
		want := n.exhaustive(q)
		found := n.Exact(q)
		if len(found) != len(want) {
			t.Fatalf("%d tools, exhaustively %d", len(found), len(want))
		}
		for i, f := range found {
			if math.Abs(f.Score-want[f.Tool]) > 1e-12 {
				t.Fatalf("tool %d scores %v, exhaustively %v", f.Tool, f.Score, want[f.Tool])
			}
			if i > 0 && found[i-1].Score < f.Score {
				t.Fatal("not best first")
			}
		}
		reachable := map[int]bool{}
		for _, f := range n.Exact(Query{Target: 0, Least: 1e-300}) {
			reachable[f.Tool] = true
		}
		pruned := n.alphaBeta(q, 0, math.MaxInt)
		if len(pruned) != len(reachable) {
			t.Fatalf("alpha-beta without a threshold finds %d tools of %d", len(pruned), len(reachable))
		}
	})
}

// Five nodes by hand: the target 0 needs parameter 1, which tools 2 and 3 give, and 4
// follows before 2.
func TestFitness(t *testing.T) {
	p := &pond{
		tool: []bool{true, false, true, true, true},
		back: [][]arc{{{to: 1, weight: 1}}, {{to: 2, weight: .8}, {to: 3, weight: .4}}, {{to: 4, weight: .5}}, nil, nil},
	}
	all := p.pruned([]bool{true, true, true, true, true})
	// Depths 0, 1, 2, 2, 3: tools (1 + 1/3 + 1/3 + 1/4)/4, one parameter of five, mean
	// depth 8/5, four edges of weight 2.7, E - V + 1 = 0.
	want := (1+1./3+1./3+1./4)/4 - 1./5 + math.Exp(-(8./5)/5) + 2.7/4 + 1
	if math.Abs(all.fitness-want) > 1e-12 {
		t.Errorf("fitness %v, by hand %v", all.fitness, want)
	}
	cut := p.pruned([]bool{true, false, true, true, true})
	if got := cut.has; !slices.Equal(got, []bool{true, false, false, false, false}) {
		t.Errorf("what is not connected stays: %v", got)
	}
	if want := 1. + 1 + 1; cut.fitness != want {
		t.Errorf("the target alone has fitness %v, want %v", cut.fitness, want)
	}
}

func TestAnnealRepeats(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := NewNavigator(drawn(t))
		seed := rapid.Uint64().Draw(t, "seed")
		a := n.Anneal(Query{Target: 0}, seed)
		b := n.Anneal(Query{Target: 0}, seed)
		if !slices.Equal(a, b) {
			t.Fatal("the same seed gives something else")
		}
	})
}

// A path has every tool once, each after what it needs, and the target last.
func TestPathOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawn(t)
		for i := range g.Consumes {
			e := &g.Consumes[i]
			e.Path = "$.x" + string(rune('a'+i))
			g.Tools[e.Tool].Inputs = append(g.Tools[e.Tool].Inputs, Place{Path: e.Path, Required: true, Param: e.Param})
		}
		p := NewNavigator(g).Path(Query{Target: 0}, nil)
		at := map[int]int{}
		for i, s := range p.Steps {
			if _, twice := at[s.Tool]; twice {
				t.Fatal("a tool stands there twice")
			}
			at[s.Tool] = i
		}
		for i, s := range p.Steps {
			if s.For >= 0 && at[s.For] <= i {
				t.Fatal("a step comes after what it is for")
			}
		}
		if last := p.Steps[len(p.Steps)-1]; last.Tool != 0 {
			t.Fatal("the target is not last")
		}
	})
}

// recall returns the mean share of the tools before the last one of tasks that a
// search from it has among its first ten.
func recall(g *Graph, tasks []gold, search func(target int, text string) []Found) float64 {
	sum, n := 0.0, 0.0
	for _, task := range tasks {
		last := task.Tools[len(task.Tools)-1]
		wanted := map[string]bool{}
		for _, tool := range task.Tools {
			if tool != last {
				wanted[tool] = true
			}
		}
		target, ok := g.Find(last)
		if !ok || len(wanted) == 0 {
			continue
		}
		hits := 0.0
		found := search(target, task.Text)
		for _, f := range found[:min(10, len(found))] {
			hits += indicator(wanted[g.Tools[f.Tool].Name])
		}
		sum += hits / float64(len(wanted))
		n++
	}
	return sum / n
}

// The gold predecessors of tasks, among ten: the exact search beats words where
// schemas or calls say something, and both together beat each.
func TestSearchFigures(t *testing.T) {
	movies := Build(Input{Catalog: readCatalog(t, "restbench-tmdb/tools.json")})
	tasks := decodeLines[gold](t, "restbench-tmdb/tasks.jsonl")
	var before Observed
	var left []gold
	for i, one := range recordings.Read(t, recordings.Recorded(t, "toolgraph/ultratool260/traces.atif.jsonl")) {
		if i%5 != 0 {
			before.Observe(one)
			continue
		}
		g := gold{Text: one.Messages[0].Text.Text()}
		for j := range one.Calls {
			g.Tools = append(g.Tools, one.Calls[j].Tool.Value())
		}
		left = append(left, g)
	}
	ultra := Build(Input{Catalog: readCatalog(t, "ultratool260/tools.json"), Observed: &before, NoEvaluation: true})
	for _, c := range []struct {
		name                      string
		g                         *Graph
		tasks                     []gold
		exact, text, beta, anneal float64
	}{
		{"tmdb", movies, tasks, .69, .83, .60, .69},
		{"ultratool", ultra, left, .81, .94, .54, .81},
	} {
		n := NewNavigator(c.g)
		words := recall(c.g, c.tasks, func(target int, text string) []Found { return n.WithText(nil, target, text) })
		exact := recall(c.g, c.tasks, func(target int, _ string) []Found { return n.Exact(Query{Target: target}) })
		both := recall(c.g, c.tasks, func(target int, text string) []Found {
			return n.WithText(n.Exact(Query{Target: target}), target, text)
		})
		beta := recall(c.g, c.tasks, func(target int, _ string) []Found { return n.AlphaBeta(Query{Target: target}) })
		anneal := recall(c.g, c.tasks[:min(100, len(c.tasks))], func(target int, _ string) []Found { return n.Anneal(Query{Target: target}, 0) })
		t.Logf("%s: BM25 %.3f, exact %.3f, with words %.3f, alpha-beta %.3f, anneal %.3f", c.name, words, exact, both, beta, anneal)
		if exact < c.exact || both < c.text || beta < c.beta || anneal < c.anneal || both < words {
			t.Errorf("%s: recall at ten fell", c.name)
		}
	}
}

// averagePrecision returns the average precision and the recall of the first ten of a
// ranking.
func averagePrecision(list []Found, wanted map[int]bool) (precision, recall float64) {
	hits := 0.0
	for i, f := range list[:min(10, len(list))] {
		if wanted[f.Tool] {
			hits++
			precision += hits / float64(i+1)
		}
	}
	return precision / float64(min(10, len(wanted))), hits / float64(len(wanted))
}

// ToolLinkOS with its own links: what a request asks for with all that has to come
// before. The best published figure, with embeddings, is a mAP@10 of .856.
func TestRetrievalFigures(t *testing.T) {
	c := readCatalog(t, "toollinkos/tools.json")
	g := Build(Input{Catalog: c, Links: decodeLines[Link](t, "toollinkos/links.jsonl"), NoEvaluation: true})
	r := NewRetriever(NewNavigator(g))
	precision, found, n := 0.0, 0.0, 0.0
	for _, task := range decodeLines[gold](t, "toollinkos/tasks.jsonl") {
		wanted := map[int]bool{}
		for _, name := range task.Tools {
			if at, ok := g.Find(name); ok {
				wanted[at] = true
			}
		}
		p, f := averagePrecision(r.Needed(task.Text, nil), wanted)
		precision, found, n = precision+p, found+f, n+1
	}
	precision, found = precision/n, found/n
	t.Logf("mAP@10 %.3f, recall@10 %.3f", precision, found)
	if precision < .78 || found < .89 {
		t.Errorf("mAP@10 %.3f and recall@10 %.3f, wanted are .78 and .90", precision, found)
	}
}

func BenchmarkPath(b *testing.B) {
	g := Build(Input{Catalog: readCatalog(b, "toollinkos/tools.json"), Links: decodeLines[Link](b, "toollinkos/links.jsonl"), NoEvaluation: true})
	n := NewNavigator(g)
	for i := 0; b.Loop(); i++ {
		n.Path(Query{Target: i % len(g.Tools)}, nil)
	}
}

func BenchmarkExact(b *testing.B) {
	g := Build(Input{Catalog: readCatalog(b, "toollinkos/tools.json"), Links: decodeLines[Link](b, "toollinkos/links.jsonl"), NoEvaluation: true})
	n := NewNavigator(g)
	for i := 0; b.Loop(); i++ {
		n.Exact(Query{Target: i % len(g.Tools)})
	}
}

// Of tools that give the same a path takes one that reads, whatever the names' order.
func TestPathReads(t *testing.T) {
	tool := func(name, in, out string) string {
		return `{"name":"` + name + `","inputSchema":{"type":"object","properties":{"` + in + `":{"type":"string"}},"required":["` + in + `"]},"outputSchema":{"type":"object","properties":{"` + out + `":{"type":"string"}}}}`
	}
	var list []string
	for _, name := range []string{"archive_account", "cancel_account", "delete_account", "remove_account", "set_account", "update_account", "find_account"} {
		list = append(list, tool(name, "owner", "account_id"))
	}
	list = append(list, tool("show_statement", "account_id", "statement"))
	g := Build(Input{Catalog: parsed(t, "x", []byte("["+strings.Join(list, ",")+"]"))})
	at, _ := g.Find("show_statement")
	path := NewNavigator(g).Path(Query{Target: at}, nil)
	if len(path.Steps) != 2 || g.Tools[path.Steps[0].Tool].Name != "find_account" {
		t.Errorf("the path is %+v", path.Steps)
	}
}

// Who directed a movie, and which keywords it has, are answered by two tools, which need
// the same search: one tree, in which it is called once.
func TestTree(t *testing.T) {
	g := Build(Input{Catalog: readCatalog(t, "restbench-tmdb/tools.json")})
	n := NewNavigator(g)
	wanted := func(names ...string) map[int]bool {
		out := map[int]bool{}
		for i, p := range g.Params {
			if slices.Contains(names, p.Name) {
				out[i] = true
			}
		}
		return out
	}
	for _, c := range []struct {
		task string
		want []string
		path string
	}{
		{"Who directed the movie Dune?", []string{"crew_name"}, "GET /search/movie, GET /movie/{movie_id}/credits"},
		{"Who directed the movie Dune, and which keywords does it have?", []string{"crew_name", "keyword_name"}, "GET /search/movie, GET /movie/{movie_id}/credits, GET /movie/{movie_id}/keywords"},
	} {
		words := n.WithText(nil, -1, c.task)
		targets, none := n.Producers(wanted(c.want...), nil, words)
		if len(targets) != len(c.want) || len(none) > 0 {
			t.Fatalf("%s: %d targets, %d without", c.task, len(targets), len(none))
		}
		var calls []string
		for _, s := range n.Path(Query{Target: targets[0], Also: targets[1:]}, words).Steps {
			calls = append(calls, g.Tools[s.Tool].Name)
		}
		if got := strings.Join(calls, ", "); got != c.path {
			t.Errorf("%s: %s", c.task, got)
		}
	}
	if _, none := n.Producers(wanted("api_key"), nil, nil); len(none) != len(wanted("api_key")) {
		t.Error("a parameter that no result holds is given")
	}
}
