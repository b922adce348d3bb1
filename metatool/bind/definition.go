package bind

import (
	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/candidate"
)

// Definition is a meta-tool as it is offered, and what it was made from.
type Definition struct {
	metatool.Tool
	Candidate *candidate.Candidate
	Overlaps  bool // what it was made from does; see candidate.Extraction

	// Bound says of every argument why it is bound as it is, in order of step,
	// then argument.
	Bound []BoundArgument

	// Plumbing are the steps whose results are left out of the answer, in order.
	Plumbing []Plumbing

	// Refusals say why the candidate cannot be offered; nil if it can. What else
	// the definition says is as if it could.
	Refusals []Refusal
}

// BoundArgument is the evidence for the binding of one argument.
type BoundArgument struct {
	Step     int // index into Tool.Steps
	Argument string
	Binding  metatool.Binding
	Withheld bool // an input, though all recordings have one value: one that may be a secret
	Evidence Evidence
	Others   []Alternative // other bindings that were looked at, the plainest first
}

// Alternative is a binding that was not chosen, and why: disagrees,
// too-little-evidence, value-hidden (a constant or text that must not be written
// down), key-unknown, not-needed.
type Alternative struct {
	Binding  metatool.Binding
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
	Known stat.Proportion

	// ExtraMean and ExtraP95 are, for a fan-out, how many calls it makes beyond
	// the recorded ones, an occurrence.
	ExtraMean float64
	ExtraP95  int
}

// Refusal is a reason why a candidate cannot be a tool. Codes are stable:
//
//	step-inserted           a rule put the step in, nobody called it
//	tool-ambiguous          rules gave calls of several tools one name
//	arguments-not-recorded  what the step was called with is not known
//	arguments-no-object     the step's arguments were no JSON object
//	arguments-too-many      the step's arguments have too many different names
//	step-folded             a rule made one step of several calls
//	returns-credentials     results of the step look like credentials, and no rule of kind plumbing decides about them
//	unknown-before-chain    only the model, or a call inside the chain, knew the argument
//	fan-out-varies          the calls of a fan-out differ in an argument that the list does not give
//	fan-out-nested          the list cannot be walked: the argument stands inside another, or the calls write and the list stands in a list of results
//	fan-out-unproven        agents often call with what is not in the list
//	fan-out-partial         the calls write, and not every run took the whole list
//	fan-out-extra           walking the whole list makes too many calls that nobody made
type Refusal struct {
	Code     string `json:"code"`
	Step     int    `json:"step"`     // index into Tool.Steps
	Argument string `json:"argument"` // of that step, "" if it is about the whole step
}
