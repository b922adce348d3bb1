package otel

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/internal/spantree"
)

// flatMember says what a member of a span is.
type flatMember uint8

const (
	flatNone flatMember = iota
	flatID
	flatRow // an id that counts if no other is there
	flatParent
	flatName
	flatKind
	flatStart
	flatEnd
	flatDuration
	flatAttributes
	flatEvents
	flatStatus
	flatStatusText
	flatFailure
	flatInput
	flatOutput
	flatModel
	flatUsage
	flatInside // an object with more members of the span
	flatTools
	flatDefinitions
	flatToolName
	flatInputTokens
	flatOutputTokens
)

// flatNames are the names of members of spans, by all who write them.
var flatNames = map[string]flatMember{
	"span_id": flatID, "spanId": flatID, "id": flatRow, "uuid": flatRow, "request_id": flatRow, "event_id": flatID,
	"parent_span_id": flatParent, "parentSpanId": flatParent, "parent_id": flatParent, "parentId": flatParent, "parentUuid": flatParent, "span_parents": flatParent,
	"name": flatName, "op_name": flatName, "span_name": flatName, "event_name": flatName, "display_name": flatNone,
	"type": flatKind, "span_type": flatKind, "spanType": flatKind, "span_kind": flatKind, "kind": flatKind, "span.kind": flatKind, "event_type": flatKind,
	"start_time": flatStart, "startTime": flatStart, "start_time_unix_nano": flatStart, "startTimeUnixNano": flatStart, "start_time_ns": flatStart,
	"started_at": flatStart, "start_ns": flatStart, "start": flatStart, "request_created_at": flatStart, "created_at": flatNone,
	"end_time": flatEnd, "endTime": flatEnd, "end_time_unix_nano": flatEnd, "endTimeUnixNano": flatEnd, "end_time_ns": flatEnd,
	"ended_at": flatEnd, "end_ns": flatEnd, "end": flatEnd, "response_created_at": flatEnd, "duration": flatDuration, "duration_ns": flatDuration,
	"attributes": flatAttributes, "events": flatEvents, "span_events": flatEvents,
	"status": flatStatus, "status_code": flatStatus, "response_status": flatNone, "status_message": flatStatusText, "error": flatFailure, "exception": flatFailure,
	"input": flatInput, "inputs": flatInput, "request_body": flatInput, "output": flatOutput, "outputs": flatOutput, "response_body": flatOutput,
	"model": flatModel, "model_name": flatModel, "request_model": flatModel, "usage": flatUsage, "metrics": flatUsage,
	"context": flatInside, "meta": flatInside, "metadata": flatInside, "span_attributes": flatInside, "summary": flatInside, "config": flatInside,
	"tools": flatTools, "tool_definitions": flatDefinitions, "tool_name": flatToolName, "toolName": flatToolName,
	"inputTokenCount": flatInputTokens, "outputTokenCount": flatOutputTokens, "prompt_tokens": flatInputTokens, "completion_tokens": flatOutputTokens,
	"input_tokens": flatInputTokens, "output_tokens": flatOutputTokens,
}

// flatKinds are the kinds of spans, in lower case.
var flatKinds = map[string]spantree.Kind{
	"llm": spantree.SpanModel, "chat": spantree.SpanModel, "chat_model": spantree.SpanModel, "generation": spantree.SpanModel, "completion": spantree.SpanModel, "model": spantree.SpanModel,
	"tool": spantree.SpanTool, "tool_call": spantree.SpanTool, "agent": spantree.SpanAgent,
}

// modelOps are in the names of operations that call a model.
var modelOps = []string{"chat.completions", "messages.create", "messages.stream", "responses.create", "generate_content", "generateContent", "ChatOpenAI", "ChatAnthropic", "litellm.completion", "acompletion"}

