package comparing

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/entropy"
	"github.com/awo-dev/awo/internal/contrast"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/internal/summary"
	"github.com/awo-dev/awo/internal/summary/count"
	"github.com/awo-dev/awo/trace"
)

// setFigures are those of a comparison of two sets.
type setFigures struct {
	Before cli.InputJSON      `json:"before"`
	After  cli.InputJSON      `json:"after"`
	Paired bool               `json:"paired"`
	Both   int                `json:"tasks_in_both"`
	Left   [2]int             `json:"runs_left_out"`
	Habits entropy.Difference `json:"habits"`

	// Different says whether some figure, or how often tools are called, differs by more
	// than chance explains; Failed whether a condition of --fail-on did.
	Different bool `json:"different"`
	Failed    bool `json:"failed"`
}

// measured is a figure of both sets.
type measured struct {
	Name string `json:"figure"`
	Unit string `json:"unit"`
	Per  string `json:"per"`
	contrast.Estimate
	BeforeMedian stat.Figure `json:"before_median"` // over runs
	AfterMedian  stat.Figure `json:"after_median"`
	BeforeP95    stat.Figure `json:"before_p95"`
	AfterP95     stat.Figure `json:"after_p95"`
}

// side is one of the sets.
type side struct {
	in  *cli.Intake
	set *contrast.Set
}

// CostBy returns what counts the cost of trajectories for a comparison.
func CostBy(meter *cost.Meter) func(*trace.Trajectory) contrast.Cost {
	return func(t *trace.Trajectory) contrast.Cost {
		total := meter.Trajectory(t).Total()
		return contrast.Cost{Tokens: float64(total.Tokens()), USD: total.USD, Priced: total.Turns > 0 && total.Unpriced == 0}
	}
}

// areSets reports whether two arguments are sets of traces, and no recordings of a gateway.
func areSets(j *cli.Job, o options, args []string) (bool, error) {
	if o.Baseline != "" || o.FailOn != "" || slices.ContainsFunc(args, func(file string) bool { return strings.HasSuffix(file, summary.Ext) }) {
		return true, nil
	}
	if len(args) != 2 || args[0] == "-" || o.Tools != "" || o.Estimate != "" || o.Look || len(o.Transcripts) > 0 {
		return false, nil
	}
	r, err := j.Open(args[:1], trace.Options{})
	if err != nil {
		return false, err
	}
	for t, err := range r.All() {
		if err == nil {
			return t.Relay == nil, nil
		}
	}
	return true, nil
}

// setsListed is how many tools and steps are listed.
const setsListed = 10

// compareSets compares two sets of traces, or summaries of them.
func compareSets(j *cli.Job, o options, args []string) error {
	both := [2][]string{{o.Baseline}, args}
	switch {
	case o.Baseline == "" && len(args) != 2:
		return cli.Usagef("give two sets to compare, or --baseline and one")
	case o.Baseline == "":
		both = [2][]string{args[:1], args[1:]}
	}
	gates, err := readGates(o.FailOn)
	if err != nil {
		return err
	}
	judge, err := o.Judge()
	if err != nil {
		return err
	}
	name := ""
	corpus := trace.NewCorpus(trace.CorpusOptions{Group: func(*trace.Trajectory) string { return name }})
	var sides [2]side
	for i, files := range both {
		name = [...]string{"before", "after"}[i]
		if sides[i], err = readSide(j, files, judge, corpus, name); err != nil {
			return err
		}
	}
	corpus.Sort()
	found := contrast.New(sides[0].set, sides[1].set, contrast.Options{Most: setsListed, Seed: j.Seed, Each: j.Each()})
	var rows []gateRow
	for i := range gates {
		rows = append(rows, gates[i].judge(&found.Figures[gates[i].measure], sides[1].set.Runs))
	}
	d, failed := setsDocument(sides, found, habitsOf(corpus, j.Seed, j), rows), false
	for i := range rows {
		failed = failed || rows[i].Verdict == gateFailed || o.Inconclusive && rows[i].Verdict == gateInconclusive
	}
	if stored, _ := cli.SplitStored(both[1]); len(stored) == 0 {
		d.Next = []string{j.Then(both[1], "what is wrong with the second set, and what it costs", "{}")}
	}
	if err := j.Result(d); err != nil || !failed {
		return err
	}
	return cli.ErrProblems
}

