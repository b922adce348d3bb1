package backtest

import (
	"iter"
	"slices"
	"unsafe"

	"github.com/awo-dev/awo/cost"
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
	if known, is := t.Noted(marksKey{}).(*notedMarks); is && !l.steps {
		setStatuses(t, known.statuses)
		c.Marks = known.marks
		return c
	}
	steps := l.rewriter.Rewrite(t)
	if !l.isBare {
		c.Marks = merge.Marks(t, steps)
		if t.IsNoted() && t.Noted(marksKey{}) == nil {
			(&notedMarks{marks: c.Marks}).note(t)
		}
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

// saved is what it saves to do without turns, with more definitions on those that are left.
type saved struct {
	removed []int
	added   int64
	totals  cost.Totals
}

// saving is Account.Saving, worked out once for equal turns and tokens: many cells do the
// same in a trajectory.
func (c *Case) saving(removed []int, added int64) cost.Totals {
	for i := range c.savings {
		if s := &c.savings[i]; s.added == added && slices.Equal(s.removed, removed) {
			return s.totals
		}
	}
	totals := c.Account.Saving(removed, added)
	c.savings = append(c.savings, saved{removed, added, totals})
	return totals
}

// What rules make of a trajectory is the same in each fold and reading: it is noted with the
// trajectory, under these keys, with the statuses that rules read from results.
type (
	marksKey    struct{} // of cases
	declaredKey struct{} // of Declarations
)

// notedMarks is what a labeller makes of the calls of a trajectory.
type notedMarks struct {
	marks    []merge.Mark
	statuses []trace.Status
}

// note notes marks of a trajectory, whose calls have their statuses.
func (n *notedMarks) note(t *trace.Trajectory) {
	n.statuses = statusesOf(t)
	t.Note(marksKey{}, n, int(unsafe.Sizeof(*n))+len(n.marks)*int(unsafe.Sizeof(merge.Mark{}))+len(n.statuses))
}

func statusesOf(t *trace.Trajectory) []trace.Status {
	out := make([]trace.Status, len(t.Calls))
	for i := range out {
		out[i] = t.Calls[i].Status
	}
	return out
}

func setStatuses(t *trace.Trajectory, statuses []trace.Status) {
	for i, s := range statuses {
		t.Calls[i].Status = s
	}
}

// declare adds a trajectory to declarations. Where they know all that they are to know, it
// only gets the statuses that rules read, if these are noted.
func declare(to Declarations, t *trace.Trajectory, isWhole bool) {
	statuses, noted := t.Noted(declaredKey{}).([]trace.Status)
	if isWhole && noted {
		setStatuses(t, statuses)
		return
	}
	if to.Add(t); !noted && t.IsNoted() {
		statuses = statusesOf(t)
		t.Note(declaredKey{}, statuses, len(statuses))
	}
}
