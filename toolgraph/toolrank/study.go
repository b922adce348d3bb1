package toolrank

import (
	"cmp"
	"math"
	"slices"

	"github.com/awo-dev/awo/internal/par"
)

// Options say how rankers are trained and tested. The zero value is the default.
type Options struct {
	Recall  float64 // of the tools that tasks use, on average, that is asked for; 0 means .95
	Folds   int     // of the test; 0 means 5
	Seed    uint64
	Workers int
}

func (o Options) filled() Options {
	if o.Recall == 0 {
		o.Recall = .95
	}
	if o.Folds == 0 {
		o.Folds = 5
	}
	return o
}

// An Estimate is a mean over tasks with a bootstrap interval over groups of tasks.
type Estimate struct {
	Mean, Lo, Hi float64
	Tasks        int
	Groups       int
}

// A Point of a curve is the recall with the best K tools, to four digits.
type Point struct {
	K      int     `json:"k"`
	Recall float64 `json:"recall"`
}

// A Baseline is another way to order tools, tested on the same tasks.
type Baseline struct {
	Name     string  `json:"name"`
	KForAsk  int     `json:"k_for_asked"` // the smallest K that reaches what was asked, in hindsight
	RecallAt float64 `json:"recall_at_k"` // with as many tools as the ranker chose, to four digits
	At10     float64 `json:"recall_at_10"`
}

// The baselines.
const (
	BaselineRanker = "ranker"        // ours, with the best K in hindsight
	BaselinePlain  = "without-graph" // ours without what calls after one another and schemas say
	BaselineBM25   = "bm25"          // the words of names, descriptions and arguments
	BaselineUsage  = "usage"         // the tools used most, whatever the task
)

// A Miss is a tool that was not among the K of test tasks that used it.
type Miss struct {
	Tool  string   `json:"tool"`
	Tasks int      `json:"tasks"` // in which it was missing
	Of    int      `json:"of"`    // that used it
	IDs   []string `json:"ids"`   // of these tasks
}

// A Study is a held-out test of rankers: each task is ranked by one that was trained
// on other groups of tasks, with the K that was chosen there.
type Study struct {
	Tools, Tasks, Groups, Missing int
	Asked                         float64
	FoldK                         []int // chosen in the training part of each fold
	Recall                        Estimate
	Whole                         Estimate // tasks whose tools were all among the K
	At10                          Estimate // recall with ten tools
	Curve                         []Point  // held out, of the order
	Baselines                     []Baseline
	Misses                        []Miss // most often first
}

// heldOut is the tests of one fold.
type heldOut struct {
	k                       int
	ours, plain, bm25, used []ranking
}

// Study tests rankers over folds of groups of tasks. There must be at least two
// groups.
func (c *Corpus) Study(o Options) *Study {
	o = o.filled()
	all := c.all()
	o.Folds = min(o.Folds, c.taskGroups)
	fold := c.blocks(all, o.Folds, o.Seed)
	folds := func(yield func(int) bool) {
		for k := range o.Folds {
			if !yield(k) {
				return
			}
		}
	}
	s := &Study{Tools: len(c.documents), Tasks: len(c.tasks), Groups: c.taskGroups, Missing: c.missing, Asked: o.Recall}
	var got heldOut
	kOf := map[int]int{}
	for h := range par.Map(max(1, o.Workers), folds, func(k int) *heldOut { return c.test(fold, k, o) }) {
		s.FoldK = append(s.FoldK, h.k)
		for _, r := range h.ours {
			kOf[r.task] = h.k
		}
		got.ours = append(got.ours, h.ours...)
		got.plain = append(got.plain, h.plain...)
		got.bm25 = append(got.bm25, h.bm25...)
		got.used = append(got.used, h.used...)
	}
	s.Recall = c.estimate(got.ours, o.Seed, func(r *ranking) float64 { return r.recallAt(kOf[r.task]) })
	s.Whole = c.estimate(got.ours, o.Seed, func(r *ranking) float64 {
		if r.recallAt(kOf[r.task]) == 1 {
			return 1
		}
		return 0
	})
	s.At10 = c.estimate(got.ours, o.Seed, func(r *ranking) float64 { return r.recallAt(10) })
	for _, k := range curveAt(len(c.documents)) {
		s.Curve = append(s.Curve, Point{k, round4(meanRecall(got.ours, k))})
	}
	for _, b := range []struct {
		name string
		list []ranking
	}{{BaselineRanker, got.ours}, {BaselinePlain, got.plain}, {BaselineBM25, got.bm25}, {BaselineUsage, got.used}} {
		one := Baseline{Name: b.name, At10: round4(meanRecall(b.list, 10))}
		one.KForAsk = smallest(len(c.documents), func(k int) bool { return meanRecall(b.list, k) >= o.Recall })
		for i := range b.list {
			one.RecallAt += b.list[i].recallAt(kOf[b.list[i].task]) / float64(len(b.list))
		}
		one.RecallAt = round4(one.RecallAt)
		s.Baselines = append(s.Baselines, one)
	}
	s.Misses = c.misses(got.ours, kOf)
	return s
}

func round4(x float64) float64 { return math.Round(x*1e4) / 1e4 }

