package merge

import (
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/stategraph"
	"github.com/awo-dev/awo/trace"
)

// Explanation is what the rules made of one recorded call.
type Explanation struct {
	Tool   string
	Label  string // the call as recorded, as the masker shows it
	Status trace.Status

	// Stages are the rules that match the call, in the order in which they
	// apply. What a call is folded with is part of what later rules see.
	Stages []AppliedRule

	Fate  Fate
	Steps []ExplainedStep // that the call became or is part of, inserted ones too
}

// AppliedRule is a rule that matches a call.
type AppliedRule struct {
	Rule        *rules.Rule
	OverruledBy *rules.Rule // the later rule that decides in its place; nil if it decides
	Idle        bool        // it decides, and changes nothing

	// What the rule is about, before and after it: a name, a status, a label as
	// the masker shows it, an effect, a domain. Before is empty if there was none.
	Before, After string
}

// ExplainedStep is a step with its place in the graph.
type ExplainedStep struct {
	Label    string // as the masker shows it
	Status   trace.Status
	Effect   rules.Effect
	Twice    bool // a mutator that may be done twice
	Domain   string
	Barrier  bool
	Inserted bool
	Calls    int // that the step stands for
	Cut      bool

	Walked   bool // false: it led to a state beyond the limit
	From, To stategraph.StateID
	Visits   int // times that executions came to the state it leads to
}

// Fate is what became of a call.
type Fate uint8

// The fates.
const (
	FateStep    Fate = iota // it is a step, or part of one
	FateDropped             // a drop rule left it out
	FateFailed              // the policy for failed calls left it out
	FateOther               // no model decided on it, so it is in no sequence
	FateUnread              // the policy `outcome:` leaves out its trajectory
)

// String returns the fate as a word.
func (f Fate) String() string {
	return [...]string{"step", "dropped", "failed", "not-the-model's", "unread"}[f]
}

// Explain says what the rules made of a call, an index into t.Calls. t is the
// trajectory that was added as the one of that number, from 0, and the graph
// must have its walks.
func (m *Merged) Explain(t *trace.Trajectory, trajectory, call int, masker *Masker) *Explanation {
	r := NewRewriter(m.Set, Full(m.Set), &Labels{}, nil)
	r.watch()
	c := &t.Calls[call]
	e := &Explanation{Tool: c.Tool.Value(), Status: c.Status}
	args, _ := c.ArgsValue()
	e.Label = e.Tool
	if !c.ArgsMissing() {
		e.Label = masker.show(string(newArgument(args).appendBracketed([]byte(e.Tool))), len(e.Tool), c.Tool)
	}
	steps := r.Rewrite(t)
	switch {
	case !Reads(m.Set, t):
		e.Fate = FateUnread
		return e
	case c.Origin != trace.OriginModel:
		e.Fate = FateOther
		return e
	}
	for _, s := range r.skips {
		if s.call == call {
			e.Fate = FateDropped
			if s.failed {
				e.Fate = FateFailed
			}
			e.apply(s.uses.list, masker, c.Tool)
			return e
		}
	}
	m.explainSteps(e, r, t, trajectory, call, steps, masker)
	return e
}

// explainSteps explains the steps that a call is part of.
func (m *Merged) explainSteps(e *Explanation, r *Rewriter, t *trace.Trajectory, trajectory, call int, steps []Step, masker *Masker) {
	first, last := m.Walks.Of(trajectory)
	visits := m.Graph.Visits()
	c := &t.Calls[call]
	labels := r.labels
	for i := range steps {
		step := &steps[i]
		if int(step.FirstCall) > call || int(step.LastCall) < call {
			continue
		}
		entry := &labels.entries[step.Label()]
		x := ExplainedStep{
			Label:  masker.show(entry.bracketed, int(entry.nameLen), step.Tool()),
			Status: step.Status, Effect: step.Effect(), Twice: step.Idempotent(), Domain: step.Domain(), Barrier: step.Barrier(),
			Inserted: step.Inserted, Calls: int(step.Calls), Cut: step.Cut,
		}
		if p := first + Place(i); p < last {
			edge := m.Graph.Edge(m.Walks.Edge(p))
			x.Walked, x.From, x.To, x.Visits = true, edge.From, edge.To, visits[edge.To]
		}
		e.Steps = append(e.Steps, x)
		if step.Inserted {
			continue
		}
		uses := step.action.uses.list
		renames := 0
		for renames < len(uses) && uses[renames].rule.Kind == rules.KindRename {
			renames++
		}
		e.apply(uses[:renames], masker, c.Tool)
		e.apply(r.statusesOf(c, t), masker, c.Tool)
		e.apply(uses[renames:], masker, c.Tool)
	}
}

// statusesOf returns the status rules about a call.
func (r *Rewriter) statusesOf(c *trace.Call, t *trace.Trajectory) []application {
	if r.hints {
		r.annotations = annotationsByTool(t)
	}
	return r.plan(c).statusUses(c)
}

// apply adds rules that match the call.
func (e *Explanation) apply(list []application, masker *Masker, tool trace.Name) {
	for i := range list {
		a := &list[i]
		applied := AppliedRule{Rule: a.rule, OverruledBy: a.by, Idle: a.idle, Before: a.before, After: a.after}
		if a.nameLen > 0 {
			applied.Before, applied.After = masker.show(a.before, a.nameLen, tool), masker.show(a.after, a.nameLen, tool)
		}
		e.Stages = append(e.Stages, applied)
	}
}
