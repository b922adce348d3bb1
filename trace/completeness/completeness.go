// Package completeness says what a set of traces contains and which analyses it
// supports, before any of them is made: counts of what was read, reasons to doubt
// them, and what the calls of each tool took.
//
// What comes in are trajectories, one after the other; what goes out are sums. It
// keeps O(tools + models) in memory. It prints nothing and refuses nothing: commands do.
package completeness

import (
	"cmp"
	"slices"
	"time"

	"github.com/awo-dev/awo/trace"
)

// Facts collects, before any analysis, what a set of traces contains and
// what it supports. It is O(tools + models) in memory and not safe for
// concurrent use.
type Facts struct {
	Tally   Tally
	Formats map[string]int // trajectories by format
	First   time.Time      // earliest and latest recorded time, zero if none
	Last    time.Time

	Parallel  int // calling turns with more than one call of the model
	SubAgents int // trajectories that know their parent
	Succeeded int
	TaskKnown int // trajectories with an explicit task id
	WithTools int // trajectories that list the tools offered
	Untimed   int // calls without a recorded start or end
	TurnsText int // turns with recorded text, thought or call arguments
	Answering int // turns without calls
	Usage     trace.Usage
	Continued int // responses that only went on with a program of the turn before

	tools  map[trace.Name]*ToolSummary
	models map[string]*ModelSummary
}

// ToolSummary is what the traces say about one tool.
type ToolSummary struct {
	Name          string `json:"tool"`
	Calls         int    `json:"calls"`        // of the model
	OtherCalls    int    `json:"other_calls"`  // of code, predictors and meta-tools
	Trajectories  int    `json:"trajectories"` // support
	OK            int    `json:"-"`            // statuses of all calls
	Failed        int    `json:"failed"`
	FailedRead    int    `json:"-"` // of the failed: known by a FailurePattern alone
	StatusUnknown int    `json:"status_unknown"`
	ArgsMissing   int    `json:"without_arguments"`
	WithoutResult int    `json:"without_result"`
	Defined       bool   `json:"defined"` // a definition was recorded
	Deferred      bool   `json:"-"`       // the model reads it once a search has found it
}

// ModelSummary is what the traces say about one model. Tokens are those of the
// turns that record them.
type ModelSummary struct {
	Name         string       `json:"model"` // empty: not recorded
	Turns        int          `json:"turns"`
	CallingTurns int          `json:"calling_turns"`
	TurnsUsage   int          `json:"turns_with_usage"`
	Usage        *trace.Usage `json:"tokens"` // nil: none is recorded
}

// Add counts one trajectory.
func (c *Facts) Add(t *trace.Trajectory) {
	if c.tools == nil {
		c.tools, c.models, c.Formats = map[trace.Name]*ToolSummary{}, map[string]*ModelSummary{}, map[string]int{}
	}
	c.Tally.Add(t)
	c.Formats[t.Format]++
	if t.Parent != (trace.Parent{}) {
		c.SubAgents++
	}
	if t.Outcome == trace.OutcomeSuccess {
		c.Succeeded++
	}
	if t.Task != "" {
		c.TaskKnown++
	}
	if len(t.Tools) > 0 {
		c.WithTools++
	}
	for i := range t.Tools {
		tool := c.tool(t.Tools[i].Name)
		tool.Defined, tool.Deferred = true, tool.Deferred || t.Tools[i].Deferred
	}
	c.addCalls(t)
	c.addTurns(t)
	c.addTimes(t)
}

// Judged returns the calls that an error rate is of: those whose status is known. Where
// failures are known by what results say, a call of unknown status is one whose result
// says nothing of a failure, and counts, so that the rate is a lower bound.
func (t *ToolSummary) Judged() int {
	n := t.OK + t.Failed
	if t.FailedRead > 0 {
		n += t.StatusUnknown
	}
	return n
}

func (c *Facts) addCalls(t *trace.Trajectory) {
	seen := map[trace.Name]bool{}
	for i := range t.Calls {
		call := &t.Calls[i]
		tool := c.tool(call.Tool)
		if !seen[call.Tool] {
			seen[call.Tool] = true
			tool.Trajectories++
		}
		switch call.Status {
		case trace.StatusOK:
			tool.OK++
		case trace.StatusFailed:
			tool.Failed++
			if call.Guessed() {
				tool.FailedRead++
			}
		case trace.StatusUnknown:
			tool.StatusUnknown++
		}
		if call.Origin != trace.OriginModel {
			tool.OtherCalls++
			continue
		}
		tool.Calls++
		if call.ArgsMissing() {
			tool.ArgsMissing++
		}
		if !call.HasResult {
			tool.WithoutResult++
		}
		if call.Start.IsZero() && call.End.IsZero() {
			c.Untimed++
		}
	}
}

