package backtest

import (
	"slices"
	"strings"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/internal/par"
	"github.com/awo-dev/awo/metatool/replay"
)

// Bounds are techniques that nobody can use: what the best choice of meta-tools could
// reach. They are measured where they are asked for by name.
var Bounds = []Technique{bound(false), bound(true)}

// bound counts the sequences of tools of the training part, and takes wherever one of them
// is made, with all arguments known, derived or walked, what saves most turns.
func bound(linked bool) Technique {
	name, doc := "bound", "a bound: all sequences of tools of enough trajectories, used only where they fit, every argument known before or in a result"
	if linked {
		name, doc = "bound-chains", doc+"; some argument in a result"
	}
	return Technique{Name: name, Doc: doc, Train: func(p *Part) Trained { return p.trainBound(linked) }}
}

type bounded struct {
	sequences map[string]bool
	linked    bool
	collector dataflow.Collector
}

func (p *Part) trainBound(linked bool) *bounded {
	b := &bounded{sequences: map[string]bool{}, linked: linked}
	counts := map[string]int{}
	for keys := range par.Map(max(p.Options.Workers, 1), slices.Values(p.Runs), func(r *corpus.Run) []string {
		var keys []string
		for _, reach := range replay.Reaches(r.Trajectory, r.Marks, r.Flow, &b.collector) {
			keys = append(keys, sequenceKey(&reach))
		}
		slices.Sort(keys)
		return slices.Compact(keys)
	}) {
		for _, key := range keys {
			counts[key]++
		}
	}
	for key, n := range counts {
		b.sequences[key] = n >= p.Options.Compile.Extract.Threshold
	}
	return b
}

func sequenceKey(r *replay.Reach) string { return strings.Join(r.Tools, "\x00") }

// Find takes the reaches without overlap that save most turns.
func (b *bounded) Find(c *Case) *Finding {
	f := &Finding{}
	var spans []replay.Span
	var removed [][]int
	for _, r := range replay.Reaches(c.Trajectory, c.Marks, c.Flow, &b.collector) {
		if r.Known && (r.Linked || !b.linked) && b.sequences[sequenceKey(&r)] {
			spans, removed = append(spans, replay.Span{Begin: r.Begin, End: r.End, Worth: float64(len(r.Removed))}), append(removed, r.Removed)
		}
	}
	chosen, _ := replay.Best(spans)
	for _, i := range chosen {
		f.Removed = append(f.Removed, removed[i]...)
	}
	slices.Sort(f.Removed)
	f.Used = len(f.Removed) > 0
	return f
}

// Saving returns what the removed turns save; no definition is paid.
func (*bounded) Saving(c *Case, f *Finding) cost.Totals {
	if c.Account == nil {
		return cost.Totals{}
	}
	return c.Account.Saving(f.Removed, 0)
}

// Summary says what it rests on.
func (*bounded) Summary() Learnt {
	return Learnt{Notes: []string{"a bound: which of the sequences follows is known before, what is walked is exactly what was asked for, and no definition is paid"}}
}
