package sessions

import (
	"cmp"
	"slices"
	"strings"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/internal/message"
)

// Copilot reads the events of a session of the GitHub Copilot CLI, one a line:
//
//	{"type": "assistant.message", "data": {"content", "toolRequests"}, "timestamp"}
//
// A message of the model is a turn with its toolRequests; tool.execution_complete has
// the result of a call. A call of which only its start was noted is of the last turn.
var Copilot = trace.Format{
	Name:     "copilot-cli",
	Doc:      "Sessions of the GitHub Copilot CLI: events.jsonl.",
	Spec:     "https://docs.github.com/copilot/concepts/agents/about-copilot-cli",
	Detect:   detectCopilot,
	Decode:   decoder(func([]byte) bool { return false }, nil),
	Assemble: assembler("copilot", readCopilot),
}

func detectCopilot(h trace.Head) trace.Match {
	for _, r := range h.Records {
		kind := strings.Trim(string(r.Members["type"]), `"`)
		head, _, dotted := strings.Cut(kind, ".")
		if dotted && r.Has("data") && (head == "session" || head == "assistant" || head == "user" || head == "tool") {
			return trace.Match{OK: true}
		}
	}
	return trace.Match{}
}

func readCopilot(l *log, record []byte) {
	t := l.b.Trajectory
	data := build.MemberRaw(record, "data")
	s := said{at: moment(record, "timestamp"), model: text(data, "model")}
	content := raw(member(data, "content"))
	switch text(record, "type") {
	case "session.start", "session.resume":
		t.ID, t.Session = cmp.Or(text(data, "sessionId"), t.ID), cmp.Or(text(data, "sessionId"), t.Session)
		t.Model = cmp.Or(t.Model, text(data, "selectedModel"))
	case "session.model_change":
		t.Model = cmp.Or(t.Model, text(data, "newModel"))
	case "system.message":
		l.add([]build.Item{{Kind: build.ItemSystem, Value: content}}, s)
	case "user.message":
		l.add([]build.Item{{Kind: build.ItemUser, Value: content}}, s)
	case "assistant.message":
		items := []build.Item{{Kind: build.ItemText, Value: content, Opens: true}}
		if thought := raw(member(data, "reasoningText")); !thought.IsEmpty() {
			items = append(items, build.Item{Kind: build.ItemThought, Value: thought})
		}
		c := jsonscan.New(build.MemberRaw(data, "toolRequests"))
		for ok := c.Array(); ok && c.Element(); {
			one := c.Raw()
			items = append(items, build.Item{
				Kind: build.ItemCall, ID: []byte(text(one, "toolCallId")), Tool: []byte(text(one, "name")), Value: raw(member(one, "arguments")),
			})
		}
		if l.started { // its calls began before it was noted
			items = slices.DeleteFunc(items, func(it build.Item) bool { return it.Kind == build.ItemCall && len(l.calls(string(it.ID))) > 0 })
		}
		l.add(items, s)
	case "tool.execution_start":
		id := text(data, "toolCallId")
		if known := l.calls(id); len(known) > 0 {
			t.Calls[known[0]].Start = s.at
			return
		}
		if len(t.Turns) > 0 && !l.spoken() {
			l.inTurn = true
		}
		starts := !l.inTurn
		l.answered = false
		l.add([]build.Item{{Kind: build.ItemCall, ID: []byte(id), Tool: []byte(text(data, "toolName")), Value: raw(member(data, "arguments"))}}, s)
		l.started = starts
	case "tool.execution_complete":
		it := build.Item{Kind: build.ItemResult, ID: []byte(text(data, "toolCallId")), Value: raw(member(data, "result", "content"))}
		if it.Value.IsZero() {
			it.Value = raw(member(data, "result"))
		}
		switch string(build.MemberRaw(data, "success")) {
		case "true":
			it.Status = trace.StatusOK
		case "false":
			it.Status = trace.StatusFailed
			it.Err = raw(member(data, "error", "message"))
		}
		l.add([]build.Item{it}, s)
	}
}

// Kimi reads the events of a session of Kimi CLI, one a line, of its first and of its
// second form:
//
//	{"timestamp", "message": {"type": "ToolCall", "payload": {...}}}
//	{"type": "context.append_loop_event", "event": {"type": "tool.call", ...}, "time"}
//
// A step is a turn: what the model thinks, says and calls in it.
var Kimi = trace.Format{
	Name:     "kimi",
	Doc:      "Sessions of Kimi CLI: wire.jsonl.",
	Spec:     "https://moonshotai.github.io/kimi-cli/en/customization/wire-mode.html",
	Detect:   detectKimi,
	Decode:   decoder(func([]byte) bool { return false }, nil),
	Assemble: assembler("kimi", readKimi),
}

func detectKimi(h trace.Head) trace.Match {
	for _, r := range h.Records {
		inner := trace.NewHeadRecord(r.Members["message"], true)
		if r.Has("message") && inner.Has("type", "payload") {
			return trace.Match{OK: true}
		}
		switch kind := strings.Trim(string(r.Members["type"]), `"`); {
		case strings.HasPrefix(kind, "context.append_"), kind == "metadata" && r.Has("protocol_version"):
			return trace.Match{OK: true}
		}
	}
	return trace.Match{}
}

