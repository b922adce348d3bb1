package sessions

import (
	"bytes"
	"cmp"
	"path"
	"path/filepath"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/internal/message"
)

// Messages reads messages of any form that package message knows, in envelopes in
// which agents and libraries keep them:
//
//	{"role", "message": {"content": [...]}}                 Cursor, a message a line
//	{"type": "message", "message": {"role", "content"}}     OpenClaw, Pi, Factory Droid
//	{"type", "sessionId", "message": {"role", "parts"}}     Qwen Code
//	{"info": {...}, "messages": [{"info", "parts"}]}        opencode
//	{"role", "content": [{"type": "toolRequest", ...}]}     goose
//	{"type": "user", "content", "toolCalls"}                Grok CLI
//	{"session_id", "tools", "messages": [...]}              Hermes, and others with messages and tools
//	{"lc": 1, "id": [..., "AIMessage"], "kwargs": {...}}    LangChain, dumped
//	{"object": "thread.run.step", "step_details": {...}}    OpenAI's Assistants, steps of runs
//	{"message_type": "tool_call_message", "tool_call"}      Letta
//	{"store": {"key": [...]}, "class_name"}                 LlamaIndex, a chat store
//	{"trajectory": {"tool_name_0", ...}, "reasoning"}       DSPy, a prediction of ReAct
//	{"conversations": [{"from", "value"}], "tools"}         ShareGPT, LLaMA-Factory
//	{"source", "type": "TextMessage", "content"}            AutoGen
//	{"kind": "request", "parts": [{"part_kind", ...}]}      pydantic-ai
//
// A record with a list of messages is a session; records that are messages are
// together the session of their file. A message of the model is a turn, and what it
// writes down as calls in its text is calls.
var Messages = trace.Format{
	General:  true,
	Name:     "messages",
	Doc:      "Messages of agents and libraries: Cursor, Cline, OpenClaw, Droid, Qwen Code, goose, AutoGen, LangGraph, pydantic-ai, ShareGPT.",
	Spec:     "https://opencode.ai/docs/cli/#export",
	Detect:   detectMessages,
	Decode:   decodeMessages,
	Assemble: assembleMessages,
}

// messageLists are the members that hold the messages of a session.
var messageLists = []string{"messages", "conversations", "conversation", "history", "trajectory", "items", "message_thread", "turns"}

// stateNames are the members in which libraries keep the state of a session, with the
// messages somewhere in it: AutoGen, LangGraph.
var stateNames = []string{"values", "channel_values", "llm_context", "state", "agent_state", "agent_states", "thread", "session_data", "data", "result"}

// messageList returns the messages of a session, nil if it has none.
func messageList(record []byte) []byte {
	if build.IsKind(record, '[') {
		return record
	}
	return listIn(record, 0)
}

// stateDepth is how deep messages stand in the state of a session at most.
const stateDepth = 6

func listIn(object []byte, depth int) []byte {
	members := trace.NewHeadRecord(object, false).Members
	for _, name := range messageLists {
		if list := members[name]; build.IsKind(list, '[') {
			return list
		}
	}
	if depth >= stateDepth {
		return nil
	}
	if agents := members["agent_states"]; build.IsKind(agents, '{') { // the thread of all, else what one knows
		var found []byte
		c := jsonscan.New(agents)
		for ok := c.Object(); ok && c.Member(); {
			one := c.Raw()
			if list := build.MemberRaw(one, "message_thread"); build.IsKind(list, '[') && len(bytes.TrimSpace(list[1:])) > 1 {
				return list
			}
			if list := listIn(one, depth+1); len(list) > len(found) {
				found = list
			}
		}
		return found
	}
	for _, name := range stateNames {
		if inner := members[name]; build.IsKind(inner, '{') {
			if list := listIn(inner, depth+1); list != nil {
				return list
			}
		}
	}
	return nil
}

func holdsMessages(record []byte) bool {
	return runSteps(record) != nil || otherOf(record) != nil || build.MemberRaw(record, "runs") != nil || messageList(record) != nil
}

// divideMessages returns the sessions of a record that holds several.
func divideMessages(record []byte) (out [][]byte) {
	members := trace.NewHeadRecord(record, false).Members
	if chats := members["store"]; build.IsKind(chats, '{') && build.HasMember(record, "class_name") { // LlamaIndex
		c := jsonscan.New(chats)
		for ok := c.Object(); ok && c.Member(); {
			if list := c.Raw(); build.IsKind(list, '[') {
				out = append(out, list)
			}
		}
		return out
	}
	for _, name := range []string{"test_cases", "testCases", "data"} {
		list := members[name]
		if !build.IsKind(list, '[') {
			continue
		}
		for one := range build.Elements(list) {
			if !build.IsKind(one, '{') || name == "data" && !build.HasMember(one, "agent_thoughts") {
				return [][]byte{record}
			}
			out = append(out, one)
		}
	}
	if out == nil {
		return [][]byte{record}
	}
	return out
}

