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
// nothing of the block that t was read from.
func (d *Digest) Add(t *Trajectory) {
	if d.full {
		return
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
	if d.full = !d.take(size); d.full {
		return
	}
	if !shared {
		d.tools.Keep(t.Tools, tools, toolListsKept)
	}
	out := d.copy(t, text)
	out.Tools = tools
	d.kept = append(d.kept, out)
}

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
			out := *t
			out.Calls = slices.Clone(t.Calls)
			if !yield(&out) {
				return
			}
		}
	}
}

// take takes room, and reports whether there was enough.
func (d *Digest) take(bytes int) bool {
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

// copy returns a copy of t with texts of its own, of so many bytes.
func (d *Digest) copy(t *Trajectory, size int) *Trajectory {
	out := *t
	out.Turns, out.Messages, out.Calls = slices.Clone(t.Turns), slices.Clone(t.Messages), slices.Clone(t.Calls)
	text := make([]byte, 0, size)
	out.texts(func(r *Raw) {
		if r.Data != nil {
			from := len(text)
			text = append(text, r.Data...)
			r.Data = text[from:len(text):len(text)]
		}
	})
	calls := make([]keptCall, len(out.Calls))
	for i := range calls {
		c := &out.Calls[i]
		calls[i].digest, calls[i].args.raw, calls[i].result.raw = d, c.Args, c.Result
		c.kept = &calls[i]
	}
	out.kept = &keptTrajectory{digest: d, as: &out}
	return &out
}

// keptCall is the values of a call once they have been parsed.
type keptCall struct {
	digest       *Digest
	args, result keptValue
}

type keptValue struct {
	raw   Raw // that it is of
	value atomic.Pointer[parsedValue]
}

type parsedValue struct {
	value Value
	ok    bool
}

// of returns the value of raw, which parse parses.
func (k *keptValue) of(d *Digest, raw Raw, parse func() (Value, bool)) (Value, bool) {
	if !k.raw.is(raw) {
		return parse()
	}
	if known := k.value.Load(); known != nil {
		return known.value, known.ok
	}
	value, ok := parse()
	if d.take(value.size()) {
		k.value.Store(&parsedValue{value, ok})
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
	digest *Digest
	as     *Trajectory // as it was kept

	mutex sync.Mutex
	known map[any]any
}

// Remember returns what was worked out of the trajectory under a key. The first time, and
// always where no [Digest] keeps the trajectory or it has been changed since, that is what
// work returns. The value must depend on calls, messages and definitions alone, and not on
// how calls ended; nobody may change it. size is about how many bytes it takes.
func (t *Trajectory) Remember(key any, work func() (value any, size int)) any {
	k := t.kept
	if k == nil || !t.isAs(k.as) {
		value, _ := work()
		return value
	}
	k.mutex.Lock()
	value, is := k.known[key]
	k.mutex.Unlock()
	if is {
		return value
	}
	value, size := work()
	if k.digest.take(size) {
		k.mutex.Lock()
		if k.known == nil {
			k.known = map[any]any{}
		}
		k.known[key] = value
		k.mutex.Unlock()
	}
	return value
}

// isAs reports whether t still says what it did when it was kept.
func (t *Trajectory) isAs(o *Trajectory) bool {
	same := len(t.Calls) == len(o.Calls) && len(t.Messages) == len(o.Messages) && len(t.Turns) == len(o.Turns) && len(t.Tools) == len(o.Tools) &&
		unsafe.SliceData(t.Messages) == unsafe.SliceData(o.Messages) && unsafe.SliceData(t.Turns) == unsafe.SliceData(o.Turns) &&
		unsafe.SliceData(t.Tools) == unsafe.SliceData(o.Tools)
	for i := 0; same && i < len(t.Calls); i++ {
		a, b := &t.Calls[i], &o.Calls[i]
		same = a.Tool == b.Tool && a.Turn == b.Turn && a.Origin == b.Origin && a.HasResult == b.HasResult && a.Args.is(b.Args) && a.Result.is(b.Result)
	}
	return same
}
