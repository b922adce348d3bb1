package prediction

import (
	"bytes"

	"github.com/awo-dev/awo/inertia"
	"github.com/awo-dev/awo/internal/toolname"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// Effects collects what is known about what tools do: by rules, by annotations of
// their definitions, and by their names. [toolname.Decide] says which of them counts.
type Effects struct {
	set      *rules.Set      // nil without rules
	rewriter *merge.Rewriter // nil without rules
	labels   *merge.Labels   // that it has given out
	renew    func() (*merge.Rewriter, *merge.Labels)
	ruled    map[trace.Name]toolname.Effect
	declared map[trace.Name]toolname.Effect // by annotations
	noted    map[trace.Name]trace.Raw       // the annotations that were read last
	guess    bool                           // names count
	names    toolname.Names
	called   map[trace.Name]bool
}

// NewEffects returns what is known by rules, nil for none. With guess, the names of
// tools count where there are no rules: good enough to replay recordings, where
// nothing is called, and not for more.
func NewEffects(set *rules.Set, guess bool) *Effects {
	e := &Effects{
		set: set, guess: guess && set == nil,
		ruled: map[trace.Name]toolname.Effect{}, declared: map[trace.Name]toolname.Effect{}, noted: map[trace.Name]trace.Raw{}, called: map[trace.Name]bool{},
	}
	if set != nil {
		all := *set
		all.Failed, all.Outcome = rules.FailedKeep, rules.OutcomeAll
		e.renew = func() (*merge.Rewriter, *merge.Labels) {
			labels := &merge.Labels{}
			return merge.NewRewriter(&all, merge.Full(&all), labels, nil), labels
		}
		e.rewriter, e.labels = e.renew()
	}
	return e
}

// maxLabels bounds the labels that are given out for the sake of what else rules
// say: they are as many as there are different calls, and nobody asks for them.
const maxLabels = 1 << 16

// Add reads a trajectory, and gives its calls the status that rules read from
// their results.
func (e *Effects) Add(t *trace.Trajectory) {
	for i := range t.Tools {
		d := &t.Tools[i]
		e.names.Add(d.Name.Value())
		if d.Annotations.IsZero() || d.Annotations.Same(e.noted[d.Name]) {
			continue
		}
		e.noted[d.Name] = trace.Raw{Data: bytes.Clone(d.Annotations.Data), Form: d.Annotations.Form}
		v, err := trace.ParseValue([]byte(d.Annotations.Text()))
		if err != nil {
			continue
		}
		if effect := toolname.Annotated(v); effect != toolname.Unknown {
			e.declared[d.Name] = effect
		}
	}
	for i := range t.Calls {
		if name := t.Calls[i].Tool; name != (trace.Name{}) {
			e.called[name] = true
			e.names.Add(name.Value())
		}
	}
	if e.rewriter == nil {
		return
	}
	if e.labels.Len() > maxLabels {
		e.rewriter, e.labels = e.renew()
	}
	for _, step := range e.rewriter.Rewrite(t) {
		if step.Inserted {
			continue
		}
		e.rule(step.Tool(), step.Effect())
		if step.Calls == 1 {
			t.Calls[step.FirstCall].Status = step.Status
		}
	}
}

// rule notes what rules made of a step: a tool reads if all of its steps do. What no
// effect rule is about is a mutator by default, and that is no word of a rule.
func (e *Effects) rule(tool trace.Name, effect rules.Effect) {
	old, met := e.ruled[tool]
	switch {
	case !met && !e.set.HasEffect(tool.Value()):
		e.ruled[tool] = toolname.Unknown
	case met && old != toolname.Reads:
	case effect == rules.Mutator:
		e.ruled[tool] = toolname.Writes
	default:
		e.ruled[tool] = toolname.Reads
	}
}

// Of returns the effect of a tool. It may be used concurrently once all is added.
func (e *Effects) Of(tool trace.Name) inertia.Effect {
	effect, _ := e.decide(tool)
	return [...]inertia.Effect{toolname.Unknown: inertia.EffectUnknown, toolname.Reads: inertia.EffectReads, toolname.Writes: inertia.EffectWrites}[effect]
}

func (e *Effects) decide(tool trace.Name) (toolname.Effect, toolname.Basis) {
	name := ""
	if e.guess {
		name = tool.Value()
	}
	effect, basis := e.names.Decide(e.ruled[tool], e.declared[tool], name)
	if _, met := e.ruled[tool]; met && effect == toolname.Unknown {
		return toolname.Writes, toolname.Rule // the default of rules
	}
	return effect, basis
}

// byName reports whether the name of a tool that was called says that it reads, and
// nothing else says anything about it.
func (e *Effects) byName() bool {
	for tool := range e.called {
		if effect, basis := e.decide(tool); effect == toolname.Reads && basis == toolname.Name {
			return true
		}
	}
	return false
}
