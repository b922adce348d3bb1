package extraction

import (
	"fmt"
	"math"
	"slices"

	"github.com/awo-dev/awo/backtest"
	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/metatool"
)

// choiceJSON says which meta-tools are offered, and what each adds.
type choiceJSON struct {
	Select       string          `json:"select"`
	Unit         string          `json:"unit"` // of net: turns, tokens or usd
	ModelTurns   int             `json:"model_turns"`
	CallingTurns int             `json:"calling_turns"`
	TokenPrice   float64         `json:"definition_token_price"` // of one token of definitions over all turns, in the unit
	Curve        []gainJSON      `json:"curve"`
	Thresholds   []thresholdJSON `json:"thresholds,omitempty"` // tried for --threshold auto
	HeldOut      int             `json:"held_out_trajectories,omitempty"`
	SavedUSD     stat.Figure     `json:"saved_usd"`       // by the turns removed
	DefinedUSD   stat.Figure     `json:"definitions_usd"` // paid for definitions on every turn
	Lazy         string          `json:"lazy,omitempty"`  // what lazy registration would change
}

// gainJSON is a meta-tool and what it adds to those before it.
type gainJSON struct {
	Name             string      `json:"name"`
	DefinitionTokens int64       `json:"definition_tokens"`
	TurnsAdded       int         `json:"turns_added"`
	TurnsSaved       int         `json:"turns_saved"` // by all so far
	NetAdded         float64     `json:"net_added"`   // in the unit, its definition paid
	Net              float64     `json:"net"`
	BreakEven        stat.Figure `json:"break_even_tokens"` // a definition of so many tokens would cost what it saves
}

type thresholdJSON struct {
	Threshold  int `json:"threshold"`
	TurnsSaved int `json:"calling_turns_saved"` // held out
	Turns      int `json:"calling_turns"`
}

type choiceReplayJSON struct {
	Places int `json:"places"` // where it would save a turn; they overlap
	Exact  int `json:"exact"`
	Known  int `json:"inputs_known"` // of the exact ones
	Failed int `json:"failed"`       // places with a call that failed
	Ended  int `json:"ended"`        // that ended with a call that had failed there too: no disagreement
}

func (r choiceReplayJSON) words() string {
	if r.Places == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d", r.Exact, r.Places)
}

func replayOf(a backtest.Agreement) choiceReplayJSON {
	return choiceReplayJSON{a.Places, a.Exact, a.Saves, a.Failed, a.Ended}
}

// assumptionJSON is a tool that is taken to read only.
type assumptionJSON struct {
	Tool    string `json:"tool"`
	Why     string `json:"why"`     // annotation or name
	Checks  int    `json:"checks"`  // calls made again with only such tools between
	Changed int    `json:"changed"` // of them, that returned something else
}

// choose says what became of a meta-tool.
func (m *metaToolJSON) choose(t *metatool.Definition, c *extractCompilation) {
	if len(t.Refusals) > 0 {
		m.Status, m.Reason = statusLeftOut, refusalText(t)
		return
	}
	if a, held := c.holdout[t]; held {
		r := replayOf(a)
		m.Holdout = &r
	}
	for i := range c.choice.Chosen {
		if g := &c.choice.Chosen[i]; g.Definition == t {
			m.Replay, m.DefinitionTokens, m.Failures = replayOf(g.Replay), g.Tokens, failuresJSON(&g.Failures)
		}
	}
	for i := range c.choice.Left {
		if l := &c.choice.Left[i]; l.Definition == t {
			m.Status, m.Reason = statusLeftOut, l.Words()
			m.Replay, m.DefinitionTokens, m.Failures, m.Anti = replayOf(l.Replay), l.Tokens, failuresJSON(&l.Failures), l.IsAnti()
			if l.Reason == backtest.ReasonCosts {
				m.Cost = &antiCostJSON{l.Saves, l.Costs, c.choice.Unit}
			}
		}
	}
}

func (c *extractCompilation) choiceJSON() choiceJSON {
	x := c.choice
	out := choiceJSON{
		Select: string(x.Options.Select), Unit: x.Unit, ModelTurns: x.Turns, CallingTurns: x.CallingTurns, TokenPrice: x.TokenPrice,
		Curve: []gainJSON{}, HeldOut: c.heldOut,
	}
	const unpriced = "too few turns record usage and have a price"
	out.SavedUSD, out.DefinedUSD = stat.Unknown(unpriced), stat.Unknown(unpriced)
	if x.Money != nil {
		out.SavedUSD, out.DefinedUSD = stat.Known(x.Money.Saved), stat.Known(x.Money.Definitions)
	}
	for _, g := range x.Chosen {
		even := stat.Unknown("tokens of definitions cost nothing in this unit")
		if !math.IsInf(g.BreakEven, 0) {
			even = stat.Known(g.BreakEven)
		}
		out.Curve = append(out.Curve, gainJSON{g.Definition.Name, g.Tokens, g.TurnsAdded, g.Turns, g.NetAdded, g.Net, even})
	}
	if c.tried != nil {
		for _, t := range c.tried.Values {
			out.Thresholds = append(out.Thresholds, thresholdJSON{t.Value, t.CallingTurnsSaved, t.CallingTurns})
		}
	}
	if slices.ContainsFunc(x.Left, func(l backtest.Left) bool { return l.Reason == backtest.ReasonCosts }) {
		out.Lazy = "Definitions that are registered when they are needed are not paid on every turn: what costs more than it saves here may then pay. See awo cost --lazy and --select turns."
	}
	return out
}

