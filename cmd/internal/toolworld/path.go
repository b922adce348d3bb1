package toolworld

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/toolgraph"
)

// graphFrom says which graph a command looks at.
type graphFrom struct {
	sourceOptions `mapstructure:",squash"`
	Graph         string `mapstructure:"graph"`
}

func addGraphFrom(f *pflag.FlagSet) {
	addSources(f)
	f.String("graph", "", "read the graph from this `FILE` (graph.json of `awo tools graph --out`) instead of building it")
}

// graph reads or builds the graph.
func (o graphFrom) graph(j *cli.Job, files []string) (*world, *toolgraph.Graph, error) {
	if o.Graph == "" {
		return build(j, o.sourceOptions, files, false)
	}
	if len(files) > 0 || len(o.Catalog) > 0 || o.Links != "" {
		return nil, nil, cli.Usagef("--graph names a graph that is built: give it without traces, catalogues and links")
	}
	g, err := readGraph(j, o.Graph)
	return &world{}, g, err
}

const graphFromHelp = `The graph is that of --graph, or is built from --catalog and the trace FILES.
`

// searches are the ways to search.
const (
	searchExact     = "exact"
	searchAlphaBeta = "alpha-beta"
	searchAnneal    = "anneal"
)

type pathOptions struct {
	graphFrom `mapstructure:",squash"`
	Have      []string `mapstructure:"have"`
	Task      string   `mapstructure:"task"`
	Search    string   `mapstructure:"search"`

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
best ones need.

--substitutes names the tools that can stand in for TARGET: they take what it is given and
give what others use of its results. Only tools that read have substitutes, and only such
are named: a write that failed may have been done.

--recover PATH --failed TOOL names the ways around a tool that failed as a step of a path
(the JSON that this command printed, - for the standard input), in the order to try them: a
substitute; another way to the step that needed its result; with --task, other targets.
Nothing is called, and no way goes through a tool that writes.

` + graphFromHelp + "\n" + cli.FilesHelp,
		Example: `  awo tools path send_invoice --graph world/graph.json
  awo tools path send_invoice traces/ --catalog tools.json --have customer_id
  awo tools path --task "cancel my order" --graph world/graph.json
  awo tools path 'GET /movie/{movie_id}/credits' --catalog tmdb.json --task "who played in Dune?"
  awo tools path get_weather --substitutes --graph world/graph.json
  awo tools path --recover path.json --failed find_customer --graph world/graph.json`,
	}
	cli.Uses(c, cli.UseTraces)
	f := c.Flags()
	addGraphFrom(f)
	f.StringSlice("have", nil, "the caller has this `PARAMETER`; may be repeated")
	f.String("task", "", "the `TEXT` of the task")
	f.Var(cli.NewChoice(searchExact, searchAlphaBeta, searchAnneal), "search", "how candidates are found")
	f.Bool("substitutes", false, "name the tools that can stand in for TARGET")
	f.String("recover", "", "name the ways around a failure in the path in this `FILE`")
	f.String("failed", "", "with --recover: the `TOOL` that failed")
	return cli.Work(a, c, path)
}

// pathFigures are those of a path.
type pathFigures struct {
	Target string `json:"target"`
	Broken int    `json:"cycles_broken"` // edges left out because they closed a cycle
	Search string `json:"search"`
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
	case len(args) == 0 && o.Task == "":
		return cli.Usagef("name the tool that is to be reached, or a task with --task")
	}
	w, g, err := o.graph(j, args[min(1, len(args)):])
	if err != nil {
		return err
	}
	defer w.close()
	have, err := params(g, o.Have)
	if err != nil {
		return err
	}
	n := toolgraph.NewNavigator(g).Indexed()
	q := toolgraph.Query{Have: have}
	var found, words, matches []toolgraph.Found
	if len(args) == 0 {
		r := toolgraph.NewRetriever(n)
		matches = r.Match(o.Task)
		if len(matches) == 0 {
			return cli.Usagef("--task: no tool has a word of it in its name, description or arguments")
		}
		q.Target, matches = matches[0].Tool, matches[:min(len(matches), toolgraph.MostTargets)]
		found = r.Needed(o.Task, have)
	} else {
		if q.Target, err = tool(g, args[0]); err != nil {
			return err
		}
		found = search(n, q, o, j.Seed)
	}
	if o.Task != "" {
		words = n.WithText(nil, q.Target, o.Task)
		if len(args) > 0 {
			found = n.WithText(found, q.Target, o.Task)
		}
	}
	p := n.Path(q, words)
	out := pathFigures{Target: g.Tools[q.Target].Name, Broken: p.Broken, Search: o.Search}
	d := &report.Document{Title: "Path to " + out.Target, Figures: out}
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
		return n.AlphaBeta(q, toolgraph.AlphaBeta{})
	case searchAnneal:
		return n.Anneal(q, toolgraph.Anneal{Seed: seed})
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
