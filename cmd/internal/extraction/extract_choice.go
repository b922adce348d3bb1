package extraction

import (
	"fmt"
	"slices"

	"github.com/awo-dev/awo/backtest"
	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/emit"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/metatool/bind"
	"github.com/awo-dev/awo/metatool/compile"
)

// choiceFigures say which meta-tools are offered.
type choiceFigures struct {
	Select       string      `json:"select"`
	Unit         string      `json:"unit"` // of net: turns, tokens or usd
	ModelTurns   int         `json:"model_turns"`
	CallingTurns int         `json:"calling_turns"`
	TokenPrice   float64     `json:"definition_token_price"` // of one token of definitions over all turns, in the unit
	HeldOut      int         `json:"held_out_trajectories,omitempty"`
	SavedUSD     stat.Figure `json:"saved_usd"`       // by the turns removed
	DefinedUSD   stat.Figure `json:"definitions_usd"` // paid for definitions on every turn
	Lazy         string      `json:"lazy,omitempty"`  // what lazy registration would change
}

// gain is a meta-tool and what it adds to those before it.
type gain struct {
	Name             string      `json:"name"`
	DefinitionTokens int64       `json:"definition_tokens"`
	TurnsAdded       int         `json:"turns_added"`
	TurnsSaved       int         `json:"turns_saved"` // by all so far
	NetAdded         float64     `json:"net_added"`   // in the unit, its definition paid
	Net              float64     `json:"net"`
	BreakEven        stat.Figure `json:"break_even_tokens"` // a definition of so many tokens would cost what it saves
}

// replayWords says at how many places a meta-tool was exact.
func replayWords(a backtest.Agreement) string {
	if a.Places == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d", a.Exact, a.Places)
}

// choose says what became of a meta-tool.
func (m *metaTool) choose(t *bind.Definition, c *extractCompilation) {
	m.use(backtest.Use{})
	if len(t.Refusals) > 0 {
		m.Status, m.Reason = statusLeftOut, refusalText(t)
		return
	}
	if a, held := c.holdout[t]; held {
		m.Holdout = &a
	}
	for i := range c.choice.Chosen {
		if g := &c.choice.Chosen[i]; g.Definition == t {
			m.Replay, m.DefinitionTokens, m.Failures, m.TurnsSaved = g.Replay, g.Tokens, failuresJSON(&g.Failures), g.TurnsAdded
			m.use(g.Use)
		}
	}
	for i := range c.choice.Left {
		if l := &c.choice.Left[i]; l.Definition == t {
			m.Status, m.Reason = statusLeftOut, l.Words()
			m.Replay, m.DefinitionTokens, m.Failures, m.Anti = l.Replay, l.Tokens, failuresJSON(&l.Failures), l.IsAnti()
			m.use(l.Use)
			if l.Reason == backtest.ReasonCosts {
				m.Cost = &antiCostJSON{l.Saves, l.Costs, c.choice.Unit}
			}
		}
	}
}

// use says how often the rest follows a first call.
func (m *metaTool) use(u backtest.Use) {
	const none = "it could not have been used"
	m.Moments, m.Precision, m.PrecisionInterval = u.Moments, stat.Ratio(u.Followed, u.Moments, none), stat.NoInterval(none)
	if u.Moments > 0 {
		m.PrecisionInterval = u.Precision().Interval
	}
}

// chosen says which meta-tools are offered, and what each adds.
func (c *extractCompilation) chosen(out *extraction) {
	x := c.choice
	f := choiceFigures{
		Select: string(x.Options.Select), Unit: x.Unit, ModelTurns: x.Turns, CallingTurns: x.CallingTurns, TokenPrice: x.TokenPrice,
		HeldOut: c.heldOut,
	}
	const unpriced = "too few turns record usage and have a price"
	f.SavedUSD, f.DefinedUSD = stat.Unknown(unpriced), stat.Unknown(unpriced)
	if x.Money != nil {
		f.SavedUSD, f.DefinedUSD = stat.Known(x.Money.Saved), stat.Known(x.Money.Definitions)
	}
	out.curve = cli.Map(x.Chosen, func(g *backtest.Gain) gain {
		return gain{g.Definition.Name, g.Tokens, g.TurnsAdded, g.Turns, g.NetAdded, g.Net, stat.Finite(g.BreakEven, "tokens of definitions cost nothing in this unit")}
	})
	if slices.ContainsFunc(x.Left, func(l backtest.Left) bool { return l.Reason == backtest.ReasonCosts }) {
		f.Lazy = "Definitions that are registered when they are needed are not paid on every turn: what costs more than it saves here may then pay. See --select turns, and awo cost --lazy."
	}
	out.Choice = f
}

