package trace

import (
	"io/fs"
	"os"
	pathpkg "path"
	"path/filepath"
	"testing"
)

// sampleFormats are the formats of the recorded traces, by folder or by file; what
// has none is no trace.
var sampleFormats = map[string]string{
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

// samples returns the recorded traces with the format that each is in, "" for none,
// or skips the test.
func samples(t *testing.T) (root string, formats map[string]string) {
	t.Helper()
	root = filepath.Join("..", "..", "shared", "data")
	if _, err := os.Stat(root); err != nil {
		t.Skip("the recorded traces are not there")
	}
	formats = map[string]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		format, ok := sampleFormats[name]
		if !ok && filepath.Ext(name) != "" {
			format = sampleFormats[pathpkg.Dir(name)]
		}
		formats[name] = format
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return root, formats
}
