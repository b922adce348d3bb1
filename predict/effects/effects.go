// Package effects collects what is known about what tools do: by rules, by annotations of
// their definitions, and by their names. [toolname.Names.Decide] says which of them counts.
//
// Trajectories come in, effects of tools for package predict go out, in any order the same.
// In memory are tools.
package effects

import (
	"bytes"

	"github.com/awo-dev/awo/internal/toolname"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/predict"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// Known is what is known about tools.
type Known struct {
	set      *rules.Set      // nil without rules
	rewriter *merge.Rewriter // nil without rules
	labels   *merge.Labels   // that it has given out
	renew    func() (*merge.Rewriter, *merge.Labels)
	ruled    map[trace.Name]*said
	declared map[trace.Name]*said      // by annotations
	noted    map[trace.Name]annotation // that was read last
	guess    bool                      // names count
	names    toolname.Names
	called   map[trace.Name]bool
}

// annotation is what a definition says, and what that means.
type annotation struct {
	raw    trace.Raw
	effect toolname.Effect
}

// said is how often what was said of a tool, by effect.
type said [toolname.Writes + 1]int

// effect is that of a write where one was said.
func (s *said) effect() toolname.Effect {
	switch {
	case s == nil:
		return toolname.Unknown
	case s[toolname.Writes] > 0:
		return toolname.Writes
	case s[toolname.Reads] > 0:
		return toolname.Reads
	}
	return toolname.Unknown
}

func note(in map[trace.Name]*said, tool trace.Name, effect toolname.Effect, n int) {
	if in[tool] == nil {
		in[tool] = &said{}
	}
	in[tool][effect] += n
}

// New returns what is known by rules, nil for none. With guess, the names of
// tools count where there are no rules: good enough to replay recordings, where
// nothing is called, and not for more.
func New(set *rules.Set, guess bool) *Known {
	e := &Known{
		set: set, guess: guess && set == nil,
		ruled: map[trace.Name]*said{}, declared: map[trace.Name]*said{}, noted: map[trace.Name]annotation{}, called: map[trace.Name]bool{},
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
func (e *Known) Add(t *trace.Trajectory) {
	for i := range t.Tools {
		d := &t.Tools[i]
		e.Met(d.Name, false)
		if d.Annotations.IsZero() {
			continue
		}
		last := e.noted[d.Name]
		if !d.Annotations.Same(last.raw) {
			last = annotation{raw: trace.Raw{Data: bytes.Clone(d.Annotations.Data), Form: d.Annotations.Form}}
			if v, err := trace.ParseValue([]byte(d.Annotations.Text())); err == nil {
				last.effect = toolname.Annotated(v)
			}
			e.noted[d.Name] = last
		}
		if last.effect != toolname.Unknown {
			note(e.declared, d.Name, last.effect, 1)
		}
	}
	for i := range t.Calls {
		if name := t.Calls[i].Tool; name != (trace.Name{}) {
			e.Met(name, true)
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
func (e *Known) rule(tool trace.Name, effect rules.Effect) {
	switch {
	case !e.set.HasEffect(tool.Value()):
		note(e.ruled, tool, toolname.Unknown, 1)
	case effect == rules.Mutator:
		note(e.ruled, tool, toolname.Writes, 1)
	default:
		note(e.ruled, tool, toolname.Reads, 1)
	}
}

// Of returns the effect of a tool. It may be used concurrently once all is added.
func (e *Known) Of(tool trace.Name) predict.Effect {
	effect, _ := e.decide(tool)
	return [...]predict.Effect{toolname.Unknown: predict.EffectUnknown, toolname.Reads: predict.EffectReads, toolname.Writes: predict.EffectWrites}[effect]
}

// Reads reports whether a tool is known to only read: by a rule, or else by the annotations of
// its definition, or else by its name. So analyses judge, and what is made ahead or walked;
// with declared a name does not count. What no rule is about is unknown here, and no
// mutator, as it is where the model is left out.
func (e *Known) Reads(tool trace.Name, declared bool) (bool, toolname.Basis) {
	name := tool.Value()
	if declared {
		name = ""
	}
	effect, basis := e.names.Decide(e.ruled[tool].effect(), e.declared[tool].effect(), name)
	return effect == toolname.Reads, basis
}

func (e *Known) decide(tool trace.Name) (toolname.Effect, toolname.Basis) {
	name := ""
	if e.guess {
		name = tool.Value()
	}
	effect, basis := e.names.Decide(e.ruled[tool].effect(), e.declared[tool].effect(), name)
	if _, met := e.ruled[tool]; met && effect == toolname.Unknown {
		return toolname.Writes, toolname.Rule // the default of rules
	}
	return effect, basis
}

// ByName reports whether the name of a tool that was called says that it reads, and
// nothing else says anything about it.
func (e *Known) ByName() bool {
	for tool := range e.called {
		if effect, basis := e.decide(tool); effect == toolname.Reads && basis == toolname.Name {
			return true
		}
	}
	return false
}

// AssumedReads returns how many of the tools that are called are taken to only read by their
// names alone; see Reads.
func (e *Known) AssumedReads() (n int) {
	for tool := range e.called {
		if reads, basis := e.Reads(tool, false); reads && basis == toolname.Name {
			n++
		}
	}
	return n
}

// Declare notes in a graph what rules and annotations say.
func (e *Known) Declare(g *predict.Graph) {
	for _, by := range []map[trace.Name]*said{e.ruled, e.declared} {
		for tool := range by { // declarations do not depend on their order
			g.Declare(tool, e.Of(tool))
		}
	}
}

// Met notes a tool that trajectories name, and whether one of them calls it.
func (e *Known) Met(tool trace.Name, called bool) {
	e.names.Add(tool.Value())
	if called {
		e.called[tool] = true
	}
}
