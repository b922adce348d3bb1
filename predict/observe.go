package predict

import (
	"cmp"
	"sync"

	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/trace"
)

// State is what is known at a turn beside the calls before it. States are
// symbols of contexts: the newest one.
type State uint8

// The states.
const (
	StateUser     State = 1 << iota // a user message came since the last call
	StateFailed                     // the last call failed
	StateParallel                   // the turn of the last call made several
	StateInside                     // no turn: a further call of the turn that made the last one
)

const states = int(StateInside) + 1

// A Decision is one turn of the language model, or a further call of a turn.
type Decision struct {
	State    State
	Before   int        // calls of the model before it
	Next     trace.Name // the turn's first call; zero for a turn that makes none
	Multiple bool       // the turn makes several calls
	Status   trace.Status
	Turn     int // index into Trajectory.Turns, -1 if none is recorded
	Call     int // index of the call among those of the model, -1 for none

	// AfterUser says that a user message stands right before the turn.
	AfterUser bool
}

// None reports whether the turn makes no call.
func (d *Decision) None() bool { return d.Call < 0 }

// An Observation is what one trajectory teaches a [Graph]: counts and places,
// but no values of arguments and results.
type Observation struct {
	Task   string
	Period int32 // days since 1970 of its start, 0 where no time is recorded

	Decisions []Decision
	Calls     []trace.Name // of the model, in order
	Defined   []ToolInfo   // the tools that were offered

	others []outcome // calls that no model decided on

	params []paramUse // by number
	rules  []ruleKey  // by number
	uses   []useCount
}

// paramUse is an argument of a tool, and how many calls had it.
type paramUse struct {
	paramOf
	calls uint64
}

// ToolInfo is what a definition says about a tool.
type ToolInfo struct {
	Name        trace.Name
	Description string
	Required    []string // parameters, sorted
	Params      []string // all parameters, sorted
	Schema      bool     // whether an input schema was recorded
}

type outcome struct {
	tool   trace.Name
	status trace.Status
}

// use is a rule that could be applied to an argument, in a class of situations.
type use struct {
	param, rule int32
	class       Class
}

// useCount is how often it could, and the argument that was counted last.
type useCount struct {
	use
	RuleUse
	last int
}

// ruleKey is where a rule takes an argument from.
type ruleKey struct {
	side dataflow.Side // Output, Input, or Task for a user's text
	tool trace.Name
	path string // of the source's newest value; of a text the shape of the word
}

// compare orders rules.
func (k ruleKey) compare(o ruleKey) int {
	return cmp.Or(cmp.Compare(k.side, o.side), cmp.Compare(nameText(k.tool), nameText(o.tool)), cmp.Compare(k.path, o.path))
}

// Class says where the source of an argument stands: how far a rule can be
// trusted differs between them.
type Class uint8

// The classes.
const (
	Near    Class = iota // a call of the last turn that made one
	Walk                 // the last call was of the same tool, as when a list is walked
	Far                  // anything older
	classes = 3
)

// An Observer reads what trajectories teach. It may be used concurrently and keeps
// scratch memory, and what it knows of definitions, between trajectories; the zero
// value is ready.
type Observer struct {
	collector dataflow.Collector
	known     definitions
	idle      sync.Pool // of *uses
}

// Observe reads what t teaches, which depends on t alone. flow is that of t, nil where it was
// not collected.
func (w *Observer) Observe(t *trace.Trajectory, flow *dataflow.Flow) *Observation {
	h := historyOf(t)
	o := &Observation{Task: t.TaskKey(), Decisions: h.Decisions(), Calls: h.names(), Defined: w.known.read(t.Tools)}
	if at := t.Started(); !at.IsZero() {
		o.Period = int32(max(at.Unix(), 0) / 86400)
	}
	for i := range t.Calls {
		if t.Calls[i].Origin != trace.OriginModel {
			o.others = append(o.others, outcome{t.Calls[i].Tool, t.Calls[i].Status})
		}
	}
	scratch, _ := w.idle.Get().(*uses)
	if scratch == nil {
		scratch = newUses()
	}
	if h.flow = flow; flow == nil {
		h.flow = w.collector.Collect(t)
	}
	scratch.observe(o, h)
	w.idle.Put(scratch)
	return o
}

var noName trace.Name

func nameText(n trace.Name) string {
	if n == noName {
		return ""
	}
	return n.Value()
}
