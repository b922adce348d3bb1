package sessions

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// write makes a file below a folder.
func write(t *testing.T, parts ...string) string {
	t.Helper()
	name := filepath.Join(parts...)
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte("{}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

// names are the agents and files found, below a folder.
func names(found *Found, below string) (out []string) {
	for _, f := range found.Files {
		name, _ := filepath.Rel(below, f.Path)
		out = append(out, f.Agent.Name+" "+filepath.ToSlash(name))
	}
	return out
}

func TestFind(t *testing.T) {
	for _, x := range []struct {
		name, system string
		env          map[string]string // values begin with the home folder
		files        []string          // below the home folder
		want         []string
	}{
		{"the usual places", "linux", nil, []string{
			".claude/projects/-home-a/s1.jsonl", ".claude/projects/-home-a/s1/subagents/agent-1.jsonl", ".claude/projects/-home-a/s1/subagents/journal.jsonl", ".claude/history.jsonl",
			".codex/sessions/2026/01/02/rollout-1.jsonl", ".codex/sessions/2026/01/02/rollout-2.jsonl.zst", ".codex/archived_sessions/rollout-0.jsonl", ".codex/auth.json",
			".gemini/tmp/ab12/chats/session-1.json", ".gemini/tmp/ab12/logs.json", ".config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/17/api_conversation_history.json",
			".local/share/goose/sessions/20260102_1.jsonl", ".local/share/opencode/storage/message/s/m.json", ".local/share/opencode/auth.json",
		}, []string{
			"claude-code .claude/projects/-home-a/s1.jsonl", "claude-code .claude/projects/-home-a/s1/subagents/agent-1.jsonl",
			"cline .config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/17/api_conversation_history.json",
			"codex .codex/archived_sessions/rollout-0.jsonl", "codex .codex/sessions/2026/01/02/rollout-1.jsonl", "codex .codex/sessions/2026/01/02/rollout-2.jsonl.zst",
			"gemini-cli .gemini/tmp/ab12/chats/session-1.json", "goose .local/share/goose/sessions/20260102_1.jsonl", "opencode .local/share/opencode/storage/message/s/m.json",
		}},
		{"variables move them", "linux", map[string]string{"CLAUDE_CONFIG_DIR": "other", "CODEX_HOME": "cx", "XDG_DATA_HOME": "data", "QWEN_HOME": "q"}, []string{
			".claude/projects/p/old.jsonl", "other/projects/p/new.jsonl", "cx/sessions/rollout-1.jsonl", ".codex/sessions/rollout-0.jsonl",
			"data/goose/sessions/1.jsonl", "q/projects/p/chats/1.jsonl",
		}, []string{"claude-code other/projects/p/new.jsonl", "codex cx/sessions/rollout-1.jsonl", "goose data/goose/sessions/1.jsonl", "qwen-code q/projects/p/chats/1.jsonl"}},
		{"macOS", "darwin", nil, []string{"Library/Application Support/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/1/api_conversation_history.json", ".claude/projects/p/1.jsonl"}, []string{
			"claude-code .claude/projects/p/1.jsonl", "cline Library/Application Support/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/1/api_conversation_history.json",
		}},
		{"Windows", "windows", map[string]string{"APPDATA": "Roaming"}, []string{"Roaming/Block/goose/sessions/1.jsonl", "Roaming/Code/User/workspaceStorage/w/chatSessions/1.json", ".local/share/opencode/storage/part/m/p.json"}, []string{
			"goose Roaming/Block/goose/sessions/1.jsonl", "opencode .local/share/opencode/storage/part/m/p.json", "vscode-copilot Roaming/Code/User/workspaceStorage/w/chatSessions/1.json",
		}},
	} {
		t.Run(x.name, func(t *testing.T) {
			home := t.TempDir()
			for _, name := range x.files {
				write(t, home, name)
			}
			found := Find(Machine{System: x.system, Home: home, Env: func(name string) string {
				if v := x.env[name]; v != "" {
					return filepath.Join(home, v)
				}
				return ""
			}}, "")
			if got := names(found, home); !slices.Equal(got, x.want) {
				t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(x.want, "\n"))
			}
		})
	}
}

func none(string) string { return "" }

// TestOnlyOwn: nothing is read through a link or from somebody else, and databases are named.
func TestOnlyOwn(t *testing.T) {
	home, elsewhere := t.TempDir(), t.TempDir()
	write(t, home, ".claude/projects/p/1.jsonl")
	write(t, home, ".claude/projects/foreign/1.jsonl")
	write(t, home, ".local/share/opencode/opencode.db")
	write(t, elsewhere, "projects/p/2.jsonl")
	write(t, elsewhere, "sessions/rollout-1.jsonl")
	if err := os.Symlink(filepath.Join(elsewhere, "projects", "p"), filepath.Join(home, ".claude", "projects", "link")); err != nil {
		t.Skip("links cannot be made here") // Windows needs a right for it
	}
	if err := os.Symlink(filepath.Join(elsewhere, "projects", "p", "2.jsonl"), filepath.Join(home, ".claude", "projects", "p", "2.jsonl")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, filepath.Join(home, ".codex")); err != nil {
		t.Fatal(err)
	}
	owner := func(info fs.FileInfo) bool { return info.Name() != "foreign" }
	found := Find(Machine{System: runtime.GOOS, Home: home, Env: none, Owner: owner}, "")
	if got, want := names(found, home), []string{"claude-code .claude/projects/p/1.jsonl"}; !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	if found.Foreign != 1 || len(found.Links) != 1 || len(found.Databases) != 1 || found.Databases[0].Name != "opencode" {
		t.Errorf("%+v", found)
	}
	// Who names the place means it.
	moved := Find(Machine{System: runtime.GOOS, Home: home, Env: func(name string) string {
		return map[string]string{"CODEX_HOME": filepath.Join(home, ".codex")}[name]
	}}, "codex")
	if got, want := names(moved, home), []string{"codex .codex/sessions/rollout-1.jsonl"}; !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	if !Owned(must(os.Stat(home))) {
		t.Error("the user does not own a folder that the test made")
	}
	if runtime.GOOS == "linux" && os.Getuid() != 0 && Owned(must(os.Stat("/etc"))) {
		t.Error("the user owns /etc")
	}
}

func must(info fs.FileInfo, err error) fs.FileInfo {
	if err != nil {
		panic(err)
	}
	return info
}

// TestBounded: folders without end are not followed without end.
func TestBounded(t *testing.T) {
	home := t.TempDir()
	write(t, home, ".codex/sessions", strings.Repeat("d/", MaxDepth), "rollout-1.jsonl")
	write(t, home, ".codex/sessions", strings.Repeat("d/", MaxDepth+1), "rollout-2.jsonl")
	found := Find(Machine{System: "linux", Home: home, Env: none}, "codex")
	if len(found.Files) != 1 || found.Beyond != 1 {
		t.Errorf("%d files, %d beyond", len(found.Files), found.Beyond)
	}
}

// TestAgents holds the table to its form.
func TestAgents(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "formats.md"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range Agents {
		a := &Agents[i]
		_, row, _ := strings.Cut(string(page), "| ["+a.Name+"]("+a.Source+") |")
		row, _, _ = strings.Cut(row, "\n")
		documented := slices.Concat(a.Folders, a.Windows)
		for _, moved := range a.Moved {
			documented = append(documented, moved.Variable)
		}
		for _, word := range documented {
			if !strings.Contains(row, "`"+word+"`") {
				t.Errorf("docs/formats.md: the row of %s has no `%s`", a.Name, word)
			}
		}
		if i > 0 && a.Name <= Agents[i-1].Name {
			t.Errorf("%s stands behind %s", a.Name, Agents[i-1].Name)
		}
		if a.Title == "" || !strings.HasPrefix(a.Source, "https://") || len(a.Files) == 0 || (len(a.Databases) > 0) != (a.Export != "") {
			t.Errorf("%+v", a)
		}
		for _, folder := range slices.Concat(a.Folders, a.Windows) {
			base, _, ok := strings.Cut(folder, "/")
			if !ok || !slices.Contains([]string{"~", "DATA", "CODE", "APPDATA"}, base) {
				t.Errorf("%s: %s", a.Name, folder)
			}
		}
	}
}
