package sessions

import (
	"bytes"
	"cmp"
	"regexp"
	"strings"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/internal/sessionlog"
)

// BedrockAgents reads traces of Amazon Bedrock's agents: the events of InvokeAgent, one a
// line or in a list, or the parts of the trace in them.
//
//	{"trace": {"sessionId", "trace": {"orchestrationTrace": {...}}}}
//	{"sessionId", "agentId", "callerChain", "trace": {"orchestrationTrace": {...}}}
//
// A modelInvocationOutput is a turn, an invocationInput a call, an observation its result
// or the last answer. The parts of an agent that another one asks are a trajectory of
// their own.
var BedrockAgents = trace.Format{
	Name:   "bedrock-agents",
	Doc:    "Traces of Amazon Bedrock's agents: events of InvokeAgent.",
	Spec:   "https://docs.aws.amazon.com/bedrock/latest/userguide/trace-events.html",
	Detect: detectBedrockAgents,
	Decode: layout{whole: func([]byte) bool { return false }, divide: traceParts, key: bedrockKey}.decode,
	Assemble: func(key string, parts []trace.Fragment) ([]*trace.Trajectory, error) {
		out, err := assembler("", readBedrockAgents)(key, parts)
		if err == nil && out[0].ID == "" && len(out[0].Turns) == 0 { // events beside the trace: pieces of the answer
			return nil, nil
		}
		return out, err
	},
}

// bedrockTraces are the kinds of a part of a trace.
var bedrockTraces = []string{"orchestrationTrace", "preProcessingTrace", "postProcessingTrace", "routingClassifierTrace", "customOrchestrationTrace", "guardrailTrace", "failureTrace"}

func detectBedrockAgents(h trace.Head) trace.Match {
	for _, r := range h.Records {
		for _, name := range bedrockTraces {
			if (r.Has("trace") || r.Has("traces") || r.Has("completion") || r.Has("events")) && bytes.Contains(r.Raw, []byte(`"`+name+`"`)) || r.Has(name) {
				return trace.Match{OK: true}
			}
		}
	}
	return trace.Match{}
}

// traceParts returns the parts of a trace that a record holds.
func traceParts(record []byte) (parts [][]byte) {
	for _, name := range []string{"traces", "completion", "trace", "events"} {
		list := build.MemberRaw(record, name)
		if !build.IsKind(list, '[') {
			continue
		}
		c := jsonscan.New(list)
		for ok := c.Array(); ok && c.Element(); {
			if one := c.Raw(); build.IsKind(one, '{') {
				parts = append(parts, partOf(one))
			}
		}
		return parts
	}
	return [][]byte{partOf(record)}
}

// partOf returns the part of a trace that an event holds.
func partOf(event []byte) []byte {
	if inner := sessionlog.Member(event, "trace"); build.IsKind(sessionlog.Member(inner, "trace"), '{') {
		return inner
	}
	return event
}

// bedrockKey returns the session and the agent in it that a part is of.
func bedrockKey(file string, part []byte) (string, int64) {
	return file + "#" + sessionlog.Text(part, "sessionId") + "#" + askedAgent(part), 0
}

// askedAgent returns the name of the agent of a part if another one asked it.
func askedAgent(part []byte) string {
	callers := 0
	c := jsonscan.New(sessionlog.Member(part, "callerChain"))
	for ok := c.Array(); ok && c.Element(); c.Skip() {
		callers++
	}
	if callers < 2 {
		return ""
	}
	return cmp.Or(sessionlog.Text(part, "collaboratorName"), sessionlog.Text(part, "agentName"), sessionlog.Text(part, "agentId"))
}

