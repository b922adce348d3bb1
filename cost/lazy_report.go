package cost

import (
	"math"
	"slices"

	"github.com/awo-dev/awo/internal/stat"
)

// LazyReport is what a LazyStudy found.
type LazyReport struct {
	Trajectories int `json:"trajectories"` // simulated
	Tasks        int `json:"tasks"`
	NoTools      int `json:"without_definitions"`     // trajectories in which nothing can be simulated
	Misfit       int `json:"input_below_definitions"` // trajectories left out: their recorded input is smaller than their definitions
	Unscaled     int `json:"-"`                       // turns simulated as they were counted, because nothing was learnt for their model

	Levels    []LazyLevel `json:"-"` // by tools offered; the last is all of them
	BreakEven BreakEven   `json:"break_even"`

	Parts LazyParts `json:"definition_tokens"`
	// Growth is the share of the tools offered that had been called, and so were
	// registered, after so many turns (Fig. 4): a lower bound of a live agent's.
	Growth []GrowthStep `json:"-"`
	Final  stat.Figure  `json:"registered_share_at_end"` // of the trajectories
}

// LazyParts are the tokens of all definitions met, each once (EcoAct, Fig. 2b), and the
// mean definition tokens of a turn: of the tools that were offered, and of those that it
// called (Fig. 2a).
type LazyParts struct {
	Tools          int         `json:"tools"`
	Names          int64       `json:"names"`
	Descriptions   int64       `json:"descriptions"`
	Parameters     int64       `json:"parameters"`
	OfferedPerTurn stat.Figure `json:"offered_per_turn"`
	CalledPerTurn  stat.Figure `json:"called_per_turn"`
}

// LazyLevel is the trajectories that offer a number of tools (Fig. 3).
type LazyLevel struct {
	Name         string      `json:"tools"` // 0-10, 11-20, >20 or all
	Trajectories int         `json:"trajectories"`
	Tasks        int         `json:"tasks"`
	MeanTools    float64     `json:"mean_tools"`
	Turns        int         `json:"turns"` // as recorded
	Tokens       int64       `json:"tokens"`
	CostUSD      stat.Figure `json:"cost_usd"`
	Variants     []LazyLine  `json:"variants"`
}

