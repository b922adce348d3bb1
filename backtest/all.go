package backtest

import (
	"cmp"
	"slices"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/execute"
)

// all offers the meta-tools of patterns and makes calls by inertia: each call is in
// a meta-tool, or made without the model, or neither.
var all = Technique{
	Name: "all", Doc: "patterns and inertia together, each call attributed to one",
	Parts: []string{patterns.Name, inertial.Name}, ways: patterns.ways,
	Train: func(p *Part) (Trained, error) {
		trained, err := patterns.Train(p)
		if err != nil {
			return nil, err
		}
		h, err := p.trainHabits()
		if err != nil {
			return nil, err
		}
		return &together{tools: trained.(*toolset), habits: h}, nil
	},
}

// together is a set of meta-tools beside a predictor.
type together struct {
	tools  *toolset
	habits *habits
}

// share is a part of the calls of a trajectory that one technique could take.
type share struct {
	span    execute.Span // of calls
	removed []int
	part    int // of the technique, as an index into its Parts
}

// Find takes, of the places of meta-tools and the calls that inertia would make,
// those that save most turns together and share no call; meta-tools where it is the
// same. A part of the calls that a gate lets through is let through by it too: no
// call is made that inertia alone would not make.
func (b *together) Find(c *Case) *Finding {
	places := b.tools.places(c)
	f := cover(places)
	f.Used, f.Removed = false, nil
	var shares []share
	for i := range places {
		p := &places[i]
		if !p.Replay.Saves {
			continue
		}
		o := &p.Replay.Occurrence
		shares = append(shares, share{execute.Span{Begin: o.First(), End: o.Last() + 1, Worth: float64(len(p.Removed))}, p.Removed, 0})
	}
	avoided, wrong := b.habits.avoided(c)
	for call, is := range avoided {
		if !is {
			continue
		}
		if turn := turnAvoided(c.Trajectory, call); turn >= 0 {
			shares = append(shares, share{execute.Span{Begin: call, End: call + 1, Worth: 1}, []int{turn}, 1})
		}
	}
	slices.SortStableFunc(shares, func(x, y share) int {
		return cmp.Or(cmp.Compare(x.span.Begin, y.span.Begin), cmp.Compare(x.part, y.part))
	})
	spans := make([]execute.Span, len(shares))
	for i := range shares {
		spans[i] = shares[i].span
	}
	f.Attributed = make([]int, len(all.Parts))
	chosen, _ := execute.Best(spans)
	for _, i := range chosen {
		f.Removed = append(f.Removed, shares[i].removed...)
		f.Attributed[shares[i].part] += len(shares[i].removed)
	}
	slices.Sort(f.Removed)
	f.Wrong, f.Added = wrong, wrong
	f.Used = len(f.Removed)+f.Wrong > 0
	return f
}

// Saving returns what the removed turns save, less what the definitions cost.
func (b *together) Saving(c *Case, f *Finding) cost.Totals { return b.tools.Saving(c, f) }

// Summary says what the parts have learnt.
func (b *together) Summary() Learnt {
	l := b.tools.Summary()
	l.Notes = append(slices.Clone(l.Notes),
		"wrong calls are all those of inertia alone, also where a meta-tool is used instead",
		"lazy registration is no part of it: it is worked out on the recorded turns, not on those that are left")
	return l
}

// Interaction is what a combination saves beyond the sum of what each of its parts
// saves alone, of either sign: negative where the parts would save the same.
type Interaction struct {
	Technique  string
	Parts      []string
	Attributed []int // calling turns of the combination, by part

	CallingTurnsSaved, LLMCallsSaved int
	TokensSaved                      int64
	USDSaved                         float64

	Intervals map[string]Interval // by metric; see InteractionMetrics
}

// InteractionMetrics are the figures of an Interaction that have an interval.
var InteractionMetrics = []string{"calling_turns_saved", "llm_calls_saved", "tokens_saved", "cost_saved_usd"}

// interact adds the interactions of the combinations all of whose parts were
// measured.
func (r *run) interact() {
	place := map[string]int{}
	for i, t := range r.options.Techniques {
		place[t.Name] = i
	}
	for whole, technique := range r.options.Techniques {
		var parts []int
		for _, name := range technique.Parts {
			if i, ok := place[name]; ok {
				parts = append(parts, i)
			}
		}
		if len(parts) == 0 || len(parts) < len(technique.Parts) || len(r.out.Techniques) == 0 {
			continue
		}
		o := r.out.Techniques[whole]
		x := Interaction{
			Technique: technique.Name, Parts: slices.Clone(technique.Parts), Attributed: make([]int, len(parts)), Intervals: map[string]Interval{},
			CallingTurnsSaved: o.CallingTurnsSaved, LLMCallsSaved: o.LLMCallsSaved, TokensSaved: o.TokensSaved, USDSaved: o.USDSaved,
		}
		for _, i := range parts {
			p := &r.out.Techniques[i]
			x.CallingTurnsSaved -= p.CallingTurnsSaved
			x.LLMCallsSaved -= p.LLMCallsSaved
			x.TokensSaved -= p.TokensSaved
			x.USDSaved -= p.USDSaved
		}
		if whole < len(r.all) {
			copy(x.Attributed, r.all[whole].attributed)
		}
		add := func(task int, sums []float64) {
			sign := func(i int, by float64) {
				s := &r.sums[task][i]
				for k, v := range [...]float64{s.turnsSaved, s.llmSaved, s.tokensSaved, s.usdSaved} {
					sums[k] += by * v
				}
			}
			sign(whole, 1)
			for _, i := range parts {
				sign(i, -1)
			}
		}
		for k, interval := range bootstrap(len(r.sums), len(InteractionMetrics), r.options.Seed, add, slices.Clone[[]float64]) {
			x.Intervals[InteractionMetrics[k]] = interval
		}
		r.out.Interactions = append(r.out.Interactions, x)
	}
}
