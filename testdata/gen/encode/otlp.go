package encode

import (
	"cmp"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/awo-dev/awo/testdata/gen/office"
	"github.com/awo-dev/awo/testdata/gen/world"
)

// Span is one encoded span and what decides on which line it goes.
type Span struct {
	json    []byte
	agent   office.Agent
	elapsed time.Duration // from the start of its run to its end
}

// Spans returns the spans of a run: one for the agent, and below it one for
// every response of the model (with the messages so far, what came back and the
// usage) and one for every tool call that ended, by the semantic conventions for
// generative AI. A failed call has an error status and, as the conventions say,
// no result attribute; what the tool said is in the next response's input. Task,
// trial and outcome, which the conventions do not know, are the attributes
// awo.task, awo.trial and awo.outcome of the agent's span.
func Spans(r *office.Run) []Span {
	t := newTracer(r)
	history := []byte(nil)
	turn, call := 0, 0
	for i := range r.Events {
		e := &r.Events[i]
		if e.Turn == nil {
			history = appendPart(history, "user", textPart(e.User.Text))
			continue
		}
		t.add(e.Turn.End, t.chat(e.Turn, turn, history))
		history = appendPart(history, "assistant", turnParts(e.Turn))
		for k := range e.Turn.Calls {
			c := &e.Turn.Calls[k]
			if c.HasResult {
				t.add(c.End, t.tool(c, call))
				history = appendPart(history, "tool", responsePart(c))
			}
			call++
		}
		turn++
	}
	t.add(r.End, t.agent())
	return t.spans
}

// tracer makes the spans of one run.
type tracer struct {
	run   *office.Run
	id    uint64
	trace string
	root  string
	spans []Span
}

func newTracer(r *office.Run) *tracer {
	id := world.Mix(uint64(r.Start.UnixNano()) ^ world.Mix(uint64(r.Index)))
	return &tracer{run: r, id: id, trace: world.Token(id, world.Hex, 32), root: world.Token(id+1, world.Hex, 16)}
}

func (t *tracer) add(end time.Time, json []byte) {
	t.spans = append(t.spans, Span{json: json, agent: t.run.Agent, elapsed: end.Sub(t.run.Start)})
}

// begin starts a span; its attributes follow.
func (t *tracer) begin(id, parent, name string, kind int, from, to time.Time) []byte {
	dst := append([]byte(`{"traceId":"`), t.trace...)
	dst = append(dst, `","spanId":"`...)
	dst = append(dst, id...)
	dst = append(dst, `","parentSpanId":"`...)
	dst = append(dst, parent...)
	dst = append(dst, `","name":`...)
	dst = appendText(dst, name)
	dst = appendNumber(dst, "kind", kind)
	dst = append(dst, `,"startTimeUnixNano":"`...)
	dst = strconv.AppendInt(dst, from.UnixNano(), 10)
	dst = append(dst, `","endTimeUnixNano":"`...)
	dst = strconv.AppendInt(dst, to.UnixNano(), 10)
	return append(dst, `","attributes":[`...)
}

// The span kinds of OpenTelemetry that occur here.
const (
	kindInternal = 1
	kindClient   = 3
)

func (t *tracer) agent() []byte {
	r := t.run
	dst := t.begin(t.root, "", "invoke_agent "+r.Agent.Name, kindInternal, r.Start, r.End)
	dst = attribute(dst, "gen_ai.operation.name", "invoke_agent")
	dst = attribute(dst, "gen_ai.provider.name", r.Agent.Provider)
	dst = attribute(dst, "gen_ai.agent.name", r.Agent.Name)
	dst = attribute(dst, "gen_ai.agent.version", r.Agent.Version)
	dst = attribute(dst, "gen_ai.conversation.id", r.ID)
	dst = attribute(dst, "gen_ai.request.model", r.Agent.Model)
	definitions := []byte{'['}
	for i, tool := range r.Tools {
		if i > 0 {
			definitions = append(definitions, ',')
		}
		definitions = append(definitions, `{"type":"function",`...)
		definitions = append(definitions, tool.Function[1:]...)
	}
	dst = attribute(dst, "gen_ai.tool.definitions", string(append(definitions, ']')))
	dst = attribute(dst, "awo.task", r.Task)
	dst = attribute(dst, "awo.trial", strconv.Itoa(r.Trial))
	dst = attribute(dst, "awo.outcome", outcome(r))
	return end(dst)
}

