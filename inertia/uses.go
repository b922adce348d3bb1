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
	rules   []ruleKey    // by number
	slots   []useSlot    // by number of the flow
	counts  lookup.Table // site, class and outcome, and rule -> count
	order   []useCount   // as they were met
	tried   [][]uint32   // by site, then by tool and class: calls that had the tool before them
	nodes   []trace.Value

	place  int // of the call
	v      view
	tool   trace.Name
	byTool map[trace.Name]int32
	tools  []useTool // by number
	of     []int32   // by call of the trajectory: its tool, -1 if the model did not decide on it
	recent []int32   // tools of the calls before, the newest first
	read   int       // calls of the model that are in it
	shapes []useShape
	heard  int // messages that shapes are of, the first ones
	byText Class
	before []string // what a parameter had in earlier calls
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

// useTool is a tool that the model called.
type useTool struct {
	newest int   // place of its newest call before the one that is looked at
	class  Class // of that
	rule   int32 // without a path: results, and next to it arguments; -1 if there is none yet
}

// useShape is the identifiers of a shape that the user has mentioned.
type useShape struct {
	rule  int32
	words []useWord // in order
}

type useWord struct {
	text    string
	message int
}

// useCount is a use and the place that it was counted for last.
type useCount struct {
	use
	last int
}

func newUses() *uses {
	return &uses{
		numbers: map[ruleKey]int32{}, paths: map[string]*usePath{}, parts: map[trace.Name][]string{}, byTool: map[trace.Name]int32{},
	}
}

// The scratch memory that is kept for the next trajectory, in entries.
const maxScratch = 1 << 14

// observe applies every rule that a call's arguments speak for.
func (w *uses) observe(o *Observation, h *History, flow *dataflow.Flow) {
	w.o, w.h, w.flow, w.place = o, h, flow, -1
	h.nodes = w.nodes
	w.number()
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
			slot.site = w.site(site{tool: w.tool, param: slot.name})
		}
		o.sites[slot.site].calls++
		arg, _ := h.argument(u.Call, slot.name)
		w.pairs(slot.site)
		w.earlier(u, slot, &arg)
		w.texts(slot, &arg)
	}
	w.gather()
	w.nodes = h.nodes
	w.release()
}

// site returns the number of a new site.
func (w *uses) site(s site) int32 {
	n := len(w.o.sites)
	w.o.sites = append(w.o.sites, s)
	if n == len(w.tried) {
		w.tried = append(w.tried, nil)
	}
	w.tried[n] = w.tried[n][:0]
	return int32(n)
}

// number numbers the tools of the model's calls.
func (w *uses) number() {
	w.of = slices.Grow(w.of, len(w.h.t.Calls))[:len(w.h.t.Calls)]
	for i := range w.of {
		w.of[i] = -1
	}
	for _, call := range w.h.calls {
		tool := w.h.t.Calls[call].Tool
		n, ok := w.byTool[tool]
		if !ok {
			n = int32(len(w.tools))
			w.byTool[tool] = n
			w.tools = append(w.tools, useTool{newest: -1, rule: -1})
		}
		w.of[call] = n
	}
}

// gather notes what was counted.
func (w *uses) gather() {
	n := len(w.order)
	for i := range w.o.sites {
		for _, calls := range w.tried[i] {
			if calls > 0 {
				n++
			}
		}
	}
	w.o.uses = make([]use, 0, n)
	for i := range w.order {
		w.o.uses = append(w.o.uses, w.order[i].use)
	}
	for _, call := range w.h.calls {
		if t := &w.tools[w.of[call]]; t.rule < 0 {
			tool := w.h.t.Calls[call].Tool
			t.rule = int32(len(w.rules))
			w.rules = append(w.rules, ruleKey{dataflow.Output, tool, ""}, ruleKey{dataflow.Input, tool, ""})
		}
	}
	for i := range w.o.sites {
		for k, calls := range w.tried[i] {
			if calls > 0 {
				w.o.uses = append(w.o.uses, use{site: int32(i), rule: w.tools[k/classes].rule, class: Class(k % classes), both: true, n: calls})
			}
		}
	}
	w.o.rules = slices.Clone(w.rules)
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
	large := max(w.counts.Len(), len(w.slots), len(w.numbers), len(w.paths), len(w.parts), len(w.tried), len(w.of), len(w.nodes), len(w.shapes))
	if large > maxScratch {
		*w = *newUses()
		return
	}
	w.o, w.h, w.flow, w.v = nil, nil, nil, view{}
	clear(w.numbers)
	clear(w.byTool)
	w.counts.Reset()
	clear(w.slots)
	clear(w.rules)
	clear(w.nodes[:cap(w.nodes)])
	clear(w.before[:cap(w.before)])
	for i := range w.shapes {
		clear(w.shapes[i].words)
		w.shapes[i].words = w.shapes[i].words[:0]
	}
	w.slots, w.order, w.rules, w.tools, w.recent, w.shapes, w.before = w.slots[:0], w.order[:0], w.rules[:0], w.tools[:0], w.recent[:0], w.shapes[:0], w.before[:0]
	w.read, w.heard = 0, 0
}

// begin turns to another call.
func (w *uses) begin(place int) {
	w.place, w.v = place, w.h.view(place)
	w.tool = w.h.t.Calls[w.h.calls[place]].Tool
	w.remember()
	for _, n := range w.recent {
		t := &w.tools[n]
		t.class = w.v.class(w.tool, w.h.calls[t.newest])
	}
	w.readShapes()
	w.byText = w.v.class(w.tool, -1)
}

