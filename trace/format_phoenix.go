package trace

import (
	"strings"

	"github.com/awo-dev/awo/internal/jsonscan"
)

// formatPhoenix reads spans as Phoenix exports them, one a record, or as its
// interface lists them, several under "data":
//
//	{"name", "context": {"trace_id", "span_id"}, "parent_id", "start_time",
//	 "end_time", "status_code", "attributes": {...}, "events": [...]}
//
// The attributes are those of OpenInference, under their whole names or as nested
// objects; spans are joined as those of OpenTelemetry are.
var formatPhoenix = Format{
	Name:     "phoenix",
	Doc:      "Spans of Phoenix and OpenInference, as exported: context, parent_id, attributes.",
	Spec:     "https://arize-ai.github.io/openinference/spec/",
	Detect:   detectPhoenix,
	Decode:   decodePhoenix,
	Assemble: assemblePhoenix,
}

func detectPhoenix(h Head) Match {
	for _, r := range h.Records {
		switch {
		case r.Has("context", "attributes") || r.Has("context", "parent_id") || r.Has("context", "start_time"):
			if hasMember(r.Members["context"], "trace_id") {
				return Match{OK: true}
			}
			return Match{Lacks: `"context" has no "trace_id"`}
		case r.Has("data") && strings.HasPrefix(string(r.Members["data"]), "["):
			c := jsonscan.New(r.Members["data"])
			if !c.Array() || !c.Element() {
				continue
			}
			for ok := c.Object(); ok && c.Member(); {
				if string(c.Key()) == "context" && c.Kind() == jsonscan.Object && hasTraceID(&c) {
					return Match{OK: true}
				}
			}
		case r.Has("openinference.span.kind"):
			return Match{Lacks: `these are attributes of a span without the span: "context" is missing`}
		}
	}
	return Match{}
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
					h.trace = spanNumber(text, 16)
				}
			}
		case "start_time":
			text, _ := c.Text()
			if at, ok := ParseTime(text); ok {
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
func eachPhoenix(r *Record, c *jsonscan.Cursor, visit func(data []byte, offset int)) bool {
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

func decodePhoenix(r Record) ([]Fragment, error) {
	c := jsonscan.New(r.Data)
	var out []Fragment
	found := eachPhoenix(&r, &c, func(data []byte, offset int) {
		if h := readPhoenixHead(data); h.trace != "" {
			key, aliases := spanKeys(h.trace, h.conversation)
			out = append(out, Fragment{Key: key, Aliases: aliases, Order: h.order, Data: data, Pos: r.At(offset)})
		}
	})
	if err := c.End(); err != nil {
		return nil, scanError(r, err)
	}
	if !found || len(out) == 0 {
		return newBuilder(0).finishRecord(r, &c, `this record is no span with a "context" that names its trace`)
	}
	return out, nil
}

func assemblePhoenix(key string, parts []Fragment) ([]*Trajectory, error) {
	var spans []*span
	for i := range parts {
		v, err := ParseValue(parts[i].Data)
		if err != nil {
			continue // it was valid in its record
		}
		spans = append(spans, phoenixSpan(v))
	}
	return finishSpans(key, parts, spans), nil
}

// phoenixSpan reads a span.
func phoenixSpan(v Value) *span {
	context := v.member("context")
	s := &span{
		trace:   spanNumber([]byte(context.member("trace_id").Text), 16),
		id:      spanNumber([]byte(context.member("span_id").Text), 8),
		parent:  spanNumber([]byte(v.member("parent_id").Text), 8),
		name:    v.member("name").Text,
		failure: v.member("status_message").Text,
		failed:  v.member("status_code").Text == "ERROR",
		attrs:   Value{Kind: Object},
	}
	s.start, _ = ParseTime(v.member("start_time").Text)
	s.end, _ = ParseTime(v.member("end_time").Text)
	if attrs := v.member("attributes"); attrs.Kind == Object {
		s.attrs = attrs
	}
	if kind := v.member("span_kind").Text; kind != "" {
		if _, ok := s.attr("openinference.span.kind"); !ok && !strings.HasPrefix(kind, "SPAN_KIND") {
			s.attrs.Members = sortedMembers(append(s.attrs.Members[:len(s.attrs.Members):len(s.attrs.Members)],
				Member{"openinference.span.kind", Value{Kind: String, Text: kind}}))
		}
	}
	for _, e := range v.member("events").Elems {
		event := spanEvent{name: e.member("name").Text, attrs: Value{Kind: Object}}
		event.at, _ = ParseTime(e.member("timestamp").Text)
		if attrs := e.member("attributes"); attrs.Kind == Object {
			event.attrs = attrs
		}
		s.events = append(s.events, event)
	}
	s.fail()
	s.kind = s.classify()
	return s
}
