package merge

import (
	"github.com/awo-dev/awo/merge/internal/hash128"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// View sees trajectories as a set of rules does: it says where the history of
// calls stands before each of them. It keeps what a Rewriter keeps and is not
// safe for concurrent use.
type View struct {
	rewriter *Rewriter
	walker   *Walker
	points   []Point
}

// Point is where a history stands: the key of its state, and of its writes alone.
type Point struct{ State, Writes hash128.Hash }

// NewView returns a view under all rules of the set, which may be nil. catalog,
// which may be nil, is told the calls' arguments. remembered limits how many
// different calls a generation of the cache remembers; 0 means the default.
func NewView(set *rules.Set, catalog *Catalog, remembered int) *View {
	full := Full(set)
	r := NewRewriter(set, full, nil, catalog)
	if remembered > 0 {
		r.plans.limit = remembered
	}
	return &View{rewriter: r, walker: NewWalker(r, full, 0)}
}

// Look returns the steps of a trajectory, and where its history stands before
// each call and, as the last point, at the end. results are the texts of what
// the calls returned, or nil to have them taken from t where rules ask for them.
// Both slices are the view's own and good until the next call.
func (v *View) Look(t *trace.Trajectory, results []string) ([]Step, []Point) {
	v.rewriter.results = results
	steps := v.rewriter.Rewrite(t)
	v.rewriter.results = nil
	h := &v.walker.history
	h.reset()
	root := Point{h.key(), h.total}
	at, next := root, 0
	v.points = v.points[:0]
	for i := range len(t.Calls) + 1 {
		for ; next < len(steps) && int(steps[next].LastCall) < i; next++ {
			if steps[next].Cut {
				h.reset()
				at = root
			}
			if v.walker.enter(steps[next].action) {
				at = Point{h.key(), h.total}
			}
		}
		if next < len(steps) && steps[next].Cut && int(steps[next].FirstCall) <= i {
			v.points = append(v.points, root)
			continue
		}
		v.points = append(v.points, at)
	}
	return steps, v.points
}
