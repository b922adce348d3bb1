package sessions

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/internal/message"
)

// otherSession is a session that is no list of messages.
type otherSession struct {
	is   func(has func(...string) bool) bool
	read entry
}

// otherSessions are the sessions that are kept as no list of messages.
var otherSessions = []otherSession{
	{func(has func(...string) bool) bool { return has("chat") && !has("messages") }, readChatText},
	{func(has func(...string) bool) bool { return has("query", "answers", "tools") }, readQuery},
	{func(has func(...string) bool) bool { return has("input", "actual_output", "tools_called") }, readTestCase},
	{func(has func(...string) bool) bool { return has("trajectory", "reasoning") && !has("messages") }, readReAct},
}

// otherOf returns how a session that is no list of messages is read, nil if it is one.
func otherOf(record []byte) entry {
	if !build.IsKind(record, '{') {
		return nil
	}
	has := trace.NewHeadRecord(record, false).Has
	for _, s := range otherSessions {
		if s.is(has) {
			return s.read
		}
	}
	return nil
}

// chatTurn begins what somebody said in the text of a conversation.
var chatTurn = regexp.MustCompile(`(?m)^(SYSTEM|USER|ASSISTANT|FUNCTION RESPONSE): ?`)

// quotedArguments are those of a call that glaive's data set has as a text in single
// quotes, which is no JSON.
var quotedArguments = regexp.MustCompile(`(?s)^\s*\{\s*"name":\s*("[^"]*"),\s*"arguments":\s*'(.*)'\s*\}`)

// readChatText adds a conversation that is one text, as glaive's data set has it:
//
//	{"system": "SYSTEM: ...", "chat": "USER: ...\n\n\nASSISTANT: <functioncall> {...} <|endoftext|>..."}
func readChatText(l *log, record []byte) {
	chat := build.TextAt(record, "system") + "\n" + build.TextAt(record, "chat")
	found := chatTurn.FindAllStringSubmatchIndex(chat, -1)
	for i, at := range found {
		end := len(chat)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		said := strings.TrimSpace(strings.ReplaceAll(chat[at[1]:end], "<|endoftext|>", ""))
		switch value := trace.TextOf(said); chat[at[2]:at[3]] {
		case "SYSTEM":
			l.Add([]build.Item{{Kind: build.ItemSystem, Value: value}}, said0)
		case "USER":
			l.Add([]build.Item{{Kind: build.ItemUser, Value: value}}, said0)
		case "FUNCTION RESPONSE":
			l.Add([]build.Item{{Kind: build.ItemResult, Value: value}}, said0)
		default:
			before, call, ok := strings.Cut(said, "<functioncall>")
			items := []build.Item{{Kind: build.ItemText, Value: trace.TextOf(strings.TrimSpace(before)), Opens: true}}
			if ok {
				items = append(items, functionCall(l, strings.TrimSpace(call)))
			}
			l.Add(items, said0)
		}
	}
}

// said0 is what is known of a message without an envelope.
var said0 message.Said

// functionCall returns the call in a text.
func functionCall(l *log, call string) build.Item {
	if found := quotedArguments.FindStringSubmatch(call); found != nil {
		name := jsonscan.New([]byte(found[1]))
		tool, _ := name.Text()
		return build.Item{Kind: build.ItemCall, Tool: tool, Value: trace.TextOf(strings.ReplaceAll(found[2], `\'`, `'`))}
	}
	items, _ := l.Messages.Read(trace.JSONOf(build.Object("role", "function_call", "content", call)), false)
	for _, it := range items {
		if it.Kind == build.ItemCall {
			return it
		}
	}
	return build.Item{Kind: build.ItemCall} // counted as one without a name
}

// readQuery adds what a user asked with the calls that answer it, as function calling
// data sets have it: {"query", "answers": [{"name", "arguments"}], "tools"}.
func readQuery(l *log, record []byte) {
	about(l, record)
	l.Add([]build.Item{{Kind: build.ItemUser, Value: build.Raw(build.MemberRaw(record, "query"))}}, said0)
	l.Add(callItems(l, build.InnerJSON(build.Raw(build.MemberRaw(record, "answers")))), said0)
}

