package worth

import (
	"time"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/internal/stat"
)

// CostFigures are those of `awo cost`; docs/cost.md describes them.
type CostFigures struct {
	Read     cli.InputJSON `json:"input"`
	Currency string        `json:"currency"`
	Caching  string        `json:"caching"`
	cost.Amounts
	Tokens      int64            `json:"tokens"`
	EachTokens  stat.Figure      `json:"tokens_per_trajectory"`
	PaidRange   stat.Interval    `json:"paid_usd_range"` // 95 %, where some of it is estimated
	TokensRange stat.Interval    `json:"tokens_range"`
	ListUSD     stat.Figure      `json:"list_usd"` // at list prices
	RecordedUSD stat.Figure      `json:"recorded_usd"`
	Unscaled    int              `json:"unscaled_turns"`         // counted, with nothing to scale them by
	Silent      int              `json:"silent_turns,omitempty"` // without usage, and in no figure: of summaries
	By          string           `json:"by,omitempty"`           // what groups are
	Unknown     []string         `json:"unknown"`                // what the traces do not say, in sentences
	Lazy        *cost.LazyReport `json:"lazy,omitempty"`         // with --lazy
}

// Costs are the figures of `awo cost` and the rows of its tables.
type Costs struct {
	CostFigures
	Prices   []price          `json:"prices"` // of the models that were met
	Fit      []cost.Factors   `json:"fit"`
	Models   []cost.Line      `json:"models"`
	Agents   []cost.Line      `json:"agents"`
	Groups   []cost.Line      `json:"groups,omitempty"` // with --by
	Outcomes []cost.Line      `json:"outcomes"`
	Days     []cost.Line      `json:"days"`
	Tools    []cost.ToolLine  `json:"tools"`
	Habits   []cost.HabitLine `json:"habits"`
	Dearest  []cost.Line      `json:"dearest"`
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

// Costs returns the result. Call it when everything is read.
func (f *CostFindings) Costs(in *cli.Intake) Costs {
	s := f.statement
	by := ""
	if len(s.Groups) > 0 {
		by = f.options.By
	}
	return Costs{
		CostFigures: CostFigures{
			Read: in.JSON(), Currency: "USD", Caching: f.caching, Amounts: s.Total.Amounts, Tokens: s.Total.Tokens(), EachTokens: stat.Ratio(int(s.Total.Tokens()), s.Total.Trajectories, cost.NoTurns),
			PaidRange: s.Total.PaidRange, TokensRange: s.Tokens, ListUSD: s.Total.CostUSD, RecordedUSD: s.Total.Own,
			Unscaled: f.unscaled, Silent: s.Silent, By: by, Unknown: f.unknown(), Lazy: f.lazy,
		},
		Models: s.Models, Agents: s.Agents, Groups: s.Groups, Outcomes: s.Outcomes, Days: s.Days, Dearest: s.Dearest,
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
