package cli

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/awo-dev/awo/diag"
)

// report prints problems as a job with these settings does.
func printed(s Settings, list ...*diag.Error) string {
	var out strings.Builder
	a := &App{Stderr: &out}
	p := Problems{app: a, settings: &s, clear: func() {}}
	for _, e := range list {
		p.Add(e)
	}
	p.finish()
	return out.String()
}

func many() []*diag.Error {
	var list []*diag.Error
	for i := range 28 {
		list = append(list, diag.New(diag.Pos{File: "a.jsonl", Line: i + 1}, "json-syntax", "no value here"))
	}
	return append(list,
		diag.New(diag.Pos{File: "b.jsonl"}, "file-missing", "there is no such file"),
		diag.Warn(diag.Pos{File: "c.yaml", Line: 2, Col: 3}, "rule-unused", "it matches nothing").Note(diag.Pos{File: "c.yaml", Line: 1}, "its\x1b[2J name"),
	)
}

func TestProblems(t *testing.T) {
	normal := printed(Settings{}, many()...)
	want := `a.jsonl:1: json-syntax: no value here
a.jsonl:2: json-syntax: no value here
a.jsonl:3: json-syntax: no value here
a.jsonl:4: json-syntax: no value here
a.jsonl:5: json-syntax: no value here
b.jsonl: file-missing: there is no such file
c.yaml:2:3: rule-unused: warning: it matches nothing
  c.yaml:1: its\x1b[2J name
… and 23 more json-syntax; -v shows all
awo: 29 problems (28 json-syntax, 1 file-missing), 1 warning (1 rule-unused)
`
	if normal != want {
		t.Errorf("got\n%s\nwant\n%s", normal, want)
	}
	if verbose := printed(Settings{Verbose: true}, many()...); strings.Count(verbose, "json-syntax: no value") != 28 || strings.Contains(verbose, "more") {
		t.Errorf("-v prints\n%s", verbose)
	}
	if quiet, want := printed(Settings{Quiet: true}, many()...), "awo: 29 problems (28 json-syntax, 1 file-missing), 1 warning (1 rule-unused)\n"; quiet != want {
		t.Errorf("-q prints\n%s\nwant\n%s", quiet, want)
	}
	if nothing := printed(Settings{}); nothing != "" {
		t.Errorf("no problem prints %q", nothing)
	}
}

func TestCountOf(t *testing.T) {
	for _, test := range []struct {
		n    int
		noun string
		want string
	}{{0, "problem", "0 problems"}, {1, "trajectory", "1 trajectory"}, {2, "trajectory", "2 trajectories"}, {2, "day", "2 days"}, {3, "key", "3 keys"}, {1234, "call", "1,234 calls"}} {
		if got := CountOf(test.n, test.noun); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

func TestColour(t *testing.T) {
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "xterm")
	for _, test := range []struct {
		color    string
		terminal bool
		want     bool
	}{{"auto", true, true}, {"auto", false, false}, {"always", false, true}, {"never", true, false}} {
		if got := (&Settings{Color: test.color}).coloured(test.terminal); got != test.want {
			t.Errorf("--color %s, terminal %v: %v", test.color, test.terminal, got)
		}
	}
	t.Setenv("NO_COLOR", "1")
	if (&Settings{Color: "auto"}).coloured(true) {
		t.Error("NO_COLOR is ignored")
	}
	var out strings.Builder
	a := &App{Stderr: &out, colour: true, sources: map[string][]byte{"r.yaml": []byte("kind: efect\n")}}
	a.printProblem(diag.New(diag.Pos{File: "r.yaml", Line: 1, Col: 7}, "rule-effect", "there is no such effect"))
	want := "\x1b[1mr.yaml:1:7\x1b[0m: \x1b[31mrule-effect\x1b[0m: there is no such effect\n    kind: efect\n          \x1b[31m^\x1b[0m\n"
	if out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

func TestLoggerHasNoTime(t *testing.T) {
	for _, terminal := range []bool{false, true} {
		var lines []string
		for _, s := range []Settings{{}, {Verbose: true}, {Quiet: true}} {
			var out strings.Builder
			a := &App{Stderr: &out, StderrTerminal: terminal}
			for level := slog.LevelDebug; level <= slog.LevelError; level += 4 {
				a.logger(s).Log(t.Context(), level, "message", "key", 1)
			}
			lines = append(lines, fmt.Sprint(strings.Count(out.String(), "message")))
			if strings.Contains(out.String(), "time") || strings.Contains(out.String(), ":") {
				t.Errorf("a line with a time: %s", out.String())
			}
		}
		if got := strings.Join(lines, " "); got != "2 4 1" {
			t.Errorf("lines by verbosity: %s, want 2 4 1", got)
		}
	}
}
