package otel

import (
	"strings"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/internal/spantree"
)

// Phoenix reads spans as Phoenix exports them, one a record, or as its
// interface lists them, several under "data":
//
//	{"name", "context": {"trace_id", "span_id"}, "parent_id", "start_time",
//	 "end_time", "status_code", "attributes": {...}, "events": [...]}
//
// The attributes are those of OpenInference, under their whole names or as nested
// objects; spans are joined as those of OpenTelemetry are.
var Phoenix = trace.Format{
	Name:     "phoenix",
	Doc:      "Spans of Phoenix and OpenInference, as exported: context, parent_id, attributes.",
	Spec:     "https://arize-ai.github.io/openinference/spec/",
	Detect:   detectPhoenix,
	Decode:   decodePhoenix,
	Assemble: assemblePhoenix,
}

func detectPhoenix(h trace.Head) trace.Match {
	for _, r := range h.Records {
		switch {
		case r.Has("context", "attributes") || r.Has("context", "parent_id") || r.Has("context", "start_time"):
			if build.HasMember(r.Members["context"], "trace_id") {
				return trace.Match{OK: true}
			}
			return trace.Match{Lacks: `"context" has no "trace_id"`}
		case r.Has("data") && strings.HasPrefix(string(r.Members["data"]), "["):
			c := jsonscan.New(r.Members["data"])
			if !c.Array() || !c.Element() {
				continue
			}
			for ok := c.Object(); ok && c.Member(); {
				if string(c.Key()) == "context" && c.Kind() == jsonscan.Object && hasTraceID(&c) {
					return trace.Match{OK: true}
				}
			}
		case r.Has("openinference.span.kind"):
			return trace.Match{Lacks: `these are attributes of a span without the span: "context" is missing`}
		}
	}
	return trace.Match{}
}

// hasTraceID passes over an object and reports whether it names a trace.
func hasTraceID(c *jsonscan.Cursor) (found bool) {
	for ok := c.Object(); ok && c.Member(); {
		found = found || string(c.Key()) == "trace_id"
	}
	return found
}

// phoenixHead is what is read of a span to see where it belongs.
type phoenixHead struct {
	trace, conversation string
	order               int64
}

func readPhoenixHead(data []byte) (h phoenixHead) {
	c := jsonscan.New(data)
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "context":
			for ok := c.Object(); ok && c.Member(); {
				if string(c.Key()) == "trace_id" {
					text, _ := c.Text()
					h.trace = spantree.SpanNumber(text, 16)
				}
			}
		case "start_time":
			text, _ := c.Text()
			if at, ok := trace.ParseTime(text); ok {
				h.order = at.UnixMicro()
			}
		case "attributes":
			for ok := c.Object(); ok && c.Member(); {
				switch string(c.Key()) {
				case "session.id":
					text, _ := c.Text()
					h.conversation = string(text)
				case "session":
					for ok := c.Object(); ok && c.Member(); {
						if string(c.Key()) == "id" {
							text, _ := c.Text()
							h.conversation = string(text)
						}
					}
				}
			}
		}
	}
	return h
}

// eachPhoenix calls visit for every span of a record. It returns false if there
// is none.
func eachPhoenix(r *trace.Record, c *jsonscan.Cursor, visit func(data []byte, offset int)) bool {
	found, list := false, false
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "context":
			found = c.Kind() == jsonscan.Object || found
		case "data":
			for ok := c.Array(); ok && c.Element(); {
				at := c.Offset()
				if data := c.Raw(); data != nil && data[0] == '{' {
					list = true
					visit(data, at)
				}
			}
		}
	}
	if found && !list {
		visit(r.Data, 0)
	}
	return found || list
}

func decodePhoenix(r trace.Record) ([]trace.Fragment, error) {
	c := jsonscan.New(r.Data)
	var out []trace.Fragment
	found := eachPhoenix(&r, &c, func(data []byte, offset int) {
		if h := readPhoenixHead(data); h.trace != "" {
			key, aliases := spantree.SpanKeys(h.trace, h.conversation)
			out = append(out, trace.Fragment{Key: key, Aliases: aliases, Order: h.order, Data: data, Pos: r.At(offset)})
		}
	})
	if err := c.End(); err != nil {
		return nil, trace.ScanError(r, err)
	}
	if !found || len(out) == 0 {
		return build.New(0).FinishRecord(r, &c, `this record is no span with a "context" that names its trace`)
	}
	return out, nil
}

func assemblePhoenix(key string, parts []trace.Fragment) ([]*trace.Trajectory, error) {
	var spans []*spantree.Span
	for i := range parts {
		v, err := trace.ParseValue(parts[i].Data)
		if err != nil {
			continue // it was valid in its record
		}
		spans = append(spans, phoenixSpan(v))
	}
	return spantree.Finish(key, parts, spans), nil
}

// phoenixSpan reads a span.
func phoenixSpan(v trace.Value) *spantree.Span {
	context := v.Member("context")
	s := &spantree.Span{
		Trace:   spantree.SpanNumber([]byte(context.Member("trace_id").Text), 16),
		ID:      spantree.SpanNumber([]byte(context.Member("span_id").Text), 8),
		Parent:  spantree.SpanNumber([]byte(v.Member("parent_id").Text), 8),
		Name:    v.Member("name").Text,
		Failure: build.RawOf(v.Member("status_message")),
		Failed:  v.Member("status_code").Text == "ERROR",
		Attrs:   trace.Value{Kind: trace.Object},
	}
	s.Start, _ = trace.ParseTime(v.Member("start_time").Text)
	s.End, _ = trace.ParseTime(v.Member("end_time").Text)
	if attrs := v.Member("attributes"); attrs.Kind == trace.Object {
		s.SetAttrs(attrs)
	}
	if kind := v.Member("span_kind").Text; kind != "" {
		if _, ok := s.Attribute("openinference.span.kind"); !ok && !strings.HasPrefix(kind, "SPAN_KIND") {
			s.Attrs.Members = trace.SortedMembers(append(s.Attrs.Members[:len(s.Attrs.Members):len(s.Attrs.Members)],
				trace.Member{Name: "openinference.span.kind", Value: trace.Value{Kind: trace.String, Text: kind}}))
		}
	}
	for _, e := range v.Member("events").Elems {
		event := spantree.Event{Name: e.Member("name").Text, Attrs: trace.Value{Kind: trace.Object}}
		event.At, _ = trace.ParseTime(e.Member("timestamp").Text)
		if attrs := e.Member("attributes"); attrs.Kind == trace.Object {
			event.Attrs = attrs
		}
		s.Events = append(s.Events, event)
	}
	s.Fail()
	s.Classify()
	return s
}
