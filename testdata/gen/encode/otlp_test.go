package encode_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/awo-dev/awo/testdata/gen/encode"
	"github.com/awo-dev/awo/testdata/gen/office"
)

// Open telemetry, as far as it is written.
type (
	otlpRequest struct {
		ResourceSpans []struct {
			Resource   struct{ Attributes []otlpAttribute }
			ScopeSpans []struct {
				Scope map[string]string
				Spans []*otlpSpan
			}
		}
	}
	otlpAttribute struct {
		Key   string
		Value struct {
			StringValue string
			IntValue    string
			ArrayValue  any
		}
	}
	otlpSpan struct {
		TraceID      string `json:"traceId"`
		SpanID       string `json:"spanId"`
		ParentSpanID string `json:"parentSpanId"`
		Name         string
		Kind         int
		Start        string `json:"startTimeUnixNano"`
		End          string `json:"endTimeUnixNano"`
		Attributes   []otlpAttribute
		Status       struct {
			Code    int
			Message string
		}
	}
	otlpMessage struct {
		Role         string
		Parts        []map[string]any
		FinishReason string `json:"finish_reason"`
	}
)

func (s *otlpSpan) text(key string) string {
	for _, a := range s.Attributes {
		if a.Key == key {
			return a.Value.StringValue + a.Value.IntValue
		}
	}
	return ""
}

