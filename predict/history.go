package predict

import (
	"hash/maphash"
	"slices"
	"sort"
	"strings"

	"github.com/awo-dev/awo/internal/bounds"
	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/trace"
)

// A History is a trajectory with its values parsed once, as predictions at its
// turns need them. It is not safe for concurrent use.
type History struct {
	t       *trace.Trajectory
	calls   []int        // indices of the model's calls
	begins  []int        // by place: of the first of the calls that one turn makes up to there
	tools   []trace.Name // of these, once asked for
	args    []arguments  // by call
	results []parsed
	words   [][]word       // by message
	flow    *dataflow.Flow // that was collected of t, whose values are used instead of args and results; nil for none
	paths   map[string]jsonpath.Path
	nodes   []trace.Value // room for what a path selects
}

// arguments are those of one call.
type arguments struct {
	value   trace.Value
	texts   []argument // in the order of their names, once asked for
	hash    uint64     // of texts
	done    bool
	written bool // as texts
}

// argument is one argument as canonical JSON.
type argument struct{ name, text string }

// seed is that of hashes that only save comparisons: no result follows from it.
var seed = maphash.MakeSeed()

// hash returns a hash of an argument. Those of one call are summed up: they have no order.
func (a argument) hash() uint64 {
	return maphash.String(seed, a.name)*0x9e3779b97f4a7c15 ^ maphash.String(seed, a.text)
}

type parsed struct {
	value trace.Value
	done  bool
	ok    bool
}

// since returns the first of so many calls or messages that is looked at. What a
// trajectory longer than bounds.LookBack began with is as if it had not been: otherwise
// each of n calls would look at all before it.
func since(n int) int { return max(0, n-bounds.LookBack) }

// Before returns the tools of the calls before a decision, at most bounds.LookBack of them.
func (h *History) Before(n int) []trace.Name { return h.names()[since(n):n] }

// names returns the tools of all of the model's calls; it must not be changed.
func (h *History) names() []trace.Name {
	if len(h.tools) != len(h.calls) {
		h.tools = make([]trace.Name, len(h.calls))
		for i, call := range h.calls {
			h.tools[i] = h.t.Calls[call].Tool
		}
	}
	return h.tools
}

// NewHistory returns the history of t, which must not change while it is used.
func NewHistory(t *trace.Trajectory) *History {
	h := historyOf(t)
	h.args, h.results = make([]arguments, len(t.Calls)), make([]parsed, len(t.Calls))
	return h
}

// historyOf returns the history of t without room for values: they are those of a flow.
func historyOf(t *trace.Trajectory) *History {
	h := &History{t: t, words: make([][]word, len(t.Messages)), calls: make([]int, 0, len(t.Calls))}
	for i := range t.Calls {
		if t.Calls[i].Origin == trace.OriginModel {
			h.calls = append(h.calls, i)
		}
	}
	t.NoteBound(bounds.LookBackBound, max(len(h.calls), len(t.Messages))-bounds.LookBack)
	return h
}

// NewLiveHistory returns the history of a run that goes on: calls that were made
// without asking the model are part of what came before.
func NewLiveHistory(t *trace.Trajectory) *History {
	h := NewHistory(t)
	h.calls = h.calls[:0]
	for i := range t.Calls {
		if o := t.Calls[i].Origin; o == trace.OriginModel || o == trace.OriginInertial {
			h.calls = append(h.calls, i)
		}
	}
	return h
}

// Trajectory returns what the history is of.
func (h *History) Trajectory() *trace.Trajectory { return h.t }

