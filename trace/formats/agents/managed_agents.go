package agents

import (
	"strings"
	"time"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// ManagedAgents reads logs of Anthropic's managed agents: the events of a
// session, one a line, alone or behind the name of the client's method that saw
// them. A response of the model is between the events of its request's start and
// end, of which the latter has the usage. What the client sends comes back in the
// stream of events, so it counts only in a log without a stream.
//
// It keeps the events of a file.
var ManagedAgents = trace.Format{
	Name:     "managed-agents",
	Doc:      "Event logs of Anthropic's managed agents, one event a line, with or without the client's methods.",
	Spec:     "https://platform.claude.com/docs/en/managed-agents/events",
	Detect:   detectManagedAgents,
	Decode:   decodeManagedAgents,
	Assemble: assembleManagedAgents,
}

// managedEvent is an event with what is read of it.
type managedEvent struct {
	sent                 bool // by the client
	kind                 string
	id, name, server     []byte
	answers              []byte // the id of the call that it has the result of
	input, content       trace.Raw
	failed, denied       bool
	at                   time.Time
	badTime              bool
	usage                trace.Usage
	agent, model, system trace.Raw
	tools                []byte
}

// readManaged reads a line and gives its events to each.
func readManaged(c *jsonscan.Cursor, each func(managedEvent)) {
	if c.Kind() == jsonscan.Object {
		each(readManagedEvent(c))
		return
	}
	method := ""
	n := 0
	for ok := c.Array(); ok && c.Element(); {
		if n++; n == 1 {
			text, _ := c.Text()
			method = string(text)
			continue
		}
		switch {
		case strings.HasSuffix(method, ".send"):
			readSent(c, each)
		case c.Kind() == jsonscan.Object:
			each(readManagedEvent(c))
		}
	}
}

// readSent reads what a client sent: the session's id and its events.
func readSent(c *jsonscan.Cursor, each func(managedEvent)) {
	for ok := c.Array(); ok && c.Element(); {
		for ok := c.Object(); ok && c.Member(); {
			if string(c.Key()) != "events" {
				continue
			}
			for ok := c.Array(); ok && c.Element(); {
				e := readManagedEvent(c)
				e.sent = true
				each(e)
			}
		}
	}
}

func readManagedEvent(c *jsonscan.Cursor) (e managedEvent) {
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "type":
			text, _ := c.Text()
			e.kind = string(text)
		case "id":
			e.id, _ = c.Text()
		case "name":
			e.name, _ = c.Text()
		case "mcp_server_name":
			e.server, _ = c.Text()
		case "tool_use_id", "custom_tool_use_id", "mcp_tool_use_id":
			e.answers, _ = c.Text()
		case "input":
			e.input = build.ReadArgs(c)
		case "content", "thinking":
			e.content = build.ReadContent(c).OrAbsent()
		case "is_error":
			e.failed, _ = c.Bool()
		case "result":
			text, _ := c.Text()
			e.denied = string(text) == "deny"
		case "processed_at", "created_at":
			stamp, _ := c.Text()
			e.at, e.badTime = build.ParseStamp(stamp)
		case "model_usage":
			e.usage = build.UsageAnthropic.Read(c)
		case "agent":
			for ok := c.Object(); ok && c.Member(); {
				switch string(c.Key()) {
				case "name":
					e.agent = build.ReadRaw(c)
				case "system":
					e.system = build.ReadContent(c).OrAbsent()
				case "tools":
					e.tools = c.Raw()
				case "model":
					if c.Kind() == jsonscan.String {
						e.model = build.ReadRaw(c)
					}
					for ok := c.Object(); ok && c.Member(); {
						if string(c.Key()) == "id" {
							e.model = build.ReadRaw(c)
						}
					}
				}
			}
		}
	}
	return e
}

func decodeManagedAgents(r trace.Record) ([]trace.Fragment, error) {
	c := jsonscan.New(r.Data)
	n := 0
	readManaged(&c, func(managedEvent) { n++ })
	if err := c.End(); err != nil {
		return nil, trace.ScanError(r, err)
	}
	if n == 0 {
		return nil, nil
	}
	return []trace.Fragment{{Key: r.File, Data: r.Data, Pos: r.Pos()}}, nil
}

// managedDecoder puts events together.
type managedDecoder struct {
	b      *build.Builder
	inTurn bool
	start  time.Time // of the request that is going on
}

