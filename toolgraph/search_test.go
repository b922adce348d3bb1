package toolgraph

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/awo-dev/awo/catalog"
	"github.com/awo-dev/awo/internal/recordings"
)

type gold struct {
	ID, Text, Target string
	Tools            []string
}

func readTasks(t testing.TB, file string) (out []gold) {
	for line := range strings.Lines(string(recordings.Bytes(t, recordings.Recorded(t, file)))) {
		var g gold
		if err := json.Unmarshal([]byte(line), &g); err != nil {
			t.Fatal(err)
		}
		out = append(out, g)
	}
	return out
}

func nestful(t testing.TB) (*catalog.Catalog, []gold, []Link) {
	var tools []catalog.Tool
	var tasks []gold
	var links []Link
	for _, set := range []string{"executable", "non-executable-sgd", "non-executable-glaive"} {
		var specs []map[string]any
		if err := json.Unmarshal(recordings.Bytes(t, recordings.Recorded(t, "nestful/"+set+"-spec.json")), &specs); err != nil {
			t.Fatal(err)
		}
		var list []any
		for _, s := range specs {
			props := map[string]any{}
			var req []string
			for _, k := range []string{"query_parameters", "arguments", "path_parameters", "body_parameters"} {
				if m, ok := s[k].(map[string]any); ok {
					for name, v := range m {
						o := v.(map[string]any)
						if o["required"] == true {
							req = append(req, name)
						}
						delete(o, "required")
						props[name] = o
					}
				}
			}
			out := map[string]any{"type": "object", "properties": s["output_parameters"]}
			list = append(list, map[string]any{"name": s["name"], "description": s["description"], "inputSchema": map[string]any{"type": "object", "properties": props, "required": req}, "outputSchema": out})
		}
		data, _ := json.Marshal(list)
		got, problems := catalog.Parse(set, data)
		if len(problems.Errors()) > 0 {
			t.Fatal(problems)
		}
		tools = append(tools, got...)
		var rows []struct {
			Input  string
			Output []struct {
				Name, Label string
				Arguments   map[string]any
			}
		}
		if err := json.Unmarshal(recordings.Bytes(t, recordings.Recorded(t, "nestful/"+set+"-data.json")), &rows); err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			g := gold{Text: r.Input}
			by := map[string]string{}
			for _, o := range r.Output {
				if o.Name == "var_result" {
					continue
				}
				by[o.Label] = o.Name
				g.Tools = append(g.Tools, o.Name)
				g.Target = o.Name
				for param, v := range o.Arguments {
					if s, ok := v.(string); ok && strings.HasPrefix(s, "$") {
						from, _, _ := strings.Cut(strings.Trim(s, "$"), ".")
						if by[from] != "" {
							links = append(links, Link{by[from], o.Name, param})
						}
					}
				}
			}
			tasks = append(tasks, g)
		}
	}
	c, p := catalog.New(tools)
	t.Log(len(p), "problems")
	return c, tasks, links
}

func recallAt(n int, search func(target int, text string) []Found, g *Graph, tasks []gold) float64 {
	sum, all := 0.0, 0.0
	for _, task := range tasks {
		if len(task.Tools) == 0 {
			continue
		}
		target := task.Tools[len(task.Tools)-1]
		want := map[string]bool{}
		for _, tool := range task.Tools {
			if tool != target {
				want[tool] = true
			}
		}
		at, ok := g.Find(target)
		if !ok || len(want) == 0 {
			continue
		}
		found := search(at, task.Text)
		hit := 0.0
		for _, f := range found[:min(n, len(found))] {
			if want[g.Tools[f.Tool].Name] {
				hit++
			}
		}
		sum += hit / float64(len(want))
		all++
	}
	return sum / all
}

func TestSearchFigures(t *testing.T) {
	run := func(name string, g *Graph, tasks []gold) {
		n := NewNavigator(g).Indexed()
		start := time.Now()
		exact := recallAt(10, func(target int, text string) []Found { return n.Exact(Query{Target: target}) }, g, tasks)
		took := time.Since(start) / time.Duration(len(tasks))
		text := recallAt(10, func(target int, text string) []Found { return n.WithText(n.Exact(Query{Target: target}), target, text) }, g, tasks)
		bm := recallAt(10, func(target int, text string) []Found { return n.WithText(nil, target, text) }, g, tasks)
		ab := recallAt(10, func(target int, text string) []Found { return n.AlphaBeta(Query{Target: target}, AlphaBeta{}) }, g, tasks)
		start = time.Now()
		an := recallAt(10, func(target int, text string) []Found { return n.Anneal(Query{Target: target}, Anneal{}) }, g, tasks)
		t.Logf("alpha-beta %.3f anneal %.3f %v", ab, an, time.Since(start)/time.Duration(len(tasks)))
		t.Logf("%s: %d tools, %d tasks: BM25 %.3f exact %.3f + text %.3f  (%v each); links %d follows %d produces %d", name, len(g.Tools), len(tasks), bm, exact, text, took, g.Links, len(g.Follows), len(g.Produces))
	}
	for _, set := range []string{"tmdb", "spotify"} {
		c := readCatalog(t, "toolgraph/restbench-"+set+"/tools.json")
		run(set, Build(Input{Catalog: c}), readTasks(t, "toolgraph/restbench-"+set+"/tasks.jsonl"))
	}
	c, tasks, links := nestful(t)
	run("nestful", Build(Input{Catalog: c}), tasks)
	m := matcherOf(newFrame(c.Tools, nil))
	var list [][2]int32
	for _, l := range links {
		a, ok := c.Find(l.From)
		b, ok2 := c.Find(l.To)
		if ok && ok2 && a != b {
			list = append(list, [2]int32{int32(a), int32(b)})
		}
	}
	slices.SortFunc(list, func(a, b [2]int32) int { return slices.Compare(a[:], b[:]) })
	list = slices.Compact(list)
	u, p, x, y := m.evaluate(list, 1)
	t.Logf("nestful %d links: %.3f %.3f unseen %.3f %.3f", len(list), u.AUC, p.AUC, y.AUC, x.AUC)

	c = readCatalog(t, "toolgraph/livemcp/tools.json")
	o := observed(t, "toolgraph/livemcp/traces.atif.jsonl")
	run("livemcp", Build(Input{Catalog: c, Observed: o, NoEvaluation: true}), readTasks(t, "toolgraph/livemcp/tasks.jsonl"))

	c = readCatalog(t, "toolgraph/ultratool260/tools.json")
	all := recordings.Read(t, recordings.Recorded(t, "toolgraph/ultratool260/traces.atif.jsonl"))
	var train Observed
	var test []gold
	for i, one := range all {
		if i%5 != 0 {
			train.Observe(one)
			continue
		}
		g := gold{Text: one.Messages[0].Text.Text()}
		for j := range one.Calls {
			g.Tools = append(g.Tools, one.Calls[j].Tool.Value())
		}
		test = append(test, g)
	}
	start := time.Now()
	g := Build(Input{Catalog: c, Observed: &train})
	t.Logf("ultratool built in %v: %.3f", time.Since(start), g.Prediction.Matched.AUC)
	run("ultratool", g, test)
	c = readCatalog(t, "toolgraph/toollinkos/tools.json")
	start = time.Now()
	g = Build(Input{Catalog: c})
	t.Logf("toollinkos built in %v", time.Since(start))
}
