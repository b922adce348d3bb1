package trace

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Completeness collects, before any analysis, what a set of traces contains and
// what it can bear. It is O(tools + models) in memory and not safe for
// concurrent use.
type Completeness struct {
	Tally   Tally
	Formats map[string]int // trajectories by format
	First   time.Time      // earliest and latest recorded time, zero if none
	Last    time.Time

	Parallel      int // calling turns with more than one call of the model
	SubAgents     int // trajectories that know their parent
	Timed         int // trajectories with a recorded time
	OutcomeKnown  int // trajectories whose outcome is recorded
	Succeeded     int
	TaskKnown     int // trajectories with an explicit task id
	MultiCall     int // trajectories with at least two calls of the model
	WithTools     int // trajectories that list the tools offered
	ArgsMissing   int // calls without recorded arguments
	StatusUnknown int // calls of unknown status
	Untimed       int // calls without a recorded start or end
	TurnsUsage    int // turns with recorded token usage
	TurnsText     int // turns with recorded text, thought or call arguments
	Answering     int // turns without calls
	Usage         Usage

	tools  map[Name]*ToolSummary
	models map[string]*ModelSummary
}

// ToolSummary is what the traces say about one tool.
type ToolSummary struct {
	Name          string
	Calls         int // of the model
	OtherCalls    int // of code, predictors and meta-tools
	OK            int // statuses of all calls
	Failed        int
	StatusUnknown int
	ArgsMissing   int
	WithoutResult int
	Trajectories  int  // support
	Defined       bool // a definition was recorded
}

// ModelSummary is what the traces say about one model. Tokens are those of the
// turns that record them.
type ModelSummary struct {
	Name         string // empty: not recorded
	Turns        int
	CallingTurns int
	TurnsUsage   int
	Usage        Usage
}

// Add counts one trajectory.
func (c *Completeness) Add(t *Trajectory) {
	if c.tools == nil {
		c.tools, c.models, c.Formats = map[Name]*ToolSummary{}, map[string]*ModelSummary{}, map[string]int{}
	}
	c.Tally.Add(t)
	c.Formats[t.Format]++
	if t.Parent != (Parent{}) {
		c.SubAgents++
	}
	if t.Outcome != OutcomeUnknown {
		c.OutcomeKnown++
	}
	if t.Outcome == OutcomeSuccess {
		c.Succeeded++
	}
	if t.Task != "" {
		c.TaskKnown++
	}
	if len(t.Tools) > 0 {
		c.WithTools++
	}
	for i := range t.Tools {
		c.tool(t.Tools[i].Name).Defined = true
	}
	c.addCalls(t)
	c.addTurns(t)
	c.addTimes(t)
}

func (c *Completeness) addCalls(t *Trajectory) {
	seen := map[Name]bool{}
	calls := 0
	for i := range t.Calls {
		call := &t.Calls[i]
		tool := c.tool(call.Tool)
		if !seen[call.Tool] {
			seen[call.Tool] = true
			tool.Trajectories++
		}
		switch call.Status {
		case StatusOK:
			tool.OK++
		case StatusFailed:
			tool.Failed++
		case StatusUnknown:
			tool.StatusUnknown++
		}
		if call.Origin != OriginModel {
			tool.OtherCalls++
			continue
		}
		calls++
		tool.Calls++
		if call.Status == StatusUnknown {
			c.StatusUnknown++
		}
		if call.ArgsMissing() {
			tool.ArgsMissing++
			c.ArgsMissing++
		}
		if !call.HasResult {
			tool.WithoutResult++
		}
		if call.Start.IsZero() && call.End.IsZero() {
			c.Untimed++
		}
	}
	if calls > 1 {
		c.MultiCall++
	}
}

func (c *Completeness) addTurns(t *Trajectory) {
	for i := range t.Turns {
		turn := &t.Turns[i]
		name := cmp.Or(turn.Model, t.Model)
		model := c.models[name]
		if model == nil {
			model = &ModelSummary{Name: name}
			c.models[name] = model
		}
		model.Turns++
		if turn.NumCalls > 0 {
			model.CallingTurns++
		} else {
			c.Answering++
		}
		if turn.NumCalls > 1 {
			c.Parallel++
		}
		if turn.Usage.Known {
			c.TurnsUsage++
			model.TurnsUsage++
			c.Usage.add(turn.Usage)
			model.Usage.add(turn.Usage)
		}
		if !turn.Text.IsZero() || !turn.Thought.IsZero() || turn.NumCalls > 0 {
			c.TurnsText++
		}
	}
}

