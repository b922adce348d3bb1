package otel

import (
	"strconv"
	"strings"

	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// Some write spans in members that mean other things elsewhere. They are respelled as
// the spans that Flat reads:
//
//	{"traceID", "spanID", "operationName", "references", "tags"}   Jaeger
//	{"traceId", "id", "parentId", "timestamp", "duration"}         Zipkin, the console of OpenTelemetry's JavaScript
//	{"context.trace_id", "context.span_id", "attributes.llm.x"}    data frames of Phoenix
//	{"@message": "..."}, {"message": "..."}                        CloudWatch, whose text is the span
//	{"event", "span": {...}}                                       a processor that notes starts and ends

// isRespelled reports whether an object with these members is such a span.
func isRespelled(members map[string][]byte) bool {
	has := func(name string) bool { _, ok := members[name]; return ok }
	switch {
	case has("traceID") && has("spanID"), has("context.trace_id") && has("context.span_id"):
		return true
	case has("traceId") && has("id") && has("timestamp") && has("duration"):
		return has("attributes") || has("tags")
	}
	return messageSpan(members) != nil
}

// messageSpan returns the span that is the text of a log line, or the object of an event;
// nil if that is none.
func messageSpan(members map[string][]byte) []byte {
	for _, name := range []string{"@message", "message"} {
		text := members[name]
		if !build.IsKind(text, '"') {
			continue
		}
		inner := build.InnerJSON(trace.Raw{Data: text, Form: trace.FormString})
		if build.IsKind(inner, '{') && isFlatSpan(trace.NewHeadRecord(inner, false).Members) {
			return inner
		}
	}
	if span := members["span"]; members["event"] != nil && isFlatSpan(trace.NewHeadRecord(span, false).Members) {
		return span
	}
	return nil
}

// respell returns a span in the members that Flat reads.
func respell(span []byte) []byte {
	members := trace.NewHeadRecord(span, false).Members
	if isFlatSpan(members) || !isRespelled(members) {
		return span
	}
	if inner := messageSpan(members); inner != nil {
		return inner
	}
	v, err := trace.ParseValue(span)
	if err != nil {
		return span
	}
	if _, ok := members["context.trace_id"]; ok {
		return nestColumns(v)
	}
	var out []trace.Member
	add := func(name string, v trace.Value) {
		if v.Kind != trace.Null {
			out = append(out, trace.Member{Name: name, Value: v})
		}
	}
	parent := v.Member("parentId", "parentSpanId")
	if context := v.Member("parentSpanContext"); context.Kind == trace.Object {
		parent = context.Member("spanId")
	}
	for _, r := range v.Member("references").Elems {
		if kind := r.Member("refType").Text; parent.Kind == trace.Null && (kind == "" || kind == "CHILD_OF") {
			parent = r.Member("spanID")
		}
	}
	start := v.Member("startTime", "timestamp")
	add("trace_id", v.Member("traceID", "traceId"))
	add("span_id", v.Member("spanID", "id"))
	add("parent_span_id", parent)
	add("name", v.Member("operationName", "name"))
	add("start_time", start)
	add("end_time", later(start, v.Member("duration")))
	add("status", v.Member("status"))
	add("attributes", tagged(v.Member("attributes", "tags")))
	events := v.Member("events")
	for _, log := range v.Member("logs").Elems {
		fields := tagged(log.Member("fields"))
		events.Kind = trace.Array
		events.Elems = append(events.Elems, trace.NewObject(trace.Member{Name: "name", Value: fields.Member("event")}, trace.Member{Name: "attributes", Value: fields}))
	}
	add("events", events)
	return trace.NewObject(out...).AppendCanonical(nil)
}

// tagged returns attributes that are an object, or Jaeger's list of keys and values.
func tagged(v trace.Value) trace.Value {
	if v.Kind != trace.Array {
		return v
	}
	var members []trace.Member
	for _, tag := range v.Elems {
		if key := tag.Member("key"); key.Kind == trace.String {
			members = append(members, trace.Member{Name: key.Text, Value: tag.Member("value")})
		}
	}
	return trace.Value{Kind: trace.Object, Members: trace.SortedMembers(members)}
}

// later returns a time that is so many microseconds after another.
func later(start, duration trace.Value) trace.Value {
	from, err := strconv.ParseFloat(start.Text, 64)
	length, err2 := strconv.ParseFloat(duration.Text, 64)
	if err != nil || err2 != nil || !(from > 0 && from < 1e17) || !(length >= 0 && length < 1e17) {
		return trace.Value{}
	}
	return trace.Value{Kind: trace.Number, Text: strconv.FormatInt(int64(from+length), 10)}
}

// nestColumns returns the span of a row whose columns have the names on the way to a
// value. Null stands where another row has the column.
func nestColumns(row trace.Value) []byte {
	groups := map[string][]trace.Member{"context": nil, "attributes": nil}
	var out []trace.Member
	for _, m := range row.Members {
		head, rest, _ := strings.Cut(m.Name, ".")
		if _, ok := groups[head]; ok && rest != "" {
			if m.Value.Kind != trace.Null {
				groups[head] = append(groups[head], trace.Member{Name: rest, Value: m.Value})
			}
			continue
		}
		out = append(out, m)
	}
	for name, members := range groups {
		out = append(out, trace.Member{Name: name, Value: trace.Value{Kind: trace.Object, Members: trace.SortedMembers(members)}})
	}
	return trace.NewObject(out...).AppendCanonical(nil)
}
