package serving

import (
	"cmp"
	"encoding/json"
	"hash/fnv"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/lexical"
	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/toolgraph/catalog"
	"github.com/awo-dev/awo/toolgraph/toolrank"
)

// TestRecallAtFive: of the tools that tasks use, how many are among the five that
// search_tools finds with the task as its query, next to BM25. The ranker learns from four
// fifths of the tasks, and the others are searched for.
func TestRecallAtFive(t *testing.T) {
	if testing.Short() {
		t.Skip("a long test")
	}
	live, ultra := liveTasks(t), ultraTasks(t)
	for _, set := range []struct {
		name, tools string
		tasks       []toolrank.Task
		least       float64 // of the search
	}{{"LiveMCP", "livemcp/tools.json", live, .25}, {"UltraTool", "ultratool260/tools.json", ultra, .8}} {
		src := recordings.Bytes(t, recordings.Recorded(t, "toolgraph/"+set.tools))
		tools, problems := catalog.Parse(set.tools, src)
		if err := problems.Err(); err != nil {
			t.Fatal(err)
		}
		c, _ := catalog.New(tools)
		var definitions []json.RawMessage
		documents := make([][]string, len(c.Tools))
		for i := range c.Tools {
			one := &c.Tools[i]
			documents[i] = append(lexical.Terms(one.Name), lexical.Terms(one.Description)...)
			d := one.Definition()
			line, err := json.Marshal(map[string]any{"name": one.Name, "description": one.FullDescription(), "inputSchema": json.RawMessage(d.Input.Data)})
			if err != nil {
				t.Fatal(err)
			}
			definitions = append(definitions, line)
		}
		words := lexical.NewBM25(documents, 1.2, .75)
		var train, test []toolrank.Task
		for _, task := range set.tasks {
			h := fnv.New32a()
			_, _ = h.Write([]byte(task.Group))
			if h.Sum32()%5 == 0 {
				test = append(test, task)
			} else {
				train = append(train, task)
			}
		}
		r, _ := toolrank.NewCorpus(c, train, nil).Train(toolrank.Options{Seed: 1}, false)
		traced := func(name string) string { return name }
		plain, learned := (&searcher{}).Index(definitions, traced), (&searcher{r.Ranker}).Index(definitions, traced)
		var sums [3]float64
		for _, task := range test {
			used := map[string]bool{}
			for _, name := range task.Tools {
				used[name] = true
			}
			scores := make([]float64, len(documents))
			words.Scores(lexical.Terms(task.Text), scores)
			order := make([]int, len(scores))
			for i := range order {
				order[i] = i
			}
			slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
			var bm25 []string
			for _, i := range order[:5] {
				bm25 = append(bm25, c.Tools[i].Name)
			}
			for i, found := range [][]string{bm25, plain(task.Text).Found, learned(task.Text).Found} {
				for _, name := range found {
					if used[name] {
						sums[i] += 1 / float64(len(used)) / float64(len(test))
					}
				}
			}
		}
		t.Logf("%s, %d tasks searched: BM25 %.3f, without a ranker %.3f, with one %.3f", set.name, len(test), sums[0], sums[1], sums[2])
		if sums[2] < set.least || sums[2] < sums[0] {
			t.Errorf("%s: recall at five is %.3f, that of BM25 %.3f", set.name, sums[2], sums[0])
		}
	}
}

func liveTasks(t *testing.T) (out []toolrank.Task) {
	for line := range strings.Lines(string(recordings.Bytes(t, recordings.Recorded(t, "toolgraph/livemcp/tasks.jsonl")))) {
		var one toolrank.Task
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatal(err)
		}
		one.Group = one.ID
		out = append(out, one)
	}
	return out
}

func ultraTasks(t *testing.T) (out []toolrank.Task) {
	for _, one := range recordings.Read(t, recordings.Recorded(t, "toolgraph/ultratool260/traces.atif.jsonl"))[:600] {
		out = append(out, toolrank.TaskOf(one))
	}
	return out
}
