// Package otel reads the spans and logs of OpenTelemetry (OTLP) and of Arize Phoenix
// (Phoenix), with the attributes for agents that several conventions name.
//
// A record of many spans comes in, one fragment a span goes out; package spantree
// joins them. It is O(record), and O(trace) where one is joined.
package otel

import (
	"bytes"
	"slices"
	"time"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/internal/spantree"
)

// OTLP reads the spans and log records of OpenTelemetry, one export request
// a line, as the file exporter writes them:
//
//	{"resourceSpans": [{"resource": ..., "scopeSpans": [{"spans": [...]}]}]}
//	{"resourceLogs":  [{"resource": ..., "scopeLogs":  [{"logRecords": [...]}]}]}
//
// What the spans say is read from the attributes of the conventions for
// generative AI (with content or without it, in attributes or, before version
// 1.37, in events), of OpenInference and of OpenLLMetry; other spans are links
// between these. A trace is spread over lines, and a conversation over traces:
// spans are collected by the conversation that they or their trace name, wherever
// that stands, and else by their trace.
//
// Note: the protocol's own Go package is not used. It refuses ids in base64 and
// half of the other spellings that are found in files, and the spans of one
// trajectory, which are all that is in memory at a time, are small as values.
var OTLP = trace.Format{
	Name:     "otlp",
	Doc:      "OpenTelemetry JSON lines with GenAI, OpenInference or OpenLLMetry spans and events.",
	Spec:     "https://opentelemetry.io/docs/specs/semconv/gen-ai/",
	Detect:   detectOTLP,
	Decode:   decodeOTLP,
	Assemble: assembleOTLP,
}

func marksAgent(name []byte) bool {
	return slices.ContainsFunc(spantree.AgentMarks, func(mark string) bool { return bytes.HasPrefix(name, []byte(mark)) })
}

func detectOTLP(h trace.Head) trace.Match {
	found, more := false, len(h.Records) == trace.MaxHeadRecords
	for _, r := range h.Records {
		if !isRequest(r.Members) && !isRequest(trace.NewHeadRecord(r.Members["trace"], true).Members) {
			if r.Has("resourceMetrics") || r.Has("resource_metrics") {
				return trace.Match{Lacks: "these are metrics, not spans or log records"}
			}
			continue
		}
		found, more = true, more || r.Truncated
		for _, mark := range spantree.AgentMarks {
			if bytes.Contains(r.Raw, []byte(`"`+mark)) {
				return trace.Match{OK: true}
			}
		}
	}
	switch {
	case !found:
		return trace.Match{}
	case more: // what is not seen yet may be of agents
		return trace.Match{OK: true}
	}
	return trace.Match{Lacks: "no span or log record has attributes of agents (gen_ai.*, openinference.*, llm.*, traceloop.*, mcp.*, ...)"}
}

// isRequest reports whether an object with these members is an export request, an
// element of one, or what Tempo gives for a trace.
func isRequest(members map[string][]byte) bool {
	for _, name := range []string{"resourceSpans", "resource_spans", "resourceLogs", "resource_logs"} {
		if _, ok := members[name]; ok {
			return true
		}
	}
	return bytes.Contains(members["batches"], []byte(`"scopeSpans"`)) || bytes.Contains(members["batches"], []byte(`"instrumentationLibrarySpans"`)) || build.IsKind(members["scopeSpans"], '[') || build.IsKind(members["scopeLogs"], '[')
}

// otlpHead is what is read of a span or log record to see where it belongs.
type otlpHead struct {
	trace, span, parent string
	conversation        string
	rank                int // of the attribute that names the conversation
	at                  time.Time
	agent               bool // it has something of a trajectory
}

