package toolworld

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/emit"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/toolgraph"
)

type graphOptions struct {
	sourceOptions `mapstructure:",squash"`
	Graph         string `mapstructure:"graph"`
	Out           string `mapstructure:"out"`
	AddTo         string `mapstructure:"add-to"`
	Check         string `mapstructure:"check"`
	Diff          string `mapstructure:"diff"`
}

func newGraph(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "graph [FILES...]",
		Short: "Build the graph of tools and parameters, and say how well its links are predicted",
		Long: `Build the graph of tools and parameters from catalogues and traces. Edges are of four
kinds: a tool consumes a parameter (its schema), produces one (its results), follows
another tool (calls in a row, equation 4), and a result feeds an argument (proved by
the values). Places in arguments and results are one parameter if their names, or the
objects around them, say so; trajectories overrule names.

Links that nobody has seen yet are predicted. How well is tested on links left out,
against pairs that are as popular, and on tools that are new.

--out writes graph.json, which the other commands read, and graph.dot for Graphviz.

--add-to GRAPH adds the traces to a stored graph (NaviAgent, equations 13 and 14): counts
add up, weights of edges between tools move by recorded times, and tools that keep failing
are pruned and tried again.

--check GRAPH fails, with exit code 1, if the tools of --catalog no longer support a stored
graph: a tool is gone, or a required argument lost its last producer. A check without
problems prints nothing.

--diff GRAPH says what differs between a stored graph and this one.

` + cli.FilesHelp,
		Example: `  awo tools graph traces/ --catalog tools.json --out world/
  awo tools graph --catalog openapi.yaml
  awo tools graph traces/ --catalog a.json --catalog b.json --links known.jsonl --format json
  awo tools graph tuesday/ --add-to world/graph.json
  awo tools graph --check world/graph.json --catalog tools.json
  awo tools graph --diff monday/graph.json --graph tuesday/graph.json`,
	}
	cli.Uses(c, cli.UseTraces)
	f := c.Flags()
	addSources(f)
	f.String("graph", "", "with --diff: the graph in this `FILE` instead of one of catalogues and traces")
	f.String("out", "", "write the graph into this `FOLDER`")
	f.String("add-to", "", "add the traces to the graph in this `FILE`, in place unless --out is given")
	f.String("check", "", "check whether --catalog still supports the graph in this `FILE`")
	f.String("diff", "", "say what differs from the graph in this `FILE`")
	return cli.Work(a, c, graph)
}

// graphFigures are those of a graph.
type graphFigures struct {
	Input      cli.InputJSON `json:"input,omitzero"` // not without traces
	Tools      int           `json:"tools"`
	Defined    int           `json:"defined"`        // of these, with a definition
	Called     int           `json:"called"`         // of these
	Parameters int           `json:"parameters"`     // places in arguments and results
	Clusters   int           `json:"clusters"`       // what is one parameter by name, shape or proof
	Unknown    stat.Figure   `json:"status_unknown"` // share of calls; they count as successes
	Links      int           `json:"links"`          // pairs of tools that the predictor learns from
	Predictor  string        `json:"predictor"`      // own or shipped
	Never      []string      `json:"never_called"`
}

// edges is how many edges of a kind there are.
type edges struct {
	Kind    string `json:"kind"`
	Edges   int    `json:"edges"`
	Meaning string `json:"meaning"`
}

// heldOut is how well links that were left out are predicted.
type heldOut struct {
	Links string        `json:"held_out"`
	Count int           `json:"links"`
	AUC   stat.Estimate `json:"auc"`

	Accuracy stat.Figure `json:"accuracy"` // at the threshold that is best in training
	F1       stat.Figure `json:"f1"`
}

// demand is a required argument.
type demand struct {
	Tool      string `json:"tool"`
	Argument  string `json:"argument"`
	Parameter string `json:"parameter"`
}

// calls are those of a tool.
type calls struct {
	Tool   string `json:"tool"`
	Failed int    `json:"failed"`
	Known  int    `json:"known"` // calls whose status is known
	Calls  int    `json:"calls"`
}

func graph(j *cli.Job, o graphOptions, files []string) error {
	switch {
	case o.Check != "":
		return check(j, o)
	case o.Diff != "":
		return diff(j, o, files)
	case o.Graph != "":
		return cli.Usagef("--graph names a stored graph: say what to compare it with by --diff")
	case o.AddTo != "":
		return update(j, o, files)
	}
	w, g, err := build(j, o.sourceOptions, files, true)
	if err != nil {
		return err
	}
	if o.Out != "" {
		made, err := artefacts(g)
		if err != nil {
			return err
		}
		if err := write(j, o.Out, made, w); err != nil {
			return err
		}
	}
	return j.Result(graphDocument(w, g, o.Out))
}