// Decisions returns every turn of the model, and every further call of a turn,
// in order. Where turns are not recorded, every call is one.
func (h *History) Decisions() []Decision {
	t := h.t
	out := make([]Decision, 0, max(len(t.Turns), len(h.calls)))
	done := 0 // calls of the model before
	message := 0
	spoken, right := false, false
	// hear notes the messages that stand before a turn or call.
	hear := func(turn, call int) {
		right = false
		for ; message < len(t.Messages); message++ {
			m := &t.Messages[message]
			if m.Turn > turn || m.Call > call {
				break
			}
			if m.Role == trace.RoleUser {
				spoken, right = true, true
			}
		}
	}
	var room []int // calls of a turn
	add := func(turn int, calls []int) {
		d := Decision{State: h.state(done, spoken), Before: done, Turn: turn, Call: -1, AfterUser: right, Multiple: len(calls) > 1}
		if len(calls) == 0 {
			out = append(out, d)
			return
		}
		for j, i := range calls {
			c := &t.Calls[i]
			d.Next, d.Status, d.Call, d.Before = c.Tool, c.Status, done, done
			if j > 0 {
				d.State, d.AfterUser = StateInside, false
			}
			out = append(out, d)
			done++
		}
		spoken = false
	}
	if len(t.Turns) == 0 {
		for _, i := range h.calls {
			hear(0, i)
			if t.Calls[i].AfterUser {
				spoken, right = true, true
			}
			add(-1, append(room[:0], i))
		}
		return out
	}
	for turn := range t.Turns {
		first := t.Turns[turn].FirstCall
		hear(turn, first)
		calls := room[:0]
		for i := first; i < first+t.Turns[turn].NumCalls && i < len(t.Calls); i++ {
			if t.Calls[i].Origin == trace.OriginModel {
				calls = append(calls, i)
			}
		}
		if len(calls) == 0 && t.Turns[turn].NumCalls > 0 {
			continue // what others than the model called is no turn of it
		}
		add(turn, calls)
		room = calls
	}
	return out
}

func (h *History) state(done int, spoken bool) State {
	var s State
	if spoken {
		s |= StateUser
	}
	if done > 0 && h.t.Calls[h.calls[done-1]].Status == trace.StatusFailed {
		s |= StateFailed
	}
	if done > 1 {
		last, before := h.t.Calls[h.calls[done-1]].Turn, h.t.Calls[h.calls[done-2]].Turn
		if last >= 0 && last == before {
			s |= StateParallel
		}
	}
	return s
}

// argument returns the value of an argument, and false if the call has none.
func (h *History) argument(call int, param string) (trace.Value, bool) {
	return h.argsValue(call).Lookup(param)
}

// arg returns the canonical JSON of an argument, "" if the call has none.
func (h *History) arg(call int, param string) string {
	all := h.arguments(call)
	i, ok := slices.BinarySearchFunc(all, param, func(a argument, param string) int { return strings.Compare(a.name, param) })
	if !ok {
		return ""
	}
	return all[i].text
}

// arguments returns the arguments of a call, in the order of their names.
func (h *History) arguments(call int) []argument {
	a := &h.args[call]
	if a.written {
		return a.texts
	}
	value := h.argsValue(call)
	a.written = true
	if n := len(value.Members); n > 0 {
		a.texts = make([]argument, n)
	}
	for i := range a.texts {
		m := &value.Members[i]
		a.texts[i] = argument{m.Name, string(m.Value.AppendCanonical(nil))}
		a.hash += a.texts[i].hash()
	}
	return a.texts
}

// argsValue returns the arguments of a call as an object.
func (h *History) argsValue(call int) trace.Value {
	if h.flow != nil {
		return *h.flow.Arguments(call)
	}
	a := &h.args[call]
	if !a.done {
		a.done = true
		a.value, _ = h.t.Calls[call].ArgsValue()
	}
	return a.value
}

// result returns the result of a call.
func (h *History) result(call int) (trace.Value, bool) {
	if h.flow != nil {
		return *h.flow.Result(call), h.t.Calls[call].HasResult
	}
	p := &h.results[call]
	if !p.done {
		p.done = true
		if c := &h.t.Calls[call]; c.HasResult {
			if p.value, p.ok = c.ResultValue(); !p.ok {
				p.value, p.ok = trace.Value{Kind: trace.String, Text: c.Result.Text()}, true
			}
		}
	}
	return p.value, p.ok
}