// readOTLPHead reads a span or log record.
func readOTLPHead(data []byte) (h otlpHead) {
	h.rank = len(spantree.ConversationNames)
	c := jsonscan.New(data)
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "traceId", "trace_id":
			text, _ := c.Text()
			h.trace = spantree.SpanNumber(text, 16)
		case "spanId", "span_id":
			text, _ := c.Text()
			h.span = spantree.SpanNumber(text, 8)
		case "parentSpanId", "parent_span_id":
			text, _ := c.Text()
			h.parent = spantree.SpanNumber(text, 8)
		case "startTimeUnixNano", "start_time_unix_nano", "timeUnixNano", "time_unix_nano":
			if v, err := trace.ParseValue(c.Raw()); err == nil {
				h.at = spantree.UnixNano(v)
			}
		case "eventName", "event_name":
			name, _ := c.Text()
			h.agent = h.agent || marksAgent(name)
		case "name":
			name, _ := c.Text()
			h.agent = h.agent || bytes.HasPrefix(name, []byte("gen_ai."))
		case "attributes":
			h.readAttributes(&c)
		case "events":
			for ok := c.Array(); ok && c.Element(); {
				for ok := c.Object(); ok && c.Member(); {
					if string(c.Key()) == "name" {
						name, _ := c.Text()
						h.agent = h.agent || marksAgent(name)
					}
				}
			}
		}
	}
	return h
}

func (h *otlpHead) readAttributes(c *jsonscan.Cursor) {
	eachAttribute(c, func(key, value []byte) {
		h.agent = h.agent || marksAgent(key) || string(key) == "event.name" && marksAgent(value)
		for rank, name := range spantree.ConversationNames[:h.rank] {
			if name == string(key) && len(value) > 0 {
				h.conversation, h.rank = string(value), rank
				break
			}
		}
	})
}

// eachAttribute calls visit for every attribute of a list, with the text of its value,
// empty if that is none. Both are valid until it returns.
func eachAttribute(c *jsonscan.Cursor, visit func(key, value []byte)) {
	for ok := c.Array(); ok && c.Element(); {
		var key, value []byte
		for ok := c.Object(); ok && c.Member(); {
			switch string(c.Key()) {
			case "key":
				key, _ = c.Text()
			case "value":
				for ok := c.Object(); ok && c.Member(); {
					value, _ = c.Text()
				}
			}
		}
		visit(key, value)
	}
}

// eachOTLP calls visit for every span and log record of an export request, with
// the name of its service. It returns false if the value is no such request.
func eachOTLP(c *jsonscan.Cursor, visit func(service string, data []byte, log bool, offset int)) bool {
	found := false
	for ok := c.Object(); ok && c.Member(); {
		log := false
		switch string(c.Key()) {
		case "resourceSpans", "resource_spans", "batches":
		case "resourceLogs", "resource_logs":
			log = true
		case "trace":
			if c.Kind() == jsonscan.Object {
				start := c.Offset()
				in := jsonscan.New(c.Raw())
				found = eachOTLP(&in, func(service string, data []byte, log bool, at int) { visit(service, data, log, start+at) }) || found
			}
			continue
		default:
			continue
		}
		for ok := c.Array(); ok && c.Element(); {
			found = true
			start := c.Offset()
			raw := c.Raw()
			eachOfResource(raw, func(service string, data []byte, at int) { visit(service, data, log, start+at) })
		}
	}
	return found
}

// eachOfResource calls visit for every span and log record of one resource, with the
// name of its service. It returns false if it holds no list of them.
func eachOfResource(raw []byte, visit func(service string, data []byte, offset int)) bool {
	found := false
	service := otlpService(raw)
	in := jsonscan.New(raw)
	for ok := in.Object(); ok && in.Member(); {
		switch string(in.Key()) {
		case "scopeSpans", "scope_spans", "instrumentationLibrarySpans", "instrumentation_library_spans", "scopeLogs", "scope_logs":
		default:
			continue
		}
		for ok := in.Array(); ok && in.Element(); {
			found = true
			for ok := in.Object(); ok && in.Member(); {
				switch string(in.Key()) {
				case "spans", "logRecords", "log_records":
					for ok := in.Array(); ok && in.Element(); {
						at := in.Offset()
						if data := in.Raw(); data != nil && data[0] == '{' {
							visit(service, data, at)
						}
					}
				}
			}
		}
	}
	return found
}