// callItems returns the calls of a list, in one response.
func callItems(l *log, list []byte) []build.Item {
	if list == nil {
		return nil
	}
	items, _ := l.Messages.Read(trace.JSONOf(build.Object("role", "assistant", "content", "", "tool_calls", list)), true)
	return items
}

// readTestCase adds a test case of DeepEval: what was asked, the tools that were called
// for it, and the answer. It does not say which calls were made at once: they are read
// as one turn, the answer as another.
func readTestCase(l *log, record []byte) {
	l.Add([]build.Item{{Kind: build.ItemUser, Value: build.Raw(build.MemberRaw(record, "input"))}}, said0)
	if list := build.MemberRaw(record, "tools_called"); build.IsKind(list, '[') && len(bytes.TrimSpace(list[1:])) > 1 {
		l.Add(callItems(l, list), said0)
	}
	l.Add([]build.Item{{Kind: build.ItemText, Value: build.Raw(build.MemberRaw(record, "actual_output")), Opens: true}}, said0)
}

// reActAsks are the inputs that a ReAct module mostly has.
var reActAsks = []string{"question", "query", "user_request", "input", "task", "prompt", "request"}

// readReAct adds a prediction of DSPy's ReAct, whose steps are members with a number:
//
//	{"trajectory": {"thought_0", "tool_name_0", "tool_args_0", "observation_0", ...}, "reasoning", "answer"}
//
// A step is a turn. The tool "finish", by which the module ends its steps, is a call of
// the model like others. What the module answers is a turn of its own, because another
// request writes it.
func readReAct(l *log, record []byte) {
	for _, name := range reActAsks {
		if asked := build.Raw(build.MemberRaw(record, name)); asked.Form == trace.FormString {
			l.Add([]build.Item{{Kind: build.ItemUser, Value: asked}}, said0)
			break
		}
	}
	steps := trace.NewHeadRecord(build.MemberRaw(record, "trajectory"), false).Members
	for i := range len(steps) {
		of := func(name string) trace.Raw { return build.Raw(steps[name+"_"+strconv.Itoa(i)]) }
		tool := of("tool_name")
		if tool.IsZero() {
			break
		}
		l.Add([]build.Item{
			{Kind: build.ItemThought, Value: of("thought"), Opens: true},
			{Kind: build.ItemCall, Tool: tool.Content(), Value: of("tool_args")},
		}, said0)
		if seen := of("observation"); !seen.IsZero() {
			it := build.Item{Kind: build.ItemResult, Tool: tool.Content(), Value: seen}
			if bytes.HasPrefix(seen.Content(), []byte("Execution error in ")) {
				it.Status, it.Err = trace.StatusFailed, seen
			}
			l.Add([]build.Item{it}, said0)
		}
	}
	answer := build.Raw(build.MemberRaw(record, "answer"))
	if answer.IsZero() {
		answer = build.Raw(build.MemberRaw(record, "reasoning"))
	}
	l.Add([]build.Item{{Kind: build.ItemText, Value: answer, Opens: true}}, said0)
}

// isLetta reports whether a message is one of Letta's, which say in message_type what
// they are.
func isLetta(record []byte) bool {
	return strings.HasSuffix(build.TextAt(record, "message_type"), "_message")
}