// LazyLine is one variant of registration at one level. Shares are of what is
// saved, with the 95 % interval of a bootstrap over tasks; negative: it costs more.
type LazyLine struct {
	Variant        string        `json:"variant"` // single-list, single-result, batch-result, described-result, share-result, or tool-search
	Doc            string        `json:"doc"`     // the same in words
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

// BreakEven is the number of tools offered above which lazy registration costs
// less than all definitions on every turn, for tools as large as those met and the
// same calls: with definitions appended as results. Null where no number does.
type BreakEven struct {
	Tokens         stat.Figure   `json:"tools_by_tokens"`
	TokensInterval stat.Interval `json:"tools_by_tokens_interval"`
	USD            stat.Figure   `json:"tools_by_cost"`
	USDInterval    stat.Interval `json:"tools_by_cost_interval"`
	Tasks          int           `json:"tasks"`
}

// GrowthStep is how far registration has got after a number of turns.
type GrowthStep struct {
	Turn         int     `json:"turn"`
	Share        float64 `json:"share"` // mean over the trajectories that have so many turns
	Trajectories int     `json:"trajectories"`
}

// Report ends the study. What was only counted is scaled by the fit first.
func (s *LazyStudy) Report(f *Fit) *LazyReport {
	out := &LazyReport{NoTools: s.without}
	for _, p := range s.pending {
		out.Unscaled += f.Apply(p.account)
		s.simulate(p)
	}
	s.pending = nil
	out.Misfit, out.Trajectories, out.Tasks = s.misfit, s.all.trajectories, len(s.all.byTask)
	for i := range s.levels {
		if s.levels[i].trajectories > 0 {
			out.Levels = append(out.Levels, s.level(levelNames[i], &s.levels[i]))
		}
	}
	if s.all.trajectories > 0 {
		out.Levels = append(out.Levels, s.level("all", &s.all))
	}
	out.BreakEven = s.evenPoint(s.even)
	const none = "no trajectory records the definitions of its tools"
	p := &s.parts
	out.Parts = LazyParts{len(p.seen), p.tokens.Name, p.tokens.Description, p.tokens.Parameters, stat.Finite(p.offered/float64(p.turns), none), stat.Finite(p.calls/float64(p.turns), none)}
	for i := 1; i <= maxSteps && s.growth.trajectories[i] > 0; i++ {
		n := s.growth.trajectories[i]
		out.Growth = append(out.Growth, GrowthStep{i, s.growth.share[i] / float64(n), n})
	}
	if out.Final = stat.Unknown(none); p.turns > 0 {
		out.Final = stat.Known(s.growth.final / float64(s.growth.all))
	}
	return out
}

func (s *LazyStudy) level(name string, l *lazySums) LazyLevel {
	out := LazyLevel{Name: name, Trajectories: l.trajectories, Tasks: len(l.byTask), MeanTools: float64(l.tools) / float64(l.trajectories), Turns: l.eager.Turns, Tokens: l.eager.Tokens(), CostUSD: l.eager.Money()}
	var tasks []*levelTask
	for i := range len(s.tasks) {
		if k := l.byTask[i]; k != nil {
			tasks = append(tasks, k)
		}
	}
	// saved returns what variant v saves, as a share of what was recorded.
	saved := func(of func(Totals) float64, v int, none string) (stat.Figure, stat.Interval) {
		part := stat.ClusterRatio{Num: make([]float64, len(tasks)), Den: make([]float64, len(tasks))}
		for i, k := range tasks {
			part.Num[i], part.Den[i] = of(k.eager)-of(k.lazy[v]), of(k.eager)
		}
		return stat.Finite(part.Value(), none), part.Interval(stat.Options{Seed: s.options.Seed})
	}
	byTokens, byUSD := func(t Totals) float64 { return float64(t.Tokens()) }, func(t Totals) float64 { return t.USD }
	for v := range s.variants {
		lazy := &l.lazy[v]
		line := LazyLine{
			Variant: s.variants[v].name, Doc: s.variants[v].doc, LLMCalls: lazy.Turns, LLMCallsSaved: l.eager.Turns - lazy.Turns,
			Registered: lazy.Registered, Unused: lazy.Unused, Tokens: lazy.Tokens(), CostUSD: lazy.Money(),
		}
		line.TokensSaved, line.TokensInterval = saved(byTokens, v, "there are no tokens")
		line.USDSaved, line.USDInterval = saved(byUSD, v, NoPrice)
		out.Variants = append(out.Variants, line)
	}
	return out
}

func (s *LazyStudy) evenPoint(even []evenSums) BreakEven {
	const never = "no number of tools makes lazy registration cheaper here"
	known := slices.DeleteFunc(slices.Clone(even), func(e evenSums) bool { return e == evenSums{} })
	point := func(coefficients func(evenSums) (a, b float64)) (stat.Figure, stat.Interval) {
		at := stat.ClusterRatio{Num: make([]float64, len(known)), Den: make([]float64, len(known))}
		for i, e := range known {
			a, b := coefficients(e)
			at.Num[i], at.Den[i] = -a, b
		}
		if sum := (stat.ClusterRatio{Num: at.Den}); sum.Value() <= 0 {
			return stat.Unknown(never), stat.NoInterval("no number of tools pays")
		}
		return stat.Finite(max(at.Value(), 0), never), at.Interval(stat.Options{Seed: s.options.Seed}).Within(0, math.Inf(1))
	}
	out := BreakEven{Tasks: len(known), USD: stat.Unknown(NoPrice), USDInterval: stat.NoInterval(NoPrice)}
	out.Tokens, out.TokensInterval = point(func(e evenSums) (float64, float64) { return e.tokensA, e.tokensB })
	if s.all.eager.Unpriced < s.all.eager.Turns {
		out.USD, out.USDInterval = point(func(e evenSums) (float64, float64) { return e.usdA, e.usdB })
	}
	return out
}
