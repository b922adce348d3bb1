package trace

import (
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
)

// A Digest keeps trajectories that are read over and over, and what was worked out of
// them: whoever reads them again gets copies without any decoding, whose arguments and
// results are parsed once, and for which [Trajectory.Remember] remembers.
//
// Its room is bounded. Trajectories are kept from the first on until one finds none left;
// what is parsed or remembered later is kept as long as there is room, and else worked out
// again each time. Nothing that anybody is told depends on it. It may be used
// concurrently, but for Add.
type Digest struct {
	room  atomic.Int64 // bytes left
	kept  []*Trajectory
	full  bool
	tools ToolLists[[]ToolDef]
}

// NewDigest returns an empty digest with room for so many bytes.
func NewDigest(room int64) *Digest {
	d := &Digest{}
	d.room.Store(room)
	return d
}

// Add keeps a copy of t as it is now, unless the room has run out. The copy holds on to
// nothing of the block that t was read from. It returns what All will yield for it, or
// else t.
func (d *Digest) Add(t *Trajectory) *Trajectory {
	if d.full {
		return t
	}
	text := textOf(t)
	tools, shared := d.tools.Of(t.Tools)
	if !shared {
		tools = OwnTools(t.Tools)
	}
	size := int(unsafe.Sizeof(*t)) + len(t.Turns)*int(unsafe.Sizeof(Turn{})) + len(t.Messages)*int(unsafe.Sizeof(Message{})) +
		len(t.Calls)*int(unsafe.Sizeof(Call{})+unsafe.Sizeof(keptCall{})) + text
	if !shared {
		for i := range tools {
			size += int(unsafe.Sizeof(ToolDef{})) + len(tools[i].Description.Data) + len(tools[i].Input.Data) + len(tools[i].Output.Data) + len(tools[i].Annotations.Data)
		}
	}
	if t.Offset < 0 {
		size /= assembledShare
	}
	if d.full = !d.take(size); d.full {
		return t
	}
	if !shared {
		d.tools.Keep(t.Tools, tools, toolListsKept)
	}
	out := d.copy(t, text, tools)
	d.kept = append(d.kept, out)
	return out.again()
}

// again returns a copy of which the calls may be changed.
func (t *Trajectory) again() *Trajectory {
	out := *t
	out.Calls = slices.Clone(t.Calls)
	return &out
}

// assembledShare is how much less room a trajectory counts for that is put together from
// records all over the input: each reading would put it together anew, which takes many times
// as long as reading one.
const assembledShare = 3

// toolListsKept is how many lists of definitions copies share; others have one of their
// own.
const toolListsKept = 64

// Len returns how many trajectories are kept: the first ones that were added.
func (d *Digest) Len() int { return len(d.kept) }

// IsWhole reports whether all that were added are kept.
func (d *Digest) IsWhole() bool { return !d.full }

// All yields what is kept, in order. The calls of what it yields may be changed.
func (d *Digest) All() iter.Seq[*Trajectory] {
	return func(yield func(*Trajectory) bool) {
		for _, t := range d.kept {
			if !yield(t.again()) {
				return
			}
		}
	}
}

// take takes room, and reports whether there was enough; nil has no bound.
func (d *Digest) take(bytes int) bool {
	if d == nil {
		return true
	}
	if d.room.Add(-int64(bytes)) >= 0 {
		return true
	}
	d.room.Add(int64(bytes))
	return false
}

// texts calls do for every text of a trajectory that is a piece of its record, but for
// definitions, which trajectories share.
func (t *Trajectory) texts(do func(*Raw)) {
	for i := range t.Turns {
		do(&t.Turns[i].Text)
		do(&t.Turns[i].Thought)
	}
	for i := range t.Messages {
		do(&t.Messages[i].Text)
	}
	for i := range t.Calls {
		c := &t.Calls[i]
		do(&c.Args)
		do(&c.Result)
		do(&c.Error)
		do(&c.Attached)
	}
}

func textOf(t *Trajectory) int {
	n := 0
	t.texts(func(r *Raw) { n += len(r.Data) })
	return n
}

