package execute

import (
	"context"
	"errors"
	"fmt"
	"slices"
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

	// Parallel is how many calls of a step that reads only and walks a list are under
	// way at once; 0 and 1 are one after the other. The Caller is then called from
	// several goroutines.
	Parallel int

	// Begin is called before each step, with its index; nil is not.
	Begin func(step int)
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
	CodeWrongType    = "wrong-type"        // a value does not fit the schema of the argument that it is for
	CodeNothingBound = "nothing-bound"     // an argument's binding gives no value, or several
	CodeCallFailed   = "call-failed"       // the tool answered with a failure
	CodeNoAnswer     = "no-answer"         // the call could not be made, or was not answered
	CodeDeadline     = "deadline"          // time was up
	CodeUnexpected   = "unexpected-result" // the result lacks what results had when they were recorded
	CodeTooManyCalls = "too-many-calls"    // more than Options.MaxCalls
	CodeDenied       = "denied"            // somebody who was asked did not allow the call
)

// defaultMaxCalls keeps a list of thousands from becoming thousands of calls.
const defaultMaxCalls = 100

// Outcome is what came of a run. Answer says what of it is told to the agent.
type Outcome struct {
	State   State
	Steps   []StepRun // of the steps that were begun
	Failure *Failure  // nil unless handed back

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
	Element trace.Value // that it was made for, of a step that walks a list
	Args    trace.Value
	Result  Result
	Tries   int   // how often it was made
	Err     error // why there is no result; nil if there is one
}

// Failure says where and why a run ended.
type Failure struct {
	Step     int    // index into Tool.Steps, -1 if it did not begin
	Tool     string // of that step
	Call     int    // of that step, from 0
	Code     string
	Argument string // whose binding gave nothing, or the input that is bad
	Err      error  // what the Caller said; nil if it said nothing
}

// Error returns what failed, without any value.
func (f *Failure) Error() string {
	where := "before the first step"
	if f.Step >= 0 {
		where = fmt.Sprintf("at step %d, %s", f.Step+1, f.Tool)
	}
	if f.Argument != "" {
		return fmt.Sprintf("%s: %s (%s)", where, f.Code, f.Argument)
	}
	return fmt.Sprintf("%s: %s", where, f.Code)
}

// Instead returns the tools that may stand in for the one that failed, nil unless a tool
// did: where an input or a binding is wrong, another tool helps nobody.
func (f *Failure) Instead(t *metatool.Tool) []string {
	if f.Step < 0 || f.Code != CodeCallFailed && f.Code != CodeNoAnswer && f.Code != CodeUnexpected {
		return nil
	}
	return t.Steps[f.Step].Instead
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
	room    []CallRun      // by step: for its first call
	members []trace.Member // of the arguments of the calls
}

// Run runs a meta-tool: its steps in order, each with what its bindings give.
// The first failure ends it. Inputs are an object, and must be what the
// meta-tool takes: all that are required and no others. An input that is not
// required counts as not given if it is null: where a provider wants every input
// to be given, null is all that is left to say so.
func Run(ctx context.Context, tool *metatool.Tool, inputs trace.Value, caller Caller, o Options) *Outcome {
	return new(Runner).Run(ctx, tool, inputs, caller, o)
}

// Runner makes one run after the other in the same memory. The zero value is ready; it
// belongs to one goroutine.
type Runner struct {
	run
	outcome Outcome
}

// Run is Run of the package. What it returns may be read until the next run.
func (x *Runner) Run(ctx context.Context, tool *metatool.Tool, inputs trace.Value, caller Caller, o Options) *Outcome {
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
	if x.room == nil || cap(x.room) < n {
		n := max(n, cap(x.room)*2)
		x.room, x.outcome.Steps, x.scope.Results = make([]CallRun, n), make([]StepRun, 0, n), make([]*trace.Value, 0, n)
	}
	x.outcome = Outcome{State: Done, Retry: true, Steps: x.outcome.Steps[:0]}
	x.run = run{
		tool: tool, caller: caller, options: o, scope: metatool.Scope{Inputs: inputs, Results: x.scope.Results[:0]},
		out: &x.outcome, room: x.room[:n], members: x.members[:0],
	}
	r := &x.run
	f := checkInputs(tool, inputs)
	if f == nil {
		f = r.checkGiven()
	}
	if f != nil {
		r.handBack(f)
		return r.out
	}
	for i := range tool.Steps {
		if f := r.step(ctx, i); f != nil {
			r.handBack(f)
			return r.out
		}
	}
	return r.out
}

