package trace

import "github.com/awo-dev/awo/internal/jsonscan"

// otlpReader reads the parts of a trajectory that decodeOTLP has made. It walks
// over the wrappers of attributes, which are most of a span, without building
// them; of members with the same name the last counts, as in a Value.
type otlpReader struct {
	values valueParser
}

// part reads a part: a span, or a log record with the ids of its trace and span.
func (r *otlpReader) part(data []byte) (s *span, log spanEvent, id [2]string) {
	service := ""
	c := jsonscan.New(data)
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "service":
			service = r.values.value(&c).Text
		case "span":
			s = r.span(&c)
		case "log":
			v := r.values.value(&c)
			log = otlpEvent(v)
			id = [2]string{spanNumber([]byte(v.member("traceId", "trace_id").Text), 16), spanNumber([]byte(v.member("spanId", "span_id").Text), 8)}
		}
	}
	if s != nil {
		s.service = service
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
func (r *otlpReader) span(c *jsonscan.Cursor) *span {
	s := &span{attrs: Value{Kind: Object}}
	var members [16]Value
	for ok := c.Object(); ok && c.Member(); {
		if key := c.Key(); string(key) == "attributes" {
			s.attrs = r.attributes(c)
		} else if i, ok := otlpNames[string(key)]; ok {
			members[i] = r.values.value(c)
		}
	}
	member := func(i int) Value {
		if members[i].Kind == Null {
			return members[i+1]
		}
		return members[i]
	}
	s.trace = r.id(member(0), 16)
	s.id = r.id(member(2), 8)
	s.parent = r.id(member(4), 8)
	s.start, s.end = unixNano(member(6)), unixNano(member(8))
	s.name = member(10).Text
	status := member(12)
	for _, e := range member(14).Elems {
		s.events = append(s.events, otlpEvent(e))
	}
	switch status.member("code").Text {
	case "2", "STATUS_CODE_ERROR", "ERROR", "Error":
		s.failed, s.failure = true, status.member("message", "description").Text
	}
	s.fail()
	s.kind = s.classify()
	return s
}

// id returns the id of a trace or span.
func (r *otlpReader) id(v Value, size int) string {
	r.values.scratch = append(r.values.scratch[:0], v.Text...)
	return spanNumber(r.values.scratch, size)
}

// attributes reads the list of attributes that c stands on, as otlpAttributes
// does.
func (r *otlpReader) attributes(c *jsonscan.Cursor) Value {
	if c.Kind() != jsonscan.Array {
		return otlpAttributes(r.values.value(c))
	}
	var members []Member
	for ok := c.Array(); ok && c.Element(); {
		var key, value Value
		for ok := c.Object(); ok && c.Member(); {
			switch string(c.Key()) {
			case "key":
				key = r.values.value(c)
			case "value":
				value = r.value(c)
			}
		}
		if key.Kind == String {
			if members == nil {
				members = make([]Member, 0, 16)
			}
			members = append(members, Member{key.Text, value})
		}
	}
	return Value{Kind: Object, Members: sortedMembers(members)}
}

// value reads the wrapped value that c stands on, as otlpValue does.
func (r *otlpReader) value(c *jsonscan.Cursor) (v Value) {
	start := c.Offset()
	if !c.Object() || !c.Member() {
		return Value{}
	}
	switch key := string(c.Key()); key {
	case "stringValue", "string_value", "bytesValue", "bytes_value":
		if token := c.Token(); token != nil {
			v = Value{Kind: String, Text: r.values.string(token)}
		}
	case "intValue", "int_value", "doubleValue", "double_value", "boolValue", "bool_value", "arrayValue", "array_value", "kvlistValue", "kvlist_value":
		v = otlpValue(Value{Kind: Object, Members: []Member{{key, r.values.value(c)}}})
	}
	if c.Member() { // two values: which counts is a matter of their names
		c.Leave()
		whole := jsonscan.New(c.Since(start))
		return otlpValue(r.values.value(&whole))
	}
	return v
}

// otlpEvent reads an event of a span, or a log record.
func otlpEvent(v Value) spanEvent {
	e := spanEvent{
		name:  v.member("eventName", "event_name", "name").Text,
		at:    unixNano(v.member("timeUnixNano", "time_unix_nano", "observedTimeUnixNano")),
		attrs: otlpAttributes(v.member("attributes")),
	}
	if name, ok := e.attrs.Lookup("event.name"); ok && e.name == "" {
		e.name = name.Text
	}
	if body := v.member("body"); body.Kind == Object {
		e.body = otlpValue(body)
	}
	return e
}

// otlpAttributes returns the object that a list of attributes is.
func otlpAttributes(list Value) Value {
	out := Value{Kind: Object}
	if list.Kind == Object { // as some write them
		return list
	}
	for _, a := range list.Elems {
		if key := a.member("key"); key.Kind == String {
			out.Members = append(out.Members, Member{key.Text, otlpValue(a.member("value"))})
		}
	}
	out.Members = sortedMembers(out.Members)
	return out
}

// otlpValue returns the value that a wrapped one is.
func otlpValue(v Value) Value {
	if v.Kind != Object || len(v.Members) == 0 {
		return Value{}
	}
	inner := v.Members[0].Value
	switch v.Members[0].Name {
	case "stringValue", "string_value", "bytesValue", "bytes_value":
		if inner.Kind == String {
			return inner
		}
	case "intValue", "int_value", "doubleValue", "double_value":
		if inner.Kind == Number {
			return inner
		}
		if n, err := ParseValue([]byte(inner.Text)); err == nil && n.Kind == Number {
			return n
		}
	case "boolValue", "bool_value":
		return inner
	case "arrayValue", "array_value":
		out := Value{Kind: Array}
		for _, e := range inner.member("values").Elems {
			out.Elems = append(out.Elems, otlpValue(e))
		}
		return out
	case "kvlistValue", "kvlist_value":
		out := otlpAttributes(inner.member("values"))
		return Value{Kind: Object, Members: out.Members}
	}
	return Value{}
}
