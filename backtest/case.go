package backtest

import (
	"iter"

	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/rules"
)

// labeller says what the steps of runs are called under rules. It is used by one goroutine.
type labeller struct {
	rewriter *merge.Rewriter
	labels   *merge.Labels
	texts    []string // by label
}

func newLabeller(set *rules.Set) *labeller {
	l := &labeller{labels: &merge.Labels{}}
	l.rewriter = merge.NewRewriter(set, merge.Full(set), l.labels, nil)
	return l
}

// stepsOf returns the steps of a run.
func (l *labeller) stepsOf(r *corpus.Run) []labelledStep {
	steps := l.rewriter.Rewrite(r.Trajectory)
	out := make([]labelledStep, len(steps))
	for i := range steps {
		s := &steps[i]
		to := &out[i]
		to.label, to.call, to.calls, to.inserted = l.text(s.Label()), s.FirstCall, s.Calls, s.Inserted
		to.cut = s.Cut || s.Barrier() || i > 0 && steps[i-1].Barrier()
	}
	return out
}

func (l *labeller) text(id merge.Label) string {
	for int(id) >= len(l.texts) {
		l.texts = append(l.texts, l.labels.Text(merge.Label(len(l.texts))))
	}
	return l.texts[id]
}

// casesOf yields runs as cases, with their steps if that is wanted.
func casesOf(runs []*corpus.Run, set *rules.Set, steps bool) iter.Seq[*Case] {
	return func(yield func(*Case) bool) {
		var l *labeller
		if steps {
			l = newLabeller(set)
		}
		for _, r := range runs {
			c := &Case{Run: r}
			if steps {
				c.Steps = l.stepsOf(r)
			}
			if !yield(c) {
				return
			}
		}
	}
}
