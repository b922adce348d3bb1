package execute

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/trace"
)

// Options say how a meta-tool is run. The zero value is the default.
type Options struct {
	Timeout  time.Duration // of each call; 0 sets none beyond that of the context
	MaxCalls int           // of all steps together; 0 is 100

	// Retries is how often a call that failed or was not answered is made again,
	// if it reads only or may be repeated without harm: 0 is once, less is never.
	// Other calls are never made again.
	Retries int

	// SkipFailedReads goes on when one of several calls of a step that reads only
	// fails: its result is then null and the outcome partial.
	SkipFailedReads bool
}

// State says how a run ended.
type State string

// The states.
const (
	Done       State = "done"        // every call was made and none failed
	Partial    State = "partial"     // done, but for reads that were skipped
	HandedBack State = "handed-back" // it ended early; see Failure
)

// Codes of failures. They are stable.
const (
	CodeBadInput     = "bad-input"         // an input is missing, unknown or of the wrong kind
	CodeNothingBound = "nothing-bound"     // an argument's binding gives no value, or several
	CodeCallFailed   = "call-failed"       // the tool answered with a failure
	CodeNoAnswer     = "no-answer"         // the call could not be made, or was not answered
	CodeDeadline     = "deadline"          // time was up
	CodeUnexpected   = "unexpected-result" // the result lacks what results had when they were recorded
	CodeTooManyCalls = "too-many-calls"    // more than Options.MaxCalls
)

// defaultMaxCalls keeps a list of thousands from becoming thousands of calls.
const defaultMaxCalls = 100

// Outcome is what came of a run.
type Outcome struct {
	State   State
	Output  trace.Value // what the meta-tool returns; null when handed back
	Steps   []StepRun   // of the steps that were begun
	Failure *Failure    // nil unless handed back

	// Retry says whether the whole may be run again: nothing was written, or only
	// what may be written twice.
	Retry bool
}

// StepRun is one step of a run.
type StepRun struct {
	Step    int // index into Tool.Steps
	Calls   []CallRun
	Result  trace.Value // of the whole step: with Each an array
	Skipped int         // calls whose failure was skipped
}

// CallRun is one call of a run.
type CallRun struct {
	Args   trace.Value
	Result Result
	Tries  int   // how often it was made
	Err    error // why there is no result; nil if there is one
}

// Failure says where and why a run ended.
type Failure struct {
	Step     int // index into Tool.Steps, -1 if it did not begin
	Call     int // of that step, from 0
	Code     string
	Argument string // whose binding gave nothing, or the input that is bad
	Err      error  // what the Caller said; nil if it said nothing
}

// Error returns what failed, without any value.
func (f *Failure) Error() string {
	where := "before the first step"
	if f.Step >= 0 {
		where = fmt.Sprintf("at step %d", f.Step+1)
	}
	if f.Argument != "" {
		return fmt.Sprintf("%s: %s (%s)", where, f.Code, f.Argument)
	}
	return fmt.Sprintf("%s: %s", where, f.Code)
}

// Unwrap returns what the Caller said.
func (f *Failure) Unwrap() error { return f.Err }

// run is a run under way.
type run struct {
	tool    *metatool.Tool
	caller  Caller
	options Options
	scope   metatool.Scope
	out     *Outcome
	calls   int
	room    []CallRun // by step: for its first call
}

// Run runs a meta-tool: its steps in order, each with what its bindings give.
// The first failure ends it. Inputs are an object, and must be what the
// meta-tool takes: all that are required and no others. An input that is not
// required counts as not given if it is null: where a provider wants every input
// to be given, null is all that is left to say so.
func Run(ctx context.Context, tool *metatool.Tool, inputs trace.Value, caller Caller, o Options) *Outcome {
	if o.MaxCalls <= 0 {
		o.MaxCalls = defaultMaxCalls
	}
	switch {
	case o.Retries == 0:
		o.Retries = 1
	case o.Retries < 0:
		o.Retries = 0
	}
	inputs = given(tool, inputs)
	n := len(tool.Steps)
	r := &run{
		tool: tool, caller: caller, options: o, scope: metatool.Scope{Inputs: inputs, Results: make([]*trace.Value, 0, n)},
		out: &Outcome{State: Done, Retry: true, Steps: make([]StepRun, 0, n)}, room: make([]CallRun, n),
	}
	if f := checkInputs(tool, inputs); f != nil {
		r.handBack(f)
		return r.out
	}
	for i := range tool.Steps {
		if f := r.step(ctx, i); f != nil {
			r.handBack(f)
			return r.out
		}
	}
	r.out.Output = r.output()
	return r.out
}