func (c *Completeness) addTimes(t *Trajectory) {
	timed := false
	see := func(at time.Time) {
		if at.IsZero() {
			return
		}
		timed = true
		if c.First.IsZero() || at.Before(c.First) {
			c.First = at
		}
		if at.After(c.Last) {
			c.Last = at
		}
	}
	see(t.Start)
	see(t.End)
	for i := range t.Messages {
		see(t.Messages[i].Time)
	}
	for i := range t.Turns {
		see(t.Turns[i].Start)
		see(t.Turns[i].End)
	}
	for i := range t.Calls {
		see(t.Calls[i].Start)
		see(t.Calls[i].End)
	}
	if timed {
		c.Timed++
	}
}

func (c *Completeness) tool(name Name) *ToolSummary {
	tool := c.tools[name]
	if tool == nil {
		tool = &ToolSummary{Name: name.Value()}
		c.tools[name] = tool
	}
	return tool
}

// add sums token counts; the sum is known as soon as one part is.
func (u *Usage) add(v Usage) {
	u.Known = u.Known || v.Known
	u.Input += v.Input
	u.CachedInput += v.CachedInput
	u.CacheWrite += v.CacheWrite
	u.Output += v.Output
	u.Reasoning += v.Reasoning
	if v.CostUSD != nil {
		sum := *v.CostUSD
		if u.CostUSD != nil {
			sum += *u.CostUSD
		}
		u.CostUSD = &sum
	}
}

// Tools returns the tools by calls, most first, ties by name.
func (c *Completeness) Tools() []ToolSummary {
	out := make([]ToolSummary, 0, len(c.tools))
	for _, tool := range c.tools {
		out = append(out, *tool)
	}
	slices.SortFunc(out, func(a, b ToolSummary) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(b.OtherCalls, a.OtherCalls), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// Models returns the models by turns, most first, ties by name.
func (c *Completeness) Models() []ModelSummary {
	out := make([]ModelSummary, 0, len(c.models))
	for _, model := range c.models {
		out = append(out, *model)
	}
	slices.SortFunc(out, func(a, b ModelSummary) int {
		return cmp.Or(cmp.Compare(b.Turns, a.Turns), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// FormatNames returns the formats met, sorted.
func (c *Completeness) FormatNames() []string { return slices.Sorted(maps.Keys(c.Formats)) }

// Support says whether traces bear an analysis.
type Support string

// The degrees of support.
const (
	SupportFull    Support = "yes"
	SupportPartial Support = "partly"
	SupportNone    Support = "no"
)

// Capability is one kind of analysis with what these traces offer for it.
type Capability struct {
	Name    string
	Support Support
	Share   float64 // of the units that it needs which are there; 0 where there are no units
	Units   string  // what Share counts, such as "calls with arguments and results"
	Of      int     // how many units there are
	Reason  string  // what is missing and what follows; empty for SupportFull
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

// Capabilities judges what the traces bear, in a fixed order. Commands refuse
// or warn on this basis.
func (c *Completeness) Capabilities() []Capability {
	y := &c.Tally
	dataflow := y.Calls - max(c.ArgsMissing, 0) - y.WithoutResult
	return []Capability{
		capability(CapabilitySequences, c.MultiCall, y.Trajectories, "trajectories with at least two calls",
			"no trajectory has two calls, so nothing follows anything",
			"the others count in the order-0 figures only"),
		capability(CapabilityTurns, y.Calls-y.TurnsUnknown, y.Calls, "calls whose model turn is recorded",
			"these traces do not say which calls one model response made: savings in turns cannot be known",
			"calls of unknown turns are left out of savings"),
		capability(CapabilityDataflow, max(dataflow, 0), y.Calls, "calls with arguments and result",
			"arguments or results are not recorded, so no argument can be traced to its source",
			"arguments are traced only where both ends are recorded"),
		capability(CapabilityMoney, c.TurnsUsage, y.LLMTurns, "turns with recorded token usage",
			"no token usage is recorded: tokens can only be estimated from texts",
			"turns without usage are estimated from the others"),
		capability(CapabilityOutcomes, c.OutcomeKnown, y.Trajectories, "trajectories with a recorded outcome",
			"no outcome is recorded: successful runs cannot be told from failed ones",
			"filters on success leave out the trajectories of unknown outcome"),
		capability(CapabilityTime, c.Timed, y.Trajectories, "trajectories with a recorded time",
			"no times are recorded: splits, ranges and latencies are refused",
			"untimed trajectories are left out of splits by time"),
		capability(CapabilityStatus, y.Calls-c.StatusUnknown, y.Calls, "calls that say whether they failed",
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