func readBedrockAgents(l *log, part []byte) {
	t := l.Builder.Trajectory
	session, asked := sessionlog.Text(part, "sessionId"), askedAgent(part)
	t.ID, t.Session = cmp.Or(t.ID, session), cmp.Or(t.Session, session)
	t.Agent = cmp.Or(t.Agent, asked, sessionlog.Text(part, "agentName"), sessionlog.Text(part, "agentId"))
	if asked != "" && t.Parent.Trajectory == "" && session != "" {
		t.ID, t.Parent.Trajectory = session+"/"+asked, session
	}
	s := sessionlog.Said{At: sessionlog.Moment(part, "eventTime")}
	steps := part
	if inner := sessionlog.Member(part, "trace"); inner != nil {
		steps = inner
	}
	c := jsonscan.New(steps)
	for ok := c.Object(); ok && c.Member(); {
		switch name := string(c.Key()); name {
		case "failureTrace":
			l.Builder.Anomaly(build.CodeResponseFailed, 1)
		case "orchestrationTrace", "preProcessingTrace", "postProcessingTrace", "routingClassifierTrace", "customOrchestrationTrace":
			l.step(c.Raw(), s)
		}
	}
}

// listedText is a content as Bedrock prints it into a prompt: [{text=hi, type=text}].
var listedText = regexp.MustCompile(`(?s)^\[\{text=(.*), type=text\}\]$`)

// step adds a step of an agent.
func (l *log) step(step []byte, s sessionlog.Said) {
	b := l.Builder
	c := jsonscan.New(step)
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "modelInvocationInput":
			input := c.Raw()
			s.Model = sessionlog.Text(input, "foundationModel")
			l.Model = cmp.Or(s.Model, l.Model)
			l.asked(sessionlog.Raw(sessionlog.Member(input, "text")), s)
		case "modelInvocationOutput":
			output := c.Raw()
			start := sessionlog.Moment(output, "metadata.startTime")
			if start.IsZero() {
				start = s.At
			}
			l.Turn(sessionlog.Said{At: start, End: sessionlog.Moment(output, "metadata.endTime"), Model: l.Model, Usage: build.ReadUsage(sessionlog.Member(output, "metadata", "usage"), &build.UsageSession)})
			if thought := sessionlog.Raw(sessionlog.Member(output, "reasoningContent", "reasoningText", "text")); !thought.IsEmpty() {
				l.Add([]build.Item{{Kind: build.ItemThought, Value: thought}}, s)
			}
		case "rationale":
			if thought := sessionlog.Raw(sessionlog.Member(c.Raw(), "text")); !thought.IsEmpty() {
				l.Add([]build.Item{{Kind: build.ItemThought, Value: thought}}, s)
			}
		case "invocationInput":
			if it, ok := bedrockCall(c.Raw()); ok {
				if l.Answered {
					l.Turn(s)
				}
				l.Add([]build.Item{it}, s)
			} else {
				b.Anomaly(build.CodeMessageShape, 1)
			}
		case "observation":
			l.observed(c.Raw(), s)
		}
	}
}

// asked adds what the user asked, out of the prompt, which repeats what was said before.
func (l *log) asked(prompt trace.Raw, s sessionlog.Said) {
	items, _ := l.Messages.Read(prompt, false)
	t := l.Builder.Trajectory
	for i := range items {
		if items[i].Kind == build.ItemSystem && len(t.Messages) == 0 && len(t.Turns) == 0 {
			l.Add(items[i:i+1], s)
		}
	}
	for i := len(items) - 1; i >= 0; i-- {
		it := items[i]
		if it.Kind != build.ItemUser {
			if it.Kind == build.ItemSystem {
				continue
			}
			return
		}
		if found := listedText.FindSubmatch(it.Value.Content()); found != nil {
			it.Value = trace.TextOf(string(found[1]))
		}
		said := it.Value.Text()
		if strings.HasPrefix(said, "[{tool_use_id=") || said == l.Response {
			return // results in other words, or said already
		}
		l.Response = said
		l.Add([]build.Item{it}, s)
		return
	}
}

