package extraction

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/awo-dev/awo/backtest"
	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/cmd/internal/recommend"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/compile"
)

func extractionDocument(in *cli.Intake, o Options, out *extraction) *report.Document {
	d := &report.Document{Title: "Meta-tools", Answer: cmp.Or(out.recommended.Words(), extractionAnswer(o, out)), Figures: out.figures, Lines: report.ScreenLines}
	if out.recommended != nil {
		d.Add(report.Paragraph(extractionAnswer(o, out)))
	}
	d.Add(recommend.AgentsTable(out.agents), in.Summary(), out.recommended.Table())
	if len(out.metaTools) == 0 {
		in.Findings.Section(d, 1)
		d.Details()
		d.Add(metaToolTable(in, out, nil).Hidden())
	} else {
		if o.Out != "" {
			d.Add(report.Paragraph("The definitions are in " + o.Out + "; manifest.json says what they were made from."))
		}
		if len(out.findings) > 0 {
			d.Add(report.Short("Fix this first: " + cli.FindingName(&out.findings[0]) + "."))
		}
		shown := slices.Clone(out.metaTools)
		slices.SortStableFunc(shown, func(a, b metaTool) int { return cmp.Compare(a.Reason, b.Reason) }) // what is offered has none
		d.Add(metaToolTable(in, out, out.metaTools).Hidden(), metaToolTable(in, out, shown).View())
		d.Details()
		in.Findings.Section(d, 1)
	}
	d.Section("All findings", in.Findings.Table())
	choiceSections(d, out)
	d.Add(bindingsTable(out), prefetchTable(out.prefetch))
	return d
}

// reasonWords say in a few words what the codes of reasons mean.
var reasonWords = map[string]string{
	backtest.ReasonNothing:   "it saves nothing",
	backtest.ReasonCosts:     "it costs more than it saves",
	backtest.ReasonFails:     "its calls fail more often together",
	backtest.ReasonBatch:     "parallel calls do the same (batch)",
	backtest.ReasonWrites:    "it writes, and the rest follows too seldom",
	backtest.ReasonFew:       "it adds too few turns",
	backtest.ReasonMaxTools:  "beyond --max-tools",
	backtest.ReasonOverlaps:  "its calls are others' too",
	backtest.ReasonVerdict:   "none is recommended",
	backtest.ReasonDisagrees: "it often does not do what was recorded",
}

// reasonText says what the reason of a meta-tool or candidate means, "" for none.
func reasonText(reason string) string {
	if by, is := strings.CutPrefix(reason, backtest.ReasonDominated+" "); is {
		return by + " saves what it would"
	}
	return cmp.Or(reasonWords[reason], reason)
}

// metaToolTable lists some of the meta-tools that were found.
func metaToolTable(in *cli.Intake, out *extraction, tools []metaTool) *report.Table {
	refused := slices.ContainsFunc(tools, func(m metaTool) bool { return m.Reason != "" })
	table := report.TableOf("meta_tools", "Meta-tools", tools, []report.Column{
		{Key: "name", Max: 42},
		{Key: "calls", Title: "does in one call", Max: 64, Wrap: true, Cell: report.By(func(m *metaTool) report.Cell { return report.Name(strings.Join(stepsInWords(m), " → ")) })},
		{Key: "inputs", Max: 32, Wrap: true, Rank: 4, Cell: report.By(func(m *metaTool) report.Cell { return report.Name(cmp.Or(strings.Join(m.Inputs, ", "), "none")) })},
		{Key: "support", Title: "trajectories"},
		{Key: "support_served", Title: "as steps only", Hide: out.Input.Expanded == 0},
		{Key: "occurrences", Title: "times", Rank: 3},
		{Key: "turns_saved", Title: "turns saved"},
		{Key: "exact", Title: "exact in replay", Rank: 2, Align: report.Right, Cell: report.By(func(m *metaTool) report.Cell { return report.Text(replayWords(m.Replay)) })},
		{Key: "left_out", Title: "rejected because", Max: 40, Wrap: true, Cell: report.By(leftOutCell), Hide: !refused},
	})
	table.Brief = 5
	table.Note("Turns saved, at most, of %s: of what is offered those that it adds to the others, together %s; of what was rejected what it would save alone. An agent must choose the meta-tool, each step's arguments must be known when it is called, and what it then does may differ from what was recorded.",
		cli.CountOf(out.Choice.CallingTurns, "calling turn"), report.Grouped(out.Emitted.TurnsSaved))
	table.NoteIf(out.Input.Expanded > 0, "As steps only: of the trajectories, those in which the calls were made by meta-tools that were served, and never by the agent one by one.")
	withheld := 0
	for i := range tools {
		for _, b := range tools[i].Bindings {
			if b.Withheld {
				withheld++
			}
		}
	}
	table.NoteIf(withheld > 0, "%s had one value in all recordings, which is not written because it may be a secret. A rule with `values: allow` makes it a constant.", cli.CountOf(withheld, "input"))
	table.Note("Exact in replay: of the places in these traces where it would save a turn, those where it made the recorded calls.")
	return table
}

