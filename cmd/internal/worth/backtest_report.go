package worth

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/awo-dev/awo/backtest"
	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/cmd/internal/recommend"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/stat"
)

func (f *BacktestFindings) document(in *cli.Intake, out Backtest) *report.Document {
	d := &report.Document{Title: "Back-test", Answer: out.Recommended.Words(), Figures: out.BacktestFigures, Lines: report.ScreenLines}
	if d.Answer == "" {
		d.Answer = f.most()
	}
	d.Add(in.Brief())
	if f.result.Trajectories == 0 {
		d.Add(f.splitWords())
		return d
	}
	d.Add(recommend.AgentsTable(out.Agents), out.Recommended.Table())
	d.Add(report.ShortTable{Table: savedTable(out)})
	in.Findings.Section(d, 1)
	d.Details()
	f.Sections(d, out)
	d.Section("What was read", in.Summary())
	d.Section("All findings", in.Findings.Table())
	return d
}

// Sections adds what each technique saves, and what is not known.
func (f *BacktestFindings) Sections(d *report.Document, out Backtest) {
	d.Section("What would be saved", f.splitWords(), turnsTable(out))
	for _, t := range []*report.Table{moneyTable(out), timeTable(out), blindTable(out), readsTable(out)} {
		if t != nil {
			d.Add(t.View())
		}
	}
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

// techniqueWords say in a few words what techniques do; backtest.Technique.Doc says more.
var techniqueWords = map[string]string{
	"none":      "nothing is done",
	"batch":     "parallel calls, nothing compiled",
	"awo-paper": "the same, counted as published",
	"awo":       "meta-tools of the AWO paper",
	"patterns":  "meta-tools from frequent patterns",
	"register":  "tools defined when they are needed",
	"inertia":   "calls predicted, made without the model",
	"prefetch":  "prefetched reads",

	"prefetch-result":  "values of earlier answers alone",
	"prefetch-user":    "values of the user's messages alone",
	"prefetch-none":    "reads that need no value alone",
	"prefetch-same":    "values that are the same in all tasks",
	"prefetch-gateway": "the same where only calls are seen",
	"prefetch-paying":  "the rules that pay in training",

	"all": "patterns, inertia, prefetch, register",
}

// savedTable is turnsTable for short text: what saves most stands first.
func savedTable(out Backtest) *report.Table {
	sorted := slices.Clone(out.Techniques)
	slices.SortStableFunc(sorted, func(a, b Technique) int { return cmp.Compare(b.CallingTurnsSaved, a.CallingTurnsSaved) })
	table := report.TableOf("saved", "What would be saved on tasks held out, at most", sorted, []report.Column{
		{Key: "technique", Words: true},
		{Key: "words", Title: "what", Align: report.Left, Words: true, Rank: 2, Cell: report.By(func(t *Technique) report.Cell { return report.Text(techniqueWords[t.Technique]) })},
		{Key: "calling_turns_saved", Title: "turns"},
		{Key: "calling_turns_saved_share", Title: "share", Unit: "%"},
		{Key: "calling_turns_saved_share", From: "intervals.calling_turns_saved_share", Title: "95 %", Share: true},
		{Key: "exact", Title: "exact in replay", Rank: 1, Cell: report.By(exactCell)},
	})
	table.Brief = len(sorted)
	return table
}

// turnsTable shows what each technique saves of calling turns.
func turnsTable(out Backtest) *report.Table {
	table := report.TableOf("techniques", "Held out: calling turns", out.Techniques, []report.Column{
		{Key: "technique", Words: true},
		{Key: "calling_turns_saved", Title: "turns saved"},
		{Key: "calling_turns_saved_share", Title: "share", Unit: "%"},
		{Key: "calling_turns_saved_share", From: "intervals.calling_turns_saved_share", Title: "95 %", Share: true},
		{Key: "llm_calls_saved", Title: "model calls saved", Align: report.Right, Cell: report.By(callsCell)},
		{Key: "utilisation", Title: "tasks with one", Unit: "%"},
		{Key: "steps_before", Title: "calls there", Align: report.Right, Cell: report.By(func(t *Technique) report.Cell { return stepsCell(t.StepsBefore) })},
		{Key: "steps_after", Title: "after", Align: report.Right, Cell: report.By(func(t *Technique) report.Cell { return stepsCell(t.StepsAfter) })},
		{Key: "exact", Title: "exact in replay", Cell: report.By(exactCell)},
		{Key: "meta_tools", Title: "meta-tools", Digits: 1},
	})
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
	return cli.WriteFigures(figures, dir)
}