// readLetta adds a message of an agent of Letta. Its thoughts, calls and texts are
// messages of their own, which a response has in common with its id.
func readLetta(l *log, record []byte) {
	s := message.Said{At: build.MomentAt(record, "date")}
	content := build.Raw(build.MemberRaw(record, "content"))
	switch build.TextAt(record, "message_type") {
	case "user_message":
		l.Add([]build.Item{{Kind: build.ItemUser, Value: content}}, s)
	case "system_message":
		l.Add([]build.Item{{Kind: build.ItemSystem, Value: content}}, s)
	case "reasoning_message", "hidden_reasoning_message":
		l.Add([]build.Item{{Kind: build.ItemThought, Value: build.Raw(build.MemberRaw(record, "reasoning"))}}, s)
	case "assistant_message":
		l.Add([]build.Item{{Kind: build.ItemText, Value: content}}, s)
	case "tool_call_message", "approval_request_message":
		calls := build.MemberRaw(record, "tool_calls")
		if one := build.MemberRaw(record, "tool_call"); build.IsKind(one, '{') && !build.IsKind(calls, '[') {
			calls = append(append([]byte{'['}, one...), ']')
		}
		l.Add(slices.DeleteFunc(callItems(l, calls), func(it build.Item) bool { return it.Kind != build.ItemCall }), s)
	case "tool_return_message":
		it := build.Item{Kind: build.ItemResult, ID: []byte(build.TextAt(record, "tool_call_id")), Value: build.Raw(build.MemberRaw(record, "tool_return"))}
		switch build.TextAt(record, "status") {
		case "success":
			it.Status = trace.StatusOK
		case "error":
			it.Status = trace.StatusFailed
		}
		l.Add([]build.Item{it}, s)
	}
}

// readStep adds a step that smolagents keeps in the memory of an agent: the task, or
// what the model answered, called and observed.
func readStep(l *log, record []byte) {
	if task := build.Raw(build.MemberRaw(record, "task")); !task.IsZero() && !build.HasMember(record, "step_number") {
		l.Add([]build.Item{{Kind: build.ItemUser, Value: task}}, said0)
		return
	}
	if prompt := build.Raw(build.MemberRaw(record, "system_prompt")); !prompt.IsZero() {
		l.Add([]build.Item{{Kind: build.ItemSystem, Value: prompt}}, said0)
		return
	}
	s := message.Said{At: build.MomentAt(record, "timing.start_time", "start_time"), End: build.MomentAt(record, "timing.end_time", "end_time")}
	s.Usage = build.ReadUsage(build.MemberRaw(record, "token_usage"), &build.UsageResponses)
	items := []build.Item{{Kind: build.ItemText, Value: build.Raw(build.MemberRaw(record, "model_output")), Opens: true}}
	calls := 0
	if list := build.MemberRaw(record, "tool_calls"); build.IsKind(list, '[') {
		for _, it := range callItems(l, list) {
			if it.Kind == build.ItemCall {
				items = append(items, it)
				calls++
			}
		}
	}
	l.Add(items, s)
	result := build.Raw(build.MemberRaw(record, "observations"))
	if result.IsEmpty() {
		result = build.Raw(build.MemberRaw(record, "action_output"))
	}
	failure := build.Raw(build.MemberRaw(record, "error"))
	if failure.Form == trace.FormJSON {
		failure = build.Raw(build.MemberRaw(failure.Data, "message"))
	}
	for ; calls > 0 && (!result.IsZero() || !failure.IsZero()); calls-- { // one text for all of them
		it := build.Item{Kind: build.ItemResult, Value: result, Status: trace.StatusOK}
		if !failure.IsZero() {
			it.Status, it.Err = trace.StatusFailed, failure
		}
		l.Add([]build.Item{it}, s)
	}
}

// isStep reports whether a record is a step of smolagents.
func isStep(has func(...string) bool) bool {
	return has("step_number") && (has("model_output") || has("observations") || has("tool_calls"))
}