func assembleManagedAgents(file string, parts []trace.Fragment) ([]*trace.Trajectory, error) {
	lone := 0
	streamed := false
	var events []managedEvent
	for i := range parts {
		c := jsonscan.New(parts[i].Data)
		readManaged(&c, func(e managedEvent) {
			events = append(events, e)
			streamed = streamed || !e.sent && strings.HasPrefix(e.kind, "user.")
		})
		lone += c.LoneSurrogates()
	}
	d := managedDecoder{b: build.NewJoined("", parts)}
	d.b.Trajectory.ID = trace.PartName(file, 0)
	seen := map[string]bool{}
	for i := range events {
		e := &events[i]
		if e.sent && streamed {
			continue
		}
		if id := e.kind + " " + string(e.id); len(e.id) > 0 && e.kind != "session" {
			if seen[id] { // a stream that was opened again repeats events
				d.b.Anomaly(build.CodeLineCopied, 1)
				continue
			}
			seen[id] = true
		}
		d.event(e)
	}
	d.b.Anomaly(build.CodeLoneSurrogate, lone)
	return []*trace.Trajectory{d.b.Finish()}, nil
}

func (d *managedDecoder) event(e *managedEvent) {
	b := d.b
	if e.badTime {
		b.Anomaly(build.CodeTimeInvalid, 1)
	}
	switch e.kind {
	case "session":
		if b.Trajectory.Session == "" && len(e.id) > 0 {
			b.Trajectory.ID, b.Trajectory.Session, b.Trajectory.Start = b.Text(e.id), b.Text(e.id), e.at
			b.Trajectory.Agent, b.Trajectory.Model = e.agent.Text(), e.model.Text()
			if !e.system.IsZero() {
				b.Message(trace.RoleSystem, e.system)
			}
			if e.tools != nil {
				c := jsonscan.New(e.tools) // sets of built-in tools have no name there
				b.Trajectory.Tools = build.New(0).ReadTools(&c)
			}
		}
	case "span.model_request_start":
		d.inTurn, d.start = false, e.at
	case "span.model_request_end":
		if !e.failed || d.inTurn {
			turn := d.turn(e.at)
			turn.Usage = e.usage
		}
		d.inTurn, d.start = false, time.Time{}
	case "agent.message":
		turn := d.turn(e.at)
		if !e.content.IsZero() {
			turn.Text = build.JoinTexts(turn.Text, e.content)
		}
	case "agent.thinking":
		turn := d.turn(e.at)
		if !e.content.IsZero() {
			turn.Thought = build.JoinTexts(turn.Thought, e.content)
		}
	case "agent.tool_use", "agent.mcp_tool_use", "agent.custom_tool_use":
		d.turn(e.at)
		if len(e.name) == 0 {
			b.Anomaly(build.CodeCallUnnamed, 1)
			return
		}
		name := string(e.name)
		if len(e.server) > 0 {
			name = string(e.server) + "__" + name
		}
		b.Call(b.Text(e.id), b.Names.Intern([]byte(name)), e.input, trace.OriginModel).Start = e.at
	case "agent.tool_result", "agent.mcp_tool_result", "user.custom_tool_result", "user.tool_result":
		d.inTurn = false
		if call := b.Result(e.answers, e.content); call != nil {
			call.Status, call.End = build.StatusOf(!e.failed), e.at
		}
	case "user.message":
		d.inTurn = false
		b.Message(trace.RoleUser, e.content).Time = e.at
	case "user.interrupt":
		d.inTurn = false
		b.Anomaly(build.CodeTurnAborted, 1)
	case "user.tool_confirmation":
		if e.denied {
			b.Anomaly(build.CodeCallCancelled, 1)
		}
	default:
		if !strings.HasPrefix(e.kind, "session.") && !strings.HasPrefix(e.kind, "span.") {
			b.Anomaly(build.CodeEventUnknown, 1)
		}
	}
}

// turn returns the response that is going on, or begins one.
func (d *managedDecoder) turn(at time.Time) *trace.Turn {
	if !d.inTurn {
		d.inTurn = true
		d.b.Turn().Start = d.start
	}
	turn := &d.b.Trajectory.Turns[len(d.b.Trajectory.Turns)-1]
	turn.End = at
	return turn
}

func detectManagedAgents(h trace.Head) trace.Match {
	for _, r := range h.Records {
		kind := strings.Trim(string(r.Members["type"]), `"`)
		if build.IsKind(r.Raw, '[') {
			c := jsonscan.New(r.Raw)
			if c.Array() && c.Element() {
				method, _ := c.Text()
				if strings.HasPrefix(string(method), "client.beta.sessions.") {
					return trace.Match{OK: true}
				}
			}
			continue
		}
		for _, beginning := range []string{"agent.tool_", "agent.mcp_tool_", "agent.custom_tool_", "agent.message", "span.model_request_", "session.status_", "user.custom_tool_"} {
			if strings.HasPrefix(kind, beginning) && r.Has("id", "processed_at") {
				return trace.Match{OK: true}
			}
		}
	}
	return trace.Match{}
}
