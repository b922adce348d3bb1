package sessions

import (
	"cmp"
	"slices"
	"strings"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/internal/message"
	"github.com/awo-dev/awo/trace/formats/internal/sessionlog"
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
	t := l.Builder.Trajectory
	data := build.MemberRaw(record, "data")
	s := sessionlog.Said{At: sessionlog.Moment(record, "timestamp"), Model: sessionlog.Text(data, "model")}
	content := sessionlog.Raw(sessionlog.Member(data, "content"))
	switch sessionlog.Text(record, "type") {
	case "session.start", "session.resume":
		t.ID, t.Session = cmp.Or(sessionlog.Text(data, "sessionId"), t.ID), cmp.Or(sessionlog.Text(data, "sessionId"), t.Session)
		t.Model = cmp.Or(t.Model, sessionlog.Text(data, "selectedModel"))
	case "session.model_change":
		t.Model = cmp.Or(t.Model, sessionlog.Text(data, "newModel"))
	case "system.message":
		l.Add([]build.Item{{Kind: build.ItemSystem, Value: content}}, s)
	case "user.message":
		l.Add([]build.Item{{Kind: build.ItemUser, Value: content}}, s)
	case "assistant.message":
		items := []build.Item{{Kind: build.ItemText, Value: content, Opens: true}}
		if thought := sessionlog.Raw(sessionlog.Member(data, "reasoningText")); !thought.IsEmpty() {
			items = append(items, build.Item{Kind: build.ItemThought, Value: thought})
		}
		c := jsonscan.New(build.MemberRaw(data, "toolRequests"))
		for ok := c.Array(); ok && c.Element(); {
			one := c.Raw()
			items = append(items, build.Item{
				Kind: build.ItemCall, ID: []byte(sessionlog.Text(one, "toolCallId")), Tool: []byte(sessionlog.Text(one, "name")), Value: sessionlog.Raw(sessionlog.Member(one, "arguments")),
			})
		}
		if l.Started { // its calls began before it was noted
			items = slices.DeleteFunc(items, func(it build.Item) bool { return it.Kind == build.ItemCall && len(l.Calls(string(it.ID))) > 0 })
		}
		l.Add(items, s)
	case "tool.execution_start":
		id := sessionlog.Text(data, "toolCallId")
		if known := l.Calls(id); len(known) > 0 {
			t.Calls[known[0]].Start = s.At
			return
		}
		if len(t.Turns) > 0 && !l.Spoken() {
			l.InTurn = true
		}
		starts := !l.InTurn
		l.Answered = false
		l.Add([]build.Item{{Kind: build.ItemCall, ID: []byte(id), Tool: []byte(sessionlog.Text(data, "toolName")), Value: sessionlog.Raw(sessionlog.Member(data, "arguments"))}}, s)
		l.Started = starts
	case "tool.execution_complete":
		it := build.Item{Kind: build.ItemResult, ID: []byte(sessionlog.Text(data, "toolCallId")), Value: sessionlog.Raw(sessionlog.Member(data, "result", "content"))}
		if it.Value.IsZero() {
			it.Value = sessionlog.Raw(sessionlog.Member(data, "result"))
		}
		switch string(build.MemberRaw(data, "success")) {
		case "true":
			it.Status = trace.StatusOK
		case "false":
			it.Status = trace.StatusFailed
			it.Err = sessionlog.Raw(sessionlog.Member(data, "error", "message"))
		}
		l.Add([]build.Item{it}, s)
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
	s := sessionlog.Said{At: sessionlog.Moment(record, "timestamp")}
	m := build.MemberRaw(record, "message")
	payload := build.MemberRaw(m, "payload")
	switch sessionlog.Text(m, "type") {
	case "TurnBegin":
		items, _ := l.Messages.Read(userMessage(build.MemberRaw(payload, "user_input")), false)
		l.Add(items, s)
	case "StepBegin":
		l.InTurn = false
	case "ContentPart":
		switch sessionlog.Text(payload, "type") {
		case "think":
			l.Add([]build.Item{{Kind: build.ItemThought, Value: sessionlog.Raw(sessionlog.Member(payload, "think"))}}, s)
		default:
			l.Add([]build.Item{{Kind: build.ItemText, Value: sessionlog.Raw(sessionlog.Member(payload, "text"))}}, s)
		}
	case "ToolCall":
		args := sessionlog.Raw(sessionlog.Member(payload, "function", "arguments"))
		if l.Pieces = ""; build.InnerJSON(args) == nil { // more of them comes
			l.Pieces, args = args.Text(), trace.Raw{}
		}
		l.Add([]build.Item{{Kind: build.ItemCall, ID: []byte(sessionlog.Text(payload, "id")), Tool: []byte(sessionlog.Text(payload, "function", "name")), Value: args}}, s)
	case "ToolCallPart": // a piece of the arguments of the last call
		if calls := l.Builder.Trajectory.Calls; len(calls) > 0 {
			call := &calls[len(calls)-1]
			l.Pieces += sessionlog.Text(payload, "arguments_part")
			call.Args = trace.TextOf(l.Pieces)
		}
	case "ToolResult":
		value := build.MemberRaw(payload, "return_value")
		if value == nil {
			value = build.MemberRaw(payload, "result")
		}
		it := build.Item{Kind: build.ItemResult, ID: []byte(sessionlog.Text(payload, "tool_call_id")), Value: sessionlog.Raw(sessionlog.Member(value, "output")), Status: trace.StatusOK}
		if it.Value.IsEmpty() {
			it.Value = sessionlog.Raw(sessionlog.Member(value, "message"))
		}
		if string(build.MemberRaw(value, "is_error")) == "true" {
			it.Status = trace.StatusFailed
		}
		l.Add([]build.Item{it}, s)
	case "StatusUpdate":
		if turns := l.Builder.Trajectory.Turns; len(turns) > 0 {
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
	t := l.Builder.Trajectory
	s := sessionlog.Said{At: sessionlog.Moment(record, "time")}
	switch sessionlog.Text(record, "type") {
	case "config.update":
		t.Model = cmp.Or(t.Model, sessionlog.Text(record, "modelAlias"))
		if prompt := sessionlog.Raw(sessionlog.Member(record, "systemPrompt")); !prompt.IsEmpty() {
			l.Add([]build.Item{{Kind: build.ItemSystem, Value: prompt}}, s)
		}
	case "llm.tools_snapshot":
		if tools := sessionlog.Member(record, "tools"); build.IsKind(tools, '[') {
			l.Messages.Tools = append(l.Messages.Tools, message.DefinitionsIn(l.Builder, tools)...)
		}
	case "llm.request":
		l.Model = sessionlog.Text(record, "model")
	case "context.append_message":
		items, _ := l.Messages.Read(sessionlog.Raw(sessionlog.Member(record, "message")), false)
		if origin := sessionlog.Text(record, "message", "origin", "kind"); origin != "" && origin != "user" && origin != "system_trigger" {
			programSpoke(items)
		}
		l.Add(items, s)
	case "context.append_loop_event":
		event := sessionlog.Member(record, "event")
		s.Model = l.Model
		switch sessionlog.Text(event, "type") {
		case "step.begin":
			l.InTurn = false
		case "content.part":
			it := build.Item{Kind: build.ItemText, Value: sessionlog.Raw(sessionlog.Member(event, "part", "text"))}
			if sessionlog.Text(event, "part", "type") == "think" {
				it = build.Item{Kind: build.ItemThought, Value: sessionlog.Raw(sessionlog.Member(event, "part", "think"))}
			}
			l.Add([]build.Item{it}, s)
		case "tool.call":
			l.Add([]build.Item{{Kind: build.ItemCall, ID: []byte(sessionlog.Text(event, "toolCallId")), Tool: []byte(sessionlog.Text(event, "name")), Value: sessionlog.Raw(sessionlog.Member(event, "args"))}}, s)
		case "tool.result":
			it := build.Item{Kind: build.ItemResult, ID: []byte(sessionlog.Text(event, "toolCallId")), Value: sessionlog.Raw(sessionlog.Member(event, "result", "output")), Status: trace.StatusOK}
			if string(sessionlog.Member(event, "result", "isError")) == "true" {
				it.Status = trace.StatusFailed
			}
			l.Add([]build.Item{it}, s)
		case "step.end":
			if n := len(t.Turns); n > 0 && l.InTurn {
				t.Turns[n-1].End = s.At
				t.Turns[n-1].Usage = build.ReadUsage(sessionlog.Member(event, "usage"), &build.UsageSession)
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
