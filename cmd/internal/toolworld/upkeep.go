package toolworld

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/emit"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/toolgraph"
	"github.com/awo-dev/awo/toolrank"
)

type updateOptions struct {
	cli.InputOptions `mapstructure:",squash"`
	sourceOptions    `mapstructure:",squash"`
	Out              string  `mapstructure:"out"`
	Failure          float64 `mapstructure:"failure-weight"`
	Memory           float64 `mapstructure:"memory"`
	Window           int     `mapstructure:"window"`
}

func newUpdate(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "update GRAPH FILES...",
		Short: "Add traces to a graph, and take out tools that keep failing",
		Long: `Add traces to a graph: counts add up, new tools get their place among the parameters,
and the weights of edges between tools move towards the days that the traces are of
(NaviAgent, equation 14), by recorded times; without times they stay.

Tools are judged by how often they fail and how rarely they are called (equation 13). One
above .7 is pruned: no search goes through it. The only tool that gives a required
parameter is never pruned but marked failing. A tenth of the pruned ones is put back at
every update, others each time, and one that succeeded is back at once.

` + cli.FilesHelp,
		Example: `  awo tools update world/graph.json tuesday/
  awo tools update world/graph.json tuesday/ --catalog new.json --out new-world/`,
		Args: cobra.MinimumNArgs(2),
	}
	f := c.Flags()
	cli.AddInput(f)
	addSources(f)
	f.String("out", "", "write the graph into this `FOLDER` instead of replacing the file")
	f.Float64("failure-weight", .8, "what failures `WEIGH` against rareness, from 0 to 1 (lambda of equation 13)")
	f.Float64("memory", .7, "what the old weight of an edge `WEIGHS` against a day's, from 0 to 1 (eta of equation 14)")
	f.Int("window", 7, "`DAYS` that a day's weight looks back on")
	return cli.Work(a, c, update)
}

// UpdateJSON is the JSON of `awo tools update`.
type UpdateJSON struct {
	Schema      string         `json:"schema"`
	Input       *cli.InputJSON `json:"input"`
	Tools       int            `json:"tools"`
	New         []string       `json:"new"`
	Days        int            `json:"days"`    // by which weights were stepped
	Stepped     int            `json:"stepped"` // edges whose weight changed
	Untimed     bool           `json:"untimed"` // trajectories without a time are in no window
	Pruned      []string       `json:"pruned"`
	Failing     []string       `json:"failing"`
	Reactivated []string       `json:"reactivated"`
	Probed      []string       `json:"probed"` // of these, those that chance put back
}

func update(j *cli.Job, o updateOptions, args []string) error {
	for _, share := range []struct {
		flag  string
		value float64
	}{{"failure-weight", o.Failure}, {"memory", o.Memory}} {
		if share.value <= 0 || share.value > 1 {
			return cli.Usagef("--%s: %v is not above 0 and at most 1", share.flag, share.value)
		}
	}
	if o.Window < 1 {
		return cli.Usagef("--window: %d is less than 1", o.Window)
	}
	old, err := readGraph(j, args[0])
	if err != nil {
		return err
	}
	w, err := read(j, o.sourceOptions, o.InputOptions, args[1:], want{flows: true})
	if err != nil {
		return err
	}
	defer w.close()
	c, problems := w.builder.Catalog()
	if err := warn(j, problems); err != nil {
		return err
	}
	g, changes := toolgraph.Update(old, toolgraph.Input{
		Catalog: c, Observed: &w.observed, Proofs: toolgraph.ProofsOf(w.flows), Links: w.links, Seed: o.Seed, NoEvaluation: true,
	}, toolgraph.Upkeep{Failure: o.Failure, Memory: o.Memory, Window: o.Window, Seed: o.Seed})
	if o.Out != "" {
		files, err := artefacts(g)
		if err != nil {
			return err
		}
		if err := write(j, o.Out, files, w); err != nil {
			return err
		}
	} else {
		data, err := g.Encode()
		if err != nil {
			return err
		}
		dir, name := cli.SplitOut(args[0])
		if err := emit.Write(dir, []emit.File{{Name: name, Data: data}}); err != nil {
			return err
		}
	}
	some := func(list []string) []string { return append([]string{}, list...) }
	out := UpdateJSON{
		Schema: "awo.tool-update/v1", Input: w.input(), Tools: len(g.Tools), New: some(changes.New), Days: changes.Days, Stepped: changes.Stepped, Untimed: changes.Untimed,
		Pruned: some(changes.Pruned), Failing: some(changes.Failing), Reactivated: some(changes.Reactivated), Probed: some(changes.Probed),
	}
	return j.Print(updateDocument(w, out), out)
}