func (c *Corpus) all() []int {
	all := make([]int, len(c.tasks))
	for i := range all {
		all[i] = i
	}
	return all
}

// test trains on all folds but one and ranks the tasks of that.
func (c *Corpus) test(fold []int, k int, o Options) *heldOut {
	var train, test []int
	for i := range c.tasks {
		if fold[i] == k {
			test = append(test, i)
		} else {
			train = append(train, i)
		}
	}
	t := c.train(train, o.Seed+uint64(k))
	h := &heldOut{}
	h.k, _ = c.chooseK(t.heldOut, o.Recall, o.Seed)
	s, plain := t.base.scratch(), t.plain()
	scores := make([]float64, len(c.documents))
	for _, i := range test {
		used := c.tasks[i].used
		t.base.features(c.tasks[i].words, s)
		for tool := range scores {
			scores[tool] = t.model.Score(s.of(tool))
		}
		h.ours = append(h.ours, newRanking(i, scores, used))
		for _, f := range [...]int{fBack, fForward, fSchema} {
			clear(s.byTool[f])
		}
		for tool := range scores {
			scores[tool] = plain.Score(s.of(tool))
		}
		h.plain = append(h.plain, newRanking(i, scores, used))
		h.bm25 = append(h.bm25, newRanking(i, s.byTool[fBM25], used))
		h.used = append(h.used, newRanking(i, t.base.usage, used))
	}
	return h
}

// curveAt returns the K of a curve: each up to 10, then ever coarser, and all.
func curveAt(n int) []int {
	var out []int
	step := 1
	for k := 1; k < n; k += step {
		out = append(out, k)
		if len(out)%10 == 0 {
			step *= 2
		}
	}
	return append(out, n)
}

func (c *Corpus) misses(list []ranking, kOf map[int]int) []Miss {
	by := map[int32]*Miss{}
	for i := range list {
		t := &c.tasks[list[i].task]
		places := list[i].byTool
		for j, tool := range t.used {
			if by[tool] == nil {
				by[tool] = &Miss{Tool: c.catalog.Tools[tool].Name}
			}
			m := by[tool]
			m.Of++
			if places[j] >= kOf[list[i].task] {
				m.Tasks++
				m.IDs = append(m.IDs, t.id)
			}
		}
	}
	var out []Miss
	for _, m := range by {
		if m.Tasks > 0 {
			slices.Sort(m.IDs)
			out = append(out, *m)
		}
	}
	slices.SortFunc(out, func(a, b Miss) int { return cmp.Or(cmp.Compare(b.Tasks, a.Tasks), cmp.Compare(a.Tool, b.Tool)) })
	return out
}

// A Subset is the tools of a list that is the same for all tasks of some kind.
type Subset struct {
	For     string // an agent, or "all"
	Tools   []string
	K       int
	Reached bool     // the lower bound on left-out tasks is what was asked
	Recall  Estimate // on left-out tasks, with the list that the others give
}

// A Result is what is learned from all tasks.
type Result struct {
	Ranker  *Ranker
	K       int
	Reached bool // the lower bound of the recall on left-out tasks is what was asked
}

// Train returns the ranker of all tasks with the K that its left-out blocks choose,
// and, if by is set, the fixed list of each agent, else that of all tasks.
func (c *Corpus) Train(o Options, by bool) (*Result, []Subset) {
	o = o.filled()
	t := c.train(c.all(), o.Seed)
	r := &Result{Ranker: t.Ranker}
	r.K, r.Reached = c.chooseK(t.heldOut, o.Recall, o.Seed)
	r.Ranker.k, r.Ranker.asked = r.K, o.Recall
	kinds := map[string][]int{}
	for i := range c.tasks {
		kind := "all"
		if by {
			kind = c.tasks[i].agent
		}
		kinds[kind] = append(kinds[kind], i)
	}
	var names []string
	for name := range kinds {
		names = append(names, name)
	}
	slices.Sort(names)
	var lists []Subset
	for _, name := range names {
		lists = append(lists, c.fixed(name, kinds[name], t, o))
	}
	return r, lists
}

// fixed returns the list of a kind of tasks: tools by the mean probability over its
// tasks. K is chosen, and recall measured, with lists that are made without the
// block of the task.
func (c *Corpus) fixed(name string, tasks []int, t *trained, o Options) Subset {
	mean := func(but int) []float64 {
		sum := make([]float64, len(c.documents))
		for _, i := range tasks {
			if t.block[i] != but && t.scores[i] != nil {
				for tool, p := range t.scores[i] {
					sum[tool] += float64(p)
				}
			}
		}
		return sum
	}
	var list []ranking
	for k := range blocks {
		var scores []float64
		for _, i := range tasks {
			if t.block[i] == k {
				if scores == nil {
					scores = mean(k)
				}
				list = append(list, newRanking(i, scores, c.tasks[i].used))
			}
		}
	}
	s := Subset{For: name}
	s.K, s.Reached = c.chooseK(list, o.Recall, o.Seed)
	s.Recall = c.estimate(list, o.Seed, func(r *ranking) float64 { return r.recallAt(s.K) })
	for _, tool := range order(mean(-1))[:s.K] {
		s.Tools = append(s.Tools, c.catalog.Tools[tool].Name)
	}
	return s
}
