package worth

import (
	"time"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/internal/stat"
)

// CostJSON is the JSON of `awo cost`; docs/cost.md describes it.
type CostJSON struct {
	Schema   string           `json:"schema"`
	Input    cli.InputJSON    `json:"input"`
	Currency string           `json:"currency"`
	Caching  string           `json:"caching"`
	Total    CostLineJSON     `json:"total"`
	Prices   []costPriceJSON  `json:"prices"` // of the models that were met
	Fit      []cost.Factors   `json:"fit"`
	Unscaled int              `json:"unscaled_turns"`         // counted, with nothing to scale them by
	Silent   int              `json:"silent_turns,omitempty"` // without usage, and in no figure: of summaries
	Models   []CostLineJSON   `json:"models"`
	Agents   []CostLineJSON   `json:"agents"`
	By       string           `json:"by,omitempty"`     // what Groups are
	Groups   []CostLineJSON   `json:"groups,omitempty"` // with --by
	Outcomes []CostLineJSON   `json:"outcomes"`
	Days     []CostLineJSON   `json:"days"`
	Tools    []cost.ToolLine  `json:"tools"`
	Habits   []cost.HabitLine `json:"habits"`
	Dearest  []CostLineJSON   `json:"dearest"`
	Unknown  []string         `json:"unknown"` // what the traces do not say, in sentences
	Lazy     *cost.LazyReport `json:"lazy"`
}

// CostLineJSON is what some of the turns cost.
type CostLineJSON struct {
	Name          string      `json:"name"` // empty: not recorded
	Trajectories  int         `json:"trajectories"`
	Turns         int         `json:"turns"`
	Estimated     int         `json:"estimated_turns"`
	Unpriced      int         `json:"unpriced_turns"` // in the tokens, not in cost_usd
	Calls         int         `json:"calls"`
	Input         int64       `json:"input_tokens"` // cached and written ones included
	Cached        int64       `json:"cached_input_tokens"`
	Write         int64       `json:"cache_write_tokens"`
	Output        int64       `json:"output_tokens"`
	Unpaid        int         `json:"turns_without_cost"` // in the tokens, not in paid_usd
	PaidUSD       stat.Figure `json:"paid_usd"`           // as recorded, else at list prices, turn by turn
	PerTrajectory stat.Figure `json:"usd_per_trajectory"` // of paid_usd, over trajectories with a cost
	CostUSD       stat.Figure `json:"cost_usd"`           // at list prices
	RecordedUSD   stat.Figure `json:"recorded_cost_usd"`
	RecordedTurns int         `json:"turns_with_recorded_cost"`
}

type costPriceJSON struct {
	Model  string      `json:"model"`
	Input  stat.Figure `json:"input_usd_per_million"`
	Cached stat.Figure `json:"cached_input_usd_per_million"`
	Write  stat.Figure `json:"cache_write_usd_per_million"`
	Output stat.Figure `json:"output_usd_per_million"`
	Source string      `json:"source"`
	AsOf   string      `json:"as_of"`
	From   string      `json:"from"`
	Until  string      `json:"until"`
}

func costLine(l cost.Line) CostLineJSON {
	out := CostLineJSON{
		Name: l.Name, Trajectories: l.Trajectories, Turns: l.Turns, Estimated: l.Estimated, Unpriced: l.Unpriced, Calls: l.Calls,
		Input: l.Input, Cached: l.Cached, Write: l.Write, Output: l.Output,
		Unpaid: l.Unpaid, PaidUSD: l.PaidMoney(), PerTrajectory: l.PerTrajectory(), CostUSD: l.Money(), RecordedUSD: stat.Unknown("the traces record no costs"), RecordedTurns: l.RecordedTurns,
	}
	if l.RecordedTurns > 0 {
		out.RecordedUSD = stat.Known(l.RecordedUSD)
	}
	return out
}

func costLines(lines []cost.Line) []CostLineJSON {
	return cli.Map(lines, func(l *cost.Line) CostLineJSON { return costLine(*l) })
}

// JSON returns the result. Call it when everything is read.
func (f *CostFindings) JSON(in *cli.Intake) CostJSON {
	s := f.statement
	by := ""
	if len(s.Groups) > 0 {
		by = f.options.By
	}
	out := CostJSON{
		Schema: "awo.cost/v1", By: by, Input: in.JSON(), Currency: "USD", Caching: f.options.Caching,
		Total: costLine(s.Total), Unscaled: f.unscaled, Silent: s.Silent, Unknown: f.unknown(),
		Models: costLines(s.Models), Agents: costLines(s.Agents), Groups: costLines(s.Groups), Outcomes: costLines(s.Outcomes), Days: costLines(s.Days), Dearest: costLines(s.Dearest),
		Prices: cli.Map(f.meter.Models(), costPrice),
		Fit:    f.fit.Models(), Tools: s.Tools, Habits: s.Habits, Lazy: f.lazy,
	}
	return out
}

func costPrice(m *cost.ModelPrice) costPriceJSON {
	out := costPriceJSON{Model: m.Model, Input: stat.Unknown(cost.NoPrice), Cached: stat.Unknown(cost.NoPrice), Write: stat.Unknown(cost.NoPrice), Output: stat.Unknown(cost.NoPrice)}
	p := m.Price
	if p == nil {
		return out
	}
	out.Input, out.Output, out.Source = stat.Known(p.Input), stat.Known(p.Output), p.Source
	out.Cached, out.Write = stat.Unknown("the table gives none: input at the full price"), stat.Unknown("the table gives none: input at the full price")
	if p.HasCached {
		out.Cached = stat.Known(p.Cached)
	}
	if p.Write > 0 {
		out.Write = stat.Known(p.Write)
	}
	out.AsOf, out.From, out.Until = day(p.AsOf), day(p.From), day(p.Until)
	return out
}

func day(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.Format(time.DateOnly)
}
