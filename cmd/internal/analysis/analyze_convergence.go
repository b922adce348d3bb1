package analysis

import (
	"github.com/awo-dev/awo/entropy"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/merge"
)

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
