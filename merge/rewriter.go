package merge

import (
	"slices"
	"strings"

	"github.com/awo-dev/awo/merge/internal/hash128"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// Rewriter turns trajectories into steps under the rules of one strategy. It
// numbers labels by first appearance, so it is not safe for concurrent use.
//
// What rules make of a call depends on its tool, its arguments as recorded, and
// the context and annotations that rules ask for; it is worked out once and
// kept in a bounded cache, so that a call seen before costs one hash.
type Rewriter struct {
	set      *rules.Set
	kinds    kindSet
	variants []kindSet // which kinds of textual rules enter each form of a label; the last is the label
	labels   *Labels
	catalog  *Catalog
	interns  *interns

	names   map[string]*nameRules
	plans   planCache
	actions map[hash128.Hash]*action // see shared

	seeds     hash128.Seeds
	toolSeeds map[trace.Name]hash128.Hash
	lastTool  trace.Name // tools come in runs
	lastSeed  hash128.Hash

	context     []string // names of the context values that rules ask for
	hints       bool     // rules ask for annotations
	annotations annotationsOf

	observes bool // rules look at what the last call returned
	observed map[*trace.Call]*seen

	parsed     *trace.Call // whose arguments are parsedArgs
	parsedArgs trace.Value

	results []string // of the calls of this trajectory, if somebody has unquoted them already
	result  []byte   // the last one that was asked for

	steps   []Step
	pending []foldedCall
	scratch []byte
	texts   []hash128.Table // by variant, for counting distinct labels; nil if nobody asks

	watching bool   // note which rules are about each call
	skips    []skip // calls of the last trajectory that became no step; only if watching
	statuses []application
}

// MaxCached bounds how many different calls a generation of the cache remembers,
// at some 250 bytes each, unless NewView is told otherwise.
const MaxCached = 1 << 15

// NewRewriter returns a rewriter that applies the rules of the set, which may
// be nil, as far as the strategy has them. Labels go into labels; catalog, which
// may be nil, is told the calls' arguments.
func NewRewriter(set *rules.Set, strategy Strategy, labels *Labels, catalog *Catalog) *Rewriter {
	if set == nil {
		set = &rules.Set{}
	}
	return newRewriter(set, strategy.kinds, []kindSet{strategy.kinds & textual}, labels, catalog, newInterns())
}

func newRewriter(set *rules.Set, kinds kindSet, variants []kindSet, labels *Labels, catalog *Catalog, in *interns) *Rewriter {
	r := &Rewriter{
		set: set, kinds: kinds, variants: variants, labels: labels, catalog: catalog, interns: in,
		names: map[string]*nameRules{}, plans: planCache{limit: MaxCached}, actions: map[hash128.Hash]*action{},
		seeds: hash128.NewSeeds(), toolSeeds: map[trace.Name]hash128.Hash{},
	}
	matches := func(m *rules.Match) {
		for _, c := range m.Context {
			r.context = append(r.context, c.Name)
		}
		r.hints = r.hints || len(m.Annotations) > 0
		r.observes = r.observes || len(m.Result) > 0
	}
	for _, rule := range set.Rules {
		matches(&rule.Match)
		if rule.Other != nil {
			matches(rule.Other)
		}
		r.context = append(r.context, rule.Keys...)
	}
	slices.Sort(r.context)
	r.context = slices.Compact(r.context)
	return r
}

// foldedCall is a call that waits for the calls it folds with.
type foldedCall struct {
	call *trace.Call
	plan *plan
	step Step
}

// Rewrite returns the steps of a trajectory. The slice is the rewriter's own
// and good until the next call. Only calls that the model decided on become
// steps. A trajectory that `outcome:` leaves out has none.
func (r *Rewriter) Rewrite(t *trace.Trajectory) []Step {
	r.steps, r.skips, r.statuses = r.steps[:0], r.skips[:0], r.statuses[:0]
	if !Reads(r.set, t) {
		return r.steps
	}
	if r.catalog != nil {
		r.catalog.begin(t)
	}
	r.look(t)
	afterUser, cut := false, false
	for i := range t.Calls {
		call := &t.Calls[i]
		afterUser = afterUser || call.AfterUser
		if call.Origin != trace.OriginModel {
			continue
		}
		plan := r.plan(call)
		status := call.Status
		if plan.special != nil {
			if plan.special.dropped {
				if r.watching {
					r.skipped(i, call, plan, false)
				}
				continue
			}
			status = plan.special.status(call, func() []byte { return r.resultOf(i, call) })
		}
		if status == trace.StatusFailed && r.set.Failed != rules.FailedKeep {
			if r.watching {
				r.skipped(i, call, plan, true)
			}
			cut = cut || r.set.Failed == rules.FailedSplit
			continue
		}
		if r.watching {
			r.statuses = append(r.statuses, plan.statusUses(call)...)
		}
		at, turn := int32(i), int32(call.Turn)
		step := Step{
			FirstCall: at, LastCall: at, Calls: 1, FirstTurn: turn, LastTurn: turn, Turns: 1,
			Status: status, AfterUser: afterUser, Cut: cut && len(r.steps)+len(r.pending) > 0,
		}
		afterUser, cut = false, false
		if plan.special == nil && len(r.pending) == 0 {
			r.emit(plan.actionOf(r, call), &step)
			continue
		}
		r.push(call, plan, &step)
	}
	r.flush()
	r.parsed, r.parsedArgs, r.annotations, r.observed = nil, trace.Value{}, nil, nil // keep nothing of the record
	return r.steps
}

// look notes what rules want to know of a trajectory: annotations of its tools, and what
// was returned last before the turn of each call.
func (r *Rewriter) look(t *trace.Trajectory) {
	if r.hints {
		r.annotations = annotationsByTool(t)
	}
	if !r.observes {
		return
	}
	r.observed = map[*trace.Call]*seen{}
	var last, before *seen // of this turn, of earlier ones
	turn := -1
	for i := range t.Calls {
		call := &t.Calls[i]
		if call.Turn != turn || turn < 0 {
			before, turn = last, call.Turn
		}
		if before != nil {
			r.observed[call] = before
		}
		if call.HasResult {
			last = &seen{text: string(r.resultOf(i, call))}
		}
	}
}

// resultOf returns the text of what call i returned, which is valid until the next.
func (r *Rewriter) resultOf(i int, call *trace.Call) []byte {
	if cap(r.result) > maxResultRoom {
		r.result = nil
	}
	if r.results != nil {
		r.result = append(r.result[:0], r.results[i]...)
	} else {
		r.result = call.Result.AppendText(r.result[:0])
	}
	return r.result
}

// maxResultRoom is the room in bytes that is kept from one result to the next.
const maxResultRoom = 1 << 16

// Reads reports whether the set's `outcome:` policy reads the trajectory.
func Reads(set *rules.Set, t *trace.Trajectory) bool {
	return set == nil || set.Outcome == rules.OutcomeAll || t.Outcome == trace.OutcomeSuccess
}

// push hands on a call, or holds it back while calls may follow that it folds
// with: calls of one name under one fold rule, with no user message between.
func (r *Rewriter) push(call *trace.Call, plan *plan, step *Step) {
	if len(r.pending) > 0 {
		first := &r.pending[0]
		if plan.fold() != first.plan.fold() || plan.name(call) != first.plan.name(first.call) || step.AfterUser || step.Cut {
			r.flush()
		}
	}
	if plan.fold() == nil {
		r.emit(plan.actionOf(r, call), step)
		return
	}
	r.pending = append(r.pending, foldedCall{call, plan, *step})
}

// flush makes one step of the calls that were held back.
func (r *Rewriter) flush() {
	if len(r.pending) == 0 {
		return
	}
	first, last := &r.pending[0], &r.pending[len(r.pending)-1]
	if len(r.pending) == 1 {
		r.emit(first.plan.actionOf(r, first.call), &first.step)
	} else {
		step := first.step
		step.LastCall, step.LastTurn, step.Calls = last.step.LastCall, last.step.LastTurn, int32(len(r.pending))
		for i := range r.pending[1:] {
			before, p := &r.pending[i].step, &r.pending[i+1].step
			step.Status = worse(step.Status, p.Status)
			if p.FirstTurn != before.FirstTurn {
				step.Turns++
			}
		}
		r.emit(r.foldedAction(), &step)
	}
	clear(r.pending)
	r.pending = r.pending[:0]
	if r.watching {
		r.settleSkips()
	}
}

// worse is the status of two calls taken as one.
func worse(a, b trace.Status) trace.Status {
	switch {
	case a == trace.StatusFailed || b == trace.StatusFailed:
		return trace.StatusFailed
	case a == trace.StatusUnknown || b == trace.StatusUnknown:
		return trace.StatusUnknown
	}
	return trace.StatusOK
}

// foldedAction is the action of the pending calls as one: the first of them,
// with the texts of the rule's argument joined.
func (r *Rewriter) foldedAction() *action {
	first := r.pending[0]
	fold := first.plan.fold()
	var texts []string
	for _, p := range r.pending {
		value, _ := p.call.ArgsValue()
		EachAt(value, fold.Arg, func(v trace.Value) bool {
			texts = append(texts, TextOf(v))
			return false
		})
	}
	s := r.subject(first.call)
	s.name = first.plan.name(first.call)
	joined := newArgument(s.args)
	done := false
	joined.each(fold.Arg, func(a *argument) {
		if !done {
			*a = argument{kind: trace.String, text: strings.Join(texts, fold.Separator)}
			done = true
		}
	})
	s.args = joined.value()
	a := r.action(&s, first.call.Tool, false, first.call.ArgsMissing())
	if r.watching {
		first := r.firstUses(first.call)
		for _, p := range r.pending[1:] {
			first.add(r.firstUses(p.call))
		}
		a.uses = first.before(a.uses)
	}
	return a
}

// emit appends the step with the steps that rules insert around it.
func (r *Rewriter) emit(a *action, step *Step) {
	if a.beside == nil {
		r.append(a, step)
		return
	}
	for _, inserted := range a.beside.before {
		place := *step
		place.LastCall, place.LastTurn = step.FirstCall, step.FirstTurn
		r.insert(inserted, &place)
		step.AfterUser, step.Cut = false, false
	}
	r.append(a, step)
	for _, inserted := range a.beside.after {
		place := *step
		place.AfterUser, place.Cut = false, false
		place.FirstCall, place.FirstTurn = step.LastCall, step.LastTurn
		r.insert(inserted, &place)
	}
}

func (r *Rewriter) insert(a *action, place *Step) {
	place.Calls, place.Turns, place.Inserted = 0, 0, true
	r.append(a, place)
}

func (r *Rewriter) append(a *action, step *Step) {
	step.action = a
	r.steps = append(r.steps, *step)
	if r.texts != nil && !a.counted {
		a.counted = true
		for i := range r.texts {
			r.texts[i].Number(a.form(i).hash)
		}
	}
}
