package merge

import (
	"slices"

	"github.com/awo-dev/awo/merge/internal/hash128"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// plan is what the rules make of one call, whatever comes before and after it.
type plan struct {
	action  *action     // made when first needed
	special *special    // nil: no rule of the first stages is about the call
	open    []*observed // arguments that may still turn out to be constant
}

// special is what the first stages do to a call.
type special struct {
	dropped  bool
	name     string // after renaming
	fold     *rules.Rule
	statuses []*rules.Rule // status rules about the call, in file order
}

// name is the name of the call after renaming.
func (p *plan) name(call *trace.Call) string {
	if p.special != nil {
		return p.special.name
	}
	return call.Tool.Value()
}

// fold is the fold rule about the call, nil for none.
func (p *plan) fold() *rules.Rule {
	if p.special != nil {
		return p.special.fold
	}
	return nil
}

// status is the status of the call after the status rules.
func (p *special) status(call *trace.Call, result func() []byte) trace.Status {
	status, _ := p.readStatus(call, result)
	return status
}

// readStatus is status, and whether a rule said it: the last one whose pattern matches
// the result decides.
func (p *special) readStatus(call *trace.Call, result func() []byte) (status trace.Status, said bool) {
	if len(p.statuses) == 0 || !call.HasResult {
		return call.Status, false
	}
	text := result()
	for _, rule := range slices.Backward(p.statuses) {
		switch {
		case !rule.Tells(text):
		case rule.Is == "failed":
			return trace.StatusFailed, true
		default:
			return trace.StatusOK, true
		}
	}
	return call.Status, false
}

// plan returns the plan for a call, from the cache if it is there.
func (r *Rewriter) plan(call *trace.Call) *plan {
	if r.lastTool != call.Tool || len(r.toolSeeds) == 0 {
		r.lastTool, r.lastSeed = call.Tool, r.toolSeed(call.Tool)
	}
	key := r.seeds.Raw(call.Args).Plus(r.lastSeed)
	for _, name := range r.context {
		for _, c := range call.Context {
			if c.Name == name {
				key = hash128.Mix(key, hash128.Mix(r.seeds.Text(name), r.seeds.Text(c.Value)))
			}
		}
	}
	if r.hints {
		key = hash128.Mix(key, r.seeds.Raw(r.annotations[call.Tool]))
	}
	if seen := r.observed[call]; seen != nil {
		key = hash128.Mix(key, r.seeds.Text(seen.text))
	}
	p := r.plans.find(key)
	if p == nil {
		p = r.newPlan(call)
		r.plans.add(key, p)
	}
	if len(p.open) > 0 {
		p.open = r.catalog.see(p.open)
	}
	return p
}

func (r *Rewriter) toolSeed(name trace.Name) hash128.Hash {
	seed, known := r.toolSeeds[name]
	if !known {
		seed = r.seeds.Text(name.Value())
		r.toolSeeds[name] = seed
	}
	return seed
}

// subject returns a call as the rules see it before the first stage. A call is
// often asked about twice in a row: its arguments are parsed once.
func (r *Rewriter) subject(call *trace.Call) subject {
	if r.parsed != call {
		r.parsed = call
		r.parsedArgs, _ = call.ArgsValue()
	}
	s := subject{name: call.Tool.Value(), args: r.parsedArgs, context: call.Context, seen: r.observed[call]}
	if r.hints {
		s.annotations = r.annotations.value(call.Tool)
	}
	return s
}

// newPlan works out the first stages for a call.
func (r *Rewriter) newPlan(call *trace.Call) *plan {
	s := r.subject(call)
	p := &plan{}
	if r.catalog != nil {
		p.open = r.catalog.observe(call.Tool, s.args)
	}
	found := r.rulesFor(s.name)
	if s.last(found.of[rules.KindDrop]) != nil {
		p.special = &special{dropped: true}
		return p
	}
	first := special{name: s.name}
	if rule := s.last(found.of[rules.KindRename]); rule != nil {
		first.name = s.newName(rule)
		found = r.rulesFor(first.name)
	}
	first.statuses = s.matching(found.of[rules.KindStatus])
	first.fold = s.last(found.of[rules.KindFold])
	if first.name != s.name || first.statuses != nil || first.fold != nil {
		p.special = &first
	}
	return p
}

// actionOf returns the action of the call that the plan is for.
func (p *plan) actionOf(r *Rewriter, call *trace.Call) *action {
	if p.action == nil {
		s := r.subject(call)
		s.name = p.name(call)
		p.action = r.action(&s, call.Tool, false, call.ArgsMissing())
		if r.watching {
			p.action.uses = r.firstUses(call).before(p.action.uses)
		}
	}
	return p.action
}

// planCache remembers plans by a hash of all that they depend on, in two
// generations: when the young one is full it becomes the old one, and what is
// asked for again is young again. So it holds between one and two times its
// limit, and what is used often stays.
type planCache struct {
	young, old map[hash128.Hash]*plan
	limit      int // of one generation
}

// find returns the plan of the key, nil if it is not remembered.
func (c *planCache) find(key hash128.Hash) *plan {
	if p := c.young[key]; p != nil {
		return p
	}
	p := c.old[key]
	if p != nil {
		c.add(key, p)
	}
	return p
}

// add remembers a plan whose key is not in the young generation.
func (c *planCache) add(key hash128.Hash, p *plan) {
	if c.young == nil || len(c.young) >= c.limit {
		c.old, c.young = c.young, map[hash128.Hash]*plan{}
	}
	c.young[key] = p
}
