package otel

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/internal/spantree"
)

// Flat reads spans that are objects of their own, without OpenTelemetry's envelope:
// what SDKs dump, what trace stores and evaluation tools export. They stand one a
// record, or in a list:
//
//	{"trace_id", "span_id", "parent_span_id", "name", "attributes": {...}}
//	{"spans": [...]}, {"data": {"spans": [...]}}    with what the trace has besides
//	{"uuid", "llmSpans": [...], "toolSpans": [...]} DeepEval
//	{"data": [{"type": "span", "attributes": {...}}]} Datadog
//	{"request_id", "request_body", "response_body"} Helicone, a request each
//	{"event_id", "session_id", "event_type"}        HoneyHive, bare or under "events"
//
// Members are known by many names (flatNames): those of MLflow, Weave, Braintrust
// and Datadog are among them. What the attributes mean, the conventions of package
// spantree say; input, output, kind and token counts of the span itself count where
// there are none.
var Flat = trace.Format{
	Name:     "spans",
	Doc:      "Spans as objects: dumps of SDKs, MLflow, Weave, Braintrust, Datadog, DeepEval, Helicone, HoneyHive.",
	Spec:     "https://opentelemetry.io/docs/specs/otel/trace/sdk_exporters/stdout/",
	Detect:   detectFlat,
	Decode:   decodeFlat,
	Assemble: assembleFlat,
}

// flatLists are the members that hold lists of spans, with what these are.
var flatLists = map[string]string{
	"spans": "", "baseSpans": "link", "agentSpans": "agent", "llmSpans": "llm", "toolSpans": "tool", "retrieverSpans": "link", "customSpans": "link",
	"calls": "",
}

// rowLists are the members in which an interface for queries gives rows, each a span.
var rowLists = map[string]bool{"events": true, "rows": true, "data": true, "objects": true}

func detectFlat(h trace.Head) trace.Match {
	for _, r := range h.Records {
		if isFlatSpan(r.Members) && !r.Has("context") || isRespelled(r.Members) || holdsTrace(r.Members["traces"]) || holdsTrace(r.Members["data"]) || r.Has("request_body", "response_body") && bytes.Contains(bytes.ToLower(r.Raw), []byte(`"helicone-session-id"`)) {
			return trace.Match{OK: true}
		}
		for name := range flatLists {
			if holdsFlatSpan(r.Members[name]) || name != "spans" && r.Has("uuid", name) && strings.HasSuffix(name, "Spans") {
				return trace.Match{OK: true}
			}
		}
		for name := range rowLists {
			if holdsFlatSpan(r.Members[name]) {
				return trace.Match{OK: true}
			}
		}
		data := r.Members["data"]
		if build.IsKind(data, '{') {
			inner := trace.NewHeadRecord(data, true).Members
			if holdsFlatSpan(inner["spans"]) || holdsFlatSpan(trace.NewHeadRecord(inner["attributes"], true).Members["spans"]) {
				return trace.Match{OK: true}
			}
		}
		row := trace.NewHeadRecord(build.FirstElement(data), true)
		if isFlatSpan(trace.NewHeadRecord(row.Members["attributes"], true).Members) {
			return trace.Match{OK: true}
		}
	}
	return trace.Match{}
}

func holdsFlatSpan(list []byte) bool {
	first := trace.NewHeadRecord(build.FirstElement(list), true)
	return isFlatSpan(first.Members) || isRespelled(first.Members) || first.Has("request_body", "response_body")
}

// holdsTrace reports whether a list holds traces with spans of their own.
func holdsTrace(list []byte) bool {
	return holdsFlatSpan(trace.NewHeadRecord(build.FirstElement(list), true).Members["spans"])
}

// isFlatSpan reports whether an object with these members is a span.
func isFlatSpan(members map[string][]byte) bool {
	has := func(names ...string) bool {
		return slices.ContainsFunc(names, func(name string) bool {
			_, ok := members[name]
			return ok
		})
	}
	switch {
	case has("event_id") && has("event_type") && has("session_id"):
		return true
	case !has("trace_id", "traceId", "root_span_id", "context"):
		return false
	case has("op_name"), has("span_attributes") && has("span_id"):
		return true
	}
	return has("span_id", "spanId", "context") && has("attributes", "input", "inputs", "meta", "output", "parent_span_id", "parentSpanId", "parent_id")
}

