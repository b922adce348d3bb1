package extraction

import (
	"github.com/awo-dev/awo/backtest"
	"github.com/awo-dev/awo/internal/emit"
	"github.com/awo-dev/awo/internal/report"
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
