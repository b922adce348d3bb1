package compare

import (
	"cmp"
	"regexp"
	"time"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/trace"
)

// Figure is what is compared.
type Figure int

// The figures of a session. Lookups and Unregistered are compared where tools are lazy;
// those from ModelTurns on are known only where a transcript of the agent is joined.
const (
	CallingTurns Figure = iota // turns with a call
	Calls                      // of the agent
	Upstream                   // calls that servers got, whoever made them
	Failures                   // calls of the agent that failed
	Definitions                // tokens of the definitions offered
	Results                    // tokens of what the agent was answered
	Seconds                    // from the first call to the last answer
	Lookups                    // calls that ask for definitions
	Unregistered               // calls that were refused, because no definition was asked for
	ModelTurns
	InputTokens
	OutputTokens
	USD
	figures
)

// String returns the name of the figure in JSON.
func (f Figure) String() string {
	return [...]string{"calling_turns", "calls", "upstream_calls", "failures", "definition_tokens", "result_tokens", "seconds", "lookups", "unregistered_calls", "model_turns", "input_tokens", "output_tokens", "usd"}[f]
}

// unregistered matches what the gateway answers to a call of a tool whose definition it has
// not answered.
var unregistered = regexp.MustCompile(`^The tool [^\n]{1,200} (?:is not registered|was not found yet), and was not called\.`)

// Joined reports whether the figure comes from transcripts.
func (f Figure) Joined() bool { return f >= ModelTurns }

// session is what is kept of one.
type session struct {
	id, unit string
	treated  bool
	start    time.Time
	values   [figures]float64
	joined   bool // a transcript was found
	assumed  int  // turns that were assumed
	agent    string
	uses     map[string]int // of meta-tools
	places   map[string]int
}

// Joined is what a transcript says of a session, which may be of several recordings.
type Joined struct {
	ID                                    string
	ModelTurns, InputTokens, OutputTokens int64
	USD                                   float64
	Calls                                 []string // ids
}

// Transcript returns what an agent's own record of a run says.
func Transcript(t *trace.Trajectory, meter *cost.Meter) Joined {
	total := meter.Trajectory(t).Total()
	j := Joined{ID: t.ID, ModelTurns: int64(len(t.Turns)), InputTokens: total.Input, OutputTokens: total.Output, USD: total.USD}
	for i := range t.Calls {
		if id := t.Calls[i].ID; id != "" {
			j.Calls = append(j.Calls, id)
		}
	}
	return j
}

// newSession counts what a session cost.
func newSession(t *trace.Trajectory, meter *cost.Meter) *session {
	r := t.Relay
	s := &session{
		id: t.ID, unit: cmp.Or(r.UnitID, t.ID), treated: r.Arm != trace.ArmControl, start: t.Started(), agent: t.Agent,
		assumed: t.Anomalies.ByCode[trace.CodeTurnsAssumed], uses: map[string]int{}, places: map[string]int{},
	}
	s.values[Definitions] = float64(meter.Trajectory(t).Definitions)
	var first, last time.Time
	turn := -1
	for i := range t.Calls {
		c := &t.Calls[i]
		if c.Origin != trace.OriginModel {
			s.values[Upstream]++
			continue
		}
		s.values[Calls]++
		if c.AnsweredBy == trace.OriginModel {
			s.values[Upstream]++
		}
		if c.Turn != turn || turn < 0 {
			s.values[CallingTurns]++
			turn = c.Turn
		}
		if c.Status == trace.StatusFailed {
			s.values[Failures]++
		}
		if name := c.Tool.Value(); name == "search_tools" || name == "tool_register" {
			s.values[Lookups]++
		} else if text := c.Result.Text(); c.Status == trace.StatusFailed && unregistered.MatchString(text[:min(len(text), 512)]) {
			s.values[Unregistered]++
		}
		for _, text := range []trace.Raw{c.Result, c.Error, c.Attached} {
			s.values[Results] += float64(meter.Raw(text))
		}
		if !c.Start.IsZero() && (first.IsZero() || c.Start.Before(first)) {
			first = c.Start
		}
		for _, at := range []time.Time{c.Start, c.End} {
			if at.After(last) {
				last = at
			}
		}
	}
	if last.After(first) {
		s.values[Seconds] = last.Sub(first).Seconds()
	}
	return s
}
