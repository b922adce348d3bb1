package cmd

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/stategraph"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/completeness"
)

// graphOptions are the flags of `awo graph`.
type graphOptions struct {
	DOT     string `mapstructure:"dot"`
	Mermaid string `mapstructure:"mermaid"`
	GraphML string `mapstructure:"graphml"`
	JSON    string `mapstructure:"graph-json"`

	MinWeight int    `mapstructure:"min-weight"`
	MaxStates int    `mapstructure:"max-states"`
	Focus     string `mapstructure:"focus"`
	Depth     int    `mapstructure:"depth"`
}

func newGraph(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "graph FILES...",
		Short: "Merge trajectories into a graph of states, and show what each kind of rule merges",
		Long: `Merge trajectories into a graph: a state is what an execution has done so far, as
far as the rules tell it apart, and an edge is a call. The table shows how many
states are left as the rules are applied kind by kind; without --rules it ends
with the prefix tree, in which only executions with the same calls so far share a
state.

Argument values are shown as ordinals such as ‹v1›, because they may be secret;
what rules put in their place is shown. --show-values shows them.

` + cli.FilesHelp,
		Example: `  awo graph traces/ --rules rules.yaml
  awo graph traces/ --rules rules.yaml --dot graph.dot --min-weight 5
  awo graph traces/ --rules rules.yaml --mermaid - --focus get_user --depth 2`,
		GroupID: cli.GroupCompile,
	}
	cli.Uses(c, cli.UseTraces, cli.UseRules)
	f := c.Flags()
	f.String("dot", "", "write the graph for Graphviz to this `FILE` (- is the standard output)")
	f.String("mermaid", "", "write the graph as a Mermaid diagram to this `FILE`")
	f.String("graphml", "", "write the graph as GraphML to this `FILE`")
	f.String("graph-json", "", "write the graph as JSON to this `FILE`")
	cli.Count(f, "min-weight", 0, 0, "leave edges out of these files that fewer than `N` executions take")
	cli.Count(f, "max-states", 0, 0, "show at most `N` states, the most visited (0 means all)")
	f.String("focus", "", "show only what is near this `STATE` (a number) or tool")
	cli.Count(f, "depth", 2, 0, "how many calls away from --focus")
	return cli.Work(a, c, graph)
}

// graphFigures are the figures of `awo graph`.
type graphFigures struct {
	Input cli.InputJSON `json:"input"`
}

// strategy is a row of the table of strategies.
type strategy struct {
	merge.StrategyStatistics
	MeanInDegree float64 `json:"mean_in_degree"`
	Endpoints    int     `json:"endpoints"` // labels; where executions are apart, those of each
}

func graph(j *cli.Job, o graphOptions, files []string) error {
	outputs := slices.DeleteFunc([]string{o.DOT, o.Mermaid, o.GraphML, o.JSON}, func(file string) bool { return file == "" })
	switch {
	case o.Focus != "" && len(outputs) == 0:
		return cli.Usagef("--focus is about what the files of the graph show: name one with --dot, --mermaid, --graphml or --graph-json")
	case len(slices.DeleteFunc(outputs, func(file string) bool { return file != "-" })) > 1:
		return cli.Usagef("only one file of the graph can be the standard output")
	}
	in, err := j.Intake(files, trace.Options{})
	if err != nil {
		return err
	}
	in.Needs = []string{completeness.CapabilitySequences}
	merger := merge.NewMerger(j.Set, merge.Options{Table: true, NoWalks: true})
	if err := in.Each(merger.Add); err != nil {
		return err
	}
	if err := in.Refuse(j.Set); err != nil {
		return err
	}
	merged := merger.Merged()
	written, err := writeGraphs(j, merged, o)
	if err != nil || written.stdout { // the graph itself was asked for on the standard output
		return err
	}
	return j.Result(graphDocument(in, merged.Table, j.Set, written.notes))
}

