package formats_test

import (
	"errors"
	"maps"
	"os"
	pathpkg "path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats"
	"github.com/awo-dev/awo/trace/formats/atif"
	"github.com/awo-dev/awo/trace/formats/openai"
	"github.com/awo-dev/awo/trace/formats/testdata/formattest"
)

func TestDetect(t *testing.T) {
	chat := `{"role": "user", "content": "x"}, {"role": "assistant", "content": null, "tool_calls": []}`
	for _, test := range []struct {
		name, text, format string // format: empty for none
		whole              bool
		lacks              string
	}{
		{"chat lines", `{"messages": [` + chat + `]}` + "\n" + `{"messages": []}` + "\n", "openai-chat", false, ""},
		{"tools first", `{"model": "m", "tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}], "messages": [` + chat + `]}`, "openai-chat", false, ""},
		{"legacy", `{"messages": [{"role": "assistant", "function_call": {"name": "f", "arguments": "{}"}}]}`, "openai-chat", false, ""},
		{"bare list", `[` + chat + `]`, "openai-chat", true, ""},
		{"bare list, indented", "[\n" + chat + "\n]", "openai-chat", true, ""},
		{"lines of lists", `[` + chat + `]` + "\n" + `[` + chat + `]`, "openai-chat", false, ""},
		{"list of lists", `[[` + chat + `],[` + chat + `]]`, "openai-chat", false, ""},
		{"list of objects", `[{"messages": [` + chat + `]}]`, "openai-chat", false, ""},
		{"pairs", `{"request": {"messages": [` + chat + `]}, "response": {}}`, "openai-chat", false, ""},
		{"pairs of text", `{"request": "{\"messages\": [{\"role\": \"user\", \"content\": \"x\"}]}", "response": ""}`, "openai-chat", false, ""},
		{"empty first", `{"messages": []}` + "\n" + `{"messages": [` + chat + `]}`, "openai-chat", false, ""},
		{"an other interface's blocks", `{"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1"}]}]}`, "", false, "another interface"},
		{"an other interface's tools", `{"messages": [` + chat + `], "tools": [{"name": "f", "input_schema": {}}]}`, "", false, "another interface"},
		{"an other interface's system", `{"system": "s", "messages": [` + chat + `]}`, "", false, "another interface"},
		{"no roles", `{"messages": [{"type": "user", "text": "x"}]}`, "", false, "another interface"},
		{"not messages", `{"messages": ["x", "y"]}`, "", false, "no role and content"},
		{"something else", `{"prompt": "x"}`, "", false, ""},
		{"tau-bench", `[{"task_id": 0, "reward": 1.0, "info": {}, "traj": [` + chat + `], "trial": 0}]`, "tau-bench", false, ""},
		{"tau-bench without runs", `[{"task_id": 0, "reward": 1.0, "info": {}}]`, "", false, `"traj"`},
		{"tau-bench without tasks", `[{"traj": []}]`, "", false, `"task_id"`},
		{"tau2", `{"timestamp": "", "info": {"agent_info": {}}, "tasks": [], "simulations": []}`, "tau2", false, ""},
		{"tau2 without simulations", `{"info": {"agent_info": {}}, "tasks": []}`, "", false, `"simulations"`},
		{"ATIF", `{"schema_version": "ATIF-v1.4", "session_id": "x"}`, "atif", false, ""},
		{"ATIF, members in another order", `{"steps": [], "agent": {}, "schema_version": "ATIF-v1.7"}`, "atif", false, ""},
		{"ATIF without a version", `{"steps": [], "agent": {}}`, "", false, `"schema_version"`},
		{"another schema", `{"schema_version": "2", "steps": [], "agent": {}}`, "", false, ""},
		{"nothing", "", "", false, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			head := formattest.HeadOf(test.text, 1<<20)
			claims, lacks := "", ""
			for _, f := range []*trace.Format{&atif.Format, formattest.Format("tau2"), formattest.Format("tau-bench"), &openai.Chat} {
				match := f.Detect(head)
				if match.OK {
					claims += f.Name
					if match.Whole != test.whole {
						t.Errorf("whole is %v", match.Whole)
					}
				}
				lacks += match.Lacks
			}
			if claims != test.format || !strings.Contains(lacks, test.lacks) || test.lacks == "" && lacks != "" {
				t.Errorf("claimed by %q, lacks %q; want %q, %q", claims, lacks, test.format, test.lacks)
			}
		})
	}
}