// readThoughts adds a message of Dify with what its agent thought and called:
//
//	{"query", "answer", "agent_thoughts": [{"thought", "tool", "tool_input", "observation"}]}
//
// Several tools of a thought have their names with semicolons between, and their inputs
// and observations by name.
func readThoughts(l *log, record []byte) {
	t := l.Builder.Trajectory
	if id := build.TextAt(record, "conversation_id"); id != "" {
		t.ID, t.Session = id, id
	}
	s := message.Said{At: build.MomentAt(record, "created_at")}
	l.Add([]build.Item{{Kind: build.ItemUser, Value: build.Raw(build.MemberRaw(record, "query"))}}, s)
	answered := false
	for thought := range build.Elements(build.MemberRaw(record, "agent_thoughts")) {
		s := message.Said{At: build.MomentAt(thought, "created_at")}
		items := []build.Item{{Kind: build.ItemText, Value: build.Raw(build.MemberRaw(thought, "thought")), Opens: true}}
		var results []build.Item
		input, output := build.InnerJSON(build.Raw(build.MemberRaw(thought, "tool_input"))), build.Raw(build.MemberRaw(thought, "observation"))
		answered = true
		for tool := range strings.SplitSeq(build.TextAt(thought, "tool"), ";") {
			if tool == "" {
				continue
			}
			answered = false
			args, result := input, output
			if own := build.MemberRaw(input, tool); own != nil {
				args = own
			}
			if own := build.MemberRaw(build.InnerJSON(output), tool); own != nil {
				result = build.Raw(own)
			}
			items = append(items, build.Item{Kind: build.ItemCall, Tool: []byte(tool), Value: build.Raw(args)})
			if !result.IsEmpty() {
				results = append(results, build.Item{Kind: build.ItemResult, Tool: []byte(tool), Value: result})
			}
		}
		l.Add(items, s)
		l.Add(results, s)
	}
	if answer := build.Raw(build.MemberRaw(record, "answer")); !answered && !answer.IsEmpty() {
		l.Add([]build.Item{{Kind: build.ItemText, Value: answer, Opens: true}}, s)
	}
}

// readStream adds an event that coding agents stream, besides their messages: calls
// and results of Factory Droid, and Cursor's, which has both in one object by the kind
// of tool. It returns false if the record is none.
func readStream(l *log, record []byte) bool {
	s := message.Said{At: build.MomentAt(record, "timestamp", "timestamp_ms")}
	switch build.TextAt(record, "type") {
	case "tool_call":
		id := cmpText(record, "call_id", "id")
		wrapped := jsonscan.New(build.MemberRaw(record, "tool_call"))
		for ok := wrapped.Object(); ok && wrapped.Member(); { // Cursor: {"readToolCall": {"args", "result"}}
			name := strings.TrimSuffix(string(wrapped.Key()), "ToolCall")
			call := wrapped.Raw()
			if !build.IsKind(call, '{') {
				continue
			}
			args := build.MemberRaw(call, "args")
			if name == "function" {
				name, args = build.TextAt(call, "name"), build.MemberRaw(call, "arguments")
			} else if name == "mcp" && build.TextAt(call, "args", "toolName") != "" {
				name, args = "mcp__"+build.TextAt(call, "args", "providerIdentifier")+"__"+build.TextAt(call, "args", "toolName"), build.MemberRaw(call, "args", "args")
			}
			if build.TextAt(record, "subtype") != "completed" || len(l.Calls(id)) == 0 {
				callLater(l, build.Item{Kind: build.ItemCall, ID: []byte(id), Tool: []byte(name), Value: build.Raw(args)}, s)
			}
			if result := build.MemberRaw(call, "result"); result != nil && build.TextAt(record, "subtype") == "completed" {
				it := build.Item{Kind: build.ItemResult, ID: []byte(id), Value: build.Raw(result), Status: trace.StatusOK}
				if good := build.MemberRaw(result, "success"); good != nil {
					it.Value = build.Raw(good)
				} else if bad := build.MemberRaw(result, "error"); bad != nil {
					it.Value, it.Err, it.Status = build.Raw(bad), build.Raw(bad), trace.StatusFailed
				}
				l.Add([]build.Item{it}, s)
			}
			return true
		}
		name := cmpText(record, "toolName", "toolId", "name")
		if name == "" {
			return false
		}
		args := build.MemberRaw(record, "parameters")
		if args == nil {
			args = build.MemberRaw(record, "input")
		}
		callLater(l, build.Item{Kind: build.ItemCall, ID: []byte(id), Tool: []byte(name), Value: build.Raw(args)}, s)
		return true
	case "backend_tool_call": // Grok's, of a tool of the interface itself
		kind := build.MemberRaw(record, "kind")
		it := build.Item{Kind: build.ItemCall, ID: []byte(build.TextAt(kind, "id")), Tool: []byte(build.TextAt(kind, "tool_type")), Value: build.Raw(build.MemberRaw(kind, "action"))}
		if build.TextAt(kind, "status") == "completed" {
			it.Answered, it.Status = true, trace.StatusOK
		}
		starts := !l.InTurn || l.Answered
		callLater(l, it, s)
		l.Started = starts
		return true
	case "function_call": // CodeBuddy's has no id
		if build.HasMember(record, "call_id") || build.TextAt(record, "name") == "" {
			return false
		}
		callLater(l, build.Item{Kind: build.ItemCall, Tool: []byte(build.TextAt(record, "name")), Value: build.Raw(build.MemberRaw(record, "arguments"))}, s)
		return true
	case "function_call_result":
		l.Add([]build.Item{{Kind: build.ItemResult, ID: []byte(cmpText(record, "callId", "call_id", "id")), Tool: []byte(build.TextAt(record, "name")), Value: build.Raw(build.MemberRaw(record, "output"))}}, s)
		return true
	case "tool_result":
		if !build.HasMember(record, "value") && !build.HasMember(record, "isError") {
			return false
		}
		it := build.Item{Kind: build.ItemResult, ID: []byte(build.TextAt(record, "id")), Tool: []byte(cmpText(record, "toolName", "toolId")), Value: build.Raw(build.MemberRaw(record, "value")), Status: trace.StatusOK}
		if string(build.MemberRaw(record, "isError")) == "true" {
			it.Status = trace.StatusFailed
			if it.Value.IsZero() {
				it.Value = build.Raw(build.MemberRaw(record, "error"))
			}
		}
		l.Add([]build.Item{it}, s)
		return true
	}
	return false
}

