// Package bounds holds in one place how much of one input is looked at: of a call, of a
// trajectory, of a trace. Traces come from others, and without a bound one call with a
// hundred thousand arguments, or a hundred thousand agents below one another, would take
// a time that grows with their square.
//
// Beyond a bound a command goes on with what it has. What was left out is noted in a
// Reached, by those who reach it, and said in the result: "bounded" with the bound and
// what was left out. docs/security.md shows the table; a test holds the two together.
//
// Bounds that only an estimate rests on, such as how many sources of a value are
// compared, stand where the estimate is made, and docs/security.md lists those too.
package bounds

// Spans of a trace.
const (
	// Levels is how many spans above a span are looked at.
	Levels = 1024
	// Siblings is how many trajectories in one place of a trace a further agent may
	// go on with, and how many calls that wait a span or a result may belong to.
	Siblings = 1024
	// Doubles is how many spans may tell again of one call or response.
	Doubles = 256
)

// Values of a trajectory.
const (
	// Calls is how many calls of one trajectory are read by those who follow values from
	// call to call, and read it again and again.
	Calls = 1 << 18
	// Places is how many places of arguments and results a trajectory may have that
	// values come from or go to.
	Places = 1 << 12
	// Steps is how many names and positions lead to a place that is looked at.
	Steps = 64
	// Values is how many different values and words all places of a trajectory hold.
	Values = 1 << 18
	// Record is how many members an object may have whose names are places. One with
	// more is a map from data to values, whose members share one place.
	Record = 256
	// TextInText is how many times JSON text may be wrapped in JSON text.
	TextInText = 4
)

// What predictions and bindings look at.
const (
	// LookBack is how many calls, and messages, before a turn a prediction looks at.
	LookBack = 2000
	// Tools is how many tools a model of the next call distinguishes: the most frequent.
	Tools = 4096
)

// A Bound is one that a result names where it was reached.
type Bound struct {
	Code  string // as results name it
	Of    string // what it bounds
	Unit  string // what is counted beyond it
	Limit int
}

// The bounds that are noted.
var (
	CallsBound      = &Bound{"calls", "calls of a trajectory whose values are followed", "calls after them", Calls}
	PlacesBound     = &Bound{"places", "places of arguments and results of a trajectory", "values at further places", Places}
	StepsBound      = &Bound{"steps", "names and positions that lead to a value", "values that stand deeper", Steps}
	ValuesBound     = &Bound{"values", "different values and words of a trajectory", "places that hold more", Values}
	TextInTextBound = &Bound{"text-in-text", "levels of JSON in text in JSON", "texts further inside", TextInText}
	LookBackBound   = &Bound{"look-back", "calls and messages before a turn that a prediction looks at", "earlier calls and messages", LookBack}
	ToolsBound      = &Bound{"tools", "tools that a model of the next call distinguishes", "rarer tools", Tools}
	LevelsBound     = &Bound{"levels", "spans above a span", "spans that stand deeper", Levels}
	SiblingsBound   = &Bound{"siblings", "trajectories, or waiting calls, in one place of a trace that are compared", "comparisons with older ones", Siblings}
	DoublesBound    = &Bound{"doubles", "spans that tell again of one call or response", "further spans", Doubles}
)

// All returns the bounds that are noted, in the order of their codes.
func All() []*Bound {
	return []*Bound{
		CallsBound, DoublesBound, LevelsBound, LookBackBound, PlacesBound, SiblingsBound, StepsBound, TextInTextBound, ToolsBound, ValuesBound,
	}
}
