package toolworld

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/internal/emit"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/toolgraph"
	"github.com/awo-dev/awo/toolgraph/catalog"
	"github.com/awo-dev/awo/toolgraph/toolrank"
)

type subsetOptions struct {
	sourceOptions `mapstructure:",squash"`
	Tasks         string  `mapstructure:"tasks"`
	Recall        float64 `mapstructure:"recall"`
	Folds         int     `mapstructure:"folds"`
	By            string  `mapstructure:"by"`
	Task          string  `mapstructure:"task"`
	From          string  `mapstructure:"from"`
	Out           string  `mapstructure:"out"`
}

func newSubset(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "subset [FILES...]",
		Short: "Learn which few of many tools a task needs, and write the lists",
		Long: `Learn from traces which tools a task needs: the words of names and descriptions, what
similar tasks used, what comes before and after these tools in calls, and what their
arguments require. How often the best K tools hold what a task used is tested on groups
of tasks left out, with the K that the others choose: the smallest whose recall has a
lower bound of what --recall asks.

Trials of a task are one group, and so are tasks whose ids differ in a number at their end
(scenarios), if that leaves ten groups.

--out writes subset.json, from which a program or ` + "`--from`" + ` ranks the tools of any task,
and fixed lists for all tasks, or with --by agent for each agent: for Anthropic (the other
tools deferred), for OpenAI, and as an allow-list for gateways; and tool_register with
the definitions of all others. Words of tasks that are neither in the catalogue nor in
five groups of tasks are in none of the files.

` + cli.FilesHelp,
		Example: `  awo tools subset traces/ --catalog tools.json --recall 0.95 --out subset/
  awo tools subset traces/ --catalog tools.json --by agent --out subset/
  awo tools subset --catalog tools.json --tasks tasks.jsonl
  awo tools subset --from subset/subset.json --task "cancel my order"`,
	}
	cli.Uses(c, cli.UseTraces)
	f := c.Flags()
	addSources(f)
	f.String("tasks", "", "tasks and the tools that they used: a `FILE` with {\"id\": ID, \"text\": TEXT, \"tools\": [...]} a line")
	cli.Share(f, "recall", .95, false, "the `SHARE` of the tools that a task uses, on average, that the lists are to hold")
	cli.Count(f, "folds", 5, 2, "test in `N` folds of groups of tasks")
	f.Var(cli.NewChoice("all", "agent"), "by", "what a fixed list is for")
	f.String("task", "", "rank the tools for the `TEXT` of a task")
	f.String("from", "", "rank with the ranker in this `FILE` (subset.json) instead of learning one; with --task")
	f.String("out", "", "write the files into this `FOLDER`")
	return cli.Work(a, c, subset)
}

// subsetFigures are those of `awo tools subset`.
type subsetFigures struct {
	Input     cli.InputJSON `json:"input,omitzero"`
	Tools     int           `json:"tools"`
	Tasks     int           `json:"tasks"`
	Groups    int           `json:"groups"`
	Scenarios bool          `json:"scenarios"` // ids that differ in a number at their end are one group
	Missing   int           `json:"missing"`   // calls of tools that are not in the catalogue
	Asked     float64       `json:"asked"`
	K         int           `json:"k"`       // chosen from all tasks
	Reached   bool          `json:"reached"` // its lower bound is what was asked; otherwise nothing less than all tools is known to be enough
	FoldK     []int         `json:"fold_k"`
	Recall    stat.Estimate `json:"recall"` // held out
	Whole     stat.Estimate `json:"whole"`  // tasks none of whose tools was missing
	Tokens    int64         `json:"tokens"` // of the definitions of K tools, on average
	TokensAll int64         `json:"tokens_all"`
	Refused   []string      `json:"refused_names"`
	Notes     []string      `json:"remarks"`
}

// learned is what is found out about the tools that tasks need.
type learned struct {
	subsetFigures
	study  *toolrank.Study
	lists  []list
	ranked []ranking // with --task
}

type list struct {
	For     string        `json:"for"`
	K       int           `json:"k"`
	Tools   []string      `json:"tools"`
	Tokens  int64         `json:"tokens"`
	Reached bool          `json:"reached"`
	Recall  stat.Estimate `json:"recall"`
	Files   []string      `json:"files"`
}

type ranking struct {
	Tool        string  `json:"tool"`
	Probability float64 `json:"probability"`
}

