package sessions

import (
	"cmp"
	"strconv"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/internal/message"
	"github.com/awo-dev/awo/trace/formats/internal/sessionlog"
)

// HandsEvents reads trajectories of OpenHands before version 1: a list of actions and
// observations, or one a line, or the "history" of an evaluation.
//
//	{"id", "source": "agent", "action": "run", "args": {...}, "tool_call_metadata"}
//	{"id", "source": "agent", "cause", "observation": "run", "content", "extras"}
//	{"action": "run", "command", "thought"}, {"observation": "run", "content"}    the oldest, in a history
//
// Actions of the agent with one response of the model are a turn, and calls of the
// tool that the response named, else of the action. An observation answers the
// action that is its cause.
var HandsEvents = trace.Format{
	Name:     "openhands-v0",
	Doc:      "Trajectories of OpenHands before version 1: actions and observations.",
	Spec:     "https://docs.openhands.dev/usage/how-to/debugging",
	Detect:   detectHands,
	Decode:   decoder(func(record []byte) bool { return handsList(record) != nil }, nil),
	Assemble: assembler("openhands", readHands),
}

func isHandsEvent(r trace.HeadRecord) bool {
	return r.Has("source") && (r.Has("action", "args") || r.Has("observation", "content")) && !r.Has("kind")
}

func detectHands(h trace.Head) trace.Match {
	for _, r := range h.Records {
		if isHandsEvent(r) {
			return trace.Match{OK: true}
		}
		c := jsonscan.New(r.Members["history"])
		if c.Array() && c.Element() {
			rest := r.Members["history"][c.Offset():]
			inner := jsonscan.New(rest)
			if inner.Array() && inner.Element() { // pairs of an action and what came of it
				rest = rest[inner.Offset():]
			}
			first := trace.NewHeadRecord(rest, true)
			if isHandsEvent(first) || r.Has("history", "git_patch") && first.Has("action", "content") && !first.Has("role") {
				return trace.Match{OK: true}
			}
		}
	}
	return trace.Match{}
}

// handsList returns the events that a record holds, nil if it is one.
func handsList(record []byte) []byte {
	if build.IsKind(record, '[') {
		return record
	}
	if list := build.MemberRaw(record, "history"); build.IsKind(list, '[') {
		return list
	}
	return nil
}

func readHands(l *log, record []byte) {
	list := handsList(record)
	if list == nil {
		readHandsEvent(l, record)
		return
	}
	if id := sessionlog.Text(record, "instance_id"); id != "" {
		l.Builder.Trajectory.ID, l.Builder.Trajectory.Task = id, id
	}
	var old oldHands
	read := func(event []byte) {
		if build.IsKind(event, '{') && !build.HasMember(event, "source") {
			event = old.event(event)
		}
		readHandsEvent(l, event)
	}
	c := jsonscan.New(list)
	for ok := c.Array(); ok && c.Element(); {
		one := c.Raw()
		if !build.IsKind(one, '[') {
			read(one)
			continue
		}
		pair := jsonscan.New(one)
		for ok := pair.Array(); ok && pair.Element(); {
			read(pair.Raw())
		}
	}
}

// oldHands turns events of the oldest form, which have no ids, into later ones: an
// observation is that of the action before it, and the first message is the user's.
type oldHands struct {
	n, action int
}

func (o *oldHands) event(event []byte) []byte {
	o.n++
	source, args := "agent", []byte{'{'}
	action := build.HasMember(event, "action")
	if action {
		if o.action == 0 && sessionlog.Text(event, "action") == "message" {
			source = "user"
		}
		o.action = o.n
	}
	out := jsonscan.AppendQuoted([]byte(`{"source":`), source)
	out = append(out, `,"id":`...)
	out = strconv.AppendInt(out, int64(o.n), 10)
	out = append(out, `,"cause":`...)
	out = strconv.AppendInt(out, int64(o.action), 10)
	c := jsonscan.New(event)
	for ok := c.Object(); ok && c.Member(); {
		name := string(c.Key())
		switch value := c.Raw(); name {
		case "action", "observation":
			out = append(append(jsonscan.AppendQuoted(append(out, ','), name), ':'), value...)
		case "content", "exit_code":
			if !action && name == "content" {
				out = append(append(out, `,"content":`...), value...)
				continue
			}
			if !action {
				out = append(append(append(out, `,"extras":{"metadata":{"exit_code":`...), value...), "}}"...)
				continue
			}
			fallthrough
		default:
			switch name {
			case "is_confirmed", "action_risk", "keep_prompt", "images_urls", "wait_for_response", "kernel_init_code":
				continue // about how it was made
			}
			if len(args) > 1 {
				args = append(args, ',')
			}
			args = append(append(jsonscan.AppendQuoted(args, name), ':'), value...)
		}
	}
	if action {
		out = append(append(append(out, `,"args":`...), args...), '}')
	}
	return append(out, '}')
}

