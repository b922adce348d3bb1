package formattest

import (
	"io/fs"
	pathpkg "path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/recordings"
)

// SampleFormats are the formats of the recorded traces, by folder or by file; what
// has none is no trace.
var SampleFormats = map[string]string{
	"claude-code": "claude-code", "taubench": "tau-bench", "tau2": "tau2",
	"toolbench/example": "toolbench", "toolbench/cot": "toolbench",
	"formats/anthropic-managed-agents": "managed-agents", "formats/anthropic-messages": "anthropic",
	"formats/atif": "atif", "formats/claude-code": "claude-code", "formats/codex-rollout": "codex",
	"formats/gemini-contents": "gemini", "formats/inspect-ai": "inspect", "formats/langfuse": "langfuse",
	"formats/langsmith": "langsmith", "formats/mcp-jsonrpc": "mcp", "formats/openai-agents-traces": "openai-agents",
	"formats/openai-chat": "openai-chat", "formats/openai-responses": "openai-responses",
	"formats/openhands": "openhands", "formats/otlp-genai": "otlp", "formats/swe-agent": "swe-agent",
	"formats/openinference/spec_llm_spans.jsonl":            "phoenix",
	"formats/openai-chat/test_chat_tools_streaming.sse.txt": "event-stream",
	"formats/mcp-jsonrpc/go-sdk_tools.txtar":                "",
}

// sampleFolders hold the recorded traces that the tests of formats know.
var sampleFolders = []string{"bfcl", "claude-code", "formats", "nestful", "tau2", "taubench", "toolbench"}

// Samples returns the recorded traces with the format that each is in, "" for none,
// or skips the test.
func Samples(t *testing.T) (root string, formats map[string]string) {
	t.Helper()
	root = recordings.Recorded(t, "")
	formats = map[string]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name != "." && !slices.Contains(sampleFolders, strings.Split(filepath.ToSlash(name), "/")[0]) {
				return filepath.SkipDir
			}
			return nil
		}
		name = filepath.ToSlash(name)
		format, ok := SampleFormats[name]
		if !ok && filepath.Ext(name) != "" {
			format = SampleFormats[pathpkg.Dir(name)]
		}
		formats[name] = format
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return root, formats
}
