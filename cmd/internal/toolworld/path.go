package toolworld

import (
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/toolgraph"
	"github.com/awo-dev/awo/trace"
)

// graph reads or builds the graph.
// graphOf reads a stored graph, or builds one.
func graphOf(j *cli.Job, stored string, o sourceOptions, files []string) (*toolgraph.Graph, error) {
	if stored == "" {
		_, g, err := build(j, o, files, false)
		return g, err
	}
	if len(files) > 0 || len(o.Catalog) > 0 || o.Links != "" {
		return nil, cli.Usagef("--graph names a graph that is built: give it without traces, catalogues and links")
	}
	return readGraph(j, stored)
}

// searches are the ways to search.
const (
	searchExact     = "exact"
	searchAlphaBeta = "alpha-beta"
	searchAnneal    = "anneal"
)

type pathOptions struct {
	sourceOptions `mapstructure:",squash"`
	Graph         string   `mapstructure:"graph"`
	Have          []string `mapstructure:"have"`
	Want          []string `mapstructure:"want"`
	Task          string   `mapstructure:"task"`
	Search        string   `mapstructure:"search"`

	Substitutes bool   `mapstructure:"substitutes"`
	Recover     string `mapstructure:"recover"`
	Failed      string `mapstructure:"failed"`
}

func newPath(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "path [TARGET] [FILES...]",
		Short: "Print the calls that have to come before a tool, and why",
		Long: `Print the calls before a tool in an order in which they can be made, each with the
evidence for it, and the arguments that are left to the caller:

  proven 53/53     values went this way, in 53 of 53 trajectories that could show it
  given            a file of links says so
  observed 3/4     3 of 4 calls came right after it
  schema .81       names and types fit, to that degree
  name .72         only the tool's name promises what is needed
  predicted .62    a predictor trained on this graph expects it
  suggested .40    a predictor trained on other catalogues does

Of every required argument the best producer is taken. --have names arguments that the
caller has, --task lets words choose between producers that are alike. Which tools are
worth a look beside the path is said by a search: exact follows the best product of
weights, alpha-beta and anneal are those of NaviAgent, for comparison.

Without TARGET the tool that fits --task best is it, and the candidates are what the three
best ones need. With --want the targets are the fewest tools whose results have the wanted
parameters, those that fit --task first; the calls before all of them are one tree.

--substitutes names the tools that can stand in for TARGET: they take what it is given and
give what others use of its results. Only tools that read have substitutes, and only such
are named: a write that failed may have been done.

--recover PATH --failed TOOL names the ways around a tool that failed as a step of a path
(the JSON that this command printed, - for the standard input), in the order to try them: a
substitute; another way to the step that needed its result; with --task, other targets.
Nothing is called, and no way goes through a tool that writes.

The graph is that of --graph, or is built from --catalog and the trace FILES.

` + cli.FilesHelp,
		Example: `  awo tools path send_invoice --graph world/graph.json
  awo tools path send_invoice traces/ --catalog tools.json --have customer_id
  awo tools path --task "cancel my order" --graph world/graph.json
  awo tools path 'GET /movie/{movie_id}/credits' --catalog tmdb.json --task "who played in Dune?"
  awo tools path --want crew_name --catalog tmdb.json --task "who directed the movie Dune?"
  awo tools path get_weather --substitutes --graph world/graph.json
  awo tools path --recover path.json --failed find_customer --graph world/graph.json`,
	}
	cli.Uses(c, cli.UseTraces)
	f := c.Flags()
	addSources(f)
	f.String("graph", "", "read the graph from this `FILE` (graph.json of `awo tools graph --out`) instead of building it")
	f.StringSlice("have", nil, "the caller has this `PARAMETER`; may be repeated")
	f.StringSlice("want", nil, "the caller wants this `PARAMETER` of results, with or without TARGET; may be repeated")
	f.String("task", "", "the `TEXT` of the task")
	f.Var(cli.NewChoice(searchExact, searchAlphaBeta, searchAnneal), "search", "how candidates are found")
	f.Bool("substitutes", false, "name the tools that can stand in for TARGET")
	f.String("recover", "", "name the ways around a failure in the path in this `FILE`")
	f.String("failed", "", "with --recover: the `TOOL` that failed")
	return cli.Work(a, c, path)
}

// pathFigures are those of a path.
type pathFigures struct {
	Target  string   `json:"target"`
	Targets []string `json:"targets"`       // Target and, with --want, others
	Broken  int      `json:"cycles_broken"` // edges left out because they closed a cycle
	Search  string   `json:"search"`
}

