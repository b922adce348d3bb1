package dataflow

import (
	"bytes"
	"iter"
	"slices"
	"strings"

	"github.com/awo-dev/awo/internal/bounds"
	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/internal/dataflow/jsonvalue"
	"github.com/awo-dev/awo/trace"
)

// Values are the arguments and results of the calls of a trajectory, each read once by
// whoever asks first.
type Values interface {
	Arguments(call int) *trace.Value // what trace.Call.ArgsValue says
	Result(call int) *trace.Value    // of a call that has one: a string if it is no JSON
}

// A Reading says which arguments and other values were known when, as [Flow.KnownBefore] does,
// and reads no more of a trajectory than its answers need: mostly a value was known from the
// beginning, or is asked for at an early call. It belongs to one goroutine.
type Reading struct {
	flow    *Flow       // of the whole trajectory, where it was collected; else
	part    *collection // what was read of it so far
	ordered bool        // calls and messages stand in the order of their turns
	enums   Enums
}

// Read begins to read t, whose values are asked of read, to be asked for arguments of the
// first calls, so many of them. flow is that of t, nil where it was not collected.
func (c *Collector) Read(t *trace.Trajectory, flow *Flow, calls int, read Values) *Reading {
	r := &Reading{enums: c.EnumsOf(t), flow: flow}
	if flow == nil {
		r.part, r.ordered = &collection{isKnowing: true, read: read}, inOrder(t)
		r.part.start(t, calls)
	}
	return r
}

// ReadFor begins to read t to be asked for values that need not be arguments.
func (c *Collector) ReadFor(t *trace.Trajectory, read Values, values []trace.Value) *Reading {
	r := &Reading{part: &collection{isKnowing: true, read: read, sought: values}, ordered: inOrder(t)}
	r.part.start(t, len(t.Calls))
	return r
}

// ValueKnown reports whether all that the value numbered i holds was known when the model
// made the turn of a call.
func (r *Reading) ValueKnown(i, before int) bool {
	known := true
	for leaf := range leaves(&r.part.sought[i]) {
		known = known && r.partKnown(&argument{value: leaf, hash: jsonvalue.Hash(leaf), want: r.part.equal.Find(jsonvalue.Hash(leaf))}, len(r.part.calls), before)
	}
	return known
}

// leaves yields what a value holds that is no object or array, or an empty one.
func leaves(v *trace.Value) iter.Seq[*trace.Value] {
	return func(yield func(*trace.Value) bool) { eachLeaf(v, yield) }
}

func eachLeaf(v *trace.Value, yield func(*trace.Value) bool) bool {
	if len(v.Elems)+len(v.Members) == 0 {
		return yield(v)
	}
	for i := range v.Elems {
		if !eachLeaf(&v.Elems[i], yield) {
			return false
		}
	}
	for i := range v.Members {
		if !eachLeaf(&v.Members[i].Value, yield) {
			return false
		}
	}
	return true
}

// ReadBounds reads what is left of the trajectory, if more may stand there than is looked
// at: so that Close notes what it would of the whole, of which all calls must be asked for.
func (r *Reading) ReadBounds() {
	if p := r.part; p != nil && p.t.Reached != nil && p.mayReachBound() {
		p.readUntil(len(p.calls))
	}
}

// Close ends reading, and notes which bounds were reached in what was read. The Reading
// must not be used any more.
func (r *Reading) Close(c *Collector) {
	if p := r.part; p != nil {
		r.part = nil
		if p.sought == nil {
			p.noteBounds()
		}
	}
}

// ArgumentKnown reports whether all that an argument of a call holds was known when the
// model made the turn of the call numbered before. Of calls that the model did not decide
// on nothing is asked, so they are.
func (r *Reading) ArgumentKnown(call int, argument string, before int) bool {
	return r.known(call, before, func(slot int) bool { return r.isIn(slot, argument) })
}

// CallKnown is ArgumentKnown of all arguments of a call.
func (r *Reading) CallKnown(call, before int) bool {
	return r.known(call, before, func(int) bool { return true })
}

