package main

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"time"
)

// A span is one of a trace; its parent is the number of another, -1 for none.
type span struct {
	kind         string
	parent, at   int
	name         string // of the agent, "" for one of a few
	conversation string
}

// spans writes a trace as OTLP with the conventions for generative AI. The first span
// is what those without a kind of their own hang from.
func spans(n int, of func(i int) span) []byte {
	start := time.Date(2026, 1, 2, 10, 0, 0, 0, time.UTC).UnixNano()
	var out bytes.Buffer
	for i := range n {
		s := of(i)
		attribute := func(key, value string) string {
			return fmt.Sprintf(`{"key":%q,"value":{"stringValue":%s}}`, key, quoted(value))
		}
		var attributes []string
		name := ""
		switch s.kind {
		case "link":
			name = "step"
		case "agent":
			name = "invoke_agent"
			attributes = append(attributes, attribute("gen_ai.operation.name", "invoke_agent"), attribute("gen_ai.agent.name", cmp.Or(s.name, fmt.Sprint("a", i%7))))
		case "tool":
			name = "execute_tool"
			attributes = append(attributes, attribute("gen_ai.operation.name", "execute_tool"), attribute("gen_ai.tool.name", fmt.Sprint("t", i%5)),
				attribute("gen_ai.tool.call.arguments", fmt.Sprintf(`{"id":%d}`, i)), attribute("gen_ai.tool.call.result", fmt.Sprintf(`{"next":%d}`, i+1)))
		default:
			name = "chat"
			attributes = append(attributes, attribute("gen_ai.operation.name", "chat"), attribute("gen_ai.request.model", "m"),
				attribute("gen_ai.input.messages", `[{"role":"user","parts":[{"type":"text","content":"go on"}]}]`),
				attribute("gen_ai.output.messages", fmt.Sprintf(`[{"role":"assistant","parts":[{"type":"tool_call","id":"c%d","name":"t%d","arguments":{"id":%d}}]}]`, i, i%5, i)))
		}
		if s.conversation != "" {
			attributes = append(attributes, attribute("gen_ai.conversation.id", s.conversation))
		}
		parent := ""
		if s.parent >= 0 {
			parent = fmt.Sprintf(`"parentSpanId":"%016x",`, s.parent+1)
		}
		at := start + int64(s.at)*1000
		fmt.Fprintf(&out, `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"%016x",%s"name":%q,"startTimeUnixNano":"%d","endTimeUnixNano":"%d","attributes":[%s]}]}]}]}`+"\n",
			i+1, parent, name, at, at+500, strings.Join(attributes, ","))
	}
	return out.Bytes()
}

// oneRecord returns the spans of several records as one.
func oneRecord(lines []byte) []byte {
	const head, tail = `{"resourceSpans":[`, "]}"
	var all []string
	for line := range strings.Lines(string(lines)) {
		all = append(all, strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), head), tail))
	}
	return []byte(head + strings.Join(all, ",") + tail + "\n")
}

// at is the time number i of a trace.
func at(i int) string {
	return time.Date(2026, 1, 2, 10, 0, 0, i*1000, time.UTC).Format(time.RFC3339Nano)
}

// langSmithCircle is n runs of LangSmith, each below the next and the last below the first.
func langSmithCircle(n int) []byte {
	var out bytes.Buffer
	for i := range n {
		kind, more := "llm", fmt.Sprintf(`"inputs":{"messages":[{"role":"user","content":"go on"}]},"outputs":{"role":"assistant","tool_calls":[{"id":"c%d","name":"t%d","args":{"id":%d}}]}`, i, i%5, i)
		if i%2 == 1 {
			kind, more = "tool", fmt.Sprintf(`"inputs":{"id":%d},"outputs":{"output":"id-%d"}`, i, i)
		}
		fmt.Fprintf(&out, `{"id":"r%d","trace_id":"r0","parent_run_id":"r%d","run_type":%q,"name":"t%d","start_time":%q,"end_time":%q,"status":"success",%s}`+"\n", i, (i+1)%n, kind, i%5, at(i), at(i+1), more)
	}
	return out.Bytes()
}

// langfuseCircle is the same of Langfuse.
func langfuseCircle(n int) []byte {
	var out bytes.Buffer
	out.WriteString(`{"trace":{"id":"t","timestamp":"2026-01-02T10:00:00Z"},"observations":[`)
	for i := range n {
		if i > 0 {
			out.WriteByte(',')
		}
		kind := []string{"GENERATION", "TOOL"}[i%2]
		fmt.Fprintf(&out, `{"id":"o%d","traceId":"t","parentObservationId":"o%d","type":%q,"name":"t%d","startTime":%q,"endTime":%q,"level":"DEFAULT","input":{"id":%d},"output":"id-%d"}`, i, (i+1)%n, kind, i%5, at(i), at(i+1), i, i)
	}
	out.WriteString("]}\n")
	return out.Bytes()
}

// phoenixCircle is the same of Phoenix.
func phoenixCircle(n int) []byte {
	var out bytes.Buffer
	for i := range n {
		kind, more := "LLM", fmt.Sprintf(`"llm":{"model_name":"m","output_messages":[{"message":{"role":"assistant","tool_calls":[{"tool_call":{"id":"c%d","function":{"name":"t%d","arguments":"{}"}}}]}}]}`, i, i%5)
		if i%2 == 1 {
			kind, more = "TOOL", fmt.Sprintf(`"tool":{"name":"t%d"},"input":{"value":"{\"n\": %d}"}`, i%5, i)
		}
		fmt.Fprintf(&out, `{"name":"s","context":{"trace_id":"t","span_id":"s%d"},"span_kind":%q,"parent_id":"s%d","start_time":%q,"end_time":%q,"status_code":"OK","attributes":{"openinference":{"span":{"kind":%q}},%s},"events":[]}`+"\n", i, kind, (i+1)%n, at(i), at(i+1), kind, more)
	}
	return out.Bytes()
}
