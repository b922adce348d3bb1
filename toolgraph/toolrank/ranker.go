package toolrank

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/awo-dev/awo/internal/lexical"
	"github.com/awo-dev/awo/internal/logit"
)

// The constants of training.
const (
	penalty  = .05 // C of the regression
	blocks   = 8   // of groups of tasks: the features of a task are made without its block
	mostRows = 40_000
)

// A Ranker orders the tools of a catalogue for a task, those first that it needs
// most likely. It is immutable; Rank may be called concurrently.
type Ranker struct {
	base  *base
	model *logit.Model
	asked float64
	k     int
}

// A trained ranker with what its own training tasks would have been given by a ranker
// that did not see them.
type trained struct {
	*Ranker
	rows    *sample // that it was fitted on
	tasks   []int
	block   []int       // of each task
	scores  [][]float32 // of every tool, by task, made without the task's block
	heldOut []ranking
}

// A ranking is the tools of a task that was used, by their places in an order of all
// tools, from 0.
type ranking struct {
	task   int
	places []int // rising
	byTool []int // the same in the order of the task's tools
}

func newRanking(t int, scores []float64, tools []int32) ranking {
	by := placesIn(scores, tools)
	return ranking{t, slices.Sorted(slices.Values(by)), by}
}

// graphFeatures are those that calls after one another and schemas give.
var graphFeatures = [features]bool{fBack: true, fForward: true, fSchema: true}

// A sample is the rows that a ranker is fitted on.
type sample struct {
	x     [][]float64
	yes   []bool
	block []int
}

// plain returns the model without the features of the graph.
func (t *trained) plain() *logit.Model {
	out := make([][]float64, len(t.rows.x))
	for i, x := range t.rows.x {
		x = slices.Clone(x)
		for f, is := range graphFeatures {
			if is {
				x[f], x[features+f] = 0, 0
			}
		}
		out[i] = x
	}
	return logit.FitFrom(t.model, out, t.rows.yes, penalty)
}

// train fits a ranker to tasks, given by their numbers: features of each are made
// without its block of groups, so that no task teaches what it is tested on.
func (c *Corpus) train(tasks []int, seed uint64) *trained {
	out := &trained{tasks: tasks, block: c.blocks(tasks, blocks, seed), scores: make([][]float32, len(tasks))}
	random := rand.New(rand.NewPCG(seed, 0x72616e6b))
	share := min(1, mostRows/float64(max(1, len(tasks)*len(c.documents))))
	var rows sample
	bases := make([]*base, blocks)
	for k := range blocks {
		var rest []int
		for i, t := range tasks {
			if out.block[i] != k {
				rest = append(rest, t)
			}
		}
		if len(rest) == 0 || len(rest) == len(tasks) {
			continue
		}
		bases[k] = c.newBase(rest)
		s := bases[k].scratch()
		for i, t := range tasks {
			if out.block[i] != k {
				continue
			}
			bases[k].features(c.tasks[t].words, s)
			for tool := range c.documents {
				_, used := slices.BinarySearch(c.tasks[t].used, int32(tool))
				if !used && share < 1 && random.Float64() >= share {
					continue
				}
				rows.x = append(rows.x, slices.Clone(s.of(tool)))
				rows.yes = append(rows.yes, used)
				rows.block = append(rows.block, k)
			}
		}
	}
	out.Ranker = &Ranker{base: c.newBase(tasks)}
	if len(rows.x) == 0 {
		rows = sample{x: [][]float64{make([]float64, 2*features)}, yes: []bool{false}, block: []int{0}}
	}
	out.model = logit.Fit(rows.x, rows.yes, penalty)
	out.rows = &rows
	models := logit.FitWithout(out.model, rows.x, rows.yes, rows.block, blocks, penalty)
	for k, b := range bases {
		if b != nil && models[k] != nil {
			out.holdOut(k, b, models[k])
		}
	}
	return out
}

// holdOut ranks the tasks of a block with what the others teach.
func (t *trained) holdOut(block int, b *base, model *logit.Model) {
	r := &Ranker{base: b, model: model}
	s := b.scratch()
	scores := make([]float64, len(b.usage))
	for i, task := range t.tasks {
		if t.block[i] != block {
			continue
		}
		r.scores(b.corpus.tasks[task].words, s, scores)
		t.heldOut = append(t.heldOut, newRanking(task, scores, b.corpus.tasks[task].used))
		t.scores[i] = make([]float32, len(scores))
		for tool, z := range scores {
			t.scores[i][tool] = float32(logit.Sigmoid(z))
		}
	}
}

// blocks divides tasks into n blocks of whole groups.
func (c *Corpus) blocks(tasks []int, n int, seed uint64) []int {
	var groups []int32
	for _, t := range tasks {
		groups = append(groups, c.tasks[t].group)
	}
	different := slices.Compact(slices.Sorted(slices.Values(groups)))
	random := rand.New(rand.NewPCG(seed, 0x626c6f63))
	random.Shuffle(len(different), func(i, j int) { different[i], different[j] = different[j], different[i] })
	of := map[int32]int{}
	for i, g := range different {
		of[g] = i % n
	}
	out := make([]int, len(tasks))
	for i, g := range groups {
		out[i] = of[g]
	}
	return out
}

// scores fills into with the log odds of every tool.
func (r *Ranker) scores(words lexical.Vector, s *scratch, into []float64) {
	r.base.features(words, s)
	for tool := range into {
		into[tool] = r.model.Score(s.of(tool))
	}
}

// placesIn returns the places of some tools in the order of scores, highest first,
// ties by number.
func placesIn(scores []float64, tools []int32) []int {
	out := make([]int, len(tools))
	for i, tool := range tools {
		for other, s := range scores {
			if s > scores[tool] || s == scores[tool] && int32(other) < tool {
				out[i]++
			}
		}
	}
	return out
}

// order returns all tools, highest score first, ties by number.
func order(scores []float64) []int {
	out := make([]int, len(scores))
	for i := range out {
		out[i] = i
	}
	slices.SortFunc(out, func(a, b int) int { return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(a, b)) })
	return out
}

// K returns how many tools were chosen for a task, and the recall that was asked for.
func (r *Ranker) K() (k int, asked float64) { return r.k, r.asked }

// A Ranked is a tool with the probability that a task needs it.
type Ranked struct {
	Tool        string
	Probability float64
}

// Rank returns all tools for the text of a task, those first that it needs most
// likely.
func (r *Ranker) Rank(text string) []Ranked {
	c := r.base.corpus
	scores := make([]float64, len(c.documents))
	r.scores(c.vocabulary.Terms(termsOf(text)), r.base.scratch(), scores)
	out := make([]Ranked, len(scores))
	for i, tool := range order(scores) {
		out[i] = Ranked{c.catalog.Tools[tool].Name, logit.Sigmoid(scores[tool])}
	}
	return out
}