func updateDocument(w *world, out UpdateJSON) *report.Document {
	d := &report.Document{Title: "Updated graph of tools"}
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
	return d
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

type checkOptions struct {
	cli.InputOptions `mapstructure:",squash"`
	Catalog          []string `mapstructure:"catalog"`
	Subset           string   `mapstructure:"subset"`
	Tasks            string   `mapstructure:"tasks"`
}

func newCheck(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "check GRAPH [FILES...]",
		Short: "Fail if a catalogue no longer supports a graph or a subset",
		Long: `Fail, with exit code 1, if the tools of --catalog no longer bear a graph: a tool that the
graph knows as defined or called is gone, or a required argument lost its last
producer. With --subset, also if a tool of the ranker is gone, and, where FILES or
--tasks say what tasks used, if its recall fell: the 90 % interval on these tasks lies
below what was asked. A check without problems says nothing.

` + cli.FilesHelp,
		Example: `  awo tools check world/graph.json --catalog tools.json
  awo tools check world/graph.json --catalog tools.json --subset world/subset.json this-week/`,
		Args: cobra.MinimumNArgs(1),
	}
	f := c.Flags()
	cli.AddInput(f)
	f.StringSlice("catalog", nil, "the tools as they are now: a `FILE`; may be repeated")
	f.String("subset", "", "also check the ranker in this `FILE` (subset.json)")
	f.String("tasks", "", "tasks and the tools that they used: a `FILE` with {\"text\": TEXT, \"tools\": [...]} a line")
	return cli.Work(a, c, check)
}

// CheckJSON is the JSON of `awo tools check`.
type CheckJSON struct {
	Schema  string        `json:"schema"`
	OK      bool          `json:"ok"`
	Gone    []string      `json:"gone"`   // tools
	Starved []demandJSON  `json:"unfed"`  // required arguments that lost their last producer
	Ranker  []string      `json:"ranker"` // tools of the ranker that are gone
	Recall  stat.Figure   `json:"recall"`
	Bounds  stat.Interval `json:"interval"`
	Asked   stat.Figure   `json:"asked"`
	Fell    bool          `json:"fell"`
}

func check(j *cli.Job, o checkOptions, args []string) error {
	if len(o.Catalog) == 0 {
		return cli.Usagef("--catalog: name the tools as they are now")
	}
	if (len(args) > 1 || o.Tasks != "") && o.Subset == "" {
		return cli.Usagef("--subset: traces and tasks are for checking a ranker, so name it")
	}
	old, err := readGraph(j, args[0])
	if err != nil {
		return err
	}
	w, err := read(j, sourceOptions{Catalog: o.Catalog}, o.InputOptions, args[1:], want{tasks: true})
	if err != nil {
		return err
	}
	defer w.close()
	var listed world
	for _, file := range o.Catalog {
		tools, err := readCatalog(j, file)
		if err != nil {
			return err
		}
		listed.builder.Add(tools)
	}
	c, problems := listed.builder.Catalog()
	if err := warn(j, problems); err != nil {
		return err
	}
	out := CheckJSON{
		Schema: "awo.tool-check/v1", Gone: []string{}, Starved: []demandJSON{}, Ranker: []string{},
		Recall: stat.Unknown("no ranker and tasks were given"), Bounds: stat.NoInterval("no ranker and tasks were given"), Asked: stat.Unknown("no ranker was given"),
	}
	out.Gone = append(out.Gone, old.Gone(c)...)
	for _, d := range old.Starved(c) {
		out.Starved = append(out.Starved, demandJSON{d.Tool, argumentName(d.Path), d.Param})
	}
	if o.Subset != "" {
		data, err := readFile(j, "ranker", o.Subset)
		if err != nil {
			return err
		}
		r, err := toolrank.Decode(o.Subset, data)
		if err != nil {
			return err
		}
		for _, name := range r.Tools() {
			if _, ok := c.Find(name); !ok {
				out.Ranker = append(out.Ranker, name)
			}
		}
		tasks := w.tasks
		if o.Tasks != "" {
			more, err := readTasks(j, o.Tasks)
			if err != nil {
				return err
			}
			tasks = append(tasks, more...)
		}
		_, asked := r.K()
		out.Asked = stat.Known(asked)
		if e := r.Check(tasks, o.Seed); e.Tasks > 0 {
			out.Recall = stat.Known(round4(e.Mean))
			out.Bounds = interval(e)
			out.Fell = e.Hi < asked
		}
	}
	out.OK = len(out.Gone)+len(out.Starved)+len(out.Ranker) == 0 && !out.Fell
	if out.OK && j.Format != report.FormatJSON {
		return nil
	}
	if err := j.Print(checkDocument(out), out); err != nil {
		return err
	}
	if !out.OK {
		return cli.ErrProblems
	}
	return nil
}