type step struct {
	Tool     string  `json:"tool"`
	Evidence string  `json:"evidence"` // empty for the target
	Weight   float64 `json:"weight"`
	For      string  `json:"for"`  // the tool that it comes before; empty for the target
	Give     string  `json:"give"` // the place of its result that is needed; empty if none is known
	Take     string  `json:"take"` // the argument that it gives
	Effect   string  `json:"effect"`
}

// scored is a tool with what orders it among others.
type scored struct {
	Tool  string  `json:"tool"`
	Score float64 `json:"score"`
}

// mostCandidates is how many tools texts list that may come before another.
const mostCandidates = 10

func path(j *cli.Job, o pathOptions, args []string) error {
	switch {
	case o.Recover != "":
		return recoverPath(j, o, args)
	case o.Failed != "":
		return cli.Usagef("--failed names a step of the path of --recover")
	case o.Substitutes:
		return substitutes(j, o, args)
	case len(args) == 0 && o.Task == "" && len(o.Want) == 0:
		return cli.Usagef("name the tool that is to be reached, what is wanted with --want, or a task with --task")
	}
	g, err := graphOf(j, o.Graph, o.sourceOptions, args[min(1, len(args)):])
	if err != nil {
		return err
	}
	have, err := params(g, "have", "takes", o.Have, func(t *toolgraph.Tool) []toolgraph.Place { return t.Inputs })
	if err != nil {
		return err
	}
	want, err := params(g, "want", "gives", o.Want, func(t *toolgraph.Tool) []toolgraph.Place { return t.Outputs })
	if err != nil {
		return err
	}
	n := toolgraph.NewNavigator(g)
	q := toolgraph.Query{Have: have}
	var targets []int
	if len(args) > 0 {
		target, err := tool(g, args[0])
		if err != nil {
			return err
		}
		targets = append(targets, target)
	}
	var found, words, matches []toolgraph.Found
	if o.Task != "" {
		words = n.WithText(nil, -1, o.Task)
	}
	if len(want) > 0 {
		givers, none := n.Producers(want, have, words)
		if len(none) > 0 {
			return cli.Usagef("--want: no tool is known to give %q", g.Params[none[0]].Name)
		}
		targets = slices.Concat(targets, slices.DeleteFunc(givers, func(t int) bool { return slices.Contains(targets, t) }))
	}
	if len(targets) == 0 {
		r := toolgraph.NewRetriever(n)
		matches = r.Match(o.Task)
		if len(matches) == 0 {
			return cli.Usagef("--task: no tool has a word of it in its name, description or arguments")
		}
		targets, matches = append(targets, matches[0].Tool), matches[:min(len(matches), toolgraph.MostTargets)]
		found = r.Needed(o.Task, have)
	}
	q.Target, q.Also = targets[0], targets[1:]
	words = slices.DeleteFunc(words, func(f toolgraph.Found) bool { return f.Tool == q.Target })
	if len(matches) == 0 {
		found = search(n, q, o, j.Seed)
		if o.Task != "" {
			found = n.WithText(found, q.Target, o.Task)
		}
	}
	p := n.Path(q, words)
	out := pathFigures{Target: g.Tools[q.Target].Name, Targets: cli.Map(targets, func(t *int) string { return g.Tools[*t].Name }), Broken: p.Broken, Search: o.Search}
	d := &report.Document{Title: "Path to " + strings.Join(out.Targets, " and "), Figures: out}
	d.Add(stepTable("steps", steps(g, p)))
	d.Section("Left to the caller", report.TableOf("inputs", "", demands(g, p.Inputs), []report.Column{{Key: "tool", Max: 50}, {Key: "argument"}, {Key: "parameter"}}).IfAny())
	if out.Broken > 0 {
		d.Add(report.Paragraph(cli.CountOf(out.Broken, "edge") + " closed a cycle and were left out, the weakest of each."))
	}
	columns := []report.Column{{Key: "tool", Max: 60}, {Key: "score", Digits: 3}}
	table := report.TableOf("candidates", "", candidates(g, found), columns).IfAny()
	table.Most = mostCandidates
	if len(matches) > 0 {
		table.Note("The tools that fit the task best, and what has to come before them. The score orders them; it is no probability.")
	} else {
		table.Note("Tools that may come before the target, by %s search. The score orders them; it is no probability.", out.Search)
	}
	d.Section("Candidates", table, report.TableOf("matches", "", candidates(g, matches), columns).Hidden())
	return j.Result(d)
}

