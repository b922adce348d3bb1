package openhands

import (
	"bytes"
	"path"
	"path/filepath"
	"strings"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/internal/message"
)

// SWEAgent reads the .traj files of SWE-agent and of mini-SWE-agent, one
// document a trajectory.
//
// Their messages are OpenAI's where the model calls functions. Where it writes
// commands as text, a command is a call of its first word (of mini-SWE-agent, of
// bash) with {"command": ...}, and what the environment says next is its result.
// Demonstrations are left out. A file without messages has steps, each with an
// action and an observation, or messages with a "text" as data sets keep them, whose
// block of code is the command. Runs have no error flag; mini-SWE-agent records
// return codes. SWE-agent counts tokens of the run alone, which no turn has.
var SWEAgent = trace.Format{
	Name:   "swe-agent",
	Doc:    "Trajectories of SWE-agent (.traj) and mini-SWE-agent.",
	Spec:   "https://swe-agent.com/latest/usage/trajectories/",
	Detect: detectSWEAgent,
	Decode: decodeSWEAgent,
}

// sweDecoder reads messages of SWE-agent.
type sweDecoder struct {
	message.Chat
	mini    bool
	pending bool // a command written as text waits for its result
}

// sweExtra is what messages have beside those of a chat.
type sweExtra struct {
	demo     bool
	kind     []byte
	action   []byte
	ids      [][]byte // of the calls that a message has the results of
	thought  trace.Raw
	commands [][]byte // of mini-SWE-agent
	code     int64
	coded    bool
	usage    trace.Usage
}

func decodeSWEAgent(r trace.Record) ([]trace.Fragment, error) {
	b := build.New(len(r.Data))
	d := sweDecoder{Chat: message.Chat{Builder: b}}
	c := jsonscan.New(r.Data)
	b.Trajectory.Agent = "swe-agent"
	if base := path.Base(filepath.ToSlash(trace.UnpackedName(r.File))); strings.HasSuffix(base, ".traj") {
		b.Trajectory.Task = strings.TrimSuffix(base, ".traj")
	}
	var history, steps []byte
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "history":
			history = c.Raw()
		case "messages":
			if history == nil {
				history = c.Raw()
			}
		case "trajectory":
			steps = c.Raw()
		case "trajectory_format":
			text, _ := c.Text()
			d.mini = bytes.HasPrefix(text, []byte("mini-swe-agent"))
		case "instance_id":
			if id := b.ReadID(&c); id != "" {
				b.Trajectory.Task = id
			}
		case "model_name":
			text, _ := c.Text()
			b.Trajectory.Model = b.Text(text)
		case "target": // of a data set: was the issue resolved?
			if resolved, ok := c.Bool(); ok {
				b.Trajectory.Outcome = trace.OutcomeFailure
				if resolved {
					b.Trajectory.Outcome = trace.OutcomeSuccess
				}
			}
		case "info":
			d.info(&c)
		case "attempts":
			n := 0
			for ok := c.Array(); ok && c.Element(); {
				n++
			}
			b.Anomaly(build.CodeChoiceIgnored, max(n-1, 0))
		}
	}
	if d.mini {
		b.Trajectory.Agent = "mini-swe-agent"
	}
	shape := ""
	switch {
	case build.IsKind(history, '['):
		d.history(history)
	case build.IsKind(steps, '['):
		if first := jsonscan.New(steps); first.Array() && first.Element() && build.HasMember(first.Raw(), "role") {
			d.conversation(steps)
		} else {
			d.steps(steps)
		}
	default:
		shape = `this record has neither a list "history" nor a list "trajectory"`
	}
	return b.FinishRecord(r, &c, shape)
}

// info reads what is said about the run.
func (d *sweDecoder) info(c *jsonscan.Cursor) {
	for ok := c.Object(); ok && c.Member(); {
		if string(c.Key()) != "config" {
			continue
		}
		for ok := c.Object(); ok && c.Member(); {
			if string(c.Key()) != "model" {
				continue
			}
			for ok := c.Object(); ok && c.Member(); {
				if string(c.Key()) == "model_name" {
					text, _ := c.Text()
					d.Builder.Trajectory.Model = d.Builder.Text(text)
				}
			}
		}
	}
}

