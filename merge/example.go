package merge

import (
	"fmt"
	"strings"

	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/stategraph"
	"github.com/awo-dev/awo/trace"
)

// Disagreement is one thing in which an example of a rule file does not hold.
type Disagreement struct {
	Step      int    // index into Example.Gives, -1 if it is about all steps
	What      string // "steps", "state" or a field of rules.Expectation, in lower case
	Got, Want string
}

// CheckExample applies all rules of the set to the calls of an example and
// returns in what it does not hold, nil if it does. Values are those of the rule
// file and are shown. A tool that the example calls with different annotations
// has the last of them.
func CheckExample(set *rules.Set, e *rules.Example) []Disagreement {
	p := player{set: set, labels: &Labels{}}
	p.rewriter = NewRewriter(set, Full(set), p.labels, nil)
	p.walker = NewWalker(p.rewriter, Full(set), 0)
	steps, walk := p.play(e.Calls)
	switch {
	case e.SameState != nil:
		_, other := p.play(e.SameState)
		if end(walk) != end(other) {
			return []Disagreement{{-1, "state", "two states", "the same state"}}
		}
		return nil
	case e.OtherState != nil:
		_, other := p.play(e.OtherState)
		if end(walk) == end(other) {
			return []Disagreement{{-1, "state", "the same state", "another state"}}
		}
		return nil
	}
	if len(steps) != len(e.Gives) {
		return []Disagreement{{-1, "steps", p.list(steps), fmt.Sprint(len(e.Gives))}}
	}
	var found []Disagreement
	before := stategraph.Root
	for i := range steps {
		found = append(found, p.compare(i, &steps[i], walk[i].To == before, &e.Gives[i])...)
		before = walk[i].To
	}
	return found
}

// player plays the calls of examples.
type player struct {
	set      *rules.Set
	labels   *Labels
	rewriter *Rewriter
	walker   *Walker
}

func (p *player) play(calls []rules.ExampleCall) ([]Step, []stategraph.Step) {
	steps := append([]Step(nil), p.rewriter.Rewrite(exampleTrajectory(calls))...)
	return steps, p.walker.Walk(steps, nil)
}

// exampleTrajectory makes a trajectory of the calls of an example, each in a turn
// of its own.
func exampleTrajectory(calls []rules.ExampleCall) *trace.Trajectory {
	t := &trace.Trajectory{Outcome: trace.OutcomeSuccess}
	for i, c := range calls {
		call := trace.Call{Tool: trace.Intern(c.Tool), Args: trace.JSONOf(c.Args), Turn: i}
		for _, x := range c.Context {
			call.Context = append(call.Context, trace.ContextValue{Name: x.Name, Value: x.Text})
		}
		switch c.Status {
		case "ok":
			call.Status = trace.StatusOK
		case "failed":
			call.Status = trace.StatusFailed
		}
		if c.Result != "" {
			call.Result, call.HasResult = trace.TextOf(c.Result), true
		}
		if c.Annotations != nil {
			t.Tools = append(t.Tools, trace.ToolDef{Name: call.Tool, Annotations: annotationsJSON(c.Annotations)})
		}
		t.Turns = append(t.Turns, trace.Turn{FirstCall: i, NumCalls: 1})
		t.Calls = append(t.Calls, call)
	}
	return t
}

// list counts steps and says which they are.
func (p *player) list(steps []Step) string {
	var labels []string
	for i := range steps {
		labels = append(labels, p.labels.Text(steps[i].Label()))
	}
	if labels == nil {
		return "0"
	}
	return fmt.Sprintf("%d (%s)", len(labels), strings.Join(labels, ", "))
}

// annotationsJSON joins annotations, whose texts are JSON, to an object.
func annotationsJSON(texts []rules.ContextText) trace.Raw {
	out := []byte{'{'}
	for i, a := range texts {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(appendString(out, a.Name), ':')
		out = append(out, a.Text...)
	}
	return trace.JSONOf(append(out, '}'))
}

// end is the state that a walk leads to.
func end(walk []stategraph.Step) stategraph.StateID {
	if len(walk) == 0 {
		return stategraph.Root
	}
	return walk[len(walk)-1].To
}

// compare returns in what a step is not as it is expected.
func (p *player) compare(i int, step *Step, loop bool, want *rules.Expectation) []Disagreement {
	var found []Disagreement
	check := func(what, got, want string) {
		if got != want {
			found = append(found, Disagreement{i, what, got, want})
		}
	}
	text, name := p.labels.Text(step.Label()), p.labels.Name(step.Label())
	if want.Label != "" {
		check("label", text, want.Label)
	}
	if want.Tool != "" {
		check("tool", name, want.Tool)
	}
	if want.Args != nil {
		check("args", text[len(name):], canonical(want.Args))
	}
	if want.Effect != "" {
		check("effect", step.Effect().String(), want.Effect)
	}
	if want.Domain != nil {
		check("domain", step.Domain(), *want.Domain)
	}
	if want.Status != "" {
		check("status", step.Status.String(), want.Status)
	}
	if want.Answer != "" {
		check("answer", step.Answer().String(), want.Answer)
	}
	for _, flag := range []struct {
		what string
		got  bool
		want *bool
	}{{"barrier", step.Barrier(), want.Barrier}, {"idempotent", step.Idempotent(), want.Idempotent}, {"loop", loop, want.Loop}} {
		if flag.want != nil {
			check(flag.what, fmt.Sprint(flag.got), fmt.Sprint(*flag.want))
		}
	}
	return found
}

func canonical(json []byte) string {
	v, err := trace.ParseValue(json)
	if err != nil {
		return string(json)
	}
	return string(v.AppendCanonical(nil))
}
