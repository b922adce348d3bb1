package bind

import (
	"slices"

	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/internal/dataflow/jsonvalue"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/trace"
)

// vote returns what an option gives for an argument of all calls of a step.
func (o *occurrence) vote(k int, name string, option *option) vote {
	all := voteAgree
	for _, c := range o.calls[k] {
		recorded, present := o.arguments(c).Lookup(name)
		given, ok := o.give(c, option)
		switch {
		case ok && present && jsonvalue.Hash(&given) == jsonvalue.Hash(&recorded):
		case !ok && !present:
		case ok:
			return voteWrong
		default:
			all = voteNothing
		}
	}
	return all
}

// give returns the argument that an option gives for a call.
func (o *occurrence) give(call int, option *option) (trace.Value, bool) {
	scope := metatool.Scope{Results: o.results}
	switch {
	case option.source == fromElement:
		if scope.Element = o.elementOf(call); scope.Element == nil {
			return trace.Value{}, false
		}
	case option.keyStep >= 0:
		from := call
		if option.Choice.Kind != dataflow.ByArg {
			if len(o.calls[option.keyStep]) != 1 {
				return trace.Value{}, false
			}
			from = o.calls[option.keyStep][0]
		}
		key, ok := o.arguments(from).Lookup(option.keyArg)
		if !ok {
			return trace.Value{}, false
		}
		scope.Inputs = inputOf(key)
	}
	return scope.Value(&option.binding)
}

// keyInput is the input of the bindings of options: the argument that they repeat,
// or that closes their filter.
const keyInput = "key"

func inputOf(key trace.Value) trace.Value {
	return trace.Value{Kind: trace.Object, Members: []trace.Member{{Name: keyInput, Value: key}}}
}

// elements returns the elements of the list that a fan-out step walks, each
// different one once, with the arguments that they give.
func (o *occurrence) elements(w *listWalk) (elements, arguments []trace.Value) {
	if !w.flat || w.from < 0 {
		return nil, nil
	}
	scope := metatool.Scope{Results: o.results}
	all, _ := scope.Elements(&w.each)
	for i := range all {
		scope.Element = &all[i]
		if given, ok := scope.Value(&w.binding); ok {
			elements, arguments = append(elements, all[i]), append(arguments, given)
		}
	}
	return elements, arguments
}

// walk compares the calls of a fan-out step with the list.
func (o *occurrence) walk(k int) walkSeen {
	w := o.plan.steps[k].walk
	_, arguments := o.elements(w)
	position := map[uint64]int{}
	for i := range arguments {
		if h := jsonvalue.Hash(&arguments[i]); position[h] == 0 {
			position[h] = len(position) + 1
		}
	}
	out := walkSeen{inside: true, whole: true}
	made := map[int]bool{}
	for i, c := range o.calls[k] {
		recorded, ok := o.arguments(c).Lookup(w.argument)
		at := 0
		if ok {
			at = position[jsonvalue.Hash(&recorded)]
		}
		out.inside = out.inside && at > 0
		out.whole = out.whole && at == i+1
		made[at] = true
	}
	out.extra = max(0, len(position)-len(made))
	out.whole = out.whole && len(o.calls[k]) == len(position)
	return out
}

// elementOf returns the element that a call is about, nil if there is none.
func (o *occurrence) elementOf(call int) *trace.Value {
	for k := range o.plan.steps {
		w := o.plan.steps[k].walk
		if w == nil || !slices.Contains(o.calls[k], call) {
			continue
		}
		recorded, _ := o.arguments(call).Lookup(w.argument)
		elements, arguments := o.elements(w)
		for i := range elements {
			if jsonvalue.Equal(&arguments[i], &recorded) {
				return &elements[i]
			}
		}
	}
	return nil
}

// open finds the key with which an open filter gives the recorded argument.
func (o *occurrence) open(k int, a *argumentSeen, number int, option *option) {
	at := option.Choice.Step
	if len(o.calls[k]) != 1 || o.results[option.step] == nil || !a.present || at >= len(option.path) {
		return
	}
	all := append(slices.Clone(option.path[:at]), jsonpath.Step{Kind: jsonpath.Each})
	element := wrap(option.Link, metatool.Binding{Kind: metatool.BindElement, Path: option.path[at+1:]})
	scope := metatool.Scope{Results: o.results}
	var keys []trace.Value
	for _, e := range all.Eval(*o.results[option.step]) {
		key, ok := e.Lookup(option.Choice.Key)
		if e.Kind != trace.Object || !ok || key.Kind == trace.Array || key.Kind == trace.Object {
			continue
		}
		scope.Element = &e
		if given, ok := scope.Value(&element); ok && jsonvalue.Hash(&given) == a.hash {
			keys = append(keys, key)
		}
	}
	key, ok := jsonvalue.Sole(keys)
	if !ok {
		return
	}
	scope.Inputs = inputOf(key)
	if given, ok := scope.Value(&option.binding); !ok || jsonvalue.Hash(&given) != a.hash {
		a.votes[number] = voteWrong
		return
	}
	a.votes[number] = voteAgree
	open := &openSeen{option: number, key: key}
	a.opens = append(a.opens, open)
	o.keys = append(o.keys, keySought{open, o.calls[:k+1]})
}

// keySought is a key of which it is not known yet when it was known.
type keySought struct {
	open  *openSeen
	calls [][]int // by step, up to the one that needs it
}

// findKeys finds out when the keys of all occurrences were known, in one reading
// of the trajectory.
func (v *viewer) findKeys() {
	if len(v.keys) == 0 {
		return
	}
	values := make([]trace.Value, len(v.keys))
	for i := range v.keys {
		values[i] = v.keys[i].open.key
	}
	r := v.b.collector.ReadFor(v.t, v.f, values)
	for i := range v.keys {
		v.keys[i].open.known = firstKnown(v.keys[i].calls, func(call int) bool { return r.ValueKnown(i, call) })
	}
	r.Close(&v.b.collector)
}
