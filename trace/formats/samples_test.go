package formats_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/testdata/formattest"
)

// TestPlatformSamples compares the recorded samples with what a person counts in
// them: calls, turns, messages of the user, results, calls that went well, tokens
// in and out.
func TestPlatformSamples(t *testing.T) {
	for _, test := range []struct {
		path, format string
		want         []string
	}{
		{"openai-responses/items_array.json", "openai-responses", []string{"1 1 1 1 0 0/0"}},
		{"openai-responses/test_tool_call_and_result_attributes.jsonl", "openai-responses", []string{"1 2 1 1 0 193/53", "1 2 1 1 0 193/56"}},
		{"langsmith/docs_webhook_tool_run.json", "langsmith", []string{"1 0 0 0 1 0/0"}},
		{"langsmith/py_wrap_openai_stream.json", "langsmith", []string{"0 1 1 0 0 9/9"}},
		{"langfuse/langgraph-2025-08-22.json", "langfuse", []string{"1 2 2 1 1 168/66"}},
		{"langfuse/openai-agents-2025-09-30.json", "langfuse", []string{"1 2 1 1 1 140/44"}},
		{"openai-agents-traces/test_tool_call_and_result_attributes.traces_ingest.jsonl", "openai-agents", []string{"1 1 0 1 1 0/0"}},
	} {
		t.Run(test.path, func(t *testing.T) {
			path := recordings.Recorded(t, filepath.Join("formats", test.path))
			var got []string
			for _, tr := range formattest.ReadFile(t, path, test.format, trace.Options{}) {
				formattest.CheckRoundTrip(t, tr)
				var users, results, ok int
				var in, out int64
				for _, m := range tr.Messages {
					if m.Role == trace.RoleUser {
						users++
					}
				}
				for _, c := range tr.Calls {
					if c.HasResult {
						results++
					}
					if c.Status == trace.StatusOK {
						ok++
					}
				}
				for _, turn := range tr.Turns {
					in += turn.Usage.Input
					out += turn.Usage.Output
				}
				got = append(got, fmt.Sprintf("%d %d %d %d %d %d/%d", len(tr.Calls), len(tr.Turns), users, results, ok, in, out))
				if len(tr.Anomalies.ByCode) > 0 {
					t.Errorf("anomalies %v", tr.Anomalies.ByCode)
				}
			}
			if strings.Join(got, ", ") != strings.Join(test.want, ", ") {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestSamplesTogether holds that the samples of frameworks read the same all at once as
// one at a time. Some hold the same trace twice, in two spellings, and these are left
// out: read together they are one trace.
func TestSamplesTogether(t *testing.T) {
	twins := []string{"seed_agno", "seed_autogen", "seed_google-adk", "seed_google-gemini", "seed_pydantic", "chatml_pydantic-ai-tools-2025-06-06"}
	root := recordings.Recorded(t, "frameworks")
	var files []string
	for _, pattern := range []string{"*/*.json", "*/*.jsonl", "*/*.txt"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range found {
			if !slices.ContainsFunc(twins, func(twin string) bool { return strings.HasPrefix(filepath.Base(file), twin) }) {
				files = append(files, file)
			}
		}
	}
	var alone []string
	for _, file := range files {
		for _, tr := range formattest.ReadFiles(t, file) {
			alone = append(alone, formattest.Depict(tr))
		}
	}
	var together []string
	for _, tr := range formattest.ReadFiles(t, files...) {
		together = append(together, formattest.Depict(tr))
	}
	slices.Sort(alone)
	slices.Sort(together)
	if diff := cmp.Diff(alone, together); diff != "" {
		t.Errorf("%d trajectories alone, %d together: %s", len(alone), len(together), diff)
	}
}
