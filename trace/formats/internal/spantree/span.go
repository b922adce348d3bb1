// Package spantree joins spans into trajectories, for every format that has spans:
// OpenTelemetry's, those of Phoenix, the observations of Langfuse, the runs of
// LangSmith, the spans of the OpenAI Agents SDK.
//
// A format turns what it reads into Spans and calls Finish, for spans that may name
// a conversation of several traces, or JoinPlatform. What attributes mean is in the
// tables of conventions.go; how messages are written, package message knows; the
// rules by which spans become trajectories are listed at Join, and decision 0024
// says why they are these. It is O(trace), or O(conversation).
package spantree

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// Kind is what a span means for a trajectory.
type Kind uint8

const (
	SpanLink  Kind = iota // nothing, but that it may stand between others
	SpanAgent             // a run of an agent
	SpanModel             // a model response
	SpanTool              // a tool call
	SpanMCP               // a tool call as its protocol saw it
)

// Span is a Span of a trace in the one form in which all formats hand them to the
// joiner: an observation of Langfuse, a run of LangSmith, a span of OpenTelemetry,
// Phoenix, MLflow or an SDK. What a span says stands in its attributes, by any of
// the conventions; the members below platform are what the format itself says, and
// count where the attributes say nothing.
type Span struct {
	Trace, ID, Parent string
	Order             string // sorts before the times, where a format has its own order
	Name, Service     string
	Kind              Kind
	Start, End        time.Time
	Attrs             trace.Value // an object
	nested            bool        // some attributes are objects, so that names may be on the way
	Events            []Event
	conversation      string // that it is part of; see spanConversations
	Failed            bool
	Failure           trace.Raw // its text

	Platform    Kind
	Input       trace.Raw // what went in: messages, or arguments
	Output      trace.Raw // what came out: a response, or a result
	ModelName   string
	Tool        string
	Called      []byte // id of the call
	Agent       string
	Tokens      trace.Usage
	Cost        *float64
	Tools       []trace.ToolDef
	Status      trace.Status // how a call ended, where the format says so
	Unsure      bool         // a span without a type: it is a call if a model called a tool of its name
	aboutItself bool         // the event of a step, not a step
	doubles     []*Span
	doubled     *Span        // the response that it tells again of
	ran         []build.Item // results of calls that it ran, where it is no call itself
	holds       bool         // a model response with others inside

	above  *Span     // the next span upwards that means something
	past   *Span     // the same of a link, once that was looked for
	sought bool      // past was looked for, or is being looked for
	within *agentRun // the run that it is part of, once that is known
	taken  int       // spans that told again of it
	passed bool      // what is above it was looked at
	said   *spanSaid
}

// Event is an event of a span, or a log record that names one.
type Event struct {
	Name  string
	At    time.Time
	Attrs trace.Value
	Body  trace.Value
}

// SetAttrs sets the attributes, an object.
func (s *Span) SetAttrs(attrs trace.Value) {
	s.Attrs = attrs
	for i := range attrs.Members {
		if attrs.Members[i].Value.Kind == trace.Object {
			s.nested = true
			return
		}
	}
}

// Attribute returns an attribute, by its whole name or, where attributes are nested
// objects, by the names on the way.
func (s *Span) Attribute(name string) (trace.Value, bool) {
	if found, ok := s.Attrs.Lookup(name); ok {
		return found, found.Kind != trace.Null
	}
	if !s.nested {
		return trace.Value{}, false
	}
	return attribute(s.Attrs, name, 0)
}

func attribute(v trace.Value, name string, depth int) (trace.Value, bool) {
	if found, ok := v.Lookup(name); ok {
		return found, found.Kind != trace.Null
	}
	if depth > 8 {
		return trace.Value{}, false
	}
	for i := range len(name) {
		if name[i] != '.' {
			continue
		}
		if inner, ok := v.Lookup(name[:i]); ok && inner.Kind == trace.Object {
			if found, ok := attribute(inner, name[i+1:], depth+1); ok {
				return found, true
			}
		}
	}
	return trace.Value{}, false
}

// Text returns the first of some attributes that is text or a number.
func (s *Span) Text(names ...string) string {
	for _, name := range names {
		if v, ok := s.Attribute(name); ok && v.Text != "" {
			return v.Text
		}
	}
	return ""
}

// count returns the first of some attributes that is a number.
func (s *Span) count(names ...string) (int64, bool) {
	for _, name := range names {
		if v, ok := s.Attribute(name); ok {
			if n, ok := countOf(v); ok {
				return n, true
			}
		}
	}
	return 0, false
}

// countOf returns the count that a number or its text is.
func countOf(v trace.Value) (int64, bool) {
	if v.Kind != trace.Number && v.Kind != trace.String {
		return 0, false
	}
	if n, err := strconv.ParseInt(v.Text, 10, 64); err == nil && n >= 0 {
		return n, true
	}
	if f, err := strconv.ParseFloat(v.Text, 64); err == nil && f >= 0 && f < 1<<53 {
		return int64(f), true
	}
	return 0, false
}

// find returns the first of some attributes that the span or an event of it has.
func (s *Span) find(name string) (trace.Value, bool) {
	if v, ok := s.Attribute(name); ok {
		return v, true
	}
	for _, e := range s.Events {
		if v, ok := attribute(e.Attrs, name, 0); ok {
			return v, true
		}
	}
	return trace.Value{}, false
}

