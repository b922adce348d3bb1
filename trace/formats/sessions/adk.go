package sessions

import (
	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/internal/message"
	"github.com/awo-dev/awo/trace/formats/internal/sessionlog"
)

// ADK reads sessions of Google's Agent Development Kit, and its sets of evaluations:
//
//	{"id", "events": [{"author", "content": {"role", "parts"}, "timestamp"}]}
//	{"eval_set_id", "eval_cases": [{"eval_id", "conversation": [...]}]}
//
// Contents are Gemini's. An evaluation has the calls of an invocation and its last
// answer, and not which calls were made at once: they are one turn, the answer
// another.
var ADK = trace.Format{
	Name:     "adk",
	Doc:      "Sessions and evaluation sets of Google's Agent Development Kit.",
	Spec:     "https://google.github.io/adk-docs/sessions/session/",
	Detect:   detectADK,
	Decode:   decoder(func([]byte) bool { return true }, evalCases),
	Assemble: assembler("", readADK),
}

func detectADK(h trace.Head) trace.Match {
	for _, r := range h.Records {
		events := r.Members["events"]
		if r.Has("eval_cases") || r.Has("evalCases") || r.Has("conversation", "eval_id") {
			return trace.Match{OK: true}
		}
		c := jsonscan.New(events)
		if c.Array() && c.Element() {
			if first := trace.NewHeadRecord(events[c.Offset():], true); first.Has("author") && (first.Has("content") || first.Has("invocation_id") || first.Has("invocationId")) {
				return trace.Match{OK: true}
			}
		}
	}
	return trace.Match{}
}

// evalCases returns the cases of a set of evaluations, or the record.
func evalCases(record []byte) (cases [][]byte) {
	for _, name := range []string{"eval_cases", "evalCases"} {
		c := jsonscan.New(build.MemberRaw(record, name))
		for ok := c.Array(); ok && c.Element(); {
			cases = append(cases, c.Raw())
		}
	}
	if cases == nil {
		return [][]byte{record}
	}
	return cases
}

// first returns the first of some members of an object.
func first(object []byte, names ...string) []byte {
	for _, name := range names {
		if value := build.MemberRaw(object, name); value != nil && string(value) != "null" {
			return value
		}
	}
	return nil
}

// saysSomething reports whether a content has a part that says something: an invocation
// that ended with a call has one without.
func saysSomething(content []byte) bool {
	c := jsonscan.New(build.MemberRaw(content, "parts"))
	for ok := c.Array(); ok && c.Element(); {
		for ok := c.Object(); ok && c.Member(); {
			if c.Kind() != jsonscan.Null {
				return true
			}
		}
	}
	return false
}

func readADK(l *log, record []byte) {
	t := l.Builder.Trajectory
	t.ID = sessionlog.Text(record, "eval_id")
	if t.ID == "" {
		t.ID = sessionlog.Text(record, "id")
	}
	t.Session = t.ID
	contents := func(content []byte, s sessionlog.Said) {
		if content == nil {
			return
		}
		items, _ := l.Messages.Read(trace.JSONOf(content), false)
		l.Add(items, s)
	}
	c := jsonscan.New(build.MemberRaw(record, "events"))
	for ok := c.Array(); ok && c.Element(); {
		event := c.Raw()
		if string(build.MemberRaw(event, "partial")) == "true" {
			continue // a piece of what comes whole
		}
		s := sessionlog.Said{At: sessionlog.Moment(event, "timestamp")}
		s.Usage, _ = message.FindUsage(event)
		if author := sessionlog.Text(event, "author"); author != "user" && l.Agent == "" {
			l.Agent = author
		}
		contents(build.MemberRaw(event, "content"), s)
	}
	logs := jsonscan.New(build.MemberRaw(record, "event_logs"))
	for ok := logs.Array(); ok && logs.Element(); { // what was asked, with the tools that were offered
		if tools := sessionlog.Member(logs.Raw(), "model_request", "config", "tools"); build.IsKind(tools, '[') && l.Messages.Tools == nil {
			l.Messages.Tools = message.DefinitionsIn(l.Builder, tools)
		}
	}
	c = jsonscan.New(build.MemberRaw(record, "conversation"))
	for ok := c.Array(); ok && c.Element(); {
		invocation := c.Raw()
		s := sessionlog.Said{At: sessionlog.Moment(invocation, "creation_timestamp", "creationTimestamp")}
		contents(first(invocation, "user_content", "userContent"), s)
		between := first(invocation, "intermediate_data", "intermediateData")
		uses := jsonscan.New(first(between, "tool_uses", "toolUses"))
		for n, ok := 0, uses.Array(); ok && uses.Element(); n++ {
			use := uses.Raw()
			l.Add([]build.Item{{Kind: build.ItemCall, ID: []byte(sessionlog.Text(use, "id")), Tool: []byte(sessionlog.Text(use, "name")), Value: sessionlog.Raw(build.MemberRaw(use, "args")), Opens: n == 0}}, s)
		}
		answers := jsonscan.New(first(between, "tool_responses", "toolResponses"))
		for ok := answers.Array(); ok && answers.Element(); {
			one := answers.Raw()
			l.Add([]build.Item{{Kind: build.ItemResult, ID: []byte(sessionlog.Text(one, "id")), Tool: []byte(sessionlog.Text(one, "name")), Value: sessionlog.Raw(build.MemberRaw(one, "response"))}}, s)
		}
		l.InTurn = false
		if answer := first(invocation, "final_response", "finalResponse"); saysSomething(answer) {
			contents(answer, s)
		}
	}
}
