package extraction

import (
	"fmt"

	"github.com/awo-dev/awo/backtest"
	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/emit"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/stat"
)

// antiCostJSON is what an anti-meta-tool would save beside what is offered, and what
// its definition costs.
type antiCostJSON struct {
	Saves float64 `json:"saves"`
	Costs float64 `json:"costs"`
	Unit  string  `json:"unit"` // usd or tokens
}

// failuresJSON returns nil for what was never begun.
func failuresJSON(f *backtest.Failures) *emit.FailuresJSON {
	if f.Begun == 0 {
		return nil
	}
	out := &emit.FailuresJSON{Begun: f.Begun, Failed: f.Failed, Ended: f.Ended}
	if f.Compared > 0 {
		out.Observed = &emit.ShareJSON{Share: f.Observed.Share, Lo: f.Observed.Lo, Hi: f.Observed.Hi}
		out.Expected = &emit.ShareJSON{Share: f.Expected.Share, Lo: f.Expected.Lo, Hi: f.Expected.Hi}
	}
	return out
}

// antiTables list the anti-meta-tools: what fails more often than its parts, and
// what costs more than it saves.
func antiTables(out JSON) []report.Block {
	fails := report.NewTable("anti-meta-tools-fail", "Anti-meta-tools: they fail more often than their parts",
		report.Column{Key: "name", Max: 42},
		report.Column{Key: "begun", Align: report.Right},
		report.Column{Key: "failed", Align: report.Right},
		report.Column{Key: "given_up", Title: "given up", Align: report.Right},
		report.Column{Key: "observed", Title: "fails", Unit: "%", Align: report.Right},
		report.Column{Key: "observed", Title: "95 %", Interval: true},
		report.Column{Key: "expected", Title: "its parts apart", Unit: "%", Align: report.Right},
		report.Column{Key: "expected", Title: "95 %", Interval: true},
	)
	costs := report.NewTable("anti-meta-tools-cost", "Anti-meta-tools: they cost more than they save",
		report.Column{Key: "name", Max: 42},
		report.Column{Key: "times", Align: report.Right},
		report.Column{Key: "saves", Unit: out.Choice.Unit, Align: report.Right},
		report.Column{Key: "costs", Unit: out.Choice.Unit, Align: report.Right},
	)
	for _, m := range out.MetaTools {
		switch f, c := m.Failures, m.Cost; {
		case m.Anti && c != nil:
			digits := 0
			if c.Unit == "usd" {
				digits = 4
			}
			costs.Add(report.Name(m.Name), report.Int(m.Replay.Known), report.Float(c.Saves, digits), report.Float(c.Costs, digits))
		case m.Anti && f != nil:
			observed, observedRange := shareCells(f.Observed)
			expected, expectedRange := shareCells(f.Expected)
			fails.Add(report.Name(m.Name), report.Int(f.Begun), report.Int(f.Failed), report.Int(f.Ended), observed, observedRange, expected, expectedRange)
		}
	}
	var tables []report.Block
	if len(fails.Rows) > 0 {
		fails.Note("Begun: the second call followed on the first, which had not failed. Failed: a call after the first did; given up: the rest was not made then. Fails: the share in which a call fails, step by step; its parts apart: what it would be if calls failed as they do outside this chain. Left out, since the difference is above zero at 99.9 %%: many chains are looked at.")
		tables = append(tables, fails)
	}
	if len(costs.Rows) > 0 {
		costs.Note("Times: places where it would save a turn. Saves: what it would save there beside what is offered, an upper bound; costs: its definition, read on each of %s.", cli.CountOf(out.Choice.ModelTurns, "model turn"))
		tables = append(tables, costs)
	}
	return tables
}

func shareCells(s *emit.ShareJSON) (share, interval report.Cell) {
	if s == nil {
		const reason = "such calls are made nowhere else"
		return report.Missing(reason), report.Missing(reason)
	}
	return report.Share(s.Share, 1), report.ShareRange(stat.Interval{Lo: s.Lo, Hi: s.Hi, Level: 0.95, Method: "of Wilson intervals"}, 1)
}

// leftOutWords says in a table why a meta-tool is left out.
func leftOutWords(m *metaToolJSON) string {
	if h := m.Holdout; h != nil && m.Reason == backtest.ReasonDisagrees && h.Places > 0 && h.Exact < h.Places {
		return fmt.Sprintf("%s (held out: %s)", m.Reason, h.words())
	}
	return m.Reason
}
