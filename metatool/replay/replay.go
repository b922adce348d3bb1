package replay

import (
	"context"
	"slices"

	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/internal/dataflow/jsonvalue"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/execute"
	"github.com/awo-dev/awo/trace"
)

// Codes of disagreements between a replay and its recording, beside those of
// failures. They are stable.
const (
	CodeInputUnderived = "input-underived" // the recording does not tell the value of an input
	CodeOtherValue     = "other-value"     // an argument is not what was recorded
	CodeNotPassed      = "not-passed"      // an argument was recorded that the step does not pass
	CodeNotMade        = "not-made"        // a recorded call is not among those that are made
	CodeNotRecorded    = "not-recorded"    // a write was made that was not recorded
	CodeNotReturned    = "not-returned"    // a value was used later that is not in the answer
)

// Replay is what a meta-tool does where a trajectory made its calls one by one.
type Replay struct {
	Occurrence Occurrence
	Steps      []StepReplay // by step of the meta-tool; shorter if the run ended early
	// Exact says that every step made the recorded calls (see StepReplay), and that every
	// value of their results that the recording shows to be used behind them, in arguments
	// or in what the model said, is in the answer.
	Exact bool

	// Known says that every input of a later step than the first was known when
	// the first was called, in the sense of dataflow.KnownBefore: otherwise the
	// agent could not have called the meta-tool there. Unknown is the first input
	// that was not.
	Known   bool
	Unknown string

	// NotComparable says that the recording lacks the arguments or the result of one
	// of the calls: nothing was replayed.
	NotComparable bool

	Saves bool // exact and known
	Turns int  // calling turns that there would be fewer; see Occurrence.TurnsSaved

	removed []int // the turns; see Moment.Removed
}

// StepReplay is one step of a replay.
type StepReplay struct {
	// Exact says that the step made the recorded call with the recorded
	// arguments. A step that reads a list agrees if every recorded call is among
	// those that it makes; one that writes must make exactly the recorded calls in
	// their order.
	Exact    bool
	Extra    int    // reads that were not recorded
	Code     string // why it is not exact
	Argument string // which argument differs, or is not there
}

// Player replays meta-tools in one trajectory.
type Player struct {
	*record
	collector *dataflow.Collector // shared between trajectories
	answers   *answers            // once a meta-tool is replayed
	runner    execute.Runner
	reading   *dataflow.Reading // once it is asked what was known
}

// NewPlayer returns a player of t.
func NewPlayer(t *trace.Trajectory) *Player { return newPlayer(newRecord(t), &dataflow.Collector{}) }

func newPlayer(r *record, c *dataflow.Collector) *Player { return &Player{record: r, collector: c} }

// Play replays a meta-tool at an occurrence: its inputs are taken from the
// recorded arguments, and calls answer what they did then.
func (p *Player) Play(tool *metatool.Tool, o Occurrence) *Replay {
	return p.play(newPlan(tool), o)
}

func (p *Player) play(plan *plan, o Occurrence) *Replay {
	tool := plan.tool
	r := &Replay{Occurrence: o, Turns: o.TurnsSaved(p.t)}
	if r.NotComparable = !p.isRecorded(o); r.NotComparable {
		return r
	}
	inputs, missing := p.inputs(plan, o)
	r.Known, r.Unknown = p.known(plan, o, inputs)
	if missing != "" {
		r.Steps = []StepReplay{{Code: CodeInputUnderived, Argument: missing}}
		return r
	}
	outcome := p.runner.Run(context.Background(), tool, inputs, p.recordings(o.First()), execute.Options{MaxCalls: maxReplayCalls, SkipFailedReads: true})
	f := outcome.Failure
	if f != nil && f.Step < 0 {
		r.Steps = []StepReplay{{Code: f.Code, Argument: f.Argument}}
		return r
	}
	r.Exact = len(outcome.Steps) == len(tool.Steps)
	agrees := true
	lost := p.lost(plan, o)
	for i := range outcome.Steps {
		step := p.compare(&tool.Steps[i], o.Calls[i], &outcome.Steps[i])
		if i == lost && step.Exact {
			step = StepReplay{Code: CodeNotReturned}
		}
		if f != nil && f.Step == i && (step.Exact || len(outcome.Steps[i].Calls) == 0) {
			step = StepReplay{Code: f.Code, Argument: f.Argument}
		}
		agrees = agrees && step.Exact
		r.Steps = append(r.Steps, step)
	}
	r.Exact = r.Exact && agrees
	r.Saves = r.Exact && r.Known
	return r
}

