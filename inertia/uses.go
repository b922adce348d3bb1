package inertia

import (
	"slices"
	"strings"

	"github.com/awo-dev/awo/dataflow"
	"github.com/awo-dev/awo/trace"
)

// uses gathers what the arguments of one trajectory say about rules. What a call
// asks again for each of its arguments is worked out once.
type uses struct {
	h    *History
	flow *dataflow.Flow

	rules   []ruleKey // by number
	numbers map[ruleKey]int32
	slots   []useSlot // by number of the flow
	counts  map[useKey]*useCount
	order   []*useCount // as they were met

	place   int // of the call
	v       view
	tool    trace.Name
	sources []useSource
	shapes  []int32 // rules
	byText  Class
}

// useSlot is what is to be known of a slot of a flow; rule is -1 while it is not.
type useSlot struct {
	param string // of a parameter that is an argument as a whole its name
	rule  int32
	whole bool
	data  bool // its path has names that may be data
}

// useSource is the newest call of a tool before the one that is looked at.
type useSource struct {
	call  int
	tool  trace.Name
	class Class
	pairs [2]int32 // rules without a path: results, arguments
}

// useKey is a use by number.
type useKey struct {
	param, rule int32 // slot, rule
	class       Class
	right       bool
}

type useCount struct {
	useKey
	tool trace.Name
	n    uint64
	last int // place that it was counted for
}

// observeUses applies every rule that a call's arguments speak for.
func (o *Observation) observeUses(h *History, flow *dataflow.Flow) {
	w := uses{h: h, flow: flow, numbers: map[ruleKey]int32{}, slots: make([]useSlot, len(flow.Slots)), counts: map[useKey]*useCount{}, place: -1}
	for i, s := range flow.Slots {
		w.slots[i].rule = -1
		// Names that are no identifiers may be data.
		w.slots[i].data = s.Side > dataflow.Input || strings.Contains(s.Path, "['")
		if s.Side == dataflow.Input {
			w.slots[i].param, w.slots[i].whole = topLevel(s.Path)
		}
	}
	for i := range flow.Uses {
		u := &flow.Uses[i]
		slot := &w.slots[u.Param]
		if !slot.whole || len(u.Positions) > 0 || u.Call >= len(h.t.Calls) {
			continue
		}
		place, ok := slices.BinarySearch(h.calls, u.Call)
		if !ok {
			continue
		}
		if place != w.place {
			w.begin(place)
		}
		o.params = append(o.params, present{w.tool, slot.param})
		arg := h.arg(u.Call, slot.param)
		w.earlier(u, slot.param, arg)
		w.texts(u.Param, slot.param, arg)
	}
	o.uses = make([]use, 0, len(w.order))
	for _, c := range w.order {
		o.uses = append(o.uses, use{c.tool, w.slots[c.param].param, w.rules[c.rule], c.class, c.right, c.n})
	}
}

// begin turns to another call.
func (w *uses) begin(place int) {
	w.place, w.v = place, w.h.view(place)
	w.tool = w.h.t.Calls[w.h.calls[place]].Tool
	w.sources = w.sources[:0]
	for _, call := range w.v.sources() {
		from := w.h.t.Calls[call].Tool
		w.sources = append(w.sources, useSource{call, from, w.v.class(w.tool, call), [2]int32{
			w.rule(ruleKey{dataflow.Output, from, ""}), w.rule(ruleKey{dataflow.Input, from, ""}),
		}})
	}
	w.shapes = w.shapes[:0]
	for _, shape := range w.v.shapes() {
		w.shapes = append(w.shapes, w.rule(ruleKey{dataflow.Task, noName, shape}))
	}
	w.byText = w.v.class(w.tool, -1)
}

// rule returns the number of a rule.
func (w *uses) rule(key ruleKey) int32 {
	n, ok := w.numbers[key]
	if !ok {
		n = int32(len(w.rules))
		w.rules = append(w.rules, key)
		w.numbers[key] = n
	}
	return n
}

// count notes a use, once for each argument: the same source by two ways is one.
func (w *uses) count(param int, rule int32, class Class, right bool) {
	key := useKey{int32(param), rule, class, right}
	c := w.counts[key]
	if c == nil {
		c = &useCount{useKey: key, tool: w.tool, last: -1}
		w.counts[key] = c
		w.order = append(w.order, c)
	}
	if c.last != w.place {
		c.last = w.place
		c.n++
	}
}

// earlier judges rules that read results and arguments of earlier calls.
func (w *uses) earlier(u *dataflow.Use, param, arg string) {
	for i := range w.sources {
		source := &w.sources[i]
		// The pair without a path counts how often the rules of the pair could
		// be tried: a rule is known only once it was right.
		for _, pair := range source.pairs {
			w.count(u.Param, pair, source.class, false)
		}
		for j := range u.Sources {
			s := &u.Sources[j]
			if s.Relation != dataflow.Equal || s.Call != source.call || w.slots[s.Slot].data {
				continue
			}
			slot := &w.flow.Slots[s.Slot]
			if slot.Tool != source.tool {
				continue
			}
			key := ruleKey{slot.Side, source.tool, slot.Path}
			if got, ok := w.v.read(key, source.call, w.tool, param); ok && got.value == arg {
				known := &w.slots[s.Slot]
				if known.rule < 0 {
					known.rule = w.rule(key)
				}
				w.count(u.Param, known.rule, source.class, true)
			}
			if slot.Side != dataflow.Output {
				continue
			}
			held, _ := w.h.result(source.call)
			for _, path := range openPaths(slot.Path, held, w.tool) {
				key.path = path
				if got, ok := w.v.read(key, source.call, w.tool, param); ok && got.value == arg {
					w.count(u.Param, w.rule(key), source.class, true)
				}
			}
		}
	}
}

// texts judges rules that read the user's messages.
func (w *uses) texts(slot int, param, arg string) {
	for _, rule := range w.shapes {
		if got, ok := w.v.readText(w.rules[rule].path, w.tool, param); ok {
			w.count(slot, rule, w.byText, got == arg)
		}
	}
}
