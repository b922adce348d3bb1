package worth

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/awo-dev/awo/backtest"
	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/cmd/internal/recommend"
	"github.com/awo-dev/awo/internal/plot"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/stat"
)

func (f *BacktestFindings) document(in *cli.Intake, out Backtest) *report.Document {
	d := &report.Document{Title: "Back-test", Answer: out.Recommended.Words(), Figures: out.BacktestFigures, Lines: report.ScreenLines}
	if d.Answer == "" {
		d.Answer = f.most()
	}
	d.Add(in.Summary())
	if f.result.Trajectories == 0 {
		d.Add(f.splitWords())
		return d
	}
	d.Add(recommend.AgentsTable(out.Agents), out.Recommended.Table())
	in.Findings.Section(d, 1)
	f.Sections(d, out)
	d.Section("All findings", in.Findings.Table())
	return d
}

// Sections adds what each technique saves, and as details the rest and what is not known.
func (f *BacktestFindings) Sections(d *report.Document, out Backtest) {
	d.Section("What would be saved", turnsTable(out))
	d.Details()
	d.Add(f.splitWords())
	for _, t := range []*report.Table{moneyTable(out), timeTable(out), blindTable(out), readsTable(out)} {
		if t != nil {
			d.Add(t.View())
		}
	}
	d.Add(programTables(out)...)
	together := report.TableOf("interactions", "What is saved together, less the sum of what each saves alone", out.Interactions, []report.Column{
		{Key: "technique", Words: true},
		{Key: "calling_turns_saved", Title: "turns saved"},
		{Key: "calling_turns_saved", From: "intervals.calling_turns_saved", Title: "95 %"},
		{Key: "tokens_saved", Title: "tokens saved", Digits: report.Whole},
		{Key: "cost_saved_usd", Title: "saved", Unit: "USD", Digits: 4},
	})
	d.Add(together.IfAny())
	d.Section("What cannot be known", report.List(out.Unknown))
	var notes report.List
	for _, t := range out.Techniques {
		for _, note := range t.Notes {
			notes = append(notes, t.Technique+": "+note+".")
		}
	}
	d.Section("Notes", notes)
}

// most says which technique saves most calling turns.
func (f *BacktestFindings) most() string {
	best := f.result.Best(backtest.Selection(f.options.Select))
	if best == nil {
		return "No technique saves a calling turn or a token on tasks that it was not compiled from."
	}
	return fmt.Sprintf("Of single techniques %s saves most: at most %s of %s on tasks held out.", best.Name, report.Grouped(best.CallingTurnsSaved), cli.CountOf(best.CallingTurns, "calling turn"))
}

// splitWords says which trajectories were compiled from, and which tried on.
func (f *BacktestFindings) splitWords() report.Paragraph {
	r := f.result
	switch r.By {
	case backtest.SplitFolds:
		return report.Paragraph(fmt.Sprintf("Each of %s is tested on once, with what was compiled from the tasks of the other parts (%d parts).", cli.CountOf(r.TestTasks, "task"), r.Folds))
	case backtest.SplitTime:
		unused := ""
		if r.Unused > 0 {
			unused = fmt.Sprintf("; %s of tasks that were tried before and after are left out", cli.CountOf(r.Unused, "trajectory"))
		}
		return report.Paragraph(fmt.Sprintf("Compiled from what came first (%s), tested on what came last (%s)%s.", cli.CountOf(r.TrainTasks, "task"), cli.CountOf(r.TestTasks, "task"), unused))
	}
	return report.Paragraph(fmt.Sprintf("Compiled from %s, tested on %s.", cli.CountOf(r.TrainTasks, "task"), cli.CountOf(r.TestTasks, "task")))
}

