package trace

import (
	"bytes"
	"hash/maphash"
	"math/bits"
	"slices"
	"strings"
	"unique"
	"weak"

	"github.com/awo-dev/awo/internal/jsonscan"
)

// SameTools reports whether two lists of definitions are the same to the byte, as
// those of trajectories of one agent mostly are.
func SameTools(a, b []ToolDef) bool {
	if len(a) != len(b) {
		return false
	}
	if len(a) == 0 || &a[0] == &b[0] {
		return true
	}
	for i := range a {
		if !a[i].Same(&b[i]) {
			return false
		}
	}
	return true
}

// Same reports whether two definitions are the same to the byte.
func (d *ToolDef) Same(o *ToolDef) bool {
	return d.Name == o.Name && d.Deferred == o.Deferred && d.Input.Same(o.Input) && d.Description.Same(o.Description) && d.Output.Same(o.Output) && d.Annotations.Same(o.Annotations)
}

// OwnTools returns a list of definitions whose texts are its own, to be kept: those
// of a trajectory hold on to the block that it was read from.
func OwnTools(list []ToolDef) []ToolDef {
	out := make([]ToolDef, len(list))
	for i, d := range list {
		out[i] = ToolDef{Name: d.Name, Description: d.Description.own(), Input: d.Input.own(), Output: d.Output.own(), Annotations: d.Annotations.own(), Deferred: d.Deferred}
	}
	return out
}

// ToolLists remembers something about lists of definitions that came lately, the
// latest first: they repeat from trajectory to trajectory. It keeps copies of them.
// The zero value remembers nothing yet; it is used by one goroutine.
type ToolLists[T any] struct {
	known []knownTools[T]
}

type knownTools[T any] struct {
	tools []ToolDef
	sum   uint64
	value T
	// The first of the lists that it was lately: each worker has its own.
	lately [8]weak.Pointer[ToolDef]
	oldest int
}

// Of returns what is remembered of a list.
func (l *ToolLists[T]) Of(tools []ToolDef) (value T, ok bool) {
	var first weak.Pointer[ToolDef]
	at := -1
	if len(tools) > 0 { // trajectories of one reading mostly share their lists
		first = weak.Make(&tools[0])
		at = slices.IndexFunc(l.known, func(k knownTools[T]) bool { return slices.Contains(k.lately[:], first) && len(k.tools) == len(tools) })
	}
	if at < 0 {
		sum := sumOf(tools)
		at = slices.IndexFunc(l.known, func(k knownTools[T]) bool { return k.sum == sum && SameTools(k.tools, tools) })
		if at < 0 {
			return value, false
		}
		k := &l.known[at]
		k.lately[k.oldest], k.oldest = first, (k.oldest+1)%len(k.lately)
	}
	found := l.known[at]
	copy(l.known[1:at+1], l.known[:at])
	l.known[0] = found
	return found.value, true
}

// sumOf is mostly different for lists that are, and costs little.
func sumOf(tools []ToolDef) uint64 {
	type part struct {
		name  Name
		sizes [4]int
	}
	sum := uint64(0)
	for i := range tools {
		d := &tools[i]
		one := maphash.Comparable(sumSeed, part{d.Name, [...]int{len(d.Description.Data), len(d.Input.Data), len(d.Output.Data), len(d.Annotations.Data)}})
		sum = bits.RotateLeft64(sum, 1) ^ one
	}
	return sum
}

var sumSeed = maphash.MakeSeed()

// Len returns how many lists are remembered.
func (l *ToolLists[T]) Len() int { return len(l.known) }

// Keep remembers something of a list, and forgets what came before the latest most
// lists.
func (l *ToolLists[T]) Keep(tools []ToolDef, value T, most int) {
	l.known = slices.Insert(l.known[:min(len(l.known), most-1)], 0, knownTools[T]{tools: OwnTools(tools), sum: sumOf(tools), value: value})
}

// Same reports whether two texts are the same to the byte, in the same form.
func (r Raw) Same(o Raw) bool { return r.Form == o.Form && bytes.Equal(r.Data, o.Data) }

func (r Raw) own() Raw { return Raw{Data: bytes.Clone(r.Data), Form: r.Form} }

// ToolMemo is lists of definitions that were read before, the latest first. Runs
// of a few agents repeat a few lists, and often they are the larger part of a
// record; trajectories with the same list share it. It also knows how much records of
// their size hold. A memo is used by one worker at a time.
type ToolMemo struct {
	Names NameCache
	Room  any // memory of who decodes, from record to record

	lists [memoLists]toolList
	used  int

	bytes, turns, messages, calls int // of the records so far
}

// maxExpected is how many turns, messages and calls a record is expected to hold at most.
const maxExpected = 64

// Expect returns how many turns, messages and calls a record of a size in bytes probably
// holds, judged by the records before it: some more than they did for their size.
func (m *ToolMemo) Expect(size int) (turns, messages, calls int) {
	if m == nil || m.bytes == 0 {
		// What a turn with its messages takes in recorded chats.
		n := max(4, min(size/1000, maxExpected))
		return n, max(4, n/2), n
	}
	of := func(sum int) int {
		return 1 + int(min(1.25*float64(sum)*float64(size)/float64(m.bytes), maxExpected-1))
	}
	return of(m.turns), of(m.messages), of(m.calls)
}

// Note notes what a record of a size held.
func (m *ToolMemo) Note(size int, t *Trajectory) {
	m.bytes += size
	m.turns += len(t.Turns)
	m.messages += len(t.Messages)
	m.calls += len(t.Calls)
}

// toolList is a list of definitions with its text, which it points into.
type toolList struct {
	text  []byte
	tools []ToolDef
}

