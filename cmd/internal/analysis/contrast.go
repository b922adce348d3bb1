package analysis

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/contrast"
	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/entropy"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/trace"
)

// contrastOptions are the flags of `awo compare-runs`.
type contrastOptions struct {
	cli.InputOptions `mapstructure:",squash"`
	cli.PriceOptions `mapstructure:",squash"`
	Rules            string `mapstructure:"rules"`
	Pair             string `mapstructure:"pair"`
	Top              int    `mapstructure:"top"`
}

// NewCompareRuns returns `awo compare-runs`.
func NewCompareRuns(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "compare-runs BEFORE AFTER",
		Short: "Compare two sets of traces: is a change of prompt, model or tools better?",
		Long: `Compare two sets of traces, such as before and after a change of a prompt, a model or a
tool: turns, calls, failures, tokens, money, success; how often tools are used; which
steps are taken; and whether the habits differ at all.

BEFORE and AFTER are each a file, a folder or a pattern. Tasks are the units: a task is
named by the traces, or by the first user message. Where both sets have at least 10 tasks
in common that make up half of the runs of each, these are compared one by one, which
takes out how hard they are. Intervals hold 95 % and are drawn over tasks.

Nobody drew by lot which runs were made before and which after: what else changed
meanwhile is in the differences, too. 'awo serve --control' makes an experiment.`,
		Example: `  awo compare-runs old-traces/ new-traces/
  awo compare-runs retail_gpt-4.1.json retail_toolorchestra-gpt-5.json --pair never
  awo compare-runs 'runs/2026-03-*' 'runs/2026-04-*' --format json`,
		GroupID: cli.GroupLook,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 2 {
				return cli.Usagef("`%s` wants two sets of traces, each a file, a folder or a quoted pattern", c.CommandPath())
			}
			return nil
		},
	}
	f := c.Flags()
	cli.AddInput(f)
	cli.AddRules(f)
	cli.AddPrices(f)
	f.Var(cli.NewChoice("auto", "always", "never"), "pair", "compare tasks that both sets have one by one, and leave out the others")
	f.Int("top", 10, "how many tools and steps are listed")
	return cli.Work(a, c, compareRuns)
}

// ContrastJSON is the JSON of `awo compare-runs`; docs/artefacts.md describes it.
type ContrastJSON struct {
	Schema  string               `json:"schema"`
	Before  cli.InputJSON        `json:"before"`
	After   cli.InputJSON        `json:"after"`
	Verdict string               `json:"verdict"`
	Paired  bool                 `json:"paired"`
	Both    int                  `json:"tasks_in_both"`
	Left    [2]int               `json:"runs_left_out"`
	Figures []contrastFigureJSON `json:"figures"`
	Tools   []contrast.Named     `json:"tools"` // calls by run
	Steps   []contrast.Named     `json:"steps"` // share of runs with the step
	Habits  entropy.Difference   `json:"habits"`
}

type contrastFigureJSON struct {
	Name string `json:"name"`
	Unit string `json:"unit"`
	Per  string `json:"per"`
	contrast.Estimate
}

// side is one of the sets.
type side struct {
	in    *cli.Intake
	set   *contrast.Set
	meter *cost.Meter
}

func compareRuns(j *cli.Job, o contrastOptions, args []string) error {
	if o.Top < 1 {
		return cli.Usagef("--top: %d is less than 1", o.Top)
	}
	if _, err := j.Rules(o.Rules); err != nil {
		return err
	}
	name := ""
	corpus := trace.NewCorpus(trace.CorpusOptions{NoRefs: true, Group: func(*trace.Trajectory) string { return name }})
	var sides [2]side
	for i, files := range args {
		name = [...]string{"before", "after"}[i]
		s := &sides[i]
		var err error
		if s.meter, err = j.Meter(o.PriceOptions); err != nil {
			return err
		}
		if s.in, err = j.Intake([]string{files}, o.InputOptions, trace.Options{}); err != nil {
			return err
		}
		defer s.in.Close()
		s.set = contrast.NewSet()
		for t, err := range s.in.All() {
			if err != nil {
				return err
			}
			total := s.meter.Trajectory(t).Total()
			s.set.Add(t, contrast.Cost{Tokens: float64(total.Tokens()), USD: total.USD, Priced: total.Turns > 0 && total.Unpriced == 0})
			corpus.Add(t)
		}
	}
	pairing := map[string]contrast.Pairing{"auto": contrast.PairAuto, "always": contrast.PairAlways, "never": contrast.PairNever}[o.Pair]
	found := contrast.New(sides[0].set, sides[1].set, contrast.Options{Pairing: pairing, Most: o.Top, Seed: o.Seed, Each: j.Each()})
	out := ContrastJSON{
		Schema: "awo.contrast/v1", Before: sides[0].in.JSON(), After: sides[1].in.JSON(), Paired: found.Paired, Both: found.Both, Left: found.Left,
		Figures: []contrastFigureJSON{}, Tools: found.Tools, Steps: found.Steps, Habits: habitsOf(corpus, o.Seed, j),
	}
	for i, m := range contrast.Measures {
		out.Figures = append(out.Figures, contrastFigureJSON{m.Name, m.Unit, m.Per, found.Figures[i]})
	}
	out.Verdict = contrastVerdict(found)
	d := contrastDocument(sides, found, out)
	d.Next = []string{j.Then(args[1:], "what is wrong with the second set, and what it costs", "{}")}
	return j.Print(d, out)
}

