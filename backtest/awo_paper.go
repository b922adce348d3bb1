package backtest

import (
	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/metatool/compile"
	"github.com/awo-dev/awo/metatool/replay"
)

// awoPaper is Algorithm 1 to the letter. It counts where sequences of labels
// recur: whether anybody could have given the arguments is not asked.
var awoPaper = Technique{
	Name: "awo-paper", Doc: "Algorithm 1 as published: sequences are counted, nothing is bound or replayed",
	Train: trainPaper, ways: []way{wayPaper},
}

// wayPaper takes its sequences as they are: nothing is bound.
var wayPaper = way{algorithm: compile.AWO, published: true}

type paperTools struct {
	byFirst map[string][][]string // sequences of labels by their first one
	learnt  Learnt
}

func trainPaper(p *Part) Trained {
	c := p.compile(wayPaper)
	out := &paperTools{byFirst: map[string][][]string{}}
	out.learnt.Labels = true
	out.learnt.Notes = []string{"sequences are counted: arguments are neither bound nor checked, user messages are ignored, and the tokens of definitions are left out, because there are none"}
	for _, sequence := range c.chains {
		out.byFirst[sequence[0]] = append(out.byFirst[sequence[0]], sequence)
		out.learnt.MetaTools++
	}
	return out
}

// Find covers the trajectory with sequences, so that most turns are saved.
func (s *paperTools) Find(c *Case) *Finding {
	f := &Finding{}
	var spans []replay.Span
	var removed [][]int
	for i := range c.Steps {
		for _, sequence := range s.byFirst[c.Steps[i].label] {
			if !follows(c.Steps[i:], sequence) {
				continue
			}
			o := replay.Occurrence{}
			for _, step := range c.Steps[i : i+len(sequence)] {
				for n := range step.calls {
					o.Calls = append(o.Calls, []int{int(step.call + n)})
				}
			}
			if len(o.Calls) == 0 {
				continue
			}
			if turns := o.Removed(c.Trajectory); len(turns) > 0 {
				f.Places++
				spans, removed = append(spans, replay.Span{Begin: i, End: i + len(sequence), Worth: float64(len(turns))}), append(removed, turns)
			}
		}
	}
	chosen, _ := replay.Best(spans)
	for _, i := range chosen {
		f.Used = true
		f.Removed = append(f.Removed, removed[i]...)
	}
	return f
}

func follows(steps []labelledStep, sequence []string) bool {
	if len(steps) < len(sequence) {
		return false
	}
	for i, label := range sequence {
		if steps[i].label != label || i > 0 && steps[i].cut {
			return false
		}
	}
	return true
}

// Saving returns what the removed turns save.
func (s *paperTools) Saving(c *Case, f *Finding) cost.Totals {
	if c.Account == nil {
		return cost.Totals{}
	}
	return c.Account.Saving(f.Removed, 0)
}

// Summary says how many sequences there are.
func (s *paperTools) Summary() Learnt { return s.learnt }