// build reads everything and builds the graph.
func build(j *cli.Job, s sourceOptions, files []string, evaluate bool) (*world, *toolgraph.Graph, error) {
	if len(files) == 0 && len(s.Catalog) == 0 {
		return nil, nil, cli.Usagef("there is nothing to build a graph from: name traces, or a catalogue with --catalog")
	}
	w, err := read(j, s, files, want{flows: true})
	if err != nil {
		return nil, nil, err
	}
	c, err := w.catalog(j)
	if err != nil {
		return nil, nil, err
	}
	return w, toolgraph.Build(toolgraph.Input{
		Catalog: c, Observed: &w.observed, Proofs: toolgraph.ProofsOf(w.flows), Links: w.links, Seed: j.Seed, NoEvaluation: !evaluate,
	}), nil
}

// artefacts returns the files of a graph.
func artefacts(g *toolgraph.Graph) ([]emit.File, error) {
	data, err := g.Encode()
	return []emit.File{{Name: "graph.json", Data: data}, {Name: "graph.dot", Data: g.DOT()}}, err
}

// write puts files into a folder, with a manifest where traces were read.
func write(j *cli.Job, dir string, files []emit.File, w *world) error {
	if w.in == nil {
		return emit.Write(dir, files, j.Replacing())
	}
	from, err := j.Inputs(dir, w.in, nil)
	if err != nil {
		return err
	}
	return j.WriteArtefacts(dir, files, w.in, from)
}

// figuresOf counts what is in a graph.
func figuresOf(w *world, g *toolgraph.Graph) graphFigures {
	out := graphFigures{
		Input: w.input(), Tools: len(g.Tools), Parameters: g.Places(), Clusters: len(g.Params), Links: g.Links, Predictor: "shipped",
		Unknown: stat.Ratio(g.StatusUnknown, g.Calls, "no calls are recorded"),
	}
	for i := range g.Tools {
		t := &g.Tools[i]
		if t.Defined {
			out.Defined++
		}
		if t.Counts.Calls() > 0 {
			out.Called++
		} else if w.in != nil {
			out.Never = append(out.Never, t.Name)
		}
	}
	if g.Prediction != nil || slices.ContainsFunc(g.Follows, func(e toolgraph.Follow) bool { return e.Kind == toolgraph.Predicted }) {
		out.Predictor = "own"
	}
	return out
}

func graphDocument(w *world, g *toolgraph.Graph, dir string) *report.Document {
	out, kinds, unfed := figuresOf(w, g), edgesOf(g), demands(g, g.Unfed())
	d := &report.Document{Title: "Graph of tools", Figures: out}
	d.Answer = fmt.Sprintf("%s share %s: in %s one's results were seen or are said to feed another, %s more are guessed; %s that no tool gives.",
		cli.CountOf(out.Tools, "tool"), cli.CountOf(out.Clusters, "parameter"), cli.CountOf(kinds[2].Edges, "pair"), report.Grouped(kinds[3].Edges), cli.CountOf(len(unfed), "required argument"))
	d.Add(edgeTable(out, kinds))
	d.Details()
	d.Section("What was read", report.Paragraph(w.summary()))
	for _, text := range plainly(g, out) {
		d.Add(report.Paragraph(text))
	}
	d.Section("Link prediction", predictionTable(g))
	table := report.TableOf("unfed", "Required arguments that no tool gives: the caller has to", unfed, []report.Column{{Key: "tool", Max: 50}, {Key: "argument"}, {Key: "parameter"}})
	table.Most = cli.ToolsShown
	d.Section("Inputs", table.IfAny())
	var failing []calls
	for i := range g.Tools {
		if n := g.Tools[i].Counts; n.Failed > 0 {
			failing = append(failing, calls{g.Tools[i].Name, n.Failed, n.OK + n.Failed, n.Calls()})
		}
	}
	slices.SortStableFunc(failing, func(a, b calls) int { return cmp.Compare(b.Failed, a.Failed) })
	table = report.TableOf("failing", "Tools with failed calls", failing, []report.Column{{Key: "tool", Max: 50}, {Key: "failed"}, {Key: "known", Title: "of calls with a status"}, {Key: "calls"}})
	table.Most = cli.ToolsShown
	d.Section("Failures", table.IfAny())
	if len(out.Never) > 0 {
		d.Section("", report.Paragraph(cli.CountOf(len(out.Never), "tool")+" were never called in these traces; JSON names them."))
	}
	if dir != "" {
		d.Section("", report.Paragraph("The graph is in "+dir+": graph.json for the other commands, and graph.dot for Graphviz."))
	}
	return d
}