// known reports whether the values of a call in the places that are asked for were known.
func (r *Reading) known(call, before int, asked func(slot int) bool) bool {
	if f := r.flow; f != nil {
		first, _ := slices.BinarySearchFunc(f.Uses, call, func(u Use, call int) int { return u.Call - call })
		for i := first; i < len(f.Uses) && f.Uses[i].Call == call; i++ {
			if u := &f.Uses[i]; !u.Whole && asked(u.Param) && !f.KnownBefore(u, before, r.enums) {
				return false
			}
		}
		return true
	}
	args := r.part.argumentsAt(call)
	for i := range args {
		if a := &args[i]; a.model && !a.whole && asked(int(a.slot)) && !r.partKnown(a, call, before) {
			return false
		}
	}
	return true
}

// partKnown reports whether the value of an argument of a call was known, and reads until
// that is certain.
func (r *Reading) partKnown(a *argument, call, before int) bool {
	p := r.part
	if a.value.Kind == trace.Bool || isEmpty(a.value) {
		return true
	}
	isEnum := func() bool { return call < len(p.calls) && r.enums.Has(p.flow.Slots[a.slot], a.hash) }
	if isShort(a.value) {
		return isEnum()
	}
	limit := p.turnOf(call)
	if r.ordered && before < call || call == len(p.calls) {
		limit = p.turnOf(before) // what is read after it is known too late
	}
	w := &p.wants[a.want]
	wasSeen := func() bool {
		return w.seen.Turn >= 0 && w.seenAt <= int32(limit) && (before >= len(p.calls) || w.seen.Turn <= p.calls[before].Turn)
	}
	if wasSeen() || isEnum() {
		return true
	}
	for w.seen.Turn < 0 && p.isBefore(limit) {
		p.readOn()
	}
	return wasSeen()
}

// isIn reports whether a slot is an argument, or in it.
func (r *Reading) isIn(slot int, argument string) bool {
	f := r.flow
	if f == nil {
		f = r.part.flow
	}
	if name, ok := strings.CutPrefix(f.Slots[slot].Path, "$."); ok { // as names that are identifiers are written
		if end := strings.IndexAny(name, ".["); end >= 0 {
			name = name[:end]
		}
		return name == argument
	}
	path, err := jsonpath.Parse(f.Slots[slot].Path)
	return err == nil && len(path) > 0 && path[0].Kind == jsonpath.Member && path[0].Name == argument
}

// argumentsAt returns the arguments of a call and what is inside them.
func (c *collection) argumentsAt(call int) []argument {
	start := int32(0)
	if call > 0 {
		start = c.byCall[call-1]
	}
	return c.args[start:c.byCall[call]]
}

// turnOf returns the first call of the turn of a call.
func (c *collection) turnOf(call int) int {
	for call > 0 && call < len(c.calls) && c.calls[call-1].Turn == c.calls[call].Turn {
		call--
	}
	return call
}

// isBefore reports whether the messages before a turn, given by its first call, were not
// read so far.
func (c *collection) isBefore(first int) bool { return c.first < first || c.first == first && !c.heard }

// readOn reads the messages before a turn, or its calls.
func (c *collection) readOn() {
	if c.heard {
		c.readTurn()
	} else {
		c.hear()
	}
}

// readUntil reads up to a turn, given by its first call, and the messages before it.
func (c *collection) readUntil(first int) {
	for c.isBefore(first) {
		c.readOn()
	}
}

// mayReachBound reports whether what was not read so far may hold more than is looked at.
// It errs on that side: it counts what texts have at most.
func (c *collection) mayReachBound() bool {
	places := 2*len(c.calls) + 3 // those of whole arguments, results and messages
	for i := range c.calls {
		call := &c.calls[i]
		places += (len(call.Args.Data) + len(call.Result.Data)) / minPlace
		if text := call.Result.Data; i >= c.first && call.HasResult && (opens(text) >= bounds.Steps || mayNest(text)) {
			return true
		}
	}
	return places >= bounds.Places
}

// minPlace is how many bytes a place takes at least: a name in quotes, a colon and a value.
const minPlace = 4

// opens returns how many objects and arrays begin in a text at most, unless mayNest.
func opens(text []byte) int {
	if len(text) < bounds.Steps {
		return 0
	}
	return bytes.Count(text, []byte("{")) + bytes.Count(text, []byte("["))
}

// mayNest reports whether there may be JSON texts in JSON texts in a text: quotes in quotes
// need two backslashes in a row, and an escape may stand for anything.
func mayNest(text []byte) bool {
	return bytes.Contains(text, []byte(`\\`)) || bytes.Contains(text, []byte(`\u00`))
}
