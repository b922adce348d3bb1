// Package inspect reads the logs of Inspect, as JSON and as archives.
//
// A sample comes in and its trajectory goes out. It is O(record).
package inspect

import (
	"strings"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/internal/message"
)

// Format reads the logs of Inspect: a .json document whose samples are the
// trajectories, or an .eval archive with a file for each. What was said is in the messages of a sample; its events tell
// about tokens, times and tools. A result has an error or is a success. Responses
// of the model that are in no message, such as those of sub-agents and graders,
// are counted and left out.
var Format = trace.Format{
	Name:   "inspect",
	Doc:    "Logs of Inspect, .json and .eval: the samples of one task and model.",
	Spec:   "https://inspect.aisi.org.uk/eval-logs.html",
	Detect: detectInspect,
	Split:  trace.SplitMember("samples", prepareInspect),
	Decode: decodeInspect,

	Archive: inspectArchive,
}

// inspectEval is what a log says about all its samples.
type inspectEval struct{ task, model string }

func prepareInspect(before []trace.DocumentMember) any {
	eval := &inspectEval{}
	for _, member := range before {
		if member.Name == "eval" {
			c := jsonscan.New(member.Value.Data)
			if eval = readInspectEval(&c); c.End() != nil {
				eval = &inspectEval{}
			}
		}
	}
	return eval
}

func readInspectEval(c *jsonscan.Cursor) *inspectEval {
	eval := &inspectEval{}
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "task":
			text, _ := c.Text()
			eval.task = string(text)
		case "model":
			text, _ := c.Text()
			eval.model = string(text)
		}
	}
	return eval
}

// inspectDecoder reads a sample.
type inspectDecoder struct {
	message.Chat
	attachments map[string]trace.Raw
	turns       map[string]int // by the id of their message, those no event has told about yet
	unnamed     []int          // turns whose message has no id
}

func decodeInspect(r trace.Record) ([]trace.Fragment, error) {
	b := build.New(len(r.Data))
	d := inspectDecoder{Chat: message.Chat{Builder: b}, attachments: map[string]trace.Raw{}, turns: map[string]int{}}
	c := jsonscan.New(r.Data)
	var messages, events []byte
	uuid := ""
	shape := `this record has no list "messages"`
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "id":
			b.Trajectory.Task = b.ReadID(&c)
		case "epoch":
			b.Trajectory.Trial = b.ReadID(&c)
		case "uuid":
			uuid = b.ReadID(&c)
		case "messages":
			messages = c.Raw()
		case "events":
			events = c.Raw()
		case "attachments":
			for ok := c.Object(); ok && c.Member(); {
				name := string(c.Key())
				d.attachments[name] = build.ReadRaw(&c)
			}
		case "scores":
			d.scores(&c)
		case "started_at":
			b.Trajectory.Start = b.ReadTime(&c)
		case "completed_at":
			b.Trajectory.End = b.ReadTime(&c)
		}
	}
	if build.IsKind(messages, '[') {
		shape = ""
		d.sample(messages)
		d.events(events)
	}
	b.Trajectory.ID = uuid
	if uuid == "" && b.Trajectory.Task != "" {
		b.Trajectory.ID = b.Text([]byte(b.Trajectory.Task + "/" + b.Trajectory.Trial))
	}
	if eval, ok := r.Shared.(*inspectEval); ok {
		b.Trajectory.Model = eval.model
		if eval.task != "" && b.Trajectory.Task != "" {
			b.Trajectory.Task = b.Text([]byte(eval.task + "/" + b.Trajectory.Task))
		}
	}
	build.ClearTurnModels(b.Trajectory)
	return b.FinishRecord(r, &c, shape)
}

// scores reads the score of a sample that has one: correct and 1 are success,
// incorrect and 0 failure.
func (d *inspectDecoder) scores(c *jsonscan.Cursor) {
	t := d.Builder.Trajectory
	t.Score, t.Outcome = nil, trace.OutcomeUnknown
	n := 0
	for ok := c.Object(); ok && c.Member(); {
		n++
		for ok := c.Object(); ok && c.Member(); {
			if string(c.Key()) != "value" {
				continue
			}
			if text, ok := c.Text(); ok {
				switch string(text) {
				case "C":
					t.Outcome = trace.OutcomeSuccess
				case "I":
					t.Outcome = trace.OutcomeFailure
				}
				continue
			}
			if value, ok := c.Float(); ok {
				t.Score = &value
				switch value {
				case 1:
					t.Outcome = trace.OutcomeSuccess
				case 0:
					t.Outcome = trace.OutcomeFailure
				}
			}
		}
	}
	if n > 1 { // which of them counts is not said
		t.Score, t.Outcome = nil, trace.OutcomeUnknown
	}
}

// inspectMessage is what a message has beside those of a chat.
type inspectMessage struct {
	id, model []byte
	failure   trace.Raw
	failed    bool
	thought   trace.Raw
}