func otlp(t *testing.T, list []*office.Run) (lines [][]byte, traces map[string][]*otlpSpan) {
	t.Helper()
	var out bytes.Buffer
	w := encode.NewOTLP(&out)
	for _, r := range list {
		if err := w.Add(encode.Spans(r)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	lines = bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n"))
	traces = make(map[string][]*otlpSpan)
	for _, line := range lines {
		var q otlpRequest
		strict(t, line, &q)
		for _, rs := range q.ResourceSpans {
			for _, s := range rs.ScopeSpans[0].Spans {
				traces[s.TraceID] = append(traces[s.TraceID], s)
			}
		}
	}
	return lines, traces
}

func TestOTLPTellsTheRun(t *testing.T) {
	list := runs(t)
	_, traces := otlp(t, list)
	if len(traces) != len(list) {
		t.Fatalf("%d traces of %d runs", len(traces), len(list))
	}
	byID := make(map[string][]*otlpSpan)
	for _, spans := range traces {
		slices.SortFunc(spans, func(a, b *otlpSpan) int {
			return strings.Compare(a.Start+a.SpanID, b.Start+b.SpanID)
		})
		for _, s := range spans {
			if s.text("gen_ai.operation.name") == "invoke_agent" {
				byID[s.text("gen_ai.conversation.id")] = spans
			}
		}
	}
	for _, r := range list {
		tellSpans(t, r, byID[r.ID]).compare(t, r, "otlp", false)
	}
}

// tellSpans reads a run from its spans: the events from the messages of the last
// response, and beside them each tool's own span, which must agree.
func tellSpans(t *testing.T, r *office.Run, spans []*otlpSpan) told {
	t.Helper()
	var root, last *otlpSpan
	results := make(map[string]*otlpSpan)
	turns, ids := 0, make(map[string]bool)
	for _, s := range spans {
		if len(s.TraceID) != 32 || len(s.SpanID) != 16 || strings.Trim(s.TraceID+s.SpanID, "0123456789abcdef") != "" || ids[s.SpanID] {
			t.Fatalf("%s: span %s of trace %s", r.ID, s.SpanID, s.TraceID)
		}
		ids[s.SpanID] = true
		switch s.text("gen_ai.operation.name") {
		case "invoke_agent":
			root = s
		case "chat":
			last = s
			u := r.Turns()[turns].Usage
			for key, want := range map[string]int{
				"gen_ai.usage.input_tokens": u.Input, "gen_ai.usage.output_tokens": u.Output, "gen_ai.usage.cache_read.input_tokens": u.Cached,
			} {
				if s.text(key) != strconv.Itoa(want) {
					t.Errorf("%s turn %d: %s is %s, not %d", r.ID, turns, key, s.text(key), want)
				}
			}
			turns++
		case "execute_tool":
			results[s.text("gen_ai.tool.call.id")] = s
		default:
			t.Fatalf("%s: span %s", r.ID, s.Name)
		}
	}
	for _, s := range spans {
		if (s == root) != (s.ParentSpanID == "") || s != root && s.ParentSpanID != root.SpanID {
			t.Fatalf("%s: %s has parent %q", r.ID, s.Name, s.ParentSpanID)
		}
	}
	if root.text("awo.task") != r.Task || root.text("awo.trial") != strconv.Itoa(r.Trial) {
		t.Errorf("%s: task %q, trial %q", r.ID, root.text("awo.task"), root.text("awo.trial"))
	}

	var messages, output []otlpMessage
	strict(t, []byte(last.text("gen_ai.input.messages")), &messages)
	strict(t, []byte(last.text("gen_ai.output.messages")), &output)
	got := told{"system " + r.System}
	for _, m := range append(messages, output...) {
		got = append(got, m.tell(t)...)
	}
	// What the tools returned to the last response is in no later input.
	for _, c := range lastCalls(r) {
		if s := results[c.ID]; s != nil {
			text := s.text("gen_ai.tool.call.result")
			if s.Status.Code == 2 {
				text = s.Status.Message
			}
			got = append(got, "result "+c.ID+" "+text)
		}
	}
	for _, c := range r.Calls() {
		s := results[c.ID]
		if (s != nil) != c.HasResult {
			t.Fatalf("%s: call %s has a span: %v", r.ID, c.ID, s != nil)
		}
		if s == nil {
			continue
		}
		if s.text("gen_ai.tool.name") != c.Tool.Name || s.text("gen_ai.tool.call.arguments") != string(c.Args.Value().AppendJSON(nil)) {
			t.Errorf("%s: span of %s is %v", r.ID, c.ID, s)
		}
		if failed := s.Status.Code == 2; failed != c.Result.Failed || failed != (s.text("error.type") != "") || failed == (s.text("gen_ai.tool.call.result") == c.Result.Text()) {
			t.Errorf("%s: call %s failed %v, span says %+v", r.ID, c.ID, c.Result.Failed, s.Status)
		}
	}
	return got
}

func lastCalls(r *office.Run) []office.Call {
	turns := r.Turns()
	return turns[len(turns)-1].Calls
}

func (m otlpMessage) tell(t *testing.T) told {
	t.Helper()
	text := ""
	var rest told
	for _, p := range m.Parts {
		switch p["type"] {
		case "text":
			text += p["content"].(string)
		case "tool_call":
			args, err := json.Marshal(p["arguments"])
			if err != nil {
				t.Fatal(err)
			}
			rest = append(rest, fmt.Sprint("call ", p["id"], " ", p["name"], " ", string(args)))
		case "tool_call_response":
			return told{fmt.Sprint("result ", p["id"], " ", p["response"])}
		}
	}
	if m.Role == "assistant" {
		return append(told{"turn " + text}, rest...)
	}
	return told{m.Role + " " + text}
}

// TestOTLPIsSpread: lines hold spans of several traces, and traces are spread
// over lines.
func TestOTLPIsSpread(t *testing.T) {
	lines, _ := otlp(t, runs(t))
	linesOf := make(map[string]map[int]bool)
	mixed := 0
	for i, line := range lines {
		var q otlpRequest
		strict(t, line, &q)
		here := make(map[string]bool)
		for _, rs := range q.ResourceSpans {
			for _, s := range rs.ScopeSpans[0].Spans {
				here[s.TraceID] = true
				if linesOf[s.TraceID] == nil {
					linesOf[s.TraceID] = make(map[int]bool)
				}
				linesOf[s.TraceID][i] = true
			}
		}
		if len(here) > 1 {
			mixed++
		}
	}
	spread := 0
	for _, at := range linesOf {
		if len(at) > 1 {
			spread++
		}
	}
	if mixed*2 < len(lines) || spread*2 < len(linesOf) {
		t.Errorf("%d of %d lines are mixed, %d of %d traces are spread", mixed, len(lines), spread, len(linesOf))
	}
}
