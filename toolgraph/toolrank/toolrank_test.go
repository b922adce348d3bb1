package toolrank

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/toolgraph/catalog"
)

func readCatalog(t testing.TB, file string) *catalog.Catalog {
	t.Helper()
	tools, problems := catalog.Parse(file, recordings.Bytes(t, recordings.Recorded(t, "toolgraph/"+file)))
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	c, _ := catalog.New(tools)
	return c
}

// recordedTasks returns tasks with the tools that annotators named.
func recordedTasks(t testing.TB, file string) (out []Task) {
	t.Helper()
	for line := range strings.Lines(string(recordings.Bytes(t, recordings.Recorded(t, "toolgraph/"+file)))) {
		var one Task
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatal(err)
		}
		one.Group = one.ID
		out = append(out, one)
	}
	return out
}

// LiveMCP is real and small: 105 of its 145 used tools occur in one task.
func TestLiveMCP(t *testing.T) {
	if testing.Short() {
		t.Skip("a long test")
	}
	c := NewCorpus(readCatalog(t, "livemcp/tools.json"), recordedTasks(t, "livemcp/tasks.jsonl"), nil)
	s := c.Study(Options{Seed: 2})
	t.Logf("recall at ten %.3f [%.3f, %.3f]; K %v, recall %.3f [%.3f, %.3f]; %+v", s.At10.Mean, s.At10.Lo, s.At10.Hi, s.FoldK, s.Recall.Mean, s.Recall.Lo, s.Recall.Hi, s.Baselines)
	if s.At10.Mean < .60 {
		t.Errorf("recall at ten is %.3f", s.At10.Mean)
	}
	if s.Recall.Hi < .95 {
		t.Errorf("K that was chosen for .95 gets %.3f [%.3f, %.3f]", s.Recall.Mean, s.Recall.Lo, s.Recall.Hi)
	}
	if ours, words := s.Baselines[0], s.Baselines[2]; ours.KForAsk >= words.KForAsk {
		t.Errorf("words alone need %d tools, the ranker %d", words.KForAsk, ours.KForAsk)
	}
}

// The first 600 requests of UltraTool.
func TestUltraTool(t *testing.T) {
	if testing.Short() {
		t.Skip("a long test")
	}
	var tasks []Task
	for _, one := range recordings.Read(t, recordings.Recorded(t, "toolgraph/ultratool260/traces.atif.jsonl"))[:600] {
		tasks = append(tasks, TaskOf(one))
	}
	c := NewCorpus(readCatalog(t, "ultratool260/tools.json"), tasks, nil)
	s := c.Study(Options{Folds: 3})
	t.Logf("K %v, recall %.3f [%.3f, %.3f]; %+v", s.FoldK, s.Recall.Mean, s.Recall.Lo, s.Recall.Hi, s.Baselines)
	if s.Baselines[0].KForAsk > 10 || s.Recall.Hi < .95 {
		t.Errorf("%d tools for .95; K that was chosen gets %.3f [%.3f, %.3f]", s.Baselines[0].KForAsk, s.Recall.Mean, s.Recall.Lo, s.Recall.Hi)
	}
}

// small returns a corpus in which the words of a task say which of two chains it
// takes, and login comes before both but is named nowhere.
func small(n int, seed uint64) (*catalog.Catalog, []Task) {
	var tools []catalog.Tool
	for _, name := range []string{"login", "search_flights", "book_flight", "search_hotels", "book_hotel"} {
		tools = append(tools, catalog.Tool{Name: name})
	}
	for i := range 30 {
		tools = append(tools, catalog.Tool{Name: "unrelated_" + string(rune('a'+i%26)) + strings.Repeat("x", i/26)})
	}
	c, _ := catalog.New(tools)
	r := rand.New(rand.NewPCG(seed, 1))
	var tasks []Task
	for i := range n {
		t := Task{ID: string(rune('A'+i%26)) + strings.Repeat("z", i/26), Tools: []string{"login", "search_flights", "book_flight"}, Text: "fly to Rome next week"}
		if r.IntN(2) == 0 {
			t.Tools, t.Text = []string{"login", "search_hotels", "book_hotel"}, "a room for the night in Rome"
		}
		t.Group = t.ID
		tasks = append(tasks, t)
	}
	return c, tasks
}

