package dataflow

import "github.com/awo-dev/awo/trace"

// Collector finds the possible sources of arguments. It may be used
// concurrently; the zero value is ready. What tools' schemas list it reads once, however
// many trajectories offer the same tools.
type Collector struct{ schemas Schemas }

// EnumsOf returns what EnumsOf of the package does.
func (c *Collector) EnumsOf(t *trace.Trajectory) Enums { return c.schemas.EnumsOf(t) }

// Collect returns where the arguments of t's model calls could have come from.
// The result depends on t alone.
//
// Every argument leaf and every whole object or array is looked for in all that
// was there before the call: results and arguments of calls of earlier turns
// (parallel calls of one turn are never each other's sources) and messages.
// Null, booleans, empty strings, lists and objects come from nowhere.
//
// Nobody may change it.
func (c *Collector) Collect(t *trace.Trajectory) *Flow { return new(collection).collect(t) }

// inOrder reports whether calls and messages stand in the order of their turns.
func inOrder(t *trace.Trajectory) bool {
	for i := 1; i < len(t.Calls); i++ {
		if t.Calls[i].Turn < t.Calls[i-1].Turn {
			return false
		}
	}
	for i := 1; i < len(t.Messages); i++ {
		if t.Messages[i].Turn < t.Messages[i-1].Turn {
			return false
		}
	}
	return true
}