// list returns, as JSON, the elements of an attribute that is a list, an object
// with numbers for names, or spread over attributes with the number in their
// names. Dotted names inside the elements become objects. It returns nil if there
// is none.
func (s *Span) list(name string) []byte {
	if v, ok := s.Attribute(name); ok {
		switch v.Kind {
		case trace.Array, trace.Object:
			return listJSON(v)
		case trace.String:
			if inner, ok := build.JSONIn(v); ok && inner.Kind != trace.String {
				return listJSON(inner)
			}
		}
		return nil
	}
	prefix := name + "."
	first, _ := slices.BinarySearchFunc(s.Attrs.Members, prefix, func(m trace.Member, p string) int { return strings.Compare(m.Name, p) })
	last := first
	for last < len(s.Attrs.Members) && strings.HasPrefix(s.Attrs.Members[last].Name, prefix) {
		last++
	}
	if first == last || !strings.HasPrefix(s.Attrs.Members[first].Name, prefix+"0") {
		return nil // none, or the beginning was cut off because a span can hold no more
	}
	return appendNested(nil, s.Attrs.Members[first:last], len(prefix), 0)
}

// listJSON returns a list as JSON, with dotted names as objects.
func listJSON(v trace.Value) []byte {
	if v.Kind == trace.Array {
		out := []byte{'['}
		for i, e := range v.Elems {
			if i > 0 {
				out = append(out, ',')
			}
			out = appendUndotted(out, e, 0)
		}
		return append(out, ']')
	}
	return appendUndotted(nil, v, 0)
}

// appendUndotted appends a value in which dotted names are objects.
func appendUndotted(dst []byte, v trace.Value, depth int) []byte {
	switch {
	case depth > deepest:
		return v.AppendCanonical(dst)
	case v.Kind == trace.Object:
		return appendNested(dst, v.Members, 0, depth)
	case v.Kind == trace.Array:
		dst = append(dst, '[')
		for i, e := range v.Elems {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendUndotted(dst, e, depth+1)
		}
		return append(dst, ']')
	}
	return v.AppendCanonical(dst)
}

// deepest is how many names a dotted name is divided into at most.
const deepest = 32

// appendNested appends the object, or the list if all names in it are numbers, that
// members with dotted names are behind the first cut bytes of them. Members are in
// the order of their names, so those that share a beginning stand side by side. Of
// a name that has a value and members, the members stay.
func appendNested(dst []byte, members []trace.Member, cut, depth int) []byte {
	type group struct {
		name        string
		number      int
		first, last int
		whole       bool // a value, not members
	}
	var room [16]group
	groups, list := room[:0], true
	for i := 0; i < len(members); {
		rest := members[i].Name[cut:]
		head, _, dotted := strings.Cut(rest, ".")
		g := group{name: head, first: i, last: i + 1, whole: !dotted}
		for dotted && g.last < len(members) && len(members[g.last].Name) > cut+len(head) &&
			members[g.last].Name[cut:cut+len(head)] == head && members[g.last].Name[cut+len(head)] == '.' {
			g.last++
		}
		n, err := strconv.Atoi(head)
		if g.number = n; err != nil || n < 0 {
			list = false
		}
		i = g.last
		if n := len(groups); n > 0 && groups[n-1].name == head && groups[n-1].whole {
			groups[n-1] = g
			continue
		}
		groups = append(groups, g)
	}
	opening, closing := byte('{'), byte('}')
	if list && len(groups) > 0 {
		opening, closing = '[', ']'
		slices.SortStableFunc(groups, func(a, b group) int { return a.number - b.number })
	}
	dst = append(dst, opening)
	for i, g := range groups {
		if i > 0 {
			dst = append(dst, ',')
		}
		if opening == '{' {
			dst = append(jsonscan.AppendQuoted(dst, g.name), ':')
		}
		if g.whole || depth > deepest {
			dst = appendUndotted(dst, members[g.first].Value, depth+1)
		} else {
			dst = appendNested(dst, members[g.first:g.last], cut+len(g.name)+1, depth+1)
		}
	}
	return append(dst, closing)
}

// SpanNumber returns an id of a trace or span in one spelling: hexadecimal in
// lower case, which writers that follow the general rules of protocol buffers
// give as base64 of as many bytes.
func SpanNumber(text []byte, size int) string {
	if len(text) == base64.StdEncoding.EncodedLen(size) {
		if b, err := base64.StdEncoding.DecodeString(string(text)); err == nil && len(b) == size {
			text = hex.AppendEncode(nil, b)
		}
	}
	id := strings.TrimPrefix(strings.ToLower(string(text)), "0x")
	if strings.Trim(id, "0") == "" {
		return ""
	}
	return id
}

// UnixNano returns the time of a number, which may be text, of nanoseconds.
func UnixNano(v trace.Value) time.Time {
	n, err := strconv.ParseInt(v.Text, 10, 64)
	if err != nil {
		f, err := strconv.ParseFloat(v.Text, 64)
		if err != nil || f < 0 || f > 9e18 {
			return time.Time{}
		}
		n = int64(f)
	}
	if n <= 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

// Fail reads what the attributes and events say about a failure.
func (s *Span) Fail() {
	if kind := s.Text("error.type"); kind != "" {
		s.Failed = true
		if s.Failure.IsEmpty() {
			s.Failure = trace.TextOf(kind)
		}
	}
	if !s.Failed {
		return
	}
	for _, e := range s.Events {
		if text, ok := attribute(e.Attrs, "exception.message", 0); ok && e.Name == "exception" && (s.Failure.IsEmpty() || s.Failure.Text() == s.Text("error.type")) {
			s.Failure = trace.TextOf(text.Text)
		}
	}
}
