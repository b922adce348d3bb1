package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/awo-dev/awo/internal/findings"
	"github.com/awo-dev/awo/internal/report"
)

// FindingsShown is how many findings the text tells in sentences.
const FindingsShown = 3

// FindingSentences tells findings in a sentence each, at most so many: those that are
// worth most, and the last of them of another kind if there is one.
func FindingSentences(list []findings.Finding, most int) report.Foremost {
	chosen, kinds := make([]bool, len(list)), map[findings.Code]bool{}
	choose := func(left int, fits func(i int) bool) int {
		for i := 0; i < len(list) && left > 0; i++ {
			if !chosen[i] && fits(i) {
				chosen[i], kinds[list[i].Code] = true, true
				left--
			}
		}
		return left
	}
	left := choose(most-1, func(int) bool { return true })
	left = choose(left+1, func(i int) bool { return !kinds[list[i].Code] })
	choose(left, func(int) bool { return true })
	whole, shown := 0.0, []float64{0} // what all are worth, and so many of those that are told
	out := report.Foremost{Total: len(list)}
	for i := range list {
		usd, _ := list[i].Worth.Value()
		if whole += usd; chosen[i] {
			out.Items = append(out.Items, FindingSentence(&list[i]))
			shown = append(shown, shown[len(shown)-1]+usd)
		}
	}
	out.More = func(n int) string {
		text := CountOf(n, "more finding")
		if rest := whole - shown[len(list)-n]; rest > 1e-9 {
			text += fmt.Sprintf(" (%s USD in total)", Dollars(rest))
		}
		return text + "."
	}
	return out
}

// FindingSentence tells what a finding says to do, and what it rests on.
func FindingSentence(f *findings.Finding) string {
	text := f.Advice
	if f.Line != "" {
		text += fmt.Sprintf(" A line for CLAUDE.md or AGENTS.md: %q", f.Line)
	}
	return text + " (" + findingEvidence(f) + ")"
}

// FindingName says in a few words what a finding is.
func FindingName(f *findings.Finding) string {
	name, worth := findingShort(f), amount(f)
	switch {
	case worth == "":
		return name
	case strings.HasSuffix(name, ")"):
		return strings.TrimSuffix(name, ")") + ", " + worth + ")"
	}
	return name + " (" + worth + ")"
}

// findingShort is FindingName without what it is worth.
func findingShort(f *findings.Finding) string {
	switch f.Code {
	case findings.Loop:
		return fmt.Sprintf("%s is called with the same arguments again and again (%s)", f.Tool, CountOf(f.Count, "time"))
	case findings.Retry:
		return fmt.Sprintf("%s is called again unchanged after it failed (%s)", f.Tool, CountOf(f.Count, "time"))
	case findings.Failures:
		return fmt.Sprintf("%s fails (%s of %s)", f.Tool, report.Grouped(f.Count), CountOf(f.Of, "call"))
	case findings.Batch:
		return fmt.Sprintf("reads that could run in parallel run one at a time (%s)", CountOf(f.Count, "turn"))
	case findings.Tests:
		return fmt.Sprintf("tests of %s run one by one (%s)", f.Tool, CountOf(f.Count, "time"))
	case findings.Fields:
		v, _ := f.Rate.Value()
		return fmt.Sprintf("%.0f %% of what %s returns is in fields that nobody reads", 100*v, f.Tool)
	case findings.NoCache:
		return "prompt caching is off"
	case findings.BrokenCache:
		return "prompt caching is on but reads little"
	}
	return fmt.Sprintf("turns call nothing and answer nobody (%s of %s)", report.Grouped(f.Count), report.Grouped(f.Of))
}

// amount is what a finding is worth.
func amount(f *findings.Finding) string {
	if usd, ok := f.Worth.Value(); ok {
		return fmt.Sprintf("up to %s USD", Dollars(usd))
	}
	if tokens, ok := f.Tokens.Value(); ok {
		return fmt.Sprintf("up to %s tokens", report.Grouped(int(tokens)))
	}
	return ""
}