// TestNearMisses holds what is said of files that are next to those that can be read.
func TestNearMisses(t *testing.T) {
	for text, want := range map[string]string{
		`[{"ts": 1, "type": "say", "say": "text", "text": "hi"}, {"ts": 2, "type": "ask", "ask": "tool", "text": "{}"}]`: "api_conversation_history.json",
		`{"eval": {"task": "t"}, "version": 2, "plan": {}}`:                                                              `the log has no "samples"`,
	} {
		lacks := ""
		for _, f := range formats.All {
			match := f.Detect(formattest.HeadOf(text, len(text)))
			if match.OK {
				t.Errorf("%s claims %s", f.Name, text)
			}
			lacks += match.Lacks
		}
		if !strings.Contains(lacks, want) {
			t.Errorf("%s: lacks %q, want %q", text, lacks, want)
		}
	}
}

// TestDetectCut checks that a head that ends anywhere claims nothing else than
// the whole does.
func TestDetectCut(t *testing.T) {
	for format, text := range map[string]string{
		"openai-chat": `{"model": "m", "messages": [{"role": "user", "content": [{"type": "text", "text": "x"}]}, {"role": "assistant", "content": "y"}]}`,
		"tau-bench":   `[{"task_id": 0, "reward": 1.0, "info": {"a": 1}, "traj": [{"role": "user", "content": "x"}], "trial": 0}]`,
		"tau2":        `{"timestamp": "", "info": {"agent_info": {}}, "tasks": [{"id": "0"}], "simulations": [{"messages": [{"role": "user", "content": "x"}]}]}`,
		"atif":        `{"schema_version": "ATIF-v1.7", "agent": {"name": "a", "version": "1"}, "steps": [{"step_id": 1, "source": "user", "message": "x"}]}`,
	} {
		for size := range text {
			head := formattest.HeadOf(text, size)
			for _, f := range []*trace.Format{&atif.Format, formattest.Format("tau2"), formattest.Format("tau-bench"), &openai.Chat} {
				if match := f.Detect(head); match.OK && f.Name != format {
					t.Errorf("the first %d bytes of %s are claimed by %s", size, format, f.Name)
				}
			}
		}
	}
}

