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
	cli.InputOptions `mapstructure:",squash"`
	sourceOptions    `mapstructure:",squash"`
	Out              string `mapstructure:"out"`
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

--out writes graph.json, which the other commands read, graph.dot, graph.graphml and
graph.html, a page to look around in.

` + cli.FilesHelp,
		Example: `  awo tools graph traces/ --catalog tools.json --out world/
  awo tools graph --catalog openapi.yaml
  awo tools graph traces/ --catalog a.json --catalog b.json --links known.jsonl --format json`,
	}
	f := c.Flags()
	cli.AddInput(f)
	addSources(f)
	f.String("out", "", "write the graph into this `FOLDER`")
	return cli.Work(a, c, graph)
}

// GraphJSON is the JSON of `awo tools graph`.
type GraphJSON struct {
	Schema     string          `json:"schema"`
	Input      *cli.InputJSON  `json:"input"` // null without traces
	Tools      int             `json:"tools"`
	Defined    int             `json:"defined"`    // of these, with a definition
	Called     int             `json:"called"`     // of these
	Parameters int             `json:"parameters"` // places in arguments and results
	Clusters   int             `json:"clusters"`   // what is one parameter by name, shape or proof
	Edges      edgesJSON       `json:"edges"`
	Unknown    stat.Figure     `json:"status_unknown"` // share of calls; they count as successes
	Links      int             `json:"links"`          // pairs of tools that the predictor learns from
	Predictor  string          `json:"predictor"`      // own or shipped
	Prediction *predictionJSON `json:"link_prediction"`
	Unfed      []demandJSON    `json:"unfed"`   // required arguments that no tool gives
	Failing    []callsJSON     `json:"failing"` // tools with failed calls, most failures first
	Never      []string        `json:"never_called"`
}

type edgesJSON struct {
	Consumes  int `json:"consumes"`
	Produces  int `json:"produces"`
	Follows   int `json:"follows"`   // observed and given
	Predicted int `json:"predicted"` // follows that nobody has seen
	Feeds     int `json:"feeds"`
}

type predictionJSON struct {
	Uniform       aucJSON `json:"uniform"`        // negatives drawn over all pairs, as in the paper
	Matched       aucJSON `json:"matched"`        // negatives whose ends are as often in links
	Unseen        aucJSON `json:"unseen"`         // tools that no training link touches, matched negatives
	UnseenUniform aucJSON `json:"unseen_uniform"` // the same with negatives over all pairs
}

type aucJSON struct {
	AUC      stat.Figure   `json:"auc"`
	Interval stat.Interval `json:"interval"`
	Links    int           `json:"links"` // held out
}

type demandJSON struct {
	Tool      string `json:"tool"`
	Argument  string `json:"argument"`
	Parameter string `json:"parameter"`
}

type callsJSON struct {
	Tool   string `json:"tool"`
	Failed int    `json:"failed"`
	Known  int    `json:"known"` // calls whose status is known
	Calls  int    `json:"calls"`
}

func graph(j *cli.Job, o graphOptions, files []string) error {
	w, g, err := build(j, o.sourceOptions, o.InputOptions, files, true)
	if err != nil {
		return err
	}
	defer w.close()
	out := graphJSON(w, g)
	if o.Out != "" {
		made, err := artefacts(g)
		if err != nil {
			return err
		}
		page, err := bytesOf(pageOf(w, g, out).WriteHTML)
		if err != nil {
			return err
		}
		made = append(made, emit.File{Name: "graph.html", Data: page})
		if err := write(j, o.Out, made, w); err != nil {
			return err
		}
	}
	return j.Print(graphDocument(w, g, out, o.Out), out)
}

// build reads everything and builds the graph.
func build(j *cli.Job, s sourceOptions, o cli.InputOptions, files []string, evaluate bool) (*world, *toolgraph.Graph, error) {
	if len(files) == 0 && len(s.Catalog) == 0 {
		return nil, nil, cli.Usagef("there is nothing to build a graph from: name traces, or a catalogue with --catalog")
	}
	w, err := read(j, s, o, files, want{flows: true})
	if err != nil {
		return nil, nil, err
	}
	c, err := w.catalog(j)
	if err != nil {
		w.close()
		return nil, nil, err
	}
	return w, toolgraph.Build(toolgraph.Input{
		Catalog: c, Observed: &w.observed, Proofs: toolgraph.ProofsOf(w.flows), Links: w.links, Seed: o.Seed, NoEvaluation: !evaluate,
	}), nil
}

// artefacts returns the files of a graph.
func artefacts(g *toolgraph.Graph) ([]emit.File, error) {
	var files []emit.File
	for _, f := range []struct {
		name string
		make func() ([]byte, error)
	}{
		{"graph.json", g.Encode},
		{"graph.dot", func() ([]byte, error) { return bytesOf(g.WriteDOT) }},
		{"graph.graphml", func() ([]byte, error) { return bytesOf(g.WriteGraphML) }},
	} {
		data, err := f.make()
		if err != nil {
			return nil, err
		}
		files = append(files, emit.File{Name: f.name, Data: data})
	}
	return files, nil
}

// write puts files into a folder, with a manifest where traces were read.
func write(j *cli.Job, dir string, files []emit.File, w *world) error {
	if w.in == nil {
		return emit.Write(dir, files)
	}
	from, err := j.Inputs(dir, w.in, nil)
	if err != nil {
		return err
	}
	return j.WriteArtefacts(dir, files, w.in, from)
}

func graphJSON(w *world, g *toolgraph.Graph) GraphJSON {
	out := GraphJSON{
		Schema: "awo.tool-graph/v1", Input: w.input(), Tools: len(g.Tools), Parameters: g.Places(), Clusters: len(g.Params),
		Edges: edgesJSON{Consumes: len(g.Consumes), Produces: len(g.Produces)}, Links: g.Links, Predictor: "shipped",
		Unknown: stat.Unknown("no calls are recorded"), Unfed: []demandJSON{}, Failing: []callsJSON{}, Never: []string{},
	}
	if g.Calls > 0 {
		out.Unknown = stat.Known(float64(g.StatusUnknown) / float64(g.Calls))
	}
	for i := range g.Tools {
		t := &g.Tools[i]
		if t.Defined {
			out.Defined++
		}
		if n := t.Counts; n.Calls() > 0 {
			out.Called++
			if n.Failed > 0 {
				out.Failing = append(out.Failing, callsJSON{t.Name, n.Failed, n.OK + n.Failed, n.Calls()})
			}
		} else if w.in != nil {
			out.Never = append(out.Never, t.Name)
		}
	}
	slices.SortStableFunc(out.Failing, func(a, b callsJSON) int { return cmp.Compare(b.Failed, a.Failed) })
	for _, e := range g.Follows {
		if e.Kind == toolgraph.Predicted || e.Kind == toolgraph.Suggested {
			out.Edges.Predicted++
		} else {
			out.Edges.Follows++
		}
		if e.Kind == toolgraph.Predicted {
			out.Predictor = "own"
		}
	}
	for _, e := range g.Feeds {
		if !e.Refused {
			out.Edges.Feeds++
		}
	}
	for _, d := range g.Unfed() {
		out.Unfed = append(out.Unfed, demandJSON{g.Tools[d.Tool].Name, argumentName(d.Path), g.Params[d.Param].Name})
	}
	if p := g.Prediction; p != nil {
		out.Predictor = "own"
		out.Prediction = &predictionJSON{aucOf(p.Uniform), aucOf(p.Matched), aucOf(p.Unseen), aucOf(p.UnseenUniform)}
	}
	return out
}

func aucOf(e toolgraph.Evaluation) aucJSON {
	if e.Links == 0 || e.NotLinks == 0 {
		return aucJSON{AUC: stat.Unknown("no links could be held out"), Interval: stat.NoInterval("no links could be held out")}
	}
	return aucJSON{
		AUC: stat.Known(e.AUC), Links: e.Links,
		Interval: stat.Interval{Lo: e.Lo, Hi: e.Hi, Level: toolgraph.Level, Method: "bootstrap over target tools"},
	}
}

func graphDocument(w *world, g *toolgraph.Graph, out GraphJSON, dir string) *report.Document {
	d := &report.Document{Title: "Graph of tools", Answer: graphAnswer(out)}
	d.Add(edgeTable(out))
	d.Details()
	if text := w.summary(); text != "" {
		d.Section("What was read", report.Paragraph(text))
	}
	for _, text := range plainly(g, out) {
		d.Add(report.Paragraph(text))
	}
	if out.Prediction != nil {
		d.Section("Link prediction", predictionTable(out))
	}
	if len(out.Unfed) > 0 {
		table := report.TableOf("unfed", "Required arguments that no tool gives: the caller has to", out.Unfed[:min(len(out.Unfed), cli.ToolsShown)],
			[]report.Column{{Key: "tool", Max: 50}, {Key: "argument"}, {Key: "parameter"}})
		table.NoteIf(len(out.Unfed) > cli.ToolsShown, "%d of %d are shown; JSON has all.", cli.ToolsShown, len(out.Unfed))
		d.Section("Inputs", table)
	}
	if len(out.Failing) > 0 {
		table := report.TableOf("failing", "Tools with failed calls", out.Failing[:min(len(out.Failing), cli.ToolsShown)],
			[]report.Column{{Key: "tool", Max: 50}, {Key: "failed"}, {Key: "known", Title: "of calls with a status"}, {Key: "calls"}})
		table.NoteIf(len(out.Failing) > cli.ToolsShown, "%d of %d are shown; JSON has all.", cli.ToolsShown, len(out.Failing))
		d.Section("Failures", table)
	}
	if len(out.Never) > 0 {
		d.Section("", report.Paragraph(cli.CountOf(len(out.Never), "tool")+" were never called in these traces; JSON names them."))
	}
	if dir != "" {
		d.Section("", report.Paragraph("The graph is in "+dir+": graph.json for the other commands, graph.dot, graph.graphml, and graph.html to look at."))
	}
	return d
}

// graphAnswer says how tools hang together.
func graphAnswer(out GraphJSON) string {
	return fmt.Sprintf("%s share %s: in %s one's results were seen or are said to feed another, %s more are guessed; %s that no tool gives.",
		cli.CountOf(out.Tools, "tool"), cli.CountOf(out.Clusters, "parameter"), cli.CountOf(out.Edges.Follows, "pair"), report.Grouped(out.Edges.Predicted), cli.CountOf(len(out.Unfed), "required argument"))
}

// pageOf returns the page to look around in.
func pageOf(w *world, g *toolgraph.Graph, out GraphJSON) *report.Document {
	d := graphDocument(w, g, out, "")
	picture := report.Section{Heading: "Picture", Blocks: []report.Block{Picture(g)}}
	d.Sections = append([]report.Section{picture}, d.Sections...)
	return d
}

// Picture returns the graph as a picture to click in.
func Picture(g *toolgraph.Graph) report.Picture {
	return report.Picture{Alt: "the graph of tools and parameters", SVG: g.Picture(), Links: true}
}

func predictorWords(out GraphJSON) string {
	if out.Predictor == "own" {
		return "a predictor trained on this graph expects it"
	}
	return "a predictor trained on public catalogues suggests it: this graph has too few links for one of its own"
}

// plainly says what the graph does not add.
func plainly(g *toolgraph.Graph, out GraphJSON) []string {
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

func predictionTable(out GraphJSON) *report.Table {
	type row struct {
		Name string `json:"held_out"`
		aucJSON
	}
	p := out.Prediction
	table := report.TableOf("link-prediction", "", []row{
		{"links, against any pairs", p.Uniform},
		{"links, against pairs as popular", p.Matched},
		{"links of new tools, against any pairs", p.UnseenUniform},
		{"links of new tools, against pairs as popular", p.Unseen},
	}, []report.Column{
		{Key: "held_out", Title: "held out", Words: true},
		{Key: "links"},
		{Key: "auc", Title: "AUC", Digits: 3},
		{Key: "interval", Title: "90 % interval", Digits: 3},
	})
	table.Note("AUC: how often a link that was held out scores above a pair that is none; .5 is chance. The first row is what papers report; tools that are in many links make it easy, which the second takes out. New tools are in no link that was learned from.")
	return table
}

// edgeTable says how many edges of each kind there are.
func edgeTable(out GraphJSON) *report.Table {
	edges := report.NewTable("edges", "", report.Column{Key: "kind"}, report.Column{Key: "edges", Align: report.Right}, report.Column{Key: "meaning", Max: 90, Wrap: true})
	edges.Add(report.Text("consumes"), report.Int(out.Edges.Consumes), report.Text("a tool takes a parameter: its schema, or the arguments of its calls"))
	edges.Add(report.Text("produces"), report.Int(out.Edges.Produces), report.Text("a tool gives a parameter that some tool takes; at most the six best, and all that are proved"))
	edges.Add(report.Text("follows"), report.Int(out.Edges.Follows), report.Text("calls of one tool came right after calls of another, or a file of links says so"))
	edges.Add(report.Text("predicted"), report.Int(out.Edges.Predicted), report.Text("nobody saw it yet; "+predictorWords(out)))
	edges.Add(report.Text("feeds"), report.Int(out.Edges.Feeds), report.Text("a value of a result was used as an argument, more often than chance explains"))
	edges.Note("%s with %s in arguments and results, which are %s.", cli.CountOf(out.Tools, "tool"), cli.CountOf(out.Parameters, "place"), cli.CountOf(out.Clusters, "parameter"))
	if share, ok := out.Unknown.Value(); ok && share > 0 {
		edges.Note("%.0f %% of the calls do not say how they ended; they count as successes.", 100*share)
	}
	return edges
}