// callLater adds a call that stands behind the message whose it is.
func callLater(l *log, it build.Item, s message.Said) {
	l.InTurn = (l.InTurn || len(l.Builder.Trajectory.Turns) > 0 && !l.Spoken()) && !l.Answered
	l.Add([]build.Item{it}, s)
}

// cmpText returns the first of some members that is a text and not empty.
func cmpText(object []byte, names ...string) string {
	for _, name := range names {
		if value := build.TextAt(object, name); value != "" {
			return value
		}
	}
	return ""
}

// readOtherRecord adds a record of a file that is neither a message nor a session. It
// returns false if it is none that is known.
func readOtherRecord(l *log, record []byte) bool {
	has := trace.NewHeadRecord(record, false).Has
	switch {
	case has("object", "step_details"):
		readRunStep(l, record)
	case has("message_type") && isLetta(record):
		readLetta(l, record)
	case has("agent_thoughts", "query"):
		readThoughts(l, record)
	case isStep(has), has("task") && !has("role"), has("system_prompt") && !has("role") && !has("messages"):
		readStep(l, record)
	default:
		return readStream(l, record)
	}
	return true
}

// usageOf reads the token counts beside a message.
func usageOf(objects ...[]byte) (u trace.Usage) {
	for _, object := range objects {
		for _, name := range []string{"usage", "usageMetadata", "usage_metadata", "models_usage", "metrics"} {
			usage := build.MemberRaw(object, name)
			if !build.IsKind(usage, '{') {
				continue
			}
			wrap := name
			if name != "usageMetadata" && name != "usage_metadata" {
				wrap = "usage"
			}
			if u, _ = message.FindUsage(append(append([]byte(`{"`+wrap+`":`), usage...), '}')); u.Known {
				return u
			}
			if u = build.ReadUsage(usage, &build.UsageSession); u.Known {
				return u
			}
		}
	}
	return u
}
