package trace

import (
	"os"
	"path/filepath"
	"testing"
)

// TestDetectSessions checks that the formats of coding agents, benchmarks and
// Gemini claim their own samples, from a short head and a long one, and none of
// the others.
func TestDetectSessions(t *testing.T) {
	root := filepath.Join("..", "..", "shared", "data")
	if _, err := os.Stat(root); err != nil {
		t.Skip("the recorded traces are not there")
	}
	own := map[string]string{
		"formats/codex-rollout": "codex", "formats/gemini-contents": "gemini", "formats/swe-agent": "swe-agent",
		"formats/openhands": "openhands", "formats/inspect-ai": "inspect", "toolbench/example": "toolbench", "toolbench/cot": "toolbench", "formats/anthropic-managed-agents": "managed-agents",
	}
	formats := []*Format{&formatCodex, &formatGemini, &formatGeminiCLI, &formatSWEAgent, &formatOpenHands, &formatInspect, &formatToolBench, &formatManagedAgents}
	claimed := map[string]int{}
	for _, pattern := range []string{"*/*", "*/*/*", "*/*/*/*"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				continue // a folder
			}
			folder, err := filepath.Rel(root, filepath.Dir(file))
			if err != nil {
				t.Fatal(err)
			}
			want := own[filepath.ToSlash(folder)]
			for _, size := range []int{64 << 10, 1 << 30} {
				got := ""
				for _, f := range formats {
					if f.Detect(headOf(string(text), size)).OK {
						got += f.Name
					}
				}
				if got != want {
					t.Errorf("%s: claimed by %q, want %q", file, got, want)
				}
			}
			if want != "" {
				claimed[want]++
			}
			for i := range Formats { // the first of all that claims it
				if !Formats[i].Detect(headOf(string(text), 1<<30)).OK {
					continue
				}
				if want != "" && Formats[i].Name != want {
					t.Errorf("%s: taken for %s, want %s", file, Formats[i].Name, want)
				}
				break
			}
		}
	}
	for _, want := range own {
		if claimed[want] == 0 {
			t.Errorf("no sample of %s was found", want)
		}
	}
}