func graphDocument(in *cli.Intake, strategies []merge.StrategyStatistics, set *rules.Set, notes []string) *report.Document {
	d := &report.Document{Title: "State graph", Answer: graphAnswer(strategies, set != nil), Figures: graphFigures{in.JSON()}}
	d.Add(in.Summary())
	rows := cli.Map(strategies, func(s *merge.StrategyStatistics) strategy { return strategy{*s, s.MeanInDegree(), s.Labels} })
	if len(rows) > 0 {
		rows[0].Endpoints = rows[0].Edges // no two executions share a call
	}
	table := report.TableOf("strategies", "", rows, []report.Column{
		{Key: "strategy", Words: true},
		{Key: "states"},
		{Key: "edges"},
		{Key: "self_loops", Title: "calls that change nothing"},
		{Key: "sinks", Title: "without a way on"},
		{Key: "mean_in_degree", Title: "mean ways in", Digits: 2},
		{Key: "labels", Title: "kinds of call"},
		{Key: "endpoints"},
	})
	table.Note("Each row adds one kind of rule to those above it. disjoint: executions share only the root. prefix tree: they share a state while all calls so far are the same.")
	table.Note("Edges are pairs of states; a self-loop is a call that changes nothing the rules look at; a sink is a state no execution leaves; labels are different calls after rewriting; endpoints are the same as AWO's table 4 seems to count them, where a call of a disjoint execution is its own.")
	if n := len(strategies); n > 1 && strategies[1].States > 1 && n > 2 {
		first, last := strategies[1], strategies[n-1]
		table.Note("The rules merge %s states of the prefix tree into %s (%.1f %% fewer). Whether the rules are right these figures do not say: merging too much is as easy as merging too little.",
			report.Grouped(first.States), report.Grouped(last.States), 100*(1-float64(last.States)/float64(first.States)))
	}
	table.NoteIf(set == nil, "No rules were given (--rules FILE), so nothing is merged beyond the prefix tree.")
	d.Add(table)
	d.Add(report.List(notes))
	return d
}

// graphAnswer says how far the graph brings trajectories together.
func graphAnswer(strategies []merge.StrategyStatistics, ruled bool) string {
	n := len(strategies)
	if n < 2 {
		return "There are no calls, so there is no graph."
	}
	first, last := strategies[1], strategies[n-1]
	if !ruled || n < 3 {
		return fmt.Sprintf("Without rules the calls lead through %s: trajectories share one only while all their calls so far are the same.", cli.CountOf(first.States, "state"))
	}
	return fmt.Sprintf("The rules make %s of %s (%.1f %% fewer).", cli.CountOf(last.States, "state"), report.Grouped(first.States), 100*(1-float64(last.States)/float64(max(first.States, 1))))
}

// written says which graph files were made.
type written struct {
	stdout bool // one of them went to the standard output
	notes  []string
}

// writeGraphs writes the graph in the formats asked for.
func writeGraphs(j *cli.Job, merged *merge.Merged, o graphOptions) (written, error) {
	var w written
	exports := []struct {
		file  string
		write func(*stategraph.View, io.Writer, stategraph.Names) error
	}{
		{o.DOT, (*stategraph.View).WriteDOT},
		{o.Mermaid, (*stategraph.View).WriteMermaid},
		{o.GraphML, (*stategraph.View).WriteGraphML},
		{o.JSON, func(v *stategraph.View, w io.Writer, names stategraph.Names) error {
			data, err := report.MarshalJSON(v.Document(names))
			if err != nil {
				return err
			}
			_, err = w.Write(data)
			return err
		}},
	}
	names := merged.Names(merged.Masker(j.ShowValues))
	var view *stategraph.View
	for _, e := range exports {
		if e.file == "" {
			continue
		}
		if view == nil {
			var err error
			if view, err = merged.Graph.Select(selection(o), names); err != nil {
				return w, cli.Usagef("--focus: %s", err)
			}
		}
		var b bytes.Buffer
		if err := e.write(view, &b, names); err != nil {
			return w, err
		}
		if e.file == "-" {
			w.stdout = true
			j.Printf("%s", b.Bytes())
			continue
		}
		if err := j.WriteFile(e.file, b.Bytes()); err != nil {
			return w, err
		}
		note := fmt.Sprintf("%s: the graph with all rules", e.file)
		if left := view.LeftOut.String(); left != "" {
			note += "; " + left
		}
		w.notes = append(w.notes, note+".")
	}
	return w, nil
}

func selection(o graphOptions) stategraph.Selection {
	s := stategraph.Selection{MinWeight: o.MinWeight, MaxStates: o.MaxStates}
	if o.Focus != "" {
		s.Depth = o.Depth
		s.Focus = &stategraph.Focus{Tool: o.Focus}
		if n, err := strconv.ParseUint(o.Focus, 10, 32); err == nil {
			s.Focus = &stategraph.Focus{State: stategraph.StateID(n)}
		}
	}
	return s
}
