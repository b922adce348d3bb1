package trace

import (
	"github.com/awo-dev/awo/diag"
)

// Problem codes of anomalies that the Tally reports as figures of their own.
const (
	CodeOrphanResult = "result-orphan" // a result that answers no call
)

// Tally counts what came in: the "input" block of every report. Calls are those
// that a model decided on; what code, a predictor or a meta-tool called is in
// OtherCalls and in no sequence. A turn figure is meaningless where turns are
// not recorded: TurnsUnknown says of how many calls that is true.
//
// It is O(tools) in memory and not safe for concurrent use.
type Tally struct {
	Files          int
	Records        int
	Trajectories   int // with or without calls
	Empty          int // without a call of the model
	Calls          int
	OtherCalls     int
	LLMTurns       int
	CallingTurns   int // turns with at least one call of the model
	UserMessages   int
	CallsAfterUser int
	WithoutResult  int
	OrphanResults  int
	TurnsUnknown   int // calls whose turn is not recorded

	// What the capabilities rest on.
	MultiCall     int // trajectories with at least two calls of the model
	OutcomeKnown  int // trajectories whose outcome is recorded
	Timed         int // trajectories that say when they began
	Traceable     int // calls with arguments and a result
	ArgsMissing   int // calls without recorded arguments
	StatusUnknown int // calls of unknown status
	TurnsUsage    int // turns with recorded token usage

	Problems diag.Counts

	tools map[Name]struct{}
}

// Add counts one trajectory.
func (y *Tally) Add(t *Trajectory) {
	if y.tools == nil {
		y.tools = map[Name]struct{}{}
	}
	y.Trajectories++
	y.LLMTurns += len(t.Turns)
	calls, lastTurn := 0, -1
	for i := range t.Calls {
		c := &t.Calls[i]
		if c.Origin != OriginModel {
			y.OtherCalls++
			continue
		}
		calls++
		y.tools[c.Tool] = struct{}{}
		switch {
		case c.Turn < 0:
			y.TurnsUnknown++
		case c.Turn != lastTurn:
			y.CallingTurns++
			lastTurn = c.Turn
		}
		if c.AfterUser {
			y.CallsAfterUser++
		}
		y.addRecorded(c)
	}
	y.Calls += calls
	y.addWhole(t, calls)
	if calls == 0 {
		y.Empty++
	}
	for i := range t.Messages {
		if t.Messages[i].Role == RoleUser {
			y.UserMessages++
		}
	}
	for code, n := range t.Anomalies.ByCode {
		if code == CodeOrphanResult {
			y.OrphanResults += n
			continue
		}
		y.Problems.AddN(code, n)
	}
}

// addRecorded counts what is recorded of a call.
func (y *Tally) addRecorded(c *Call) {
	missing := c.ArgsMissing()
	if missing {
		y.ArgsMissing++
	}
	if !c.HasResult {
		y.WithoutResult++
	}
	if !missing && c.HasResult {
		y.Traceable++
	}
	if c.Status == StatusUnknown {
		y.StatusUnknown++
	}
}

// addWhole counts what is recorded of a trajectory as a whole.
func (y *Tally) addWhole(t *Trajectory, calls int) {
	if calls > 1 {
		y.MultiCall++
	}
	if t.Outcome != OutcomeUnknown {
		y.OutcomeKnown++
	}
	if !t.Started().IsZero() {
		y.Timed++
	}
	for i := range t.Turns {
		if t.Turns[i].Usage.Known {
			y.TurnsUsage++
		}
	}
}

// Tools returns how many different tools the model called.
func (y *Tally) Tools() int { return len(y.tools) }
