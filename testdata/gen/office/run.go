package office

import (
	"time"

	"github.com/awo-dev/awo/testdata/gen/world"
)

// Run is one trajectory: an agent's attempt at a task.
type Run struct {
	Index   int // from 0, in order of start
	ID      string
	Task    string // id; trials of one task share it, the office and the texts
	Trial   int    // from 0
	Family  string
	Persona int  // which office
	Second  bool // whether it is in the second edition (drift)

	Agent  Agent
	System string
	Tools  []*world.Tool // offered to the model

	Events  []Event
	Solved  bool // whether the office is in the state that the task asked for
	Stopped bool // whether the run broke off

	Start, End time.Time
}

// Agent is what the trace calls the agent.
type Agent struct {
	Name, Version, Model, Provider string
}

// Event is either what the user said or a turn of the model.
type Event struct {
	User *Message
	Turn *Turn
}

// Message is a text from the user. The first one is the task.
type Message struct {
	Text string
	Time time.Time
}

// Turn is one response of the model.
type Turn struct {
	Text    string
	Thought string
	Calls   []Call // in the order in which the model wrote them; they run at once
	Usage   Usage
	Start   time.Time
	End     time.Time // when the response was complete; the calls start then
}

// Usage is the tokens of one turn. Input includes Cached and CacheWrite, Output
// includes Reasoning.
type Usage struct {
	Input, Cached, CacheWrite, Output, Reasoning int
}

// Call is one tool call.
type Call struct {
	ID        string
	Tool      *world.Tool
	Args      world.Args
	Result    world.Result
	HasResult bool // false if the trace breaks off before the answer
	Start     time.Time
	End       time.Time

	Sources []ArgSource // one for every leaf of the arguments, in order
}

// ArgSource says where a leaf of a call's arguments came from.
type ArgSource struct {
	Arg string // path of the leaf, as in "to[0]"
	Source
}

// Origin is the kind of place that an argument came from.
type Origin string

// The origins.
const (
	FromResult   Origin = "result"   // a leaf of an earlier result
	FromTask     Origin = "task"     // the first user message
	FromUser     Origin = "user"     // a later user message
	FromModel    Origin = "model"    // the model made it up
	FromConstant Origin = "constant" // always the same where agents do this
	FromTemplate Origin = "template" // fixed text around the values of Parts
)

// Source is the place that a value came from.
type Source struct {
	Origin Origin

	// FromResult: call, and path of the leaf in its result. If an element of a
	// list was chosen by another member of the element, Key is that member's
	// name and KeyValue its value.
	Call          int
	Path          string
	Key, KeyValue string

	Message int // FromUser: index among the user messages; the task is 0

	Parts []Part // FromTemplate

	// Date says that the text has the value as a date written out, as in
	// "9 March 2026" for 2026-03-09 (FromTask).
	Date bool

	// Told says that the value stands in a user message too, so that an answer
	// "from the task" is as right as the place given here.
	Told bool

	// Lookalikes are leaves of earlier results with the same value that are
	// another datum: answering with one of them is wrong. Other equal leaves
	// are copies of the same datum.
	Lookalikes []Place
}

// Part is a piece of a template: fixed text, or a value with its own source.
type Part struct {
	Text   string // fixed text, or the value
	Source *Source
}

// Place is a leaf of an earlier result, with [] for any index in the path.
type Place struct {
	Call int
	Path string
}

// Calls returns the run's calls in order. The pointers stay valid.
func (r *Run) Calls() []*Call {
	var calls []*Call
	for _, e := range r.Events {
		if e.Turn != nil {
			for i := range e.Turn.Calls {
				calls = append(calls, &e.Turn.Calls[i])
			}
		}
	}
	return calls
}

// Turns returns the run's turns in order.
func (r *Run) Turns() []*Turn {
	var turns []*Turn
	for _, e := range r.Events {
		if e.Turn != nil {
			turns = append(turns, e.Turn)
		}
	}
	return turns
}

// Users returns the user messages in order; the first is the task.
func (r *Run) Users() []*Message {
	var users []*Message
	for _, e := range r.Events {
		if e.User != nil {
			users = append(users, e.User)
		}
	}
	return users
}
