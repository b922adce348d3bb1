// Package spantree joins spans to trajectories: Join those with attributes as
// OpenTelemetry writes them, JoinRuns the runs of platforms.
//
// The spans of a trace come in, trajectories go out, one an agent. It is O(trace).
package spantree

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// Kind is what a span means for a trajectory.
type Kind uint8

const (
	SpanLink  Kind = iota // nothing, but that it may stand between others
	SpanAgent             // a run of an agent
	SpanChat              // a model response
	SpanTool              // a tool call
	SpanMCP               // a tool call as its protocol saw it
)

// Span is a span of a trace, in whatever of the conventions it is written.
type Span struct {
	Trace, ID, Parent string
	Name, Service     string
	Kind              Kind
	Start, End        time.Time
	Failed            bool
	Failure           string      // its text
	Attrs             trace.Value // an object
	Events            []Event
	conversation      string // that it is part of; see spanConversations
}

// Event is an event of a span, or a log record that names one.
type Event struct {
	Name  string
	At    time.Time
	Attrs trace.Value
	Body  trace.Value
}

// Attr returns an attribute, by its whole name or, where attributes are nested
// objects, by the names on the way.
func (s *Span) Attr(name string) (trace.Value, bool) { return attribute(s.Attrs, name, 0) }

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

// text returns the first of some attributes that is text or a number.
func (s *Span) text(names ...string) string {
	for _, name := range names {
		if v, ok := s.Attr(name); ok && v.Text != "" {
			return v.Text
		}
	}
	return ""
}

// count returns the first of some attributes that is a number.
func (s *Span) count(names ...string) (int64, bool) {
	for _, name := range names {
		v, ok := s.Attr(name)
		if !ok || v.Kind != trace.Number && v.Kind != trace.String {
			continue
		}
		if n, err := strconv.ParseInt(v.Text, 10, 64); err == nil && n >= 0 {
			return n, true
		}
		if f, err := strconv.ParseFloat(v.Text, 64); err == nil && f >= 0 && f < 1<<53 {
			return int64(f), true
		}
	}
	return 0, false
}

// raw returns the first of some attributes that is there.
func (s *Span) raw(names ...string) trace.Raw {
	for _, name := range names {
		if v, ok := s.Attr(name); ok {
			return build.RawOf(v)
		}
	}
	return trace.Raw{}
}

// list returns the elements of an attribute that is a list, an object with
// numbers for names, or spread over attributes with the number in their names.
// Dotted names inside the elements become objects.
func (s *Span) list(name string) []trace.Value {
	if v, ok := s.Attr(name); ok && (v.Kind == trace.Array || v.Kind == trace.Object) {
		return numbered(nest(v, 0))
	}
	prefix := name + "."
	first, _ := slices.BinarySearchFunc(s.Attrs.Members, prefix, func(m trace.Member, p string) int { return strings.Compare(m.Name, p) })
	var members []trace.Member
	for _, m := range s.Attrs.Members[first:] {
		rest, ok := strings.CutPrefix(m.Name, prefix)
		if !ok {
			break
		}
		members = append(members, trace.Member{Name: rest, Value: m.Value})
	}
	return numbered(nest(trace.Value{Kind: trace.Object, Members: members}, 0))
}

// deepest is how many names a dotted name is divided into at most.
const deepest = 32

// nest replaces dotted names in a value by objects in objects.
func nest(v trace.Value, depth int) trace.Value {
	if depth > deepest {
		return v
	}
	if v.Kind == trace.Array {
		out := trace.Value{Kind: trace.Array}
		for _, e := range v.Elems {
			out.Elems = append(out.Elems, nest(e, depth+1))
		}
		return out
	}
	if v.Kind != trace.Object {
		return v
	}
	out := trace.Value{Kind: trace.Object}
	inner := map[string][]trace.Member{}
	for _, m := range v.Members {
		head, rest, dotted := strings.Cut(m.Name, ".")
		if !dotted {
			out.Members = append(out.Members, trace.Member{Name: m.Name, Value: nest(m.Value, depth+1)})
			continue
		}
		inner[head] = append(inner[head], trace.Member{Name: rest, Value: m.Value})
	}
	for head, members := range inner {
		slices.SortStableFunc(members, func(a, b trace.Member) int { return strings.Compare(a.Name, b.Name) })
		out.Members = append(out.Members, trace.Member{Name: head, Value: nest(trace.Value{Kind: trace.Object, Members: members}, depth+1)})
	}
	slices.SortFunc(out.Members, func(a, b trace.Member) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(b.Value.Kind, a.Value.Kind))
	})
	// Of a name that has a value and members, the members stay.
	out.Members = slices.CompactFunc(out.Members, func(a, b trace.Member) bool { return a.Name == b.Name })
	return out
}

