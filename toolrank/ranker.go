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
	base    *base
	model   *logit.Model
	without [features]bool
}

// A trained ranker with what its own training tasks would have been given by a ranker
// that did not see them.
type trained struct {
	*Ranker
	heldOut []ranking
}

// A ranking is the tools of a task that was used, by their places in an order of all
// tools, from 0.
type ranking struct {
	task   int
	places []int // rising
}

// train fits a ranker to tasks.
func (c *Corpus) train(tasks []int, seed uint64, without [features]bool) trained {
	block := c.blocks(tasks, blocks, seed)
	random := rand.New(rand.NewPCG(seed, 0x72616e6b))
	share := min(1, mostRows/float64(max(1, len(tasks)*len(c.documents))))
	var x [][]float64
	var yes []bool
	var of []int // block of a row
	bases := make([]*base, blocks)
	for k := range blocks {
		var rest []int
		for i, t := range tasks {
			if block[i] != k {
				rest = append(rest, t)
			}
		}
		bases[k] = c.newBase(rest)
		s := bases[k].scratch()
		for i, t := range tasks {
			if block[i] != k {
				continue
			}
			bases[k].features(c.tasks[t].words, s)
			for tool := range c.documents {
				_, used := slices.BinarySearch(c.tasks[t].used, int32(tool))
				if !used && share < 1 && random.Float64() >= share {
					continue
				}
				x = append(x, slices.Clone(s.of(tool, without)))
				yes = append(yes, used)
				of = append(of, k)
			}
		}
	}
	out := trained{Ranker: &Ranker{base: c.newBase(tasks), model: logit.Fit(x, yes, penalty), without: without}}
	for k := range blocks {
		var xs [][]float64
		var ys []bool
		for i := range x {
			if of[i] != k {
				xs, ys = append(xs, x[i]), append(ys, yes[i])
			}
		}
		if len(xs) == 0 || len(xs) == len(x) {
			continue
		}
		r := &Ranker{base: bases[k], model: logit.FitFrom(out.model, xs, ys, penalty), without: without}
		s := r.base.scratch()
		for i, t := range tasks {
			if block[i] == k {
				out.heldOut = append(out.heldOut, r.place(t, s))
			}
		}
	}
	return out
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
		into[tool] = r.model.Score(s.of(tool, r.without))
	}
}

// place returns where the tools of a task stand in the ranker's order.
func (r *Ranker) place(t int, s *scratch) ranking {
	scores := make([]float64, len(r.base.usage))
	r.scores(r.base.corpus.tasks[t].words, s, scores)
	return ranking{t, placesIn(scores, r.base.corpus.tasks[t].used)}
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
	slices.Sort(out)
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