func (c *Facts) addTurns(t *trace.Trajectory) {
	for i := range t.Turns {
		turn := &t.Turns[i]
		c.Continued += turn.Continued
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
		if t.IsParallel(i) {
			c.Parallel++
		}
		if turn.Usage.Known {
			model.TurnsUsage++
			c.Usage.Add(turn.Usage)
			if model.Usage == nil {
				model.Usage = &trace.Usage{}
			}
			model.Usage.Add(turn.Usage)
		}
		if !turn.Text.IsZero() || !turn.Thought.IsZero() || turn.NumCalls > 0 {
			c.TurnsText++
		}
	}
}

func (c *Facts) addTimes(t *trace.Trajectory) {
	first, last := t.Span()
	if first.IsZero() {
		return
	}
	if c.First.IsZero() || first.Before(c.First) {
		c.First = first
	}
	if last.After(c.Last) {
		c.Last = last
	}
}

func (c *Facts) tool(name trace.Name) *ToolSummary {
	tool := c.tools[name]
	if tool == nil {
		tool = &ToolSummary{Name: name.Value()}
		c.tools[name] = tool
	}
	return tool
}

// AddSums adds what was counted elsewhere: a tally, the tools, and what failed calls were
// known by. Times, models, formats and what else stands beside the tally stay as they are.
func (c *Facts) AddSums(tally *Tally, tools []ToolSummary, failed []StatusReading) {
	if c.tools == nil {
		c.tools, c.models, c.Formats = map[trace.Name]*ToolSummary{}, map[string]*ModelSummary{}, map[string]int{}
	}
	y := &c.Tally
	from := tally.Figures()
	for i, figure := range y.Figures() {
		*figure += *from[i]
	}
	for code, n := range tally.Problems.ByCode {
		y.Problems.AddN(code, n)
	}
	if y.tools == nil {
		y.tools = map[trace.Name]struct{}{}
	}
	if y.failedBy == nil {
		y.failedBy = map[string]int{}
	}
	for _, f := range failed {
		y.failedBy[f.By] += f.Calls
	}
	for i := range tools {
		name := trace.Intern(tools[i].Name)
		if tools[i].Calls > 0 {
			y.tools[name] = struct{}{}
		}
		c.tool(name).add(&tools[i])
	}
}

// add adds the counts of the same tool in other traces.
func (t *ToolSummary) add(o *ToolSummary) {
	from := o.Figures()
	for i, figure := range t.Figures() {
		*figure += *from[i]
	}
	t.Defined = t.Defined || o.Defined
}

// Figures returns the counts of t in a fixed order.
func (t *ToolSummary) Figures() []*int {
	return []*int{
		&t.Calls, &t.OtherCalls, &t.OK, &t.Failed, &t.StatusUnknown, &t.FailedRead, &t.ArgsMissing, &t.WithoutResult, &t.Trajectories,
	}
}

// Tools returns the tools by calls, most first, ties by name.
func (c *Facts) Tools() []ToolSummary {
	out := make([]ToolSummary, 0, len(c.tools))
	for _, tool := range c.tools {
		out = append(out, *tool)
	}
	slices.SortFunc(out, func(a, b ToolSummary) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(b.OtherCalls, a.OtherCalls), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// Deferred returns how many tools have a definition that the model reads once a search has
// found it.
func (c *Facts) Deferred() int {
	n := 0
	for _, tool := range c.tools {
		if tool.Deferred {
			n++
		}
	}
	return n
}

// Models returns the models by turns, most first, ties by name.
func (c *Facts) Models() []ModelSummary {
	out := make([]ModelSummary, 0, len(c.models))
	for _, model := range c.models {
		out = append(out, *model)
	}
	slices.SortFunc(out, func(a, b ModelSummary) int {
		return cmp.Or(cmp.Compare(b.Turns, a.Turns), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// Capabilities judges what the traces support, in a fixed order.
func (c *Facts) Capabilities() []Capability { return c.Tally.Capabilities() }
