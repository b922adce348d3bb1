package trace

import (
	"time"

	"github.com/awo-dev/awo/internal/jsonscan"
)

// formatTau2 reads the results of tau2-bench: one document {timestamp, info,
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
var formatTau2 = Format{
	Name:   "tau2",
	Doc:    "Results of tau2-bench: a document with the simulations of one agent and model.",
	Spec:   "https://github.com/sierra-research/tau2-bench",
	Detect: detectTau2,
	Split:  SplitMember("simulations", prepareTau2),
	Decode: decodeTau2,
}

func detectTau2(h Head) Match {
	if len(h.Records) == 0 || h.Container == ContainerArray {
		return Match{}
	}
	r := h.Records[0]
	switch {
	case r.Has("simulations") && (r.Has("tasks") || r.Has("info")):
		return Match{OK: true}
	case r.Has("info", "tasks") && hasMember(r.Members["info"], "agent_info"):
		// The tasks stand before the simulations and may be long.
		if r.Truncated {
			return Match{OK: true}
		}
		return Match{Lacks: `the document has no member "simulations"`}
	}
	return Match{}
}

// tau2Info is what a document says about all its simulations.
type tau2Info struct {
	model, agent, domain string
	tools                []ToolDef
}

// prepareTau2 reads the info of a document; what it cannot read it leaves out.
func prepareTau2(before []DocumentMember) any {
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
func readToolMap(c *jsonscan.Cursor) []ToolDef {
	b := newBuilder(0)
	if !c.Object() {
		return b.readTools(c)
	}
	var tools []ToolDef
	for c.Member() {
		if name := c.Key(); c.Object() {
			tools = b.appendTool(tools, c, name)
		}
	}
	return tools
}

// The members of a simulation that are read.
const (
	simID members = 1 << iota
	simTask
	simTrial
	simReward
	simStart
	simEnd
	simMessages
)

func decodeTau2(r Record) ([]Fragment, error) {
	b := newBuilder(len(r.Data))
	d := tau2Decoder{chatDecoder: chatDecoder{b: b}}
	c := jsonscan.New(r.Data)
	var seen members
	shape := `this record has no list "messages"`
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "id":
			seen.note(b, simID)
			b.t.ID = b.readID(&c)
		case "task_id":
			seen.note(b, simTask)
			b.t.Task = b.readID(&c)
		case "trial":
			seen.note(b, simTrial)
			b.t.Trial = b.readID(&c)
		case "reward_info":
			seen.note(b, simReward)
			for ok := c.Object(); ok && c.Member(); {
				if string(c.Key()) == "reward" {
					readReward(b, &c)
				}
			}
		case "start_time":
			seen.note(b, simStart)
			b.t.Start = b.readTime(&c)
		case "end_time":
			seen.note(b, simEnd)
			b.t.End = b.readTime(&c)
		case "messages":
			if seen.note(b, simMessages) {
				b.restart()
			}
			if d.simulation(&c) {
				shape = ""
			}
		}
	}
	if info, ok := r.Shared.(*tau2Info); ok {
		b.t.Model, b.t.Agent, b.t.Tools = info.model, info.agent, info.tools
		if info.domain != "" && b.t.Task != "" {
			b.t.Task = b.text([]byte(info.domain + "/" + b.t.Task))
		}
	}
	return b.finishRecord(r, &c, shape)
}

// tau2Decoder reads the messages of a simulation, which are like those of a chat
// but flat.
type tau2Decoder struct {
	chatDecoder
	spoken bool // the user has said something
}

// tau2Message is a message with the members that are read.
type tau2Message struct {
	role, id, name   []byte
	content, thought Raw
	time             time.Time
	usage            Usage
	user             bool // a result for the simulated user
	status           Status
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
	b := d.b
	d.calls = d.calls[:0]
	if !c.Object() {
		b.odd(CodeMessageShape, 1)
		return
	}
	var m tau2Message
	var seen members
	several := false
	for c.Member() {
		switch string(c.Key()) {
		case "role":
			seen.note(b, chatRole)
			m.role, _ = c.Text()
		case "id":
			seen.note(b, chatCallID)
			m.id, _ = c.Text()
		case "name":
			seen.note(b, chatName)
			m.name, _ = c.Text()
		case "content":
			seen.note(b, chatContent)
			m.content = rawContent(c)
		case "tool_calls":
			seen.note(b, chatCalls)
			d.calls = d.calls[:0]
			for ok := c.Array(); ok && c.Element(); {
				d.call(c)
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
				m.status = StatusOK
				if failed {
					m.status = StatusFailed
				}
			}
		case "timestamp":
			m.time = b.readTime(c)
		case "usage":
			cost := m.usage.CostUSD
			m.usage = readUsage(c)
			m.usage.CostUSD = cost
		case "cost":
			if cost, ok := c.Float(); ok {
				m.usage.CostUSD = &cost
			}
		case "reasoning":
			if thought := rawContent(c).orAbsent(); !thought.IsZero() {
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
func readRawThought(c *jsonscan.Cursor, thought *Raw) {
	for ok := c.Object(); ok && c.Member(); {
		if string(c.Key()) != "message" {
			continue
		}
		for ok := c.Object(); ok && c.Member(); {
			if string(c.Key()) == "reasoning_content" && thought.IsZero() {
				*thought = rawContent(c).orAbsent()
			}
		}
	}
}

func (d *tau2Decoder) addMessage(m tau2Message) {
	b := d.b
	switch string(m.role) {
	case "user":
		if len(d.calls) > 0 && m.content.isEmpty() {
			return // the user used a tool of its own and said nothing
		}
		if !d.spoken && len(b.t.Calls) == 0 {
			b.dropTurns()
		}
		d.spoken = true
		b.message(RoleUser, m.content.orAbsent()).Time = m.time
	case "system":
		b.message(RoleSystem, m.content.orAbsent()).Time = m.time
	case "assistant":
		turn := d.addTurn(chatMessage{content: m.content, thought: m.thought})
		turn.End, turn.Usage = m.time, m.usage
	case "tool":
		if m.user {
			return
		}
		if call := d.result(m.id, m.name, m.content); call != nil {
			call.Status, call.End = m.status, m.time
		}
	case "":
		b.odd(CodeMessageShape, 1)
	default:
		b.odd(CodeMessageRole, 1)
	}
}
