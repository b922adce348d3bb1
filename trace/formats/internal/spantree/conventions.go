package spantree

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/internal/message"
)

// The tables of this file say which attributes mean what, by all the conventions in
// which instrumentations write them: OpenTelemetry's for generative AI (gen_ai),
// OpenInference's (openinference, llm, tool), OpenLLMetry's (traceloop), those of
// the Model Context Protocol (mcp), Google's agent kit (gcp.vertex.agent), the AI
// SDK (ai), LangSmith, MLflow, Langfuse, Logfire and pydantic-ai. Reading a further
// one is a line in each table that it concerns. Of several attributes the first
// counts.

// AgentMarks begin the names of attributes and events that a trajectory is read
// from.
var AgentMarks = []string{
	"gen_ai.", "openinference.", "llm.", "traceloop.", "ioa_observe.", "mcp.", "gcp.vertex.agent.", "ai.", "langsmith.", "mlflow.", "tool.",
	"pydantic_ai.", "agent_name", "langfuse.observation.", "lk.function_tool.",
}

// kindRules say by the value of an attribute what a span is. A value that is not
// listed decides nothing, but for those attributes whose every other value is a
// link.
var kindRules = []struct {
	attribute string
	kinds     map[string]Kind
	all       bool // other values mean that the span is a link
}{
	{"openinference.span.kind", map[string]Kind{"DECISION": SpanLink}, false}, // of a model that scores answers: also where it is said to chat
	{"gen_ai.operation.name", map[string]Kind{
		"chat": SpanModel, "generate_content": SpanModel, "text_completion": SpanModel, "execute_tool": SpanTool, "invoke_agent": SpanAgent,
		"create_agent": SpanLink, "embeddings": SpanLink, "retrieval": SpanLink, "invoke_workflow": SpanLink, "plan": SpanLink,
	}, false},
	{"openinference.span.kind", map[string]Kind{"LLM": SpanModel, "TOOL": SpanTool, "AGENT": SpanAgent}, true},
	{"traceloop.span.kind", map[string]Kind{"tool": SpanTool, "agent": SpanAgent}, true},
	{"ioa_observe.span.kind", map[string]Kind{"tool": SpanTool, "agent": SpanAgent, "llm": SpanModel}, true},
	{"ai.operationId", map[string]Kind{
		"ai.generateText": SpanModel, "ai.generateText.doGenerate": SpanModel, "ai.streamText": SpanModel, "ai.streamText.doStream": SpanModel,
		"ai.generateObject": SpanModel, "ai.generateObject.doGenerate": SpanModel, "ai.streamObject": SpanModel, "ai.streamObject.doStream": SpanModel,
		"ai.toolCall": SpanTool,
	}, true},
	{"langsmith.span.kind", map[string]Kind{"llm": SpanModel, "tool": SpanTool}, false},
	{"mlflow.spanType", map[string]Kind{"LLM": SpanModel, "CHAT_MODEL": SpanModel, "TOOL": SpanTool, "AGENT": SpanAgent}, false},
	{"langfuse.observation.type", map[string]Kind{"generation": SpanModel, "tool": SpanTool, "agent": SpanAgent}, false},
	{"llm.request.type", map[string]Kind{"chat": SpanModel, "completion": SpanModel}, true},
}

// classify says what a span means, by the conventions that it is written in and
// else by what its format says.
func (s *Span) Classify() {
	kind, ok := s.byConvention()
	if !ok || kind == SpanLink && s.Platform != SpanLink && s.Platform != SpanAgent {
		kind = s.Platform
	}
	s.Kind = kind
}

func (s *Span) byConvention() (Kind, bool) {
	if s.Text("mcp.method.name") == "tools/call" && s.Text("gen_ai.tool.call.id") == "" {
		return SpanMCP, true
	}
	for _, rule := range kindRules {
		value := strings.Trim(s.Text(rule.attribute), `"`)
		if value == "" {
			continue
		}
		kind, ok := rule.kinds[value]
		if !ok {
			kind, ok = rule.kinds[strings.ToUpper(value)]
		}
		if ok || rule.all {
			return kind, true
		}
	}
	switch {
	case len(s.Text("gcp.vertex.agent.llm_request")) > 2:
		return SpanModel, true
	case s.Text("gen_ai.tool.name", "ai.toolCall.name", "lk.function_tool.name") != "", s.Text("tool.name") != "" && s.Text("tool.input") != "":
		return SpanTool, true
	case s.Text("gen_ai.request.model", "gen_ai.response.model") != "" && s.Text("gen_ai.system", "gen_ai.provider.name") != "":
		return SpanModel, true
	case s.Text("agent_name") != "" || s.Text("gen_ai.agent.name") != "" && strings.HasSuffix(s.Name, " run"):
		return SpanAgent, true
	}
	return SpanLink, false
}