// turnsTable shows what each technique saves of calling turns.
func turnsTable(out Backtest) *report.Table {
	table := report.TableOf("techniques", "Held out: calling turns", out.Techniques, []report.Column{
		{Key: "technique", Words: true},
		{Key: "calling_turns_saved", Title: "turns saved"},
		{Key: "calling_turns_saved_share", Title: "share", Unit: "%"},
		{Key: "calling_turns_saved_share", From: "intervals.calling_turns_saved_share", Title: "95 %", Share: true},
		{Key: "llm_calls_saved", Title: "model calls saved", Rank: 2, Align: report.Right, Cell: report.By(callsCell)},
		{Key: "utilisation", Title: "tasks with one", Unit: "%", Rank: 3},
		{Key: "steps_before", Title: "calls there", Rank: 4, Align: report.Right, Cell: report.By(func(t *Technique) report.Cell { return stepsCell(t.StepsBefore) })},
		{Key: "steps_after", Title: "after", Rank: 4, Align: report.Right, Cell: report.By(func(t *Technique) report.Cell { return stepsCell(t.StepsAfter) })},
		{Key: "exact", Title: "exact in replay", Rank: 1, Cell: report.By(exactCell)},
		{Key: "meta_tools", Title: "meta-tools", Digits: 1, Rank: 3},
	})
	table.Brief = len(out.Techniques)
	if len(out.Techniques) > 0 {
		first := out.Techniques[0]
		table.Note("Of %s of %s that were tested on. Upper bounds: an agent must choose the meta-tool, and what it then does may differ from what was recorded.", cli.CountOf(first.CallingTurns, "calling turn"), cli.CountOf(first.LLMCalls, "model turn"))
	}
	table.Note("Exact in replay: places where a meta-tool would save a turn and made the recorded calls; only these count, and only where its inputs were known before. Meta-tools: the mean over the parts.")
	table.Note("Published agents used meta-tools in 16 to 98 %% of the tasks (AWO, Tables 7 and 9): that share of a figure is what adoption leaves of it. One of their models made 4 and 19 %% more calls with meta-tools than without.")
	for _, note := range []string{emptyNote(out), antiNote(out)} {
		table.NoteIf(note != "", "%s", note)
	}
	return table
}

// antiNote says how many anti-meta-tools were left out.
func antiNote(out Backtest) string {
	var some []string
	for _, t := range out.Techniques {
		if t.AntiMetaTools > 0 && t.Technique != "all" {
			some = append(some, fmt.Sprintf("%s %.1f", t.Technique, t.AntiMetaTools))
		}
	}
	if len(some) == 0 {
		return ""
	}
	return "Rejected as anti-meta-tools, which fail more often than their parts or cost more than they save (the mean over the parts): " + strings.Join(some, ", ") + "."
}

// emptyNote says what an interval means that has nothing to vary: techniques that
// save nothing in any task, of n of them, may in up to 1 - 0.05^(1/n) of further ones
// (Hanley and Lippman-Hand 1983).
func emptyNote(out Backtest) string {
	var names []string
	for _, t := range out.Techniques {
		if _, known := t.Utilisation.Value(); known && t.Technique != "none" && t.CallingTurnsSaved == 0 && !registers(t.Technique) {
			names = append(names, t.Technique)
		}
	}
	if len(names) == 0 || out.Split.TestTasks == 0 {
		return ""
	}
	bound := 1 - math.Pow(0.05, 1/float64(out.Split.TestTasks))
	return fmt.Sprintf("In none of %s anything is saved by %s. That does not prove zero: up to %.1f %% of further tasks may hold something (95 %%).", cli.CountOf(out.Split.TestTasks, "task"), strings.Join(names, ", "), 100*bound)
}

// callsCell leaves out what nothing is known of, though turns are recorded.
func callsCell(t *Technique) report.Cell {
	if i := t.Intervals["llm_calls_saved"]; i.Reason == noOffers {
		return report.Missing(i.Reason)
	}
	return report.Int(t.LLMCallsSaved)
}

// exactCell leaves empty what was not replayed.
func exactCell(t *Technique) report.Cell {
	if t.Places == 0 || t.Technique == "awo-paper" {
		return report.Text("")
	}
	return report.Textf("%d of %d", t.Exact, t.Places)
}

// stepsCell leaves empty what concerns no trajectory.
func stepsCell(f stat.Figure) report.Cell {
	if _, ok := f.Value(); !ok {
		return report.Text("")
	}
	return report.FloatOf(f, 1)
}

// moneyTable shows what each technique saves of tokens and money, with the
// definitions of its tools paid.
func moneyTable(out Backtest) *report.Table {
	table := report.TableOf("money", "Held out: tokens and money, definitions paid", out.Techniques, []report.Column{
		{Key: "technique", Words: true},
		{Key: "tokens_saved", Title: "tokens saved", Digits: report.Whole},
		{Key: "tokens_saved_share", Title: "share", Unit: "%", Align: report.Right, Cell: report.By(func(t *Technique) report.Cell { return report.ShareOf(t.TokensSaved.PartOf(t.Tokens), 1) })},
		{Key: "tokens_saved_share", From: "intervals.tokens_saved_share", Title: "95 %", Share: true},
		{Key: "cost_saved_usd", Title: "saved", Unit: "USD", Digits: 4},
		{Key: "cost_saved_usd", From: "intervals.cost_saved_usd", Title: "95 %", Digits: 4},
		{Key: "definition_tokens", Title: "definition tokens"},
	})
	if len(out.Techniques) > 0 {
		if tokens, ok := out.Techniques[0].Tokens.Value(); ok {
			money := ""
			if usd, ok := out.Techniques[0].CostUSD.Value(); ok {
				money = fmt.Sprintf(", %s USD", cli.Dollars(usd))
			}
			table.Note("Of %s tokens%s. The definitions of meta-tools are read on every turn that is left; negative: they cost more than the turns removed.", cli.Grouped(int64(tokens)), money)
		}
	}
	return table
}

