package worth

import (
	"time"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/internal/stat"
)

// CostFigures are those of `awo cost`; docs/cost.md describes them.
type CostFigures struct {
	Input    cli.InputJSON `json:"input"`
	Currency string        `json:"currency"`
	Caching  string        `json:"caching"`
	amounts
	ListUSD     stat.Figure  `json:"list_usd"` // at list prices
	RecordedUSD stat.Figure  `json:"recorded_usd"`
	Unscaled    int          `json:"unscaled_turns"`         // counted, with nothing to scale them by
	Silent      int          `json:"silent_turns,omitempty"` // without usage, and in no figure: of summaries
	By          string       `json:"by,omitempty"`           // what groups are
	Unknown     []string     `json:"unknown"`                // what the traces do not say, in sentences
	Lazy        *lazyFigures `json:"lazy,omitempty"`         // with --lazy
}

// Costs are the figures of `awo cost` and the rows of its tables.
type Costs struct {
	CostFigures
	Prices   []price          `json:"prices"` // of the models that were met
	Fit      []cost.Factors   `json:"fit"`
	Models   []CostLine       `json:"models"`
	Agents   []CostLine       `json:"agents"`
	Groups   []CostLine       `json:"groups,omitempty"` // with --by
	Outcomes []CostLine       `json:"outcomes"`
	Days     []CostLine       `json:"days"`
	Tools    []cost.ToolLine  `json:"tools"`
	Habits   []cost.HabitLine `json:"habits"`
	Dearest  []CostLine       `json:"dearest"`
}

// amounts are what turns took, and what was paid for them.
type amounts struct {
	Trajectories  int         `json:"trajectories"`
	Turns         int         `json:"turns"`
	Estimated     int         `json:"estimated_turns"`
	Unpriced      int         `json:"unpriced_turns"` // in the tokens, not in what list prices come to
	Calls         int         `json:"calls"`
	InputTokens   int64       `json:"input_tokens"` // cached and written ones included
	CachedTokens  int64       `json:"cached_input_tokens"`
	WriteTokens   int64       `json:"cache_write_tokens"`
	OutputTokens  int64       `json:"output_tokens"`
	Unpaid        int         `json:"turns_without_cost"` // in the tokens, not in paid_usd
	PaidUSD       stat.Figure `json:"paid_usd"`           // as recorded, else at list prices, turn by turn
	PerTrajectory stat.Figure `json:"usd_per_trajectory"` // of paid_usd, over trajectories with a cost
	RecordedTurns int         `json:"turns_with_recorded_cost"`
}

// CostLine is what some of the turns cost.
type CostLine struct {
	Name string `json:"name"` // empty: not recorded
	amounts
	CostUSD     stat.Figure `json:"cost_usd"` // at list prices
	RecordedUSD stat.Figure `json:"recorded_cost_usd"`
}

type price struct {
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

func amountsOf(l *cost.Line) amounts {
	return amounts{
		Trajectories: l.Trajectories, Turns: l.Turns, Estimated: l.Estimated, Unpriced: l.Unpriced, Calls: l.Calls,
		InputTokens: l.Input, CachedTokens: l.Cached, WriteTokens: l.Write, OutputTokens: l.Output,
		Unpaid: l.Unpaid, PaidUSD: l.PaidMoney(), PerTrajectory: l.PerTrajectory(), RecordedTurns: l.RecordedTurns,
	}
}

// recordedMoney is what the traces themselves say.
func recordedMoney(l *cost.Line) stat.Figure {
	if l.RecordedTurns == 0 {
		return stat.Unknown("the traces record no costs")
	}
	return stat.Known(l.RecordedUSD)
}

func costLines(lines []cost.Line) []CostLine {
	return cli.Map(lines, func(l *cost.Line) CostLine {
		return CostLine{Name: l.Name, amounts: amountsOf(l), CostUSD: l.Money(), RecordedUSD: recordedMoney(l)}
	})
}

// Costs returns the result. Call it when everything is read.
func (f *CostFindings) Costs(in *cli.Intake) Costs {
	s := f.statement
	by := ""
	if len(s.Groups) > 0 {
		by = f.options.By
	}
	return Costs{
		CostFigures: CostFigures{
			Input: in.JSON(), Currency: "USD", Caching: f.caching, amounts: amountsOf(&s.Total), ListUSD: s.Total.Money(), RecordedUSD: recordedMoney(&s.Total),
			Unscaled: f.unscaled, Silent: s.Silent, By: by, Unknown: f.unknown(), Lazy: figuresOfLazy(f.lazy),
		},
		Models: costLines(s.Models), Agents: costLines(s.Agents), Groups: costLines(s.Groups), Outcomes: costLines(s.Outcomes), Days: costLines(s.Days), Dearest: costLines(s.Dearest),
		Prices: cli.Map(f.meter.Models(), priceOf),
		Fit:    f.fit.Models(), Tools: s.Tools, Habits: s.Habits,
	}
}

func priceOf(m *cost.ModelPrice) price {
	out := price{Model: m.Model, Input: stat.Unknown(cost.NoPrice), Cached: stat.Unknown(cost.NoPrice), Write: stat.Unknown(cost.NoPrice), Output: stat.Unknown(cost.NoPrice)}
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