// numbered returns the elements of a list, or of an object whose names are
// numbers in their order.
func numbered(v trace.Value) []trace.Value {
	if v.Kind != trace.Object {
		return v.Elems
	}
	type element struct {
		n int
		v trace.Value
	}
	var elements []element
	for _, m := range v.Members {
		if n, err := strconv.Atoi(m.Name); err == nil {
			elements = append(elements, element{n, m.Value})
		}
	}
	slices.SortStableFunc(elements, func(a, b element) int { return cmp.Compare(a.n, b.n) })
	var out []trace.Value
	for _, e := range elements {
		out = append(out, e.v)
	}
	return out
}

// Classify says what a span means, by the conventions that it is written in.
func (s *Span) Classify() Kind {
	if s.text("mcp.method.name") == "tools/call" && s.text("gen_ai.tool.call.id") == "" {
		return SpanMCP
	}
	switch s.text("gen_ai.operation.name") {
	case "chat", "generate_content", "text_completion":
		return SpanChat
	case "execute_tool":
		return SpanTool
	case "invoke_agent":
		return SpanAgent
	case "":
	default:
		return SpanLink
	}
	switch strings.ToUpper(s.text("openinference.span.kind")) {
	case "LLM":
		return SpanChat
	case "TOOL":
		return SpanTool
	case "AGENT":
		return SpanAgent
	case "":
	default:
		return SpanLink
	}
	switch s.text("traceloop.span.kind") {
	case "tool":
		return SpanTool
	case "agent":
		return SpanAgent
	case "":
	default:
		return SpanLink
	}
	switch kind := s.text("llm.request.type"); {
	case kind == "chat" || kind == "completion":
		return SpanChat
	case kind != "":
		return SpanLink
	case s.text("gen_ai.tool.name") != "":
		return SpanTool
	case s.text("gen_ai.request.model", "gen_ai.response.model") != "" && s.text("gen_ai.system", "gen_ai.provider.name") != "":
		return SpanChat
	}
	return SpanLink
}

// usage returns the tokens of a model response. The conventions have cached
// tokens in the input; where there are more of them than that, it had none.
func (s *Span) usage() (u trace.Usage, apart bool) {
	var in, out bool
	u.Input, in = s.count("gen_ai.usage.input_tokens", "llm.token_count.prompt", "gen_ai.usage.prompt_tokens", "llm.usage.prompt_tokens")
	u.Output, out = s.count("gen_ai.usage.output_tokens", "llm.token_count.completion", "gen_ai.usage.completion_tokens", "llm.usage.completion_tokens")
	u.CachedInput, _ = s.count("gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens", "llm.token_count.prompt_details.cache_read")
	u.CacheWrite, _ = s.count("gen_ai.usage.cache_creation.input_tokens", "gen_ai.usage.cache_creation_input_tokens", "llm.token_count.prompt_details.cache_write")
	u.Reasoning, _ = s.count("gen_ai.usage.reasoning.output_tokens", "gen_ai.usage.reasoning_tokens", "llm.token_count.completion_details.reasoning")
	u.Known = in || out
	if v, ok := s.Attr("llm.cost.total"); ok && v.Kind == trace.Number {
		if cost, err := strconv.ParseFloat(v.Text, 64); err == nil {
			u.CostUSD = &cost
		}
	}
	if !u.Known {
		u.CachedInput, u.CacheWrite, u.Reasoning = 0, 0, 0
		return u, false
	}
	if cached := u.CachedInput + u.CacheWrite; cached > u.Input {
		u.Input, apart = u.Input+cached, true
	}
	u.Output = max(u.Output, u.Reasoning)
	return u, apart
}

