package trace

import (
	"bytes"
	"errors"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/jsonscan"
)

// formatEventStream reads what interfaces send while a model answers, as it was
// written down: server-sent events (lines "data: {...}", with or without lines
// "event:"), or the same events alone on their lines. It knows those of OpenAI's
// chat completions and Responses and of Anthropic's Messages.
//
// The pieces of a response are joined to what the interface gives without
// streaming, and read like that. A record is the text of one response; pieces of
// chat completions that arrived mixed are sorted by their id. The responses of a
// file are one trajectory in their order, since nothing in them says more; those
// of the Responses interface are joined by previous_response_id.
//
// What was asked and what tools gave back is not in a stream, and counted
// (request-missing).
var formatEventStream = Format{
	Name:     "event-stream",
	Doc:      "Streams of OpenAI chat completions, OpenAI Responses and Anthropic Messages, as server-sent events.",
	Spec:     "https://html.spec.whatwg.org/multipage/server-sent-events.html",
	Detect:   detectEventStream,
	Split:    splitEventStream,
	Decode:   decodeEventStream,
	Assemble: assembleEventStream,
}

func decodeEventStream(r Record) ([]Fragment, error) {
	var chat []*chatStream
	var message *messageStream
	var response *responseStream
	var problem *diag.Error
	known := false
	for at, payload := range eventPayloads(r.Data) {
		h, ok := readEventHead(payload)
		if !ok || h.family == eventsUnknown {
			known = known || ok
			problem = firstProblem(problem, eventProblem(r, at, payload))
			continue
		}
		if e := eventProblem(r, at, payload); e != nil {
			problem = firstProblem(problem, e)
			continue
		}
		known = true
		switch h.family {
		case eventsChat:
			chat = addChunk(chat, payload)
		case eventsMessages:
			if message == nil {
				message = &messageStream{}
			}
			message.add(payload)
		case eventsResponses:
			if response == nil {
				response = &responseStream{}
			}
			response.add(payload)
		}
	}
	var fragments []Fragment
	add := func(key string, data []byte) {
		fragments = append(fragments, Fragment{Key: key, Data: data, Pos: r.Pos()})
	}
	for _, s := range chat {
		if s.finish == nil && endsDone(r.Data) {
			s.finish = []byte(`"stop"`)
		}
		add("chat:"+r.File, s.append(nil, false))
	}
	if message != nil && (message.message != nil || len(message.blocks) > 0) {
		add("messages:"+r.File, message.append(nil))
	}
	if response != nil {
		data := response.append(nil)
		key, _ := r.Shared.(string)
		if key == "" {
			key = responsesKey(data, map[string]string{})
		}
		add("responses:"+key, data)
	}
	switch {
	case problem != nil:
		return fragments, problem
	case len(fragments) == 0 && !known && len(bytes.TrimSpace(r.Data)) > 0:
		return nil, diag.New(r.Pos(), CodeRecordShape, "this record has no events of a response")
	}
	return fragments, nil
}

// endsDone reports whether the last event is the end of a chat completion.
func endsDone(text []byte) bool {
	last := false
	for _, payload := range eventPayloads(text) {
		last = string(payload) == eventDone
	}
	return last
}

func firstProblem(a, b *diag.Error) *diag.Error {
	if a != nil {
		return a
	}
	return b
}

// eventProblem returns what is wrong with the data of an event, nil if nothing is.
func eventProblem(r Record, at int, payload []byte) *diag.Error {
	if string(payload) == eventDone {
		return nil
	}
	c := jsonscan.New(payload)
	c.Skip()
	e, ok := errors.AsType[*jsonscan.Error](c.End())
	if !ok {
		return nil
	}
	// What stands on several lines is not in the record as it is here.
	problem := diag.New(r.At(min(at+e.Offset, len(r.Data))), e.Code, "%s", e.Msg)
	problem.Err = e
	return problem
}

func assembleEventStream(key string, parts []Fragment) ([]*Trajectory, error) {
	family, rest, _ := bytes.Cut([]byte(key), []byte(":"))
	if string(family) == "responses" {
		out, err := assembleResponses(string(rest), parts)
		for _, t := range out {
			t.Oddities.AddN(CodeRequestMissing, len(t.Turns))
		}
		return out, err
	}
	b := newBuilder(0)
	id, model := "", []byte(nil)
	if string(family) == "chat" {
		d := openAIDecoder{chatDecoder: chatDecoder{b: b}}
		var all []*chatStream
		for i := range parts {
			all = addChunk(all, parts[i].Data)
		}
		for i, s := range all {
			if s.cut() {
				b.odd(CodeResponseCut, 1)
			}
			b.odd(CodeCallBroken, s.dropBroken())
			b.odd(CodeChoiceIgnored, int(s.ignored))
			c := jsonscan.New(s.append(nil, true))
			d.response(&c)
			b.odd(CodeLoneSurrogate, c.LoneSurrogates())
			if i == 0 {
				id, model = b.t.ID, d.model
			}
		}
		d.model = model
	} else {
		d := anthropicRecord{anthropicDecoder: anthropicDecoder{b: b}}
		for i := range parts {
			c := jsonscan.New(parts[i].Data)
			d.response(&c)
			b.odd(CodeLoneSurrogate, c.LoneSurrogates())
			countCut(b, parts[i].Data)
			if i == 0 {
				id, model = b.t.ID, d.model
			}
		}
	}
	t := b.finish()
	t.ID, t.Model = id, b.text(model)
	if t.ID == "" {
		t.ID = string(rest)
	}
	clearTurnModels(t)
	t.Oddities.AddN(CodeRequestMissing, len(t.Turns))
	return []*Trajectory{t}, nil
}

// detectEventStream looks at the first lines for an event of a stream. Events of
// the Responses interface that stand alone on their lines are openai-responses.
func detectEventStream(h Head) Match {
	const lines = 60
	n, field := 0, false
	for line := range bytes.Lines(h.Raw) {
		if n++; n > lines {
			break
		}
		payload, data := eventPayload(bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")))
		if payload == nil {
			continue
		}
		field = field || data
		if head, ok := readEventHead(payload); ok && head.family != eventsUnknown && (data || head.family != eventsResponses) {
			return Match{OK: true}
		}
	}
	if field && h.Container == ContainerOther {
		return Match{Lacks: "the events are those of no interface that is known"}
	}
	return Match{}
}
