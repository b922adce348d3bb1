package completeness

import (
	"cmp"
	"maps"
	"slices"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/trace"
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
	CodeCalls      int // of OtherCalls, those made by a program
	LLMTurns       int
	CallingTurns   int // turns with at least one call of the model
	UserMessages   int
	CallsAfterUser int
	WithoutResult  int
	OrphanResults  int
	TurnsUnknown   int // calls whose turn is not recorded
	TurnsAssumed   int // turns of LLMTurns that are assumed from the time between calls

	// What the capabilities rest on.
	MultiCall     int // trajectories with at least two calls of the model
	OutcomeKnown  int // trajectories whose outcome is recorded
	Timed         int // trajectories that say when they began
	Traceable     int // calls with arguments and a result
	ArgsMissing   int // calls without recorded arguments
	StatusUnknown int // calls whose status neither a flag nor a rule tells
	TurnsUsage    int // turns with recorded token usage

	// What speaks against the counts; see Doubts.
	Offered       int // trajectories that list the tools offered
	EmptyTexts    int // messages of the user without text
	UsageRepeated int // turns with the token counts of the turn before

	Problems diag.Counts

	unread map[string]int      // what was not understood, by what it is; see trace.Trajectory
	first  map[string]diag.Pos // where the first trajectory with an anomaly of a code stands

	tools    map[trace.Name]struct{}
	failedBy map[string]int // by Call.StatusFrom
}