func subset(j *cli.Job, o subsetOptions, files []string) error {
	switch {
	case o.From != "":
		return rank(j, o, files)
	case len(files) == 0 && o.Tasks == "":
		return cli.Usagef("there is nothing to learn from: name traces, or tasks with --tasks")
	}
	w, err := read(j, o.sourceOptions, files, want{flows: true, tasks: true})
	if err != nil {
		return err
	}
	if o.Tasks != "" {
		more, err := readTasks(j, o.Tasks)
		if err != nil {
			return err
		}
		w.tasks = append(w.tasks, more...)
	}
	c, err := w.catalog(j)
	if err != nil {
		return err
	}
	out := learned{subsetFigures: subsetFigures{Input: w.input(), Asked: o.Recall}}
	out.Scenarios = toolrank.Scenarios(w.tasks)
	g := toolgraph.Build(toolgraph.Input{Catalog: c, Observed: &w.observed, Proofs: toolgraph.ProofsOf(w.flows), Links: w.links, Seed: j.Seed, NoEvaluation: true})
	corpus := toolrank.NewCorpus(c, w.tasks, g.FeedsTools())
	if corpus.Groups() < 2 {
		return errors.New("there are fewer than two groups of tasks that use tools: nothing can be learned and tested")
	}
	options := toolrank.Options{Recall: o.Recall, Folds: o.Folds, Seed: j.Seed, Workers: j.Parallel()}
	study := corpus.Study(options)
	result, lists := corpus.Train(options, o.By == "agent")
	fill(&out, study, result)
	made, err := listFiles(&out, c, result, lists)
	if err != nil {
		return err
	}
	if o.Task != "" {
		out.ranked = ranked(result.Ranker, o.Task)
	}
	if o.Out != "" {
		if err := write(j, o.Out, made, w); err != nil {
			return err
		}
	}
	return j.Result(subsetDocument(w, o, &out))
}

// rank ranks tools with a stored ranker.
func rank(j *cli.Job, o subsetOptions, files []string) error {
	if o.Task == "" || len(files) > 0 || o.Out != "" {
		return cli.Usagef("--from ranks the tools of one task: name that with --task, and neither traces nor --out")
	}
	data, err := readFile(j, "ranker", o.From)
	if err != nil {
		return err
	}
	r, err := toolrank.Decode(o.From, data)
	if err != nil {
		return err
	}
	out := struct {
		K     int     `json:"k"` // how many of them are enough, on average over tasks
		Asked float64 `json:"asked"`
	}{}
	out.K, out.Asked = r.K()
	d := &report.Document{Title: "Tools for a task", Figures: out}
	d.Add(rankedTable(ranked(r, o.Task), out.K))
	return j.Result(d)
}

func ranked(r *toolrank.Ranker, task string) []ranking {
	return cli.Map(r.Rank(task), func(t *toolrank.Ranked) ranking { return ranking{t.Tool, round4(t.Probability)} })
}

func rankedTable(list []ranking, most int) *report.Table {
	table := report.TableOf("ranked", "", list, []report.Column{{Key: "tool", Max: 60}, {Key: "probability", Digits: 3}})
	table.Most = most
	table.Note("How likely it is that the task uses the tool. The order is what was tested.")
	return table
}

// fill puts the findings into the result.
func fill(out *learned, s *toolrank.Study, r *toolrank.Result) {
	out.Tools, out.Tasks, out.Groups, out.Missing = s.Tools, s.Tasks, s.Groups, s.Missing
	out.K, out.Reached, out.FoldK = r.K, r.Reached, s.FoldK
	out.Recall, out.Whole = estimate(s.Recall), estimate(s.Whole)
	out.study = s
	ours, plain := s.Baselines[0], s.Baselines[1]
	if plain.KForAsk <= ours.KForAsk {
		out.Notes = append(out.Notes, fmt.Sprintf("What follows what, and what arguments require, adds nothing here: without it %d tools reach %.3g in hindsight, with it %d.", plain.KForAsk, s.Asked, ours.KForAsk))
	} else {
		out.Notes = append(out.Notes, fmt.Sprintf("Without what follows what and what arguments require it takes %d tools to reach %.3g in hindsight, with it %d.", plain.KForAsk, s.Asked, ours.KForAsk))
	}
	if !r.Reached {
		out.Notes = append(out.Notes, fmt.Sprintf("No number of tools below all reaches %.3g with a lower bound: ask for less, or bring more tasks.", s.Asked))
	}
	if s.Groups < 30 {
		out.Notes = append(out.Notes, fmt.Sprintf("%d groups of tasks are few: the interval says how much may change with others.", s.Groups))
	}
}