// search returns what the search that was asked for finds.
func search(n *toolgraph.Navigator, q toolgraph.Query, o pathOptions, seed uint64) []toolgraph.Found {
	switch o.Search {
	case searchAlphaBeta:
		return n.AlphaBeta(q)
	case searchAnneal:
		return n.Anneal(q, seed)
	}
	return n.Exact(q)
}

func candidates(g *toolgraph.Graph, found []toolgraph.Found) []scored {
	return cli.Map(found, func(f *toolgraph.Found) scored { return scored{g.Tools[f.Tool].Name, round4(f.Score)} })
}

func steps(g *toolgraph.Graph, p *toolgraph.Path) []step {
	if p == nil {
		return nil
	}
	return cli.Map(p.Steps, func(s *toolgraph.PathStep) step {
		one := step{Tool: g.Tools[s.Tool].Name, Weight: round4(s.Weight), Give: s.Give, Take: argumentName(s.Take), Effect: string(g.Tools[s.Tool].Effect)}
		if s.For >= 0 {
			one.For, one.Evidence = g.Tools[s.For].Name, s.Evidence.String()
		}
		return one
	})
}

func demands(g *toolgraph.Graph, list []toolgraph.Demand) []demand {
	return cli.Map(list, func(d *toolgraph.Demand) demand {
		return demand{g.Tools[d.Tool].Name, argumentName(d.Path), g.Params[d.Param].Name}
	})
}

// stepTable shows the steps of a path.
func stepTable(id string, list []step) *report.Table {
	return report.TableOf(id, "", list, []report.Column{
		{Key: "tool", Max: 50},
		{Key: "evidence", Words: true},
		{Key: "gives", Cell: report.By(func(s *step) report.Cell {
			switch {
			case s.For == "":
				return report.Text("(the target)")
			case s.Give == "" && s.Take == "":
				return report.Name("before " + s.For)
			}
			return report.Name(strings.TrimPrefix(s.Give, "$.") + " -> " + s.For + "." + s.Take)
		}), Max: 80},
		{Key: "effect", Words: true},
	})
}

func round4(x float64) float64 { return math.Round(x*1e4) / 1e4 }

// substitute is a tool that can stand in for another.
type substitute struct {
	Tool   string  `json:"tool"`
	Need   float64 `json:"need"` // share of what it requires that the tool is given
	Give   float64 `json:"give"` // share of what is used of the tool's results that it gives
	Matter float64 `json:"matter"`
}

// substitutes is `awo tools path --substitutes`.
func substitutes(j *cli.Job, o pathOptions, args []string) error {
	if len(args) == 0 {
		return cli.Usagef("--substitutes: name the tool that others are to stand in for")
	}
	g, err := graphOf(j, o.Graph, o.sourceOptions, args[1:])
	if err != nil {
		return err
	}
	at, err := tool(g, args[0])
	if err != nil {
		return err
	}
	out := struct {
		Tool   string `json:"tool"`
		Effect string `json:"effect"`
		Reason string `json:"reason"` // why there are none
	}{Tool: g.Tools[at].Name, Effect: string(g.Tools[at].Effect)}
	list := g.Substitutes(at, nil)
	if len(list) == 0 {
		out.Reason = noSubstitute(g, at)
	}
	d := &report.Document{Title: "Substitutes of " + out.Tool, Figures: out}
	d.Add(report.Paragraph(out.Reason), substituteTable(g, list))
	return j.Result(d)
}

func substituteTable(g *toolgraph.Graph, list []toolgraph.Substitute) *report.Table {
	rows := cli.Map(list, func(s *toolgraph.Substitute) substitute {
		return substitute{g.Tools[s.Tool].Name, round4(s.Need), round4(s.Give), round4(s.Cosine)}
	})
	table := report.TableOf("substitutes", "", rows, []report.Column{
		{Key: "tool", Max: 60},
		{Key: "need", Title: "of what it requires is there", Share: true, Unit: "%"},
		{Key: "give", Title: "of what is used it gives", Share: true, Unit: "%"},
		{Key: "matter", Title: "same matter", Digits: 2},
	})
	table.Note("Same matter is the cosine of names and descriptions. These are hints: schemas and words say so, and nobody has tried.")
	return table.IfAny()
}