func (r *run) handBack(f *Failure) {
	r.out.State, r.out.Failure, r.out.Output = HandedBack, f, trace.Value{}
}

// given returns the inputs without those that are null and not required.
func given(tool *metatool.Tool, inputs trace.Value) trace.Value {
	absent := func(m trace.Member) bool {
		return m.Value.Kind == trace.Null && slices.ContainsFunc(tool.Inputs, func(in metatool.Input) bool {
			return in.Name == m.Name && !in.Required
		})
	}
	if !slices.ContainsFunc(inputs.Members, absent) {
		return inputs
	}
	inputs.Members = slices.DeleteFunc(slices.Clone(inputs.Members), absent)
	return inputs
}

// checkInputs says what is wrong with the inputs: their names, and their kinds
// as far as the schema names one.
func checkInputs(tool *metatool.Tool, inputs trace.Value) *Failure {
	bad := func(name string) *Failure { return &Failure{Step: -1, Code: CodeBadInput, Argument: name} }
	if inputs.Kind != trace.Object {
		return bad("")
	}
	for i := range tool.Inputs {
		in := &tool.Inputs[i]
		v, given := inputs.Lookup(in.Name)
		if !given && in.Required || given && !fits(v, in.Schema) {
			return bad(in.Name)
		}
	}
	if name, ok := unknownInput(tool, inputs); ok {
		return bad(name)
	}
	return nil
}

// unknownInput returns the first member of the inputs that the meta-tool does not
// take.
func unknownInput(tool *metatool.Tool, inputs trace.Value) (name string, ok bool) {
	takes := func(name string) bool {
		return slices.ContainsFunc(tool.Inputs, func(in metatool.Input) bool { return in.Name == name })
	}
	if len(tool.Inputs) > fewInputs {
		names := make(map[string]bool, len(tool.Inputs))
		for i := range tool.Inputs {
			names[tool.Inputs[i].Name] = true
		}
		takes = func(name string) bool { return names[name] }
	}
	for i := range inputs.Members {
		if !takes(inputs.Members[i].Name) {
			return inputs.Members[i].Name, true
		}
	}
	return "", false
}

// fewInputs are looked through sooner than put into a map.
const fewInputs = 16

// fits reports whether a value is of a type that a schema names. What else a
// schema says is for the tool that gets the value.
func fits(v, schema trace.Value) bool {
	types, ok := schema.Lookup("type")
	if !ok {
		return true
	}
	if types.Kind == trace.String {
		return isType(v, types.Text)
	}
	for _, t := range types.Elems {
		if isType(v, t.Text) {
			return true
		}
	}
	return len(types.Elems) == 0
}

func isType(v trace.Value, name string) bool {
	switch name {
	case "integer":
		return v.Kind == trace.Number && isInteger(v.Text)
	case "boolean":
		return v.Kind == trace.Bool
	case "null", "number", "string", "array", "object":
		return v.Kind.String() == name
	}
	return true // a type that JSON Schema does not have
}

// isInteger reports whether a number in canonical text is whole: 1.0 is, as JSON
// Schema has it.
func isInteger(text string) bool {
	if !strings.ContainsAny(text, ".e") {
		return true
	}
	f, err := strconv.ParseFloat(text, 64)
	return err == nil && f == math.Trunc(f)
}