func (r *run) handBack(f *Failure) {
	if f.Step >= 0 {
		f.Tool = r.tool.Steps[f.Step].Tool
	}
	r.out.State, r.out.Failure = HandedBack, f
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
		v := inputs.Find(in.Name)
		if v == nil && in.Required || v != nil && !metatool.Fits(*v, in.Schema) {
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

func (r *run) step(ctx context.Context, i int) *Failure {
	step := &r.tool.Steps[i]
	r.out.Steps = append(r.out.Steps, StepRun{Step: i, Calls: r.room[i : i : i+1]})
	record := &r.out.Steps[i]
	if r.options.Begin != nil {
		r.options.Begin(i)
	}
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
	if r.options.Parallel > 1 && step.ReadOnly {
		return r.walk(ctx, i, elements)
	}
	if n := min(len(elements), r.options.MaxCalls-r.calls); n > 0 {
		record.Calls, record.Result.Elems = slices.Grow(record.Calls, n), make([]trace.Value, 0, n)
	}
	for n := range elements {
		r.scope.Element = &elements[n]
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
	one, f := r.prepare(i)
	if f == nil && ctx.Err() != nil {
		f = &Failure{Step: i, Code: CodeDeadline, Err: ctx.Err()}
	}
	if f != nil {
		f.Call = len(record.Calls)
		return f
	}
	if !step.ReadOnly && !step.Idempotent {
		r.out.Retry = false
	}
	code := r.attempt(ctx, step, &one)
	record.Calls = append(record.Calls, one)
	if code != "" {
		return &Failure{Step: i, Call: len(record.Calls) - 1, Code: code, Err: one.Err}
	}
	return nil
}

// prepare returns the next call of a step, or why it cannot be made.
func (r *run) prepare(i int) (CallRun, *Failure) {
	args, blocked, code := r.arguments(&r.tool.Steps[i])
	if code != "" {
		return CallRun{}, &Failure{Step: i, Code: code, Argument: blocked}
	}
	if r.calls++; r.calls > r.options.MaxCalls {
		return CallRun{}, &Failure{Step: i, Code: CodeTooManyCalls}
	}
	one := CallRun{Args: args}
	if r.scope.Element != nil {
		one.Element = *r.scope.Element
	}
	return one, nil
}

// attempt makes a call, and again if it may be repeated. It returns the code of what
// failed, "" if nothing did.
func (r *run) attempt(ctx context.Context, step *metatool.Step, one *CallRun) (code string) {
	tries := 1
	if step.ReadOnly || step.Idempotent {
		tries += r.options.Retries
	}
	for one.Tries < tries {
		one.Tries++
		one.Result, one.Err = r.once(ctx, step.Tool, one.Args)
		switch {
		case errors.Is(one.Err, ErrDenied):
			return CodeDenied
		case errors.Is(one.Err, context.DeadlineExceeded) || errors.Is(one.Err, context.Canceled):
			code = CodeDeadline
		case one.Err != nil:
			code = CodeNoAnswer
		case one.Result.Status == trace.StatusFailed:
			code = CodeCallFailed
		case !expected(step, one.Result.Value):
			code = CodeUnexpected
		default:
			return ""
		}
		if ctx.Err() != nil {
			break
		}
	}
	return code
}

func (r *run) once(ctx context.Context, tool string, args trace.Value) (Result, error) {
	if r.options.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.options.Timeout)
		defer cancel()
	}
	result, err := r.caller.Call(ctx, tool, args)
	content, failed := metatool.Content(result.Value)
	if result.Value = content; failed {
		result.Status = trace.StatusFailed
	}
	return result, err
}

// arguments returns the arguments of a call, or the name of the one that is needed and
// has no value, or one that its schema does not take, and the code of that; any text can
// be a name.
func (r *run) arguments(step *metatool.Step) (args trace.Value, blocked, code string) {
	args.Kind, args.Members = trace.Object, r.membersFor(len(step.Args))
	for i := range step.Args {
		a := &step.Args[i]
		v, ok := r.scope.Value(&a.Binding)
		switch {
		case ok && !a.Takes(v):
			return trace.Value{}, a.Name, CodeWrongType
		case ok:
			args.Members = append(args.Members, trace.Member{Name: a.Name, Value: v})
		case !a.Optional:
			return trace.Value{}, a.Name, CodeNothingBound
		}
	}
	return trace.NewObject(args.Members...), "", ""
}

// membersFor returns room for so many members, nil for none.
func (r *run) membersFor(n int) []trace.Member {
	if n == 0 {
		return nil
	}
	at := len(r.members)
	if cap(r.members)-at < n {
		r.members, at = make([]trace.Member, 0, max(n, 2*cap(r.members))), 0
	}
	r.members = r.members[:at+n]
	return r.members[at : at : at+n]
}

// checkGiven says which argument is wrong whatever the calls return: what is always the
// same or made of inputs can be compared with the schemas before the first call.
func (r *run) checkGiven() *Failure {
	for i := range r.tool.Steps {
		for n := range r.tool.Steps[i].Args {
			a := &r.tool.Steps[i].Args[n]
			if !a.Binding.IsGiven() {
				continue
			}
			if v, ok := r.scope.Value(&a.Binding); ok && !a.Takes(v) {
				return &Failure{Step: i, Code: CodeWrongType, Argument: a.Name}
			}
		}
	}
	return nil
}

func expected(step *metatool.Step, result trace.Value) bool {
	for _, e := range step.Expect {
		if !e.Path.Selects(result) {
			return false
		}
	}
	return true
}
