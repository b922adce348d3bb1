package inertia

import (
	"slices"
	"strings"

	"github.com/awo-dev/awo/dataflow"
	"github.com/awo-dev/awo/trace"
)

// uses gathers what the arguments of one trajectory say about rules. What a call
// asks again for each of its arguments is worked out once. Its memory is used
// again for the next trajectory.
type uses struct {
	o    *Observation
	h    *History
	flow *dataflow.Flow

	numbers map[ruleKey]int32
	slots   []useSlot // by number of the flow
	counts  map[useKey]int32
	order   []useCount // as they were met

	place   int // of the call
	v       view
	tool    trace.Name
	sources []useSource
	shapes  []int32 // rules
	byText  Class
}

// useSlot is what is to be known of a slot of a flow; numbers are -1 while there
// are none.
type useSlot struct {
	param string // of a parameter that is an argument as a whole its name
	whole bool
	data  bool // its path has names that may be data
	rule  int32
	site  int32
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
	site, rule int32
	class      Class
	right      bool
}

type useCount struct {
	n    uint64
	key  useKey
	last int // place that it was counted for
}

func newUses() *uses {
	return &uses{numbers: map[ruleKey]int32{}, counts: map[useKey]int32{}}
}

// The scratch memory that is kept for the next trajectory, in entries.
const maxScratch = 1 << 14

// observe applies every rule that a call's arguments speak for.
func (w *uses) observe(o *Observation, h *History, flow *dataflow.Flow) {
	w.o, w.h, w.flow, w.place = o, h, flow, -1
	w.readSlots()
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
		param := present{w.tool, slot.param}
		o.params = append(o.params, param)
		if slot.site < 0 {
			slot.site = int32(len(o.sites))
			o.sites = append(o.sites, param)
		}
		arg := h.arg(u.Call, slot.param)
		w.earlier(u, slot, arg)
		w.texts(slot, arg)
	}
	o.uses = make([]use, len(w.order))
	for i, c := range w.order {
		o.uses[i] = use{c.key.site, c.key.rule, c.key.class, c.key.right, c.n}
	}
	w.release()
}

func (w *uses) readSlots() {
	for _, s := range w.flow.Slots {
		// Names that are no identifiers may be data.
		slot := useSlot{data: s.Side > dataflow.Input || strings.Contains(s.Path, "['"), rule: -1, site: -1}
		if s.Side == dataflow.Input {
			slot.param, slot.whole = topLevel(s.Path)
		}
		w.slots = append(w.slots, slot)
	}
}

// release lets go of the trajectory.
func (w *uses) release() {
	if len(w.counts) > maxScratch || len(w.slots) > maxScratch || len(w.numbers) > maxScratch {
		*w = *newUses()
		return
	}
	w.o, w.h, w.flow, w.v = nil, nil, nil, view{}
	clear(w.numbers)
	clear(w.counts)
	clear(w.slots)
	w.slots, w.order = w.slots[:0], w.order[:0]
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
		n = int32(len(w.o.rules))
		w.o.rules = append(w.o.rules, key)
		w.numbers[key] = n
	}
	return n
}

// count notes a use, once for each argument: the same source by two ways is one.
func (w *uses) count(site, rule int32, class Class, right bool) {
	key := useKey{site, rule, class, right}
	i, ok := w.counts[key]
	if !ok {
		i = int32(len(w.order))
		w.counts[key] = i
		w.order = append(w.order, useCount{key: key, last: -1})
	}
	if c := &w.order[i]; c.last != w.place {
		c.last = w.place
		c.n++
	}
}

// earlier judges rules that read results and arguments of earlier calls.
func (w *uses) earlier(u *dataflow.Use, of *useSlot, arg string) {
	for i := range w.sources {
		source := &w.sources[i]
		// The pair without a path counts how often the rules of the pair could
		// be tried: a rule is known only once it was right.
		for _, pair := range source.pairs {
			w.count(of.site, pair, source.class, false)
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
			if got, ok := w.v.read(key, source.call, w.tool, of.param); ok && got.value == arg {
				known := &w.slots[s.Slot]
				if known.rule < 0 {
					known.rule = w.rule(key)
				}
				w.count(of.site, known.rule, source.class, true)
			}
			if slot.Side != dataflow.Output {
				continue
			}
			held, _ := w.h.result(source.call)
			for _, path := range openPaths(slot.Path, held, w.tool) {
				key.path = path
				if got, ok := w.v.read(key, source.call, w.tool, of.param); ok && got.value == arg {
					w.count(of.site, w.rule(key), source.class, true)
				}
			}
		}
	}
}

// texts judges rules that read the user's messages.
func (w *uses) texts(of *useSlot, arg string) {
	for _, rule := range w.shapes {
		if got, ok := w.v.readText(w.o.rules[rule].path, w.tool, of.param); ok {
			w.count(of.site, rule, w.byText, got == arg)
		}
	}
}
