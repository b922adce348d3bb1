package inertia

import (
	"slices"
	"strings"

	"github.com/awo-dev/awo/dataflow"
	"github.com/awo-dev/awo/dataflow/jsonpath"
	"github.com/awo-dev/awo/internal/lookup"
	"github.com/awo-dev/awo/trace"
)

// uses gathers what the arguments of one trajectory say about rules. What a call
// asks again for each of its arguments is worked out once. Its memory is used
// again for the next trajectory, and what is known of paths and names of tools stays.
type uses struct {
	o    *Observation
	h    *History
	flow *dataflow.Flow

	paths map[string]*usePath
	parts map[trace.Name][]string // of the names of tools

	numbers map[ruleKey]int32
	slots   []useSlot    // by number of the flow
	counts  lookup.Table // site, class and outcome, and rule -> count
	order   []useCount   // as they were met

	place   int // of the call
	v       view
	tool    trace.Name
	sources []useSource
	shapes  []int32 // rules
	heard   int     // messages that shapes are of, the first ones
	byText  Class
}

// usePath is a path of results or arguments, read.
type usePath struct {
	path  jsonpath.Path
	data  bool   // it has names that may be data
	whole bool   // it is an argument as a whole
	name  string // of that
	open  openable
}

// useSlot is what is to be known of a slot of a flow; numbers are -1 while there
// are none.
type useSlot struct {
	*usePath
	rule int32
	site int32
}

// useSource is the newest call of a tool before the one that is looked at.
type useSource struct {
	call  int
	tool  trace.Name
	class Class
	pairs [2]int32 // rules without a path: results, arguments
}

// useCount is a use and the place that it was counted for last.
type useCount struct {
	use
	last int
}

func newUses() *uses {
	return &uses{numbers: map[ruleKey]int32{}, paths: map[string]*usePath{}, parts: map[trace.Name][]string{}}
}

// The scratch memory that is kept for the next trajectory, in entries.
const maxScratch = 1 << 14

// observe applies every rule that a call's arguments speak for.
func (w *uses) observe(o *Observation, h *History, flow *dataflow.Flow) {
	w.o, w.h, w.flow, w.place, w.heard = o, h, flow, -1, 0
	w.slots = slices.Grow(w.slots, len(flow.Slots))[:len(flow.Slots)]
	for i := range flow.Uses {
		u := &flow.Uses[i]
		slot := w.slot(u.Param)
		if flow.Slots[u.Param].Side != dataflow.Input || !slot.whole || u.Call >= len(h.t.Calls) {
			continue
		}
		place, ok := slices.BinarySearch(h.calls, u.Call)
		if !ok {
			continue
		}
		if place != w.place {
			w.begin(place)
		}
		if slot.site < 0 {
			slot.site = int32(len(o.sites))
			o.sites = append(o.sites, site{tool: w.tool, param: slot.name})
		}
		o.sites[slot.site].calls++
		arg, _ := h.argument(u.Call, slot.name)
		w.earlier(u, slot, &arg)
		w.texts(slot, &arg)
	}
	o.uses = make([]use, len(w.order))
	for i := range w.order {
		o.uses[i] = w.order[i].use
	}
	w.release()
}

// slot returns what is to be known of a slot of the flow.
func (w *uses) slot(number int) *useSlot {
	s := &w.slots[number]
	if s.usePath == nil {
		*s = useSlot{w.path(w.flow.Slots[number].Path), -1, -1}
	}
	return s
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

// release lets go of the trajectory.
func (w *uses) release() {
	if w.counts.Len() > maxScratch || len(w.slots) > maxScratch || len(w.numbers) > maxScratch || len(w.paths) > maxScratch || len(w.parts) > maxScratch {
		*w = *newUses()
		return
	}
	w.o, w.h, w.flow, w.v = nil, nil, nil, view{}
	clear(w.numbers)
	w.counts.Reset()
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
	w.readShapes()
	w.byText = w.v.class(w.tool, -1)
}

// readShapes notes the shapes of the identifiers that the user has mentioned, those of earlier
// messages first.
func (w *uses) readShapes() {
	first := w.heard
	if since(w.v.messages) > 0 || w.v.messages < first { // some are not looked at any more
		first, w.shapes = since(w.v.messages), w.shapes[:0]
	}
	if first == 0 {
		w.shapes = w.shapes[:0]
	}
	for i := first; i < w.v.messages; i++ {
		if w.h.t.Messages[i].Role != trace.RoleUser {
			continue
		}
		for _, word := range w.h.messageWords(i) {
			if rule := w.rule(ruleKey{dataflow.Task, noName, word.shape}); !slices.Contains(w.shapes, rule) {
				w.shapes = append(w.shapes, rule)
			}
		}
	}
	w.heard = w.v.messages
}

// partsOf returns the parts of the name of the tool that is called.
func (w *uses) partsOf(tool trace.Name) []string {
	parts, ok := w.parts[tool]
	if !ok {
		parts = nameParts(nameText(tool))
		w.parts[tool] = parts
	}
	return parts
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
	how := uint32(class) << 1
	if right {
		how |= 1
	}
	next := int32(len(w.order))
	i := w.counts.Insert(lookup.Pair(uint32(site)<<3|how, uint32(rule)), next)
	if i == next {
		w.order = append(w.order, useCount{use: use{site: site, rule: rule, class: class, right: right}, last: -1})
	}
	if c := &w.order[i]; c.last != w.place {
		c.last = w.place
		c.n++
	}
}

// earlier judges rules that read results and arguments of earlier calls.
func (w *uses) earlier(u *dataflow.Use, of *useSlot, arg *trace.Value) {
	for i := range w.sources {
		source := &w.sources[i]
		// The pair without a path counts how often the rules of the pair could
		// be tried: a rule is known only once it was right.
		for _, pair := range source.pairs {
			w.count(of.site, pair, source.class, false)
		}
		for j := range u.Sources {
			s := &u.Sources[j]
			slot := &w.flow.Slots[s.Slot]
			if s.Relation != dataflow.Equal || s.Call != source.call || slot.Side > dataflow.Input || slot.Tool != source.tool {
				continue
			}
			known := w.slot(s.Slot)
			if known.data {
				continue
			}
			key := ruleKey{slot.Side, source.tool, slot.Path}
			if w.gives(known.path, slot.Side, source, of, arg) {
				if known.rule < 0 {
					known.rule = w.rule(key)
				}
				w.count(of.site, known.rule, source.class, true)
			}
			if slot.Side != dataflow.Output || known.open.each == nil {
				continue
			}
			held, _ := w.h.result(source.call)
			for _, path := range known.open.paths(held, w.partsOf(w.tool)) {
				key.path = path
				if w.gives(w.path(path).path, slot.Side, source, of, arg) {
					w.count(of.site, w.rule(key), source.class, true)
				}
			}
		}
	}
}

// gives reports whether a path in the newest results or arguments of a source gives the
// argument.
func (w *uses) gives(path jsonpath.Path, side dataflow.Side, source *useSource, of *useSlot, arg *trace.Value) bool {
	got, ok := w.v.readPath(path, side, source.call, w.tool, of.name)
	return ok && isSame(&got.value, arg)
}

// texts judges rules that read the user's messages.
func (w *uses) texts(of *useSlot, arg *trace.Value) {
	for _, rule := range w.shapes {
		if got, ok := w.v.readText(w.o.rules[rule].path, w.tool, of.name); ok {
			w.count(of.site, rule, w.byText, isSame(&got, arg))
		}
	}
}
