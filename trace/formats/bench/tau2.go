// Package bench reads the results of benchmarks: tau-bench (TauBench), tau2-bench
// (Tau2) and ToolBench (ToolBench).
//
// A run comes in and its trajectory goes out. It is O(record).
package bench

import (
	"time"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/internal/message"
)

// Tau2 reads the results of tau2-bench: one document {timestamp, info,
// tasks, simulations}, whose simulations are the trajectories. The info before
// them names the model, the agent and the domain, which is put before the task
// ids because each domain counts its tasks from 0.
//
// Calls with the requestor "user" are those of the simulated user and are left
// out with their results. What the assistant says before the first user message
// is the simulator's greeting and no turn, unless it calls a tool. Tool messages
// have an error flag. Times are local times without an offset, taken for UTC.
//
// The credentials of models, which recorded files have in llm_args, are not
// read.
var Tau2 = trace.Format{
	Name:   "tau2",
	Doc:    "Results of tau2-bench: a document with the simulations of one agent and model.",
	Spec:   "https://github.com/sierra-research/tau2-bench",
	Detect: detectTau2,
	Split:  trace.SplitMember("simulations", prepareTau2),
	Decode: decodeTau2,
}

func detectTau2(h trace.Head) trace.Match {
	if len(h.Records) == 0 || h.Container == trace.ContainerArray {
		return trace.Match{}
	}
	r := h.Records[0]
	switch {
	case r.Has("simulations") && (r.Has("tasks") || r.Has("info")):
		return trace.Match{OK: true}
	case r.Has("info", "tasks") && build.HasMember(r.Members["info"], "agent_info"):
		// The tasks stand before the simulations and may be long.
		if r.Truncated {
			return trace.Match{OK: true}
		}
		return trace.Match{Lacks: `the document has no member "simulations"`}
	}
	return trace.Match{}
}

// tau2Info is what a document says about all its simulations.
type tau2Info struct {
	model, agent, domain string
	tools                []trace.ToolDef
}

// prepareTau2 reads the info of a document; what it cannot read it leaves out.
func prepareTau2(before []trace.DocumentMember) any {
	info := &tau2Info{}
	for _, member := range before {
		if member.Name != "info" {
			continue
		}
		*info = tau2Info{}
		c := jsonscan.New(member.Value.Data)
		info.read(&c)
		if c.End() != nil {
			*info = tau2Info{}
		}
	}
	return info
}

func (info *tau2Info) read(c *jsonscan.Cursor) {
	text := func(dst *string) {
		if s, ok := c.Text(); ok {
			*dst = string(s)
		}
	}
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "agent_info":
			for ok := c.Object(); ok && c.Member(); {
				switch string(c.Key()) {
				case "implementation":
					text(&info.agent)
				case "llm":
					text(&info.model)
				}
			}
		case "environment_info":
			for ok := c.Object(); ok && c.Member(); {
				switch string(c.Key()) {
				case "domain_name":
					text(&info.domain)
				case "tool_defs":
					info.tools = readToolMap(c)
				}
			}
		}
	}
}

// readToolMap reads tool definitions that are a list, or an object with one for
// each name.
func readToolMap(c *jsonscan.Cursor) []trace.ToolDef {
	b := build.New(0)
	if !c.Object() {
		return b.ReadTools(c)
	}
	var tools []trace.ToolDef
	for c.Member() {
		if name := c.Key(); c.Object() {
			tools = b.AppendTool(tools, c, name)
		}
	}
	return tools
}

// The members of a simulation that are read.
const (
	simID build.Members = 1 << iota
	simTask
	simTrial
	simReward
	simStart
	simEnd
	simMessages
)

func decodeTau2(r trace.Record) ([]trace.Fragment, error) {
	b := build.New(len(r.Data))
	d := tau2Decoder{Chat: message.Chat{Builder: b}}
	c := jsonscan.New(r.Data)
	var seen build.Members
	shape := `this record has no list "messages"`
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "id":
			seen.Note(b, simID)
			b.Trajectory.ID = b.ReadID(&c)
		case "task_id":
			seen.Note(b, simTask)
			b.Trajectory.Task = b.ReadID(&c)
		case "trial":
			seen.Note(b, simTrial)
			b.Trajectory.Trial = b.ReadID(&c)
		case "reward_info":
			seen.Note(b, simReward)
			for ok := c.Object(); ok && c.Member(); {
				if string(c.Key()) == "reward" {
					readReward(b, &c)
				}
			}
		case "start_time":
			seen.Note(b, simStart)
			b.Trajectory.Start = b.ReadTime(&c)
		case "end_time":
			seen.Note(b, simEnd)
			b.Trajectory.End = b.ReadTime(&c)
		case "messages":
			if seen.Note(b, simMessages) {
				b.Restart()
			}
			if d.simulation(&c) {
				shape = ""
			}
		}
	}
	if info, ok := r.Shared.(*tau2Info); ok {
		b.Trajectory.Model, b.Trajectory.Agent, b.Trajectory.Tools = info.model, info.agent, info.tools
		if info.domain != "" && b.Trajectory.Task != "" {
			b.Trajectory.Task = b.Text([]byte(info.domain + "/" + b.Trajectory.Task))
		}
	}
	return b.FinishRecord(r, &c, shape)
}

