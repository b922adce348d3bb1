// Package openhands reads what agents that write software record: the events of
// OpenHands (OpenHands) and the trajectories of SWE-agent (SWEAgent).
//
// A record comes in and fragments of trajectories go out. It is O(record), and
// O(session) where one is joined.
package openhands

import (
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// OpenHands reads the events of OpenHands 1, one a line, or one a file in
// a folder of events. Actions with the same llm_response_id are one turn. What
// the program adds to the arguments of every tool (security_risk, summary) is
// left out of them. Token counts are kept for the conversation so far: what was
// added before a turn is its usage. A call failed if its observation says so or
// has an exit code other than 0, if the user rejected it, or if it was an error
// of the agent.
//
// It keeps the events of a conversation.
var OpenHands = trace.Format{
	Name:     "openhands",
	Doc:      "Events of OpenHands 1 (software-agent-sdk), one a line or one a file.",
	Spec:     "https://docs.openhands.dev/sdk/arch/events",
	Detect:   detectOpenHands,
	Decode:   decodeOpenHands,
	Assemble: assembleOpenHands,
}

func decodeOpenHands(r trace.Record) ([]trace.Fragment, error) {
	c := jsonscan.New(r.Data)
	e := readHandsEvent(&c)
	if err := c.End(); err != nil {
		return nil, trace.ScanError(r, err)
	}
	if e.kind == "" {
		return nil, nil
	}
	key, order := eventKey(r.File)
	return []trace.Fragment{{Key: key, Order: order, Data: r.Data, Pos: r.Pos()}}, nil
}

// eventKey returns what the events of a conversation have in common: their file,
// or of files with one event each the folder, where they are numbered.
func eventKey(file string) (string, int64) {
	slash := filepath.ToSlash(file)
	rest, ok := strings.CutPrefix(path.Base(slash), "event-")
	if !ok {
		return file, 0
	}
	number, _, _ := strings.Cut(rest, "-")
	order, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return file, 0
	}
	return path.Dir(slash), order
}

// handsEvent is an event with what is read of it.
type handsEvent struct {
	kind, source, response string
	key                    string
	at                     time.Time
	badTime                bool
	callID, tool           []byte
	args                   trace.Raw
	risk, summary          bool // whether the program has added them
	text, thought          trace.Raw
	value                  []byte
	tools                  []byte
	result                 trace.Raw
	status                 trace.Status
	failure                trace.Raw
}

func readHandsEvent(c *jsonscan.Cursor) (e handsEvent) {
	text := func() string {
		s, _ := c.Text()
		return string(s)
	}
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "kind":
			e.kind = text()
		case "source":
			e.source = text()
		case "key":
			e.key = text()
		case "timestamp":
			stamp, _ := c.Text()
			e.at, e.badTime = build.ParseStamp(stamp)
		case "llm_response_id":
			e.response = text()
		case "tool_call_id":
			e.callID, _ = c.Text()
		case "tool_name":
			e.tool, _ = c.Text()
		case "tool_call":
			e.toolCall(c)
		case "security_risk":
			e.risk = true
		case "summary":
			e.summary = true
			if value := build.ReadContent(c); e.text.IsZero() && value.Form == trace.FormString {
				e.result = value // of a condensation
			}
		case "thought":
			e.text = build.ReadContent(c).OrAbsent()
		case "reasoning_content":
			e.thought = build.ReadContent(c).OrAbsent()
		case "llm_message":
			for ok := c.Object(); ok && c.Member(); {
				switch string(c.Key()) {
				case "content":
					e.text = build.ReadContent(c).OrAbsent()
				case "reasoning_content":
					e.thought = build.ReadContent(c).OrAbsent()
				}
			}
		case "system_prompt":
			if c.Kind() == jsonscan.Object {
				e.text = build.ReadGeminiText(c)
			} else {
				e.text = build.ReadContent(c)
			}
		case "tools":
			e.tools = c.Raw()
		case "value":
			e.value = c.Raw()
		case "observation":
			e.observation(c)
		case "rejection_reason", "error":
			e.failure = build.ReadContent(c).OrAbsent()
		}
	}
	return e
}