func (d *inspectDecoder) sample(messages []byte) {
	c := jsonscan.New(messages)
	for ok := c.Array(); ok && c.Element(); {
		raw := c.Raw()
		scan := jsonscan.New(raw)
		m, ok := d.inspectMessage(&scan)
		if !ok {
			continue
		}
		scan = jsonscan.New(raw)
		x := readInspectExtra(&scan)
		switch string(m.Role) {
		case "assistant":
			turn := d.AddTurn(m)
			turn.Model, turn.Thought = d.Builder.Text(x.model), x.thought
			if n := len(d.Builder.Trajectory.Turns) - 1; len(x.id) == 0 {
				d.unnamed = append(d.unnamed, n)
			} else if _, ok := d.turns[string(x.id)]; !ok {
				d.turns[string(x.id)] = n
			}
		case "tool":
			if call := d.Result(m.CallID, m.Name, m.Content); call != nil {
				call.Status = build.StatusOf(!x.failed)
				call.Error = x.failure
			}
		default:
			d.Add(m)
		}
	}
}

// inspectMessage reads a message of a chat, whose calls name their function by a
// text.
func (d *inspectDecoder) inspectMessage(c *jsonscan.Cursor) (m message.ChatMessage, ok bool) {
	d.Calls = d.Calls[:0]
	if !c.Object() {
		d.Builder.Anomaly(build.CodeMessageShape, 1)
		return m, false
	}
	for c.Member() {
		switch string(c.Key()) {
		case "role":
			m.Role, _ = c.Text()
		case "tool_call_id":
			m.CallID, _ = c.Text()
		case "function":
			m.Name, _ = c.Text()
		case "content":
			m.Content = d.attached(build.ReadContent(c))
		case "tool_calls":
			d.Calls = d.Calls[:0]
			for ok := c.Array(); ok && c.Element(); {
				if !c.Object() {
					d.Builder.Anomaly(build.CodeMessageShape, 1)
					continue
				}
				var call message.ChatCall
				for c.Member() {
					switch string(c.Key()) {
					case "id":
						call.ID, _ = c.Text()
					case "function":
						call.Name, _ = c.Text()
					case "arguments":
						call.Args = build.ReadArgs(c)
					}
				}
				d.Calls = append(d.Calls, call)
			}
		}
	}
	return m, true
}

// attached returns what a content stands for: logs keep long texts apart.
func (d *inspectDecoder) attached(content trace.Raw) trace.Raw {
	if content.Form != trace.FormString {
		return content
	}
	if name, ok := strings.CutPrefix(content.Text(), "attachment://"); ok {
		if found, ok := d.attachments[name]; ok {
			return found
		}
	}
	return content
}

func readInspectExtra(c *jsonscan.Cursor) (x inspectMessage) {
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "id":
			x.id, _ = c.Text()
		case "model":
			x.model, _ = c.Text()
		case "error":
			for ok := c.Object(); ok && c.Member(); {
				x.failed = true
				if string(c.Key()) == "message" {
					x.failure = build.ReadRaw(c)
				}
			}
		case "content":
			for ok := c.Array(); ok && c.Element(); {
				for ok := c.Object(); ok && c.Member(); {
					if string(c.Key()) == "reasoning" {
						if thought := build.ReadRaw(c).OrAbsent(); !thought.IsZero() {
							x.thought = build.JoinTexts(x.thought, thought)
						}
					}
				}
			}
		}
	}
	return x
}

func detectInspect(h trace.Head) trace.Match {
	if len(h.Records) == 0 || h.Container == trace.ContainerArray {
		return trace.Match{}
	}
	r := h.Records[0]
	eval := r.Members["eval"]
	switch {
	case r.Has("eval") && (build.HasMember(eval, "task") || build.HasMember(eval, "run_id") || build.HasMember(eval, "eval_id")):
		if r.Truncated || r.Has("samples") {
			return trace.Match{OK: r.Has("version") || r.Has("plan"), Lacks: ""}
		}
		return trace.Match{Lacks: `the log has no "samples": it was written without them`}
	case r.Has("epoch", "target", "messages"):
		return trace.Match{Lacks: `this is a sample of an unpacked .eval file; the .eval file itself can be read`}
	}
	return trace.Match{}
}

// inspectArchive finds the samples of an .eval archive: "samples/ID_epoch_N.json",
// beside a header that is the log without them. A run that was broken off has no
// header, but what the header begins with as "_journal/start.json".
func inspectArchive(a *trace.Archive, limit int) (records trace.ArchiveRecords, ok bool) {
	eval := &inspectEval{}
	for _, name := range []string{"header.json", "_journal/start.json"} {
		e := a.Entry(name)
		if e == nil || ok {
			continue
		}
		data, err := a.Read(e, limit)
		if err != nil || data == nil {
			ok = true // it is one all the same
			continue
		}
		c := jsonscan.New(data)
		for more := c.Object(); more && c.Member(); {
			if string(c.Key()) == "eval" {
				ok = true
				eval = readInspectEval(&c)
			}
		}
		if c.End() != nil {
			eval = &inspectEval{}
		}
	}
	if !ok {
		return records, false
	}
	records.Shared = eval
	for _, e := range a.Entries {
		if strings.HasPrefix(e.Name, "samples/") && strings.HasSuffix(e.Name, ".json") {
			records.Entries = append(records.Entries, e)
		}
	}
	return records, true
}