// The limits of a toolMemo, so that it is bounded whatever comes.
const (
	memoLists = 48
	memoText  = 256 << 10
)

// Recall passes over a list that is known, and returns it.
func (m *ToolMemo) Recall(c *jsonscan.Cursor) ([]ToolDef, bool) {
	for i := range m.used {
		if !c.SkipSame(m.lists[i].text) {
			continue
		}
		found := m.lists[i]
		copy(m.lists[1:i+1], m.lists[:i])
		m.lists[0] = found
		return found.tools, true
	}
	return nil, false
}

// Keep remembers a list that was read without any anomaly. It reads a copy,
// because the list would otherwise keep the whole block that it was found in.
func (m *ToolMemo) Keep(text []byte, read func(list []byte) []ToolDef) {
	if len(text) > memoText {
		return
	}
	text = bytes.Clone(text)
	tools := read(text)
	m.used = min(m.used+1, memoLists)
	copy(m.lists[1:m.used], m.lists[:m.used-1])
	m.lists[0] = toolList{text: text, tools: slices.Clip(tools)}
}

// Intern returns the Name of a tool.
func Intern[S string | []byte](name S) Name { return unique.Make(string(name)) }

// NameCache interns names of tools: agents use a few over and over. It is a direct-mapped
// table: a name that is not at its place is asked for again, so hostile names cost time and
// no memory. The zero value is ready; one goroutine uses it at a time.
type NameCache struct {
	slots [64]struct {
		text string
		name Name
	}
}

// Intern returns the Name of a tool.
func (c *NameCache) Intern(text []byte) Name {
	h := uint32(len(text))
	if len(text) > 0 {
		// Names of one server share their beginning: look at the end.
		last := len(text) - 1
		h = h*31 + uint32(text[last])
		h = h*31 + uint32(text[last/2])
		h = h*31 + uint32(text[last-last/4])
	}
	slot := &c.slots[h*0x9E3779B1>>26]
	if slot.text != string(text) || slot.name == (Name{}) {
		slot.name = Intern(text)
		slot.text = slot.name.Value()
	}
	return slot.name
}

// TextArena makes small strings out of bytes, many to one allocation. A string
// keeps the chunk that it is in.
type TextArena struct {
	chunk strings.Builder
	first int // bytes of the first chunk where the texts are known to be few, 0 if they are not
}

// arenaChunk is how many bytes are allocated at once.
const arenaChunk = 512

// Add returns a text as a string.
func (a *TextArena) Add(text []byte) string {
	switch {
	case len(text) == 0:
		return ""
	case len(text) > arenaChunk/4:
		return string(text)
	case a.chunk.Cap()-a.chunk.Len() < len(text):
		size := arenaChunk
		if a.first > 0 {
			size, a.first = max(len(text), min(a.first, arenaChunk)), 0
		}
		a.chunk = strings.Builder{}
		a.chunk.Grow(size)
	}
	start := a.chunk.Len()
	a.chunk.Write(text)
	return a.chunk.String()[start:]
}

// Deferral says from where on the model reads the definitions of tools that are deferred:
// left out of its input until a search finds them.
type Deferral struct {
	From  []int        // by tool of Trajectory.Tools: the first turn that reads it; len(Turns) for none
	Found map[int]bool // calls whose result is definitions of such tools, or names them
}

// Deferral returns from where on each definition is read: a deferred one from the turn after
// the search that found it, at the latest from the first turn that calls the tool. It is nil
// where none is deferred.
func (t *Trajectory) Deferral() *Deferral {
	var d *Deferral
	deferred := map[string]int{}
	for i := range t.Tools {
		if !t.Tools[i].Deferred {
			continue
		}
		if d == nil {
			d = &Deferral{From: make([]int, len(t.Tools)), Found: map[int]bool{}}
		}
		d.From[i] = len(t.Turns)
		deferred[t.Tools[i].Name.Value()] = i
	}
	if d == nil {
		return nil
	}
	read := func(tool, turn int) { d.From[tool] = min(d.From[tool], max(turn, 0)) }
	var values ValueReader
	for i := range t.Calls {
		c := &t.Calls[i]
		if c.Turn < 0 || c.Tool == (Name{}) {
			continue
		}
		if tool, is := deferred[c.Tool.Value()]; is {
			read(tool, c.Turn)
		}
		if !c.HasResult || !c.searches() {
			continue
		}
		found, _ := values.Result(c)
		eachFound("", &found, func(name string) {
			if tool, is := deferred[name]; is {
				d.Found[i] = true
				read(tool, c.Turn+1)
			}
		})
	}
	return d
}

// searches reports whether a call looks for tools: by its name, or by references to tools in
// its result.
func (c *Call) searches() bool {
	name := strings.ToLower(strings.ReplaceAll(c.Tool.Value(), "_", ""))
	return strings.HasPrefix(name, "toolsearch") || bytes.Contains(c.Result.Data, []byte("tool_reference"))
}

// eachFound tells of the names of tools in what a search returned: references, or definitions,
// which may be in a namespace.
func eachFound(space string, v *Value, found func(name string)) {
	for i := range v.Elems {
		eachFound(space, &v.Elems[i], found)
	}
	for _, member := range [...]string{"tool_name", "name"} {
		if name := v.Member(member); v.Kind == Object && name.Kind == String {
			found(space + name.Text)
			if v.Member("tools").Kind == Array {
				space = strings.TrimSuffix(name.Text, "__") + "__"
			}
			break
		}
	}
	for i := range v.Members {
		if m := &v.Members[i]; m.Name != "parameters" && m.Name != "input_schema" {
			eachFound(space, &m.Value, found)
		}
	}
}