func (t *tracer) chat(turn *office.Turn, n int, history []byte) []byte {
	r := t.run
	id := world.Token(t.id+uint64(2*n+2), world.Hex, 16)
	dst := t.begin(id, t.root, "chat "+r.Agent.Model, kindClient, turn.Start, turn.End)
	dst = attribute(dst, "gen_ai.operation.name", "chat")
	dst = attribute(dst, "gen_ai.provider.name", r.Agent.Provider)
	dst = attribute(dst, "gen_ai.conversation.id", r.ID)
	dst = attribute(dst, "gen_ai.request.model", r.Agent.Model)
	dst = attribute(dst, "gen_ai.response.model", r.Agent.Model)
	dst = attribute(dst, "gen_ai.response.id", "resp_"+world.Token(t.id^uint64(n), world.Base62, 24))
	reason := "stop"
	if len(turn.Calls) > 0 {
		reason = "tool_calls"
	}
	dst = append(dst, `{"key":"gen_ai.response.finish_reasons","value":{"arrayValue":{"values":[{"stringValue":"`...)
	dst = append(append(dst, reason...), `"}]}}},`...)
	dst = count(dst, "gen_ai.usage.input_tokens", turn.Usage.Input)
	dst = count(dst, "gen_ai.usage.output_tokens", turn.Usage.Output)
	dst = count(dst, "gen_ai.usage.cache_read.input_tokens", turn.Usage.Cached)
	if turn.Usage.CacheWrite > 0 {
		dst = count(dst, "gen_ai.usage.cache_creation.input_tokens", turn.Usage.CacheWrite)
	}
	if turn.Usage.Reasoning > 0 {
		dst = count(dst, "gen_ai.usage.reasoning.output_tokens", turn.Usage.Reasoning)
	}
	dst = attribute(dst, "gen_ai.system_instructions", "["+string(textPart(r.System))+"]")
	dst = attribute(dst, "gen_ai.input.messages", "["+string(history)+"]")
	output := append([]byte(`[{"role":"assistant","parts":[`), turnParts(turn)...)
	output = append(output, `],"finish_reason":"`...)
	output = append(append(output, reason...), `"}]`...)
	dst = attribute(dst, "gen_ai.output.messages", string(output))
	return end(dst)
}

func (t *tracer) tool(c *office.Call, n int) []byte {
	id := world.Token(t.id+uint64(2*n+3), world.Hex, 16)
	dst := t.begin(id, t.root, "execute_tool "+c.Tool.Name, kindInternal, c.Start, c.End)
	dst = attribute(dst, "gen_ai.operation.name", "execute_tool")
	dst = attribute(dst, "gen_ai.tool.name", c.Tool.Name)
	dst = attribute(dst, "gen_ai.tool.type", "function")
	dst = attribute(dst, "gen_ai.tool.call.id", c.ID)
	dst = attribute(dst, "gen_ai.tool.call.arguments", string(c.Args.Value().AppendJSON(nil)))
	if !c.Result.Failed {
		dst = attribute(dst, "gen_ai.tool.call.result", c.Result.Text())
		return end(dst)
	}
	dst = attribute(dst, "error.type", c.Result.Code)
	dst[len(dst)-1] = ']'
	dst = append(dst, `,"status":{"code":2,"message":`...)
	dst = appendText(dst, c.Result.Text())
	return append(dst, '}', '}')
}

// end closes the attributes and the span.
func end(dst []byte) []byte {
	dst[len(dst)-1] = ']'
	return append(dst, `,"status":{}}`...)
}

func attribute(dst []byte, key, value string) []byte {
	dst = append(dst, `{"key":"`...)
	dst = append(dst, key...)
	dst = append(dst, `","value":{"stringValue":`...)
	dst = appendText(dst, value)
	return append(dst, '}', '}', ',')
}