// Add counts one trajectory.
func (y *Tally) Add(t *trace.Trajectory) {
	if y.tools == nil {
		y.tools = map[trace.Name]struct{}{}
	}
	y.Trajectories++
	y.LLMTurns += len(t.Turns)
	calls, lastTurn := 0, -1
	for i := range t.Calls {
		c := &t.Calls[i]
		if c.Origin != trace.OriginModel {
			y.OtherCalls++
			if c.Origin == trace.OriginCode {
				y.CodeCalls++
			}
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
	for m := range t.UserMessages() {
		y.UserMessages++
		if m.Text.IsEmpty() {
			y.EmptyTexts++
		}
	}
	y.addAnomalies(t)
}

// addAnomalies counts what was odd in a trajectory.
func (y *Tally) addAnomalies(t *trace.Trajectory) {
	for what, n := range t.Unread {
		if y.unread == nil {
			y.unread = map[string]int{}
		}
		y.unread[what] += n
	}
	for code, n := range t.Anomalies.ByCode {
		if before, ok := y.first[code]; !ok || t.Source.Compare(before) < 0 {
			if y.first == nil {
				y.first = map[string]diag.Pos{}
			}
			y.first[code] = t.Source
		}
		switch code {
		case trace.CodeOrphanResult:
			y.OrphanResults += n
			continue
		case trace.CodeTurnsAssumed:
			y.TurnsAssumed += n
			continue
		}
		y.Problems.AddN(code, n)
	}
}

// addRecorded counts what is recorded of a call.
func (y *Tally) addRecorded(c *trace.Call) {
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
	if c.Status == trace.StatusUnknown || c.Guessed() {
		y.StatusUnknown++
	}
	if c.Status == trace.StatusFailed && c.StatusFrom != "" {
		if y.failedBy == nil {
			y.failedBy = map[string]int{}
		}
		y.failedBy[c.StatusFrom]++
	}
}

// addWhole counts what is recorded of a trajectory as a whole.
func (y *Tally) addWhole(t *trace.Trajectory, calls int) {
	if calls > 1 {
		y.MultiCall++
	}
	if t.Outcome != trace.OutcomeUnknown {
		y.OutcomeKnown++
	}
	if !t.Started().IsZero() {
		y.Timed++
	}
	if len(t.Tools) > 0 {
		y.Offered++
	}
	for i := range t.Turns {
		u := &t.Turns[i].Usage
		if !u.Known {
			continue
		}
		y.TurnsUsage++
		if i > 0 && u.Input > 0 && t.Turns[i-1].Usage.Known && u.Input == t.Turns[i-1].Usage.Input && u.Output == t.Turns[i-1].Usage.Output {
			y.UsageRepeated++
		}
	}
}

// Figures returns the counts of y that add up over parts of the traces, in a fixed order;
// Problems are not among them.
func (y *Tally) Figures() []*int {
	return []*int{
		&y.Files, &y.Records, &y.Trajectories, &y.Empty, &y.Calls, &y.OtherCalls, &y.CodeCalls, &y.LLMTurns, &y.CallingTurns,
		&y.UserMessages, &y.CallsAfterUser, &y.WithoutResult, &y.OrphanResults, &y.TurnsUnknown, &y.TurnsAssumed,
		&y.MultiCall, &y.OutcomeKnown, &y.Timed, &y.Traceable, &y.ArgsMissing, &y.StatusUnknown, &y.TurnsUsage,
		&y.Offered, &y.EmptyTexts, &y.UsageRepeated,
	}
}

// Tools returns how many different tools the model called.
func (y *Tally) Tools() int { return len(y.tools) }

// Support says whether traces support an analysis.
type Support string

// The degrees of support.
const (
	SupportFull    Support = "yes"
	SupportPartial Support = "partly"
	SupportNone    Support = "no"
)

// Capability is one kind of analysis with what these traces offer for it.
type Capability struct {
	Name    string  `json:"capability"`
	Support Support `json:"support"`
	Share   float64 `json:"share"`            // of the units that it needs which are there; 0 where there are no units
	Of      int     `json:"of"`               // how many units there are
	Units   string  `json:"needs"`            // what Share counts, such as "calls with arguments and results"
	Reason  string  `json:"reason,omitempty"` // what is missing and what follows; empty for SupportFull
}

// Capability names.
const (
	CapabilitySequences = "sequence statistics"
	CapabilityTurns     = "turn-aware savings"
	CapabilityDataflow  = "dataflow"
	CapabilityMoney     = "tokens and money"
	CapabilityOutcomes  = "outcome filters"
	CapabilityTime      = "splits by time"
	CapabilityStatus    = "error rates"
)

// Capabilities judges what the traces support, in a fixed order. Commands refuse
// or warn on this basis.
func (y *Tally) Capabilities() []Capability {
	turns := capability(CapabilityTurns, y.Calls-y.TurnsUnknown, y.Calls, "calls whose model turn is recorded",
		"these traces do not say which calls one model response made: savings in turns cannot be known",
		"calls of unknown turns are left out of savings")
	if y.TurnsAssumed > 0 && turns.Support == SupportFull {
		turns.Support, turns.Reason = SupportPartial, "which calls one model response made is assumed from the time between them"
	}
	return []Capability{
		capability(CapabilitySequences, y.MultiCall, y.Trajectories, "trajectories with at least two calls",
			"no trajectory has two calls, so nothing follows anything",
			"the others count in the order-0 figures only"),
		turns,
		capability(CapabilityDataflow, y.Traceable, y.Calls, "calls with arguments and result",
			"arguments or results are not recorded, so no argument can be traced to its source",
			"arguments are traced only where both ends are recorded"),
		capability(CapabilityMoney, y.TurnsUsage, y.LLMTurns, "turns with recorded token usage",
			"no token usage is recorded: tokens can only be estimated from texts",
			"turns without usage are estimated from the others"),
		capability(CapabilityOutcomes, y.OutcomeKnown, y.Trajectories, "trajectories with a recorded outcome",
			"no outcome is recorded: successful runs cannot be told from failed ones",
			"filters on success leave out the trajectories of unknown outcome"),
		capability(CapabilityTime, y.Timed, y.Trajectories, "trajectories with a recorded time",
			"no times are recorded: splits, ranges and latencies are refused",
			"untimed trajectories are left out of splits by time"),
		capability(CapabilityStatus, y.Calls-y.StatusUnknown, y.Calls, "calls that say whether they failed",
			"the format has no error flag: a status rule can read it from the results",
			"rates are of the calls whose status is known"),
	}
}

func capability(name string, have, of int, units, none, partial string) Capability {
	out := Capability{Name: name, Units: units, Of: of, Support: SupportFull}
	switch {
	case of == 0 || have == 0:
		out.Support, out.Reason = SupportNone, none
		if of == 0 {
			out.Reason = "there is nothing of the kind in these traces"
		}
	case have < of:
		out.Support, out.Reason = SupportPartial, partial
	}
	if of > 0 {
		out.Share = float64(have) / float64(of)
	}
	return out
}

// ToolNames returns the names of the tools that were called, in order.
func (y *Tally) ToolNames() []string {
	names := make([]string, 0, len(y.tools))
	for name := range y.tools {
		names = append(names, name.Value())
	}
	slices.Sort(names)
	return names
}

// StatusReading is how many calls have a status because something was read in their
// result: a rule (ByRule) or a built-in pattern.
type StatusReading struct {
	By    string `json:"by"`
	Calls int    `json:"failed_calls"`
}

// StatusReadings returns what the failed calls were read from, where no flag says so:
// the most frequent first.
func (y *Tally) StatusReadings() []StatusReading {
	var out []StatusReading
	for _, by := range slices.Sorted(maps.Keys(y.failedBy)) {
		out = append(out, StatusReading{by, y.failedBy[by]})
	}
	slices.SortStableFunc(out, func(a, b StatusReading) int { return cmp.Compare(b.Calls, a.Calls) })
	return out
}
