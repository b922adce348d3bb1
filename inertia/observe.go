package inertia

import (
	"cmp"
	"slices"
	"strings"

	"github.com/awo-dev/awo/dataflow"
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
	uses   []use
	params []present
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

// present says that a call had an argument.
type present struct {
	tool  trace.Name
	param string
}

// use is an argument that a rule could be applied to.
type use struct {
	tool  trace.Name
	param string
	rule  ruleKey
	class Class
	right bool
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

// Observe reads what t teaches. It is pure and may run in parallel, each
// goroutine with a Collector of its own or all with one.
func Observe(c *dataflow.Collector, t *trace.Trajectory) *Observation {
	h := NewHistory(t)
	o := &Observation{Task: t.TaskKey(), Decisions: h.Decisions()}
	if at := t.Started(); !at.IsZero() {
		o.Period = int32(max(at.Unix(), 0) / 86400)
	}
	for _, i := range h.calls {
		o.Calls = append(o.Calls, t.Calls[i].Tool)
	}
	for i := range t.Calls {
		if t.Calls[i].Origin != trace.OriginModel {
			o.others = append(o.others, outcome{t.Calls[i].Tool, t.Calls[i].Status})
		}
	}
	for i := range t.Tools {
		o.Defined = append(o.Defined, infoOf(&t.Tools[i]))
	}
	o.observeUses(h, c.Collect(t))
	return o
}

// infoOf reads a definition.
func infoOf(d *trace.ToolDef) ToolInfo {
	info := ToolInfo{Name: d.Name, Description: d.Description.Text()}
	if d.Input.IsZero() {
		return info
	}
	schema, err := trace.ParseValue([]byte(d.Input.Text()))
	if err != nil || schema.Kind != trace.Object {
		return info
	}
	info.Schema = true
	if list, ok := schema.Lookup("required"); ok {
		for _, e := range list.Elems {
			if e.Kind == trace.String {
				info.Required = append(info.Required, e.Text)
			}
		}
	}
	if properties, ok := schema.Lookup("properties"); ok {
		for _, m := range properties.Members {
			info.Params = append(info.Params, m.Name)
		}
	}
	slices.Sort(info.Required)
	slices.Sort(info.Params)
	return info
}

// observeUses applies every rule that a call's arguments speak for.
func (o *Observation) observeUses(h *History, flow *dataflow.Flow) {
	used := map[use]bool{}
	add := func(u use) {
		if !used[u] { // the same source by two ways is one
			used[u] = true
			o.uses = append(o.uses, u)
		}
	}
	at := -1
	for i := range flow.Uses {
		u := &flow.Uses[i]
		param, ok := topLevel(flow.Slots[u.Param].Path)
		if !ok || len(u.Positions) > 0 || u.Call >= len(h.t.Calls) {
			continue
		}
		place, ok := slices.BinarySearch(h.calls, u.Call)
		if !ok {
			continue
		}
		if place != at {
			clear(used)
			at = place
		}
		tool := h.t.Calls[u.Call].Tool
		o.params = append(o.params, present{tool, param})
		v := h.view(place)
		arg := h.arg(u.Call, param)
		o.observeEarlier(v, flow, u, tool, param, arg, add)
		o.observeTexts(v, tool, param, arg, add)
	}
}

// observeEarlier judges rules that read results and arguments of earlier calls.
func (o *Observation) observeEarlier(v view, flow *dataflow.Flow, u *dataflow.Use, tool trace.Name, param, arg string, add func(use)) {
	for _, newest := range v.sources() {
		source := v.h.t.Calls[newest].Tool
		class := v.class(tool, newest)
		// The pair without a path counts how often the rules of the pair could
		// be tried: a rule is known only once it was right.
		for _, side := range [...]dataflow.Side{dataflow.Output, dataflow.Input} {
			add(use{tool, param, ruleKey{side, source, ""}, class, false})
		}
		for j := range u.Sources {
			s := &u.Sources[j]
			slot := flow.Slots[s.Slot]
			if s.Relation != dataflow.Equal || slot.Tool != source || s.Call != newest || slot.Side > dataflow.Input || strings.Contains(slot.Path, "['") {
				continue // names that are no identifiers may be data
			}
			key := ruleKey{slot.Side, source, slot.Path}
			if got, ok := v.read(key, newest, tool, param); ok && got.value == arg {
				add(use{tool, param, key, class, true})
			}
			if slot.Side != dataflow.Output {
				continue
			}
			held, _ := v.h.result(newest)
			for _, path := range openPaths(slot.Path, held, tool) {
				key.path = path
				if got, ok := v.read(key, newest, tool, param); ok && got.value == arg {
					add(use{tool, param, key, class, true})
				}
			}
		}
	}
}

// observeTexts judges rules that read the user's messages.
func (o *Observation) observeTexts(v view, tool trace.Name, param, arg string, add func(use)) {
	for _, shape := range v.shapes() {
		key := ruleKey{dataflow.Task, noName, shape}
		got, ok := v.readText(shape, tool, param)
		if !ok {
			continue
		}
		add(use{tool, param, key, v.class(tool, -1), got == arg})
	}
}

// topLevel returns the name of the argument that a path means as a whole.
func topLevel(path string) (string, bool) {
	p, err := dataflow.ParsePath(path)
	if err != nil || len(p) != 1 || p[0].Kind != dataflow.StepMember {
		return "", false
	}
	return p[0].Name, true
}

var noName trace.Name

func nameText(n trace.Name) string {
	if n == noName {
		return ""
	}
	return n.Value()
}