// otlpService returns the name of the service of an element of resourceSpans.
func otlpService(raw []byte) (service string) {
	c := jsonscan.New(build.MemberRaw(raw, "resource", "attributes"))
	eachAttribute(&c, func(key, value []byte) {
		if string(key) == "service.name" {
			service = string(value)
		}
	})
	return service
}

func decodeOTLP(r trace.Record) ([]trace.Fragment, error) {
	c := jsonscan.New(r.Data)
	var out []trace.Fragment
	positions := trace.Positions{Record: r} // a record may hold all spans of a day
	visit := func(service string, data []byte, log bool, offset int) {
		h := readOTLPHead(data)
		if h.trace == "" {
			return // it cannot be part of anything
		}
		member := "span"
		switch {
		case log && !h.agent:
			return
		case log:
			member = "log"
		case !h.agent && h.parent == "":
			return // a trace that began outside of any agent
		case !h.agent:
			data = jsonscan.AppendQuoted([]byte(`{"traceId":`), h.trace)
			data = jsonscan.AppendQuoted(append(data, `,"spanId":`...), h.span)
			data = jsonscan.AppendQuoted(append(data, `,"parentSpanId":`...), h.parent)
			if h.conversation != "" {
				data = jsonscan.AppendQuoted(append(data, `,"attributes":[{"key":`...), spantree.ConversationNames[h.rank])
				data = append(jsonscan.AppendQuoted(append(data, `,"value":{"stringValue":`...), h.conversation), "}}]"...)
			}
			data = append(data, '}')
		}
		part := jsonscan.AppendQuoted([]byte(`{"service":`), service)
		part = append(append(append(append(part, `,"`...), member...), `":`...), data...)
		part = append(part, '}')
		at := int64(0)
		if !h.at.IsZero() {
			at = h.at.UnixNano()
		}
		key, aliases := spantree.SpanKeys(h.trace, h.conversation)
		out = append(out, trace.Fragment{Key: key, Aliases: aliases, Order: at, Data: part, Pos: positions.At(offset)})
	}
	found := eachOTLP(&c, visit)
	if !found { // a resource alone
		log := build.HasMember(r.Data, "scopeLogs")
		found = eachOfResource(r.Data, func(service string, data []byte, at int) { visit(service, data, log, at) })
	}
	if err := c.End(); err != nil {
		return nil, trace.ScanError(r, err)
	}
	if !found {
		b := build.New(0)
		return b.FinishRecord(r, &c, `this record has neither "resourceSpans" nor "resourceLogs"`)
	}
	return out, nil
}

func assembleOTLP(key string, parts []trace.Fragment) ([]*trace.Trajectory, error) {
	var spans []*spantree.Span
	byID := map[[2]string]*spantree.Span{}
	logs := map[[2]string][]spantree.Event{}
	var order [][2]string // of spans that only log records tell of
	var r otlpReader
	for i := range parts {
		s, log, id := r.part(parts[i].Data)
		if s == nil {
			if logs[id] == nil {
				order = append(order, id)
			}
			logs[id] = append(logs[id], log)
			continue
		}
		spans = append(spans, s)
		if _, ok := byID[[2]string{s.Trace, s.ID}]; !ok {
			byID[[2]string{s.Trace, s.ID}] = s
		}
	}
	for _, id := range order {
		s := byID[id]
		if s == nil { // logs were kept and spans were not
			s = &spantree.Span{Trace: id[0], ID: id[1], Kind: spantree.SpanModel, Attrs: trace.Value{Kind: trace.Object}, Start: logs[id][0].At, End: logs[id][len(logs[id])-1].At}
			for _, e := range logs[id] {
				s.Take(&spantree.Span{Attrs: e.Attrs})
			}
			spans = append(spans, s)
		}
		s.Events = append(s.Events, logs[id]...)
	}
	return spantree.Finish(key, parts, spans), nil
}
