package extraction

import (
	"reflect"

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
func antiTables(out *extraction) []report.Block {
	var failing, costly []metaTool
	for _, m := range out.metaTools {
		switch {
		case m.Anti && m.Cost != nil:
			costly = append(costly, m)
		case m.Anti && m.Failures != nil:
			failing = append(failing, m)
		}
	}
	share := func(of func(*emit.FailuresJSON) *emit.ShareJSON, cell func(*emit.ShareJSON) report.Cell) func(reflect.Value) report.Cell {
		return report.By(func(m *metaTool) report.Cell {
			if s := of(m.Failures); s != nil {
				return cell(s)
			}
			return report.Missing("such calls are made nowhere else")
		})
	}
	part := func(s *emit.ShareJSON) report.Cell { return report.Share(s.Share, 1) }
	bounds := func(s *emit.ShareJSON) report.Cell {
		return report.ShareRange(stat.Interval{Lo: s.Lo, Hi: s.Hi, Level: 0.95, Method: "of Wilson intervals"}, 1)
	}
	observed, expected := func(f *emit.FailuresJSON) *emit.ShareJSON { return f.Observed }, func(f *emit.FailuresJSON) *emit.ShareJSON { return f.Expected }
	fails := report.TableOf("anti_meta_tools_fail", "Anti-meta-tools: they fail more often than their parts", failing, []report.Column{
		{Key: "name", Max: 42},
		{Key: "begun", From: "failures.begun"},
		{Key: "failed", From: "failures.failed"},
		{Key: "given_up", From: "failures.given_up", Title: "given up"},
		{Key: "observed", Title: "fails", Unit: "%", Align: report.Right, Cell: share(observed, part)},
		{Key: "observed", Title: "95 %", Interval: true, Cell: share(observed, bounds)},
		{Key: "expected", Title: "its parts apart", Unit: "%", Align: report.Right, Cell: share(expected, part)},
		{Key: "expected", Title: "95 %", Interval: true, Cell: share(expected, bounds)},
	})
	digits := 0
	if out.Choice.Unit == "usd" {
		digits = 4
	}
	costs := report.TableOf("anti_meta_tools_cost", "Anti-meta-tools: they cost more than they save", costly, []report.Column{
		{Key: "name", Max: 42},
		{Key: "times", From: "replay.inputs_known"},
		{Key: "saves", From: "cost.saves", Unit: out.Choice.Unit, Digits: digits},
		{Key: "costs", From: "cost.costs", Unit: out.Choice.Unit, Digits: digits},
	})
	fails.Note("Begun: the second call followed on the first, which had not failed. Failed: a call after the first did; given up: the rest was not made then. Fails: the share in which a call fails, step by step; its parts apart: what it would be if calls failed as they do outside this chain. Rejected, because the difference is above zero at 99.9 %%: many chains are compared.")
	costs.Note("Times: places where it would save a turn. Saves: what it would save there beside what is offered, an upper bound; costs: its definition, read on each of %s.", cli.CountOf(out.Choice.ModelTurns, "model turn"))
	return []report.Block{fails.View().IfAny(), costs.View().IfAny()}
}

// leftOutCell says in a table why a meta-tool is left out.
func leftOutCell(m *metaTool) report.Cell {
	if h := m.Holdout; h != nil && m.Reason == backtest.ReasonDisagrees && h.Places > 0 && h.Exact < h.Places {
		return report.Textf("%s (held out: %s)", m.Reason, replayWords(*h))
	}
	if m.Reason == backtest.ReasonVerdict {
		return report.Text("none is recommended")
	}
	return report.Text(m.Reason)
}