// conversationKey returns the conversation that a record is a part of, and its place
// in that, "" for none.
func conversationKey(file string, record []byte) (string, int64) {
	if build.HasMember(record, "message_id") && build.IsKind(build.MemberRaw(record, "message"), '{') { // Strands: a file for each message
		c := jsonscan.New(build.MemberRaw(record, "message_id"))
		n, _ := c.Int()
		return path.Dir(filepath.ToSlash(file)), n
	}
	file += "#"
	if build.HasMember(record, "agent_thoughts") {
		return file + build.TextAt(record, "conversation_id"), build.MomentAt(record, "created_at").UnixNano()
	}
	if isRunStep(record) {
		return file + build.TextAt(record, "thread_id"), madeAt(record)
	}
	if build.HasMember(record, "values") { // the states of a thread, the last of which has all
		for _, path := range [][]string{{"checkpoint", "thread_id"}, {"config", "configurable", "thread_id"}, {"metadata", "thread_id"}, {"thread_id"}} {
			if id := build.TextAt(record, path...); id != "" {
				return file + id, int64(len(messageList(record)))
			}
		}
	}
	return "", 0
}

// readRuns adds the runs of a session of Agno, each with its messages, of which those
// that it repeats are marked.
func readRuns(l *log, runs []byte) {
	for run := range build.Elements(runs) {
		about(l, run)
		for one := range build.Elements(build.MemberRaw(run, "messages")) {
			if build.IsKind(one, '{') && string(build.MemberRaw(one, "from_history")) != "true" {
				readMessage(l, one)
			}
		}
	}
}

// readMessages adds the messages of a record.
func readMessages(l *log, record []byte) {
	t := l.Builder.Trajectory
	if steps := runSteps(record); steps != nil {
		for _, step := range steps {
			readRunStep(l, step)
		}
		return
	}
	if read := otherOf(record); read != nil {
		read(l, record)
		return
	}
	if runs := build.MemberRaw(record, "runs"); build.IsKind(runs, '[') {
		readRuns(l, runs)
		return
	}
	if list := messageList(record); list != nil {
		if build.IsKind(record, '{') {
			about(l, record)
		}
		for one := range build.Elements(list) {
			if build.IsKind(one, '{') && !readOtherRecord(l, one) {
				readMessage(l, one)
			}
		}
		return
	}
	kind := build.TextAt(record, "type")
	switch kind {
	case "session", "session_start", "session_meta", "session_info":
		t.ID, t.Session = cmp.Or(t.ID, build.TextAt(record, "id"), build.TextAt(record, "sessionId")), cmp.Or(t.Session, build.TextAt(record, "id"))
		return
	case "result", "completion", "complete": // the end of a stream, with its last answer again
		completed(l, record)
		if build.MemberRaw(record, "message") == nil && build.MemberRaw(record, "role") == nil {
			return
		}
	case "system":
		if build.TextAt(record, "subtype") == "init" {
			t.Model = cmp.Or(t.Model, build.TextAt(record, "model"))
			t.ID, t.Session = cmp.Or(t.ID, build.TextAt(record, "session_id")), cmp.Or(t.Session, build.TextAt(record, "session_id"))
			return
		}
	case "thinking_level_change", "compaction", "branch_summary", "custom", "label": // Pi's, about the conversation
		if !build.HasMember(record, "message") {
			return
		}
	case "model_change":
		t.Model = cmp.Or(t.Model, build.TextAt(record, "modelId"), build.TextAt(record, "model"))
		return
	}
	if id := cmp.Or(build.TextAt(record, "sessionId"), build.TextAt(record, "session_id"), build.TextAt(record, "sessionID")); id != "" {
		t.ID, t.Session = cmp.Or(t.ID, id), cmp.Or(t.Session, id)
	}
	if readOtherRecord(l, record) {
		return
	}
	if has := trace.NewHeadRecord(record, false).Has; has("working_dir") && !has("role") && !has("message") { // the first line of a session of goose
		about(l, record)
		return
	}
	readMessage(l, record)
}

// about reads what a record says about its session.
func about(l *log, record []byte) {
	t := l.Builder.Trajectory
	t.ID = cmp.Or(t.ID, build.TextAt(record, "session_id"), build.TextAt(record, "sessionId"), build.TextAt(record, "info", "id"), build.TextAt(record, "conversation_id"), build.TextAt(record, "id"))
	t.Session = cmp.Or(t.Session, build.TextAt(record, "session_id"), build.TextAt(record, "sessionId"), build.TextAt(record, "info", "id"))
	t.Model = cmp.Or(t.Model, build.TextAt(record, "model"))
	if tools := build.Raw(build.MemberRaw(record, "tools")); !tools.IsZero() {
		if list := build.InnerJSON(tools); build.IsKind(list, '[') {
			l.Messages.Tools = append(l.Messages.Tools, l.Builder.Definitions(list)...)
		}
	}
	for _, name := range []string{"system", "system_prompt", "systemPrompt"} {
		if system := build.Raw(build.MemberRaw(record, name)); system.Form == trace.FormString && !system.IsEmpty() {
			l.Builder.Message(trace.RoleSystem, system)
			break
		}
	}
}