// blindTable compares blind use of meta-tools with use that is chosen perfectly; nil
// where none are offered.
func blindTable(out Backtest) *report.Table {
	offers := slices.DeleteFunc(slices.Clone(out.Techniques), func(t Technique) bool { return t.Blind == nil })
	if len(offers) == 0 {
		return nil
	}
	table := report.TableOf("blind", "Held out: meta-tools always used, and used only where they fit", offers, []report.Column{
		{Key: "technique", Words: true},
		{Key: "moments"},
		{Key: "precision", Unit: "%"},
		{Key: "precision", From: "intervals.precision", Title: "95 %", Share: true},
		{Key: "calling_turns_saved", From: "blind.calling_turns_saved", Title: "turns saved, always used"},
		{Key: "calling_turns_saved", Title: "only where they fit"},
		{Key: "extra_reads", From: "blind.extra_reads", Title: "extra reads"},
		{Key: "extra_writes", From: "blind.extra_writes", Title: "extra writes"},
		{Key: "money_saved", From: "blind.money_saved", Title: "saved, always used", Unit: "USD", Digits: 4},
		{Key: "cost_saved_usd", Title: "only where they fit", Unit: "USD", Digits: 4},
	})
	table.Note("Always used: a meta-tool is called whenever its first call is wanted and what else it takes is known (a moment); of several that whose moments are worth most in the training part. Precision: how often the rest of its calls followed. Where it did not, wasted reads stay in the context, and a use that ends early costs a model call. Only where they fit: only where it saves a turn.")
	return table
}

// readsTable says what was read ahead; nil if no technique does.
func readsTable(out Backtest) *report.Table {
	var ahead []Technique
	for _, t := range out.Techniques {
		if strings.HasPrefix(t.Technique, "prefetch") || t.Technique == "all" {
			ahead = append(ahead, t)
		}
	}
	if len(ahead) == 0 {
		return nil
	}
	table := report.TableOf("reads", "Held out: prefetched reads", ahead, []report.Column{
		{Key: "technique", Words: true},
		{Key: "rules", Title: "rules", Digits: 1},
		{Key: "reads_ahead", Title: "reads"},
		{Key: "reads_used", Title: "used"},
		{Key: "reads_wasted", Title: "wasted"},
		{Key: "stale", Title: "stale"},
		{Key: "calling_turns_saved", Title: "turns saved"},
	})
	table.Note("Used: the agent made this call later. Stale: it did so after a tool was called that may have changed the result; these are wasted, too.")
	return table
}

// timeTable says how long models took on the turns that would be saved; nil if no
// turn records that.
func timeTable(out Backtest) *report.Table {
	if len(out.Techniques) == 0 {
		return nil
	}
	whole, ok := out.Techniques[0].Seconds.Value()
	if !ok {
		return nil
	}
	table := report.TableOf("time", "Held out: model time", out.Techniques, []report.Column{
		{Key: "technique", Words: true},
		{Key: "model_seconds_saved", Title: "saved", Unit: "s"},
		{Key: "model_seconds_saved_share", Title: "share", Unit: "%", Align: report.Right, Cell: report.By(func(t *Technique) report.Cell {
			return report.ShareOf(t.SecondsSaved.PartOf(out.Techniques[0].Seconds), 1)
		})},
		{Key: "model_seconds_saved_share", From: "intervals.model_seconds_saved_share", Title: "95 %", Share: true},
	})
	table.Note("Of %s seconds in which turns that record it waited for the model. Upper bounds, as the turns are; wrong calls of inertia take time that is not recorded.", report.Grouped(int(whole)))
	return table
}

// drawBacktest writes the figures of a back-test into a folder.
func drawBacktest(j *cli.Job, f *BacktestFindings, dir string) error {
	figures, err := BacktestPlots(f)
	if err != nil {
		return err
	}
	return j.WriteFigures(figures, dir)
}

// NoPrices is why figures of money are missing.
const NoPrices = "no turn has a price"

// Why other figures are missing.
const (
	noTokens    = "no trajectory records model turns"
	noTimes     = "no turn records when it began and ended"
	noTestTurns = "no calling turn in the test part"
	noTestTasks = "no task in the test part"
	noMoments   = "no meta-tool could be used"
	noneUsed    = "it occurs in no trajectory of the test part"
	noDuration  = "how long a registration would take is not recorded"
	noOffers    = "no trajectory records the definitions of the tools offered, and input that holds them"
)

// registers reports whether a technique offers definitions of tools when they are
// needed: what it saves is known only where traces say which are offered.
func registers(technique string) bool {
	return technique == "register"
}

