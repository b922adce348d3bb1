package analysis

import (
	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/cmd/internal/worth"
	"github.com/awo-dev/awo/internal/report"
)

// The section that shows what `awo cost` finds.

var sectionCost = reportSection{
	heading: "What it costs",
	about: "Each turn of a model reads all that was said before and is paid by the token, so that one turn less saves its own tokens and all later reading of them. " +
		"The tables say which models, tools, days and habits that goes to; the money is tokens times list prices, and not what anybody was billed.",
	blocks: func(r *reportInput) []report.Block {
		if r.cost == nil {
			return nil
		}
		return r.cost.blocks()
	},
}

// spending is what traces cost, for a report.
type spending struct {
	found *worth.CostFindings
	out   worth.Costs
}

// Rows that tables of the section show: a page is read, JSON holds them all.
const (
	costRows   = 12
	costHabits = 10
)

func (s *spending) blocks() []report.Block {
	blocks := []report.Block{s.found.Total(s.out)}
	add := func(title string, rows int, t *report.Table) {
		t.Title = title
		if len(t.Rows) > rows {
			t.Note("The first %d of %s.", rows, cli.CountOf(len(t.Rows), "row"))
			t.Rows = t.Rows[:rows]
		}
		blocks = append(blocks, t)
	}
	if s.out.Turns > 0 {
		add("By model", costRows, worth.CostTable("models", "model", s.out.Models))
		add("By tool", costRows, worth.CostToolTable(s.out))
		if len(s.out.Habits) > 0 {
			add("The most expensive habits", costHabits, worth.ExpensiveHabits(s.out))
		}
		if len(s.out.Days) > 1 {
			add("By day", worth.LinesShown, worth.CostTable("days", "day", s.out.Days))
		}
	}
	if len(s.out.Unknown) > 0 {
		blocks = append(blocks, report.Paragraph("What cannot be known:"), report.List(s.out.Unknown))
	}
	return blocks
}
