package trace

import (
	"bytes"
	"path"
	"path/filepath"
	"strings"

	"github.com/awo-dev/awo/internal/jsonscan"
)

// formatSWEAgent reads the .traj files of SWE-agent and of mini-SWE-agent, one
// document a trajectory.
//
// Their messages are OpenAI's where the model calls functions. Where it writes
// commands as text, a command is a call of its first word (of mini-SWE-agent, of
// bash) with {"command": ...}, and what the environment says next is its result.
// Demonstrations are left out. A file without messages has steps, each with an
// action and an observation. Runs have no error flag; mini-SWE-agent records
// return codes. SWE-agent counts tokens of the run alone, which no turn has.
var formatSWEAgent = Format{
	Name:   "swe-agent",
	Doc:    "Trajectories of SWE-agent (.traj) and mini-SWE-agent.",
	Spec:   "https://swe-agent.com/latest/usage/trajectories/",
	Detect: detectSWEAgent,
	Decode: decodeSWEAgent,
}

// sweDecoder reads messages of SWE-agent.
type sweDecoder struct {
	chatDecoder
	mini    bool
	pending bool // a command written as text waits for its result
}

// sweExtra is what messages have beside those of a chat.
type sweExtra struct {
	demo     bool
	kind     []byte
	action   []byte
	ids      [][]byte // of the calls that a message has the results of
	thought  Raw
	commands [][]byte // of mini-SWE-agent
	code     int64
	coded    bool
	usage    Usage
}

func decodeSWEAgent(r Record) ([]Fragment, error) {
	b := newBuilder(len(r.Data))
	d := sweDecoder{chatDecoder: chatDecoder{b: b}}
	c := jsonscan.New(r.Data)
	b.t.Agent = "swe-agent"
	if base := path.Base(filepath.ToSlash(unpackedName(r.File))); strings.HasSuffix(base, ".traj") {
		b.t.Task = strings.TrimSuffix(base, ".traj")
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
			if id := b.readID(&c); id != "" {
				b.t.Task = id
			}
		case "info":
			d.info(&c)
		case "attempts":
			n := 0
			for ok := c.Array(); ok && c.Element(); {
				n++
			}
			b.odd(CodeChoiceIgnored, max(n-1, 0))
		}
	}
	if d.mini {
		b.t.Agent = "mini-swe-agent"
	}
	shape := ""
	switch {
	case isKind(history, '['):
		d.history(history)
	case isKind(steps, '['):
		d.steps(steps)
	default:
		shape = `this record has neither a list "history" nor a list "trajectory"`
	}
	return b.finishRecord(r, &c, shape)
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
					d.b.t.Model = d.b.text(text)
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
			d.b.odd(CodeCopiedContext, 1)
			continue
		}
		scan = jsonscan.New(raw)
		if m, ok := d.message(&scan); ok {
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
			x.thought = rawContent(c)
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
				x.usage = readUsage(c)
			}
		}
	}
}

// say adds a message.
func (d *sweDecoder) say(m chatMessage, x sweExtra) {
	b := d.b
	switch string(m.role) {
	case "assistant":
		d.pending = false
		called := len(d.calls) > 0
		turn := d.addTurn(m)
		turn.Usage = x.usage
		switch {
		case called:
		case d.mini:
			d.miniCommands(m, x)
		case len(bytes.TrimSpace(x.action)) > 0:
			if turn.Thought.IsZero() && x.thought.Text() != m.content.Text() {
				turn.Thought = x.thought.orAbsent()
			}
			d.command(firstWord(x.action), x.action)
		}
	case "tool":
		if len(m.callID) > 0 {
			x.ids = append(x.ids, m.callID)
		}
		if len(x.ids) == 0 {
			d.status(d.result(nil, m.name, m.content), m.content, x)
		}
		for _, id := range x.ids {
			d.status(b.result(id, m.content), m.content, x)
		}
	case "user":
		switch {
		case d.pending:
			d.status(b.namedResult(nil, m.content), m.content, x)
			d.pending = d.mini && b.waiting.oldest(b.t.Calls) >= 0
		case len(b.t.Turns) > 0: // the program, about what the model has written
			b.message(RoleSystem, m.content.orAbsent())
		default:
			b.message(RoleUser, m.content.orAbsent())
		}
	case "exit": // of mini-SWE-agent: how the run ended
	default:
		d.add(m)
	}
}

// miniCommands adds the commands of a message: those that were noted, else the
// one block of bash.
func (d *sweDecoder) miniCommands(m chatMessage, x sweExtra) {
	commands := x.commands
	if len(commands) == 0 {
		blocks := bytes.Split(m.content.AppendText(nil), []byte("```bash\n"))
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
	args := jsonscan.AppendQuoted([]byte(`{"command":`), validText(command))
	d.b.call("", d.b.names.intern(tool), JSONOf(append(args, '}')), OriginModel)
	d.pending = true
}

// status says how a call ended, by the return code that was noted or stands
// before the output.
func (d *sweDecoder) status(call *Call, content Raw, x sweExtra) {
	if call == nil || !d.mini {
		return
	}
	if x.coded {
		call.Status = statusOf(x.code == 0)
		return
	}
	if rest, ok := strings.CutPrefix(content.Text(), "<returncode>"); ok {
		if code, _, ok := strings.Cut(rest, "</returncode>"); ok {
			call.Status = statusOf(strings.TrimSpace(code) == "0")
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
	b := d.b
	c := jsonscan.New(data)
	for ok := c.Array(); ok && c.Element(); {
		if !c.Object() {
			b.odd(CodeMessageShape, 1)
			continue
		}
		var action []byte
		var response, thought, observation Raw
		for c.Member() {
			switch string(c.Key()) {
			case "action":
				action, _ = c.Text()
			case "response":
				response = rawContent(&c)
			case "thought":
				thought = rawContent(&c)
			case "observation":
				observation = rawContent(&c)
			}
		}
		turn := b.turn()
		turn.Text = response.orAbsent()
		if turn.Text.IsZero() {
			turn.Text = thought.orAbsent()
		}
		if word := firstWord(action); word != nil {
			d.command(word, action)
			b.namedResult(nil, observation)
		}
	}
}

func detectSWEAgent(h Head) Match {
	if len(h.Records) == 0 || h.Container == ContainerArray {
		return Match{}
	}
	r := h.Records[0]
	switch {
	case strings.HasPrefix(string(r.Members["trajectory_format"]), `"mini-swe-agent`):
		return Match{OK: true}
	case isKind(r.Members["history"], '['):
		if r.Has("trajectory") || bytes.Contains(r.Members["history"], []byte(`"message_type"`)) {
			return Match{OK: true}
		}
		return Match{Lacks: `there is neither "trajectory" nor a "message_type" in "history"`}
	case isKind(r.Members["trajectory"], '[') && (r.Has("environment") || r.Has("info")):
		return Match{OK: true}
	case r.Truncated && r.Has("messages") && r.Has("info") && bytes.Contains(r.Members["info"], []byte(`"mini_version"`)):
		return Match{OK: true} // the format stands at the end
	}
	return Match{}
}