func (e *handsEvent) toolCall(c *jsonscan.Cursor) {
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "name":
			if len(e.tool) == 0 {
				e.tool, _ = c.Text()
			}
		case "arguments":
			e.args = build.ReadArgs(c)
		case "function":
			e.toolCall(c)
		}
	}
}

// observation reads what a tool returned.
func (e *handsEvent) observation(c *jsonscan.Cursor) {
	failed, flagged := false, false
	var code int64
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "content":
			e.result = build.ReadContent(c)
		case "is_error":
			if value, ok := c.Bool(); ok {
				failed, flagged = value, true
			}
		case "exit_code":
			if n, ok := c.Int(); ok {
				code, flagged = n, true
			}
		}
	}
	switch {
	case failed || code > 0:
		e.status = trace.StatusFailed
	case code < 0 || !flagged: // still running
	default:
		e.status = trace.StatusOK
	}
}

// withoutAdded returns arguments without what the program adds to those of every
// tool.
func withoutAdded(args trace.Raw, risk, summary bool) trace.Raw {
	text := args.Content()
	v, err := trace.ParseValue(text)
	if err != nil || v.Kind != trace.Object || !risk && !summary {
		return args
	}
	n := len(v.Members)
	v.Members = slices.DeleteFunc(v.Members, func(m trace.Member) bool {
		return risk && m.Name == "security_risk" || summary && m.Name == "summary"
	})
	if len(v.Members) == n {
		return args
	}
	return trace.JSONOf(v.AppendCanonical(nil))
}

// handsDecoder puts events together.
type handsDecoder struct {
	b        *build.Builder
	response string      // that the current turn is
	total    trace.Usage // of the conversation so far
	cost     float64
	added    *trace.Usage // since then, and before the next turn
}

func assembleOpenHands(key string, parts []trace.Fragment) ([]*trace.Trajectory, error) {
	lone := 0
	d := handsDecoder{b: build.NewJoined("openhands", parts)}
	t := d.b.Trajectory
	t.ID = trace.PartName(key, 0)
	if path.Base(key) == "events" {
		t.ID = path.Base(path.Dir(key))
		t.Session = t.ID
	}
	for i := range parts {
		c := jsonscan.New(parts[i].Data)
		e := readHandsEvent(&c)
		lone += c.LoneSurrogates()
		if e.badTime {
			d.b.Anomaly(build.CodeTimeInvalid, 1)
		}
		d.event(&e)
	}
	d.b.Anomaly(build.CodeLoneSurrogate, lone)
	if d.added != nil {
		d.b.Anomaly(build.CodeUsageUnplaced, 1)
	}
	return []*trace.Trajectory{d.b.Finish()}, nil
}

func (d *handsDecoder) event(e *handsEvent) {
	b := d.b
	switch e.kind {
	case "ActionEvent":
		d.turn(e)
		if len(e.tool) == 0 {
			b.Anomaly(build.CodeCallUnnamed, 1)
			return
		}
		b.Call(b.Text(e.callID), b.Names.Intern(e.tool), withoutAdded(e.args, e.risk, e.summary), trace.OriginModel).Start = e.at
	case "ObservationEvent":
		if call := d.result(e, e.result); call != nil {
			call.Status = e.status
		}
	case "UserRejectObservation":
		if call := d.result(e, e.failure); call != nil {
			call.Status = trace.StatusFailed
		}
	case "AgentErrorEvent":
		if call := d.result(e, e.failure); call != nil {
			call.Status, call.Error = trace.StatusFailed, e.failure
		}
	case "MessageEvent":
		switch e.source {
		case "agent":
			d.turn(e)
		case "user":
			b.Message(trace.RoleUser, e.text).Time = e.at
		default:
			b.Message(trace.RoleSystem, e.text).Time = e.at
		}
	case "SystemPromptEvent":
		b.Message(trace.RoleSystem, e.text.OrAbsent()).Time = e.at
		if e.tools != nil {
			c := jsonscan.New(e.tools)
			b.Trajectory.Tools = build.New(0).ReadTools(&c) // what has no name there is no anomaly of a call
		}
	case "Condensation", "CondensationSummaryEvent":
		b.Message(trace.RoleSystem, e.result.OrAbsent()).Time = e.at
	case "ConversationStateUpdateEvent":
		if e.key == "stats" {
			d.stats(e.value)
		}
	case "PauseEvent", "InterruptEvent", "CondensationRequest", "ConversationErrorEvent", "LLMCompletionLogEvent", "TokenEvent", "HookExecutionEvent", "StreamingDeltaEvent":
	default:
		b.Anomaly(build.CodeEventUnknown, 1)
	}
}

