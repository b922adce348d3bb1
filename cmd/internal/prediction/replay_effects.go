package prediction

import (
	"slices"
	"strings"

	"github.com/awo-dev/awo/inertia"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// Effects collects what is declared about tools: by rules, else by annotations of
// their definitions, else by nobody.
type Effects struct {
	rewriter *merge.Rewriter // nil without rules
	labels   *merge.Labels   // that it has given out
	renew    func() (*merge.Rewriter, *merge.Labels)
	reads    map[trace.Name]bool
	declared map[trace.Name]inertia.Effect // by annotations
	guess    bool                          // names tell where nothing is declared
	guessed  map[trace.Name]bool           // tools whose names did
}

// NewEffects returns what is declared by rules, nil for none; guess lets names tell
// where nothing else does.
func NewEffects(set *rules.Set, guess bool) *Effects {
	e := &Effects{reads: map[trace.Name]bool{}, declared: map[trace.Name]inertia.Effect{}, guess: guess, guessed: map[trace.Name]bool{}}
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
		if effect, ok := annotated(&t.Tools[i]); ok {
			e.declared[t.Tools[i].Name] = effect
		}
	}
	for i := range t.Calls {
		if name := t.Calls[i].Tool; name != (trace.Name{}) && e.guess && e.rewriter == nil && readsByName(name.Value()) {
			e.guessed[name] = true
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
		tool := step.Tool()
		reads := step.Effect() != rules.Mutator
		if old, met := e.reads[tool]; !met || old && !reads {
			e.reads[tool] = reads
		}
		if step.Calls == 1 {
			t.Calls[step.FirstCall].Status = step.Status
		}
	}
}

// annotated reads the hints of a definition.
func annotated(d *trace.ToolDef) (inertia.Effect, bool) {
	if d.Annotations.IsZero() {
		return 0, false
	}
	v, err := trace.ParseValue([]byte(d.Annotations.Text()))
	if err != nil {
		return 0, false
	}
	hint, ok := v.Lookup("readOnlyHint")
	if !ok || hint.Kind != trace.Bool {
		return 0, false
	}
	if hint.Bool {
		return inertia.EffectReads, true
	}
	return inertia.EffectWrites, true
}

// Of returns the effect of a tool. It may be used concurrently once all is added.
func (e *Effects) Of(tool trace.Name) inertia.Effect {
	if reads, ok := e.reads[tool]; ok {
		if reads {
			return inertia.EffectReads
		}
		return inertia.EffectWrites
	}
	if effect, ok := e.declared[tool]; ok {
		return effect
	}
	if e.guessed[tool] {
		return inertia.EffectReads
	}
	return inertia.EffectUnknown
}

// readVerbs begin or end the names of tools that read.
var readVerbs = []string{"check", "count", "fetch", "find", "get", "inspect", "list", "look", "lookup", "query", "read", "retrieve", "search", "show", "view"}

// readsByName guesses from a name. A guess is good enough to replay recordings,
// where nothing is called, and never to fire a call.
func readsByName(name string) bool {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == '_' || r == '-' || r == '.' || r == '/' || r == ' ' })
	return len(words) > 0 && slices.ContainsFunc(words, func(w string) bool { return slices.Contains(readVerbs, w) })
}
