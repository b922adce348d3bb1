package trace

// otlpSpan reads a span.
func otlpSpan(v Value) *span {
	s := &span{
		trace:  spanNumber([]byte(v.member("traceId", "trace_id").Text), 16),
		id:     spanNumber([]byte(v.member("spanId", "span_id").Text), 8),
		parent: spanNumber([]byte(v.member("parentSpanId", "parent_span_id").Text), 8),
		name:   v.member("name").Text,
		start:  unixNano(v.member("startTimeUnixNano", "start_time_unix_nano")),
		end:    unixNano(v.member("endTimeUnixNano", "end_time_unix_nano")),
		attrs:  otlpAttributes(v.member("attributes")),
	}
	for _, e := range v.member("events").Elems {
		s.events = append(s.events, otlpEvent(e))
	}
	status := v.member("status")
	switch status.member("code").Text {
	case "2", "STATUS_CODE_ERROR", "ERROR", "Error":
		s.failed, s.failure = true, status.member("message", "description").Text
	}
	s.fail()
	s.kind = s.classify()
	return s
}

// fail reads what the attributes and events say about a failure.
func (s *span) fail() {
	if kind := s.text("error.type"); kind != "" {
		s.failed = true
		if s.failure == "" {
			s.failure = kind
		}
	}
	if !s.failed {
		return
	}
	for _, e := range s.events {
		if message, ok := attribute(e.attrs, "exception.message", 0); ok && e.name == "exception" && (s.failure == "" || s.failure == s.text("error.type")) {
			s.failure = message.Text
		}
	}
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
