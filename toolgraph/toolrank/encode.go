package toolrank

import (
	"math"
	"slices"

	"github.com/awo-dev/awo/internal/lexical"
	"github.com/awo-dev/awo/internal/logit"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/toolgraph/catalog"
)

// FileSchema names the version of a ranker's file.
const FileSchema = "awo.tool-ranker/v1"

// The codes of problems with a ranker's file.
const (
	CodeFileSchema = "tool-ranker-schema"
	CodeFileShape  = "tool-ranker-shape"
)

// File is a ranker as it is stored. Of tasks it holds the tools in their order and
// the words that are in the catalogue or that five groups of tasks share, without
// order; no identifier, and no other word.
type File struct {
	Schema string     `json:"schema"`
	Asked  float64    `json:"asked"` // recall
	K      int        `json:"k"`
	Words  []string   `json:"words"`
	Tools  []FileTool `json:"tools"`
	Feeds  [][2]int   `json:"feeds"` // tools: the first gives a required argument of the second
	Tasks  []FileTask `json:"tasks"`
	Model  FileModel  `json:"model"`
}

// FileTool is a tool of a File with the numbers of its words, each as often as it
// stands there.
type FileTool struct {
	Name  string `json:"name"`
	Group string `json:"group,omitempty"`
	Words []int  `json:"words"`
}

// FileTask is what a task used.
type FileTask struct {
	Words []int `json:"words"`
	Tools []int `json:"tools"`
}

// FileModel is a logistic regression over the features and their square roots.
type FileModel struct {
	Mean      []float64 `json:"mean"`
	Scale     []float64 `json:"scale"`
	Coef      []float64 `json:"coef"`
	Intercept float64   `json:"intercept"`
}

// Encode returns the ranker as the JSON of its File.
func (r *Ranker) Encode() ([]byte, error) {
	c := r.base.corpus
	f := &File{
		Schema: FileSchema, Asked: r.asked, K: r.k, Words: []string{}, Tools: []FileTool{}, Feeds: [][2]int{}, Tasks: []FileTask{},
		Model: FileModel{rounded(r.model.Mean), rounded(r.model.Scale), rounded(r.model.Coef), rounded([]float64{r.model.Intercept})[0]},
	}
	for t := range c.vocabulary.Len() {
		f.Words = append(f.Words, c.vocabulary.Word(int32(t)))
	}
	for i, d := range c.documents {
		t := &c.catalog.Tools[i]
		f.Tools = append(f.Tools, FileTool{t.Name, t.Group, numbers(d)})
	}
	for _, p := range c.feeds {
		f.Feeds = append(f.Feeds, [2]int{int(p[0]), int(p[1])})
	}
	for i := range c.tasks {
		t := FileTask{Words: numbers(c.tasks[i].words), Tools: []int{}}
		for _, tool := range c.tasks[i].steps {
			t.Tools = append(t.Tools, int(tool))
		}
		f.Tasks = append(f.Tasks, t)
	}
	// In an order that says nothing of who asked when.
	slices.SortFunc(f.Tasks, func(a, b FileTask) int {
		if c := slices.Compare(a.Words, b.Words); c != 0 {
			return c
		}
		return slices.Compare(a.Tools, b.Tools)
	})
	return report.MarshalJSON(f)
}

func rounded(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = math.Round(v*1e6) / 1e6
	}
	return out
}

// numbers returns the terms of counts, each as often as it was counted.
func numbers(v lexical.Vector) []int {
	out := []int{}
	for _, w := range v {
		for range int(w.W) {
			out = append(out, int(w.Term))
		}
	}
	return out
}

// Decode reads what Encode wrote. The error is a *diag.Error in the named file.
func Decode(file string, data []byte) (*Ranker, error) {
	return catalog.Decode(storedRanker, file, data, (*File).ranker)
}

var storedRanker = catalog.Stored{
	What: "ranker of tools", Schema: FileSchema, From: "`awo tools subset --out DIR` writes subset.json", CodeSchema: CodeFileSchema, CodeShape: CodeFileShape,
}

func (f *File) ranker() (*Ranker, string) {
	const n = 2 * features
	m := f.Model
	if len(m.Mean) != n || len(m.Scale) != n || len(m.Coef) != n || slices.ContainsFunc(m.Scale, func(s float64) bool { return !(s > 0) }) {
		return nil, "the model has not the features of this version"
	}
	if f.K < 1 || f.K > len(f.Tools) {
		return nil, "k is not between 1 and the number of tools"
	}
	c := &Corpus{catalog: &catalog.Catalog{}}
	words := &lexical.Vocabulary{}
	words.Add(f.Words)
	c.vocabulary = words.Sorted()
	if c.vocabulary.Len() != len(f.Words) || !slices.IsSorted(f.Words) {
		return nil, "words are not in order, or one is there twice"
	}
	tools := make([]catalog.Tool, len(f.Tools))
	groups := map[string]int32{}
	for i, t := range f.Tools {
		tools[i] = catalog.Tool{Name: t.Name, Group: t.Group}
		d, ok := c.counts(t.Words)
		if !ok {
			return nil, "a tool has a word that is not there"
		}
		c.documents = append(c.documents, d)
		c.group = append(c.group, groupNumber(groups, t.Group))
	}
	c.groups = len(groups)
	if c.catalog, _ = catalog.New(tools); len(c.catalog.Tools) != len(tools) {
		return nil, "a tool is there twice"
	}
	for i := range tools {
		if c.catalog.Tools[i].Name != tools[i].Name {
			return nil, "tools are not in the order of their names"
		}
	}
	inTools := func(list ...int) bool {
		return !slices.ContainsFunc(list, func(t int) bool { return t < 0 || t >= len(tools) })
	}
	for _, p := range f.Feeds {
		if !inTools(p[:]...) {
			return nil, "there is no tool of a number in feeds"
		}
		c.feeds = append(c.feeds, [2]int32{int32(p[0]), int32(p[1])})
	}
	for _, t := range f.Tasks {
		d, ok := c.counts(t.Words)
		if !ok || !inTools(t.Tools...) || len(t.Tools) == 0 {
			return nil, "a task has a word or a tool that is not there"
		}
		one := task{words: d}
		for _, tool := range t.Tools {
			one.steps = append(one.steps, int32(tool))
		}
		one.used = slices.Compact(slices.Sorted(slices.Values(one.steps)))
		c.tasks = append(c.tasks, one)
	}
	model := &logit.Model{Mean: m.Mean, Scale: m.Scale, Coef: m.Coef, Intercept: m.Intercept}
	return &Ranker{base: c.newBase(c.all()), model: model, asked: f.Asked, k: f.K}, ""
}

// counts returns the counts of terms given by their numbers.
func (c *Corpus) counts(list []int) (lexical.Vector, bool) {
	list = slices.Sorted(slices.Values(list))
	var out lexical.Vector
	for _, n := range list {
		if n < 0 || n >= c.vocabulary.Len() {
			return nil, false
		}
		if last := len(out) - 1; last >= 0 && out[last].Term == int32(n) {
			out[last].W++
			continue
		}
		out = append(out, lexical.Weight{Term: int32(n), W: 1})
	}
	return out, true
}