func readHandsEvent(l *log, event []byte) {
	t := l.Builder.Trajectory
	s := sessionlog.Said{At: sessionlog.Moment(event, "timestamp")}
	metadata := build.MemberRaw(event, "tool_call_metadata")
	id := cmp.Or(sessionlog.Text(metadata, "tool_call_id"), string(build.MemberRaw(event, "id")))
	if action := sessionlog.Text(event, "action"); action != "" {
		args := build.MemberRaw(event, "args")
		switch {
		case action == "message" && sessionlog.Text(event, "source") == "user":
			l.Add([]build.Item{{Kind: build.ItemUser, Value: sessionlog.Raw(build.MemberRaw(args, "content"))}}, s)
			return
		case action == "system":
			l.Add([]build.Item{{Kind: build.ItemSystem, Value: sessionlog.Raw(build.MemberRaw(args, "content"))}}, s)
			return
		case sessionlog.Text(event, "source") != "agent", action == "null", action == "change_agent_state", action == "recall", action == "condensation":
			return
		case action == "message":
			l.Add([]build.Item{{Kind: build.ItemText, Value: sessionlog.Raw(build.MemberRaw(args, "content")), Opens: true}}, s)
			return
		}
		readHandsAction(l, event, metadata, id, action, s)
		return
	}
	if sessionlog.Text(event, "observation") == "" || sessionlog.Text(event, "source") == "environment" && len(t.Calls) == 0 {
		return
	}
	cause := string(build.MemberRaw(event, "cause"))
	if len(metadata) < 3 {
		id = cause
	}
	for _, i := range l.Calls(id) {
		if t.Calls[i].HasResult {
			continue
		}
		it := build.Item{Kind: build.ItemResult, ID: []byte(id), Value: sessionlog.Raw(build.MemberRaw(event, "content"))}
		if sessionlog.Text(event, "observation") == "error" {
			it.Status = trace.StatusFailed
		}
		switch string(sessionlog.Member(event, "extras", "metadata", "exit_code")) {
		case "":
		case "0":
			it.Status = trace.StatusOK
		default:
			it.Status = trace.StatusFailed
		}
		l.Add([]build.Item{it}, s)
		return
	}
}

// readHandsAction adds a call of the agent, and the response that it is of if it is
// the first of that.
func readHandsAction(l *log, event, metadata []byte, id, action string, s sessionlog.Said) {
	args := build.MemberRaw(event, "args")
	response := build.MemberRaw(metadata, "model_response")
	name, value := cmp.Or(sessionlog.Text(metadata, "function_name"), action), sessionlog.Raw(args)
	said := sessionlog.Raw(build.MemberRaw(args, "thought"))
	choices := jsonscan.New(build.MemberRaw(response, "choices"))
	if choices.Array() && choices.Element() {
		items, _ := l.Messages.Read(trace.JSONOf(choices.Raw()), true)
		for _, it := range items {
			switch {
			case it.Kind == build.ItemCall && string(it.ID) == id:
				value = it.Value
			case it.Kind == build.ItemText && !it.Value.IsEmpty():
				said = it.Value
			}
		}
		s.Model = sessionlog.Text(response, "model")
		s.Usage, _ = message.FindUsage(response)
	}
	if key := sessionlog.Text(response, "id"); key == "" || key != l.Response {
		l.Response = key
		l.Add([]build.Item{{Kind: build.ItemText, Value: said, Opens: true}}, s)
	}
	l.Answered = false
	l.InTurn = true
	l.Add([]build.Item{{Kind: build.ItemCall, ID: []byte(id), Tool: []byte(name), Value: value}}, s)
}