// eachFlat calls visit for every span of a record, with the trace that the record
// names and what the list says that it is. It returns false if there is none.
func eachFlat(raw []byte, visit func(span []byte, owner, kind string)) bool {
	members := trace.NewHeadRecord(raw, false).Members
	if isFlatSpan(members) || isRespelled(members) || members["request_body"] != nil && members["response_body"] != nil {
		visit(raw, "", "")
		return true
	}
	owner := ""
	for _, name := range []string{"trace_id", "traceId", "traceID", "request_id", "uuid", "id"} {
		if text := build.MemberText(raw, name); len(text) > 0 && owner == "" {
			owner = string(text)
		}
	}
	found := false
	c := jsonscan.New(raw)
	for ok := c.Object(); ok && c.Member(); {
		name := string(c.Key())
		kind, list := flatLists[name]
		switch value := c.Raw(); {
		case list && build.IsKind(value, '['):
			for span := range build.Objects(value) {
				visit(span, owner, kind)
				found = true
			}
		case (name == "data" || name == "attributes") && build.IsKind(value, '{'):
			found = eachFlat(value, func(span []byte, inner, kind string) {
				if inner == "" {
					inner = owner
				}
				visit(span, inner, kind)
			}) || found
		case (name == "data" || name == "traces") && holdsTrace(value):
			for one := range build.Objects(value) {
				if build.HasMember(one, "spans") {
					found = eachFlat(one, visit) || found
				}
			}
		case rowLists[name] && holdsFlatSpan(value):
			for span := range build.Objects(value) {
				visit(span, "", "")
				found = true
			}
		case name == "data" && build.IsKind(value, '['):
			for element := range build.Objects(value) {
				if span := build.MemberRaw(element, "attributes"); build.IsKind(span, '{') {
					visit(span, owner, "")
					found = true
				}
			}
		}
	}
	return found
}

func decodeFlat(r trace.Record) ([]trace.Fragment, error) {
	if err := build.CheckRecord(r); err != nil {
		return nil, err
	}
	var out []trace.Fragment
	eachFlat(r.Data, func(span []byte, owner, kind string) {
		span = respell(span)
		h := readFlatHead(span)
		if h.trace == "" {
			h.trace = owner
		}
		if h.trace == "" {
			return
		}
		part := build.Object("trace", h.trace, "kind", kind, "span", span)
		key, aliases := spantree.SpanKeys(h.trace, h.conversation)
		out = append(out, trace.Fragment{Key: key, Aliases: aliases, Order: h.order, Data: part, Pos: r.Pos()})
	})
	if len(out) == 0 {
		return nil, diag.New(r.Pos(), build.CodeRecordShape, "this record has no span with the id of its trace")
	}
	return out, nil
}

// flatHead is what is read of a span to see where it belongs.
type flatHead struct {
	trace, conversation string
	order               int64
}

// readFlatHead reads where a span belongs.
func readFlatHead(span []byte) (h flatHead) {
	session, event := "", false
	c := jsonscan.New(span)
	for ok := c.Object(); ok && c.Member(); {
		switch key := string(c.Key()); key {
		case "trace_id", "traceId", "root_span_id":
			text, _ := c.Text()
			h.trace = spantree.SpanNumber(text, 16)
		case "context":
			for ok := c.Object(); ok && c.Member(); {
				if string(c.Key()) == "trace_id" {
					text, _ := c.Text()
					h.trace = spantree.SpanNumber(text, 16)
				}
			}
		case "session_id", "sessionId":
			text, _ := c.Text()
			session = string(text)
		case "event_id":
			event = true
		case "request_properties", "properties": // Helicone
			for ok := c.Object(); ok && c.Member(); {
				if strings.EqualFold(string(c.Key()), "Helicone-Session-Id") {
					text, _ := c.Text()
					h.trace = string(text)
				}
			}
		case "request_id":
			if text, ok := c.Text(); ok && h.trace == "" {
				h.trace = string(text)
			}
		case "attributes":
			for ok := c.Object(); ok && c.Member(); {
				key := string(c.Key())
				if key == "session" { // of nested attributes
					h.conversation = cmp.Or(string(build.MemberText(c.Raw(), "id")), h.conversation)
					continue
				}
				if slices.Contains(spantree.ConversationNames, key) {
					if text, ok := c.Text(); ok && spantree.NamesConversation(string(text)) {
						h.conversation = string(text)
					}
				}
			}
		default:
			if flatNames[key] == flatStart {
				h.order = build.ReadMoment(c).UnixNano()
			}
		}
	}
	if event && h.trace == "" { // the events of a session are a trace
		h.trace = session
	}
	if h.conversation == "" {
		h.conversation = session
	}
	return h
}

func assembleFlat(key string, parts []trace.Fragment) ([]*trace.Trajectory, error) {
	var spans []*spantree.Span
	for i := range parts {
		part := parts[i].Data
		spans = append(spans, readFlat(build.MemberRaw(part, "span"), string(build.MemberText(part, "trace")), string(build.MemberText(part, "kind"))))
	}
	return spantree.Finish(key, parts, spans), nil
}
