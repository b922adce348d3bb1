package trace

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// spanFormats are the formats whose fixtures stand in testdata, a trace and what
// a person reads in it.
var spanFormats = []*Format{&formatOTLP, &formatPhoenix, &formatMCP}

// TestSpanFixtures compares each fixture with what was written by hand beside
// it, for any number of workers, with everything spilled to disk, and by way of
// ATIF.
func TestSpanFixtures(t *testing.T) {
	for _, f := range spanFormats {
		paths, err := filepath.Glob(filepath.Join("testdata", f.Name, "*.json*"))
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s has no fixtures (%v)", f.Name, err)
		}
		for _, path := range paths {
			t.Run(f.Name+"/"+filepath.Base(path), func(t *testing.T) {
				want, err := os.ReadFile(strings.TrimSuffix(path, filepath.Ext(path)) + ".want")
				if err != nil {
					t.Fatal(err)
				}
				for _, o := range []Options{{Workers: 1}, {Workers: 4, SpillBudget: 1, TempDir: t.TempDir()}} {
					all := readFile(t, path, f.Name, o)
					if got := depictAll(all); got != string(want) {
						t.Fatalf("got\n%s\nwant\n%s", got, want)
					}
					for _, tr := range all {
						checkConsistent(t, tr)
						checkRoundTrip(t, tr)
					}
				}
			})
		}
	}
}

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
	writeFile(t, file, string(bytes.Join(lines, []byte("\n"))))
	want := depictAll(readFile(t, path, "otlp", Options{}))
	if got := depictAll(readFile(t, file, "otlp", Options{})); got != want {
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
		writeFile(t, files[i], string(line))
	}
	slices.Reverse(files) // the logs before the spans
	want := depictAll(readFile(t, filepath.Join("testdata", "otlp", "legacy.jsonl"), "otlp", Options{}))
	all := readFiles(t, files...)
	slices.SortFunc(all, func(a, b *Trajectory) int { return strings.Compare(a.ID, b.ID) })
	if got := depictAll(all); got != want {
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
		path := recorded(t, filepath.Join("formats", test.path))
		var lines []string
		for _, tr := range readFile(t, path, test.format, Options{}) {
			users, in, out := 0, int64(0), int64(0)
			for _, m := range tr.Messages {
				if m.Role == RoleUser {
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
			if tr.Oddities.Total != 0 {
				line += fmt.Sprint(" odd ", tr.Oddities)
			}
			lines = append(lines, line)
			checkRoundTrip(t, tr)
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
		var spans []*span
		for i, r := range test.requests {
			text := func(s string) Value { return Value{Kind: String, Text: "[" + s + "]"} }
			spans = append(spans, &span{
				trace: "t", id: fmt.Sprint(i), kind: spanChat, start: unixNano(Value{Text: fmt.Sprint(1000 + i)}),
				attrs: Value{Kind: Object, Members: []Member{{"gen_ai.input.messages", text(r[0])}, {"gen_ai.output.messages", text(r[1])}}},
			})
		}
		all := joinSpans(spans, "", "t")
		if len(all) != 1 {
			t.Fatalf("%s: %d trajectories", test.name, len(all))
		}
		var said []string
		for _, m := range all[0].Messages {
			said = append(said, m.Text.Text())
		}
		got := fmt.Sprintf("%d turns: %s; history-changed %d", len(all[0].Turns), strings.Join(said, " "), all[0].Oddities.ByCode[CodeHistoryChanged])
		if got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
}

// TestSpanCircles holds that spans that are below each other are read.
func TestSpanCircles(t *testing.T) {
	for _, kinds := range [][]spanKind{{spanChat, spanChat, spanChat}, {spanAgent, spanAgent, spanChat}, {spanTool, spanTool, spanMCP}, {spanLink, spanLink, spanTool}} {
		var spans []*span
		for i, kind := range kinds {
			spans = append(spans, &span{trace: "t", id: fmt.Sprint(i), parent: fmt.Sprint((i + 1) % len(kinds)), name: "f", kind: kind, attrs: Value{Kind: Object}})
		}
		for _, tr := range joinSpans(spans, "", "t") {
			checkConsistent(t, tr)
		}
	}
}

// TestSpanDetection checks that recorded files are claimed by their own format
// alone, wherever the beginning ends.
func TestSpanDetection(t *testing.T) {
	samples, err := filepath.Glob(filepath.Join("..", "..", "shared", "data", "formats", "*", "*.json*"))
	if err != nil {
		t.Fatal(err)
	}
	fixtures, err := filepath.Glob(filepath.Join("testdata", "*", "*.json*"))
	if err != nil {
		t.Fatal(err)
	}
	own := map[string]string{"otlp-genai": "otlp", "spec_llm_spans.jsonl": "phoenix", "otlp": "otlp", "phoenix": "phoenix", "mcp": "mcp", "mcp-jsonrpc": "mcp"}
	for _, path := range append(samples, fixtures...) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want := own[filepath.Base(filepath.Dir(path))] + own[filepath.Base(path)]
		for i := range Formats {
			f := &Formats[i]
			if f.Detect(headOf(string(text), len(text))).OK && f.Name != want && (want != "" || slices.Contains(spanFormats, f)) {
				t.Errorf("%s claims %s", f.Name, path)
			}
		}
		for _, f := range spanFormats {
			for _, size := range []int{len(text), len(text) * 3 / 4, len(text) / 2, 1000, 200} {
				ok := f.Detect(headOf(string(text), min(size, len(text)))).OK
				if ok && want != f.Name && filepath.Base(filepath.Dir(path)) != "otlp-generic" || !ok && want == f.Name && size == len(text) {
					t.Errorf("%s claims %d bytes of %s: %v", f.Name, size, path, ok)
				}
			}
		}
	}
	for _, test := range []struct{ text, lacks string }{
		{`{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"1","name":"GET"}]}]}]}`, "no span or log record has attributes of agents"},
		{`{"resourceMetrics":[]}`, "metrics"},
	} {
		if m := formatOTLP.Detect(headOf(test.text, 1<<20)); m.OK || !strings.Contains(m.Lacks, test.lacks) {
			t.Errorf("%s: %+v", test.text, m)
		}
	}
	if m := formatPhoenix.Detect(headOf(`{"openinference.span.kind":"LLM"}`, 1<<20)); m.OK || m.Lacks == "" {
		t.Errorf("attributes alone: %+v", m)
	}
}

func FuzzDecodeOTLP(f *testing.F) { fuzzFormat(f, &formatOTLP) }

func FuzzDecodePhoenix(f *testing.F) { fuzzFormat(f, &formatPhoenix) }

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
	path := filepath.Join(b.TempDir(), "all.jsonl")
	if err := os.WriteFile(path, all, 0o666); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(all)))
	b.ReportAllocs()
	for b.Loop() {
		readFile(b, path, "otlp", Options{Workers: 1})
	}
}