// model returns the model that answered, else the one that was asked.
func (s *Span) model() string {
	return s.text("gen_ai.response.model", "gen_ai.request.model", "llm.model_name", "llm.response.model", "llm.request.model")
}

// toolName returns the tool that a span has called.
func (s *Span) toolName() string {
	name := s.text("gen_ai.tool.name", "tool.name", "mcp.tool.name")
	if name == "" && s.text("traceloop.span.kind") != "" {
		name = s.text("traceloop.entity.name")
	}
	if name == "" {
		name = strings.TrimPrefix(strings.TrimPrefix(s.Name, "execute_tool "), "tools/call ")
		if s.Kind == SpanMCP || s.text("traceloop.span.kind") != "" {
			name = strings.TrimSuffix(name, ".tool")
		}
	}
	return name
}

// callID returns the id of the call that a span has made, "" if it has none.
func (s *Span) callID() string { return s.text("gen_ai.tool.call.id", "tool.id", "tool_call.id") }

// args returns the arguments that a tool was called with.
func (s *Span) args() trace.Raw {
	if r := s.raw("gen_ai.tool.call.arguments"); !r.IsZero() {
		return r
	}
	if v, ok := s.Attr("mcp.request.argument"); ok {
		return toolInput(v, "arguments")
	}
	if v, ok := s.Attr("traceloop.entity.input"); ok {
		return toolInput(v, "kwargs", "inputs", "input")
	}
	// Phoenix's instrumentations give the arguments as the input of the span; the
	// attribute tool.parameters is a schema in some and the arguments in others.
	return s.raw("input.value", "input")
}

// toolInput returns the arguments inside a value, or inside the JSON text that it
// is, that wraps them in a member.
func toolInput(v trace.Value, wrappers ...string) trace.Raw {
	whole := v
	if v.Kind == trace.String {
		inner, err := trace.ParseValue([]byte(v.Text))
		if err != nil {
			return build.RawOf(whole)
		}
		if v = inner; v.Kind == trace.String {
			return build.RawOf(v)
		}
	}
	if params, ok := v.Lookup("params"); ok && params.Kind == trace.Object {
		v = params
	}
	for _, name := range wrappers {
		if inner, ok := v.Lookup(name); ok && (inner.Kind == trace.Object && len(inner.Members) > 0 || inner.Kind == trace.String || name == "arguments") {
			if args, _ := v.Lookup("args"); name == "kwargs" && len(args.Elems) > 0 {
				break
			}
			return build.RawOf(inner)
		}
	}
	if args, ok := v.Lookup("args"); ok && len(args.Elems) == 0 {
		if kwargs, ok := v.Lookup("kwargs"); ok && kwargs.Kind == trace.Object {
			return build.RawOf(kwargs)
		}
	}
	return build.RawOf(whole)
}

// result returns what a tool has returned.
func (s *Span) result() trace.Raw {
	if r := s.raw("gen_ai.tool.call.result", "mcp.response.value"); !r.IsZero() {
		return r
	}
	if v, ok := s.Attr("traceloop.entity.output"); ok {
		return toolInput(v, "output")
	}
	return s.raw("output.value", "output")
}

// ConversationNames are the attributes that name a conversation, the first best.
var ConversationNames = []string{
	"gen_ai.conversation.id", "session.id", "traceloop.association.properties.session_id",
	"traceloop.association.properties.conversation_id", "traceloop.association.properties.thread_id",
}

// agentName returns the name of the agent that a span is of.
func (s *Span) agentName() string {
	name := s.text("gen_ai.agent.name", "agent.name", "gen_ai.agent.id", "llm.agent.name")
	if name == "" && s.Kind == SpanAgent {
		if name = s.text("traceloop.entity.name"); name == "" {
			name = strings.TrimPrefix(s.Name, "invoke_agent ")
		}
	}
	return name
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
	id := strings.ToLower(string(text))
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
	if kind := s.text("error.type"); kind != "" {
		s.Failed = true
		if s.Failure == "" {
			s.Failure = kind
		}
	}
	if !s.Failed {
		return
	}
	for _, e := range s.Events {
		if message, ok := attribute(e.Attrs, "exception.message", 0); ok && e.Name == "exception" && (s.Failure == "" || s.Failure == s.text("error.type")) {
			s.Failure = message.Text
		}
	}
}