// copy returns a copy of t with texts of its own, of so many bytes, and these definitions.
func (d *Digest) copy(t *Trajectory, size int, tools []ToolDef) *Trajectory {
	out := *t
	out.Tools = tools
	out.Turns, out.Messages, out.Calls = slices.Clone(t.Turns), slices.Clone(t.Messages), slices.Clone(t.Calls)
	text := make([]byte, 0, size)
	out.texts(func(r *Raw) {
		if r.Data != nil {
			from := len(text)
			text = append(text, r.Data...)
			r.Data = text[from:len(text):len(text)]
		}
	})
	out.keep(d)
	return &out
}

// Recall lets t remember what is worked out of it, as a trajectory that a [Digest] keeps
// does, for as long as it is in use itself.
func (t *Trajectory) Recall() {
	if t.kept == nil {
		t.keep(nil)
	}
}

// RecallFrom is Recall for a trajectory of which much was worked out when it was read
// before: memory is asked for what is wanted, when it is.
func (t *Trajectory) RecallFrom(memory Memory) {
	t.Recall()
	t.kept.memory = memory
}

// Memory is what was worked out of a trajectory in an earlier reading. It may be used
// concurrently.
type Memory interface {
	// Open is called before the others. It returns how many calls the trajectory had,
	// negative if what was worked out is lost.
	Open() (calls int)
	// Value returns what Call.ArgsValue or Call.ResultValue do, nil for what is not known.
	Value(call int, isResult bool) *Parsed
	// Recall returns what was remembered under a key; false if nothing was.
	Recall(key any) (value any, ok bool)
}

// Parsed is a value, and whether it is what was asked for.
type Parsed struct {
	Value Value
	OK    bool
}

// Known returns what is remembered of the arguments and the result of a call as
// Call.ArgsValue and Call.ResultValue return them, nil for what is not known.
func (c *Call) Known() (args, result *Parsed) {
	if c.kept == nil {
		return nil, nil
	}
	return c.kept.known(false), c.kept.known(true)
}

// recalls returns the memory, nil if there is none.
func (k *keptTrajectory) recalls() Memory {
	if k.memory == nil {
		return nil
	}
	k.asked.Do(func() { k.isLost = k.memory.Open() != len(k.calls) })
	if k.isLost {
		return nil
	}
	return k.memory
}

// keep lets t remember what is worked out of it, as far as d has room.
func (t *Trajectory) keep(d *Digest) {
	calls := make([]keptCall, len(t.Calls))
	t.kept = &keptTrajectory{digest: d, calls: calls, messages: t.Messages, turns: t.Turns, tools: t.Tools}
	for i := range calls {
		c, k := &t.Calls[i], &calls[i]
		k.at, k.of, k.tool, k.turn, k.origin, k.hasResult, k.args.raw, k.result.raw = i, t.kept, c.Tool, c.Turn, c.Origin, c.HasResult, c.Args, c.Result
		c.kept = k
	}
}

// keptCall is a call as it was, and its values once they have been parsed.
type keptCall struct {
	at           int // among the calls
	of           *keptTrajectory
	tool         Name
	turn         int
	origin       Origin
	hasResult    bool
	args, result keptValue
}

type keptValue struct {
	raw   Raw // that it is of
	value atomic.Pointer[Parsed]
}

// known returns the value of the arguments or the result, nil if it is not known.
func (k *keptCall) known(isResult bool) *Parsed {
	v := &k.args
	if isResult {
		v = &k.result
	}
	known := v.value.Load()
	if known != nil {
		return known
	}
	if memory := k.of.recalls(); memory != nil {
		if known = memory.Value(k.at, isResult); known != nil {
			v.value.CompareAndSwap(nil, known)
		}
	}
	return known
}

