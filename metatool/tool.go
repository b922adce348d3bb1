package metatool

import (
	"slices"

	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/trace"
)

// Tool is a meta-tool as it is run: what an agent is offered, and the calls that
// are made when it is called. It holds nothing of the traces that it was found
// in but what its bindings and schemas say.
type Tool struct {
	Name        string // fits every provider: ^[A-Za-z_][A-Za-z0-9_-]{0,63}$
	Description string
	Inputs      []Input // in order of step, then argument
	Steps       []Step
	Output      Output
	Annotations Annotations
}

// Input is a value that whoever calls the meta-tool has to give.
type Input struct {
	Name     string // unique in the meta-tool: ^[A-Za-z_][A-Za-z0-9_]{0,63}$
	Step     int    // index into Tool.Steps of the first step that takes it
	Argument string // of that step's tool
	Required bool
	Schema   trace.Value // JSON Schema: that of the tool's definition, else what fits the values seen
}

// Step is a call that a meta-tool makes, or with Each one call for every element
// of a list.
type Step struct {
	Tool string // the tool that is called
	Name string // what the rules call it, mostly the same

	// Each gives the list that is walked, in its order; nil for a single call. Its
	// path selects the elements. The result of such a step is the array of the
	// results of its calls. Each different element is walked once; a list without
	// elements makes no call.
	Each *Binding
	Args []Argument // in order of names

	// ReadOnly and Idempotent are what the rules (or definitions) say of the
	// call; a step that is neither may not be repeated.
	ReadOnly   bool
	Idempotent bool

	// Expect are conditions that the result of each call met wherever it was
	// recorded as ok, beyond being no error: what later bindings rely on.
	Expect []Expectation

	// Instead are tools that only read and may stand in for the tool if it fails, the
	// best first: a hint for who is handed the run back. Nothing calls them.
	Instead []string
}

// Argument is an argument of a step and where its value comes from.
type Argument struct {
	Name    string
	Binding Binding
	// Optional arguments are left out of the call if the binding gives nothing;
	// otherwise that is a failure of the step.
	Optional bool
	// Schema names the types that the tool takes, as {"type": ...}, from its definition;
	// null if that is not known. A value of another type is a failure of the step.
	Schema trace.Value
}

// BindingKind says where a value comes from.
type BindingKind uint8

// The kinds of bindings, the plainest first.
const (
	BindConst    BindingKind = iota // always Const
	BindStep                        // at Path in the result of step Step
	BindElement                     // at Path in the element that a step with Each walks over
	BindTemplate                    // Template, with Parts in its holes
	BindInput                       // the input Input
)

// String returns the kind as artefacts name it: "const", "step", "element",
// "template" or "input".
func (k BindingKind) String() string {
	return [...]string{"const", "step", "element", "template", "input"}[k]
}

// Binding is where the value of an argument comes from (algorithm: one of the
// closed set of forms that every emitted program can evaluate without a library).
type Binding struct {
	Kind  BindingKind
	Const trace.Value // BindConst
	Input string      // BindInput: the name of the input
	Step  int         // BindStep: index into Tool.Steps, an earlier one

	// Path is read in the result, which is looked through if it is a text that
	// holds JSON; it may hold one filter. An open filter is closed by the value
	// of Key. It must give exactly one value, but for Step.Each, where it gives
	// the elements.
	Path jsonpath.Path
	Key  *Binding

	Template string // BindTemplate: with a dataflow.Hole for each of Parts
	Parts    []Binding

	// Coerce turns a number into its text (CoerceString) or a text that is a
	// number into that number (CoerceNumber).
	Coerce Coercion
}

// Coercion is what is done to a value before it is used.
type Coercion uint8

// The coercions.
const (
	CoerceNone Coercion = iota
	CoerceString
	CoerceNumber
)

// Expectation is a condition on a result: that Path selects at least one value
// in it.
type Expectation struct{ Path jsonpath.Path }

// Output says what a meta-tool's answer holds; package execute says how (see
// execute.Outcome.Answer).
type Output struct {
	// Steps are the indices of the steps whose results are in the answer, in order;
	// none stands for all. What is not there is plumbing.
	Steps  []int
	Schema trace.Value // JSON Schema of the answer, an empty object if nothing is known
}

// Returns reports whether the result of a step is in the answer.
func (o *Output) Returns(step int) bool { return len(o.Steps) == 0 || slices.Contains(o.Steps, step) }

// Annotations are the hints of the Model Context Protocol about a tool. Those
// of a meta-tool are those of its worst step; what is unknown of a step is the
// worst.
type Annotations struct {
	ReadOnly    bool
	Destructive bool
	Idempotent  bool
	OpenWorld   bool
}

func Hint(annotations trace.Value, name string) (value, said bool) {
	v, ok := annotations.Lookup(name)
	return v.Bool, ok && v.Kind == trace.Bool
}

// InputSchema returns the JSON Schema of the meta-tool's arguments: an object
// with a property for each input, in their order of names.
func (t *Tool) InputSchema() trace.Value {
	var properties []trace.Member
	required := trace.Value{Kind: trace.Array}
	for _, in := range t.Inputs {
		properties = append(properties, trace.Member{Name: in.Name, Value: in.Schema})
		if in.Required {
			required.Elems = append(required.Elems, trace.NewString(in.Name))
		}
	}
	return trace.NewObject(
		trace.Member{Name: "type", Value: trace.NewString("object")},
		trace.Member{Name: "properties", Value: trace.NewObject(properties...)},
		trace.Member{Name: "required", Value: required},
		trace.Member{Name: "additionalProperties", Value: trace.Value{Kind: trace.Bool}},
	)
}
