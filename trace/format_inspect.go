package trace

import (
	"strings"

	"github.com/awo-dev/awo/internal/jsonscan"
)

// formatInspect reads the logs of Inspect: a .json document whose samples are the
// trajectories, or an .eval archive with a file for each. What was said is in the messages of a sample; its events tell
// about tokens, times and tools. A result has an error or is a success. Responses
// of the model that are in no message, such as those of sub-agents and graders,
// are counted and left out.
var formatInspect = Format{
	Name:   "inspect",
	Doc:    "Logs of Inspect, .json and .eval: the samples of one task and model.",
	Spec:   "https://inspect.aisi.org.uk/eval-logs.html",
	Detect: detectInspect,
	Split:  SplitMember("samples", prepareInspect),
	Decode: decodeInspect,

	archive: inspectArchive,
}

// inspectEval is what a log says about all its samples.
type inspectEval struct{ task, model string }

func prepareInspect(before []DocumentMember) any {
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
	chatDecoder
	attachments map[string]Raw
	turns       map[string]int // by the id of their message, those no event has told about yet
	unnamed     []int          // turns whose message has no id
}

func decodeInspect(r Record) ([]Fragment, error) {
	b := newBuilder(len(r.Data))
	d := inspectDecoder{chatDecoder: chatDecoder{b: b}, attachments: map[string]Raw{}, turns: map[string]int{}}
	c := jsonscan.New(r.Data)
	var messages, events []byte
	uuid := ""
	shape := `this record has no list "messages"`
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "id":
			b.t.Task = b.readID(&c)
		case "epoch":
			b.t.Trial = b.readID(&c)
		case "uuid":
			uuid = b.readID(&c)
		case "messages":
			messages = c.Raw()
		case "events":
			events = c.Raw()
		case "attachments":
			for ok := c.Object(); ok && c.Member(); {
				name := string(c.Key())
				d.attachments[name] = rawValue(&c)
			}
		case "scores":
			d.scores(&c)
		case "started_at":
			b.t.Start = b.readTime(&c)
		case "completed_at":
			b.t.End = b.readTime(&c)
		}
	}
	if isKind(messages, '[') {
		shape = ""
		d.sample(messages)
		d.events(events)
	}
	b.t.ID = uuid
	if uuid == "" && b.t.Task != "" {
		b.t.ID = b.text([]byte(b.t.Task + "/" + b.t.Trial))
	}
	if eval, ok := r.Shared.(*inspectEval); ok {
		b.t.Model = eval.model
		if eval.task != "" && b.t.Task != "" {
			b.t.Task = b.text([]byte(eval.task + "/" + b.t.Task))
		}
	}
	clearTurnModels(b.t)
	return b.finishRecord(r, &c, shape)
}

// scores reads the score of a sample that has one: correct and 1 are success,
// incorrect and 0 failure.
func (d *inspectDecoder) scores(c *jsonscan.Cursor) {
	t := d.b.t
	t.Score, t.Outcome = nil, OutcomeUnknown
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
					t.Outcome = OutcomeSuccess
				case "I":
					t.Outcome = OutcomeFailure
				}
				continue
			}
			if value, ok := c.Float(); ok {
				t.Score = &value
				switch value {
				case 1:
					t.Outcome = OutcomeSuccess
				case 0:
					t.Outcome = OutcomeFailure
				}
			}
		}
	}
	if n > 1 { // which of them counts is not said
		t.Score, t.Outcome = nil, OutcomeUnknown
	}
}

// inspectMessage is what a message has beside those of a chat.
type inspectMessage struct {
	id, model []byte
	failure   Raw
	failed    bool
	thought   Raw
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
		switch string(m.role) {
		case "assistant":
			turn := d.addTurn(m)
			turn.Model, turn.Thought = d.b.text(x.model), x.thought
			if n := len(d.b.t.Turns) - 1; len(x.id) == 0 {
				d.unnamed = append(d.unnamed, n)
			} else if _, ok := d.turns[string(x.id)]; !ok {
				d.turns[string(x.id)] = n
			}
		case "tool":
			if call := d.result(m.callID, m.name, m.content); call != nil {
				call.Status = statusOf(!x.failed)
				call.Error = x.failure
			}
		default:
			d.add(m)
		}
	}
}

// inspectMessage reads a message of a chat, whose calls name their function by a
// text.
func (d *inspectDecoder) inspectMessage(c *jsonscan.Cursor) (m chatMessage, ok bool) {
	d.calls = d.calls[:0]
	if !c.Object() {
		d.b.odd(CodeMessageShape, 1)
		return m, false
	}
	for c.Member() {
		switch string(c.Key()) {
		case "role":
			m.role, _ = c.Text()
		case "tool_call_id":
			m.callID, _ = c.Text()
		case "function":
			m.name, _ = c.Text()
		case "content":
			m.content = d.attached(rawContent(c))
		case "tool_calls":
			d.calls = d.calls[:0]
			for ok := c.Array(); ok && c.Element(); {
				if !c.Object() {
					d.b.odd(CodeMessageShape, 1)
					continue
				}
				var call chatCall
				for c.Member() {
					switch string(c.Key()) {
					case "id":
						call.id, _ = c.Text()
					case "function":
						call.name, _ = c.Text()
					case "arguments":
						call.args = rawArgs(c)
					}
				}
				d.calls = append(d.calls, call)
			}
		}
	}
	return m, true
}

// attached returns what a content stands for: logs keep long texts apart.
func (d *inspectDecoder) attached(content Raw) Raw {
	if content.Form != FormString {
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
					x.failure = rawValue(c)
				}
			}
		case "content":
			for ok := c.Array(); ok && c.Element(); {
				for ok := c.Object(); ok && c.Member(); {
					if string(c.Key()) == "reasoning" {
						if thought := rawValue(c).orAbsent(); !thought.IsZero() {
							x.thought = joinTexts(x.thought, thought)
						}
					}
				}
			}
		}
	}
	return x
}

func detectInspect(h Head) Match {
	if len(h.Records) == 0 || h.Container == ContainerArray {
		return Match{}
	}
	r := h.Records[0]
	eval := r.Members["eval"]
	switch {
	case r.Has("eval") && (hasMember(eval, "task") || hasMember(eval, "run_id") || hasMember(eval, "eval_id")):
		if r.Truncated || r.Has("samples") {
			return Match{OK: r.Has("version") || r.Has("plan"), Lacks: ""}
		}
		return Match{Lacks: `the log has no "samples": it was written without them`}
	case r.Has("epoch", "target", "messages"):
		return Match{Lacks: `this is a sample of an unpacked .eval file; the .eval file itself can be read`}
	}
	return Match{}
}