// stepEvent is the name of a span that stands for an event of a step: some
// instrumentations make one span for the start of a step and others for its end.
var stepEvent = regexp.MustCompile(`^(.+)\.(start|success|finish|error|retry|update|partial_update|partialUpdate|new_token|newToken)(-\d+)?$`)

// stepOf returns the step and the event that a span is named by.
func (s *Span) stepOf() (step, event string) {
	if strings.IndexByte(s.Name, '.') < 0 {
		return "", ""
	}
	if found := stepEvent.FindStringSubmatch(s.Name); found != nil {
		return found[1], found[2]
	}
	return "", ""
}

// ConversationNames are the attributes that name a conversation, the first best.
var ConversationNames = []string{
	"gen_ai.conversation.id", "session.id", "traceloop.association.properties.session_id",
	"traceloop.association.properties.conversation_id", "traceloop.association.properties.thread_id",
}

// NamesConversation reports whether a text can be the name of a conversation. Some
// name the response that a request goes on from.
func NamesConversation(text string) bool { return text != "" && !strings.HasPrefix(text, "resp_") }

// conversationName returns the conversation that a span or its log records name.
func (s *Span) conversationName() string {
	for _, name := range ConversationNames {
		if text := s.Text(name); NamesConversation(text) {
			return text
		}
		for _, e := range s.Events {
			if v, ok := e.Attrs.Lookup(name); ok && v.Kind == trace.String && NamesConversation(v.Text) {
				return v.Text
			}
		}
	}
	return ""
}

// model returns the model that answered, else the one that was asked.
func (s *Span) model() string {
	return cmp.Or(s.Text("gen_ai.response.model", "ai.response.model", "gen_ai.request.model", "ai.model.id", "llm.model_name", "llm.response.model", "llm.request.model", "mlflow.llm.model"), s.ModelName)
}

// toolName returns the tool that a span has called.
func (s *Span) toolName() string {
	name := s.Text("gen_ai.tool.name", "ai.toolCall.name", "tool.name", "mcp.tool.name", "lk.function_tool.name")
	if name == "" && s.Text("traceloop.span.kind", "ioa_observe.span.kind") != "" {
		name = s.Text("traceloop.entity.name", "ioa_observe.entity.name")
	}
	if name = cmp.Or(name, s.Tool); name != "" {
		return name
	}
	if name = toolNameOfHandoff(s.Name); name != "" {
		return name
	}
	name = s.Name
	if inner := namedTool(name); inner != "" {
		return inner
	}
	for _, before := range []string{"execute_tool ", "tools/call ", "running tool: ", "running tool "} {
		name = strings.TrimPrefix(name, before)
	}
	if s.Kind == SpanMCP || s.Text("traceloop.span.kind", "ioa_observe.span.kind") != "" {
		name = strings.TrimSuffix(name, ".tool")
	}
	if step, _ := s.stepOf(); step != "" {
		name = step
	}
	return name
}

// toolSpan is the name of a span that says that it is of a tool, and of which:
// "tool: 'getWeather'", "mcp_tool: 'search' on 'docs'", "Tool: Read".
var toolSpan = regexp.MustCompile(`^(?i:tool|mcp[_ ]tool|tool[_ ]call|mcp tool call|function call): ?'?([^'\s]+)'?(?: (?:on|from) .*)?$`)

// namedTool returns the tool in the name of a span, "" if it names none in this way.
func namedTool(span string) string {
	if strings.IndexByte(span, ':') < 0 {
		return ""
	}
	if found := toolSpan.FindStringSubmatch(span); found != nil {
		return found[1]
	}
	return ""
}