// habitsOf tests whether the next call depends on the set, given the last one.
func habitsOf(corpus *trace.Corpus, seed uint64, j *cli.Job) entropy.Difference {
	var samples [2]entropy.Sample
	for i, tools := range corpus.Sequences() {
		s := &samples[0]
		if corpus.Groups()[corpus.Group(i)] == "after" {
			s = &samples[1]
		}
		s.Sequences, s.Tasks = append(s.Sequences, tools), append(s.Tasks, corpus.Task(i))
	}
	return entropy.CompareHabits(1, samples[0], samples[1], entropy.Options{Seed: seed, Each: j.Each()})
}

// contrastVerdict says in a sentence what is better and worse.
func contrastVerdict(c *contrast.Contrast) string {
	var better, worse []string
	most := 0 // tasks that a figure rests on
	for i, m := range contrast.Measures {
		e := &c.Figures[i]
		most = max(most, min(e.Tasks[0], e.Tasks[1]))
		if !m.Less && !m.More || !e.Clear() {
			continue
		}
		before, _ := e.Before.Value()
		after, _ := e.After.Value()
		text := fmt.Sprintf("%s (%s to %s)", strings.ReplaceAll(m.Name, "_", " "), shortFigure(before, m), shortFigure(after, m))
		if (after < before) == m.Less {
			better = append(better, text)
		} else {
			worse = append(worse, text)
		}
	}
	var parts []string
	if len(better) > 0 {
		parts = append(parts, "Per run, the second set is better in "+strings.Join(better, ", "))
	}
	switch {
	case len(worse) > 0 && len(better) > 0:
		parts = append(parts, "It is worse in "+strings.Join(worse, ", "))
	case len(worse) > 0:
		parts = append(parts, "Per run, the second set is worse in "+strings.Join(worse, ", "))
	case len(better) == 0 && most < stat.GoodClusters:
		parts = append(parts, "No figure of a run differs by more than chance explains, as far as so few tasks can tell")
	case len(better) == 0:
		parts = append(parts, "No figure of a run differs by more than chance explains")
	}
	var tools []string
	for i := range c.Tools {
		if c.Tools[i].Clear() {
			tools = append(tools, c.Tools[i].Tool)
		}
	}
	switch n := len(tools); {
	case n == 1:
		parts = append(parts, fmt.Sprintf("Of %s listed one is called more or less often: %s", cli.CountOf(len(c.Tools), "tool"), tools[0]))
	case n > 1:
		parts = append(parts, fmt.Sprintf("Of %s listed %d are called more or less often, such as %s", cli.CountOf(len(c.Tools), "tool"), n, tools[0]))
	}
	return strings.Join(parts, ". ") + "."
}

// shortFigure prints a figure in a sentence.
func shortFigure(v float64, m contrast.Measure) string {
	switch {
	case m.Name == "success":
		return fmt.Sprintf("%.0f %%", 100*v)
	case m.Unit != "" && v >= 100:
		return report.Grouped(int(v+0.5)) + " " + m.Unit
	case m.Unit != "":
		return fmt.Sprintf("%.3g %s", v, m.Unit)
	case v >= 1000:
		return report.Grouped(int(v + 0.5))
	}
	return fmt.Sprintf("%.2f", v)
}