// history adds messages.
func (d *sweDecoder) history(data []byte) {
	c := jsonscan.New(data)
	for ok := c.Array(); ok && c.Element(); {
		raw := c.Raw()
		scan := jsonscan.New(raw)
		x := readSWEExtra(&scan)
		if x.demo {
			d.Builder.Anomaly(build.CodeCopiedContext, 1)
			continue
		}
		scan = jsonscan.New(raw)
		if m, ok := d.Message(&scan); ok {
			d.say(m, x)
		}
	}
}

// readSWEExtra reads what a message has beside those of a chat.
func readSWEExtra(c *jsonscan.Cursor) (x sweExtra) {
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "is_demo":
			x.demo, _ = c.Bool()
		case "message_type":
			x.kind, _ = c.Text()
		case "action":
			x.action, _ = c.Text()
		case "thought":
			x.thought = build.ReadContent(c)
		case "tool_call_ids":
			for ok := c.Array(); ok && c.Element(); {
				id, _ := c.Text()
				x.ids = append(x.ids, id)
			}
		case "extra":
			for ok := c.Object(); ok && c.Member(); {
				x.extra(c)
			}
		}
	}
	return x
}

// extra reads what mini-SWE-agent notes about a message.
func (x *sweExtra) extra(c *jsonscan.Cursor) {
	switch string(c.Key()) {
	case "actions":
		for ok := c.Array(); ok && c.Element(); {
			if text, ok := c.Text(); ok {
				x.commands = append(x.commands, text)
				continue
			}
			for ok := c.Object(); ok && c.Member(); {
				if string(c.Key()) == "command" {
					if text, ok := c.Text(); ok {
						x.commands = append(x.commands, text)
					}
				}
			}
		}
	case "returncode":
		x.code, x.coded = c.Int()
	case "response":
		for ok := c.Object(); ok && c.Member(); {
			if string(c.Key()) == "usage" {
				x.usage = build.UsageChat.Read(c)
			}
		}
	}
}

// say adds a message.
func (d *sweDecoder) say(m message.ChatMessage, x sweExtra) {
	b := d.Builder
	switch string(m.Role) {
	case "assistant":
		d.pending = false
		called := len(d.Calls) > 0
		turn := d.AddTurn(m)
		turn.Usage = x.usage
		switch {
		case called:
		case d.mini:
			d.miniCommands(m, x)
		case len(bytes.TrimSpace(x.action)) > 0:
			if turn.Thought.IsZero() && x.thought.Text() != m.Content.Text() {
				turn.Thought = x.thought.OrAbsent()
			}
			d.command(firstWord(x.action), x.action)
		}
	case "tool":
		if len(m.CallID) > 0 {
			x.ids = append(x.ids, m.CallID)
		}
		if len(x.ids) == 0 {
			d.status(d.Result(nil, m.Name, m.Content), m.Content, x)
		}
		for _, id := range x.ids {
			d.status(b.Result(id, m.Content), m.Content, x)
		}
	case "user":
		switch {
		case d.pending:
			d.status(b.NamedResult(nil, m.Content), m.Content, x)
			d.pending = d.mini && b.Waiting.Oldest(b.Trajectory.Calls) >= 0
		case len(b.Trajectory.Turns) > 0: // the program, about what the model has written
			b.Message(trace.RoleSystem, m.Content.OrAbsent())
		default:
			b.Message(trace.RoleUser, m.Content.OrAbsent())
		}
	case "exit": // of mini-SWE-agent: how the run ended
	default:
		d.Add(m)
	}
}

// miniCommands adds the commands of a message: those that were noted, else the
// one block of bash.
func (d *sweDecoder) miniCommands(m message.ChatMessage, x sweExtra) {
	commands := x.commands
	if len(commands) == 0 {
		blocks := bytes.Split(m.Content.AppendText(nil), []byte("```bash\n"))
		if len(blocks) == 2 {
			if command, _, ok := bytes.Cut(blocks[1], []byte("\n```")); ok {
				commands = append(commands, bytes.TrimSpace(command))
			}
		}
	}
	for _, command := range commands {
		d.command([]byte("bash"), command)
	}
}

// command adds a call of a command that was written as text.
func (d *sweDecoder) command(tool, command []byte) {
	args := jsonscan.AppendQuoted([]byte(`{"command":`), trace.ValidText(command))
	d.Builder.Call("", d.Builder.Names.Intern(tool), trace.JSONOf(append(args, '}')), trace.OriginModel)
	d.pending = true
}

