package extraction

import (
	"fmt"
	"slices"
	"strings"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/compile"
)

func extractionDocument(in *cli.Intake, o Options, out JSON) *report.Document {
	d := &report.Document{Title: "Meta-tools"}
	d.Add(in.Summary())
	if len(out.MetaTools) == 0 {
		if o.Algorithm == string(compile.Patterns) {
			d.Add(report.Paragraph("No chain of two or more calls, nor a walk over a list, occurs in at least " + cli.CountOf(out.Threshold, "trajectory") +
				" without a user message in between and could be called. A lower --threshold, or rules that say which calls only read (--rules), may find some."))
			return d
		}
		d.Add(report.Paragraph("No chain of two or more calls is followed by at least " + cli.CountOf(out.Threshold, "trajectory") +
			" without a user message in between. A lower --threshold or rules that merge more states (--rules) may find some."))
		return d
	}
	refused := slices.ContainsFunc(out.MetaTools, func(m metaToolJSON) bool { return m.Reason != "" })
	columns := []report.Column{
		{Key: "name", Max: 42},
		{Key: "calls", Title: "does in one call", Max: 64, Wrap: true},
		{Key: "inputs", Max: 32, Wrap: true},
		{Key: "support", Title: "trajectories", Align: report.Right},
		{Key: "occurrences", Title: "times", Align: report.Right},
		{Key: "turns_saved", Title: "turns saved", Align: report.Right},
		{Key: "exact", Title: "exact in replay", Align: report.Right},
	}
	if refused {
		columns = append(columns, report.Column{Key: "left_out", Title: "left out", Max: 40, Wrap: true})
	}
	table := report.NewTable("meta-tools", "", columns...)
	for _, m := range out.MetaTools {
		cells := []report.Cell{report.Name(m.Name), report.Name(strings.Join(stepsInWords(m), " → ")), report.Name(inputsInWords(m)), report.Int(m.Support), report.Int(m.Occurrences), report.Int(m.TurnsSaved), report.Text(m.Replay.words())}
		if refused {
			cells = append(cells, report.Text(leftOutWords(&m)))
		}
		table.Add(cells...)
	}
	table.Note("Saved, in order of extraction: at most %s of %s (%.1f %%). An upper bound: an agent must choose the meta-tool, each step's arguments must be known when it is called, and what it then does may differ from what was recorded.",
		report.Grouped(out.TurnsSaved), cli.CountOf(out.TurnsBefore, "calling turn")+afterRules(in, out), percentOf(out.TurnsSaved, out.TurnsBefore))
	table.Note("Exact in replay: at how many of the places in these traces where it would save a turn it made the recorded calls.")
	d.Add(table)
	choiceSections(d, out)
	if bindings := bindingsTable(out); bindings != nil {
		d.Add(bindings)
	}
	if o.Out != "" {
		d.Add(report.Paragraph("The definitions are in " + o.Out + "; manifest.json says what they were made from."))
	}
	return d
}

// bindingsTable says where the arguments of what is offered come from that are
// no inputs, nil if all are.
func bindingsTable(out JSON) *report.Table {
	table := report.NewTable("bindings", "Where arguments come from",
		report.Column{Key: "name", Max: 42},
		report.Column{Key: "call", Align: report.Right},
		report.Column{Key: "argument", Max: 24},
		report.Column{Key: "from", Max: 60, Wrap: true},
		report.Column{Key: "agrees", Title: "agrees", Align: report.Right},
		report.Column{Key: "times", Title: "times", Align: report.Right},
		report.Column{Key: "extra", Title: "extra calls", Align: report.Right},
	)
	rows := 0
	for _, m := range out.MetaTools {
		if m.Status != statusEmitted {
			continue
		}
		for _, b := range m.Bindings {
			if b.Kind == metatool.BindInput.String() {
				continue
			}
			rows++
			extra := ""
			if b.Kind == metatool.BindElement.String() {
				extra = fmt.Sprintf("%.1f", b.ExtraMean)
			}
			table.Add(report.Name(m.Name), report.Int(b.Step+1), report.Name(b.Argument), report.Text(b.From), report.Int(b.Agree), report.Int(b.Occurrences), report.Text(extra))
		}
	}
	if rows == 0 {
		return nil
	}
	table.Note("All other arguments are inputs. Agrees: in how many occurrences the binding gives what was recorded. Extra calls: what walking a whole list adds to what agents did, on average.")
	return table
}

// stepsInWords names the steps.
func stepsInWords(m metaToolJSON) []string {
	words := slices.Clone(m.Tools)
	for _, b := range m.Bindings {
		if b.Kind == metatool.BindElement.String() && !strings.HasPrefix(words[b.Step], "each ") {
			words[b.Step] = "each " + words[b.Step]
		}
	}
	return words
}

func inputsInWords(m metaToolJSON) string {
	if len(m.Inputs) == 0 {
		return "none"
	}
	return strings.Join(m.Inputs, ", ")
}

// afterRules says why fewer turns are compiled than came in.
func afterRules(in *cli.Intake, out JSON) string {
	if out.TurnsBefore == in.Tally.CallingTurns {
		return ""
	}
	return " that the rules leave"
}

func percentOf(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}
