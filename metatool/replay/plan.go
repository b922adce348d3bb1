package replay

import (
	"slices"

	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/trace"
)

// plan is a meta-tool with what is asked of it at every place worked out once. It is not
// changed, and may be shared.
type plan struct {
	tool   *metatool.Tool
	steps  []planStep
	inputs []planInput
	omits  bool  // the answer leaves results out
	needs  []int // what a moment asks for; numbers in a Finder's needs
}

// planStep is a step of a meta-tool.
type planStep struct {
	*metatool.Step
	called   trace.Name
	fixed    []int // the arguments that are always the same
	alike    int   // later steps in a row that call the same tool
	returned bool  // its result is in the answer
	crosses  bool  // reads of the agent may stand before it; see Sequence.at
}

// planInput is an input of a meta-tool.
type planInput struct {
	*metatool.Input
	sources    []inputSource // what tells its value, the best first
	isTaken    bool          // there is a step that takes it
	isArgument bool          // it is an argument there, and not only part of where one comes from
	isWalked   bool          // it is the list that the step walks
}

// inputSource is an argument of recorded calls that is an input.
type inputSource struct {
	step, argument int  // argument is an index into Step.Args, -1 for all calls of a walk over the input
	isKey          bool // the argument comes from where a member is the input
}

// need is an argument that an agent must know to call a meta-tool.
type need struct {
	called   trace.Name
	argument string
}

func newPlan(tool *metatool.Tool) *plan {
	p := &plan{tool: tool, steps: make([]planStep, len(tool.Steps)), inputs: make([]planInput, len(tool.Inputs))}
	for i := range tool.Steps {
		step := &p.steps[i]
		*step = planStep{Step: &tool.Steps[i], called: trace.Intern(tool.Steps[i].Tool), returned: tool.Output.Returns(i)}
		p.omits = p.omits || !step.returned
		for n := range step.Args {
			if a := &step.Args[n]; a.Binding.Kind == metatool.BindConst && !a.Optional {
				step.fixed = append(step.fixed, n)
			}
		}
		for later := i + 1; later < len(tool.Steps) && tool.Steps[later].Tool == step.Tool; later++ {
			step.alike++
		}
		step.crosses = i > 0 && step.ReadOnly && !slices.ContainsFunc(p.steps[:i], func(s planStep) bool { return !s.returned })
	}
	for i := range tool.Inputs {
		in := &tool.Inputs[i]
		p.inputs[i] = planInput{Input: in, sources: sourcesOf(tool, in.Name)}
		if in.Step >= 0 && in.Step < len(tool.Steps) {
			p.inputs[i].takenBy(&tool.Steps[in.Step])
		}
	}
	return p
}

// sourcesOf returns the arguments that are nothing but an input, or the walk over it.
func sourcesOf(tool *metatool.Tool, name string) []inputSource {
	is := func(b *metatool.Binding) bool {
		return b != nil && b.Kind == metatool.BindInput && b.Input == name && b.Coerce == metatool.CoerceNone
	}
	var out []inputSource
	for i := range tool.Steps {
		step := &tool.Steps[i]
		if is(step.Each) {
			return append(out, inputSource{i, -1, false})
		}
		for a := range step.Args {
			if b := &step.Args[a].Binding; is(b) || is(b.Key) {
				out = append(out, inputSource{i, a, is(b.Key)})
			}
		}
	}
	return out
}

// takenBy notes how a step takes the input.
func (in *planInput) takenBy(step *metatool.Step) {
	in.isTaken = true
	in.isWalked = step.Each != nil && step.Each.Kind == metatool.BindInput && step.Each.Input == in.Name
	in.isArgument = slices.ContainsFunc(step.Args, func(a metatool.Argument) bool {
		return a.Name == in.Argument && a.Binding.Kind == metatool.BindInput && a.Binding.Input == in.Name
	})
}

// beyondFirst returns what the meta-tool needs beyond its first call, each once.
func (p *plan) beyondFirst() []need {
	var out []need
	for i := range p.inputs {
		in := &p.inputs[i]
		if in.Step <= 0 || !in.isTaken || !in.Required {
			continue
		}
		step := &p.steps[in.Step]
		n := need{step.called, in.Argument}
		if in.isWalked {
			n.argument = elementArgument(step.Step)
		}
		if n.argument != "" && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// elementArgument returns the first argument of a walk that the element gives.
func elementArgument(step *metatool.Step) string {
	for i := range step.Args {
		if step.Args[i].Binding.Kind == metatool.BindElement {
			return step.Args[i].Name
		}
	}
	return ""
}
