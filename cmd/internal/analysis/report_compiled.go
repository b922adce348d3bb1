package analysis

import (
	"fmt"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/cmd/internal/extraction"
	"github.com/awo-dev/awo/cmd/internal/recommend"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/stategraph"
)

// The sections with what is compiled of the traces: meta-tools and rules for reading
// ahead, and the graph of states that rules make of them.

var sectionCompiled = reportSection{
	heading: "What would be compiled",
	about: "Each picture is a meta-tool: it is given what stands in the dashed box, makes the calls below, from the top down, and answers with their results, so that the model is asked once. " +
		"A call with a second box behind it is made once for each element of a list; an arrow leads from what gives a value to what takes it.",
	blocks: func(r *reportInput) []report.Block { return r.compiled },
}

var sectionStates = reportSection{
	heading: "The states that rules make alike",
	about: "A state is what a run has done so far, as far as the rules tell it apart: runs that meet in a state have done the same, perhaps in another order or with other values. " +
		"The graph shows the states that most runs pass; a click on one says how runs come to it, how they go on, and which rules made different histories one.",
	blocks: func(r *reportInput) []report.Block { return r.states },
}

// compile adds what `awo extract` would offer, and the graph of states.
func (r *reportInput) compile(j *cli.Job, o reportOptions) error {
	if r.in.Tally.Calls == 0 || o.MetaTools == "never" || o.MetaTools == "auto" && r.in.Tally.Calls > autoCalls {
		return nil
	}
	set, err := j.Rules(j.RuleFile)
	if err != nil {
		return err
	}
	meter, err := j.Meter()
	if err != nil {
		return err
	}
	var v *recommend.Result
	if r.saving != nil && r.saving.found != nil {
		v = r.saving.out.Recommended
	}
	if r.compiled, err = extraction.Section(j, r.in, r.mined, set, meter, v); err != nil || set == nil {
		return err
	}
	r.states, err = r.merged(set)
	return err
}

// statesDrawn is how many states a page draws: more cannot be read.
const statesDrawn = 40

// merged draws the graph that rules make of the traces.
func (r *reportInput) merged(set *rules.Set) ([]report.Block, error) {
	merger := merge.NewMerger(set, merge.Options{Table: true, NoWalks: true, Reasons: true})
	for _, run := range r.mined {
		merger.Add(run.Trajectory)
	}
	m := merger.Merged()
	names := m.Names(m.Masker(false))
	view, err := m.Graph.Select(stategraph.Selection{MaxStates: statesDrawn}, names)
	if err != nil {
		return nil, err
	}
	strategies := report.TableOf("strategies", "States that are left as kinds of rules are added", m.Table, []report.Column{
		{Key: "strategy", Title: "with", Words: true},
		{Key: "states", Title: "states"},
		{Key: "edges", Title: "edges"},
		{Key: "self_loops", Title: "calls that change nothing"},
	})
	strategies.Note("disjoint: no two runs share a state but the first. prefix tree: they share one while all calls so far are the same. Each further row adds one kind of rule.")
	app := r.app(report.AppStateGraph, stateGraphOf(view, names, m.Reasons))
	text := fmt.Sprintf("The graph has %s; drawn %s.", cli.CountOf(m.Graph.States(), "state"), isAreDrawn(len(view.States)))
	if left := view.LeftOut; left.Edges > 0 {
		text += fmt.Sprintf(" %s to other states are not drawn: `awo graph --dot` writes all.", cli.CountOf(left.Edges, "edge"))
	}
	return []report.Block{report.Paragraph(text), app, strategies}, r.err
}

func isAreDrawn(n int) string {
	if n == 1 {
		return "is 1"
	}
	return fmt.Sprintf("are the %d that most runs pass", n)
}

// stateGraph is what page.js reads of a graph of states.
type stateGraph struct {
	States []stateNode `json:"states"`
	Calls  []string    `json:"calls"` // values are shown as ordinals
	Tools  []string    `json:"tools"` // of the calls
	Edges  [][4]int    `json:"edges"` // from and to, indices of states, the call, and how often it was made
}

type stateNode struct {
	State  int      `json:"state"` // as `awo graph` numbers it
	Visits int      `json:"visits"`
	Ends   int      `json:"ends"`
	Joins  []string `json:"joins,omitempty"` // in which ways histories became one
	Rules  []string `json:"rules,omitempty"` // that did it here
}

func stateGraphOf(view *stategraph.View, names stategraph.Names, reasons *merge.Reasons) stateGraph {
	out := stateGraph{States: []stateNode{}, Calls: []string{}, Tools: []string{}, Edges: [][4]int{}}
	at, calls := map[stategraph.StateID]int{}, map[stategraph.Label]int{}
	visits, ends := view.Graph.Visits(), view.Graph.Ends()
	for _, s := range view.States {
		at[s] = len(out.States)
		node := stateNode{State: int(s), Visits: visits[s], Ends: ends[s]}
		if reasons != nil && reasons.Several(s) {
			node.Joins = reasons.Join(s).Names()
			for _, rule := range reasons.Rules(s) {
				node.Rules = append(node.Rules, report.Escape(rule))
			}
		}
		out.States = append(out.States, node)
	}
	for _, e := range view.Edges {
		label := view.Graph.Label(e)
		n, known := calls[label]
		if !known {
			n = len(out.Calls)
			calls[label] = n
			out.Calls, out.Tools = append(out.Calls, report.Escape(names.Label(label))), append(out.Tools, report.Escape(names.Tool(label)))
		}
		out.Edges = append(out.Edges, [4]int{at[view.Graph.From(e)], at[view.Graph.To(e)], n, view.Graph.Weight(e)})
	}
	return out
}