// bedrockCall returns the call that an invocation is.
func bedrockCall(input []byte) (it build.Item, ok bool) {
	it.Kind = build.ItemCall
	it.ID = []byte(sessionlog.Text(input, "traceId"))
	if action := sessionlog.Member(input, "actionGroupInvocationInput"); action != nil {
		name := sessionlog.Text(action, "function")
		if name == "" {
			name = strings.TrimPrefix(sessionlog.Text(action, "verb")+"__"+sessionlog.Text(action, "apiPath"), "__")
		}
		it.Tool = []byte(strings.Trim(sessionlog.Text(action, "actionGroupName")+"__"+name, "_"))
		args := []byte{'{'}
		args = appendParameters(args, sessionlog.Member(action, "parameters"))
		content := jsonscan.New(sessionlog.Member(action, "requestBody", "content"))
		for ok := content.Object(); ok && content.Member(); {
			args = appendParameters(args, content.Raw())
		}
		it.Value = trace.JSONOf(append(args, '}'))
		return it, len(it.Tool) > 0
	}
	for _, other := range []struct{ member, tool, name string }{
		{"knowledgeBaseLookupInput", "knowledgeBaseLookup", ""},
		{"codeInterpreterInvocationInput", "codeInterpreter", ""},
		{"agentCollaboratorInvocationInput", "agentCollaborator", "agentCollaboratorName"},
	} {
		if args := sessionlog.Member(input, other.member); args != nil {
			it.Tool, it.Value = []byte(strings.TrimSuffix(other.tool+"__"+sessionlog.Text(args, other.name), "__")), trace.JSONOf(args)
			return it, true
		}
	}
	return it, false
}

// appendParameters appends parameters, {"name", "type", "value"} each, as members. What is
// a number or a list is written as its text.
func appendParameters(args, list []byte) []byte {
	c := jsonscan.New(list)
	for ok := c.Array(); ok && c.Element(); {
		p := c.Raw()
		value := sessionlog.Member(p, "value")
		if inner := build.InnerJSON(sessionlog.Raw(value)); inner != nil && sessionlog.Text(p, "type") != "string" {
			value = inner
		}
		if value == nil {
			continue
		}
		if len(args) > 1 {
			args = append(args, ',')
		}
		args = append(append(jsonscan.AppendQuoted(args, sessionlog.Text(p, "name")), ':'), value...)
	}
	return args
}

// observed adds the result of a call, or the last answer.
func (l *log) observed(o []byte, s sessionlog.Said) {
	c := jsonscan.New(o)
	for ok := c.Object(); ok && c.Member(); {
		name, value := string(c.Key()), c.Raw()
		if !build.IsKind(value, '{') {
			continue
		}
		it := build.Item{Kind: build.ItemResult, Value: sessionlog.Raw(first(value, "text"))}
		switch name {
		case "finalResponse":
			l.Add([]build.Item{{Kind: build.ItemText, Value: sessionlog.Raw(sessionlog.Member(value, "text"))}}, s)
			continue
		case "actionGroupInvocationOutput", "repromptResponse":
		case "knowledgeBaseLookupOutput":
			it.Value = sessionlog.Raw(first(value, "retrievedReferences"))
		case "codeInterpreterInvocationOutput":
			it.Value = sessionlog.Raw(first(value, "executionOutput"))
			if failure := sessionlog.Raw(sessionlog.Member(value, "executionError")); !failure.IsEmpty() {
				it.Status, it.Err = trace.StatusFailed, failure
			}
		case "agentCollaboratorInvocationOutput":
			it.Value = sessionlog.Raw(sessionlog.Member(value, "output", "text"))
		default:
			continue
		}
		if name == "repromptResponse" {
			it.Status = trace.StatusFailed
		}
		if calls := l.Builder.Trajectory.Calls; name == "repromptResponse" && (len(calls) == 0 || calls[len(calls)-1].HasResult) {
			continue // to an answer that could not be read
		}
		l.Result(&it, s)
	}
}
