package dataflow

import (
	"strings"
	"unique"

	"github.com/awo-dev/awo/trace"
)

// Side says in what part of a trajectory a value stands.
type Side uint8

// The sides, in the order in which sources at the same distance are preferred.
const (
	Output Side = iota // the result of a call
	Input              // the arguments of a call
	Task               // what the user said before the first turn
	User               // what the user said later
	System             // the system prompt
)

// String returns "output", "input", "task", "user" or "system".
func (s Side) String() string { return [...]string{"output", "input", "task", "user", "system"}[s] }

// text reports whether the side holds messages, which have no paths.
func (s Side) text() bool { return s >= Task }

// Slot is a place where values are met again and again: a path in the results
// or in the arguments of a tool, or one of the kinds of messages. An Input slot
// is also how a parameter is named. Slots are comparable.
type Slot struct {
	Side Side
	Tool trace.Name // zero for messages
	Path string     // canonical text of a Path, with [*] for elements of lists and members of maps
}

// ToolName returns the name of the slot's tool, "" for messages.
func (s Slot) ToolName() string {
	if s.Tool == (trace.Name{}) {
		return ""
	}
	return s.Tool.Value()
}

// String returns "tool(arg)" for parameters, "tool.path" for results and the
// side's name for messages; of a slot without a path the tool alone.
func (s Slot) String() string {
	switch s.Side {
	case Output:
		return s.ToolName() + strings.TrimPrefix(s.Path, "$")
	case Input:
		return s.ToolName() + "(" + s.Param() + ")"
	}
	return s.Side.String()
}

// Param returns the path without its "$.", as arguments are written.
func (s Slot) Param() string {
	if len(s.Path) > 2 && s.Path[1] == '.' {
		return s.Path[2:]
	}
	return s.Path[min(1, len(s.Path)):]
}

// noTool is the tool of messages.
var noTool trace.Name

// nameOf interns the name of a tool that is not recorded as one, so that every
// call has a name.
func nameOf(n trace.Name) trace.Name {
	if n == noTool {
		return unique.Make("")
	}
	return n
}

// Relation says how the value of an argument relates to that of its source.
type Relation uint8

// The relations. Equal to Template give the argument by a rule; the others say
// that a text tells it, and Links counts them as one, Substring.
const (
	Equal      Relation = iota // the same JSON value
	Coerced                    // the string "7" for the number 7, or the other way
	Template                   // a part of the argument, with other text around it
	Substring                  // whole words of the source's text
	Folded                     // the same up to case and blanks
	Normalized                 // a date or number that the text writes in another way
)

// merged returns the relation under which links count r: all that a text tells
// in one form or another is one.
func (r Relation) merged() Relation {
	if r.toText() {
		return Substring
	}
	return r
}

// toText reports whether the relation is of a value to a text that holds it.
func (r Relation) toText() bool { return r >= Substring }

// String returns "equal", "coerced", "template", "substring", "folded" or
// "normalized".
func (r Relation) String() string {
	return [...]string{"equal", "coerced", "template", "substring", "folded", "normalized"}[r]
}

// tier orders relations by how much they say.
func (r Relation) tier() int {
	switch r {
	case Equal, Coerced:
		return 0
	case Template:
		return 1
	}
	return 2
}

// Flow is where the arguments of one trajectory could have come from. It holds
// hashes and positions, and short pieces of text around matches; and the
// arguments and results of the calls, so that they need not be read again.
type Flow struct {
	ID    string
	Slots []Slot // every place with a value, in order of first appearance
	Uses  []Use  // in the order of the calls; arguments in the order of their names
	Calls int    // calls of the model, whose arguments are Uses

	turns    []int32 // by call: its turn
	contents []content
	words    []content
	full     []int32    // slots with more values or words than are kept
	given    []given    // which tools' results, arguments and messages there are
	same     []samePair // for the counting of AutoTool's Table 2
	dropped  int        // places left out because there are too many

	values *values // what was read of the calls
}

// values are the arguments and results of calls as they were read, which is what
// collecting a trajectory takes most of its time for.
type values struct{ args, results []trace.Value }

func newValues(calls int) *values {
	room := make([]trace.Value, 2*calls)
	return &values{room[:calls], room[calls:]}
}

// Arguments returns what trace.Call.ArgsValue says of a call.
func (f *Flow) Arguments(call int) *trace.Value { return &f.values.args[call] }

// Result returns what a call returned, as a string if it is no JSON; null if it
// returned nothing.
func (f *Flow) Result(call int) *trace.Value { return &f.values.results[call] }

// Use is one argument of one call: a leaf, or a whole object or array.
type Use struct {
	Call      int
	Param     int        // index into Flow.Slots
	Positions []int      // which element, for each [*] of the parameter's path
	Kind      trace.Kind // of the value
	Whole     bool       // a non-empty object or array, whose leaves are Uses too
	Value     uint64     // jsonvalue.Hash of it
	Short     bool       // a string or number of fewer than three characters
	Seen      Seen       // when the value was first known
	Sources   []Source   // where it could have come from, best first
	empty     bool       // null, or an empty string, list or object
}

// Source is a place that held the value of a Use before the call.
type Source struct {
	Slot     int // index into Flow.Slots
	Relation Relation
	Call     int // index of the call, or of the message
	Calls    int // how many earlier calls or messages held it in this slot; Call is the last of them
	// Echo marks a result that repeats an argument of its own call: it is no
	// origin, and comes after earlier arguments in the order of sources.
	Echo bool
	// Positions says which element held it, for each [*] of the slot's path; of
	// several in one result the first.
	Positions []int
	Keys      []Key // what told that element from its neighbours

	// Before and After are what stands around the value in the source's text, at
	// most 32 bytes each, where the relation is to a text.
	Before, After string

	// Template is the argument with a Hole for each of its parts, and Part says
	// which of them the source held, from 0.
	Template string
	Part     int

	value uint64   // hash of what the source held
	words []uint64 // relations to texts: see wordsOf
}

// Seen says where in a trajectory a value could first be known.
type Seen struct {
	Turn int  // from which turn on, or -1 for never
	Side Side // in what
}

// Key is a member of a list's element that no other element of the list has
// with the same value.
type Key struct {
	Step  int    // which step of the slot's path the list is: a [*]
	Name  string // of the member
	Value trace.Value
	Arg   int // index in Flow.Slots of a parameter of the same call with that value, or -1
	Input int // index in Flow.Slots of the newest earlier argument with that value, or -1
}

// content is a value or a word that a slot held.
type content struct {
	slot int32
	hash uint64
}

// given says from which turn on a tool's results or arguments, or a kind of
// message, could be used.
type given struct {
	side Side
	tool trace.Name
	turn int32
}

// samePair counts the earlier calls of another tool with an argument that has
// the value of a later one.
type samePair struct {
	param, source int32
	count         int32
}