func (c *extractCompilation) assumptionsJSON() []assumptionJSON {
	out := []assumptionJSON{}
	for _, a := range c.Assumptions {
		out = append(out, assumptionJSON{a.Tool, a.Why, a.Checks, a.Changed})
	}
	return out
}

// choiceSections add what was chosen and what was assumed.
func choiceSections(d *report.Document, out JSON) {
	c := &out.Choice
	if len(c.Curve) == 0 {
		d.Add(report.Paragraph(nothingChosen(out)))
	} else {
		d.Add(curveTable(out))
	}
	d.Add(antiTables(out)...)
	if c.Lazy != "" {
		d.Add(report.Paragraph(c.Lazy))
	}
	if len(c.Thresholds) > 0 {
		table := report.NewTable("thresholds", "Thresholds tried on tasks held out",
			report.Column{Key: "threshold", Align: report.Right}, report.Column{Key: "calling_turns_saved", Title: "turns saved", Align: report.Right}, report.Column{Key: "calling_turns", Title: "of", Align: report.Right})
		for _, t := range c.Thresholds {
			table.Add(report.Int(t.Threshold), report.Int(t.TurnsSaved), report.Int(t.Turns))
		}
		table.Note("Taken: %d.", out.Threshold)
		d.Add(table)
	}
	if len(out.Assumptions) == 0 {
		return
	}
	table := report.NewTable("assumptions", "Tools taken to read only",
		report.Column{Key: "tool", Max: 42}, report.Column{Key: "why", Title: "says so"}, report.Column{Key: "checks", Title: "repeated", Align: report.Right}, report.Column{Key: "changed", Title: "changed", Align: report.Right})
	for _, a := range out.Assumptions {
		why := "its name"
		if a.Why == "annotation" {
			why = "its definition"
		}
		table.Add(report.Name(a.Tool), report.Text(why), report.Int(a.Checks), report.Int(a.Changed))
	}
	table.Note("An assumption, since no rule says what they do: reads that nobody made do no harm. Repeated: calls made again with only such tools between; changed: of them, that returned something else. Rules with effects settle it, --assume-reads=false takes only those.")
	d.Add(table)
}

// nothingChosen says why nothing is offered.
func nothingChosen(out JSON) string {
	c := &out.Choice
	costs := 0
	for _, m := range out.MetaTools {
		if m.Reason == backtest.ReasonCosts {
			costs++
		}
	}
	if costs == 0 {
		return "Nothing is offered: the table says why of each."
	}
	return fmt.Sprintf("Nothing is offered, and rightly so by the arithmetic: %s would save turns, but a definition is read on each of %s, and that costs more than the turns removed. --select turns offers them all the same.",
		cli.CountOf(costs, "meta-tool"), cli.CountOf(c.ModelTurns, "model turn"))
}

// moneyWords says what the definitions cost that nobody weighed.
func moneyWords(c *choiceJSON) string {
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

func curveTable(out JSON) *report.Table {
	c := &out.Choice
	columns := []report.Column{
		{Key: "name", Max: 42},
		{Key: "definition_tokens", Title: "definition tokens", Align: report.Right},
		{Key: "turns_added", Title: "turns it adds", Align: report.Right},
		{Key: "turns_saved", Title: "turns so far", Align: report.Right},
	}
	priced := c.Unit != "turns"
	if priced {
		columns = append(columns, report.Column{Key: "net_added", Title: "net it adds", Unit: c.Unit, Align: report.Right},
			report.Column{Key: "net", Title: "net so far", Unit: c.Unit, Align: report.Right},
			report.Column{Key: "break_even_tokens", Title: "pays up to tokens", Align: report.Right})
	}
	table := report.NewTable("choice", "What is offered, best first", columns...)
	digits := 0
	if c.Unit == "usd" {
		digits = 4
	}
	for _, g := range c.Curve {
		cells := []report.Cell{report.Name(g.Name), report.Int64(g.DefinitionTokens), report.Int(g.TurnsAdded), report.Int(g.TurnsSaved)}
		if priced {
			cells = append(cells, report.Float(g.NetAdded, digits), report.Float(g.Net, digits), report.FloatOf(g.BreakEven, 0))
		}
		table.Add(cells...)
	}
	switch {
	case priced:
		table.Note("Net: what the removed turns save less what the definition costs on each of %s. A definition longer than it pays up to would cost more than it saves.", cli.CountOf(c.ModelTurns, "model turn"))
	case c.Select != string(backtest.SelectNet):
		table.Note("%s", moneyWords(c))
	default:
		table.Note("Counted in turns: these traces record no token usage for most turns, so what definitions cost on %s is not known.", cli.CountOf(c.ModelTurns, "model turn"))
	}
	table.Note("In these traces, together: %s of %s. An upper bound, and in sample: awo backtest says what is saved on tasks that were not compiled from.", report.Grouped(out.Emitted.TurnsSaved), cli.CountOf(c.CallingTurns, "calling turn"))
	return table
}