// readMessage adds a message with its envelope.
func readMessage(l *log, record []byte) {
	inner := record
	role := build.TextAt(record, "role")
	kind := build.TextAt(record, "type")
	if m := build.MemberRaw(record, "message"); build.IsKind(m, '{') {
		inner = m
		if kind == "system" || kind != "message" && role == "" && build.TextAt(m, "role") == "" {
			role = kind
		}
	} else if build.IsKind(build.MemberRaw(record, "info"), '{') { // opencode
		role = build.TextAt(record, "info", "role")
	} else if role == "" {
		role = map[string]string{"user": "user", "assistant": "assistant", "system": "system", "tool_result": "tool", "tool_call": "tool_call"}[kind]
	}
	if build.TextAt(inner, "role") == "" && role != "" {
		inner = append(jsonscan.AppendQuoted([]byte(`{"role":`), role), append([]byte{','}, bytes.TrimLeft(inner, " \t\r\n{")...)...)
		if c := jsonscan.New(inner); c.End() != nil {
			return
		}
	}
	s := message.Said{
		At:  build.MomentAt(record, "timestamp", "info.time.created", "time.created", "created_at", "createdAt", "created", "message.timestamp", "ts"),
		End: build.MomentAt(record, "info.time.completed", "time.completed"),
		Model: cmp.Or(build.TextAt(record, "model"), build.TextAt(record, "model_id"), build.TextAt(inner, "model"), build.TextAt(record, "info", "modelID"), build.TextAt(record, "modelInfo", "modelId"), build.TextAt(inner, "model_name"),
			build.TextAt(inner, "meta", "model"), build.TextAt(record, "kwargs", "response_metadata", "model_name"), build.TextAt(record, "data", "response_metadata", "model_name")),
	}
	if s.Usage = usageOf(inner, record, build.MemberRaw(inner, "metadata"), build.MemberRaw(inner, "meta"), build.MemberRaw(record, "kwargs"), build.MemberRaw(record, "data")); !s.Usage.Known {
		s.Usage = build.ReadUsage(build.MemberRaw(record, "info", "tokens"), &build.UsageSession)
	}
	if tokens := build.MemberRaw(record, "metrics", "tokens"); tokens != nil && !s.Usage.Known {
		s.Usage = build.ReadUsage(tokens, &build.UsageCline)
	}
	for _, step := range stepsOf(inner) {
		items, _ := l.Messages.Read(trace.JSONOf(step), false)
		told(l, record, items, s)
		s.Usage = trace.Usage{} // of all steps together
	}
}

// stepsOf returns a message of the AI SDK as one for each response of the model, which
// parts of the type step-start begin.
func stepsOf(message []byte) [][]byte {
	parts := build.MemberRaw(message, "parts")
	if parts == nil {
		parts = build.MemberRaw(message, "content", "parts") // Mastra
	}
	if !bytes.Contains(parts, []byte(`"step-start"`)) || !build.IsKind(parts, '[') {
		return [][]byte{message}
	}
	var steps, step [][]byte
	n := 0
	end := func() {
		if step != nil {
			steps = append(steps, build.Object("role", build.TextAt(message, "role"), "parts", build.List(step)))
		}
		step = nil
	}
	for part := range build.Elements(parts) {
		if build.TextAt(part, "type") != "step-start" {
			step = append(step, part)
		} else if n++; n > 1 {
			end()
		}
	}
	if n < 2 || step == nil {
		return [][]byte{message}
	}
	end()
	return steps
}

// completed reads the end of a stream: the last answer, which some write nowhere else,
// and the tokens of the whole run, where nothing else counts any.
func completed(l *log, record []byte) {
	t := l.Builder.Trajectory
	answer := build.Raw(build.MemberRaw(record, "finalText"))
	if n := len(t.Turns); !answer.IsEmpty() && (n == 0 || l.Answered || t.Turns[n-1].Text.IsEmpty()) {
		l.InTurn = false
		l.Add([]build.Item{{Kind: build.ItemText, Value: answer}}, message.Said{At: build.MomentAt(record, "timestamp")})
	}
	if !build.HasMember(record, "finalText") {
		return
	}
	for i := range t.Turns {
		if t.Turns[i].Usage.Known {
			return
		}
	}
	if n := len(t.Turns); n > 0 {
		t.Turns[n-1].Usage = usageOf(record)
	}
}

// told adds the items of a message.
func told(l *log, record []byte, items []build.Item, s message.Said) {
	if build.TextAt(record, "subtype") == "notification" || build.TextAt(record, "synthetic_reason") != "" {
		programSpoke(items)
	}
	l.Add(items, s)
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