// listFiles counts the tokens of the lists and makes their files.
func listFiles(out *learned, c *catalog.Catalog, r *toolrank.Result, lists []toolrank.Subset) ([]emit.File, error) {
	meter := cost.NewMeter(cost.Options{})
	tokens := make(map[string]cost.Definition, len(c.Tools))
	for i := range c.Tools {
		d := c.Tools[i].Definition()
		tokens[c.Tools[i].Name] = meter.Definition(&d)
		out.TokensAll += tokens[c.Tools[i].Name].Tokens()
	}
	out.Tokens = out.TokensAll * int64(out.K) / int64(len(c.Tools))
	data, err := r.Ranker.Encode()
	if err != nil {
		return nil, err
	}
	files := []emit.File{{Name: "subset.json", Data: data}}
	offered := map[string]bool{}
	taken := map[string]bool{}
	for _, l := range lists {
		one := list{For: l.For, K: l.K, Tools: l.Tools, Reached: l.Reached, Recall: estimate(l.Recall), Files: []string{}}
		name := fileName(l.For, taken)
		for _, tool := range l.Tools {
			one.Tokens += tokens[tool].Tokens()
			offered[tool] = true
		}
		for _, dialect := range []struct {
			name string
			make func([]string) ([]byte, error)
		}{{"anthropic", c.Anthropic}, {"openai", c.OpenAI}, {"allow", c.AllowList}} {
			data, err := dialect.make(l.Tools)
			if err != nil {
				return nil, err
			}
			file := emit.File{Name: "subset." + name + "." + dialect.name + ".json", Data: data}
			files = append(files, file)
			one.Files = append(one.Files, file.Name)
		}
		out.lists = append(out.lists, one)
	}
	var rest []emit.Registrable
	for i := range c.Tools {
		if t := &c.Tools[i]; !offered[t.Name] {
			d := t.Definition()
			rest = append(rest, emit.Registrable{Name: t.Name, Description: t.FullDescription(), Input: d.Input, Tokens: tokens[t.Name].Tokens(), NameTokens: tokens[t.Name].Name})
		}
	}
	out.Refused = append(out.Refused, catalog.Refused(c.Names())...)
	if len(rest) == 0 {
		return files, nil
	}
	registry, _, err := emit.Registry(rest)
	return append(files, registry...), err
}

var notInFileName = regexp.MustCompile(`[^a-z0-9-]+`)

// fileName returns what a list is called in names of files.
func fileName(kind string, taken map[string]bool) string {
	name := strings.Trim(notInFileName.ReplaceAllString(strings.ToLower(kind), "-"), "-")
	if len(name) > 40 {
		name = name[:40]
	}
	if name == "" {
		name = "unnamed"
	}
	for base, n := name, 2; taken[name]; n++ {
		name = fmt.Sprintf("%s-%d", base, n)
	}
	taken[name] = true
	return name
}

func subsetDocument(w *world, o subsetOptions, out *learned) *report.Document {
	d := &report.Document{Title: "Tools that tasks need", Answer: string(subsetWords(out)), Figures: out.subsetFigures}
	lists := report.TableOf("lists", "Fixed lists", out.lists, []report.Column{
		{Key: "for", Title: "for"},
		{Key: "k", Title: "tools"},
		{Key: "tokens"},
		{Key: "recall", Share: true, Unit: "%", Range: "90 % interval"},
	})
	lists.Note("The same tools for every task of a kind, where a list per task cannot be had. Recall is of lists that were made without the tasks that they are tested on.")
	lists.Brief = 4
	d.Add(baselineTable(out), lists)
	d.Details()
	d.Section("What was read", report.Paragraph(w.summary()))
	misses := report.TableOf("misses", "What would have been missing", out.study.Misses, []report.Column{
		{Key: "tool", Max: 50},
		{Key: "tasks", Title: "missing in tasks"},
		{Key: "of", Title: "of those that used it"},
		{Key: "ids", Cell: report.By(func(m *toolrank.Miss) report.Cell { return report.Name(strings.Join(m.IDs[:min(3, len(m.IDs))], ", ")) }), Title: "such as", Max: 60},
	})
	misses.Most = cli.ToolsShown
	misses.Note("These stay reachable by tool_register, at the price of a turn.")
	d.Add(misses.IfAny(), report.TableOf("curve", "", out.study.Curve, nil).Hidden())
	d.Section("For this task", rankedTable(out.ranked, out.K).IfAny())
	if o.Out != "" {
		says := "The files are in " + filepath.ToSlash(o.Out) + ": subset.json ranks the tools of any task; fixed lists for Anthropic, OpenAI and gateways; and tool_register for the rest."
		if len(out.Refused) > 0 {
			says += " " + cli.CountOf(len(out.Refused), "name") + " are none that OpenAI and Anthropic take; they are written as they are."
		}
		d.Section("", report.Paragraph(says))
	}
	return d
}