// readSide reads one set, and adds its sequences to the corpus under a name.
func readSide(j *cli.Job, files []string, judge *Judge, corpus *trace.Corpus, name string) (side, error) {
	stored, err := cli.OnlyStored(files)
	if err != nil {
		return side{}, err
	}
	if stored != nil {
		return readStored(j, stored, corpus, name)
	}
	s := side{set: contrast.NewSet()}
	if s.in, err = j.Intake(files, trace.Options{}); err != nil {
		return s, err
	}
	costOf := CostBy(j.Meter())
	err = s.in.Each(func(t *trace.Trajectory) {
		judge.Outcome(t)
		s.set.Add(t, costOf(t))
		corpus.Add(t)
	})
	return s, cmp.Or(err, judge.Err())
}

// readStored reads one set from summaries.
func readStored(j *cli.Job, files []string, corpus *trace.Corpus, name string) (side, error) {
	sum, err := j.MergeStored(files, false)
	if err != nil {
		return side{}, err
	}
	if sum.Choice(count.CompareChoice) == "" {
		return side{}, cli.Usagef("%s: `awo summarize` counted without --compare, which this wants", files[0])
	}
	asked := count.Default()
	asked.TurnGap, asked.Where = j.TurnGap, j.Where
	if err := j.AsCounted(asked, sum); err != nil {
		return side{}, err
	}
	sequences, err := sum.Corpus("")
	if err != nil {
		return side{}, err
	}
	tools := sequences.Tools()
	for i, sequence := range sequences.Sequences() {
		names := make([]trace.Name, len(sequence))
		for k, tool := range sequence {
			names[k] = tools[tool]
		}
		corpus.AddSequence(sequences.Tasks()[sequences.Task(i)], name, names, 1)
	}
	return side{j.StoredIntake(sum, len(files)), contrast.Restore(sum)}, nil
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

func setsDocument(sides [2]side, c *contrast.Contrast, habits entropy.Difference, gates []gateRow) *report.Document {
	answer := contrastVerdict(c)
	if gates != nil {
		answer = gatesAnswer(gates) + " " + answer
	}
	d := &report.Document{Title: "What differs between the two sets of runs", Answer: answer, Lines: report.ScreenLines, Figures: setFigures{
		Before: sides[0].in.JSON(), After: sides[1].in.JSON(), Paired: c.Paired, Both: c.Both, Left: c.Left, Habits: habits,
		Different: c.Different, Failed: slices.ContainsFunc(gates, func(g gateRow) bool { return g.Verdict == gateFailed }),
	}}
	unit := fmt.Sprintf("The sets are compared as wholes; in both are %s.", cli.CountOf(c.Both, "task"))
	if c.Paired {
		unit = fmt.Sprintf("Compared are the %s that both sets have, one by one; %s before and %s after are left out.", cli.CountOf(c.Both, "task"), cli.CountOf(c.Left[0], "run"), cli.CountOf(c.Left[1], "run"))
	}
	sets := fmt.Sprintf("Before: %s of %s. After: %s of %s.", cli.CountOf(sides[0].set.Runs, "run"), cli.CountOf(sides[0].set.Tasks(), "task"), cli.CountOf(sides[1].set.Runs, "run"), cli.CountOf(sides[1].set.Tasks(), "task"))
	d.Add(report.Paragraph(sets + " " + unit))
	var rows []measured
	for i, m := range contrast.Measures {
		before, after := sides[0].set, sides[1].set
		rows = append(rows, measured{m.Name, m.Unit, m.Per, c.Figures[i], before.Quantile(i, 0.5), after.Quantile(i, 0.5), before.Quantile(i, 0.95), after.Quantile(i, 0.95)})
	}
	slices.SortStableFunc(rows, func(a, b measured) int { return cmp.Compare(rank(&a), rank(&b)) })
	table := report.TableOf("changes", "", rows, append([]report.Column{
		{Key: "figure", Cell: report.By(func(m *measured) report.Cell {
			name := strings.ReplaceAll(m.Name, "_", " ")
			switch {
			case m.Name == "success":
				name += " (%)"
			case m.Unit != "":
				name += " (" + m.Unit + ")"
			}
			return report.Text(name)
		})},
		{Key: "per", Words: true, Rank: 3},
	}, estimateColumns(func(m *measured) (*contrast.Estimate, int, bool) {
		return &m.Estimate, digitsOf(m), m.Name == "success"
	})...))
	table.Brief = len(rows)
	table.Note("Intervals are drawn over tasks, each for itself; p is adjusted for all figures and the tools together (Holm), and what the answer names has p below 0.05.")
	table.Note("Tokens and money are recorded, or counted from texts and not scaled, where the traces record none.")
	d.Add(gatesTable(gates), table, report.Paragraph(habitSentence(habits)))
	d.Details()
	d.Add(namedTable("tools", "Calls by run of the tools that differ most", c.Tools, report.Column{Key: "tool", Max: 50}),
		namedTable("steps", "Share of runs with a step, for the steps that differ most", c.Steps, report.Column{Key: "from", Max: 40}, report.Column{Key: "to", Max: 40}))
	d.Section("What was read", report.Paragraph("Before: "+string(sides[0].in.Summary())), report.Paragraph("After: "+string(sides[1].in.Summary())))
	return d
}

// digitsOf is how many digits after the point show a figure.
func digitsOf(m *measured) int {
	before, _ := m.Before.Value()
	after, _ := m.After.Value()
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

// rank puts the figure that matters most first: success where both sets record it, and
// what is paid.
func rank(m *measured) int {
	switch {
	case m.Name == "success" && m.Difference.Known():
		return 0
	case m.Name == "money" && m.Difference.Known():
		return 1
	}
	return 2
}

// estimateColumns show an estimate of a row, with so many digits, and whether it is of shares.
func estimateColumns[T any](of func(row *T) (*contrast.Estimate, int, bool)) []report.Column {
	figure := func(pick func(*contrast.Estimate) stat.Figure) func(reflect.Value) report.Cell {
		return report.By(func(row *T) report.Cell {
			e, digits, isShare := of(row)
			if isShare {
				return report.ShareOf(pick(e), digits)
			}
			return report.FloatOf(pick(e), digits)
		})
	}
	return []report.Column{
		{Key: "before", Align: report.Right, Cell: figure(func(e *contrast.Estimate) stat.Figure { return e.Before })},
		{Key: "after", Align: report.Right, Cell: figure(func(e *contrast.Estimate) stat.Figure { return e.After })},
		{Key: "difference", Align: report.Right, Rank: 1, Cell: figure(func(e *contrast.Estimate) stat.Figure { return e.Difference })},
		{Key: "difference_interval", Title: "95 % interval", Interval: true, Cell: report.By(func(row *T) report.Cell {
			e, digits, isShare := of(row)
			if isShare {
				return report.ShareRange(e.Interval, digits)
			}
			return report.Range(e.Interval, digits)
		})},
		{Key: "p_adjusted", Title: "p", Digits: 3, Rank: 3},
		{Key: "tasks", Align: report.Right, Rank: 2, Cell: report.By(func(row *T) report.Cell {
			e, _, _ := of(row)
			if e.Tasks[0] == e.Tasks[1] {
				return report.Int(e.Tasks[0])
			}
			return report.Textf("%d, %d", e.Tasks[0], e.Tasks[1])
		})},
	}
}

func namedTable(id, title string, rows []contrast.Named, names ...report.Column) *report.Table {
	table := report.TableOf(id, title, rows, append(names, estimateColumns(func(r *contrast.Named) (*contrast.Estimate, int, bool) { return &r.Estimate, 3, false })...))
	table.Note("These were chosen because they differ most, so their differences look larger than they are.")
	return table.IfAny()
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
