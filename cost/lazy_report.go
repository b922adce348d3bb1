package cost

import (
	"math"
	"slices"

	"github.com/awo-dev/awo/internal/stat"
)

// LazyReport is what a LazyStudy found.
type LazyReport struct {
	Trajectories int // simulated
	Tasks        int
	NoTools      int // trajectories without definitions: nothing can be simulated
	Misfit       int // trajectories left out: their recorded input is smaller than their definitions
	Unscaled     int // turns simulated as they were counted, because nothing was learnt for their model

	Levels    []LazyLevel // by tools offered; the last is all of them
	BreakEven BreakEven
	// PreloadBreakEven is the same with tools that are registered from the start, nil
	// if there was no preloading.
	PreloadBreakEven *BreakEven

	// Parts are the tokens of all definitions met, each once (EcoAct, Fig. 2b).
	Tools int
	Parts Definition
	// OfferedPerTurn and CalledPerTurn are the mean definition tokens of a turn: of
	// the tools that were offered, and of those that it called (Fig. 2a).
	Turns          int
	OfferedPerTurn float64
	CalledPerTurn  float64

	// Growth is the share of the tools offered that had been called, and so were
	// registered, after so many turns (Fig. 4): a lower bound of a live agent's.
	Growth []GrowthStep
	Final  float64 // at the end of the trajectories
}

// LazyLevel is the trajectories that offer a number of tools (Fig. 3).
type LazyLevel struct {
	Name         string // such as "11-20"
	Trajectories int
	Tasks        int
	MeanTools    float64
	Eager        Totals // as recorded
	Variants     []LazyLine
	Preload      *PreloadLine // nil if there was no preloading
}

// PreloadLine compares preloading with lazy registration alone, both with
// definitions appended as results: what is saved of the recorded cost beyond what
// that saves, by the same trajectories. What it saves of the recorded cost is the
// variant preload-result of the level.
type PreloadLine struct {
	Tokens Share
	USD    Share // Value is NaN if no turn has a price
}

// LazyLine is one variant of registration at one level. Shares are of what is
// saved, with the 95 % interval of a bootstrap over tasks; negative: it costs more.
type LazyLine struct {
	Variant     string // single-list, single-result, batch-result, described-result, share-result or preload-result
	Doc         string // the same in words
	Lazy        LazyTotals
	TokensSaved Share
	USDSaved    Share // Value is NaN if no turn has a price
}

// Share is a part of one with its interval.
type Share struct {
	Value    float64
	Interval stat.Interval
}

// BreakEven is the number of tools offered above which lazy registration costs
// less than all definitions on every turn, for tools as large as those met and the
// same calls: with definitions appended as results. NaN where no number does.
type BreakEven struct {
	Tokens Share
	USD    Share
	Tasks  int
	Priced bool // whether any turn has a price; USD means nothing without
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
	if s.options.Preload != nil {
		even := s.evenPoint(s.ahead)
		out.PreloadBreakEven = &even
	}
	out.Tools, out.Parts, out.Turns = len(s.parts.seen), s.parts.tokens, s.parts.turns
	if s.parts.turns > 0 {
		out.OfferedPerTurn, out.CalledPerTurn = s.parts.offered/float64(s.parts.turns), s.parts.calls/float64(s.parts.turns)
	}
	for i := 1; i <= maxSteps && s.growth.trajectories[i] > 0; i++ {
		n := s.growth.trajectories[i]
		out.Growth = append(out.Growth, GrowthStep{i, s.growth.share[i] / float64(n), n})
	}
	if s.growth.all > 0 {
		out.Final = s.growth.final / float64(s.growth.all)
	}
	return out
}

func (s *LazyStudy) level(name string, l *lazySums) LazyLevel {
	out := LazyLevel{Name: name, Trajectories: l.trajectories, Tasks: len(l.byTask), MeanTools: float64(l.tools) / float64(l.trajectories), Eager: l.eager}
	var tasks []*levelTask
	for i := range len(s.tasks) {
		if k := l.byTask[i]; k != nil {
			tasks = append(tasks, k)
		}
	}
	// saved returns what variant v saves beyond another one, or beyond what was
	// recorded, as a share of that.
	saved := func(of func(Totals) float64, v, beyond int) Share {
		part := stat.ClusterRatio{Num: make([]float64, len(tasks)), Den: make([]float64, len(tasks))}
		for i, k := range tasks {
			other := k.eager
			if beyond >= 0 {
				other = k.lazy[beyond]
			}
			part.Num[i], part.Den[i] = of(other)-of(k.lazy[v]), of(k.eager)
		}
		return Share{part.Value(), part.Interval(stat.Options{Seed: s.options.Seed})}
	}
	byTokens, byUSD := func(t Totals) float64 { return float64(t.Tokens()) }, func(t Totals) float64 { return t.USD }
	for v := range s.variants {
		line := LazyLine{Variant: s.variants[v].name, Doc: s.variants[v].doc, Lazy: l.lazy[v]}
		line.TokensSaved, line.USDSaved = saved(byTokens, v, -1), saved(byUSD, v, -1)
		out.Variants = append(out.Variants, line)
		if line.Variant == preloadName {
			lazy := slices.IndexFunc(s.variants, func(o lazyVariant) bool { return o.name == lazyName })
			out.Preload = &PreloadLine{saved(byTokens, v, lazy), saved(byUSD, v, lazy)}
		}
	}
	return out
}

func (s *LazyStudy) evenPoint(even []evenSums) BreakEven {
	known := slices.DeleteFunc(slices.Clone(even), func(e evenSums) bool { return e == evenSums{} })
	point := func(coefficients func(evenSums) (a, b float64)) Share {
		at := stat.ClusterRatio{Num: make([]float64, len(known)), Den: make([]float64, len(known))}
		for i, e := range known {
			a, b := coefficients(e)
			at.Num[i], at.Den[i] = -a, b
		}
		if sum := (stat.ClusterRatio{Num: at.Den}); sum.Value() <= 0 {
			return Share{math.NaN(), stat.NoInterval("no number of tools pays")}
		}
		return Share{max(at.Value(), 0), at.Interval(stat.Options{Seed: s.options.Seed}).Within(0, math.Inf(1))}
	}
	return BreakEven{
		Tokens: point(func(e evenSums) (float64, float64) { return e.tokensA, e.tokensB }),
		USD:    point(func(e evenSums) (float64, float64) { return e.usdA, e.usdB }),
		Tasks:  len(known),
		Priced: s.all.eager.Unpriced < s.all.eager.Turns,
	}
}
