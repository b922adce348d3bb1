package otel_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/internal/spantree"
	"github.com/awo-dev/awo/trace/formats/otel"
	"github.com/awo-dev/awo/trace/formats/testdata/formattest"
)

// TestSpanOrder holds that the lines of a conversation may stand in any order.
func TestSpanOrder(t *testing.T) {
	path := filepath.Join("testdata", "otlp", "openinference.jsonl")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	slices.Reverse(lines)
	file := filepath.Join(t.TempDir(), "reversed.jsonl")
	formattest.WriteFile(t, file, string(bytes.Join(lines, []byte("\n"))))
	want := formattest.DepictAll(formattest.ReadFile(t, path, "otlp", trace.Options{}))
	if got := formattest.DepictAll(formattest.ReadFile(t, file, "otlp", trace.Options{})); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestTraceOverFiles holds that a trace without a conversation is put together
// from several files.
func TestTraceOverFiles(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "otlp", "legacy.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	var files []string
	for i, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
		files = append(files, filepath.Join(folder, fmt.Sprint(i, ".jsonl")))
		formattest.WriteFile(t, files[i], string(line))
	}
	slices.Reverse(files) // the logs before the spans
	want := formattest.DepictAll(formattest.ReadFile(t, filepath.Join("testdata", "otlp", "legacy.jsonl"), "otlp", trace.Options{}))
	all := formattest.ReadFiles(t, files...)
	slices.SortFunc(all, func(a, b *trace.Trajectory) int { return strings.Compare(a.ID, b.ID) })
	if got := formattest.DepictAll(all); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestSpanSamples compares recorded spans with what a person reads in them.
func TestSpanSamples(t *testing.T) {
	for _, test := range []struct{ path, format, want string }{
		{"otlp-genai/akmon_fixture_A.jsonl", "otlp", `conv-7f3a: 1 turns, 1 user messages, 31+19 tokens, get_weather@0 {"location":"Paris"} "rainy, 57F" ok`},
		{"otlp-genai/akmon_fixture_B.jsonl", "otlp", `conv-7f3a: 1 turns, 0 user messages, 31+19 tokens, get_weather@0 {} "" ok`},
		{"openinference/spec_llm_spans.jsonl", "phoenix", `409df945-e058-4829-b240-cfbdd2ff4488: 2 turns, 1 user messages, 488+35 tokens, multiply@0 {"a":23,"b":87} "2001" unknown
			12345678-1234-5678-1234-567812345678: 1 turns, 1 user messages, 31+25 tokens`},
	} {
		path := recordings.Recorded(t, filepath.Join("formats", test.path))
		var lines []string
		for _, tr := range formattest.ReadFile(t, path, test.format, trace.Options{}) {
			users, in, out := 0, int64(0), int64(0)
			for _, m := range tr.Messages {
				if m.Role == trace.RoleUser {
					users++
				}
			}
			for _, turn := range tr.Turns {
				in, out = in+turn.Usage.Input, out+turn.Usage.Output
			}
			line := fmt.Sprintf("%s: %d turns, %d user messages, %d+%d tokens", tr.ID, len(tr.Turns), users, in, out)
			for i := range tr.Calls {
				c := &tr.Calls[i]
				line += fmt.Sprintf(", %s@%d %s %q %s", c.Tool.Value(), c.Turn, c.AppendCanonicalArgs(nil), c.Result.Text(), c.Status)
			}
			if tr.Anomalies.Total != 0 {
				line += fmt.Sprint(" anomalies ", tr.Anomalies)
			}
			lines = append(lines, line)
			formattest.CheckRoundTrip(t, tr)
		}
		if got, want := strings.Join(lines, "\n"), strings.ReplaceAll(test.want, "\t", ""); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", test.path, got, want)
		}
	}
}