// messageWords returns the words of a message that look like identifiers.
func (h *History) messageWords(i int) []word {
	if h.words[i] == nil {
		h.words[i] = words(h.t.Messages[i].Text.Text())
	}
	return h.words[i]
}

// A view is a history as the model sees it before it makes its call number
// before: what calls of the same turn return is not known yet.
type view struct {
	h        *History
	before   int // calls of the model in earlier turns
	messages int
}

// view returns what is known when call number place of the model is made.
func (h *History) view(place int) view {
	call := h.calls[place]
	turn := h.t.Calls[call].Turn
	v := view{h: h, before: place}
	for i := len(h.begins); i <= place; i++ {
		begin := i
		if of := h.t.Calls[h.calls[i]].Turn; of >= 0 && i > 0 && h.t.Calls[h.calls[i-1]].Turn == of {
			begin = h.begins[i-1]
		}
		h.begins = append(h.begins, begin)
	}
	v.before = h.begins[place]
	v.messages = sort.Search(len(h.t.Messages), func(i int) bool {
		m := &h.t.Messages[i] // both grow with i
		return m.Call > call || turn >= 0 && m.Turn > turn
	})
	return v
}

// viewAt returns what is known at a decision.
func (h *History) viewAt(d *Decision) view {
	v := view{h: h, before: d.Before}
	v.messages = sort.Search(len(h.t.Messages), func(i int) bool {
		m := &h.t.Messages[i]
		return d.Turn >= 0 && m.Turn > d.Turn || d.Turn < 0 && d.Before < len(h.calls) && m.Call > h.calls[d.Before]
	})
	return v
}

// sources returns the newest call of each tool, the newest first.
func (v view) sources() []int {
	var out []int
	for i := v.before - 1; i >= since(v.before); i-- {
		call := v.h.calls[i]
		tool := v.h.t.Calls[call].Tool
		if !slices.ContainsFunc(out, func(j int) bool { return v.h.t.Calls[j].Tool == tool }) {
			out = append(out, call)
		}
	}
	return out
}

// newest returns the newest call of a tool, -1 if there is none.
func (v view) newest(tool trace.Name) int {
	for i := v.before - 1; i >= since(v.before); i-- {
		if call := v.h.calls[i]; v.h.t.Calls[call].Tool == tool {
			return call
		}
	}
	return -1
}

// class says where a source stands from the point of view of a call of tool;
// a source of -1 is a message.
func (v view) class(tool trace.Name, source int) Class {
	if v.before == 0 {
		return Far
	}
	last := &v.h.t.Calls[v.h.calls[v.before-1]]
	switch {
	case last.Tool == tool:
		return Walk
	case source >= 0 && (source == v.h.calls[v.before-1] || last.Turn >= 0 && v.h.t.Calls[source].Turn == last.Turn):
		return Near
	}
	return Far
}

// read returns what a rule gives for an argument: what its path selects in the newest result or arguments of its tool, of several values
// the first that the parameter has not had in this trajectory, and before it such
// a one that the user has named.
func (v view) read(key ruleKey, newest int, tool trace.Name, param string) (reading, bool) {
	path, ok := v.h.paths[key.path]
	if !ok {
		path, _ = jsonpath.Parse(key.path) // what does not parse selects the whole, which fits no parameter
		if v.h.paths == nil {
			v.h.paths = map[string]jsonpath.Path{}
		}
		v.h.paths[key.path] = path
	}
	return v.readPath(path, key.side, newest, tool, param)
}

