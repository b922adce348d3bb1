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
		o := Options{Workers: 2}
		st := x.Study(o)
		t.Logf("%s: %+v", name, *st)
		t.Log(time.Since(start))
		start = time.Now()
		r, lists := x.Train(o, false)
		t.Log(r.K, r.Reached, lists[0].K, lists[0].Reached, lists[0].Recall, time.Since(start))
		data, err := r.Ranker.Encode()
		if err != nil {
			t.Fatal(err)
		}
		d, err := Decode("x", data)
		if err != nil {
			t.Fatal(err)
		}
		start = time.Now()
		got := d.Rank("find a cheap flight to Paris and book a hotel")
		t.Log(len(data), got[:5], time.Since(start))
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