// recordings returns the recordings for a run that stands in for the calls from one on;
// those of the run before are over.
func (p *Player) recordings(from int) *Recordings {
	if p.answers == nil {
		p.answers = newAnswers(p.record)
	}
	r := p.answers.from(from)
	return &r
}

// maxReplayCalls is far beyond what agents do one by one.
const maxReplayCalls = 1000

// isRecorded reports whether the arguments and results of all calls of an occurrence
// are recorded.
func (r *record) isRecorded(o Occurrence) bool {
	for _, calls := range o.Calls {
		for _, c := range calls {
			if call := &r.t.Calls[c]; !call.HasResult || call.ArgsMissing() {
				return false
			}
		}
	}
	return true
}

// Inputs returns the inputs that an agent would have given at an occurrence, as
// far as the recorded arguments tell, and the first required one that they do
// not tell.
func Inputs(tool *metatool.Tool, t *trace.Trajectory, o Occurrence) (inputs trace.Value, missing string) {
	return newRecord(t).inputs(newPlan(tool), o)
}

// inputs is Inputs.
func (r *record) inputs(p *plan, o Occurrence) (inputs trace.Value, missing string) {
	var members []trace.Member
	for i := range p.inputs {
		in := &p.inputs[i]
		v, ok := r.inputValue(p, in, o, len(p.steps))
		switch {
		case ok:
			members = append(members, trace.Member{Name: in.Name, Value: v})
		case in.Required && missing == "":
			missing = in.Name
		}
	}
	return trace.NewObject(members...), missing
}

// inputValue looks for an argument of the first steps that is nothing but the input, or
// for the calls that walk it.
func (r *record) inputValue(p *plan, in *planInput, o Occurrence, steps int) (trace.Value, bool) {
	for _, s := range in.sources {
		if s.step >= steps {
			break
		}
		step := &p.steps[s.step]
		if s.argument < 0 {
			return r.walkedList(step.Step, o.Calls[s.step])
		}
		a := &step.Args[s.argument]
		v, ok := r.arguments(o.Calls[s.step][0]).Lookup(a.Name)
		if ok && s.isKey {
			v, ok = r.keyOf(&a.Binding, o, v)
		}
		if ok {
			return v, true
		}
	}
	return trace.Value{}, false
}

// keyOf returns what the open filter of a binding was compared with when it gave
// v: the one value of that member of the elements that hold v.
func (r *record) keyOf(b *metatool.Binding, o Occurrence, v trace.Value) (trace.Value, bool) {
	if b.Kind != metatool.BindStep || b.Coerce != metatool.CoerceNone || b.Step >= len(o.Calls) || len(o.Calls[b.Step]) != 1 {
		return trace.Value{}, false
	}
	at := slices.IndexFunc(b.Path, func(s jsonpath.Step) bool { return s.Kind == jsonpath.Filter && s.Open })
	if at < 0 {
		return trace.Value{}, false
	}
	elements := append(slices.Clone(b.Path[:at]), jsonpath.Step{Kind: jsonpath.Each})
	var keys []trace.Value
	for _, element := range elements.Eval(r.result(o.Calls[b.Step][0]).Value) {
		key, ok := element.Lookup(b.Path[at].Name)
		if ok && slices.ContainsFunc(b.Path[at+1:].Eval(element), v.Equal) {
			keys = append(keys, key)
		}
	}
	return jsonvalue.Sole(keys)
}

// walkedList returns the list that calls with these arguments walk: its elements
// are the arguments, or objects of them.
func (r *record) walkedList(step *metatool.Step, calls []int) (trace.Value, bool) {
	list := trace.Value{Kind: trace.Array}
	for _, c := range calls {
		args := r.arguments(c)
		var element trace.Value
		var members []trace.Member
		for i := range step.Args {
			b := &step.Args[i].Binding
			v, ok := args.Lookup(step.Args[i].Name)
			switch {
			case b.Kind != metatool.BindElement || !ok:
			case b.Coerce != metatool.CoerceNone:
				return trace.Value{}, false
			case len(b.Path) == 0:
				element = v
			case len(b.Path) == 1 && b.Path[0].Kind == jsonpath.Member:
				members = append(members, trace.Member{Name: b.Path[0].Name, Value: v})
			default:
				return trace.Value{}, false
			}
		}
		if len(members) > 0 {
			element = trace.NewObject(members...)
		}
		list.Elems = append(list.Elems, element)
	}
	return list, true
}

