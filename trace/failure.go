package trace

import (
	"github.com/awo-dev/awo/internal/failure"
)

// ByRule is Call.StatusFrom of a status that a rule read from the result.
const ByRule = "rule"

// failureIn returns the name of the sure pattern of package failure by which a result
// says that its call failed, "" if none does. Text is JSON where it is an object, quoted
// or not. The room to unquote in grows.
func failureIn(result Raw, room *[]byte) string {
	if result.Form == FormString && failure.NoneIn(result.Data) {
		return ""
	}
	if cap(*room) < len(result.Data) && result.isQuoted() {
		*room = make([]byte, 0, len(result.Data))
	}
	if p := failure.Sure(result.contentIn(*room)); p != nil {
		return p.Name
	}
	return ""
}

// FailureCode returns the code of HTTP, from 400 to 599, that the result of a failed call
// begins with, or that a member of it holds; 0 if there is none. A result for which
// no pattern matches has none.
func FailureCode(result Raw) int { return failure.Code(result.Content()) }

// ReadFailures gives the calls of t whose status is unknown, and whose results say by
// a sure pattern that they failed, the status failed.
func (t *Trajectory) ReadFailures() {
	var room []byte
	for i := range t.Calls {
		c := &t.Calls[i]
		if c.Status != StatusUnknown || !c.HasResult {
			continue
		}
		if name := failureIn(c.Result, &room); name != "" {
			c.Status, c.StatusFrom = StatusFailed, name
		}
	}
}

// Guessed reports whether the status rests on a built-in pattern.
func (c *Call) Guessed() bool { return c.StatusFrom != "" && c.StatusFrom != ByRule }