func count(dst []byte, key string, n int) []byte {
	dst = append(dst, `{"key":"`...)
	dst = append(dst, key...)
	dst = append(dst, `","value":{"intValue":"`...)
	dst = strconv.AppendInt(dst, int64(n), 10)
	return append(dst, `"}},`...)
}

// appendPart appends a message with its parts to a list of messages.
func appendPart(dst []byte, role string, parts []byte) []byte {
	if len(dst) > 0 {
		dst = append(dst, ',')
	}
	dst = append(dst, `{"role":"`...)
	dst = append(dst, role...)
	dst = append(dst, `","parts":[`...)
	dst = append(dst, parts...)
	return append(dst, ']', '}')
}

func textPart(text string) []byte {
	return append(appendText([]byte(`{"type":"text","content":`), text), '}')
}

func turnParts(t *office.Turn) []byte {
	var dst []byte
	if t.Thought != "" {
		dst = append(dst, `{"type":"reasoning","content":`...)
		dst = append(appendText(dst, t.Thought), '}', ',')
	}
	if t.Text != "" {
		dst = append(append(dst, textPart(t.Text)...), ',')
	}
	for i := range t.Calls {
		c := &t.Calls[i]
		dst = append(dst, `{"type":"tool_call","id":`...)
		dst = appendText(dst, c.ID)
		dst = appendMember(dst, "name", c.Tool.Name)
		dst = append(dst, `,"arguments":`...)
		dst = c.Args.Value().AppendJSON(dst)
		dst = append(dst, '}', ',')
	}
	return dst[:max(0, len(dst)-1)]
}

func responsePart(c *office.Call) []byte {
	dst := appendText([]byte(`{"type":"tool_call_response","id":`), c.ID)
	dst = append(dst, `,"response":`...)
	return append(appendResult(dst, c), '}')
}

// OTLP writes spans as OpenTelemetry protocol JSON, one export request a line.
// Runs are taken a few at a time, as if they were under way together: their
// spans are ordered by the time since their run began and cut into requests of
// a fixed size, so a line holds spans of several traces and a trace is spread
// over several lines. Memory: the spans of a few runs.
type OTLP struct {
	w       io.Writer
	runs    int
	pending []Span
	line    []byte
}

const (
	togetherRuns = 5
	requestSpans = 24
)

// NewOTLP returns a writer to w. Close writes what is pending.
func NewOTLP(w io.Writer) *OTLP { return &OTLP{w: w} }

// Add takes the spans of a run.
func (o *OTLP) Add(spans []Span) error {
	o.pending = append(o.pending, spans...)
	o.runs++
	if o.runs%togetherRuns == 0 {
		return o.Close()
	}
	return nil
}

// Close writes all pending spans.
func (o *OTLP) Close() error {
	slices.SortStableFunc(o.pending, func(a, b Span) int { return cmp.Compare(a.elapsed, b.elapsed) })
	for request := range slices.Chunk(o.pending, requestSpans) {
		o.line = appendRequest(o.line[:0], request)
		if _, err := o.w.Write(o.line); err != nil {
			return err
		}
	}
	o.pending = o.pending[:0]
	return nil
}

// appendRequest appends an export request, with spans of one agent together.
func appendRequest(dst []byte, spans []Span) []byte {
	var agents []office.Agent
	for _, s := range spans {
		if !slices.Contains(agents, s.agent) {
			agents = append(agents, s.agent)
		}
	}
	dst = append(dst, `{"resourceSpans":[`...)
	for i, a := range agents {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"resource":{"attributes":[`...)
		dst = attribute(dst, "service.name", "office-"+a.Name)
		dst = attribute(dst, "service.version", a.Version)
		dst[len(dst)-1] = ']'
		dst = append(dst, `},"scopeSpans":[{"scope":{"name":"office","version":"1"},"spans":[`...)
		for _, s := range spans {
			if s.agent == a {
				dst = append(append(dst, s.json...), ',')
			}
		}
		dst[len(dst)-1] = ']'
		dst = append(dst, `}]}`...)
	}
	return append(dst, ']', '}', '\n')
}