// readFlat reads a span of a trace; kind is what its list says that it is.
func readFlat(raw []byte, owner, kind string) *spantree.Span {
	f := flatReader{span: &spantree.Span{Trace: owner, Attrs: trace.Value{Kind: trace.Object}}, event: build.HasMember(raw, "event_id")}
	f.members(raw, 0)
	s := f.span
	s.ID = cmp.Or(s.ID, f.row)
	if s.End.IsZero() && f.duration > 0 && !s.Start.IsZero() {
		s.End = s.Start.Add(time.Duration(f.duration))
	}
	for _, name := range []string{kind, f.kind} {
		if s.Platform == spantree.SpanLink {
			s.Platform = flatKinds[strings.ToLower(name)]
		}
	}
	switch {
	case build.HasMember(raw, "request_body"):
		s.Platform, s.ID, s.Parent = spantree.SpanModel, f.row, ""
	case build.HasMember(raw, "op_name"):
		s.Name, _, _ = strings.Cut(s.Name[strings.LastIndexByte(s.Name, '/')+1:], ":")
		for _, op := range modelOps {
			if strings.Contains(s.Name, op) {
				s.Platform = spantree.SpanModel
			}
		}
	}
	if f.kind != "" && len(s.Attrs.Members) > 0 { // as Phoenix has it
		if _, ok := s.Attribute("openinference.span.kind"); !ok && flatKinds[strings.ToLower(f.kind)] != spantree.SpanLink {
			s.Platform = flatKinds[strings.ToLower(f.kind)]
		}
	}
	if s.Platform == spantree.SpanLink && strings.HasPrefix(s.Name, "invoke_agent ") {
		s.Platform = spantree.SpanAgent
	}
	s.Fail()
	s.Classify()
	if s.Kind == spantree.SpanLink && kind != "link" && len(s.Attrs.Members) == 0 {
		s.Unsure = true
	}
	if s.Platform != spantree.SpanLink && s.Status == trace.StatusUnknown {
		switch {
		case s.Failed:
			s.Status = trace.StatusFailed
		case !s.End.IsZero():
			s.Status = trace.StatusOK
		}
	}
	return s
}

// flatReader reads the members of a span.
type flatReader struct {
	span      *spantree.Span
	row, kind string
	duration  int64
	event     bool // of HoneyHive, which has the ids of OpenTelemetry beside its own
}

func (f *flatReader) members(raw []byte, depth int) {
	s := f.span
	text := func(c *jsonscan.Cursor) string {
		t, _ := c.Text()
		return string(t)
	}
	c := jsonscan.New(raw)
	for ok := c.Object(); ok && c.Member(); {
		key := string(c.Key())
		member := flatNames[key]
		if depth > 0 && (key == "id" || key == "start_time" || key == "error" || f.event && (member == flatID || member == flatParent || member == flatKind)) {
			continue // of something else
		}
		switch member {
		case flatID:
			s.ID = spantree.SpanNumber([]byte(text(&c)), 8)
		case flatRow:
			f.row = spantree.SpanNumber([]byte(text(&c)), 8)
		case flatParent:
			if parent := spantree.SpanNumber(firstOf(&c), 8); parent != "" && parent != "undefined" { // Datadog's roots
				s.Parent = parent
			}
		case flatName:
			s.Name = cmp.Or(text(&c), s.Name)
		case flatKind:
			if kind := text(&c); kind != "" && (f.kind == "" || depth > 0) {
				f.kind = kind
			}
		case flatStart:
			if at := build.ReadMoment(c); !at.IsZero() {
				s.Start = at
			}
		case flatEnd:
			if at := build.ReadMoment(c); !at.IsZero() {
				s.End = at
			}
		case flatDuration:
			if n, ok := c.Float(); ok && n > 0 && n < 1<<62 {
				f.duration = int64(n)
			}
		case flatAttributes:
			if v, err := trace.ParseValue(c.Raw()); err == nil && depth == 0 {
				s.SetAttrs(otlpAttributes(v))
			}
		case flatEvents:
			f.events(&c)
		case flatStatus:
			f.status(&c)
		case flatStatusText:
			if raw := build.ReadRaw(&c); !raw.IsEmpty() {
				s.Failure = raw
			}
		case flatFailure:
			f.failure(build.ReadRaw(&c))
		case flatInput:
			s.Input = datadogValue(build.ReadRaw(&c))
		case flatOutput:
			s.Output = datadogValue(build.ReadRaw(&c))
		case flatModel:
			s.ModelName = cmp.Or(text(&c), s.ModelName)
		case flatUsage:
			f.usage(c.Raw(), depth)
		case flatTools:
			if c.Kind() == jsonscan.Array && depth > 0 {
				s.Tools = build.New(0).Definitions(c.Raw())
			}
		case flatDefinitions:
			if c.Kind() == jsonscan.Array {
				s.Tools = build.New(0).Definitions(c.Raw())
			}
		case flatToolName:
			s.Tool = text(&c)
		case flatInputTokens, flatOutputTokens:
			if n, ok := countText(&c); ok && (depth == 0 || f.event && key != "prompt_tokens" && key != "completion_tokens") {
				s.Tokens.Known = true
				if member == flatInputTokens {
					s.Tokens.Input = n
				} else {
					s.Tokens.Output = n
				}
			}
		case flatInside:
			if c.Kind() == jsonscan.Object && depth < 2 {
				f.members(c.Raw(), depth+1)
			}
		}
	}
}