// choiceSections add what was chosen and what was assumed.
func choiceSections(d *report.Document, out *extraction) {
	c := &out.Choice
	if len(out.curve) == 0 && len(out.metaTools) > 0 {
		d.Add(report.Paragraph(nothingChosen(out)))
	}
	d.Add(curveTable(out))
	d.Add(report.Paragraph(c.Lazy))
	table := report.TableOf("assumptions", "Tools assumed to only read", out.assumptions, []report.Column{
		{Key: "tool", Max: 42},
		{Key: "why", Title: "because of", Cell: report.By(func(a *compile.Assumption) report.Cell {
			if a.Why == "annotation" {
				return report.Text("its definition")
			}
			return report.Text("its name")
		})},
		{Key: "checks", Title: "repeated"},
		{Key: "changed", Title: "changed"},
	})
	table.Note("An assumption, because no rule says what they do. Extra reads change nothing. Repeated: calls made again with only such tools between; changed: of them, that returned something else. Rules with effects settle it; with --assume-reads=false names do not count.")
	d.Add(table.IfAny())
}

// nothingChosen says why nothing is offered.
func nothingChosen(out *extraction) string {
	c := &out.Choice
	costs := 0
	for _, m := range out.metaTools {
		if m.Reason == backtest.ReasonCosts {
			costs++
		}
	}
	if costs == 0 {
		return "Nothing is offered: the table says why of each."
	}
	return fmt.Sprintf("Nothing is offered: %s would save turns, but each of %s reads the definition, and that costs more than the turns removed. --select turns offers them anyway.",
		cli.CountOf(costs, "meta-tool"), cli.CountOf(c.ModelTurns, "model turn"))
}

// moneyWords says what the definitions cost that nobody weighed.
func moneyWords(c *choiceFigures) string {
	saved, ok := c.SavedUSD.Value()
	paid, _ := c.DefinedUSD.Value()
	switch {
	case !ok:
		return fmt.Sprintf("What their definitions cost when each of %s reads them is not known: too few turns record usage and have a price.", cli.CountOf(c.ModelTurns, "model turn"))
	case saved < paid:
		return fmt.Sprintf("By money the turns removed save %s USD, and the definitions cost %s USD when each of %s reads them: register them lazily, or take fewer with --select net.", cli.Dollars(saved), cli.Dollars(paid), cli.CountOf(c.ModelTurns, "model turn"))
	}
	return fmt.Sprintf("By money the turns removed save %s USD, and the definitions cost %s USD when each of %s reads them.", cli.Dollars(saved), cli.Dollars(paid), cli.CountOf(c.ModelTurns, "model turn"))
}

func curveTable(out *extraction) *report.Table {
	c := &out.Choice
	priced, digits := c.Unit != "turns", 0
	if c.Unit == "usd" {
		digits = 4
	}
	table := report.TableOf("choice", "What is offered, best first", out.curve, []report.Column{
		{Key: "name", Max: 42},
		{Key: "definition_tokens", Title: "definition tokens"},
		{Key: "turns_added", Title: "turns it adds"},
		{Key: "turns_saved", Title: "turns so far"},
		{Key: "net_added", Title: "net it adds", Unit: c.Unit, Digits: digits, Hide: !priced},
		{Key: "net", Title: "net so far", Unit: c.Unit, Digits: digits, Hide: !priced},
		{Key: "break_even_tokens", Title: "pays up to tokens", Hide: !priced},
	})
	switch {
	case priced:
		table.Note("Net: what the removed turns save less what the definition costs on each of %s. A definition longer than it pays up to would cost more than it saves.", cli.CountOf(c.ModelTurns, "model turn"))
	case c.Select != string(backtest.SelectNet):
		table.Note("%s", moneyWords(c))
	default:
		table.Note("Counted in turns: these traces record no token usage for most turns, so what definitions cost on %s is not known.", cli.CountOf(c.ModelTurns, "model turn"))
	}
	table.Note("In these traces, together: %s of %s. An upper bound, and in sample: awo backtest says what is saved on tasks that were not compiled from.", report.Grouped(out.Emitted.TurnsSaved), cli.CountOf(c.CallingTurns, "calling turn"))
	return table.IfAny()
}

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
