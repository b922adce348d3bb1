package metatool

import (
	"github.com/awo-dev/awo/dataflow"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/trace"
)

// Definition is a meta-tool as it is offered, and what it was made from.
type Definition struct {
	Tool
	Candidate *Candidate

	// Bound says of every argument why it is bound as it is, in order of step,
	// then argument.
	Bound []BoundArgument

	// Refusals say why the candidate cannot be offered; nil if it can. What else
	// the definition says is as if it could.
	Refusals []Refusal
}

// BoundArgument is the evidence for the binding of one argument.
type BoundArgument struct {
	Step     int // index into Tool.Steps
	Argument string
	Binding  Binding
	Evidence Evidence
	Others   []Alternative // other bindings that were looked at, the plainest first
}

// Alternative is a binding that was not chosen, and why: disagrees,
// too-little-evidence, value-hidden (a constant or text that must not be written
// down), key-unknown, not-needed.
type Alternative struct {
	Binding  Binding
	Evidence Evidence
	Reason   string
}

// Evidence is what speaks for a binding.
type Evidence struct {
	// Judgment is the link that the binding follows, over all trajectories; nil
	// for constants and plain inputs.
	Judgment *dataflow.Judgment
	// Agree counts the occurrences of the candidate (at most 2,000 of them are
	// looked at) in which the binding gives what was recorded, Occurrences all.
	Agree, Occurrences int
	// Known is, for an input of a step behind the first, how often its value was
	// known before the first call.
	Known dataflow.Interval

	// ExtraMean and ExtraP95 are, for a fan-out, how many calls it makes beyond
	// the recorded ones, an occurrence.
	ExtraMean float64
	ExtraP95  int
}

// Annotations are the hints of the Model Context Protocol about a tool. Those
// of a meta-tool are those of its worst step; what is unknown of a step is the
// worst.
type Annotations struct {
	ReadOnly    bool
	Destructive bool
	Idempotent  bool
	OpenWorld   bool
}

// Refusal is a reason why a candidate cannot be a tool. Codes are stable:
//
//	step-inserted           a rule put the step in, nobody called it
//	tool-ambiguous          rules gave calls of several tools one name
//	arguments-not-recorded  what the step was called with is not known
//	arguments-no-object     the step's arguments were no JSON object
//	arguments-too-many      the step's arguments have too many different names
//	step-folded             a rule made one step of several calls
//	unknown-before-chain    only the model, or a call inside the chain, knew the argument
//	fan-out-varies          the calls of a fan-out differ in an argument that the list does not give
//	fan-out-nested          the list cannot be walked: it stands in a list of results, or the argument inside another
//	fan-out-unproven        agents often call with what is not in the list
//	fan-out-partial         the calls write, and not every run took the whole list
//	fan-out-extra           walking the whole list makes too many calls that nobody made
type Refusal struct {
	Code     string
	Step     int    // index into Tool.Steps
	Argument string // of that step, "" if it is about the whole step
}

// Define makes the definitions of candidates of a merged graph, one for each in
// their order. Names differ from each other and from the names of all tools
// that the traces know.
func Define(m *merge.Merged, candidates []*Candidate) []*Definition {
	names := newNames(m)
	definitions := make([]*Definition, len(candidates))
	for i, c := range candidates {
		definitions[i] = define(m, c, names)
	}
	return definitions
}

func define(m *merge.Merged, c *Candidate, names *names) *Definition {
	d := &Definition{Candidate: c}
	for _, l := range c.Labels {
		tool, _ := m.Labels.Tool(l)
		d.Steps = append(d.Steps, Step{
			Tool: tool.Value(), Name: m.Labels.Name(l), ReadOnly: m.Labels.ReadOnly(l), Idempotent: m.Labels.Idempotent(l),
		})
	}
	d.Output = Output{Schema: trace.Value{Kind: trace.Object}}
	for i := range d.Steps {
		d.Output.Steps = append(d.Output.Steps, i)
	}
	d.refuse(m)
	d.annotate(m)
	d.takeInputs(m)
	var callNames []string
	for _, s := range d.Steps {
		callNames = append(callNames, s.Name)
	}
	given := m.Set.MetaTool(callNames)
	switch {
	case given != nil:
		d.Name, d.Description = names.unique(given.Name), given.Description
	default:
		d.Name = names.of(callNames)
	}
	if d.Description == "" {
		d.Description = describeSteps(m, c.Labels)
	}
	return d
}

// refuse looks for reasons why the steps cannot be called.
func (d *Definition) refuse(m *merge.Merged) {
	for i, l := range d.Candidate.Labels {
		add := func(code string) { d.Refusals = append(d.Refusals, Refusal{Code: code, Step: i}) }
		for _, o := range d.Candidate.Occurrences {
			if m.Walks.Inserted(o.First + merge.Place(i)) {
				add("step-inserted")
				break
			}
		}
		if _, sole := m.Labels.Tool(l); !sole {
			add("tool-ambiguous")
		}
		if !m.Labels.HasArgs(l) {
			add("arguments-not-recorded")
		}
		for _, a := range m.Labels.Args(l) {
			if a.Name == "_raw" || a.Name == "_value" {
				add("arguments-no-object")
				break
			}
		}
	}
}

// annotate works out the hints of the worst step. Whether a step reads only, or
// may be repeated, the rules decide; the recorded annotations of a tool, which
// nobody vouches for, only matter where the rules say nothing.
func (d *Definition) annotate(m *merge.Merged) {
	d.Annotations = Annotations{ReadOnly: true, Idempotent: true}
	for _, l := range d.Candidate.Labels {
		tool, _ := m.Labels.Tool(l)
		var hints trace.Value
		if t := m.Catalog.Tool(tool); t != nil {
			hints = t.Definition.Annotations
		}
		if open, said := hint(hints, "openWorldHint"); !said || open {
			d.Annotations.OpenWorld = true
		}
		if m.Labels.ReadOnly(l) {
			continue
		}
		d.Annotations.ReadOnly = false
		if destructive, said := hint(hints, "destructiveHint"); !said || destructive {
			d.Annotations.Destructive = true
		}
		if !m.Labels.Idempotent(l) {
			d.Annotations.Idempotent = false
		}
	}
}

func hint(annotations trace.Value, name string) (value, said bool) {
	v, ok := annotations.Lookup(name)
	return v.Bool, ok && v.Kind == trace.Bool
}
