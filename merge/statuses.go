package merge

import (
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// Statuses gives calls the status that their results tell: by the status rules of a
// set, and where neither a rule nor a flag of the format says anything, by
// [trace.Trajectory.ReadFailures]. It is used by one goroutine.
type Statuses struct{ rewriter *Rewriter }

// NewStatuses returns the statuses under a set of rules, which may be nil.
func NewStatuses(set *rules.Set) *Statuses {
	s := &Statuses{}
	if set != nil {
		for range set.Of(rules.KindStatus) {
			s.rewriter = NewRewriter(set, Full(set), nil, nil)
			break
		}
	}
	return s
}

// Read gives the calls of t their statuses. What it does twice is the same as once.
func (s *Statuses) Read(t *trace.Trajectory) {
	if s.rewriter != nil {
		s.rewriter.readStatuses(t)
	}
	t.ReadFailures()
}

// readStatuses applies the status rules to all calls of t, whoever decided on them.
func (r *Rewriter) readStatuses(t *trace.Trajectory) {
	r.look(t)
	for i := range t.Calls {
		call := &t.Calls[i]
		plan := r.plan(call)
		if plan.special == nil || len(plan.special.statuses) == 0 || !call.HasResult {
			continue
		}
		status, said := plan.special.readStatus(call, func() []byte { return r.resultOf(i, call) })
		if said && (status != call.Status || call.StatusFrom != "") {
			call.Status, call.StatusFrom = status, trace.ByRule
		}
	}
	r.parsed, r.parsedArgs, r.annotations, r.observed = nil, trace.Value{}, nil, nil
}
