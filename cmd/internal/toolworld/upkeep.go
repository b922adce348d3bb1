package toolworld

import (
	"fmt"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/toolgraph"
)

// updateFigures are those of `awo tools graph --add-to`.
type updateFigures struct {
	Input       cli.InputJSON `json:"input,omitzero"`
	Tools       int           `json:"tools"`
	New         []string      `json:"new"`
	Days        int           `json:"days"`    // by which weights were stepped
	Stepped     int           `json:"stepped"` // edges whose weight changed
	Untimed     bool          `json:"untimed"` // trajectories without a time are in no window
	Pruned      []string      `json:"pruned"`
	Failing     []string      `json:"failing"`
	Reactivated []string      `json:"reactivated"`
	Probed      []string      `json:"probed"` // of these, those that chance put back
}

// update is `awo tools graph --add-to`.
func update(j *cli.Job, o graphOptions, files []string) error {
	if len(files) == 0 {
		return cli.Usagef("--add-to: name the traces to add")
	}
	old, err := readGraph(j, o.AddTo)
	if err != nil {
		return err
	}
	w, err := read(j, o.sourceOptions, files, want{flows: true})
	if err != nil {
		return err
	}
	c, problems := w.builder.Catalog()
	if err := warn(j, problems); err != nil {
		return err
	}
	g, changes := toolgraph.Update(old, toolgraph.Input{
		Catalog: c, Observed: &w.observed, Proofs: toolgraph.ProofsOf(w.flows), Links: w.links, Seed: j.Seed, NoEvaluation: true,
	})
	if o.Out != "" {
		made, err := artefacts(g)
		if err != nil {
			return err
		}
		if err := write(j, o.Out, made, w); err != nil {
			return err
		}
	} else {
		data, err := g.Encode()
		if err != nil {
			return err
		}
		if err := j.WriteFile(o.AddTo, data); err != nil {
			return err
		}
	}
	out := updateFigures{w.input(), len(g.Tools), changes.New, changes.Days, changes.Stepped, changes.Untimed, changes.Pruned, changes.Failing, changes.Reactivated, changes.Probed}
	d := &report.Document{Title: "Updated graph of tools", Figures: out}
	d.Add(report.Paragraph(w.summary()))
	var says report.List
	list := func(tools []string, format string) {
		if len(tools) > 0 {
			says = append(says, fmt.Sprintf(format, cli.CountOf(len(tools), "tool"), names(tools)))
		}
	}
	list(out.New, "%s new: %s.")
	list(out.Pruned, "%s pruned because calls fail: %s.")
	list(out.Failing, "%s failing, but nothing else gives what they give: %s.")
	list(out.Reactivated, "%s back: %s.")
	if out.Days > 0 {
		says = append(says, fmt.Sprintf("Days by which edges were stepped: %d; weights that changed: %d.", out.Days, out.Stepped))
	} else {
		says = append(says, "No trajectory has a time, so weights of edges between tools stay what they were; counts were added.")
	}
	if out.Untimed && out.Days > 0 {
		says = append(says, "Trajectories without a time are in the counts and in no day.")
	}
	d.Add(says)
	return j.Result(d)
}

// names lists tools, the first ten of them.
func names(list []string) string {
	text := ""
	for i, name := range list[:min(10, len(list))] {
		if i > 0 {
			text += ", "
		}
		text += report.Escape(name)
	}
	if len(list) > 10 {
		text += fmt.Sprintf(" and %d more", len(list)-10)
	}
	return text
}

// checkFigures are those of `awo tools graph --check`.
type checkFigures struct {
	OK   bool     `json:"ok"`
	Gone []string `json:"gone"` // tools
}

// check is `awo tools graph --check`.
func check(j *cli.Job, o graphOptions) error {
	if len(o.Catalog) == 0 {
		return cli.Usagef("--catalog: name the tools as they are now")
	}
	old, err := readGraph(j, o.Check)
	if err != nil {
		return err
	}
	w, err := read(j, sourceOptions{Catalog: o.Catalog}, nil, want{})
	if err != nil {
		return err
	}
	c, err := w.catalog(j)
	if err != nil {
		return err
	}
	out := checkFigures{Gone: old.Gone(c)}
	starved := cli.Map(old.Starved(c), func(l *toolgraph.Lack) demand { return demand{l.Tool, argumentName(l.Path), l.Param} })
	out.OK = len(out.Gone)+len(starved) == 0
	if out.OK && j.Format != report.FormatJSON {
		return nil
	}
	d := &report.Document{Title: "Check of a graph of tools", Figures: out}
	if len(out.Gone) > 0 {
		d.Add(report.List{cli.CountOf(len(out.Gone), "tool") + " of the graph gone: " + names(out.Gone) + "."})
	}
	d.Section("Required arguments that lost their last producer",
		report.TableOf("unfed", "", starved, []report.Column{{Key: "tool", Max: 50}, {Key: "argument"}, {Key: "parameter"}}).IfAny())
	if err := j.Result(d); err != nil {
		return err
	}
	if !out.OK {
		return cli.ErrProblems
	}
	return nil
}

// diffFigures are those of `awo tools graph --diff`.
type diffFigures struct {
	Came    []string `json:"came"` // tools
	Went    []string `json:"went"`
	Appear  int      `json:"edges_new"`
	Vanish  int      `json:"edges_gone"`
	Changed int      `json:"edges_moved"`
}

// diff is `awo tools graph --diff`.
func diff(j *cli.Job, o graphOptions, files []string) error {
	old, err := readGraph(j, o.Diff)
	if err != nil {
		return err
	}
	g, err := graphOf(j, o.Graph, o.sourceOptions, files)
	if err != nil {
		return err
	}
	x := toolgraph.Compare(old, g)
	d := &report.Document{Title: "Difference of two graphs of tools", Figures: diffFigures{x.Came, x.Went, x.Appeared, x.Vanished, x.Moved}}
	if len(x.Came)+len(x.Went)+len(x.States)+len(x.Edges) == 0 {
		d.Add(report.Paragraph("They do not differ in tools, their states, or edges between them."))
	}
	var says report.List
	if len(x.Came) > 0 {
		says = append(says, cli.CountOf(len(x.Came), "tool")+" came: "+names(x.Came)+".")
	}
	if len(x.Went) > 0 {
		says = append(says, cli.CountOf(len(x.Went), "tool")+" went: "+names(x.Went)+".")
	}
	table := report.TableOf("edges", "", x.Edges, []report.Column{{Key: "from", Max: 44}, {Key: "to", Max: 44}, {Key: "old", Digits: 3}, {Key: "new", Digits: 3}})
	table.Most = cli.ToolsShown
	table.Note("%s new, %d gone, %d moved; a weight of 0 is no edge.", cli.CountOf(x.Appeared, "edge"), x.Vanished, x.Moved)
	d.Add(says, report.TableOf("states", "", x.States, []report.Column{{Key: "tool", Max: 60}, {Key: "old"}, {Key: "new"}}).IfAny(), table.IfAny())
	return j.Result(d)
}
