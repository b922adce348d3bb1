package analysis

import (
	"slices"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/entropy"
	"github.com/awo-dev/awo/entropy/ngram"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/internal/summary/count"
	"github.com/awo-dev/awo/trace"
)

// groups returns the function that names the group of a trajectory, nil for no
// groups.
func (o analyzeOptions) groups() func(*trace.Trajectory) string { return groupsBy(o.By) }

// groupsBy returns the function for a value of --by.
func groupsBy(by string) func(*trace.Trajectory) string {
	if by == "source" {
		return func(t *trace.Trajectory) string { return count.Named(t.Source.File) }
	}
	if label := count.LabelOf(by); label != nil {
		return label
	}
	return cli.GroupOf(by)
}

// studyGroups compares the groups, largest first: each on its own, the order
// tests within groups, and every other group with the largest.
func (f *findings) studyGroups(o analyzeOptions, options entropy.Options) {
	corpus := f.corpus
	if o.By == "none" || o.By == "" || len(corpus.Groups()) < 2 {
		return
	}
	n := len(corpus.Groups())
	counters := make([]*ngram.Counter, n)
	samples := make([]entropy.Sample, n)
	sizes := make([]int, n)
	for g := range n {
		counters[g] = ngram.NewCounter(max(o.Order, 1))
	}
	for i := range corpus.Len() {
		sizes[corpus.Group(i)]++
	}
	for i, tools := range corpus.Sequences() {
		g := corpus.Group(i)
		counters[g].Add(tools)
		samples[g].Sequences = append(samples[g].Sequences, tools)
		samples[g].Tasks = append(samples[g].Tasks, corpus.Task(i))
	}
	counts := make([]*ngram.Counts, n)
	order := make([]int, n)
	for g := range n {
		counts[g], order[g] = counters[g].Counts(), g
	}
	slices.SortStableFunc(order, func(a, b int) int { return sizes[b] - sizes[a] })
	for _, g := range order {
		analysis := entropy.Analyze(counts[g], entropy.Options{Permutations: -1})
		none := stat.Unknown("no calls")
		found := group{corpus.Groups()[g], sizes[g], int(analysis.Symbols), none, none}
		if len(analysis.Orders) > 1 {
			found.H0, found.H1 = analysis.Orders[0].Bits, analysis.Orders[1].Bits
		}
		f.groups = append(f.groups, found)
	}
	for k := range o.Order {
		f.within = append(f.within, entropy.TestOrder(k, options, counts...))
	}
	for _, g := range order[1:] {
		f.shifts = append(f.shifts, shift{[2]string{corpus.Groups()[order[0]], corpus.Groups()[g]}, entropy.CompareHabits(1, samples[order[0]], samples[g], options)})
	}
}
