package predict

import (
	"slices"
	"strings"

	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/trace"
)

// uses gathers what the arguments of trajectories say about rules. What is known of paths
// stays from one trajectory to the next.
type uses struct {
	paths map[string]*usePath

	o      *Observation
	h      *History
	slots  map[int]int32 // numbers of arguments, by slot of the flow
	rules  map[ruleKey]int32
	tools  []trace.Name // of sources, by number
	heard  int          // messages that shapes are of, the first ones
	shapes []string
	place  int         // of the call that is looked at
	call   usedCall    // the same
	args   int         // that were looked at
	index  map[use]int // in Observation.uses
	tried  map[triedKey]uint64
}

// usedCall is a call with what its arguments can be from.
type usedCall struct {
	view
	tool    trace.Name
	sources []int   // the newest call of each tool
	from    []int32 // of these, the tool
	class   []Class // of these
	byText  Class
}

// triedKey is an argument that a call of a tool stood before. Its rules could be tried
// whether or not they are known yet.
type triedKey struct {
	param, from int32
	class       Class
}

// usePath is a path of results or arguments, read.
type usePath struct {
	path  jsonpath.Path
	data  bool   // it has names that may be data
	whole bool   // it is an argument as a whole
	name  string // of that
	open  openable
}

func newUses() *uses {
	return &uses{paths: map[string]*usePath{}, slots: map[int]int32{}, rules: map[ruleKey]int32{}, index: map[use]int{}, tried: map[triedKey]uint64{}}
}

// maxScratch is how many paths are kept for the next trajectory.
const maxScratch = 1 << 14

// observe applies every rule that a call's arguments speak for.
func (w *uses) observe(o *Observation, h *History) {
	if len(w.paths) > maxScratch {
		*w = *newUses()
	}
	w.o, w.h, w.place = o, h, -1
	for i := range h.flow.Uses {
		u := &h.flow.Uses[i]
		slot := &h.flow.Slots[u.Param]
		path := w.path(slot.Path)
		if slot.Side != dataflow.Input || !path.whole || u.Call >= len(h.t.Calls) {
			continue
		}
		place, ok := slices.BinarySearch(h.calls, u.Call)
		if !ok {
			continue
		}
		if place != w.place {
			w.turnTo(place)
		}
		param, known := w.slots[u.Param]
		if !known {
			param = int32(len(o.params))
			w.slots[u.Param] = param
			o.params = append(o.params, paramUse{paramOf: paramOf{w.call.tool, path.name}})
		}
		w.argument(u, param)
	}
	for k, n := range w.tried {
		for _, side := range []dataflow.Side{dataflow.Output, dataflow.Input} {
			w.args++
			w.count(use{k.param, w.rule(ruleKey{side, w.tools[k.from], ""}), k.class}, RuleUse{Tried: n})
		}
	}
	clear(w.slots)
	clear(w.rules)
	clear(w.index)
	clear(w.tried)
	w.o, w.h, w.tools, w.heard, w.shapes, w.call = nil, nil, w.tools[:0], 0, w.shapes[:0], usedCall{}
}

// rule returns the number of a rule.
func (w *uses) rule(key ruleKey) int32 {
	n, ok := w.rules[key]
	if !ok {
		n = int32(len(w.o.rules))
		w.rules[key] = n
		w.o.rules = append(w.o.rules, key)
	}
	return n
}

// path returns what is to be known of a path.
func (w *uses) path(text string) *usePath {
	p, ok := w.paths[text]
	if !ok {
		text = strings.Clone(text)
		p = &usePath{data: strings.Contains(text, "['"), open: openableOf(text)} // names that are no identifiers may be data
		p.path, _ = jsonpath.Parse(text)                                         // what does not parse selects the whole, which fits no parameter
		if len(p.path) == 1 && p.path[0].Kind == jsonpath.Member {
			p.name, p.whole = p.path[0].Name, true
		}
		w.paths[text] = p
	}
	return p
}

// turnTo turns to another call.
func (w *uses) turnTo(place int) {
	w.place = place
	c := usedCall{view: w.h.view(place), tool: w.h.t.Calls[w.h.calls[place]].Tool}
	c.sources, c.byText = c.view.sources(), c.view.class(c.tool, -1)
	for _, call := range c.sources {
		tool := w.h.t.Calls[call].Tool
		from := slices.Index(w.tools, tool)
		if from < 0 {
			from = len(w.tools)
			w.tools = append(w.tools, tool)
		}
		c.from, c.class = append(c.from, int32(from)), append(c.class, c.view.class(c.tool, call))
	}
	for ; w.heard < c.messages; w.heard++ {
		if w.h.t.Messages[w.heard].Role != trace.RoleUser {
			continue
		}
		for _, word := range w.h.messageWords(w.heard) {
			if !slices.Contains(w.shapes, word.shape) {
				w.shapes = append(w.shapes, word.shape)
			}
		}
	}
	w.call = c
}

// argument judges the rules that an argument could be taken from.
func (w *uses) argument(u *dataflow.Use, param int32) {
	c, of := &w.call, &w.o.params[param]
	of.calls++
	arg, _ := w.h.argument(u.Call, of.param)
	for i := range c.sources {
		w.tried[triedKey{param, c.from[i], c.class[i]}]++
	}
	w.args++
	for i := range u.Sources {
		w.source(&u.Sources[i], param, &arg)
	}
	for _, shape := range w.shapes {
		if word, ok := c.readText(shape, c.tool, of.param); ok {
			w.count(use{param, w.rule(ruleKey{dataflow.Task, noName, shape}), c.byText}, RuleUse{Tried: 1, Right: uint64(flag(isSame(&word, &arg)))})
		}
	}
}

// source judges rules that read the results and arguments of an earlier call.
func (w *uses) source(s *dataflow.Source, param int32, arg *trace.Value) {
	of := &w.o.params[param]
	slot := &w.h.flow.Slots[s.Slot]
	at := slices.Index(w.call.sources, s.Call)
	if s.Relation != dataflow.Equal || slot.Side > dataflow.Input || at < 0 || w.h.t.Calls[s.Call].Tool != slot.Tool {
		return
	}
	path := w.path(slot.Path)
	if path.data {
		return
	}
	paths := []string{slot.Path}
	if slot.Side == dataflow.Output && path.open.each != nil {
		held, _ := w.h.result(s.Call)
		paths = append(paths, path.open.paths(held, nameParts(nameText(of.tool)), &w.h.nodes)...)
	}
	for _, text := range paths {
		if got, ok := w.call.readPath(w.path(text).path, slot.Side, s.Call, of.tool, of.param); ok && isSame(&got.value, arg) {
			w.count(use{param, w.rule(ruleKey{slot.Side, slot.Tool, text}), w.call.class[at]}, RuleUse{Right: 1})
		}
	}
}

// count notes a use, once for each argument: the same source by two ways is one.
func (w *uses) count(key use, n RuleUse) {
	i, ok := w.index[key]
	if !ok {
		i = len(w.o.uses)
		w.index[key] = i
		w.o.uses = append(w.o.uses, useCount{use: key, last: -1})
	}
	if to := &w.o.uses[i]; to.last != w.args {
		to.add(n)
		to.last = w.args
	}
}