// remember notes which call of each tool is the newest that is looked at.
func (w *uses) remember() {
	if w.v.before < w.read { // turns are not in order
		for _, n := range w.recent {
			w.tools[n].newest = -1
		}
		w.recent, w.read = w.recent[:0], 0
	}
	for ; w.read < w.v.before; w.read++ {
		n := w.of[w.h.calls[w.read]]
		if w.tools[n].newest < 0 {
			w.recent = append(w.recent, n)
		}
		at := slices.Index(w.recent, n)
		copy(w.recent[1:at+1], w.recent[:at])
		w.recent[0], w.tools[n].newest = n, w.read
	}
	for n := len(w.recent); n > 0 && w.tools[w.recent[n-1]].newest < since(w.v.before); n-- {
		w.tools[w.recent[n-1]].newest = -1
		w.recent = w.recent[:n-1]
	}
}

// readShapes notes the identifiers that the user has mentioned.
func (w *uses) readShapes() {
	for ; w.heard < w.v.messages; w.heard++ {
		if w.h.t.Messages[w.heard].Role != trace.RoleUser {
			continue
		}
		for _, word := range w.h.messageWords(w.heard) {
			rule := w.rule(ruleKey{dataflow.Task, noName, word.shape})
			at := slices.IndexFunc(w.shapes, func(s useShape) bool { return s.rule == rule })
			if at < 0 {
				at = len(w.shapes)
				if at < cap(w.shapes) {
					w.shapes = w.shapes[:at+1] // its words have memory of a trajectory before
				} else {
					w.shapes = append(w.shapes, useShape{})
				}
				w.shapes[at].rule = rule
			}
			w.shapes[at].words = append(w.shapes[at].words, useWord{word.text, w.heard})
		}
	}
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
		n = int32(len(w.rules))
		w.rules = append(w.rules, key)
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

// pairs counts how often the rules of a site and each tool before the call could be tried:
// a rule is known only once it was right.
func (w *uses) pairs(site int32) {
	row := w.tried[site]
	for _, n := range w.recent {
		at := int(n)*classes + int(w.tools[n].class)
		for len(row) <= at {
			row = append(row, 0)
		}
		row[at]++
	}
	w.tried[site] = row
}

// earlier judges rules that read results and arguments of earlier calls.
func (w *uses) earlier(u *dataflow.Use, of *useSlot, arg *trace.Value) {
	for j := range u.Sources {
		s := &u.Sources[j]
		slot := &w.flow.Slots[s.Slot]
		if s.Relation != dataflow.Equal || slot.Side > dataflow.Input || w.of[s.Call] < 0 {
			continue
		}
		from := &w.tools[w.of[s.Call]]
		if from.newest < 0 || w.h.calls[from.newest] != s.Call || w.h.t.Calls[s.Call].Tool != slot.Tool {
			continue
		}
		known := w.slot(s.Slot)
		if known.data {
			continue
		}
		key := ruleKey{slot.Side, slot.Tool, slot.Path}
		if w.gives(known.path, slot.Side, s.Call, of, arg) {
			if known.rule < 0 {
				known.rule = w.rule(key)
			}
			w.count(of.site, known.rule, from.class, true)
		}
		if slot.Side != dataflow.Output || known.open.each == nil {
			continue
		}
		held, _ := w.h.result(s.Call)
		for _, path := range known.open.paths(held, w.partsOf(w.tool), &w.h.nodes) {
			key.path = path
			if w.gives(w.path(path).path, slot.Side, s.Call, of, arg) {
				w.count(of.site, w.rule(key), from.class, true)
			}
		}
	}
}

// gives reports whether a path in the results or arguments of a call gives the argument.
func (w *uses) gives(path jsonpath.Path, side dataflow.Side, call int, of *useSlot, arg *trace.Value) bool {
	got, ok := w.v.readPath(path, side, call, w.tool, of.name)
	return ok && isSame(&got.value, arg)
}

// texts judges rules that read the user's messages, as view.readText does.
func (w *uses) texts(of *useSlot, arg *trace.Value) {
	if len(w.shapes) == 0 {
		return
	}
	w.before = w.before[:0]
	for i := since(w.v.before); i < w.v.before; i++ {
		call := w.h.calls[i]
		if w.h.t.Calls[call].Tool != w.tool {
			continue
		}
		if v, ok := w.h.argument(call, of.name); ok && v.Kind == trace.String {
			w.before = append(w.before, v.Text)
		}
	}
	for i := range w.shapes {
		s := &w.shapes[i]
		if word, ok := s.newest(since(w.v.messages), w.v.messages, w.before); ok {
			w.count(of.site, s.rule, w.byText, arg.Kind == trace.String && arg.Text == word)
		}
	}
}

// newest returns the first identifier of the newest message from first to before end that
// has one which is not left out.
func (s *useShape) newest(first, end int, without []string) (string, bool) {
	for last := len(s.words); last > 0; {
		message, from := s.words[last-1].message, last-1
		for from > 0 && s.words[from-1].message == message {
			from--
		}
		if message < first {
			break
		}
		for _, word := range s.words[from:last] {
			if message < end && !slices.Contains(without, word.text) {
				return word.text, true
			}
		}
		last = from
	}
	return "", false
}