// tau2Decoder reads the messages of a simulation, which are like those of a chat
// but flat.
type tau2Decoder struct {
	message.Chat
	spoken bool // the user has said something
}

// tau2Message is a message with the members that are read.
type tau2Message struct {
	role, id, name   []byte
	content, thought trace.Raw
	time             time.Time
	usage            trace.Usage
	user             bool // a result for the simulated user
	status           trace.Status
}

// simulation passes over an array of messages and adds them to the trajectory. It
// returns false if there is none.
func (d *tau2Decoder) simulation(c *jsonscan.Cursor) bool {
	d.spoken = false
	if !c.Array() {
		return false
	}
	for c.Element() {
		d.message(c)
	}
	return true
}

// message reads a message and adds it to the trajectory.
func (d *tau2Decoder) message(c *jsonscan.Cursor) {
	b := d.Builder
	d.Calls = d.Calls[:0]
	if !c.Object() {
		b.Anomaly(build.CodeMessageShape, 1)
		return
	}
	var m tau2Message
	var seen build.Members
	several := false
	for c.Member() {
		switch string(c.Key()) {
		case "role":
			seen.Note(b, message.ChatRole)
			m.role, _ = c.Text()
		case "id":
			seen.Note(b, message.ChatCallID)
			m.id, _ = c.Text()
		case "name":
			seen.Note(b, message.ChatName)
			m.name, _ = c.Text()
		case "content":
			seen.Note(b, message.ChatContent)
			m.content = build.ReadContent(c)
		case "tool_calls":
			seen.Note(b, message.ChatCalls)
			d.Calls = d.Calls[:0]
			for ok := c.Array(); ok && c.Element(); {
				d.Call(c)
			}
		case "tool_messages": // several results in one message
			for several = c.Array(); several && c.Element(); {
				d.message(c)
			}
		case "requestor":
			who, _ := c.Text()
			m.user = string(who) == "user"
		case "error":
			if failed, ok := c.Bool(); ok {
				m.status = trace.StatusOK
				if failed {
					m.status = trace.StatusFailed
				}
			}
		case "timestamp":
			m.time = b.ReadTime(c)
		case "usage":
			cost := m.usage.CostUSD
			m.usage = build.UsageChat.Read(c)
			m.usage.CostUSD = cost
		case "cost":
			if cost, ok := c.Float(); ok {
				m.usage.CostUSD = &cost
			}
		case "reasoning":
			if thought := build.ReadContent(c).OrAbsent(); !thought.IsZero() {
				m.thought = thought
			}
		case "raw_data":
			readRawThought(c, &m.thought)
		}
	}
	if !several {
		d.addMessage(m)
	}
}

// readRawThought reads the reasoning from the answer of the model's interface,
// which is kept whole beside a message.
func readRawThought(c *jsonscan.Cursor, thought *trace.Raw) {
	for ok := c.Object(); ok && c.Member(); {
		if string(c.Key()) != "message" {
			continue
		}
		for ok := c.Object(); ok && c.Member(); {
			if string(c.Key()) == "reasoning_content" && thought.IsZero() {
				*thought = build.ReadContent(c).OrAbsent()
			}
		}
	}
}

func (d *tau2Decoder) addMessage(m tau2Message) {
	b := d.Builder
	switch string(m.role) {
	case "user":
		if len(d.Calls) > 0 && m.content.IsEmpty() {
			return // the user used a tool of its own and said nothing
		}
		if !d.spoken && len(b.Trajectory.Calls) == 0 {
			b.DropTurns()
		}
		d.spoken = true
		b.Message(trace.RoleUser, m.content.OrAbsent()).Time = m.time
	case "system":
		b.Message(trace.RoleSystem, m.content.OrAbsent()).Time = m.time
	case "assistant":
		turn := d.AddTurn(message.ChatMessage{Content: m.content, Thought: m.thought})
		turn.End, turn.Usage = m.time, m.usage
	case "tool":
		if m.user {
			return
		}
		if call := d.Result(m.id, m.name, m.content); call != nil {
			call.Status, call.End = m.status, m.time
		}
	case "":
		b.Anomaly(build.CodeMessageShape, 1)
	default:
		b.Anomaly(build.CodeMessageRole, 1)
	}
}