// datadogValue returns the value or messages that Datadog puts into an object.
func datadogValue(raw trace.Raw) trace.Raw {
	if inner, ok := build.OnlyMember(build.InnerJSON(raw), "value"); ok {
		return inner
	}
	return raw
}

// firstOf returns a text, or the first of a list.
func firstOf(c *jsonscan.Cursor) (text []byte) {
	if t, ok := c.Text(); ok {
		return t
	}
	for ok := c.Array(); ok && c.Element(); {
		if t, ok := c.Text(); ok && text == nil {
			text = t
		}
	}
	return text
}

// countText reads a count that is a number or its text.
func countText(c *jsonscan.Cursor) (int64, bool) {
	if n, ok := c.Float(); ok {
		return int64(n), n >= 0 && n < 1<<50
	}
	text, _ := c.Text()
	n, err := strconv.ParseFloat(string(text), 64)
	return int64(n), err == nil && n >= 0 && n < 1<<50
}

// status reads how a span ended: a word, or an object with a code and a message.
func (f *flatReader) status(c *jsonscan.Cursor) {
	code, ok := c.Text()
	if !ok && c.Kind() == jsonscan.Number {
		code = c.Raw()
	}
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "code", "status_code":
			if code, ok = c.Text(); !ok {
				code = c.Raw()
			}
		case "message", "description":
			if raw := build.ReadRaw(c); !raw.IsEmpty() {
				f.span.Failure = raw
			}
		}
	}
	switch strings.ToUpper(strings.TrimPrefix(string(code), "StatusCode.")) {
	case "2", "ERROR", "STATUS_CODE_ERROR", "ERRORED", "FAILED":
		f.span.Failed = true
	}
}

// failure reads an error: text, or an object with a message.
func (f *flatReader) failure(raw trace.Raw) {
	if raw.IsEmpty() || string(raw.Data) == "0" || string(raw.Data) == "false" || string(raw.Data) == "{}" {
		return
	}
	f.span.Failed = true
	if text := build.MemberRaw(build.InnerJSON(raw), "message"); len(text) > 0 && text[0] == '"' {
		raw = trace.Raw{Data: text, Form: trace.FormString}
	}
	f.span.Failure = raw
}

// usage reads token counts: those of an interface, or by model as Weave sums them up.
func (f *flatReader) usage(raw []byte, depth int) {
	s := f.span
	u := build.ReadUsage(raw, &build.UsageChat, &build.UsageResponses)
	if !u.Known && depth > 0 {
		c := jsonscan.New(raw)
		for ok := c.Object(); ok && c.Member(); {
			if c.Kind() == jsonscan.Object {
				if v := build.ReadUsage(c.Raw(), &build.UsageChat, &build.UsageResponses); v.Known {
					u = v
				}
			}
		}
	}
	if u.Known {
		s.Tokens = u
	}
	c := jsonscan.New(raw)
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) { // Braintrust
		case "start":
			s.Start = build.ReadMoment(c)
		case "end":
			s.End = build.ReadMoment(c)
		}
	}
}

func (f *flatReader) events(c *jsonscan.Cursor) {
	v, err := trace.ParseValue(c.Raw())
	if err != nil {
		return
	}
	for _, e := range v.Elems {
		event := spantree.Event{Name: e.Member("name", "event_name").Text, Attrs: otlpAttributes(e.Member("attributes"))}
		if body := e.Member("body"); body.Kind != trace.Null {
			event.Body = body
		}
		f.span.Events = append(f.span.Events, event)
	}
}
