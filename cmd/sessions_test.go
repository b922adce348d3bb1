package cmd

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/awo-dev/awo/internal/recordings"
)

// homeOfAgents makes a home folder with the sessions of four agents from fixtures, makes it the
// user's, and returns the files.
func homeOfAgents(t *testing.T) (home string, files []string) {
	t.Helper()
	home = t.TempDir()
	for _, variable := range []string{"HOME", "USERPROFILE", "LocalAppData"} {
		t.Setenv(variable, home)
	}
	for _, variable := range []string{"XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "COPILOT_HOME"} {
		t.Setenv(variable, "")
	}
	formats := filepath.Join("..", "trace", "formats")
	for _, x := range [][2]string{
		{"claudecode/testdata/claude-code/session.jsonl", ".claude/projects/-w-shop/s1.jsonl"},
		{"claudecode/testdata/claude-code/spoken.jsonl", ".claude/projects/-w-shop/s2.jsonl"},
		{"codex/testdata/codex/rollout.jsonl", ".codex/sessions/2026/01/02/rollout-1.jsonl"},
		{"codex/testdata/codex/tool-search.jsonl", ".codex/sessions/2026/09/01/rollout-2.jsonl"},
		{"gemini/testdata/gemini-cli/session.json", ".gemini/tmp/abc/chats/session-1.json"},
		{"sessions/testdata/copilot-cli/events.jsonl", ".copilot/session-state/s-1/events.jsonl"},
	} {
		text, err := os.ReadFile(filepath.Join(formats, x[0]))
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(home, filepath.FromSlash(x[1]))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, text, 0o666); err != nil {
			t.Fatal(err)
		}
		files = append(files, name)
	}
	return home, files
}

// sessionsResult is what is compared of `awo sessions` and commands that read the same files.
type sessionsResult struct {
	Figures struct {
		Sessions  int
		SubAgents int `json:"sub_agents"`
		USD       *float64
		Tokens    int64
		Paid      *float64 `json:"paid_usd"`
		Number    int      `json:"trajectories"`
	}
	Tables struct {
		Agents struct {
			Rows []struct {
				Agent       string
				Sessions    int
				First, Last string
				USD         *float64
				Tokens      int64
			}
		}
		Projects, Days struct {
			Rows []struct {
				Sessions int
				Tokens   int64
			}
		}
		Findings struct{ Rows []map[string]any }
	}
}

