package trace

import (
	"cmp"
	"iter"
	"maps"
	"math"
	"math/bits"
	"slices"
	"time"
)

// Completeness collects, before any analysis, what a set of traces contains and
// what it supports. It is O(tools + models) in memory and not safe for
// concurrent use.
type Completeness struct {
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
	Usage     Usage

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
	FailedRead    int // of the failed: known by a FailurePattern alone
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

func (c *Completeness) addCalls(t *Trajectory) {
	seen := map[Name]bool{}
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
			if call.guessed() {
				tool.FailedRead++
			}
		case StatusUnknown:
			tool.StatusUnknown++
		}
		if call.Origin != OriginModel {
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
			model.TurnsUsage++
			c.Usage.Add(turn.Usage)
			model.Usage.Add(turn.Usage)
		}
		if !turn.Text.IsZero() || !turn.Thought.IsZero() || turn.NumCalls > 0 {
			c.TurnsText++
		}
	}
}

func (c *Completeness) addTimes(t *Trajectory) {
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

func (c *Completeness) tool(name Name) *ToolSummary {
	tool := c.tools[name]
	if tool == nil {
		tool = &ToolSummary{Name: name.Value()}
		c.tools[name] = tool
	}
	return tool
}

// Add sums token counts; the sum is known as soon as one part is.
func (u *Usage) Add(v Usage) {
	u.Known = u.Known || v.Known
	u.Input += v.Input
	u.CachedInput += v.CachedInput
	u.CacheWrite += v.CacheWrite
	u.CacheWriteHour += v.CacheWriteHour
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

// AddSums adds what was counted elsewhere: a tally, the tools, and what failed calls were
// known by. Times, models, formats and what else stands beside the tally stay as they are.
func (c *Completeness) AddSums(tally *Tally, tools []ToolSummary, failed []StatusReading) {
	if c.tools == nil {
		c.tools, c.models, c.Formats = map[Name]*ToolSummary{}, map[string]*ModelSummary{}, map[string]int{}
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
		y.tools = map[Name]struct{}{}
	}
	if y.failedBy == nil {
		y.failedBy = map[string]int{}
	}
	for _, f := range failed {
		y.failedBy[f.By] += f.Calls
	}
	for i := range tools {
		name := Intern(tools[i].Name)
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

// Capabilities judges what the traces support, in a fixed order.
func (c *Completeness) Capabilities() []Capability { return c.Tally.Capabilities() }

// Profile collects what the calls of each tool took: time, room and tokens. It
// is O(tools) in memory and not safe for concurrent use. Only calls that a model
// decided on are in it. The zero value is ready to use.
type Profile struct {
	tools map[Name]*ToolProfile
}

// ToolProfile is what the calls of one tool took.
type ToolProfile struct {
	Name    string
	Latency Distribution // nanoseconds, of calls whose start and end are recorded
	Result  Distribution // bytes of the result's text, of calls that have one

	Turns      int   // that call it at least once; 0 where turns are not recorded
	TurnsUsage int   // of these, with recorded tokens
	Input      int64 // tokens of these
	Output     int64
}

// Add counts the calls of one trajectory.
func (p *Profile) Add(t *Trajectory) {
	if p.tools == nil {
		p.tools = map[Name]*ToolProfile{}
	}
	for i := range t.Calls {
		call := &t.Calls[i]
		if call.Origin != OriginModel {
			continue
		}
		tool := p.tools[call.Tool]
		if tool == nil {
			tool = &ToolProfile{Name: call.Tool.Value()}
			p.tools[call.Tool] = tool
		}
		if took := call.End.Sub(call.Start); !call.Start.IsZero() && !call.End.IsZero() && took >= 0 {
			tool.Latency.Add(uint64(took))
		}
		if call.HasResult {
			tool.Result.Add(uint64(call.Result.TextLen()))
		}
		if call.Turn >= 0 && call.Turn < len(t.Turns) && firstOfTurn(t.Calls, i) {
			tool.addTurn(&t.Turns[call.Turn])
		}
	}
}

// AddSums adds what the calls of a tool took in other traces.
func (p *Profile) AddSums(o *ToolProfile) {
	if p.tools == nil {
		p.tools = map[Name]*ToolProfile{}
	}
	name := Intern(o.Name)
	tool := p.tools[name]
	if tool == nil {
		tool = &ToolProfile{Name: o.Name}
		p.tools[name] = tool
	}
	for v, n := range o.Latency.All() {
		tool.Latency.AddN(v, n)
	}
	for v, n := range o.Result.All() {
		tool.Result.AddN(v, n)
	}
	tool.Turns += o.Turns
	tool.TurnsUsage += o.TurnsUsage
	tool.Input += o.Input
	tool.Output += o.Output
}

func (p *ToolProfile) addTurn(turn *Turn) {
	p.Turns++
	if turn.Usage.Known {
		p.TurnsUsage++
		p.Input += turn.Usage.Input
		p.Output += turn.Usage.Output
	}
}

// firstOfTurn reports whether call i is the first of its tool in its turn; the
// calls of a turn are adjacent.
func firstOfTurn(calls []Call, i int) bool {
	for j := i - 1; j >= 0 && calls[j].Turn == calls[i].Turn; j-- {
		if calls[j].Tool == calls[i].Tool && calls[j].Origin == OriginModel {
			return false
		}
	}
	return true
}

// Tools returns the profiles by name.
func (p *Profile) Tools() []*ToolProfile {
	out := make([]*ToolProfile, 0, len(p.tools))
	for _, tool := range p.tools {
		out = append(out, tool)
	}
	slices.SortFunc(out, func(a, b *ToolProfile) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// Distribution is the distribution of a magnitude. Values below 256 are kept as
// they are, larger ones to 8 binary digits, so that a quantile is at most 0.4 %
// off and memory does not grow with the number of values. The zero value is
// empty.
type Distribution struct {
	n      int
	counts map[uint64]int
}

// Add counts a value.
func (d *Distribution) Add(v uint64) { d.AddN(v, 1) }

// AddN counts a value n times.
func (d *Distribution) AddN(v uint64, n int) {
	if d.counts == nil {
		d.counts = map[uint64]int{}
	}
	d.n += n
	d.counts[v&^(width(v)-1)] += n
}

// All yields the values that are kept with how often each was counted, the smallest
// first. What AddN makes of them is the same distribution.
func (d *Distribution) All() iter.Seq2[uint64, int] {
	return func(yield func(uint64, int) bool) {
		for _, key := range slices.Sorted(maps.Keys(d.counts)) {
			if !yield(key, d.counts[key]) {
				return
			}
		}
	}
}

// width is how many values around v count as one.
func width(v uint64) uint64 { return 1 << max(bits.Len64(v)-8, 0) }

// N returns how many values there are.
func (d *Distribution) N() int { return d.n }

// Quantile returns the smallest value that at least the share p of the values
// do not exceed (the nearest rank), NaN if there are none.
func (d *Distribution) Quantile(p float64) float64 {
	if d.n == 0 {
		return math.NaN()
	}
	keys := make([]uint64, 0, len(d.counts))
	for key := range d.counts {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	rank := max(int(math.Ceil(p*float64(d.n))), 1)
	for _, key := range keys {
		if rank -= d.counts[key]; rank <= 0 {
			return float64(key) + float64(width(key)-1)/2
		}
	}
	return float64(keys[len(keys)-1])
}
