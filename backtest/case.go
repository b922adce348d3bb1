package backtest

import (
	"iter"

	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/metatool/compile"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// labeller makes cases of trajectories under rules. It is used by one goroutine.
type labeller struct {
	rewriter *merge.Rewriter
	labels   *merge.Labels
	texts    []string // by label
	isBare   bool     // no rules: calls need no marks
	steps    bool     // labels are wanted
}

func newLabeller(set *rules.Set, steps bool) *labeller {
	l := &labeller{labels: &merge.Labels{}, isBare: set == nil, steps: steps}
	if set != nil || steps {
		l.rewriter = merge.NewRewriter(set, merge.Full(set), l.labels, nil)
	}
	return l
}

// of returns the case of t. Calls get the statuses that rules read from their
// results.
func (l *labeller) of(t *trace.Trajectory) *Case {
	c := &Case{Trajectory: t}
	if l.rewriter == nil {
		return c
	}
	steps := l.rewriter.Rewrite(t)
	if !l.isBare {
		c.Marks = merge.Marks(t, steps)
	}
	if !l.steps {
		return c
	}
	c.Steps = make([]labelledStep, len(steps))
	for i := range steps {
		s := &steps[i]
		to := &c.Steps[i]
		to.label, to.call, to.calls, to.inserted = l.text(s.Label()), s.FirstCall, s.Calls, s.Inserted
		to.cut = s.Cut || s.Barrier() || i > 0 && steps[i-1].Barrier()
	}
	return c
}

func (l *labeller) text(id merge.Label) string {
	for int(id) >= len(l.texts) {
		l.texts = append(l.texts, l.labels.Text(merge.Label(len(l.texts))))
	}
	return l.texts[id]
}

// casesOf yields the trajectories of a source as cases; an error ends it.
func casesOf(source compile.Source, l *labeller, failed *error) iter.Seq[*Case] {
	return func(yield func(*Case) bool) {
		for t, err := range source() {
			if err != nil {
				*failed = err
				return
			}
			if !yield(l.of(t)) {
				return
			}
		}
	}
}
