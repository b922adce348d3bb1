package otel

import (
	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/spantree"
)

// otlpReader reads the parts of a trajectory that decodeOTLP has made. It walks
// over the wrappers of attributes, which are most of a span, without building
// them; of members with the same name the last counts, as in a Value.
type otlpReader struct {
	values trace.ValueParser
}

// part reads a part: a span, or a log record with the ids of its trace and span.
func (r *otlpReader) part(data []byte) (s *spantree.Span, log spantree.Event, id [2]string) {
	service := ""
	c := jsonscan.New(data)
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "service":
			service = r.values.Value(&c).Text
		case "span":
			s = r.span(&c)
		case "log":
			v := r.values.Value(&c)
			log = otlpEvent(v)
			id = [2]string{spantree.SpanNumber([]byte(v.Member("traceId", "trace_id").Text), 16), spantree.SpanNumber([]byte(v.Member("spanId", "span_id").Text), 8)}
		}
	}
	if s != nil {
		s.Service = service
	}
	return s, log, id
}

// otlpNames are the members of a span that are read, each in the spelling that
// counts if both are there, and in the other.
var otlpNames = map[string]int{
	"traceId": 0, "trace_id": 1, "spanId": 2, "span_id": 3, "parentSpanId": 4, "parent_span_id": 5,
	"startTimeUnixNano": 6, "start_time_unix_nano": 7, "endTimeUnixNano": 8, "end_time_unix_nano": 9,
	"name": 10, "status": 12, "events": 14,
}

// span reads the span that c stands on.
func (r *otlpReader) span(c *jsonscan.Cursor) *spantree.Span {
	s := &spantree.Span{Attrs: trace.Value{Kind: trace.Object}}
	var members [16]trace.Value
	for ok := c.Object(); ok && c.Member(); {
		if key := c.Key(); string(key) == "attributes" {
			s.SetAttrs(r.attributes(c))
		} else if i, ok := otlpNames[string(key)]; ok {
			members[i] = r.values.Value(c)
		}
	}
	member := func(i int) trace.Value {
		if members[i].Kind == trace.Null {
			return members[i+1]
		}
		return members[i]
	}
	s.Trace = r.id(member(0), 16)
	s.ID = r.id(member(2), 8)
	s.Parent = r.id(member(4), 8)
	s.Start, s.End = spantree.UnixNano(member(6)), spantree.UnixNano(member(8))
	s.Name = member(10).Text
	status := member(12)
	for _, e := range member(14).Elems {
		s.Events = append(s.Events, otlpEvent(e))
	}
	switch status.Member("code").Text {
	case "2", "STATUS_CODE_ERROR", "ERROR", "Error":
		s.Failed, s.Failure = true, trace.TextOf(status.Member("message", "description").Text)
	}
	s.Fail()
	s.Classify()
	return s
}

// id returns the id of a trace or span.
func (r *otlpReader) id(v trace.Value, size int) string {
	r.values.Scratch = append(r.values.Scratch[:0], v.Text...)
	return spantree.SpanNumber(r.values.Scratch, size)
}

// attributes reads the list of attributes that c stands on, as otlpAttributes
// does.
func (r *otlpReader) attributes(c *jsonscan.Cursor) trace.Value {
	if c.Kind() != jsonscan.Array {
		return otlpAttributes(r.values.Value(c))
	}
	var members []trace.Member
	for ok := c.Array(); ok && c.Element(); {
		var key, value trace.Value
		for ok := c.Object(); ok && c.Member(); {
			switch string(c.Key()) {
			case "key":
				key = r.values.Value(c)
			case "value":
				value = r.value(c)
			}
		}
		if key.Kind == trace.String {
			if members == nil {
				members = make([]trace.Member, 0, 16)
			}
			members = append(members, trace.Member{Name: key.Text, Value: value})
		}
	}
	return trace.Value{Kind: trace.Object, Members: trace.SortedMembers(members)}
}

// value reads the wrapped value that c stands on, as otlpValue does.
func (r *otlpReader) value(c *jsonscan.Cursor) (v trace.Value) {
	start := c.Offset()
	if !c.Object() || !c.Member() {
		return trace.Value{}
	}
	switch key := string(c.Key()); key {
	case "stringValue", "string_value", "bytesValue", "bytes_value":
		if token := c.Token(); token != nil {
			v = trace.Value{Kind: trace.String, Text: r.values.String(token)}
		}
	case "intValue", "int_value", "doubleValue", "double_value", "boolValue", "bool_value", "arrayValue", "array_value", "kvlistValue", "kvlist_value":
		v = otlpValue(trace.Value{Kind: trace.Object, Members: []trace.Member{{Name: key, Value: r.values.Value(c)}}})
	}
	if c.Member() { // two values: which counts is a matter of their names
		c.Leave()
		whole := jsonscan.New(c.Since(start))
		return otlpValue(r.values.Value(&whole))
	}
	return v
}

// otlpEvent reads an event of a span, or a log record.
func otlpEvent(v trace.Value) spantree.Event {
	e := spantree.Event{
		Name:  v.Member("eventName", "event_name", "name").Text,
		At:    spantree.UnixNano(v.Member("timeUnixNano", "time_unix_nano", "observedTimeUnixNano")),
		Attrs: otlpAttributes(v.Member("attributes")),
	}
	if name, ok := e.Attrs.Lookup("event.name"); ok && e.Name == "" {
		e.Name = name.Text
	}
	if body := v.Member("body"); body.Kind == trace.Object {
		e.Body = otlpValue(body)
	}
	return e
}

// otlpAttributes returns the object that a list of attributes is.
func otlpAttributes(list trace.Value) trace.Value {
	out := trace.Value{Kind: trace.Object}
	if list.Kind == trace.Object { // as some write them
		return list
	}
	for _, a := range list.Elems {
		if key := a.Member("key"); key.Kind == trace.String {
			out.Members = append(out.Members, trace.Member{Name: key.Text, Value: otlpValue(a.Member("value"))})
		}
	}
	out.Members = trace.SortedMembers(out.Members)
	return out
}

// otlpValue returns the value that a wrapped one is.
func otlpValue(v trace.Value) trace.Value {
	if v.Kind != trace.Object || len(v.Members) == 0 {
		return trace.Value{}
	}
	inner := v.Members[0].Value
	switch v.Members[0].Name {
	case "stringValue", "string_value", "bytesValue", "bytes_value":
		if inner.Kind == trace.String {
			return inner
		}
	case "intValue", "int_value", "doubleValue", "double_value":
		if inner.Kind == trace.Number {
			return inner
		}
		if n, err := trace.ParseValue([]byte(inner.Text)); err == nil && n.Kind == trace.Number {
			return n
		}
	case "boolValue", "bool_value":
		return inner
	case "arrayValue", "array_value":
		out := trace.Value{Kind: trace.Array}
		for _, e := range inner.Member("values").Elems {
			out.Elems = append(out.Elems, otlpValue(e))
		}
		return out
	case "kvlistValue", "kvlist_value":
		out := otlpAttributes(inner.Member("values"))
		return trace.Value{Kind: trace.Object, Members: out.Members}
	}
	return trace.Value{}
}