// lacks returns why a metric of a technique is not known, "" if it is. A figure
// that nothing supports is not zero, and its interval is none either.
func (f *BacktestFindings) lacks(o *backtest.Outcome, metric string) string {
	offers := registers(o.Name) && o.Used == 0
	calling := strings.HasPrefix(metric, "calling_turns")
	switch {
	case f.result.TestTasks == 0:
		return noTestTasks
	case o.LLMCalls == 0 && !calling:
		return noTokens
	case o.CallingTurns == 0 && (calling || metric == "utilisation" && !registers(o.Name)):
		return noTestTurns
	case strings.HasPrefix(metric, "cost") && f.result.Unpriced >= f.result.LLMTurns:
		return NoPrices
	case offers && !calling:
		return noOffers
	case strings.HasPrefix(metric, "model_seconds") && o.Seconds == 0:
		return noTimes
	case strings.HasPrefix(metric, "model_seconds") && (registers(o.Name) || o.Name == "all" && f.result.NoTools < f.result.Trajectories):
		return noDuration
	}
	return ""
}

// interval returns the interval of a metric, or why there is none.
func (f *BacktestFindings) interval(o *backtest.Outcome, metric string) stat.Interval {
	if why := f.lacks(o, metric); why != "" {
		return stat.NoInterval(why)
	}
	return o.Intervals[metric]
}

// known returns a figure of a technique, or why there is none.
func (f *BacktestFindings) known(o *backtest.Outcome, metric string, v float64) stat.Figure {
	if why := f.lacks(o, metric); why != "" {
		return stat.Unknown(why)
	}
	return stat.Known(v)
}

// BacktestPlots draws what was found: calling turns and money saved by technique.
func BacktestPlots(f *BacktestFindings) ([]*plot.Figure, error) {
	var out []*plot.Figure
	turns, err := f.estimates("backtest-turns", "Calling turns saved on tasks held out, at most", "share of the calling turns", "calling_turns_saved_share",
		func(o *backtest.Outcome) float64 {
			return partOf(float64(o.CallingTurnsSaved), float64(o.CallingTurns))
		})
	if err != nil {
		return nil, err
	}
	money, err := f.moneyFigure()
	if err != nil {
		return nil, err
	}
	for _, figure := range []*plot.Figure{turns, money} {
		if figure != nil {
			out = append(out, figure)
		}
	}
	return out, nil
}

// moneyFigure draws what is saved in money, in tokens where nothing has a price,
// and nothing where neither is known.
func (f *BacktestFindings) moneyFigure() (*plot.Figure, error) {
	switch r := f.result; {
	case r.LLMTurns == 0:
		return nil, nil
	case r.Unpriced < r.LLMTurns:
		return f.estimates("backtest-money", "Money saved on tasks held out, definitions paid", "share of the cost; below zero it costs more", "cost_saved_share",
			func(o *backtest.Outcome) float64 { return partOf(o.USDSaved, o.USD) })
	}
	return f.estimates("backtest-money", "Tokens saved on tasks held out, definitions paid", "share of the tokens; below zero it takes more", "tokens_saved_share",
		func(o *backtest.Outcome) float64 { return partOf(float64(o.TokensSaved), float64(o.Tokens)) })
}

// estimates draws a metric of all techniques that are about it, and for which it is
// known; nil if there are none.
func (f *BacktestFindings) estimates(name, title, x, metric string, of func(o *backtest.Outcome) float64) (*plot.Figure, error) {
	var rows []plot.Estimate
	var words []string
	for i := range f.result.Techniques {
		o := &f.result.Techniques[i]
		turns := strings.HasPrefix(metric, "calling_turns")
		if o.Name == "none" || f.lacks(o, metric) != "" || turns && registers(o.Name) {
			continue
		}
		row := plot.Estimate{Name: o.Name, Share: of(o), Lo: math.NaN(), Hi: math.NaN()}
		text := fmt.Sprintf("%s %.1f %%", o.Name, 100*row.Share)
		if i := o.Intervals[metric]; i.Known() {
			row.Lo, row.Hi = i.Lo, i.Hi
			text += fmt.Sprintf(" (%.1f to %.1f %%)", 100*i.Lo, 100*i.Hi)
		}
		if o.Name == "awo-paper" {
			row.Name, row.Apart = "awo-paper (counted, not replayed)", true
		}
		rows, words = append(rows, row), append(words, text)
	}
	if len(rows) == 0 {
		return nil, nil
	}
	figure, err := plot.Estimates(plot.Axes{Name: name, Title: title, X: x}, rows)
	if err != nil {
		return nil, err
	}
	figure.Alt = title + ", with 95 % intervals: " + strings.Join(words, "; ") + "."
	return figure, nil
}

// partOf returns a part of a whole, NaN where there is none.
func partOf(part, whole float64) float64 {
	if whole == 0 {
		return math.NaN()
	}
	return part / whole
}