// findingEvidence is the figures behind a finding.
func findingEvidence(f *findings.Finding) string {
	unit := "calls"
	switch f.Code {
	case findings.Batch:
		unit = "calling turns"
	case findings.Silent, findings.NoCache, findings.BrokenCache:
		unit = "turns"
	case findings.Fields:
		unit = "results"
	}
	out := fmt.Sprintf("%s of %s %s", report.Grouped(f.Count), report.Grouped(f.Of), unit)
	out += "; in " + CountOf(f.Trajectories, "trajectory")
	if n, ok := f.FailedTrajectories.Value(); ok && n > 0 {
		out += fmt.Sprintf(", %s of them failed", report.Grouped(int(n)))
	}
	usd, priced := f.USD.Value()
	tokens, used := f.Tokens.Value()
	worth, estimated := f.Worth.Value()
	switch {
	case f.Code == findings.Fields && priced:
		out += fmt.Sprintf("; these fields are %s tokens of later turns, %s USD", report.Grouped(int(tokens)), Dollars(usd))
	case f.Code == findings.Fields && used:
		out += fmt.Sprintf("; these fields are %s tokens of later turns", report.Grouped(int(tokens)))
	case priced:
		out += fmt.Sprintf("; %s for %s USD", CountOf(f.Turns, "turn"), Dollars(usd))
	case estimated:
		out += fmt.Sprintf("; %s of %s tokens without a price, about %s USD at the mean price of the others", CountOf(f.Turns, "turn"), report.Grouped(int(tokens)), Dollars(worth))
	case used:
		out += fmt.Sprintf("; %s of %s tokens", CountOf(f.Turns, "turn"), report.Grouped(int(tokens)))
	case f.Turns > 0 && f.Turns != f.Count:
		out += "; " + CountOf(f.Turns, "turn")
	}
	return out
}

// FindingsTable shows findings with all that is known of each.
func FindingsTable(list []findings.Finding) *report.Table {
	table := report.TableOf("findings", "", list, []report.Column{
		{Key: "finding", Cell: report.By(func(f *findings.Finding) report.Cell { return report.Text(string(f.Code)) })},
		{Key: "tool", Max: 36, Empty: "(all)"},
		{Key: "count", Title: "times"},
		{Key: "of", Rank: 4},
		{Key: "rate", Title: "share", Unit: "%", Rank: 4, Detail: true},
		{Key: "rate_interval", Title: "95 % interval", Unit: "%", Align: report.Right, Rank: 5, Detail: true},
		{Key: "trajectories"},
		{Key: "failed_trajectories", Title: "failed", Digits: report.Whole, Rank: 4, Detail: true},
		{Key: "turns"},
		{Key: "tokens", Digits: report.Whole},
		{Key: "usd", Title: "cost", Unit: "USD", Digits: 5},
		{Key: "usd_estimated", Title: "ranked by", Unit: "USD", Digits: 5, Rank: 2, Detail: true},
		{Key: "advice", Title: "what to do", Words: true, Wrap: true, Max: 60, Rank: 3, Detail: true},
		{Key: "line", Title: "for CLAUDE.md or AGENTS.md", Words: true, Wrap: true, Max: 60, Rank: 3, Detail: true, Hide: !slices.ContainsFunc(list, func(f findings.Finding) bool { return f.Line != "" })},
	})
	table.Note("Turns, tokens and cost are those of the turns that made nothing but these calls: the most that doing without them would save. A turn with several findings is charged to the first of them, so amounts add up. Ranked by: the cost, or without a price the tokens at the mean price of the others. Intervals are over trajectories.")
	isField := func(f findings.Finding) bool { return f.Code == findings.Fields }
	table.NoteIf(slices.ContainsFunc(list, isField), "Of unread-fields tokens and cost are about what later turns read of the fields.")
	return table
}

// NoFindings is said where there are none.
const NoFindings = "No findings: no loop, retry, failing tool, sequential reads, unused prompt cache, or turn that neither calls nor answers, at least 3 times."

// ShowCommand is what to type to look at a trajectory.
func ShowCommand(file, id string) string { return "awo show " + shellWord(file) + " " + shellWord(id) }

// Section adds the findings for people.
func (f *Findings) Section(d *report.Document, most int) {
	if f == nil {
		return
	}
	list := f.List()
	if len(list) == 0 {
		d.Add(report.Paragraph(NoFindings))
		return
	}
	d.Section("Findings", FindingSentences(list, most))
}

// Table is all findings as a table, nil if there are none.
func (f *Findings) Table() *report.Table { return FindingsTable(f.List()).IfAny() }
