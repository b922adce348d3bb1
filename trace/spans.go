package trace

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"
)

// spanKind is what a span means for a trajectory.
type spanKind uint8

const (
	spanLink  spanKind = iota // nothing, but that it may stand between others
	spanAgent                 // a run of an agent
	spanChat                  // a model response
	spanTool                  // a tool call
	spanMCP                   // a tool call as its protocol saw it
)

// span is a span of a trace, in whatever of the conventions it is written.
type span struct {
	trace, id, parent string
	name, service     string
	kind              spanKind
	start, end        time.Time
	failed            bool
	failure           string // its text
	attrs             Value  // an object
	events            []spanEvent
	conversation      string // that it is part of; see spanConversations
}

// spanEvent is an event of a span, or a log record that names one.
type spanEvent struct {
	name  string
	at    time.Time
	attrs Value
	body  Value
}

// attr returns an attribute, by its whole name or, where attributes are nested
// objects, by the names on the way.
func (s *span) attr(name string) (Value, bool) { return attribute(s.attrs, name, 0) }

func attribute(v Value, name string, depth int) (Value, bool) {
	if found, ok := v.Lookup(name); ok {
		return found, found.Kind != Null
	}
	if depth > 8 {
		return Value{}, false
	}
	for i := range len(name) {
		if name[i] != '.' {
			continue
		}
		if inner, ok := v.Lookup(name[:i]); ok && inner.Kind == Object {
			if found, ok := attribute(inner, name[i+1:], depth+1); ok {
				return found, true
			}
		}
	}
	return Value{}, false
}

// text returns the first of some attributes that is text or a number.
func (s *span) text(names ...string) string {
	for _, name := range names {
		if v, ok := s.attr(name); ok && v.Text != "" {
			return v.Text
		}
	}
	return ""
}

