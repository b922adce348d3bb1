package trace

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

// Notes are what was worked out of trajectories that are read over and over, beyond the
// reading in which it was: a trajectory that is the i-th of each reading finds what was noted of
// the i-th before. Their room is bounded; what finds none is worked out again each time, so
// nothing that anybody is told depends on it. They may be used concurrently.
type Notes struct {
	room  atomic.Int64 // bytes left
	mutex sync.Mutex
	of    []map[any]any // by number of the trajectory
}

// NewNotes returns empty notes with room for so many bytes.
func NewNotes(room int64) *Notes {
	n := &Notes{}
	n.room.Store(room)
	return n
}

// find returns what is noted of a trajectory under a key, nil for nothing.
func (n *Notes) find(i int, key any) any {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	if i >= len(n.of) {
		return nil
	}
	return n.of[i][key]
}

// add notes something of a trajectory, and reports whether there was room.
func (n *Notes) add(i int, key, value any, size int) bool {
	if n.room.Add(-int64(size)) < 0 {
		n.room.Add(int64(size))
		return false
	}
	n.mutex.Lock()
	defer n.mutex.Unlock()
	for i >= len(n.of) {
		n.of = append(n.of, nil)
	}
	if n.of[i] == nil {
		n.of[i] = map[any]any{}
	}
	n.of[i][key] = value
	return true
}

// Recall lets t remember what is worked out of it, for as long as it is in use: the values of
// its calls, and what it is asked to [Trajectory.Remember].
func (t *Trajectory) Recall() {
	if t.kept == nil {
		t.keep()
	}
}

// RecallFrom is Recall for a trajectory of which much was worked out when it was read
// before: memory is asked for what is wanted, when it is.
func (t *Trajectory) RecallFrom(memory Memory) {
	t.Recall()
	t.kept.memory = memory
}

// NoteIn is Recall for the i-th trajectory of a reading, of which notes are taken.
func (t *Trajectory) NoteIn(n *Notes, i int) {
	t.Recall()
	t.kept.notes, t.kept.number = n, i
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

func (t *Trajectory) keep() {
	calls := make([]keptCall, len(t.Calls))
	t.kept = &keptTrajectory{calls: calls, messages: t.Messages, turns: t.Turns, tools: t.Tools}
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
	v.value.Store(&Parsed{value, ok})
	return value, ok
}

// is reports whether o is the same piece of the same record.
func (r Raw) is(o Raw) bool {
	return r.Form == o.Form && len(r.Data) == len(o.Data) && (len(r.Data) == 0 || unsafe.SliceData(r.Data) == unsafe.SliceData(o.Data))
}

// keptTrajectory is what was worked out of a trajectory.
type keptTrajectory struct {
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

	notes  *Notes // nil if none are taken
	number int    // of the trajectory in notes
}

// Remember returns what was worked out of the trajectory under a key. The first time, and
// always where it was not told to Recall or has been changed since, that is what work returns. The
// value must depend on calls, messages and definitions alone, and not on how calls ended; nobody
// may change it.
func (t *Trajectory) Remember(key any, work func() any) any {
	k := t.kept
	if k == nil || !k.is(t) {
		return work()
	}
	if value, is := k.recall(key); is {
		return value
	}
	value := work()
	k.mutex.Lock()
	k.remember(key, value)
	k.mutex.Unlock()
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

// IsNoted reports whether notes are taken of the trajectory, as it is.
func (t *Trajectory) IsNoted() bool {
	return t.kept != nil && t.kept.notes != nil && t.kept.is(t)
}

// Noted returns what was noted of the trajectory under a key, in this reading or an earlier
// one; nil if nothing was, or if the trajectory has been changed since it was read.
func (t *Trajectory) Noted(key any) any {
	if !t.IsNoted() {
		return nil
	}
	return t.kept.notes.find(t.kept.number, key)
}

// Note notes something of the trajectory under a key, for later readings. It reports whether
// it will be found: there is no room for everything. As with Remember, the value must not
// depend on how calls ended. size is about how many bytes it takes.
func (t *Trajectory) Note(key, value any, size int) bool {
	return t.IsNoted() && t.kept.notes.add(t.kept.number, key, value, size)
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
