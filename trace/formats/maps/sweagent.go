package maps

import (
	"bytes"
	"cmp"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// sweReader turns the messages and steps of a run into events.
type sweReader struct {
	b      *build.Builder
	mini   bool
	events [][]byte
}

// readSWEAgent returns a run with its events.
func readSWEAgent(b *build.Builder, records [][]byte) [][]byte {
	run := trace.NewHeadRecord(records[0], false).Members
	r := sweReader{b: b, mini: bytes.HasPrefix(run["trajectory_format"], []byte(`"mini-swe-agent`))}
	attempts := -1
	for range build.Elements(run["attempts"]) {
		attempts++
	}
	b.Anomaly(build.CodeChoiceIgnored, max(attempts, 0))
	history := run["history"]
	if history == nil {
		history = run["messages"]
	}
	if build.IsKind(history, '[') {
		for m := range build.Elements(history) {
			r.message(m, build.MemberText(m, "action"))
		}
	} else if build.IsKind(run["trajectory"], '[') {
		for step := range build.Elements(run["trajectory"]) {
			r.step(step)
		}
	} else {
		return nil
	}
	var calls []byte
	if r.mini {
		calls = build.MemberRaw(run["info"], "model_stats", "api_calls")
	}
	return [][]byte{build.Object("run", records[0], "calls", calls, "events", build.List(r.events))}
}

// step adds a step of a run without messages, or a message that has a text as data sets
// keep them, whose last block of code is the command.
func (r *sweReader) step(step []byte) {
	m := trace.NewHeadRecord(step, false).Members
	if m["role"] == nil {
		line := appendCommand(nil, build.MemberText(step, "action"))
		if r.add("turn", "content", m["response"], "said", m["thought"], "commands", build.List(line)); line != nil {
			r.add("result", "content", m["observation"])
		}
		return
	}
	for _, name := range []string{"content", "system_prompt", "text"} {
		if build.IsKind(m[name], '"') && len(m[name]) > 2 {
			r.message(build.Object("role", m["role"], "content", m[name]), lastBlock(build.MemberText(step, name)))
			return
		}
	}
}

func (r *sweReader) add(event string, namesAndValues ...any) {
	if r.mini { // whose commands are those of bash, with a return code
		event = "mini " + event
	}
	r.events = append(r.events, build.Object(append([]any{"event", event}, namesAndValues...)...))
}

// message adds a message; action is the command in it.
func (r *sweReader) message(m, action []byte) {
	x := trace.NewHeadRecord(m, false).Members
	switch role := string(build.MemberText(m, "role")); {
	case string(x["is_demo"]) == "true":
		r.b.Anomaly(build.CodeCopiedContext, 1)
	case role == "assistant" || role == "ai":
		calls, thought := x["tool_calls"], x["thought"]
		var commands [][]byte
		if len(bytes.TrimSpace(bytes.Trim(calls, "[]"))) == 0 || string(calls) == "null" {
			calls, commands = nil, r.commands(m, action, build.MemberRaw(x["extra"], "actions"))
		}
		if bytes.Equal(thought, x["content"]) || len(action) == 0 {
			thought = nil
		}
		r.add("turn", "content", x["content"], "calls", calls, "commands", build.List(commands), "reasoning", x["reasoning_content"], "thought", thought, "extra", x["extra"])
	case role == "tool":
		ids := x["tool_call_ids"] // of several calls
		if ids == nil {
			ids = []byte("[" + cmp.Or(string(x["tool_call_id"]), "null") + "]")
		}
		for id := range build.Elements(ids) {
			r.add("result", "id", id, "name", x["name"], "content", x["content"], "extra", x["extra"])
		}
	case role != "exit": // of mini-SWE-agent: how the run ended
		r.add(role, "content", x["content"], "extra", x["extra"])
	}
}

// commands returns the commands of a message: those that were noted, else the one in it,
// else of mini-SWE-agent the one block of bash.
func (r *sweReader) commands(m, action, noted []byte) (list [][]byte) {
	if !r.mini {
		return appendCommand(nil, action)
	}
	for one := range build.Elements(noted) {
		c := jsonscan.New(one)
		text, ok := c.Text()
		if !ok {
			text = build.MemberText(one, "command")
		}
		list = appendCommand(list, text)
	}
	c := jsonscan.New(build.MemberRaw(m, "content"))
	content := build.ReadContent(&c)
	blocks := bytes.Split(content.AppendText(nil), []byte("```bash\n"))
	if list == nil && len(blocks) == 2 {
		if command, _, ok := bytes.Cut(blocks[1], []byte("\n```")); ok {
			list = appendCommand(nil, bytes.TrimSpace(command))
		}
	}
	return list
}

// appendCommand appends a command, as JSON, to a list.
func appendCommand(list [][]byte, command []byte) [][]byte {
	if len(bytes.TrimSpace(command)) == 0 {
		return list
	}
	return append(list, jsonscan.AppendQuoted(nil, trace.ValidText(command)))
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