// value returns the value of raw, the arguments or the result, which parse parses.
func (k *keptCall) value(isResult bool, raw Raw, parse func() (Value, bool)) (Value, bool) {
	v := &k.args
	if isResult {
		v = &k.result
	}
	if !v.raw.is(raw) {
		return parse()
	}
	if known := k.known(isResult); known != nil {
		return known.Value, known.OK
	}
	value, ok := parse()
	if d := k.of.digest; d == nil || d.take(value.size()) {
		v.value.Store(&Parsed{value, ok})
	}
	return value, ok
}

// is reports whether o is the same piece of the same record.
func (r Raw) is(o Raw) bool {
	return r.Form == o.Form && len(r.Data) == len(o.Data) && (len(r.Data) == 0 || unsafe.SliceData(r.Data) == unsafe.SliceData(o.Data))
}

// size returns about how many bytes a value takes.
func (v *Value) size() int {
	n := int(unsafe.Sizeof(*v)) + len(v.Text)
	for i := range v.Elems {
		n += v.Elems[i].size()
	}
	for i := range v.Members {
		n += int(unsafe.Sizeof("")) + len(v.Members[i].Name) + v.Members[i].Value.size()
	}
	return n
}

// keptTrajectory is what was worked out of a trajectory.
type keptTrajectory struct {
	digest *Digest // nil for one that is in use once

	// As it was then.
	calls    []keptCall
	messages []Message
	turns    []Turn
	tools    []ToolDef

	mutex sync.Mutex
	known map[any]any

	memory Memory // of an earlier reading; nil if there was none
	asked  sync.Once
	isLost bool // it has nothing of this trajectory
}

// Remember returns what was worked out of the trajectory under a key. The first time, and
// always where neither a [Digest] nor Recall keeps it or it has been changed since, that is what
// work returns. The value must depend on calls, messages and definitions alone, and not on
// how calls ended; nobody may change it. size is about how many bytes it takes.
func (t *Trajectory) Remember(key any, work func() (value any, size int)) any {
	k := t.kept
	if k == nil || !k.is(t) {
		value, _ := work()
		return value
	}
	if value, is := k.recall(key); is {
		return value
	}
	value, size := work()
	if k.digest.take(size) {
		k.mutex.Lock()
		k.remember(key, value)
		k.mutex.Unlock()
	}
	return value
}

// is reports whether t still says what it did when it was kept.
func (k *keptTrajectory) is(t *Trajectory) bool {
	same := len(t.Calls) == len(k.calls) && len(t.Messages) == len(k.messages) && len(t.Turns) == len(k.turns) && len(t.Tools) == len(k.tools) &&
		unsafe.SliceData(t.Messages) == unsafe.SliceData(k.messages) && unsafe.SliceData(t.Turns) == unsafe.SliceData(k.turns) &&
		unsafe.SliceData(t.Tools) == unsafe.SliceData(k.tools)
	for i := 0; same && i < len(t.Calls); i++ {
		a, b := &t.Calls[i], &k.calls[i]
		same = a.Tool == b.tool && a.Turn == b.turn && a.Origin == b.origin && a.HasResult == b.hasResult && a.Args.is(b.args.raw) && a.Result.is(b.result.raw)
	}
	return same
}

// IsKept reports whether a Digest keeps the trajectory, as it is, beyond its own use.
func (t *Trajectory) IsKept() bool {
	return t.kept != nil && t.kept.digest != nil && t.kept.is(t)
}

// Remembered returns what Remember would without doing any work, nil if that is nothing.
func (t *Trajectory) Remembered(key any) any {
	k := t.kept
	if k == nil || !k.is(t) {
		return nil
	}
	value, _ := k.recall(key)
	return value
}

// recall returns what is remembered under a key, now or from an earlier reading.
func (k *keptTrajectory) recall(key any) (value any, ok bool) {
	memory := k.recalls()
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if value, ok = k.known[key]; ok || memory == nil {
		return value, ok
	}
	if value, ok = memory.Recall(key); ok {
		k.remember(key, value)
	}
	return value, ok
}

// remember is for those who hold the mutex.
func (k *keptTrajectory) remember(key, value any) {
	if k.known == nil {
		k.known = map[any]any{}
	}
	k.known[key] = value
}