func boundsWords(e stat.Estimate) string {
	if !e.Interval.Known() {
		return "no interval"
	}
	return fmt.Sprintf("90 %% interval %.1f to %.1f %%, by bootstrap over groups", 100*e.Interval.Lo, 100*e.Interval.Hi)
}

func foldWords(k []int) string {
	if lo, hi := slices.Min(k), slices.Max(k); lo != hi {
		return fmt.Sprintf("%d to %d", lo, hi)
	}
	return fmt.Sprint(k[0])
}

func baselineWords(name string) string {
	switch name {
	case toolrank.BaselineRanker:
		return "learned"
	case toolrank.BaselinePlain:
		return "learned, without what follows what and what arguments require"
	case toolrank.BaselineBM25:
		return "words of names and descriptions (BM25), as clients' tool search"
	}
	return "used most"
}

// subsetWords says in a sentence how many tools are enough.
func subsetWords(out *learned) report.Paragraph {
	recall, _ := out.Recall.Value()
	whole, _ := out.Whole.Value()
	return report.Paragraph(fmt.Sprintf("%s of %d hold %.1f %% of the tools that a task uses, on tasks that were left out (%s of tasks in %s); %.1f %% of these tasks miss none. Asked were %.4g %%. Definitions: about %s of %s tokens.",
		cli.CountOf(out.K, "tool"), out.Tools, 100*recall, boundsWords(out.Recall), cli.CountOf(out.Groups, "group"), 100*whole, 100*out.Asked, cli.Grouped(out.Tokens), cli.Grouped(out.TokensAll)))
}

// baselineTable compares the ranker with other orders of tools.
func baselineTable(out *learned) *report.Table {
	table := report.TableOf("baselines", "", out.study.Baselines, []report.Column{
		{Key: "name", Title: "order of tools", Words: true, Cell: report.By(func(b *toolrank.Baseline) report.Cell { return report.Text(baselineWords(b.Name)) }), Max: 90},
		{Key: "k_for_asked", Title: fmt.Sprintf("tools for %.3g, in hindsight", out.Asked)},
		{Key: "recall_at_k", Title: "recall with the tools chosen", Share: true, Unit: "%"},
		{Key: "recall_at_10", Title: "with ten", Share: true, Unit: "%"},
	})
	table.Note("Held out: each task is ranked by what other groups of tasks teach. The tools chosen are those of its fold: %s.", foldWords(out.FoldK))
	for _, note := range out.Notes {
		table.Note("%s", note)
	}
	table.NoteIf(out.Scenarios, "Tasks whose ids differ in a number at their end count as one scenario, and are never on both sides.")
	table.NoteIf(out.Missing > 0, "%s of tools that are not in the catalogue: in no figure.", cli.CountOf(out.Missing, "call"))
	return table
}

// estimate returns a recall with its bounds.
func estimate(e toolrank.Estimate) stat.Estimate {
	if e.Tasks == 0 {
		return stat.NoEstimate("no tasks")
	}
	out := stat.Estimate{Figure: stat.Known(round4(e.Mean)), Interval: stat.NoInterval("fewer than two groups of tasks")}
	if e.Groups >= 2 {
		out.Interval = stat.Interval{Lo: round4(e.Lo), Hi: round4(e.Hi), Level: toolrank.Level, N: e.Groups, Method: "bootstrap over groups of tasks"}
	}
	return out
}