func (r *run) step(ctx context.Context, i int) *Failure {
	step := &r.tool.Steps[i]
	r.out.Steps = append(r.out.Steps, StepRun{Step: i, Calls: r.room[i : i : i+1]})
	record := &r.out.Steps[i]
	if step.Each == nil {
		if f := r.call(ctx, i, record); f != nil {
			return f
		}
		record.Result = record.Calls[0].Result.Value
		r.scope.Results = append(r.scope.Results, &record.Result)
		return nil
	}
	elements, ok := r.scope.Elements(step.Each)
	if !ok {
		return &Failure{Step: i, Code: CodeNothingBound}
	}
	record.Result.Kind = trace.Array
	for _, element := range elements {
		r.scope.Element = &element
		f := r.call(ctx, i, record)
		r.scope.Element = nil
		switch {
		case f == nil:
			record.Result.Elems = append(record.Result.Elems, record.Calls[len(record.Calls)-1].Result.Value)
		case r.options.SkipFailedReads && step.ReadOnly && (f.Code == CodeCallFailed || f.Code == CodeNoAnswer):
			record.Result.Elems = append(record.Result.Elems, trace.Value{})
			record.Skipped++
			r.out.State = Partial
		default:
			return f
		}
	}
	r.scope.Results = append(r.scope.Results, &record.Result)
	return nil
}

// call makes one call of a step, the next one in its record.
func (r *run) call(ctx context.Context, i int, record *StepRun) *Failure {
	step := &r.tool.Steps[i]
	fail := func(code string, argument string, err error) *Failure {
		return &Failure{Step: i, Call: len(record.Calls), Code: code, Argument: argument, Err: err}
	}
	args, blocked, ok := r.arguments(step)
	if !ok {
		return fail(CodeNothingBound, blocked, nil)
	}
	if r.calls++; r.calls > r.options.MaxCalls {
		return fail(CodeTooManyCalls, "", nil)
	}
	if err := ctx.Err(); err != nil {
		return fail(CodeDeadline, "", err)
	}
	tries := 1
	if step.ReadOnly || step.Idempotent {
		tries += r.options.Retries
	} else {
		r.out.Retry = false
	}
	one := CallRun{Args: args}
	var f *Failure
	for one.Tries < tries {
		one.Tries++
		one.Result, one.Err = r.once(ctx, step.Tool, args)
		switch {
		case errors.Is(one.Err, context.DeadlineExceeded) || errors.Is(one.Err, context.Canceled):
			f = fail(CodeDeadline, "", one.Err)
		case one.Err != nil:
			f = fail(CodeNoAnswer, "", one.Err)
		case one.Result.Status == trace.StatusFailed:
			f = fail(CodeCallFailed, "", nil)
		case !expected(step, one.Result.Value):
			f = fail(CodeUnexpected, "", nil)
		default:
			f = nil
		}
		if f == nil || ctx.Err() != nil {
			break
		}
	}
	record.Calls = append(record.Calls, one)
	return f
}

func (r *run) once(ctx context.Context, tool string, args trace.Value) (Result, error) {
	if r.options.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.options.Timeout)
		defer cancel()
	}
	return r.caller.Call(ctx, tool, args)
}

// arguments returns the arguments of a call, or the name of the one that is
// needed and has no value; any text can be a name.
func (r *run) arguments(step *metatool.Step) (args trace.Value, blocked string, ok bool) {
	args.Kind = trace.Object
	if len(step.Args) > 0 {
		args.Members = make([]trace.Member, 0, len(step.Args))
	}
	for i := range step.Args {
		a := &step.Args[i]
		v, ok := r.scope.Value(&a.Binding)
		switch {
		case ok:
			args.Members = append(args.Members, trace.Member{Name: a.Name, Value: v})
		case !a.Optional:
			return trace.Value{}, a.Name, false
		}
	}
	return trace.NewObject(args.Members...), "", true
}

func expected(step *metatool.Step, result trace.Value) bool {
	for _, e := range step.Expect {
		if !e.Path.Selects(result) {
			return false
		}
	}
	return true
}

// output returns what the meta-tool returns.
func (r *run) output() trace.Value {
	steps := r.tool.Output.Steps
	if len(steps) == 0 {
		steps = []int{len(r.tool.Steps) - 1}
	}
	if len(steps) == 1 {
		return *r.scope.Results[steps[0]]
	}
	names := r.tool.OutputNames()
	members := make([]trace.Member, len(steps))
	for i, step := range steps {
		members[i] = trace.Member{Name: names[i], Value: *r.scope.Results[step]}
	}
	return trace.NewObject(members...)
}