// known reports whether the inputs were known before the first call, but for
// those that it takes itself: the others' arguments, and those of later calls
// that walk a list of an input.
func (p *Player) known(plan *plan, o Occurrence, inputs trace.Value) (ok bool, unknown string) {
	for i := range plan.inputs {
		in := &plan.inputs[i]
		v := inputs.Find(in.Name)
		if v == nil || !in.isTaken {
			continue
		}
		knew := true
		switch {
		case in.isWalked:
			knew = p.knewList(plan.steps[in.Step].Step, o.Calls[in.Step], o.First())
		case in.Step == 0:
		case in.isArgument:
			knew = p.knew(o.Calls[in.Step][0], in.Argument, o.First())
		default:
			r := p.collector.ReadFor(p.t, values{p.record}, []trace.Value{*v})
			knew = r.ValueKnown(0, o.First())
			r.Close(p.collector)
		}
		if !knew {
			return false, in.Name
		}
	}
	return true, ""
}

// knewList reports whether the elements that calls walk were known before the
// first call.
func (p *Player) knewList(step *metatool.Step, calls []int, before int) bool {
	for _, c := range calls {
		if c == before {
			continue
		}
		for i := range step.Args {
			if step.Args[i].Binding.Kind == metatool.BindElement && !p.knew(c, step.Args[i].Name, before) {
				return false
			}
		}
	}
	return true
}

// knew reports whether all that an argument of a call holds was known when the
// call numbered before was made.
func (p *Player) knew(call int, argument string, before int) bool {
	return p.read().ArgumentKnown(call, argument, before)
}

// read returns what says when the values of the arguments were known.
func (p *Player) read() *dataflow.Reading {
	if p.reading == nil {
		p.reading = p.collector.Read(p.t, p.flow, len(p.t.Calls), values{p.record})
	}
	return p.reading
}

// close gives memory back; nothing more is asked of the player.
func (p *Player) close() {
	if p.reading != nil {
		p.reading.ReadBounds()
		p.reading.Close(p.collector)
		p.reading = nil
	}
}

// compare compares the calls of a step with the recorded ones.
func (r *record) compare(step *metatool.Step, recorded []int, run *execute.StepRun) StepReplay {
	made := make([]bool, len(run.Calls)) // whether the call was recorded
	for n, c := range recorded {
		args := r.arguments(c)
		at := -1
		for i := range run.Calls {
			if !made[i] && run.Calls[i].Args.Equal(*args) {
				at = i
				break
			}
		}
		if at < 0 {
			// The same call once more is no other call.
			again := step.Each != nil && step.ReadOnly && slices.ContainsFunc(run.Calls, func(c execute.CallRun) bool { return c.Args.Equal(*args) })
			if again {
				continue
			}
			return differs(step, *args, run, n)
		}
		if at != n && !step.ReadOnly {
			return StepReplay{Code: CodeNotMade}
		}
		made[at] = true
	}
	out := StepReplay{Exact: true}
	for _, was := range made {
		if !was {
			out.Extra++
		}
	}
	if out.Extra > 0 && !step.ReadOnly {
		return StepReplay{Code: CodeNotRecorded}
	}
	return out
}

// differs says how the recorded arguments differ from those of the call that
// was made in their place.
func differs(step *metatool.Step, args trace.Value, run *execute.StepRun, n int) StepReplay {
	if step.Each != nil || n >= len(run.Calls) {
		return StepReplay{Code: CodeNotMade}
	}
	was := run.Calls[n].Args
	for _, m := range was.Members {
		if v, ok := args.Lookup(m.Name); !ok || !v.Equal(m.Value) {
			return StepReplay{Code: CodeOtherValue, Argument: m.Name}
		}
	}
	for _, m := range args.Members {
		if _, ok := was.Lookup(m.Name); !ok {
			return StepReplay{Code: CodeNotPassed, Argument: m.Name}
		}
	}
	return StepReplay{Code: CodeOtherValue}
}