// count returns the first of some attributes that is a number.
func (s *span) count(names ...string) (int64, bool) {
	for _, name := range names {
		v, ok := s.attr(name)
		if !ok || v.Kind != Number && v.Kind != String {
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
func (s *span) raw(names ...string) Raw {
	for _, name := range names {
		if v, ok := s.attr(name); ok {
			return rawOf(v)
		}
	}
	return Raw{}
}

// list returns the elements of an attribute that is a list, an object with
// numbers for names, or spread over attributes with the number in their names.
// Dotted names inside the elements become objects.
func (s *span) list(name string) []Value {
	if v, ok := s.attr(name); ok && (v.Kind == Array || v.Kind == Object) {
		return numbered(nest(v, 0))
	}
	prefix := name + "."
	first, _ := slices.BinarySearchFunc(s.attrs.Members, prefix, func(m Member, p string) int { return strings.Compare(m.Name, p) })
	var members []Member
	for _, m := range s.attrs.Members[first:] {
		rest, ok := strings.CutPrefix(m.Name, prefix)
		if !ok {
			break
		}
		members = append(members, Member{rest, m.Value})
	}
	return numbered(nest(Value{Kind: Object, Members: members}, 0))
}

// deepest is how many names a dotted name is divided into at most.
const deepest = 32

// nest replaces dotted names in a value by objects in objects.
func nest(v Value, depth int) Value {
	if depth > deepest {
		return v
	}
	if v.Kind == Array {
		out := Value{Kind: Array}
		for _, e := range v.Elems {
			out.Elems = append(out.Elems, nest(e, depth+1))
		}
		return out
	}
	if v.Kind != Object {
		return v
	}
	out := Value{Kind: Object}
	inner := map[string][]Member{}
	for _, m := range v.Members {
		head, rest, dotted := strings.Cut(m.Name, ".")
		if !dotted {
			out.Members = append(out.Members, Member{m.Name, nest(m.Value, depth+1)})
			continue
		}
		inner[head] = append(inner[head], Member{rest, m.Value})
	}
	for head, members := range inner {
		slices.SortStableFunc(members, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
		out.Members = append(out.Members, Member{head, nest(Value{Kind: Object, Members: members}, depth+1)})
	}
	slices.SortFunc(out.Members, func(a, b Member) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(b.Value.Kind, a.Value.Kind))
	})
	// Of a name that has a value and members, the members stay.
	out.Members = slices.CompactFunc(out.Members, func(a, b Member) bool { return a.Name == b.Name })
	return out
}

// numbered returns the elements of a list, or of an object whose names are
// numbers in their order.
func numbered(v Value) []Value {
	if v.Kind != Object {
		return v.Elems
	}
	type element struct {
		n int
		v Value
	}
	var elements []element
	for _, m := range v.Members {
		if n, err := strconv.Atoi(m.Name); err == nil {
			elements = append(elements, element{n, m.Value})
		}
	}
	slices.SortStableFunc(elements, func(a, b element) int { return cmp.Compare(a.n, b.n) })
	var out []Value
	for _, e := range elements {
		out = append(out, e.v)
	}
	return out
}

// classify says what a span means, by the conventions that it is written in.
func (s *span) classify() spanKind {
	if s.text("mcp.method.name") == "tools/call" && s.text("gen_ai.tool.call.id") == "" {
		return spanMCP
	}
	switch s.text("gen_ai.operation.name") {
	case "chat", "generate_content", "text_completion":
		return spanChat
	case "execute_tool":
		return spanTool
	case "invoke_agent":
		return spanAgent
	case "":
	default:
		return spanLink
	}
	switch strings.ToUpper(s.text("openinference.span.kind")) {
	case "LLM":
		return spanChat
	case "TOOL":
		return spanTool
	case "AGENT":
		return spanAgent
	case "":
	default:
		return spanLink
	}
	switch s.text("traceloop.span.kind") {
	case "tool":
		return spanTool
	case "agent":
		return spanAgent
	case "":
	default:
		return spanLink
	}
	switch kind := s.text("llm.request.type"); {
	case kind == "chat" || kind == "completion":
		return spanChat
	case kind != "":
		return spanLink
	case s.text("gen_ai.tool.name") != "":
		return spanTool
	case s.text("gen_ai.request.model", "gen_ai.response.model") != "" && s.text("gen_ai.system", "gen_ai.provider.name") != "":
		return spanChat
	}
	return spanLink
}

// usage returns the tokens of a model response. The conventions have cached
// tokens in the input; where there are more of them than that, it had none.
func (s *span) usage() (u Usage, apart bool) {
	var in, out bool
	u.Input, in = s.count("gen_ai.usage.input_tokens", "llm.token_count.prompt", "gen_ai.usage.prompt_tokens", "llm.usage.prompt_tokens")
	u.Output, out = s.count("gen_ai.usage.output_tokens", "llm.token_count.completion", "gen_ai.usage.completion_tokens", "llm.usage.completion_tokens")
	u.CachedInput, _ = s.count("gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens", "llm.token_count.prompt_details.cache_read")
	u.CacheWrite, _ = s.count("gen_ai.usage.cache_creation.input_tokens", "gen_ai.usage.cache_creation_input_tokens", "llm.token_count.prompt_details.cache_write")
	u.Reasoning, _ = s.count("gen_ai.usage.reasoning.output_tokens", "gen_ai.usage.reasoning_tokens", "llm.token_count.completion_details.reasoning")
	u.Known = in || out
	if v, ok := s.attr("llm.cost.total"); ok && v.Kind == Number {
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
func (s *span) model() string {
	return s.text("gen_ai.response.model", "gen_ai.request.model", "llm.model_name", "llm.response.model", "llm.request.model")
}

// toolName returns the tool that a span has called.
func (s *span) toolName() string {
	name := s.text("gen_ai.tool.name", "tool.name", "mcp.tool.name")
	if name == "" && s.text("traceloop.span.kind") != "" {
		name = s.text("traceloop.entity.name")
	}
	if name == "" {
		name = strings.TrimPrefix(strings.TrimPrefix(s.name, "execute_tool "), "tools/call ")
		if s.kind == spanMCP || s.text("traceloop.span.kind") != "" {
			name = strings.TrimSuffix(name, ".tool")
		}
	}
	return name
}

// callID returns the id of the call that a span has made, "" if it has none.
func (s *span) callID() string { return s.text("gen_ai.tool.call.id", "tool.id", "tool_call.id") }

// args returns the arguments that a tool was called with.
func (s *span) args() Raw {
	if r := s.raw("gen_ai.tool.call.arguments"); !r.IsZero() {
		return r
	}
	if v, ok := s.attr("mcp.request.argument"); ok {
		return toolInput(v, "arguments")
	}
	if v, ok := s.attr("traceloop.entity.input"); ok {
		return toolInput(v, "kwargs", "inputs", "input")
	}
	// Phoenix's instrumentations give the arguments as the input of the span; the
	// attribute tool.parameters is a schema in some and the arguments in others.
	return s.raw("input.value", "input")
}

// toolInput returns the arguments inside a value, or inside the JSON text that it
// is, that wraps them in a member.
func toolInput(v Value, wrappers ...string) Raw {
	whole := v
	if v.Kind == String {
		inner, err := ParseValue([]byte(v.Text))
		if err != nil {
			return rawOf(whole)
		}
		if v = inner; v.Kind == String {
			return rawOf(v)
		}
	}
	if params, ok := v.Lookup("params"); ok && params.Kind == Object {
		v = params
	}
	for _, name := range wrappers {
		if inner, ok := v.Lookup(name); ok && (inner.Kind == Object && len(inner.Members) > 0 || inner.Kind == String || name == "arguments") {
			if args, _ := v.Lookup("args"); name == "kwargs" && len(args.Elems) > 0 {
				break
			}
			return rawOf(inner)
		}
	}
	if args, ok := v.Lookup("args"); ok && len(args.Elems) == 0 {
		if kwargs, ok := v.Lookup("kwargs"); ok && kwargs.Kind == Object {
			return rawOf(kwargs)
		}
	}
	return rawOf(whole)
}

// result returns what a tool has returned.
func (s *span) result() Raw {
	if r := s.raw("gen_ai.tool.call.result", "mcp.response.value"); !r.IsZero() {
		return r
	}
	if v, ok := s.attr("traceloop.entity.output"); ok {
		return toolInput(v, "output")
	}
	return s.raw("output.value", "output")
}

// conversationNames are the attributes that name a conversation, the first best.
var conversationNames = []string{
	"gen_ai.conversation.id", "session.id", "traceloop.association.properties.session_id",
	"traceloop.association.properties.conversation_id", "traceloop.association.properties.thread_id",
}

// agentName returns the name of the agent that a span is of.
func (s *span) agentName() string {
	name := s.text("gen_ai.agent.name", "agent.name", "gen_ai.agent.id", "llm.agent.name")
	if name == "" && s.kind == spanAgent {
		if name = s.text("traceloop.entity.name"); name == "" {
			name = strings.TrimPrefix(s.name, "invoke_agent ")
		}
	}
	return name
}

// spanNumber returns an id of a trace or span in one spelling: hexadecimal in
// lower case, which writers that follow the general rules of protocol buffers
// give as base64 of as many bytes.
func spanNumber(text []byte, size int) string {
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

// unixNano returns the time of a number, which may be text, of nanoseconds.
func unixNano(v Value) time.Time {
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
