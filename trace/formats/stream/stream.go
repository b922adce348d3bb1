// Package stream reads server-sent events as they were written down, of the
// interfaces that packages openai and anthropic know.
//
// The text of one response is a record; fragments go out. It is O(response).
package stream

import (
	"bytes"
	"errors"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/anthropic"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/internal/sse"
	"github.com/awo-dev/awo/trace/formats/openai"
)

// Format reads what interfaces send while a model answers, as it was
// written down: server-sent events (lines "data: {...}", with or without lines
// "event:"), or the same events alone on their lines. It knows those of OpenAI's
// chat completions and Responses and of Anthropic's Messages.
//
// The pieces of a response are joined to what the interface gives without
// streaming, and read like that. A record is the text of one response; pieces of
// chat completions that arrived mixed are sorted by their id. The responses of a
// file are one trajectory in their order, because nothing in them says more; those
// of the Responses interface are joined by previous_response_id.
//
// What was asked and what tools gave back is not in a stream, and counted
// (request-missing).
var Format = trace.Format{
	Name:     "event-stream",
	Doc:      "Streams of OpenAI chat completions, OpenAI Responses and Anthropic Messages, as server-sent events.",
	Spec:     "https://html.spec.whatwg.org/multipage/server-sent-events.html",
	Detect:   DetectEventStream,
	Split:    splitEventStream,
	Decode:   decodeEventStream,
	Assemble: assembleEventStream,
}

func decodeEventStream(r trace.Record) ([]trace.Fragment, error) {
	var chat []*sse.Chat
	var message *sse.Message
	var response *sse.Response
	var problem *diag.Error
	known := false
	for at, payload := range sse.Payloads(r.Data) {
		h, ok := sse.ReadHead(payload)
		if !ok || h.Family == sse.FamilyUnknown {
			known = known || ok
			problem = firstProblem(problem, eventProblem(r, at, payload))
			continue
		}
		if e := eventProblem(r, at, payload); e != nil {
			problem = firstProblem(problem, e)
			continue
		}
		known = true
		switch h.Family {
		case sse.FamilyChat:
			chat = sse.AddChunk(chat, payload)
		case sse.FamilyMessages:
			if message == nil {
				message = &sse.Message{}
			}
			message.Add(payload)
		case sse.FamilyResponses:
			if response == nil {
				response = &sse.Response{}
			}
			response.Add(payload)
		}
	}
	var fragments []trace.Fragment
	add := func(key string, data []byte) {
		fragments = append(fragments, trace.Fragment{Key: key, Data: data, Pos: r.Pos()})
	}
	for _, s := range chat {
		if s.Finish == nil && endsDone(r.Data) {
			s.Finish = []byte(`"stop"`)
		}
		add("chat:"+r.File, s.Text(false))
	}
	if message != nil && message.Begun {
		add("messages:"+r.File, message.Text())
	}
	if response != nil {
		data := response.Text()
		key, _ := r.Shared.(string)
		if key == "" {
			key = openai.ResponsesKey(data, map[string]string{})
		}
		add("responses:"+key, data)
	}
	switch {
	case problem != nil:
		return fragments, problem
	case len(fragments) == 0 && !known && len(bytes.TrimSpace(r.Data)) > 0:
		return nil, diag.New(r.Pos(), build.CodeRecordShape, "this record has no events of a response")
	}
	return fragments, nil
}

// endsDone reports whether the last event is the end of a chat completion.
func endsDone(text []byte) bool {
	last := false
	for _, payload := range sse.Payloads(text) {
		last = string(payload) == sse.Done
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
func eventProblem(r trace.Record, at int, payload []byte) *diag.Error {
	if string(payload) == sse.Done {
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

func assembleEventStream(key string, parts []trace.Fragment) ([]*trace.Trajectory, error) {
	family, rest, _ := bytes.Cut([]byte(key), []byte(":"))
	if string(family) == "responses" {
		out, err := openai.AssembleResponses(string(rest), parts)
		for _, t := range out {
			t.Anomalies.AddN(build.CodeRequestMissing, len(t.Turns))
		}
		return out, err
	}
	b := build.New(0)
	var responses [][]byte
	var record *build.RequestRecord
	var read func(*jsonscan.Cursor)
	if string(family) == "chat" {
		d := openai.NewChat(b)
		record, read = &d.RequestRecord, d.Response
		var all []*sse.Chat
		for i := range parts {
			all = sse.AddChunk(all, parts[i].Data)
		}
		for _, s := range all {
			if s.Cut() {
				b.Anomaly(build.CodeResponseCut, 1)
			}
			b.Anomaly(build.CodeCallBroken, s.DropBroken())
			b.Anomaly(build.CodeChoiceIgnored, int(s.Ignored))
			responses = append(responses, s.Text(true))
		}
	} else {
		d := anthropic.NewRecord(b)
		record, read = &d.RequestRecord, d.Response
		for i := range parts {
			sse.CountCut(b, parts[i].Data)
			responses = append(responses, parts[i].Data)
		}
	}
	id, model := "", []byte(nil)
	for i, response := range responses {
		c := jsonscan.New(response)
		read(&c)
		b.Anomaly(build.CodeLoneSurrogate, c.LoneSurrogates())
		if i == 0 {
			id, model = record.ID, record.Model
		}
	}
	record.AddTo(b)
	t := b.Finish()
	t.ID, t.Model = id, b.Text(model)
	if t.ID == "" {
		t.ID = string(rest)
	}
	build.ClearTurnModels(t)
	t.Anomalies.AddN(build.CodeRequestMissing, len(t.Turns))
	return []*trace.Trajectory{t}, nil
}

// DetectEventStream looks at the first lines for an event of a stream. Events of
// the Responses interface that stand alone on their lines are openai-responses.
func DetectEventStream(h trace.Head) trace.Match {
	const lines = 60
	n, field := 0, false
	for line := range bytes.Lines(h.Raw) {
		if n++; n > lines {
			break
		}
		payload, data := sse.Payload(bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")))
		if payload == nil {
			continue
		}
		field = field || data
		if head, ok := sse.ReadHead(payload); ok && head.Family != sse.FamilyUnknown && (data || head.Family != sse.FamilyResponses) {
			return trace.Match{OK: true}
		}
	}
	if field && h.Container == trace.ContainerOther {
		return trace.Match{Lacks: "the events are those of no interface that is known"}
	}
	return trace.Match{}
}
