package cli

import (
	"fmt"
	"strings"

	"github.com/awo-dev/awo/findings"
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
	out := report.Foremost{Total: len(list), More: func(n int) string { return CountOf(n, "finding") + " more, worth less." }}
	for i := range list {
		if chosen[i] {
			out.Items = append(out.Items, FindingSentence(&list[i]))
		}
	}
	return out
}

// FindingSentence tells what a finding says to do, and what it rests on.
func FindingSentence(f *findings.Finding) string {
	said := f.Advice
	switch f.Code {
	case findings.Silent:
	case findings.Batch:
		said = "The agent " + said
	default:
		said = f.Tool + " " + said
		if f.Code == findings.Loop {
			said = "The agent " + strings.Replace(f.Advice, "asks the same again", "asks "+f.Tool+" the same again", 1)
		}
	}
	return said + " (" + findingEvidence(f) + ")."
}

// FindingName says in a few words what a finding is.
func FindingName(f *findings.Finding) string {
	switch f.Code {
	case findings.Loop:
		return fmt.Sprintf("%s is called with the same arguments again and again (%s)", f.Tool, CountOf(f.Count, "time"))
	case findings.Retry:
		return fmt.Sprintf("%s is called again unchanged after it failed (%s)", f.Tool, CountOf(f.Count, "time"))
	case findings.Failures:
		return fmt.Sprintf("%s fails (%s of %s)", f.Tool, report.Grouped(f.Count), CountOf(f.Of, "call"))
	case findings.Batch:
		return fmt.Sprintf("reads are made one by one that could be made at once (at most %s)", CountOf(f.Count, "turn"))
	}
	return fmt.Sprintf("turns call nothing (%s of %s)", report.Grouped(f.Count), report.Grouped(f.Of))
}

// findingEvidence is the figures behind a finding.
func findingEvidence(f *findings.Finding) string {
	unit := "calls"
	switch f.Code {
	case findings.Batch:
		unit = "calling turns"
	case findings.Silent:
		unit = "turns"
	}
	out := fmt.Sprintf("%s of %s %s", report.Grouped(f.Count), report.Grouped(f.Of), unit)
	out += "; in " + CountOf(f.Trajectories, "trajectory")
	if n, ok := f.FailedTrajectories.Value(); ok && n > 0 {
		out += fmt.Sprintf(", %s of them failed", report.Grouped(int(n)))
	}
	usd, priced := f.Money.Value()
	tokens, used := f.Tokens.Value()
	switch {
	case priced:
		out += fmt.Sprintf("; %s for %s USD", CountOf(f.Turns, "turn"), Dollars(usd))
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
		{Key: "code", Title: "finding", Cell: report.By(func(f *findings.Finding) report.Cell { return report.Text(string(f.Code)) })},
		{Key: "tool", Max: 36, Empty: "(all)"},
		{Key: "count", Title: "times"},
		{Key: "of"},
		{Key: "rate", Title: "share", Unit: "%"},
		{Key: "rate_interval", Title: "95 % interval", Unit: "%", Align: report.Right},
		{Key: "trajectories"},
		{Key: "failed_trajectories", Title: "failed", Digits: report.Whole},
		{Key: "turns"},
		{Key: "tokens", Digits: report.Whole},
		{Key: "money", Title: "cost", Unit: "USD", Digits: 4},
		{Key: "advice", Title: "what to do", Words: true, Max: 60, Wrap: true},
	})
	table.Note("Turns, tokens and cost are those of the turns that made nothing but these calls: the most that doing without them would save. Findings overlap, so they do not add up. Intervals are over trajectories.")
	return table
}

// Section adds the findings for people.
func (f *Findings) Section(d *report.Document, most int) {
	if f == nil {
		return
	}
	list := f.List()
	if len(list) == 0 {
		d.Section("Findings", report.Paragraph("None: no loop, retry, failing tool, reads one by one that need not wait, or turn that neither calls nor answers, at least 3 times."))
		return
	}
	d.Section("Findings", FindingSentences(list, most))
}

// Table is all findings as a table, nil if there are none.
func (f *Findings) Table() *report.Table { return FindingsTable(f.List()).IfAny() }
