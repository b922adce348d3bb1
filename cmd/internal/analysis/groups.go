package analysis

import (
	"slices"
	"strings"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/entropy"
	"github.com/awo-dev/awo/ngram"
	"github.com/awo-dev/awo/trace"
)

// groupFindings is what is known of one group of trajectories.
type groupFindings struct {
	name         string
	trajectories int
	calls        int
	h0, h1       entropy.Order
	hasH1        bool
}

// groups returns the function that names the group of a trajectory, nil for no
// groups.
func (o analyzeOptions) groups() func(*trace.Trajectory) string { return groupsBy(o.By) }

// groupsBy returns the function for a value of --by.
func groupsBy(by string) func(*trace.Trajectory) string {
	named := func(s string) string {
		if s == "" {
			return "(not recorded)"
		}
		return s
	}
	switch by {
	case "model":
		return func(t *trace.Trajectory) string {
			if t.Model == "" && len(t.Turns) > 0 {
				return named(t.Turns[0].Model)
			}
			return named(t.Model)
		}
	case "agent":
		return func(t *trace.Trajectory) string { return named(t.Agent) }
	case "outcome":
		return func(t *trace.Trajectory) string { return t.Outcome.String() }
	case "source":
		return func(t *trace.Trajectory) string { return named(t.Source.File) }
	case "tool-prefix":
		return func(t *trace.Trajectory) string { return named(toolPrefix(t)) }
	}
	return cli.GroupOf(by)
}

// toolPrefix returns the prefix that most calls of a trajectory share: the part
// of a tool's name before its first separator, as in "mail.send", "mail__send"
// or "mail/send"; of "get_user" it is "get".
func toolPrefix(t *trace.Trajectory) string {
	counts := map[string]int{}
	for i := range t.Calls {
		name := t.Calls[i].Tool.Value()
		prefix := name
		for _, separator := range []string{"__", ".", "/", ":", "_", "-"} {
			if head, _, ok := strings.Cut(name, separator); ok && head != "" {
				prefix = head
				break
			}
		}
		counts[prefix]++
	}
	best := ""
	for prefix, n := range counts {
		if n > counts[best] || n == counts[best] && prefix < best || best == "" {
			best = prefix
		}
	}
	return best
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
		found := groupFindings{name: corpus.Groups()[g], trajectories: sizes[g], calls: int(analysis.Symbols)}
		if len(analysis.Orders) > 1 {
			found.h0, found.h1, found.hasH1 = analysis.Orders[0], analysis.Orders[1], true
		}
		f.groups = append(f.groups, found)
	}
	for k := range o.Order {
		f.within = append(f.within, entropy.TestOrder(k, options, counts...))
	}
	for _, g := range order[1:] {
		f.shifts = append(f.shifts, entropy.CompareHabits(1, samples[order[0]], samples[g], options))
	}
}