// noSubstitute says why a tool has no substitutes.
func noSubstitute(g *toolgraph.Graph, at int) string {
	t := &g.Tools[at]
	switch {
	case t.Effect == toolgraph.Writes:
		return "The tool writes. A write that failed may have been done, so nothing stands in for it."
	case t.Effect == toolgraph.Unknown:
		return "Nothing says that the tool only reads, neither its definition nor its name, so nothing stands in for it."
	case len(t.Outputs) == 0:
		return "Nothing says what the tool returns, neither a schema nor recorded results, so nothing is known to return the same."
	}
	return "No other tool that reads takes what it is given and gives what is used of its results."
}

// recoveryFigures are those of the ways around a failure.
type recoveryFigures struct {
	Failed string `json:"failed"`
	Writes bool   `json:"writes"`     // the failed tool may have changed something: do not repeat it
	Stop   int    `json:"stop_after"` // attempts
}

// otherStep is a step to another target.
type otherStep struct {
	Target string `json:"target"`
	step
}

const codePathShape = "path-shape"

// readPath reads a path of a graph.
func readPath(j *cli.Job, g *toolgraph.Graph, file string) (*toolgraph.Path, error) {
	data, err := readFile(j, "path", file)
	if err != nil {
		return nil, err
	}
	var in struct {
		Schema, Command string
		Figures         pathFigures
		Tables          struct{ Steps struct{ Rows []step } }
	}
	if _, err := trace.ParseValue(data); err != nil || json.Unmarshal(data, &in) != nil || in.Schema != report.Schema || in.Command != "tools path" || len(in.Tables.Steps.Rows) == 0 {
		return nil, diag.New(diag.Pos{File: file, Line: 1, Col: 1}, codePathShape, "this is no path: `awo tools path --format json` prints one")
	}
	p := &toolgraph.Path{}
	if p.Target, err = tool(g, in.Figures.Target); err != nil {
		return nil, err
	}
	for _, s := range in.Tables.Steps.Rows {
		one := toolgraph.PathStep{For: -1, Give: s.Give, Take: "$." + strings.TrimPrefix(s.Take, "$."), Weight: s.Weight}
		if one.Tool, err = tool(g, s.Tool); err != nil {
			return nil, err
		}
		if s.For != "" {
			if one.For, err = tool(g, s.For); err != nil {
				return nil, err
			}
		}
		p.Steps = append(p.Steps, one)
	}
	return p, nil
}

// recoverPath is `awo tools path --recover`.
func recoverPath(j *cli.Job, o pathOptions, files []string) error {
	if o.Failed == "" {
		return cli.Usagef("--failed: name the tool that failed")
	}
	g, err := graphOf(j, o.Graph, o.sourceOptions, files)
	if err != nil {
		return err
	}
	failed, err := tool(g, o.Failed)
	if err != nil {
		return err
	}
	p, err := readPath(j, g, o.Recover)
	if err != nil {
		return err
	}
	r := toolgraph.NewNavigator(g).Recover(p, failed, o.Task)
	out := recoveryFigures{Failed: g.Tools[failed].Name, Writes: r.Writes, Stop: toolgraph.MostAttempts}
	d := &report.Document{Title: "Ways around " + out.Failed, Figures: out}
	if out.Writes {
		d.Add(report.Paragraph("The tool is not known to only read, so it may have been done although it failed: look before it is called again."))
	}
	none := func(is bool, text string) report.Paragraph {
		if is {
			return report.Paragraph(text)
		}
		return ""
	}
	d.Section("In its place", none(len(r.Substitutes) == 0, noSubstitute(g, failed)), substituteTable(g, r.Substitutes))
	d.Section("Another way", none(r.Reroute == nil, "No other tool gives what was needed of it."), stepTable("reroute", steps(g, r.Reroute)).IfAny())
	var others []otherStep
	for i := range r.Switch {
		for _, s := range steps(g, &r.Switch[i]) {
			others = append(others, otherStep{g.Tools[r.Switch[i].Target].Name, s})
		}
	}
	table := report.TableOf("switch", "", others, []report.Column{{Key: "target", Max: 50}, {Key: "tool", Max: 50}, {Key: "evidence", Words: true}, {Key: "for", Title: "before", Max: 50}, {Key: "effect", Words: true}})
	d.Section("Another target", table.IfAny())
	d.Add(report.Paragraph("Try at most three of these, in this order, then hand back."))
	return j.Result(d)
}
