package worth

import (
	"time"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/internal/stat"
)

// CostJSON is the JSON of `awo cost`; docs/cost.md describes it.
type CostJSON struct {
	Schema   string          `json:"schema"`
	Input    cli.InputJSON   `json:"input"`
	Currency string          `json:"currency"`
	Caching  string          `json:"caching"`
	Total    CostLineJSON    `json:"total"`
	Prices   []costPriceJSON `json:"prices"` // of the models that were met
	Fit      []costFitJSON   `json:"fit"`
	Unscaled int             `json:"unscaled_turns"`         // counted, with nothing to scale them by
	Silent   int             `json:"silent_turns,omitempty"` // without usage, and in no figure: of summaries
	Models   []CostLineJSON  `json:"models"`
	Agents   []CostLineJSON  `json:"agents"`
	By       string          `json:"by,omitempty"`     // what Groups are
	Groups   []CostLineJSON  `json:"groups,omitempty"` // with --by
	Outcomes []CostLineJSON  `json:"outcomes"`
	Days     []CostLineJSON  `json:"days"`
	Tools    []costToolJSON  `json:"tools"`
	Habits   []costHabitJSON `json:"habits"`
	Dearest  []CostLineJSON  `json:"dearest"`
	Unknown  []string        `json:"unknown"` // what the traces do not say, in sentences
	Lazy     *lazyJSON       `json:"lazy"`
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
	CostUSD       stat.Figure `json:"cost_usd"`
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

type costFitJSON struct {
	Model  string           `json:"model"` // empty: all together
	Input  costEstimateJSON `json:"input_factor"`
	Base   costEstimateJSON `json:"base_tokens"`
	Output costEstimateJSON `json:"output_factor"`
	Error  float64          `json:"median_relative_error"` // in sample
	Scaled int              `json:"scaled_turns"`          // that these factors were applied to
}

type costEstimateJSON struct {
	Value    float64       `json:"value"`
	Interval stat.Interval `json:"interval"`
	Tasks    int           `json:"tasks"`
	Turns    int           `json:"turns"`
}

type costToolJSON struct {
	Tool         string      `json:"tool"` // empty: turns without a call
	Calls        int         `json:"calls"`
	Trajectories int         `json:"trajectories"`
	Turns        float64     `json:"turns"`
	Input        float64     `json:"input_tokens"`
	Output       float64     `json:"output_tokens"`
	CostUSD      stat.Figure `json:"cost_usd"`
}

type costHabitJSON struct {
	Tools        [2]string   `json:"tools"`
	Occurrences  int         `json:"occurrences"`
	Trajectories int         `json:"trajectories"`
	Turns        float64     `json:"turns"`
	Tokens       float64     `json:"tokens"`
	CostUSD      stat.Figure `json:"cost_usd"`
}

type lazyJSON struct {
	Trajectories int               `json:"trajectories"`
	Tasks        int               `json:"tasks"`
	NoTools      int               `json:"without_definitions"`
	Misfit       int               `json:"input_below_definitions"`
	Levels       []lazyLevelJSON   `json:"levels"`
	BreakEven    lazyEvenJSON      `json:"break_even"`
	PreloadEven  lazyEvenJSON      `json:"preload_break_even"` // with some tools registered from the start
	PreloadTools []preloadToolJSON `json:"preload_tools"`      // worth registering from the start
	Parts        lazyPartsJSON     `json:"definition_tokens"`
	Growth       []cost.GrowthStep `json:"registered_share"`
	Final        stat.Figure       `json:"registered_share_at_end"`
}

type lazyLevelJSON struct {
	Tools        string            `json:"tools"` // 0-10, 11-20, >20 or all
	Trajectories int               `json:"trajectories"`
	Tasks        int               `json:"tasks"`
	MeanTools    float64           `json:"mean_tools"`
	Turns        int               `json:"turns"`
	Tokens       int64             `json:"tokens"`
	CostUSD      stat.Figure       `json:"cost_usd"`
	Variants     []lazyVariantJSON `json:"variants"`
	Preload      *lazyPreloadJSON  `json:"preload"`
}

type lazyVariantJSON struct {
	Variant        string        `json:"variant"`
	Doc            string        `json:"doc"`
	LLMCalls       int           `json:"llm_calls"`
	LLMCallsSaved  int           `json:"llm_calls_saved"` // negative: registrations are calls
	Registered     int           `json:"registered_tools"`
	Unused         int           `json:"registered_unused"`
	Tokens         int64         `json:"tokens"`
	TokensSaved    stat.Figure   `json:"tokens_saved_share"`
	TokensInterval stat.Interval `json:"tokens_saved_interval"`
	CostUSD        stat.Figure   `json:"cost_usd"`
	USDSaved       stat.Figure   `json:"cost_saved_share"`
	USDInterval    stat.Interval `json:"cost_saved_interval"`
}

type lazyEvenJSON struct {
	Tokens         stat.Figure   `json:"tools_by_tokens"`
	TokensInterval stat.Interval `json:"tools_by_tokens_interval"`
	USD            stat.Figure   `json:"tools_by_cost"`
	USDInterval    stat.Interval `json:"tools_by_cost_interval"`
	Tasks          int           `json:"tasks"`
}

type lazyPartsJSON struct {
	Tools          int         `json:"tools"`
	Names          int64       `json:"names"`
	Descriptions   int64       `json:"descriptions"`
	Parameters     int64       `json:"parameters"`
	OfferedPerTurn stat.Figure `json:"offered_per_turn"`
	CalledPerTurn  stat.Figure `json:"called_per_turn"`
}

const (
	noPrice         = "no price is known for the model, or no model is recorded: see --prices"
	noRecordedCosts = "the traces record no costs"
	noTurns         = "the traces record no model turns"
)

// money is an amount that is null where none of its turns has a price.
func money(t cost.Totals) stat.Figure {
	if t.Turns == 0 {
		return stat.Unknown(noTurns)
	}
	return amount(t.USD, t.Unpriced < t.Turns)
}

func costLine(l cost.Line) CostLineJSON {
	out := CostLineJSON{
		Name: l.Name, Trajectories: l.Trajectories, Turns: l.Turns, Estimated: l.Estimated, Unpriced: l.Unpriced, Calls: l.Calls,
		Input: l.Input, Cached: l.Cached, Write: l.Write, Output: l.Output,
		CostUSD: money(l.Totals), RecordedUSD: stat.Unknown(noRecordedCosts), RecordedTurns: l.RecordedTurns,
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
		Fit: cli.Map(f.fit.Models(), func(m *cost.Factors) costFitJSON {
			return costFitJSON{m.Model, costEstimate(m.Input), costEstimate(m.Base), costEstimate(m.Output), m.Error, f.fit.Applied(m.Model)}
		}),
		Tools: cli.Map(s.Tools, func(t *cost.ToolLine) costToolJSON {
			return costToolJSON{t.Tool, t.Calls, t.Trajectories, t.Turns, t.Input, t.Output, amount(t.USD, t.Unpriced < t.Turns)}
		}),
		Habits: cli.Map(s.Habits, func(h *cost.HabitLine) costHabitJSON {
			return costHabitJSON{[2]string{h.First, h.Second}, h.Occurrences, h.Trajectories, h.Turns, h.Tokens, amount(h.USD, h.USD != 0)}
		}),
	}
	if f.lazy != nil {
		out.Lazy = lazyResult(f.lazy)
		out.Lazy.PreloadTools = f.preloaded
	}
	return out
}

// amount is money where there is a price.
func amount(usd float64, priced bool) stat.Figure {
	if !priced {
		return stat.Unknown(noPrice)
	}
	return stat.Known(usd)
}

func costPrice(m *cost.ModelPrice) costPriceJSON {
	out := costPriceJSON{Model: m.Model, Input: stat.Unknown(noPrice), Cached: stat.Unknown(noPrice), Write: stat.Unknown(noPrice), Output: stat.Unknown(noPrice)}
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

func costEstimate(e cost.Estimate) costEstimateJSON {
	return costEstimateJSON{Value: e.Value, Interval: e.Interval, Tasks: e.Tasks, Turns: e.Turns}
}

func lazyResult(r *cost.LazyReport) *lazyJSON {
	const none = "no trajectory records the definitions of its tools"
	out := &lazyJSON{
		Trajectories: r.Trajectories, Tasks: r.Tasks, NoTools: r.NoTools, Misfit: r.Misfit, Growth: r.Growth,
		Parts: lazyPartsJSON{r.Tools, r.Parts.Name, r.Parts.Description, r.Parts.Parameters, stat.Unknown(none), stat.Unknown(none)},
		Final: stat.Unknown(none),
	}
	for _, l := range r.Levels {
		level := lazyLevelJSON{l.Name, l.Trajectories, l.Tasks, l.MeanTools, l.Eager.Turns, l.Eager.Tokens(), money(l.Eager), nil, nil}
		level.Variants = cli.Map(l.Variants, func(v *cost.LazyLine) lazyVariantJSON {
			return lazyVariantJSON{
				Variant: v.Variant, Doc: v.Doc, LLMCalls: v.Lazy.Turns, LLMCallsSaved: l.Eager.Turns - v.Lazy.Turns, Registered: v.Lazy.Registered, Unused: v.Lazy.Unused,
				Tokens: v.Lazy.Tokens(), TokensSaved: stat.Finite(v.TokensSaved.Value, "there are no tokens"), TokensInterval: v.TokensSaved.Interval,
				CostUSD: money(v.Lazy.Totals), USDSaved: stat.Finite(v.USDSaved.Value, noPrice), USDInterval: v.USDSaved.Interval,
			}
		})
		level.Preload = lazyPreload(l.Preload, level.preloadVariant())
		out.Levels = append(out.Levels, level)
	}
	out.BreakEven, out.PreloadEven = lazyEvenResult(&r.BreakEven), lazyEvenResult(r.PreloadBreakEven)
	if r.Turns > 0 {
		out.Parts.OfferedPerTurn, out.Parts.CalledPerTurn, out.Final = stat.Known(r.OfferedPerTurn), stat.Known(r.CalledPerTurn), stat.Known(r.Final)
	}
	return out
}

func lazyEvenResult(e *cost.BreakEven) lazyEvenJSON {
	const never = "no number of tools makes lazy registration cheaper here"
	out := lazyEvenJSON{
		stat.Finite(e.Tokens.Value, never), e.Tokens.Interval,
		stat.Finite(e.USD.Value, never), e.USD.Interval, e.Tasks,
	}
	if !e.Priced {
		out.USD, out.USDInterval = stat.Unknown(noPrice), stat.NoInterval(noPrice)
	}
	return out
}