// extractionAnswer says what is offered, and what it would save at most.
func extractionAnswer(o Options, out *extraction) string {
	switch {
	case len(out.metaTools) == 0 && o.Algorithm == string(compile.Patterns):
		return "No meta-tool: no chain of two or more calls, nor a walk over a list, occurs in at least " + cli.CountOf(out.Threshold, "trajectory") +
			" without a user message in between and could be called. A lower --threshold, or rules that say which calls only read (--rules), may find some."
	case len(out.metaTools) == 0:
		return "No meta-tool: no chain of two or more calls is followed by at least " + cli.CountOf(out.Threshold, "trajectory") +
			" without a user message in between. A lower --threshold or rules that merge more states (--rules) may find some."
	case out.Emitted.MetaTools == 0 && len(out.prefetch) > 0:
		return fmt.Sprintf("No meta-tool is offered (each of %s was rejected), and %s for prefetch.", cli.CountOf(len(out.metaTools), "candidate"), cli.CountOf(len(out.prefetch), "rule"))
	case out.Emitted.MetaTools == 0:
		return fmt.Sprintf("No meta-tool is offered: each of %s was rejected.", cli.CountOf(len(out.metaTools), "candidate"))
	}
	return out.publishedRemains(o) + fmt.Sprintf("%s offered: used wherever they fit, these traces would have had at most %s of %s fewer (%.1f %%).",
		isAre(out.Emitted.MetaTools), report.Grouped(out.Emitted.TurnsSaved), cli.CountOf(out.Choice.CallingTurns, "calling turn"), percentOf(out.Emitted.TurnsSaved, out.Choice.CallingTurns))
}

// publishedRemains says of the paper's own choice, which looks at no other tasks, what is left
// of it there; "" of other choices.
func (out *extraction) publishedRemains(o Options) string {
	if o.Preset != "awo" {
		return ""
	}
	tested, saved := false, 0
	for i := range out.metaTools {
		if m := &out.metaTools[i]; m.Status == statusEmitted && m.Holdout != nil {
			tested, saved = true, saved+m.Holdout.Saves
		}
	}
	if !tested {
		return "What remains on other tasks is not known: --holdout 0.3 measures it. "
	}
	return fmt.Sprintf("On the tasks held out they fit with known inputs at %s. ", cli.CountOf(saved, "place"))
}

func isAre(n int) string {
	if n == 1 {
		return "1 meta-tool is"
	}
	return report.Grouped(n) + " meta-tools are"
}

// bindingsTable says where the arguments of what is offered come from that are no inputs.
func bindingsTable(out *extraction) *report.Table {
	type row struct {
		Name string `json:"name"`
		boundArgument
	}
	var rows []row
	for _, m := range out.metaTools {
		for _, b := range m.Bindings {
			if m.Status == statusEmitted && b.Kind != metatool.BindInput.String() {
				rows = append(rows, row{m.Name, b})
			}
		}
	}
	table := report.TableOf("bindings", "Where arguments come from", rows, []report.Column{
		{Key: "name", Max: 42},
		{Key: "call", Align: report.Right, Cell: report.By(func(r *row) report.Cell { return report.Int(r.Step + 1) })},
		{Key: "argument", Max: 24},
		{Key: "from", Max: 60, Wrap: true, Words: true},
		{Key: "agrees", From: "agree"},
		{Key: "times", From: "occurrences"},
		{Key: "extra", Title: "extra calls", Align: report.Right, Cell: report.By(func(r *row) report.Cell {
			if r.Kind == metatool.BindElement.String() {
				return report.Textf("%.1f", r.ExtraMean)
			}
			return report.Text("")
		})},
	})
	table.Note("All other arguments are inputs. Agrees: in how many occurrences the binding gives what was recorded. Extra calls: what walking a whole list adds to what agents did, on average.")
	return table.View().IfAny()
}

// stepsInWords names the steps.
func stepsInWords(m *metaTool) []string {
	words := slices.Clone(m.Tools)
	for _, b := range m.Bindings {
		if b.Kind == metatool.BindElement.String() && !strings.HasPrefix(words[b.Step], "each ") {
			words[b.Step] = "each " + words[b.Step]
		}
	}
	return words
}

func percentOf(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}