// turn returns the turn of a response of the model, a new one if there is none.
func (d *handsDecoder) turn(e *handsEvent) {
	b := d.b
	if n := len(b.Trajectory.Turns); n == 0 || e.response == "" || e.response != d.response {
		turn := b.Turn()
		turn.Text, turn.Thought, turn.End = e.text, e.thought, e.at
		if d.added != nil {
			turn.Usage = *d.added
			d.added = nil
		}
		d.response = e.response
		return
	}
	turn := &b.Trajectory.Turns[len(b.Trajectory.Turns)-1]
	turn.End = e.at
	if !e.text.IsZero() {
		turn.Text = build.JoinTexts(turn.Text, e.text)
	}
	if !e.thought.IsZero() && turn.Thought.IsZero() {
		turn.Thought = e.thought
	}
}

func (d *handsDecoder) result(e *handsEvent, result trace.Raw) *trace.Call {
	var call *trace.Call
	if len(e.callID) > 0 {
		call = d.b.Result(e.callID, result)
	} else {
		call = d.b.NamedResult(e.tool, result)
	}
	if call != nil {
		call.End = e.at
	}
	return call
}

// stats reads the token counts so far, of all models but those that condense.
func (d *handsDecoder) stats(value []byte) {
	var total trace.Usage
	var cost float64
	c := jsonscan.New(value)
	for ok := c.Object(); ok && c.Member(); {
		if string(c.Key()) != "usage_to_metrics" {
			continue
		}
		for ok := c.Object(); ok && c.Member(); {
			if string(c.Key()) == "condenser" {
				continue
			}
			d.metrics(&c, &total, &cost)
		}
	}
	if !total.Known || total == d.total {
		return
	}
	if d.added != nil {
		d.b.Anomaly(build.CodeUsageUnplaced, 1)
	}
	before := d.total
	added := trace.Usage{
		Known: true, Input: total.Input - before.Input, CachedInput: total.CachedInput - before.CachedInput,
		CacheWrite: total.CacheWrite - before.CacheWrite, Output: total.Output - before.Output, Reasoning: total.Reasoning - before.Reasoning,
	}
	if cost > d.cost {
		of := cost - d.cost
		added.CostUSD = &of
	}
	d.total, d.cost, d.added = total, cost, &added
	if min(added.Input, added.CachedInput, added.CacheWrite, added.Output, added.Reasoning) < 0 { // counted anew
		d.added = nil
		d.b.Anomaly(build.CodeUsageUnplaced, 1)
	}
}

func (d *handsDecoder) metrics(c *jsonscan.Cursor, total *trace.Usage, cost *float64) {
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "model_name":
			if name, ok := c.Text(); ok && len(name) > 0 {
				d.b.Trajectory.Model = d.b.Text(name)
			}
		case "accumulated_cost":
			if v, ok := c.Float(); ok && v > 0 {
				*cost += v
			}
		case "accumulated_token_usage":
			total.Add(build.UsageOpenHands.Read(c))
		}
	}
}

func detectOpenHands(h trace.Head) trace.Match {
	lacks := ""
	for _, r := range h.Records {
		kind := strings.Trim(string(r.Members["kind"]), `"`)
		known := strings.HasSuffix(kind, "Event") || strings.HasSuffix(kind, "Observation") || strings.HasPrefix(kind, "Condensation")
		switch {
		case known && r.Has("source", "timestamp"):
			return trace.Match{OK: true}
		case known:
			lacks = `the events have no "source" and "timestamp"`
		case r.Has("source", "timestamp") && (r.Has("action", "args") || r.Has("observation", "extras")):
			lacks = `these are events of OpenHands before version 1, which have no "kind"`
		}
	}
	return trace.Match{Lacks: lacks}
}