// TestDetectSamples holds that each recorded trace is taken for what it is, by the
// whole of it, as the Reader does it, compressed or not; that a shorter beginning
// is taken for nothing else; and that no format claims a trace of another.
func TestDetectSamples(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and one file at a time; TestMixedFolder reads the same files together")
	}
	root, sampled := formattest.Samples(t)
	seen := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(sampled)) {
		want := sampled[name]
		seen[want] = true
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		for _, size := range []int{1, 50, 1000, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 30} {
			head := formattest.HeadOf(string(text), size)
			for i := range formats.All {
				f := &formats.All[i]
				if name == "formats/otlp-generic/trace.json" && size < len(text) {
					continue // spans of an agent may come further on
				}
				if f.Name != want && f.Detect(head).OK {
					t.Errorf("%d bytes of %s are claimed by %s", size, name, f.Name)
				}
			}
			claimed := slices.IndexFunc(formats.All, func(f trace.Format) bool { return f.Detect(head).OK })
			if size >= len(text) && (claimed < 0 && want != "" || claimed >= 0 && formats.All[claimed].Name != want) {
				t.Errorf("%s is taken for format %d, want %q", name, claimed, want)
			}
		}
		if want == "" {
			continue
		}
		whole := string(text)
		for suffix, content := range map[string]string{"": whole, ".gz": formattest.GzipOf(t, whole), ".zst": formattest.ZstdOf(t, whole)} {
			path := filepath.Join(t.TempDir(), pathpkg.Base(name)+suffix)
			formattest.WriteFile(t, path, content)
			r, err := trace.Open([]string{path}, trace.Options{Formats: formats.All})
			if err != nil {
				t.Fatal(err)
			}
			for range r.All() {
				break
			}
			if got := r.Counts().Files[0].Format; got != want {
				t.Errorf("%s%s is read as %q, want %q", name, suffix, got, want)
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, format := range formattest.SampleFormats {
		if !seen[format] {
			t.Errorf("there is no sample of %s", format)
		}
	}
}

// shadowed are formats that claim what another claims before them: messages have the
// members that interfaces give them, and more that tells.
var shadowed = map[string][]string{"messages": {"claude-code", "gemini", "openai-chat"}, "gemini-cli": {"messages"}}

// TestShadowedComeLater holds that a format stands before those that it shadows.
func TestShadowedComeLater(t *testing.T) {
	place := map[string]int{}
	for i := range formats.All {
		place[formats.All[i].Name] = i
	}
	for name, others := range shadowed {
		for _, other := range others {
			if place[other] <= place[name] {
				t.Errorf("%s stands before %s", other, name)
			}
		}
	}
}

// TestDetectFixtures holds the same of the fixtures, which stand in folders of the
// names of their formats.
func TestDetectFixtures(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("*", "testdata", "*", "*.json*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) < 15 {
		t.Errorf("there are only %d fixtures", len(paths))
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want := filepath.Base(filepath.Dir(path))
		for _, size := range []int{len(text), len(text) * 3 / 4, len(text) / 2, 1000, 200} {
			for i := range formats.All {
				f := &formats.All[i]
				ok := f.Detect(formattest.HeadOf(string(text), min(size, len(text)))).OK
				if ok && f.Name != want && !slices.Contains(shadowed[want], f.Name) || !ok && f.Name == want && size == len(text) {
					t.Errorf("%s claims %d bytes of %s: %v", f.Name, size, path, ok)
				}
			}
		}
	}
}

// TestUnknownSamples holds what is said of files that are no traces.
func TestUnknownSamples(t *testing.T) {
	root, _ := formattest.Samples(t)
	for name, want := range map[string]string{
		"nestful/executable-data.json":    `openai-chat: "messages" is missing`,
		"nestful/executable-spec.json":    "openai-chat: these are definitions of tools",
		"nestful/LICENSE":                 "no format is near",
		"bfcl/q_base.json":                `openai-chat: "messages" is missing`,
		"bfcl/a_base.json":                "no format is near",
		"bfcl/func_doc/math_api.json":     "openai-chat: these are definitions of tools",
		"formats/otlp-generic/trace.json": "otlp: no span or log record has attributes of agents",
		"formats/openinference/openinference_client_span_tool_calls.json": `phoenix: these are attributes of a span without the span`,
	} {
		r, err := trace.Open([]string{filepath.Join(root, filepath.FromSlash(name))}, trace.Options{Formats: formats.All})
		if err != nil {
			t.Fatal(err)
		}
		var problems []string
		for x, err := range r.All() {
			if problem, ok := errors.AsType[*diag.Error](err); ok {
				for _, note := range problem.Notes {
					problems = append(problems, note.Msg)
				}
			} else {
				t.Errorf("%s: %v, %v", name, x, err)
			}
		}
		if len(problems) == 0 || !strings.HasPrefix(problems[0], want) || len(problems) > 1 && !strings.HasPrefix(problems[1], "--map") {
			t.Errorf("%s: %q, want %q", name, problems, want)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
