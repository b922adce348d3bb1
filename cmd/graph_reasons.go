package cmd

import (
	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/merge/evidence"
	"github.com/awo-dev/awo/metatool/candidate"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/stategraph"
	"github.com/awo-dev/awo/trace"
)

// reasonFigures say how many states have several histories.
type reasonFigures struct {
	States    int `json:"states"`
	Several   int `json:"several"`   // states that executions came to with different histories
	Inherited int `json:"inherited"` // of those, where no rule joined more
}

// reasonsTable says which rules gave states several histories; of single states the file of
// --graph-json does.
func reasonsTable(r *merge.Reasons, out *reasonFigures) *report.Table {
	table := report.TableOf("reasons", "Why states have several histories", r.ByRule(), []report.Column{
		{Key: "rule"}, {Key: "kind", Words: true}, {Key: "states"}, {Key: "joins", Title: "what it made alike", Words: true},
	})
	table.Note("Executions came to %s of %s with different histories of recorded calls; at %s of those all of it had happened before. A rule counts at the states where it joined histories, alone or with others.",
		report.Grouped(out.Several), cli.CountOf(out.States, "state"), report.Grouped(out.Inherited))
	table.Note("calls: calls recorded differently are one. order: the same calls in another order. unchanged: a call leaves the state as it is, or is left out. --graph-json says it state by state.")
	return table
}

// joinReasons returns what the exports of a graph say of states.
func joinReasons(r *merge.Reasons) func(stategraph.StateID) *stategraph.Reasons {
	if r == nil {
		return nil
	}
	return func(s stategraph.StateID) *stategraph.Reasons {
		return &stategraph.Reasons{Several: r.Several(s), Joins: r.Join(s).Names(), Rules: r.Rules(s)}
	}
}

// ablation merges the same trajectories under parts of the rules.
type ablation struct {
	set     *rules.Set
	mergers []*merge.Merger       // without any rule, with all, then alone and without for each
	losses  []*evidence.StateLoss // likewise
	options candidate.Options
}

func newAblation(set *rules.Set, o graphOptions) *ablation {
	a := &ablation{set: set, options: candidate.Options{Threshold: o.Threshold}}
	part := func(keep func(*rules.Rule) bool) {
		some := *set
		some.Rules = nil
		for _, r := range set.Rules {
			if keep(r) {
				some.Rules = append(some.Rules, r)
			}
		}
		a.mergers = append(a.mergers, merge.NewMerger(&some, merge.Options{MaxStates: o.LimitStates}))
		a.losses = append(a.losses, evidence.NewStateLoss(&some))
	}
	part(func(*rules.Rule) bool { return false })
	part(func(*rules.Rule) bool { return true })
	for _, one := range ablated(set) {
		part(func(r *rules.Rule) bool { return r == one })
		part(func(r *rules.Rule) bool { return r != one })
	}
	return a
}

// ablated are the rules whose part is worth knowing: one that only shows values
// changes no state.
func ablated(set *rules.Set) []*rules.Rule {
	var list []*rules.Rule
	for _, r := range set.Rules {
		if r.Kind != rules.KindValues {
			list = append(list, r)
		}
	}
	return list
}

func (a *ablation) add(t *trace.Trajectory) {
	for i, m := range a.mergers {
		m.Add(t)
		a.losses[i].Add(t)
	}
}

// ablatedGraph is the graph under a part of the rules.
type ablatedGraph struct {
	States     int         `json:"states"`
	Edges      int         `json:"edges"`
	TurnsSaved int         `json:"turns_saved"`   // upper bound
	Bits       stat.Figure `json:"held_out_bits"` // of the next tool given the state, on tasks not seen
}

// ablatedRule is a row of the ablation; the first is of all rules.
type ablatedRule struct {
	Rule    string       `json:"rule"`
	Kind    string       `json:"kind"`
	Alone   ablatedGraph `json:"alone"`
	Without ablatedGraph `json:"without"`
}

// result extracts the meta-tools of every part. One part is held at a time
// beyond its merger.
func (a *ablation) result() []ablatedRule {
	figures := make([]ablatedGraph, len(a.mergers))
	for i, m := range a.mergers {
		merged := m.Merged()
		stats := merged.Graph.Statistics()
		figures[i] = ablatedGraph{States: stats.States, Edges: stats.Edges, TurnsSaved: candidate.Extract(merged, a.options).TurnsSaved(), Bits: stateBits(a.losses[i])}
		a.mergers[i], a.losses[i] = nil, nil
	}
	out := []ablatedRule{{"(all rules)", "", figures[1], figures[0]}}
	for i, r := range ablated(a.set) {
		out = append(out, ablatedRule{r.ID, r.Kind.String(), figures[2+2*i], figures[3+2*i]})
	}
	return out
}

// stateBits returns the held-out loss of the next tool given the state.
func stateBits(l *evidence.StateLoss) stat.Figure {
	const folds, seed = 10, 1
	return stat.Finite(l.Bits(folds, seed), "a held-out loss needs two tasks with calls")
}

// ablationTable compares the graph under parts of the rules.
func ablationTable(rows []ablatedRule, threshold int) *report.Table {
	table := report.TableOf("ablation", "Each rule alone, and all but it", rows, []report.Column{
		{Key: "rule"},
		{Key: "kind", Words: true},
		{Key: "alone_states", From: "alone.states", Title: "states alone"},
		{Key: "alone_edges", From: "alone.edges", Title: "edges"},
		{Key: "alone_turns_saved", From: "alone.turns_saved", Title: "turns saved"},
		{Key: "alone_held_out_bits", From: "alone.held_out_bits", Title: "bits", Digits: 3},
		{Key: "without_states", From: "without.states", Title: "states without"},
		{Key: "without_edges", From: "without.edges", Title: "edges"},
		{Key: "without_turns_saved", From: "without.turns_saved", Title: "turns saved"},
		{Key: "without_held_out_bits", From: "without.held_out_bits", Title: "bits", Digits: 3},
	})
	table.Note("The policies of the file apply throughout. Turns saved: by the meta-tools that extraction finds at --threshold %d, an upper bound. Bits: what the next tool costs given the state, on tasks that the predictor has not seen, the mean over four ways to deal the tasks into folds; a rule that lowers it makes states one that go on alike. awo rules verify says whether a rule is right.", threshold)
	return table
}
