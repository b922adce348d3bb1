package trace

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// headOf reads the beginning of a text as the Reader does.
func headOf(text string, size int) Head {
	h, _ := newHead([]byte(text[:min(len(text), size)]), size >= len(text))
	return h
}

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
			head := headOf(test.text, 1<<20)
			claims, lacks := "", ""
			for _, f := range []*Format{&formatATIF, &formatTau2, &formatTauBench, &formatOpenAIChat} {
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
			head := headOf(text, size)
			for _, f := range []*Format{&formatATIF, &formatTau2, &formatTauBench, &formatOpenAIChat} {
				if match := f.Detect(head); match.OK && f.Name != format {
					t.Errorf("the first %d bytes of %s are claimed by %s", size, format, f.Name)
				}
			}
		}
	}
}

// TestDetectSamples checks that no sample of another format is claimed.
func TestDetectSamples(t *testing.T) {
	root := filepath.Join("..", "..", "shared", "data")
	if _, err := os.Stat(root); err != nil {
		t.Skip("the recorded traces are not there")
	}
	own := map[string]string{"formats/atif": "atif", "formats/openai-chat": "openai-chat", "taubench": "tau-bench", "tau2": "tau2"}
	claimed := 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		want := own[filepath.ToSlash(folder)]
		if ext := filepath.Ext(path); ext != ".json" && ext != ".jsonl" {
			want = "" // licences, streams
		}
		for _, size := range []int{64 << 10, 1 << 30} {
			got := ""
			for _, f := range []*Format{&formatATIF, &formatTau2, &formatTauBench, &formatOpenAIChat} {
				if f.Detect(headOf(string(text), size)).OK {
					got += f.Name
				}
			}
			if got != want && (size > len(text) || got != "") {
				t.Errorf("%s: claimed by %q, want %q", path, got, want)
			}
		}
		if want != "" {
			claimed++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if claimed < 8 {
		t.Errorf("only %d files are claimed", claimed)
	}
}