func TestSmallWorld(t *testing.T) {
	cat, tasks := small(60, 1)
	c := NewCorpus(cat, tasks, nil)
	s := c.Study(Options{})
	if s.Baselines[0].KForAsk > 3 || s.Recall.Mean < .95 {
		t.Errorf("three tools are enough, but the study says %d with recall %.3f", s.Baselines[0].KForAsk, s.Recall.Mean)
	}
	r, lists := c.Train(Options{}, false)
	var got []string
	for _, one := range r.Ranker.Rank("a room in Rome")[:3] {
		got = append(got, one.Tool)
	}
	if slices.Sort(got); !slices.Equal(got, []string{"book_hotel", "login", "search_hotels"}) {
		t.Errorf("for a room it ranks %v first", got)
	}
	if len(lists) != 1 || lists[0].K != 5 {
		t.Errorf("a fixed list needs all five tools: %+v", lists)
	}
}

// The order of tasks changes nothing, and what is stored ranks alike.
func TestOrderAndEncode(t *testing.T) {
	cat, tasks := small(40, 2)
	first, _ := NewCorpus(cat, tasks, nil).Train(Options{}, false)
	data, err := first.Ranker.Encode()
	if err != nil {
		t.Fatal(err)
	}
	shuffled := slices.Clone(tasks)
	rand.New(rand.NewPCG(3, 3)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	again, _ := NewCorpus(cat, shuffled, nil).Train(Options{}, false)
	if other, _ := again.Ranker.Encode(); string(other) != string(data) {
		t.Fatal("another order of tasks gives another ranker")
	}
	stored, err := Decode("subset.json", data)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range first.Ranker.Rank("fly to Oslo")[:5] {
		if y := stored.Rank("fly to Oslo")[i]; y.Tool != x.Tool {
			t.Fatalf("at place %d the stored ranker has %s, not %s", i, y.Tool, x.Tool)
		}
	}
}

// Words that few ask for are kept nowhere: they may be names or secrets.
func TestForgets(t *testing.T) {
	cat, tasks := small(40, 2)
	tasks[3].Text += " for Hieronymus with the word swordfish"
	r, _ := NewCorpus(cat, tasks, nil).Train(Options{}, false)
	data, err := r.Ranker.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"hieronymu", "swordfish"} {
		if strings.Contains(strings.ToLower(string(data)), strings.ToLower(word)) {
			t.Errorf("the file holds %q", word)
		}
	}
	if !strings.Contains(string(data), `"rome"`) {
		t.Error("a word that everybody says is gone too")
	}
}

func TestScenarios(t *testing.T) {
	var tasks []Task
	for i := range 36 {
		tasks = append(tasks, Task{Group: "scene" + string(rune('a'+i/3)) + "_" + string(rune('1'+i%3))})
	}
	if !Scenarios(tasks) || tasks[0].Group != "scenea" || tasks[35].Group != "scenel" {
		t.Errorf("scenarios are not told: %q, %q", tasks[0].Group, tasks[35].Group)
	}
	tasks = nil
	for i := range 36 {
		tasks = append(tasks, Task{Group: "hash" + string(rune('a'+i)), ID: "82e2" + string(rune('a'+i/3)) + "_" + string(rune('1'+i%3))})
	}
	if !Scenarios(tasks) || tasks[0].Group != tasks[2].Group || tasks[0].Group == tasks[3].Group {
		t.Error("scenarios are not told by ids")
	}
	tasks = []Task{{Group: "task_1"}, {Group: "task_2"}, {Group: "task_3"}}
	if Scenarios(tasks) || tasks[0].Group != "task_1" {
		t.Error("a few numbered tasks are taken for one scenario")
	}
}

func FuzzDecode(f *testing.F) {
	cat, tasks := small(12, 2)
	r, _ := NewCorpus(cat, tasks, nil).Train(Options{}, false)
	data, err := r.Ranker.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"schema":"awo.tool-ranker/v1","k":1,"tools":[{"name":"a"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if r, err := Decode("subset.json", data); err == nil {
			r.Rank("a task")
		}
	})
}

func BenchmarkRank(b *testing.B) {
	c := NewCorpus(readCatalog(b, "livemcp/tools.json"), recordedTasks(b, "livemcp/tasks.jsonl"), nil)
	r, _ := c.Train(Options{}, false)
	for b.Loop() {
		r.Ranker.Rank("Make a chart of the sales in the sheet and put it into a presentation")
	}
}