// TestSpanHistories holds how requests that do not simply go on are read.
func TestSpanHistories(t *testing.T) {
	user := func(s string) string { return `{"role":"user","parts":[{"type":"text","content":"` + s + `"}]}` }
	says := func(s string) string {
		return `{"role":"assistant","parts":[{"type":"text","content":"` + s + `"}]}`
	}
	for _, test := range []struct {
		name     string
		requests [][2]string // input and output
		want     string
	}{
		{"a retry", [][2]string{{user("a"), says("x")}, {user("a"), says("y")}}, "2 turns: a; history-changed 0"},
		{"the same words again", [][2]string{{user("a"), says("x")}, {user("a") + "," + says("x") + "," + user("a"), says("x")}}, "2 turns: a a; history-changed 0"},
		{"other words for the response", [][2]string{{user("a"), says("x")}, {user("a") + "," + says("x ") + "," + user("b"), says("y")}}, "2 turns: a b; history-changed 1"},
		{"the beginning is cut", [][2]string{{user("a"), says("x")}, {user("a") + "," + says("x") + "," + user("b"), says("y")}, {user("b") + "," + says("y") + "," + user("c"), says("z")}}, "3 turns: a b c; history-changed 1"},
		{"a conversation before", [][2]string{{user("a") + "," + says("x") + "," + user("b"), says("y")}}, "2 turns: a b; history-changed 0"},
		{"two threads", [][2]string{{user("a"), says("x")}, {user("t"), says("u")}, {user("a") + "," + says("x") + "," + user("b"), says("y")}}, "3 turns: a t b; history-changed 0"},
	} {
		var spans []*spantree.Span
		for i, r := range test.requests {
			text := func(s string) trace.Value { return trace.Value{Kind: trace.String, Text: "[" + s + "]"} }
			spans = append(spans, &spantree.Span{
				Trace: "t", ID: fmt.Sprint(i), Kind: spantree.SpanModel, Start: spantree.UnixNano(trace.Value{Text: fmt.Sprint(1000 + i)}),
				Attrs: trace.Value{Kind: trace.Object, Members: []trace.Member{{Name: "gen_ai.input.messages", Value: text(r[0])}, {Name: "gen_ai.output.messages", Value: text(r[1])}}},
			})
		}
		all := spantree.Join(spans, "", "t")
		if len(all) != 1 {
			t.Fatalf("%s: %d trajectories", test.name, len(all))
		}
		var said []string
		for _, m := range all[0].Messages {
			said = append(said, m.Text.Text())
		}
		got := fmt.Sprintf("%d turns: %s; history-changed %d", len(all[0].Turns), strings.Join(said, " "), all[0].Anomalies.ByCode[build.CodeHistoryChanged])
		if got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
}

// TestSpanCircles holds that spans that are below each other are read.
func TestSpanCircles(t *testing.T) {
	for _, kinds := range [][]spantree.Kind{{spantree.SpanModel, spantree.SpanModel, spantree.SpanModel}, {spantree.SpanAgent, spantree.SpanAgent, spantree.SpanModel}, {spantree.SpanTool, spantree.SpanTool, spantree.SpanMCP}, {spantree.SpanLink, spantree.SpanLink, spantree.SpanTool}} {
		var spans []*spantree.Span
		for i, kind := range kinds {
			spans = append(spans, &spantree.Span{Trace: "t", ID: fmt.Sprint(i), Parent: fmt.Sprint((i + 1) % len(kinds)), Name: "f", Kind: kind, Attrs: trace.Value{Kind: trace.Object}})
		}
		for _, tr := range spantree.Join(spans, "", "t") {
			formattest.CheckConsistent(t, tr)
		}
	}
}

// TestSpansOfNoAgent holds what is said of spans that are no agent's.
func TestSpansOfNoAgent(t *testing.T) {
	for _, test := range []struct{ text, lacks string }{
		{`{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"1","name":"GET"}]}]}]}`, "no span or log record has attributes of agents"},
		{`{"resourceMetrics":[]}`, "metrics"},
	} {
		if m := otel.OTLP.Detect(formattest.HeadOf(test.text, 1<<20)); m.OK || !strings.Contains(m.Lacks, test.lacks) {
			t.Errorf("%s: %+v", test.text, m)
		}
	}
	if m := otel.Phoenix.Detect(formattest.HeadOf(`{"openinference.span.kind":"LLM"}`, 1<<20)); m.OK || m.Lacks == "" {
		t.Errorf("attributes alone: %+v", m)
	}
}

func FuzzDecodeOTLP(f *testing.F) { formattest.FuzzFormat(f, &otel.OTLP) }

func FuzzDecodePhoenix(f *testing.F) { formattest.FuzzFormat(f, &otel.Phoenix) }

func FuzzDecodeFlat(f *testing.F) { formattest.FuzzFormat(f, &otel.Flat) }

// BenchmarkDecodeOTLP reads a conversation in which every request repeats the
// history.
func BenchmarkDecodeOTLP(b *testing.B) {
	text, err := os.ReadFile(filepath.Join("testdata", "otlp", "genai.jsonl"))
	if err != nil {
		b.Fatal(err)
	}
	var all []byte
	for i := range 200 {
		copied := bytes.ReplaceAll(text, []byte("conv-1"), fmt.Appendf(nil, "conv-%d", i))
		trace := fmt.Appendf(nil, "%032x", i+1)
		for _, id := range []string{"0af7651916cd43dd8448eb211c80319c", "0AF7651916CD43DD8448EB211C80319C", "CvdlGRbNQ92ESOshHIAxnA=="} {
			copied = bytes.ReplaceAll(copied, []byte(id), trace)
		}
		all = append(all, copied...)
	}
	benchmarkRead(b, "otlp", all)
}

// BenchmarkDecodeFlat reads 200 traces of an agent with three responses and a call
// between each two, whose requests repeat what was said, a span a line.
func BenchmarkDecodeFlat(b *testing.B) {
	text := func(value any) string {
		out, err := json.Marshal(value)
		if err != nil {
			b.Fatal(err)
		}
		return string(out)
	}
	type object = map[string]any
	said := func(role string, parts ...any) object { return object{"role": role, "parts": parts} }
	var all []byte
	for i := range 200 {
		line := func(n int, parent any, name string, attributes object) {
			start := 1786462015000000000 + int64(i)*1e9 + int64(n)*1e6
			all = append(append(all, text(object{
				"trace_id": fmt.Sprintf("%032x", i+1), "span_id": fmt.Sprintf("%016x", n), "parent_span_id": parent, "name": name,
				"start_time": start, "end_time": start + 1e6, "attributes": attributes, "status": object{"code": "OK"},
			})...), '\n')
		}
		history := []object{said("system", object{"type": "text", "content": strings.Repeat("You answer questions. ", 40)}), said("user", object{"type": "text", "content": fmt.Sprint("Question ", i)})}
		for turn := range 3 {
			id := fmt.Sprint("call_", i, "_", turn)
			answer := said("assistant", object{"type": "tool_call", "id": id, "name": "search", "arguments": object{"query": fmt.Sprint(i, turn)}})
			if turn == 2 {
				answer = said("assistant", object{"type": "text", "content": "It is so."})
			}
			line(10*turn+2, fmt.Sprintf("%016x", 1), "chat m", object{
				"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.usage.input_tokens": 500, "gen_ai.usage.output_tokens": 20,
				"gen_ai.input.messages": text(history), "gen_ai.output.messages": text([]object{answer}),
			})
			if turn == 2 {
				break
			}
			result := strings.Repeat("A line of what was found. ", 20)
			line(10*turn+3, fmt.Sprintf("%016x", 1), "execute_tool search", object{
				"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search", "gen_ai.tool.call.id": id, "gen_ai.tool.call.arguments": text(object{"query": fmt.Sprint(i, turn)}), "gen_ai.tool.call.result": result,
			})
			history = append(history, answer, said("tool", object{"type": "tool_call_response", "id": id, "response": result}))
		}
		line(1, nil, "invoke_agent a", object{"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "a"})
	}
	benchmarkRead(b, "spans", all)
}

// benchmarkRead reads a file of a format.
func benchmarkRead(b *testing.B, format string, text []byte) {
	path := filepath.Join(b.TempDir(), "all.jsonl")
	if err := os.WriteFile(path, text, 0o666); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		formattest.ReadFile(b, path, format, trace.Options{Workers: 1})
	}
}