// callID returns the id of the call that a span has made, "" if it has none.
func (s *Span) callID() string {
	for _, name := range []string{"gen_ai.tool.call.id", "ai.toolCall.id", "tool.id", "tool_call.id", "tool_call_id", "lk.function_tool.id"} {
		v, _ := s.Attribute(name)
		if v.Kind == trace.Array {
			v.Text = string(v.AppendCanonical(nil))
		}
		if v.Text != "" && v.Text[0] == '[' {
			return string(message.CallID([]byte(v.Text)))
		}
		if v.Text != "" {
			return v.Text
		}
	}
	return string(s.Called)
}

// agentName returns the name of the agent that a span is of.
func (s *Span) agentName() string {
	name := cmp.Or(s.Text("gen_ai.agent.name", "agent.name", "agent_name", "gen_ai.agent.id", "llm.agent.name"), s.Agent)
	if name != "" || s.Kind != SpanAgent {
		return name
	}
	if name = s.Text("traceloop.entity.name", "ioa_observe.entity.name"); name != "" {
		return name
	}
	if step, _ := s.stepOf(); step != "" || s.holds || s.Text("ai.operationId") != "" {
		return ""
	}
	name = strings.TrimSuffix(strings.TrimPrefix(s.Name, "invoke_agent "), " run")
	if inner, ok := strings.CutPrefix(name, "agent_run ["); ok {
		name = strings.TrimSuffix(inner, "]")
	}
	if inner, ok := strings.CutPrefix(name, "agent run: '"); ok { // Mastra's
		name = strings.TrimSuffix(inner, "'")
	}
	return name
}

// argumentAttributes hold what a tool was called with.
//
// OpenInference gives the arguments as the input of the span; the attribute
// tool.parameters is a schema in some instrumentations and the arguments in others.
var argumentAttributes = []string{
	"gen_ai.tool.call.arguments", "gcp.vertex.agent.tool_call_args", "ai.toolCall.args", "ai.toolCall.input", "mcp.request.argument",
	"traceloop.entity.input", "ioa_observe.entity.input", "tool_arguments", "lk.function_tool.arguments", "tool.input", "input.value", "mlflow.spanInputs", "input",
}

// args returns the arguments that a tool was called with.
func (s *Span) args() (args trace.Raw, id []byte) {
	for _, name := range argumentAttributes {
		v, ok := s.Attribute(name)
		if !ok || v.Kind == trace.String && v.Text == "" {
			continue
		}
		if name == "gen_ai.tool.call.arguments" {
			return build.RawOf(v), nil
		}
		return message.ToolArguments(build.RawOf(v))
	}
	if !s.Input.IsEmpty() {
		return message.ToolArguments(s.Input)
	}
	if v, ok := s.Attribute("tool.parameters"); ok {
		if inner, ok := build.JSONIn(v); ok && inner.Kind == trace.Object {
			if _, schema := inner.Lookup("properties"); !schema {
				return build.RawOf(v), nil
			}
		}
	}
	return trace.Raw{}, nil
}

// resultAttributes hold what a tool has returned.
var resultAttributes = []string{
	"gen_ai.tool.call.result", "gcp.vertex.agent.tool_response", "ai.toolCall.result", "ai.toolCall.output", "mcp.response.value",
	"traceloop.entity.output", "ioa_observe.entity.output", "tool_response", "lk.function_tool.output", "tool.output", "output.value", "mlflow.spanOutputs", "output",
}

// result returns what a tool has returned.
func (s *Span) result() (m message.ToolOutput) {
	for _, name := range resultAttributes {
		v, ok := s.Attribute(name)
		if !ok || v.Kind == trace.String && v.Text == "" {
			continue
		}
		if name == "gen_ai.tool.call.result" {
			return message.ToolOutput{Content: build.RawOf(v)}
		}
		raw := build.RawOf(v)
		if name == "traceloop.entity.output" || name == "ioa_observe.entity.output" || name == "mlflow.spanOutputs" { // always the JSON of a value
			if c := jsonscan.New(raw.Data); c.Kind() == jsonscan.String && c.End() == nil {
				raw.Form = trace.FormString
			}
		}
		m.Read(raw)
		return m
	}
	m.Read(s.Output)
	return m
}