// status says how a call ended, by the return code that was noted or stands
// before the output.
func (d *sweDecoder) status(call *trace.Call, content trace.Raw, x sweExtra) {
	if call == nil || !d.mini {
		return
	}
	if x.coded {
		call.Status = build.StatusOf(x.code == 0)
		return
	}
	if rest, ok := strings.CutPrefix(content.Text(), "<returncode>"); ok {
		if code, _, ok := strings.Cut(rest, "</returncode>"); ok {
			call.Status = build.StatusOf(strings.TrimSpace(code) == "0")
		}
	}
}

func firstWord(text []byte) []byte {
	fields := bytes.Fields(text)
	if len(fields) == 0 {
		return nil
	}
	return fields[0]
}

// steps adds the steps of a file without messages.
func (d *sweDecoder) steps(data []byte) {
	b := d.Builder
	c := jsonscan.New(data)
	for ok := c.Array(); ok && c.Element(); {
		if !c.Object() {
			b.Anomaly(build.CodeMessageShape, 1)
			continue
		}
		var action []byte
		var response, thought, observation trace.Raw
		for c.Member() {
			switch string(c.Key()) {
			case "action":
				action, _ = c.Text()
			case "response":
				response = build.ReadContent(&c)
			case "thought":
				thought = build.ReadContent(&c)
			case "observation":
				observation = build.ReadContent(&c)
			}
		}
		turn := b.Turn()
		turn.Text = response.OrAbsent()
		if turn.Text.IsZero() {
			turn.Text = thought.OrAbsent()
		}
		if word := firstWord(action); word != nil {
			d.command(word, action)
			b.NamedResult(nil, observation)
		}
	}
}

// conversation adds messages with a role and a text. A system prompt may stand in a
// member of its own.
func (d *sweDecoder) conversation(data []byte) {
	c := jsonscan.New(data)
	for ok := c.Array(); ok && c.Element(); {
		if !c.Object() {
			d.Builder.Anomaly(build.CodeMessageShape, 1)
			continue
		}
		var m message.ChatMessage
		for c.Member() {
			switch string(c.Key()) {
			case "role":
				if m.Role, _ = c.Text(); string(m.Role) == "ai" {
					m.Role = []byte("assistant")
				}
			case "text", "system_prompt", "content":
				if content := build.ReadContent(&c); !content.IsEmpty() {
					m.Content = content
				}
			}
		}
		d.say(m, sweExtra{action: lastBlock(m.Content.AppendText(nil))})
	}
}

// lastBlock returns the last block of code of a text, nil if there is none.
func lastBlock(text []byte) []byte {
	blocks := bytes.Split(text, []byte("\n```"))
	for i := len(blocks) - 2; i >= 0; i-- { // what stands behind the last mark is no block
		if _, body, ok := bytes.Cut(blocks[i], []byte{'\n'}); ok && i%2 == 1 {
			return bytes.TrimSpace(body)
		}
	}
	return nil
}

func detectSWEAgent(h trace.Head) trace.Match {
	if len(h.Records) == 0 || h.Container == trace.ContainerArray {
		return trace.Match{}
	}
	r := h.Records[0]
	switch {
	case strings.HasPrefix(string(r.Members["trajectory_format"]), `"mini-swe-agent`):
		return trace.Match{OK: true}
	case build.IsKind(r.Members["history"], '['):
		if r.Has("trajectory") || bytes.Contains(r.Members["history"], []byte(`"message_type"`)) {
			return trace.Match{OK: true}
		}
		return trace.Match{Lacks: `there is neither "trajectory" nor a "message_type" in "history"`}
	case build.IsKind(r.Members["trajectory"], '[') && (r.Has("environment") || r.Has("info")),
		build.IsKind(r.Members["trajectory"], '[') && r.Has("instance_id") && bytes.Contains(r.Members["trajectory"], []byte(`"text"`)):
		return trace.Match{OK: true}
	case r.Truncated && r.Has("messages") && r.Has("info") && bytes.Contains(r.Members["info"], []byte(`"mini_version"`)):
		return trace.Match{OK: true} // the format stands at the end
	}
	return trace.Match{}
}