func sessionsOf(t *testing.T, args ...string) (out sessionsResult) {
	t.Helper()
	if err := json.Unmarshal(runLine(t, strings.Join(args, " ")), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestSessionsAsFiles: sessions that are found cost the same, and have the same findings, as
// the same files named one by one, and parts add up.
func TestSessionsAsFiles(t *testing.T) {
	_, files := homeOfAgents(t)
	began := time.Now()
	got := sessionsOf(t, "sessions")
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("it took %v", took)
	}
	cost := sessionsOf(t, append([]string{"cost"}, files...)...)
	if got.Figures.Tokens != cost.Figures.Tokens || !reflect.DeepEqual(got.Figures.USD, cost.Figures.Paid) || got.Figures.Sessions+got.Figures.SubAgents != cost.Figures.Number {
		t.Errorf("sessions: %+v, cost: %+v", got.Figures, cost.Figures)
	}
	if found := sessionsOf(t, append([]string{"findings"}, files...)...); !reflect.DeepEqual(got.Tables.Findings.Rows, found.Tables.Findings.Rows) {
		t.Errorf("sessions: %v, findings: %v", got.Tables.Findings.Rows, found.Tables.Findings.Rows)
	}
	var agents []string
	sessions, tokens := 0, int64(0)
	for _, row := range got.Tables.Agents.Rows {
		agents = append(agents, row.Agent)
		sessions, tokens = sessions+row.Sessions, tokens+row.Tokens
		if row.First == "" || row.Last < row.First {
			t.Errorf("%+v", row)
		}
	}
	slices.Sort(agents)
	if want := []string{"claude-code", "codex", "copilot-cli", "gemini-cli"}; !slices.Equal(agents, want) {
		t.Errorf("agents %q, want %q", agents, want)
	}
	if sessions != got.Figures.Sessions || tokens != got.Figures.Tokens {
		t.Errorf("the agents have %d sessions with %d tokens, all %+v", sessions, tokens, got.Figures)
	}
	for _, rows := range [][]struct {
		Sessions int
		Tokens   int64
	}{got.Tables.Projects.Rows, got.Tables.Days.Rows} {
		sessions, tokens := 0, int64(0)
		for _, row := range rows {
			sessions, tokens = sessions+row.Sessions, tokens+row.Tokens
		}
		if sessions != got.Figures.Sessions || tokens != got.Figures.Tokens {
			t.Errorf("%d sessions with %d tokens, all %+v", sessions, tokens, got.Figures)
		}
	}
}

// TestSessionsCache: what was read before is not read again, and whether there is a cache changes
// nothing that is printed.
func TestSessionsCache(t *testing.T) {
	home, files := homeOfAgents(t)
	kept := filepath.Join(home, "kept")
	for _, variable := range []string{"XDG_CACHE_HOME", "LocalAppData"} {
		t.Setenv(variable, kept)
	}
	if runtime.GOOS == "darwin" {
		kept = filepath.Join(home, "Library", "Caches")
	}
	kept = filepath.Join(kept, "awo")
	say := func() string { return string(runLine(t, "sessions")) }
	cold := func() string {
		t.Helper()
		if err := os.RemoveAll(kept); err != nil {
			t.Fatal(err)
		}
		return say()
	}
	first := say()
	if second := say(); second != first {
		t.Errorf("the second time\n%s\nwant\n%s", second, first)
	}
	// Who reads a file again would see that it holds something else.
	spoil := func(file string, later time.Duration) (undo func()) {
		t.Helper()
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		put := func(text []byte, at time.Time) {
			if err := os.WriteFile(file, text, 0o666); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(file, at, at); err != nil {
				t.Fatal(err)
			}
		}
		put([]byte(strings.Repeat("\n", len(text))), info.ModTime().Add(later))
		return func() { put(text, info.ModTime()) }
	}
	undo := spoil(files[0], 0)
	if got := say(); got != first {
		t.Error("a file that did not change was read again")
	}
	undo()
	undo = spoil(files[0], time.Second)
	if changed := say(); changed == first || changed != cold() {
		t.Error("a file that changed was not read again")
	}
	undo()
	if got := say(); got != first {
		t.Error("a file that is as it was is not counted as it was")
	}
	// A session that goes on in another file belongs to what is kept of the first.
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	more := filepath.Join(filepath.Dir(files[0]), "s3.jsonl")
	if err := os.WriteFile(more, append(text, strings.ReplaceAll(string(text), `"uuid": "e`, `"uuid": "f`)...), 0o666); err != nil {
		t.Fatal(err)
	}
	if got, want := say(), cold(); got != want {
		t.Errorf("with a session that goes on\n%s\nwant\n%s", got, want)
	}
	if err := os.Remove(more); err != nil {
		t.Fatal(err)
	}
	if got := say(); got != first {
		t.Error("a file that is gone still counts")
	}
	shards, err := filepath.Glob(filepath.Join(kept, "*"))
	if err != nil || len(shards) == 0 {
		t.Fatalf("%d files are kept, %v", len(shards), err)
	}
	for _, name := range shards {
		checkKept(t, name)
		if err := os.WriteFile(name, []byte("\x1f\x8bdamaged"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := say(); got != first {
		t.Error("a damaged cache changes what is printed")
	}
}

// checkKept holds a file of the cache to what it may hold, and who may read it.
func checkKept(t *testing.T, name string) {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 && runtime.GOOS != "windows" {
		t.Errorf("%s: mode %v", name, info.Mode())
	}
	text := recordings.Unpacked(t, name)
	for _, value := range []string{"Fix the test", "Look first", "taken back", "has not been read", "It fails", "exit 2"} { // of arguments, results and texts
		if bytes.Contains(text, []byte(value)) {
			t.Errorf("%s holds %q", name, value)
		}
	}
}