// plainly says what the graph does not add.
func plainly(g *toolgraph.Graph, out graphFigures) []string {
	var says []string
	inputs, named := 0, 0
	for i := range g.Tools {
		inputs += len(g.Tools[i].Inputs)
		if g.Tools[i].OutputsFrom == toolgraph.FromName {
			named++
		}
	}
	switch {
	case inputs == 0:
		says = append(says, "No tool has arguments, neither in definitions nor in calls: there are names and descriptions only. So no parameter joins tools, and paths rest on what followed what and on words.")
	case 2*named > len(g.Tools):
		says = append(says, cli.CountOf(named, "tool")+" of "+report.Grouped(len(g.Tools))+" say nowhere what they return, neither in a schema nor in recorded results: of these the name alone says what they may give.")
	}
	if out.Links == 0 {
		says = append(says, "No calls and no links are known, so nothing is known of what follows what: edges between tools are suggestions.")
	}
	return says
}

// predictionTable says how well links are predicted, nil where that was not tested.
func predictionTable(g *toolgraph.Graph) *report.Table {
	p := g.Prediction
	if p == nil {
		return nil
	}
	rows := []heldOut{
		tested("links, against any pairs", p.Uniform),
		tested("links, against pairs as popular", p.Matched),
		tested("links of new tools, against any pairs", p.UnseenUniform),
		tested("links of new tools, against pairs as popular", p.Unseen),
	}
	table := report.TableOf("link_prediction", "", rows, []report.Column{
		{Key: "held_out", Title: "held out", Words: true},
		{Key: "links"},
		{Key: "auc", Title: "AUC", Digits: 3, Range: "90 % interval"},
		{Key: "accuracy", Digits: 3},
		{Key: "f1", Title: "F1", Digits: 3},
	})
	table.Note("AUC: how often a link that was held out scores above a pair that is none; .5 is chance. The first row is what papers report; tools that are in many links make it easy, which the second takes out. New tools are in no link that was learned from. Accuracy and F1: pairs are taken for links above the score that tells links best in training; as many pairs are none.")
	return table
}

func tested(links string, e toolgraph.Evaluation) heldOut {
	const none = "no links could be held out"
	if e.Links == 0 {
		return heldOut{links, 0, stat.NoEstimate(none), stat.Unknown(none), stat.Unknown(none)}
	}
	return heldOut{links, e.Links, stat.Estimate{
		Figure:   stat.Known(e.AUC),
		Interval: stat.Interval{Lo: e.Lo, Hi: e.Hi, Level: toolgraph.Level, N: e.Links, Method: "bootstrap over target tools"},
	}, stat.Known(e.Accuracy), stat.Known(e.F1)}
}

// edgesOf counts the edges by kind.
func edgesOf(g *toolgraph.Graph) []edges {
	follows, predicted, feeds := 0, 0, 0
	words := "a predictor trained on public catalogues suggests it: this graph has too few links for one of its own"
	for _, e := range g.Follows {
		if e.Kind == toolgraph.Predicted || e.Kind == toolgraph.Suggested {
			predicted++
		} else {
			follows++
		}
		if e.Kind == toolgraph.Predicted {
			words = "a predictor trained on this graph expects it"
		}
	}
	if g.Prediction != nil {
		words = "a predictor trained on this graph expects it"
	}
	for _, e := range g.Feeds {
		if !e.Refused {
			feeds++
		}
	}
	return []edges{
		{"consumes", len(g.Consumes), "a tool takes a parameter: its schema, or the arguments of its calls"},
		{"produces", len(g.Produces), "a tool gives a parameter that some tool takes; at most the six best, and all that are proved"},
		{"follows", follows, "calls of one tool came right after calls of another, or a file of links says so"},
		{"predicted", predicted, "nobody saw it yet; " + words},
		{"feeds", feeds, "a value of a result was used as an argument, more often than chance explains"},
	}
}

func edgeTable(out graphFigures, kinds []edges) *report.Table {
	table := report.TableOf("edges", "", kinds, []report.Column{{Key: "kind", Words: true}, {Key: "edges"}, {Key: "meaning", Max: 90, Wrap: true, Words: true}})
	table.Note("%s with %s in arguments and results, which are %s.", cli.CountOf(out.Tools, "tool"), cli.CountOf(out.Parameters, "place"), cli.CountOf(out.Clusters, "parameter"))
	if share, ok := out.Unknown.Value(); ok && share > 0 {
		table.Note("%.0f %% of the calls do not say how they ended; they count as successes.", 100*share)
	}
	return table
}