func contrastDocument(sides [2]side, c *contrast.Contrast, out ContrastJSON) *report.Document {
	d := &report.Document{Title: "What differs between the two sets of runs", Answer: out.Verdict}
	unit := fmt.Sprintf("The sets are compared as wholes; in both are %s.", cli.CountOf(c.Both, "task"))
	if c.Paired {
		unit = fmt.Sprintf("Compared are the %s that both sets have, one by one; %s before and %s after are left out.", cli.CountOf(c.Both, "task"), cli.CountOf(c.Left[0], "run"), cli.CountOf(c.Left[1], "run"))
	}
	sets := fmt.Sprintf("Before: %s of %s. After: %s of %s.", cli.CountOf(sides[0].set.Runs, "run"), cli.CountOf(sides[0].set.Tasks(), "task"), cli.CountOf(sides[1].set.Runs, "run"), cli.CountOf(sides[1].set.Tasks(), "task"))
	d.Add(report.Paragraph(sets + " " + unit))
	table := report.NewTable("figures", "",
		report.Column{Key: "figure"},
		report.Column{Key: "per", Rank: 3},
		report.Column{Key: "before", Align: report.Right},
		report.Column{Key: "after", Align: report.Right},
		report.Column{Key: "difference", Align: report.Right, Rank: 1},
		report.Column{Key: "difference_interval", Title: "95 % interval", Interval: true},
		report.Column{Key: "tasks", Align: report.Right, Rank: 2},
	)
	for i, m := range contrast.Measures {
		e := &c.Figures[i]
		name := strings.ReplaceAll(m.Name, "_", " ")
		switch {
		case m.Name == "success":
			name += " (%)"
		case m.Unit != "":
			name += " (" + m.Unit + ")"
		}
		table.Add(append([]report.Cell{report.Text(name), report.Text(m.Per)}, estimateCells(e, digitsOf(m, e), m.Name == "success")...)...)
	}
	table.Brief = len(contrast.Measures)
	table.Note("Intervals are drawn over tasks, each for itself: of twenty figures without a difference about one would seem to have one.")
	table.Note("Tokens and money are recorded, or counted from texts and not scaled, where the traces record none.")
	tools, steps := namedTable("tools", "Calls by run of the tools that differ most", c.Tools, false), namedTable("steps", "Share of runs with a step, for the steps that differ most", c.Steps, true)
	d.Add(table, report.Paragraph(habitSentence(out.Habits)))
	d.Details()
	d.Add(tools, steps)
	d.Section("What was read", report.Paragraph("Before: "+string(sides[0].in.Summary())), report.Paragraph("After: "+string(sides[1].in.Summary())))
	return d
}

// digitsOf is how many digits after the point show a figure.
func digitsOf(m contrast.Measure, e *contrast.Estimate) int {
	before, _ := e.Before.Value()
	after, _ := e.After.Value()
	switch {
	case m.Name == "success":
		return 1
	case m.Unit == "USD":
		return 4
	case max(before, after) >= 1000:
		return 0
	}
	return 2
}

// estimateCells are the cells of an estimate; isShare says that it is one of shares.
func estimateCells(e *contrast.Estimate, digits int, isShare bool) []report.Cell {
	tasks := report.Textf("%d, %d", e.Tasks[0], e.Tasks[1])
	if e.Tasks[0] == e.Tasks[1] {
		tasks = report.Int(e.Tasks[0])
	}
	figure, bounds := report.FloatOf, report.Range
	if isShare {
		figure, bounds = report.ShareOf, report.ShareRange
	}
	return []report.Cell{figure(e.Before, digits), figure(e.After, digits), figure(e.Difference, digits), bounds(e.Interval, digits), tasks}
}

func namedTable(id, title string, rows []contrast.Named, steps bool) *report.Table {
	if len(rows) == 0 {
		return nil
	}
	columns := []report.Column{{Key: "tool", Max: 50}}
	if steps {
		columns = []report.Column{{Key: "from", Max: 40}, {Key: "to", Max: 40}}
	}
	table := report.NewTable(id, title, append(columns,
		report.Column{Key: "before", Align: report.Right},
		report.Column{Key: "after", Align: report.Right},
		report.Column{Key: "difference", Align: report.Right, Rank: 1},
		report.Column{Key: "difference_interval", Title: "95 % interval", Interval: true},
		report.Column{Key: "tasks", Align: report.Right, Rank: 2})...)
	for i := range rows {
		r := &rows[i]
		cells := []report.Cell{report.Name(r.Tool)}
		if steps {
			cells = []report.Cell{report.Name(r.From), report.Name(r.To)}
		}
		table.Add(append(cells, estimateCells(&r.Estimate, 3, false)...)...)
	}
	table.Note("These were chosen because they differ most, so their differences look larger than they are.")
	return table
}

// habitSentence says whether the habits differ.
func habitSentence(d entropy.Difference) string {
	if d.Permutation == nil || !d.Effect.Known() {
		return "Whether the habits differ cannot be tested: a set has too few calls, or its tasks cannot be exchanged with the other's."
	}
	verdict := "The habits do not differ by more than chance explains"
	if d.Permutation.P < 0.05 {
		verdict = "The habits differ: what is called next, given the last call, depends on the set"
	}
	return fmt.Sprintf("%s (permutation p %.3f over whole tasks; %.3f bits a call, of which %.3f are expected by chance).", verdict, d.Permutation.P, d.Effect.Float(), d.Bias.Float())
}