// interval returns the bounds of an estimate.
func interval(e toolrank.Estimate) stat.Interval {
	if e.Groups < 2 {
		return stat.NoInterval("fewer than two groups of tasks")
	}
	return stat.Interval{Lo: round4(e.Lo), Hi: round4(e.Hi), Level: toolrank.Level, Method: "bootstrap over groups of tasks"}
}

func checkDocument(out CheckJSON) *report.Document {
	d := &report.Document{Title: "Check of a graph of tools"}
	var says report.List
	if len(out.Gone) > 0 {
		says = append(says, cli.CountOf(len(out.Gone), "tool")+" of the graph gone: "+names(out.Gone)+".")
	}
	if len(out.Ranker) > 0 {
		says = append(says, cli.CountOf(len(out.Ranker), "tool")+" of the ranker gone: "+names(out.Ranker)+".")
	}
	if out.Fell {
		recall, _ := out.Recall.Value()
		asked, _ := out.Asked.Value()
		says = append(says, fmt.Sprintf("Recall fell: %.3f on these tasks, its 90 %% interval ends at %.3f, below the %.3g asked.", recall, out.Bounds.Hi, asked))
	}
	if len(says) > 0 {
		d.Add(says)
	}
	if len(out.Starved) > 0 {
		d.Section("Required arguments that lost their last producer",
			report.TableOf("unfed", "", out.Starved, []report.Column{{Key: "tool", Max: 50}, {Key: "argument"}, {Key: "parameter"}}))
	}
	return d
}

func newDiff(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Say what differs between two graphs of tools",
		Long: `Say what differs between two graphs: tools that came or went, producers of parameters,
edges between tools that appeared or vanished, and those whose weight moved most.`,
		Example: "  awo tools diff monday/graph.json tuesday/graph.json",
		Args:    cobra.ExactArgs(2),
	}
	return cli.Work(a, c, diff)
}

// DiffJSON is the JSON of `awo tools diff`.
type DiffJSON struct {
	Schema  string      `json:"schema"`
	Came    []string    `json:"came"` // tools
	Went    []string    `json:"went"`
	States  []stateJSON `json:"states"` // tools that were pruned, or came back
	Edges   []moveJSON  `json:"edges"`  // between tools, what moved most first
	Appear  int         `json:"edges_new"`
	Vanish  int         `json:"edges_gone"`
	Changed int         `json:"edges_moved"`
}

type stateJSON struct {
	Tool string `json:"tool"`
	Old  string `json:"old"`
	New  string `json:"new"`
}

type moveJSON struct {
	From string  `json:"from"`
	To   string  `json:"to"`
	Old  float64 `json:"old"`
	New  float64 `json:"new"`
}

func diff(j *cli.Job, _ struct{}, args []string) error {
	a, err := readGraph(j, args[0])
	if err != nil {
		return err
	}
	b, err := readGraph(j, args[1])
	if err != nil {
		return err
	}
	x := toolgraph.Compare(a, b)
	out := DiffJSON{Schema: "awo.tool-diff/v1", Came: append([]string{}, x.Came...), Went: append([]string{}, x.Went...), States: []stateJSON{}, Edges: []moveJSON{}, Appear: x.Appeared, Vanish: x.Vanished, Changed: x.Moved}
	for _, s := range x.States {
		out.States = append(out.States, stateJSON{s.Tool, string(s.Old), string(s.New)})
	}
	for _, e := range x.Edges {
		out.Edges = append(out.Edges, moveJSON{e.From, e.To, e.Old, e.New})
	}
	d := &report.Document{Title: "Difference of two graphs of tools"}
	if len(out.Came)+len(out.Went)+len(out.States)+len(out.Edges) == 0 {
		d.Add(report.Paragraph("They do not differ in tools, their states, or edges between them."))
		return j.Print(d, out)
	}
	var says report.List
	if len(out.Came) > 0 {
		says = append(says, cli.CountOf(len(out.Came), "tool")+" came: "+names(out.Came)+".")
	}
	if len(out.Went) > 0 {
		says = append(says, cli.CountOf(len(out.Went), "tool")+" went: "+names(out.Went)+".")
	}
	if len(says) > 0 {
		d.Add(says)
	}
	if len(out.States) > 0 {
		d.Add(report.TableOf("states", "", out.States, []report.Column{{Key: "tool", Max: 60}, {Key: "old", Words: true}, {Key: "new", Words: true}}))
	}
	if len(out.Edges) > 0 {
		table := report.TableOf("edges", "", out.Edges[:min(len(out.Edges), cli.ToolsShown)], []report.Column{{Key: "from", Max: 44}, {Key: "to", Max: 44}, {Key: "old", Digits: 3}, {Key: "new", Digits: 3}})
		table.Note("%s new, %d gone, %d moved; a weight of 0 is no edge.", cli.CountOf(out.Appear, "edge"), out.Vanish, out.Changed)
		d.Add(table)
	}
	return j.Print(d, out)
}
