package formats_test

import (
	"errors"
	"fmt"
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
	"github.com/awo-dev/awo/trace/formats/testdata/formattest"
	"github.com/google/go-cmp/cmp"
)

// mixedRun is what a run has read, by file and in the order of the run.
type mixedRun struct {
	byFile map[string][]string // trajectories in ATIF and problems
	counts map[string]trace.FileCounts
	all    []string
}

// mixed reads files or folders below root. Names of files are from there and as if
// none was compressed.
func mixed(t *testing.T, o trace.Options, root, input string) mixedRun {
	t.Helper()
	name := func(path string) string {
		path, err := filepath.Rel(root, path)
		if err != nil {
			t.Fatal(err)
		}
		return trace.UnpackedName(filepath.ToSlash(path))
	}
	o.Formats = formats.All
	r, err := trace.Open([]string{input}, o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	run := mixedRun{byFile: map[string][]string{}, counts: map[string]trace.FileCounts{}}
	for x, err := range r.All() {
		var file, line string
		if err != nil {
			problem, ok := errors.AsType[*diag.Error](err)
			if !ok {
				t.Fatalf("%v is no problem", err)
			}
			file, line = problem.Pos.File, err.Error()
		} else {
			file = x.Source.File
			text, err := atif.Append(nil, x)
			if err != nil {
				t.Fatal(err)
			}
			line = fmt.Sprintf("%s %s %s", x.Source, x.Format, text)
		}
		// IDs may be places.
		line = strings.ReplaceAll(line, filepath.ToSlash(root)+"/", "")
		line = strings.ReplaceAll(line, filepath.Base(file), pathpkg.Base(name(file)))
		run.byFile[name(file)] = append(run.byFile[name(file)], line)
		run.all = append(run.all, line)
	}
	for _, c := range r.Counts().Files {
		c.Name = name(c.Name)
		run.counts[c.Name] = c
	}
	return run
}

// TestMixedFolder holds that the recorded traces of all formats in one folder, some
// of them compressed, are read in one run as each is alone, and to the same bytes
// whatever the number of workers and the memory.
func TestMixedFolder(t *testing.T) {
	root, formats := formattest.Samples(t)
	folder := t.TempDir()
	for i, name := range slices.Sorted(maps.Keys(formats)) {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		path, content := filepath.Join(folder, filepath.FromSlash(name)), string(text)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		switch i % 3 {
		case 1:
			path, content = path+".gz", formattest.GzipOf(t, content)
		case 2:
			path, content = path+".zst", formattest.ZstdOf(t, content)
		}
		formattest.WriteFile(t, path, content)
	}
	all := mixed(t, trace.Options{Workers: 1}, folder, folder)
	for _, o := range []trace.Options{{Workers: 4}, {Workers: 3, SpillBudget: 1 << 10, TempDir: t.TempDir()}} {
		if d := cmp.Diff(all, mixed(t, o, folder, folder), cmp.AllowUnexported(mixedRun{})); d != "" {
			t.Errorf("with %d workers and a budget of %d:\n%s", o.Workers, o.SpillBudget, d)
		}
	}
	for name, format := range formats {
		path := filepath.Join(root, filepath.FromSlash(name))
		together := false // files beside it are of the same session, connection or trace
		switch pathpkg.Dir(name) {
		case "claude-code", "formats/mcp-jsonrpc", "formats/otlp-genai":
			path, together = filepath.Dir(path), true
		}
		alone := mixed(t, trace.Options{}, root, path)
		if format == "" { // whoever names a file wants to know why it is not read
			if got := all.byFile[name]; len(got) != 1 || !strings.Contains(got[0], "file-skipped") {
				t.Errorf("%s: %q", name, got)
			}
			continue
		}
		if d := cmp.Diff(alone.byFile[name], all.byFile[name]); d != "" {
			t.Errorf("%s alone and among others:\n%s", name, d)
		}
		if d := cmp.Diff(alone.counts[name], all.counts[name]); d != "" {
			t.Errorf("%s alone and among others:\n%s", name, d)
		}
		if len(all.byFile[name]) == 0 && !together {
			t.Errorf("nothing was read of %s", name)
		}
	}
}

// TestMixedFile holds that each record of a file of several formats is read by its own, and
// that a warning says at which line they begin to differ. Files of one format have none.
func TestMixedFile(t *testing.T) {
	fixture := func(name string) string {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(data)) + "\n"
	}
	codex, claude, agents := fixture("codex/testdata/codex/totals.jsonl"), fixture("claudecode/testdata/claude-code/tool-search.jsonl"), fixture("agents/testdata/openai-agents/totals.jsonl")
	chat := `{"model":"m","messages":[{"role":"user","content":"Count."},{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"count","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"4"}]}` + "\n"
	spans := `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"0a0b0c0d0e0f00010203040506070809","spanId":"0102030405060708","name":"chat m","startTimeUnixNano":"1000000000","endTimeUnixNano":"2000000000","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}}]}]}]}]}` + "\n"
	for name, test := range map[string]struct{ data, want string }{
		"sessions":          {codex + claude, "claude-code 2, codex 1; formats-mixed:8"},
		"sessions reversed": {claude + codex, "claude-code 2, codex 1; formats-mixed:1"},
		"requests":          {chat + codex, "codex 1, openai-chat 1; formats-mixed:1"},
		"spans":             {spans + chat + agents, "openai-agents 1, openai-chat 1, otlp 1; formats-mixed:2"},
		"one format":        {claude + claude, "claude-code 2; "},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "log.jsonl")
			if err := os.WriteFile(path, []byte(test.data), 0o666); err != nil {
				t.Fatal(err)
			}
			r, err := trace.Open([]string{path}, trace.Options{Formats: formats.All})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			calls, problems := map[string]int{}, ""
			for x, err := range r.All() {
				if problem, ok := errors.AsType[*diag.Error](err); ok {
					problems += fmt.Sprintf("%s:%d", problem.Code, problem.Pos.Line)
				} else {
					calls[x.Format] += max(len(x.Calls), 1)
				}
			}
			var got []string
			for format, n := range calls {
				got = append(got, fmt.Sprintf("%s %d", format, n))
			}
			slices.Sort(got)
			if got := strings.Join(got, ", ") + "; " + problems; got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
