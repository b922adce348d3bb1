package rulefile

import (
	"fmt"
	"strings"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/merge/evidence"
)

func evidenceDocument(in *cli.Intake, out *verification) *report.Document {
	d := &report.Document{Title: "Evidence for and against rules", Answer: evidenceAnswer(out), Figures: out.verifyFigures}
	d.Add(in.Brief())
	table := report.TableOf("rules", "", out.verdicts, []report.Column{
		{Key: "rule", From: "id", Max: 32, Empty: "(several together)"},
		{Key: "kind", Words: true},
		{Key: "states", Title: "joins states"},
		{Key: "tested", From: "tested_share", Title: "tested", Unit: "%", Digits: report.Whole},
		{Key: "checks"},
		{Key: "contradictions"},
		{Key: "contradicted_share", Title: "failed checks", Unit: "%"},
		{Key: "verdict", Words: true},
	})
	c := out.Checks
	table.Note("Checked: reads from one state after different histories (%s), reads made twice in a row (%s), reads before and after what changes nothing (%s). A check counts for every rule without which the two histories would be two states, a contradiction against the one that explains most.",
		report.Grouped(c.Histories.Checks), report.Grouped(c.Repeated.Checks), report.Grouped(c.Unchanged.Checks))
	table.Note("After identical histories %s of %s differ, which is no rule's fault; %s of calls that do so are not counted. Intervals (Wilson) assume independence and are too narrow, because checks of one task depend on each other.",
		report.Grouped(c.Baseline.Contradictions), cli.CountOf(c.Baseline.Checks, "read"), cli.CountOf(c.Unstable, "check"))
	table.NoteIf(out.LeftOut.Reads > 0, "%s were not compared: too many different ones.", cli.CountOf(out.LeftOut.Reads, "read"))
	d.Add(table)
	d.Details()
	d.Section("What was read", in.Summary())
	d.Section("Counter-examples", counterExamples(out), report.TableOf("counter_examples", "", out.examples, nil).Hidden())
	d.Section("The next call", nextCallTable(out))
	return d
}

// evidenceAnswer says how many rules the traces contradict.
func evidenceAnswer(out *verification) string {
	contradicted, untested := 0, 0
	for _, v := range out.verdicts[:out.single] {
		switch v.Verdict {
		case "contradicted":
			contradicted++
		case "untested":
			untested++
		}
	}
	rest := ""
	if untested > 0 {
		rest = fmt.Sprintf(", and about %d nothing can be said", untested)
	}
	if contradicted == 0 {
		return fmt.Sprintf("These traces contradict none of %s%s.", cli.CountOf(out.single, "rule"), rest)
	}
	return fmt.Sprintf("These traces contradict %d of %s%s.", contradicted, cli.CountOf(out.single, "rule"), rest)
}

func nextCallTable(out *verification) *report.Table {
	table := report.TableOf("next_call", "", out.next, []report.Column{
		{Key: "rules", Words: true},
		{Key: "states"},
		{Key: "bits", Title: "held-out bits a call", Digits: 3},
	})
	table.Note("What the tool of the next call costs to predict from the state, on tasks that the model has not seen, whatever rules call the tools: too many states are new in every task, too few go on in different ways.")
	return table
}

// counterExamples writes the first contradictions of every rule as sentences.
func counterExamples(out *verification) report.List {
	return cli.Map(out.examples, func(x *counterExample) string { return x.Rule + ": " + x.text() })
}

func (x *counterExample) text() string {
	head := fmt.Sprintf("%s returned something else (%s) in call %d of %s than in call %d of %s", x.Read, strings.Join(x.Results, ", "), x.Second.Call, x.Second.Trajectory, x.First.Call, x.First.Trajectory)
	if x.Check != evidence.CheckHistories.String() {
		if len(x.Second.Calls) == 0 {
			return head + ", with nothing between."
		}
		return head + "; between them: " + shortList(x.Second.Calls) + "."
	}
	if len(x.Second.Order) > 0 {
		head += "; in this order: " + shortList(x.Second.Order) + "; in that: " + shortList(x.First.Order)
	}
	return head + "; only before the one: " + shortList(x.Second.Calls) + "; only before the other: " + shortList(x.First.Calls) + "."
}

// shortList joins the first few of a list.
func shortList(list []string) string {
	const most = 5
	if len(list) == 0 {
		return "nothing"
	}
	if more := len(list) - most; more > 0 {
		return fmt.Sprintf("%s, and %d more", strings.Join(list[:most], ", "), more)
	}
	return strings.Join(list, ", ")
}
