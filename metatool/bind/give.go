package bind

import (
	"slices"

	"github.com/awo-dev/awo/dataflow"
	"github.com/awo-dev/awo/dataflow/jsonpath"
	"github.com/awo-dev/awo/dataflow/jsonvalue"
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
	if option.source == fromElement {
		return o.giveElement(call, option)
	}
	if len(o.calls[option.step]) != 1 {
		return trace.Value{}, false
	}
	if option.source == fromArgument {
		held, ok := o.arguments(o.calls[option.step][0]).Lookup(option.arg)
		if !ok {
			return held, false
		}
		return option.Link.Render(held)
	}
	if !o.has[option.step] {
		return trace.Value{}, false
	}
	path := option.path
	switch option.Choice.Kind {
	case dataflow.ByArg:
		key, ok := o.arguments(call).Lookup(option.keyArg)
		if !ok || !isScalar(&key) {
			return trace.Value{}, false
		}
		path = path.Bind(key)
	case dataflow.ByInput:
		if len(o.calls[option.keyStep]) != 1 {
			return trace.Value{}, false
		}
		key, ok := o.arguments(o.calls[option.keyStep][0]).Lookup(option.keyArg)
		if !ok || !isScalar(&key) {
			return trace.Value{}, false
		}
		path = path.Bind(key)
	}
	held, ok := sole(path.Eval(o.results[option.step]))
	if !ok {
		return held, false
	}
	return option.Link.Render(held)
}

// sole returns the value if all that a path selected is the same one.
func sole(found []trace.Value) (trace.Value, bool) {
	if len(found) == 0 {
		return trace.Value{}, false
	}
	h := jsonvalue.Hash(&found[0])
	for i := range found[1:] {
		if jsonvalue.Hash(&found[i+1]) != h {
			return trace.Value{}, false
		}
	}
	return found[0], true
}

func isScalar(v *trace.Value) bool { return v.Kind != trace.Array && v.Kind != trace.Object }

// elements returns the elements of the list that a fan-out step walks, each
// different one once, with the arguments that they give.
func (o *occurrence) elements(w *listWalk) (elements, arguments []trace.Value) {
	if !w.flat || w.from < 0 || !o.has[w.from] {
		return nil, nil
	}
	seen := map[uint64]bool{}
	for _, e := range w.list.Eval(o.results[w.from]) {
		h := jsonvalue.Hash(&e)
		if seen[h] {
			continue
		}
		seen[h] = true
		if held, ok := sole(w.element.Eval(e)); ok {
			if given, ok := w.link.Render(held); ok {
				elements, arguments = append(elements, e), append(arguments, given)
			}
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

// giveElement returns what the element that a call is about gives.
func (o *occurrence) giveElement(call int, option *option) (trace.Value, bool) {
	for k := range o.plan.steps {
		w := o.plan.steps[k].walk
		if w == nil || !slices.Contains(o.calls[k], call) {
			continue
		}
		recorded, _ := o.arguments(call).Lookup(w.argument)
		elements, arguments := o.elements(w)
		for i := range elements {
			if jsonvalue.Hash(&arguments[i]) != jsonvalue.Hash(&recorded) {
				continue
			}
			held, ok := sole(option.path.Eval(elements[i]))
			if !ok {
				return held, false
			}
			return option.Link.Render(held)
		}
	}
	return trace.Value{}, false
}

// open finds the key with which an open filter gives the recorded argument.
func (o *occurrence) open(k int, a *argumentSeen, number int, option *option) {
	if len(o.calls[k]) != 1 || !o.has[option.step] || !a.present {
		return
	}
	path := option.path
	at := option.Choice.Step
	if at >= len(path) {
		return
	}
	all := slices.Clone(path)
	all[at] = jsonpath.Step{Kind: jsonpath.Each}
	rest := path[at+1:]
	var keys []trace.Value
	for _, e := range all[:at+1].Eval(o.results[option.step]) {
		key, ok := e.Lookup(option.Choice.Key)
		held, single := sole(rest.Eval(e))
		if e.Kind != trace.Object || !ok || !isScalar(&key) || !single {
			continue
		}
		if given, ok := option.Link.Render(held); ok && jsonvalue.Hash(&given) == a.hash {
			keys = append(keys, key)
		}
	}
	key, ok := sole(keys)
	if !ok {
		return
	}
	held, ok := sole(path.Bind(key).Eval(o.results[option.step]))
	if given, rendered := option.Link.Render(held); !ok || !rendered || jsonvalue.Hash(&given) != a.hash {
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
	values := make([]trace.Value, len(v.keys))
	for i := range v.keys {
		values[i] = v.keys[i].open.key
	}
	sightings := v.b.collector.Sightings(v.t, values...)
	for i := range v.keys {
		v.keys[i].open.known = firstKnown(v.keys[i].calls, func(call int) bool { return sightings[i].KnownBefore(call).OK })
	}
}
