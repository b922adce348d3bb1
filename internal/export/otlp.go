package export

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"time"

	"github.com/awo-dev/awo/trace"
)

// otlpLines writes a trajectory a line as an export request of OpenTelemetry: a span for
// the run, and below it one for every response of the model and every call, by the
// semantic conventions for generative AI. The input of a response is what came since
// the one before, and not the whole history. Task, trial and outcome, which the
// conventions do not know, are awo.task, awo.trial and awo.outcome.
type otlpLines struct {
	w    *bufio.Writer
	left Lost
}

type otlpSpan struct {
	Trace      string          `json:"traceId"`
	ID         string          `json:"spanId"`
	Parent     string          `json:"parentSpanId,omitempty"`
	Name       string          `json:"name"`
	Kind       int             `json:"kind"`
	Start      string          `json:"startTimeUnixNano"`
	End        string          `json:"endTimeUnixNano"`
	Attributes []otlpAttribute `json:"attributes"`
	Status     otlpStatus      `json:"status"`
}

type otlpStatus struct {
	Code int `json:"code,omitempty"`
}

type otlpAttribute struct {
	Key   string         `json:"key"`
	Value map[string]any `json:"value"`
}

type otlpPart struct {
	Type      string          `json:"type"`
	Content   *string         `json:"content,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Response  json.RawMessage `json:"response,omitempty"`
}

type otlpMessage struct {
	Role   string     `json:"role"`
	Parts  []otlpPart `json:"parts"`
	Reason string     `json:"finish_reason,omitempty"`
}

func (o *otlpLines) lost() Lost   { return o.left }
func (o *otlpLines) begin() error { return nil }
func (o *otlpLines) end() error   { return nil }

// The span kinds of OpenTelemetry that occur here.
const (
	kindInternal = 1
	kindClient   = 3
)

func (o *otlpLines) add(t *trace.Trajectory) error {
	// The place tells trajectories of one id apart.
	sum := sha256.Sum256([]byte(t.ID + "\x00" + t.Source.File + "\x00" + strconv.FormatInt(t.Offset, 10)))
	id, spans, n := hex.EncodeToString(sum[:16]), []otlpSpan(nil), 0
	spanID := func() string {
		n++
		s := sha256.Sum256(append(sum[:], strconv.Itoa(n)...))
		return hex.EncodeToString(s[:8])
	}
	times, ids := newClock(t), newCallIDs(t)
	nano := func(at time.Time) string { return strconv.FormatInt(at.UnixNano(), 10) }
	begin, _ := times.at(times.last)
	root := otlpSpan{Trace: id, ID: spanID(), Name: "invoke_agent", Kind: kindInternal, Start: nano(begin)}
	root.text("gen_ai.operation.name", "invoke_agent")
	root.textIfAny("gen_ai.agent.name", t.Agent)
	root.textIfAny("gen_ai.request.model", t.Model)
	root.text("gen_ai.conversation.id", t.ID)
	if len(t.Tools) > 0 {
		var tools []map[string]any
		for i := range t.Tools {
			d := map[string]any{"type": "function", "name": t.Tools[i].Name.Value()}
			if text := t.Tools[i].Description.Text(); text != "" {
				d["description"] = text
			}
			if schema := rawJSON(t.Tools[i].Input); schema != nil {
				d["parameters"] = schema
			}
			tools = append(tools, d)
		}
		root.json("gen_ai.tool.definitions", tools)
	}
	root.textIfAny("awo.task", t.Task)
	root.textIfAny("awo.trial", t.Trial)
	if t.Outcome != trace.OutcomeUnknown {
		root.text("awo.outcome", t.Outcome.String())
	}
	var since []otlpMessage
	var system []otlpPart
	for _, it := range items(t) {
		if m := it.message; m != nil {
			if m.Role == trace.RoleSystem {
				system = append(system, textPart(m.Text))
			} else {
				since = append(since, otlpMessage{Role: "user", Parts: []otlpPart{textPart(m.Text)}})
			}
			continue
		}
		if it.turn != nil {
			span := otlpSpan{Trace: id, ID: spanID(), Parent: root.ID, Name: "chat", Kind: kindClient}
			start, known := times.at(it.turn.Start)
			end := start
			if known && it.turn.End.After(start) {
				end, _ = times.at(it.turn.End)
			}
			span.Start, span.End = nano(start), nano(end)
			span.text("gen_ai.operation.name", "chat")
			span.text("gen_ai.conversation.id", t.ID)
			span.textIfAny("gen_ai.request.model", t.Model)
			span.textIfAny("gen_ai.response.model", it.turn.Model)
			if u := it.turn.Usage; u.Known {
				span.count("gen_ai.usage.input_tokens", u.Input)
				span.count("gen_ai.usage.output_tokens", u.Output)
				span.count("gen_ai.usage.cache_read.input_tokens", u.CachedInput)
				span.count("gen_ai.usage.cache_creation.input_tokens", u.CacheWrite)
				span.count("gen_ai.usage.reasoning.output_tokens", u.Reasoning)
			}
			if len(system) > 0 {
				span.json("gen_ai.system_instructions", system)
				system = nil
			}
			span.json("gen_ai.input.messages", append([]otlpMessage{}, since...))
			since = nil
			said := otlpMessage{Role: "assistant", Reason: "stop", Parts: []otlpPart{}}
			if !it.turn.Thought.IsEmpty() {
				text := it.turn.Thought.Text()
				said.Parts = append(said.Parts, otlpPart{Type: "reasoning", Content: &text})
			}
			if !it.turn.Text.IsEmpty() {
				said.Parts = append(said.Parts, textPart(it.turn.Text))
			}
			for i := range it.calls {
				if c := &it.calls[i]; c.Origin == trace.OriginModel {
					said.Reason = "tool_calls"
					said.Parts = append(said.Parts, otlpPart{Type: "tool_call", ID: ids.of(c), Name: c.Tool.Value(), Arguments: rawJSON(c.Args)})
				}
			}
			span.json("gen_ai.output.messages", []otlpMessage{said})
			spans = append(spans, span)
		}
		for i := range it.calls {
			c := &it.calls[i]
			if c.Origin != trace.OriginModel {
				o.left.OtherCalls++
				continue
			}
			if !c.HasResult {
				continue
			}
			span := otlpSpan{Trace: id, ID: spanID(), Parent: root.ID, Name: "execute_tool " + c.Tool.Value(), Kind: kindInternal}
			start, known := times.at(c.Start)
			end := start
			if known && c.End.After(start) {
				end, _ = times.at(c.End)
			}
			span.Start, span.End = nano(start), nano(end)
			span.text("gen_ai.operation.name", "execute_tool")
			span.text("gen_ai.tool.name", c.Tool.Value())
			span.text("gen_ai.tool.type", "function")
			span.text("gen_ai.tool.call.id", ids.of(c))
			if text := arguments(c.Args); text != "" {
				span.text("gen_ai.tool.call.arguments", text)
			}
			span.text("gen_ai.tool.call.result", trace.ValidText(c.Result.Content()))
			switch c.Status {
			case trace.StatusFailed:
				span.text("error.type", "_OTHER")
				span.Status.Code = 2
			case trace.StatusOK:
				span.Status.Code = 1
			}
			spans = append(spans, span)
			since = append(since, otlpMessage{Role: "tool", Parts: []otlpPart{{Type: "tool_call_response", ID: ids.of(c), Response: content(c.Result)}}})
		}
	}
	root.End = nano(times.last)
	for _, m := range since {
		if m.Role == "user" {
			o.left.Messages++
		}
	}
	o.left.Messages += len(system)
	o.left.Untimed += times.untimed
	request := map[string]any{"resourceSpans": []any{map[string]any{
		"resource":   map[string]any{"attributes": []any{}},
		"scopeSpans": []any{map[string]any{"scope": map[string]any{"name": "awo"}, "spans": append([]otlpSpan{root}, spans...)}},
	}}}
	return writeLine(o.w, request)
}

func textPart(r trace.Raw) otlpPart {
	text := trace.ValidText([]byte(r.Text()))
	return otlpPart{Type: "text", Content: &text}
}

func (s *otlpSpan) text(key, value string) {
	s.Attributes = append(s.Attributes, otlpAttribute{key, map[string]any{"stringValue": value}})
}

func (s *otlpSpan) textIfAny(key, value string) {
	if value != "" {
		s.text(key, value)
	}
}

func (s *otlpSpan) count(key string, n int64) {
	s.Attributes = append(s.Attributes, otlpAttribute{key, map[string]any{"intValue": strconv.FormatInt(n, 10)}})
}

// json writes v, which is made of texts and checked JSON, as a text.
func (s *otlpSpan) json(key string, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		data = []byte("null") // not reached
	}
	s.text(key, string(data))
}
