package analysis

import (
	"slices"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/entropy"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/trace"
)

// reworkKey is a kind of rework of one tool or two.
type reworkKey struct {
	kind string
	a, b uint32
}

func reworkOf(kind string, tools []uint32) reworkKey {
	k := reworkKey{kind: kind, a: tools[0]}
	if len(tools) > 1 {
		k.b = tools[1]
	}
	return k
}

// tokenSum is the tokens of the turns that record them.
type tokenSum struct {
	turns  int
	tokens int64
}

// reworkCost adds up the tokens of turns whose calls are rework.
type reworkCost map[reworkKey]tokenSum

// add counts trajectory t, which is number i of the corpus.
func (c reworkCost) add(t *trace.Trajectory, corpus *trace.Corpus, i int) {
	q := corpus.Sequence(i)
	for span := range q.Rework() {
		k := reworkOf(span.Kind, q.Tools[span.At:span.At+span.Calls])
		sum, last := c[k], -1
		for _, turn := range q.Turns[span.At : span.At+span.Calls] {
			if n := int(turn); n < len(t.Turns) && n != last && t.Turns[n].Usage.Known {
				sum.turns++
				sum.tokens += t.Turns[n].Usage.Input + t.Turns[n].Usage.Output
				last = n
			}
		}
		c[k] = sum
	}
}

// renumbered returns the sums under new numbers of tools.
func (c reworkCost) renumbered(numbers []uint32) reworkCost {
	out := reworkCost{}
	for k, sum := range c {
		k.a = numbers[k.a]
		if k.kind == trace.ReworkAlternation {
			k.b = numbers[k.b]
		}
		out[k] = sum
	}
	return out
}

// reworkShown is how many habits of rework the text lists.
const reworkShown = 8

// reworked returns what was done again, with what it took.
func (f *findings) reworked() []rework {
	return cli.Map(f.rework, func(r *trace.Rework) rework {
		x := rework{Kind: r.Kind, Tools: f.names(r.Tools), Occurrences: r.Occurrences, Trajectories: r.Trajectories, Turns: r.Turns, Tokens: stat.Unknown("no tokens are recorded for these turns")}
		if cost := f.reworkCost[reworkOf(r.Kind, r.Tools)]; cost.turns > 0 {
			x.TurnsUsage, x.Tokens = cost.turns, stat.Count(int(cost.tokens))
		}
		return x
	})
}

func reworkTable(f *findings) *report.Table {
	all := f.reworked()
	table := report.TableOf("rework", "Calls that repeat themselves", all, []report.Column{
		{Key: "what", From: "tools", Join: " → ", Max: 70},
		{Key: "kind", Cell: report.By(func(r *rework) report.Cell {
			if r.Kind == trace.ReworkAlternation {
				return report.Text("in turn, after the first round")
			}
			return report.Text("same call again")
		})},
		{Key: "occurrences", Title: "times"},
		{Key: "trajectories", Title: "in trajectories"},
		{Key: "calling_turns", Title: "calling turns"},
		{Key: "tokens", Digits: report.Whole},
	})
	table.Note("The same call again: tool and arguments are equal. Whether that was wasted the traces do not say: polling looks the same.")
	table.Note("Turns and tokens (input and output) are those of the turns that made these calls: the most that doing without them would save.")
	partly := slices.ContainsFunc(all, func(r rework) bool { return 0 < r.TurnsUsage && r.TurnsUsage < r.Turns })
	table.NoteIf(partly, "Not all of these turns record tokens: the sums are too low.")
	table.Most = reworkShown
	return table.IfAny()
}

// mergedSteps is the convergence of trajectories on the states of a merged
// graph (AWO, figure 1).
func mergedSteps(m *merge.Merged) []entropy.Step {
	walks := func(yield func([]uint32) bool) {
		var states []uint32
		for _, places := range m.Walks.All() {
			states = states[:0]
			for p := places[0]; p < places[1]; p++ {
				states = append(states, uint32(m.Graph.To(m.Walks.Edge(p))))
			}
			if !yield(states) {
				return
			}
		}
	}
	return append([]entropy.Step{}, entropy.Convergence(walks, convergenceMost)...)
}

// convergenceShown are the numbers of calls that the table of convergence shows.
var convergenceShown = [...]int{1, 2, 3, 5, 8, 12, 20, 30}

// convergenceBlocks compare the convergence by names with that on merged
// states, which texts have with rules.
func convergenceBlocks(f *findings) []report.Block {
	steps := []report.Block{report.TableOf("convergence", "", f.steps, nil).Hidden()}
	if f.merged == nil {
		return steps
	}
	steps = append(steps, report.TableOf("convergence_merged", "", f.merged, nil).Hidden())
	table := report.NewTable("convergence_by_rules", "How many trajectories are in one state after so many calls",
		report.Column{Key: "calls", Align: report.Right},
		report.Column{Key: "names_share", Title: "same tools so far", Unit: "%", Align: report.Right},
		report.Column{Key: "merged_share", Title: "same state by the rules", Unit: "%", Align: report.Right},
		report.Column{Key: "n", Title: "in it", Align: report.Right},
		report.Column{Key: "reached", Title: "that came so far", Align: report.Right},
	)
	for _, calls := range convergenceShown {
		if calls > len(f.merged) {
			break
		}
		m := f.merged[calls-1]
		names := report.Missing("no trajectory has so many calls")
		if calls <= len(f.steps) {
			names = report.Share(f.steps[calls-1].Share, 1)
		}
		table.Add(report.Int(calls), names, report.Share(m.Share, 1), report.Int(m.N), report.Int(m.Reached))
	}
	table.Note("Shares are of all trajectories with calls, those that ended earlier included; they are counts, not estimates. Calls are those that the rules leave, arguments included: a state by the rules can hold fewer trajectories than one by names alone.")
	return append(steps, table.View())
}
