package merge

import (
	"fmt"

	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// merged merges trajectories under the rules, with the table.
func merged(set *rules.Set, runs ...*trace.Trajectory) *Merged {
	m := NewMerger(set, Options{Table: true})
	for _, t := range runs {
		m.Add(t)
	}
	return m.Merged()
}

// steps are the steps of a trajectory under all rules, written as their labels
// with the marks of run, `|` for a cut, `+` for an inserted step and `*n` for
// one that stands for n calls.
func steps(set *rules.Set, t *trace.Trajectory) []string {
	labels := &Labels{}
	r := NewRewriter(set, Full(set), labels, NewCatalog(set))
	var texts []string
	for _, s := range r.Rewrite(t) {
		text := ""
		if s.Cut {
			text += "|"
		}
		if s.AfterUser {
			text += "?"
		}
		if s.Status == trace.StatusFailed {
			text += "!"
		}
		if s.Inserted {
			text += "+"
		}
		text += labels.Text(s.Label())
		if s.Calls > 1 {
			text += fmt.Sprintf("*%d", s.Calls)
		}
		texts = append(texts, text)
	}
	return texts
}

// states are the states that a trajectory walks through under all rules.
func states(m *Merged, trajectory int) []int {
	var all []int
	first, last := m.Walks.Of(trajectory)
	for p := first; p < last; p++ {
		all = append(all, int(m.Graph.To(m.Walks.Edge(p))))
	}
	return all
}
