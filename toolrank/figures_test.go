package toolrank

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/awo-dev/awo/catalog"
	"github.com/awo-dev/awo/internal/recordings"
)

func readCatalog(t testing.TB, file string) *catalog.Catalog {
	t.Helper()
	tools, problems := catalog.Parse(file, recordings.Bytes(t, recordings.Recorded(t, file)))
	if len(problems.Errors()) > 0 {
		t.Fatal(problems)
	}
	c, _ := catalog.New(tools)
	return c
}

func TestFigures(t *testing.T) {
	run := func(name string, c *catalog.Catalog, tasks []Task) {
		start := time.Now()
		x := NewCorpus(c, tasks, nil)
		all := make([]int, x.Len())
		for i := range all {
			all[i] = i
		}
		fold := x.blocks(all, 5, 1)
		var ours, bm, us []ranking
		ks := []int{}
		var atK []float64
		for k := range 5 {
			var train, test []int
			for i := range all {
				if fold[i] == k {
					test = append(test, i)
				} else {
					train = append(train, i)
				}
			}
			r := x.train(train, uint64(k), [features]bool{})
			s := r.base.scratch()
			scores := make([]float64, len(c.Tools))
			K, _ := x.chooseK(&r, .95, 1)
			ks = append(ks, K)
			for _, i := range test {
				p := r.place(i, s)
				ours = append(ours, p)
				atK = append(atK, p.recallAt(K))
				clear(scores)
				r.base.own.Products(x.tasks[i].words, scores)
				bm = append(bm, ranking{i, placesIn(scores, x.tasks[i].used)})
				us = append(us, ranking{i, placesIn(r.base.usage, x.tasks[i].used)})
			}
		}
		sum := 0.0
		for _, v := range atK {
			sum += v
		}
		kf := func(l []ranking, target float64) int {
			return smallest(len(c.Tools), func(k int) bool { return meanRecall(l, k) >= target })
		}
		t.Logf("%s: %d tools %d tasks %d groups: R@10 ours %.3f bm25 %.3f; K95 ours %d bm25 %d usage %d; K99 %d %d %d; chosen %v recall %.3f (%v)", name, len(c.Tools), x.Len(), x.Groups(),
			meanRecall(ours, 10), meanRecall(bm, 10), kf(ours, .95), kf(bm, .95), kf(us, .95), kf(ours, .99), kf(bm, .99), kf(us, .99), ks, sum/float64(len(atK)), time.Since(start))
	}
	c := readCatalog(t, "toolgraph/livemcp/tools.json")
	var tasks []Task
	for line := range strings.Lines(string(recordings.Bytes(t, recordings.Recorded(t, "toolgraph/livemcp/tasks.jsonl")))) {
		var g Task
		if err := json.Unmarshal([]byte(line), &g); err != nil {
			t.Fatal(err)
		}
		g.Group = g.ID
		tasks = append(tasks, g)
	}
	run("livemcp", c, tasks)
	c = readCatalog(t, "toolgraph/ultratool260/tools.json")
	tasks = nil
	for _, one := range recordings.Read(t, recordings.Recorded(t, "toolgraph/ultratool260/traces.atif.jsonl")) {
		tasks = append(tasks, TaskOf(one))
	}
	run("ultratool", c, tasks)
}