func readKimi(l *log, record []byte) {
	if build.HasMember(record, "type") {
		readKimiLoop(l, record)
		return
	}
	s := said{at: moment(record, "timestamp")}
	m := build.MemberRaw(record, "message")
	payload := build.MemberRaw(m, "payload")
	switch text(m, "type") {
	case "TurnBegin":
		items, _ := l.messages.Read(userMessage(build.MemberRaw(payload, "user_input")), false)
		l.add(items, s)
	case "StepBegin":
		l.inTurn = false
	case "ContentPart":
		switch text(payload, "type") {
		case "think":
			l.add([]build.Item{{Kind: build.ItemThought, Value: raw(member(payload, "think"))}}, s)
		default:
			l.add([]build.Item{{Kind: build.ItemText, Value: raw(member(payload, "text"))}}, s)
		}
	case "ToolCall":
		args := raw(member(payload, "function", "arguments"))
		if l.pieces = ""; build.InnerJSON(args) == nil { // more of them comes
			l.pieces, args = args.Text(), trace.Raw{}
		}
		l.add([]build.Item{{Kind: build.ItemCall, ID: []byte(text(payload, "id")), Tool: []byte(text(payload, "function", "name")), Value: args}}, s)
	case "ToolCallPart": // a piece of the arguments of the last call
		if calls := l.b.Trajectory.Calls; len(calls) > 0 {
			call := &calls[len(calls)-1]
			l.pieces += text(payload, "arguments_part")
			call.Args = trace.TextOf(l.pieces)
		}
	case "ToolResult":
		value := build.MemberRaw(payload, "return_value")
		if value == nil {
			value = build.MemberRaw(payload, "result")
		}
		it := build.Item{Kind: build.ItemResult, ID: []byte(text(payload, "tool_call_id")), Value: raw(member(value, "output")), Status: trace.StatusOK}
		if it.Value.IsEmpty() {
			it.Value = raw(member(value, "message"))
		}
		if string(build.MemberRaw(value, "is_error")) == "true" {
			it.Status = trace.StatusFailed
		}
		l.add([]build.Item{it}, s)
	case "StatusUpdate":
		if turns := l.b.Trajectory.Turns; len(turns) > 0 {
			if usage := build.MemberRaw(payload, "token_usage"); build.IsKind(usage, '{') {
				turns[len(turns)-1].Usage = build.ReadUsage(usage, &build.UsageSession)
			}
		}
	}
}

// readKimiLoop adds a line of the second form. What the user said stands twice, in
// turn.prompt and as a message; the message counts. A step that was broken off before
// the model said anything is no turn.
func readKimiLoop(l *log, record []byte) {
	t := l.b.Trajectory
	s := said{at: moment(record, "time")}
	switch text(record, "type") {
	case "config.update":
		t.Model = cmp.Or(t.Model, text(record, "modelAlias"))
		if prompt := raw(member(record, "systemPrompt")); !prompt.IsEmpty() {
			l.add([]build.Item{{Kind: build.ItemSystem, Value: prompt}}, s)
		}
	case "llm.tools_snapshot":
		if tools := member(record, "tools"); build.IsKind(tools, '[') {
			l.messages.Tools = append(l.messages.Tools, message.DefinitionsIn(l.b, tools)...)
		}
	case "llm.request":
		l.model = text(record, "model")
	case "context.append_message":
		items, _ := l.messages.Read(raw(member(record, "message")), false)
		if origin := text(record, "message", "origin", "kind"); origin != "" && origin != "user" && origin != "system_trigger" {
			programSpoke(items)
		}
		l.add(items, s)
	case "context.append_loop_event":
		event := member(record, "event")
		s.model = l.model
		switch text(event, "type") {
		case "step.begin":
			l.inTurn = false
		case "content.part":
			it := build.Item{Kind: build.ItemText, Value: raw(member(event, "part", "text"))}
			if text(event, "part", "type") == "think" {
				it = build.Item{Kind: build.ItemThought, Value: raw(member(event, "part", "think"))}
			}
			l.add([]build.Item{it}, s)
		case "tool.call":
			l.add([]build.Item{{Kind: build.ItemCall, ID: []byte(text(event, "toolCallId")), Tool: []byte(text(event, "name")), Value: raw(member(event, "args"))}}, s)
		case "tool.result":
			it := build.Item{Kind: build.ItemResult, ID: []byte(text(event, "toolCallId")), Value: raw(member(event, "result", "output")), Status: trace.StatusOK}
			if string(member(event, "result", "isError")) == "true" {
				it.Status = trace.StatusFailed
			}
			l.add([]build.Item{it}, s)
		case "step.end":
			if n := len(t.Turns); n > 0 && l.inTurn {
				t.Turns[n-1].End = s.at
				t.Turns[n-1].Usage = build.ReadUsage(member(event, "usage"), &build.UsageSession)
			}
		}
	}
}

// programSpoke makes messages of the user messages of the program, which spoke in the
// user's name.
func programSpoke(items []build.Item) {
	for i := range items {
		if items[i].Kind == build.ItemUser {
			items[i].Kind = build.ItemSystem
		}
	}
}

// userMessage returns a message of the user with a content.
func userMessage(content []byte) trace.Raw {
	if content == nil {
		return trace.Raw{}
	}
	return trace.JSONOf(append(append([]byte(`{"role":"user","content":`), content...), '}'))
}