// usageAttributes are the attributes that count tokens.
var usageAttributes = [5][]string{
	{"gen_ai.usage.input_tokens", "llm.token_count.prompt", "gen_ai.usage.prompt_tokens", "llm.usage.prompt_tokens", "ai.usage.inputTokens", "ai.usage.promptTokens"},
	{"gen_ai.usage.output_tokens", "llm.token_count.completion", "gen_ai.usage.completion_tokens", "llm.usage.completion_tokens", "ai.usage.outputTokens", "ai.usage.completionTokens"},
	{"gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens", "llm.token_count.prompt_details.cache_read", "ai.usage.cachedInputTokens"},
	{"gen_ai.usage.cache_creation.input_tokens", "gen_ai.usage.cache_creation_input_tokens", "llm.token_count.prompt_details.cache_write"},
	{"gen_ai.usage.reasoning.output_tokens", "gen_ai.usage.reasoning_tokens", "gen_ai.usage.details.reasoning_tokens", "llm.token_count.completion_details.reasoning", "ai.usage.reasoningTokens"},
}

// attributeUsage returns the tokens that the attributes of a span count. The
// conventions have cached tokens in the input; where there are more of them than
// that, it had none.
func (s *Span) attributeUsage() (u trace.Usage, apart bool) {
	var in, out bool
	u.Input, in = s.count(usageAttributes[0]...)
	u.Output, out = s.count(usageAttributes[1]...)
	u.CachedInput, _ = s.count(usageAttributes[2]...)
	u.CacheWrite, _ = s.count(usageAttributes[3]...)
	u.Reasoning, _ = s.count(usageAttributes[4]...)
	u.Known = in || out
	if !u.Known {
		if v, ok := s.Attribute("mlflow.chat.tokenUsage"); ok {
			v, _ = build.JSONIn(v)
			u.Input, in = countOf(v.Member("input_tokens"))
			u.Output, out = countOf(v.Member("output_tokens"))
			u.Known = in || out
		}
	}
	if v, ok := s.Attribute("llm.cost.total"); ok && v.Kind == trace.Number {
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
	if in && out {
		total, _ := s.count("llm.token_count.total", "gen_ai.usage.total_tokens", "llm.usage.total_tokens", "ai.usage.totalTokens")
		build.SettleUsage(&u, total)
	}
	return u, apart
}

// responseUsage returns the tokens that the recorded response counts itself.
func (s *Span) responseUsage() trace.Usage {
	for _, name := range []string{"output.value", "gcp.vertex.agent.llm_response", "mlflow.spanOutputs"} {
		if v, ok := s.Attribute(name); ok {
			if u, _ := message.FindUsage(build.InnerJSON(build.RawOf(v))); u.Known {
				return u
			}
		}
	}
	u, _ := message.FindUsage(build.InnerJSON(s.Output))
	return u
}

// usage returns the tokens of a model response. Of two spans of one response those
// count that the response counts itself, else those of the inner one, which is
// nearer to the interface: what is around it may count its own text.
func (s *Span) usage() (u trace.Usage, apart bool) {
	cost := s.Cost
	for _, d := range s.doubles {
		if cost == nil {
			cost = d.Cost
		}
	}
	sources := append([]*Span{s}, s.doubles...)
	if len(s.doubles) > 0 {
		for _, d := range sources {
			if u = d.responseUsage(); u.Known {
				break
			}
		}
		for i := len(sources) - 1; i >= 0 && !u.Known; i-- {
			u, apart = sources[i].attributeUsage()
		}
	} else if u, apart = s.attributeUsage(); !u.Known {
		own := s.responseUsage()
		if own.Known {
			own.CostUSD = u.CostUSD
			u = own
		}
	}
	for i := len(sources) - 1; i >= 0 && !u.Known; i-- {
		u = sources[i].Tokens
	}
	for _, d := range sources { // what another span says of the same tokens in more detail
		if len(sources) == 1 {
			break
		}
		if v, _ := d.attributeUsage(); v.Known && v.Input == u.Input && v.Output == u.Output {
			u.CachedInput, u.CacheWrite, u.Reasoning = max(u.CachedInput, v.CachedInput), max(u.CacheWrite, v.CacheWrite), max(u.Reasoning, v.Reasoning)
		}
	}
	if u.CostUSD == nil {
		u.CostUSD = cost
	}
	return u, apart
}