// readPath is read with the path of the rule.
func (v view) readPath(path jsonpath.Path, side dataflow.Side, newest int, tool trace.Name, param string) (reading, bool) {
	var held trace.Value
	var ok bool
	switch side {
	case dataflow.Output:
		if held, ok = v.h.result(newest); !ok {
			return reading{}, false
		}
	case dataflow.Input:
		held = v.h.argsValue(newest)
	default:
		return reading{}, false
	}
	if isOpen(path) {
		value, ok := byName(path, held, tool)
		return reading{value: value, all: 1, left: 1}, ok
	}
	if path.One() {
		node, ok := path.Single(held)
		if !ok || node.Kind == trace.Null {
			return reading{}, false
		}
		return reading{value: node, all: 1, left: 1}, true
	}
	nodes := path.AppendEval(v.h.nodes[:0], held)
	v.h.nodes = nodes
	r := reading{all: len(nodes)}
	found, named := false, false
	for i := range nodes {
		if found && named && i >= maxWalked {
			break
		}
		if v.had(tool, param, &nodes[i]) {
			continue
		}
		r.left++
		if !found {
			r.value, found = nodes[i], true
		}
		if !named && nodes[i].Kind == trace.String && v.named(nodes[i].Text) {
			r.value, named = nodes[i], true
		}
	}
	return r, found
}

// maxWalked bounds how far lists are read once a value is found.
const maxWalked = 1000

// reading is what a rule read.
type reading struct {
	value trace.Value
	all   int // elements of the list
	left  int // of these, those that the parameter has not had
}

// named reports whether the user mentioned an identifier.
func (v view) named(text string) bool {
	for i := since(v.messages); i < v.messages; i++ {
		if v.h.t.Messages[i].Role != trace.RoleUser {
			continue
		}
		for _, w := range v.h.messageWords(i) {
			if w.text == text {
				return true
			}
		}
	}
	return false
}

// had reports whether a parameter had a value in an earlier call.
func (v view) had(tool trace.Name, param string, value *trace.Value) bool {
	for i := since(v.before); i < v.before; i++ {
		call := v.h.calls[i]
		if v.h.t.Calls[call].Tool != tool {
			continue
		}
		if arg, ok := v.h.argument(call, param); ok && isSame(&arg, value) {
			return true
		}
	}
	return false
}

// isSame reports whether two values have the same canonical form.
func isSame(a, b *trace.Value) bool {
	return a.Kind == b.Kind && len(a.Text) == len(b.Text) && a.Equal(*b)
}

// repeated reports whether the same call was made before.
func (v view) repeated(tool trace.Name, args []Filled) bool {
	var hash uint64
	for i := range args {
		hash += argument{args[i].Param, args[i].Value}.hash()
	}
	for i := since(v.before); i < v.before; i++ {
		call := v.h.calls[i]
		if v.h.t.Calls[call].Tool != tool {
			continue
		}
		if texts := v.h.arguments(call); v.h.args[call].hash == hash && sameArguments(texts, args) {
			return true
		}
	}
	return false
}

func sameArguments(a []argument, b []Filled) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !slices.ContainsFunc(b, func(f Filled) bool { return f.Param == a[i].name && f.Value == a[i].text }) {
			return false
		}
	}
	return true
}

// A Run is a recorded trajectory to replay or to learn from.
type Run struct {
	History     *History
	Observation *Observation
	Task        string
}

// NewRun pairs a trajectory with what it teaches.
func NewRun(t *trace.Trajectory, o *Observation) *Run {
	return &Run{History: NewHistory(t), Observation: o, Task: o.Task}
}

// Fresh returns a run of the same trajectory that shares nothing that changes, for
// another goroutine.
func (r *Run) Fresh() *Run {
	return &Run{History: NewHistory(r.History.t), Observation: r.Observation, Task: r.Task}
}

// SameCall reports whether call number n of the model, as a [Decision] numbers them, has
// exactly the arguments that are filled in.
func (h *History) SameCall(n int, f *Fill) bool {
	return len(h.Wrong(n, f)) == 0 && len(f.Args) == len(h.argsValue(h.calls[n]).Members)
}

// Call returns call number n of the model, as a [Decision] numbers them.
func (h *History) Call(n int) *trace.Call { return &h.t.Calls[h.calls[n]] }
