package cli

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPaged takes texts through a pager, which is this test itself.
func TestPaged(t *testing.T) {
	if os.Getenv("AWO_TEST_PAGER") != "" {
		lines, err := io.ReadAll(os.Stdin)
		fmt.Printf("PAGER %d lines %v\n", strings.Count(string(lines), "\n"), err)
		os.Exit(0)
	}
	t.Setenv("AWO_TEST_PAGER", "1")
	pager := os.Args[0] + " -test.run=^TestPaged$"
	for name, test := range map[string]struct {
		app    App
		no     bool
		pager  string
		lines  int
		wanted string
	}{
		"long":          {app: App{StdoutTerminal: true, StdoutRows: 5}, pager: pager, lines: 9, wanted: "PAGER 9 lines <nil>\n"},
		"one screen":    {app: App{StdoutTerminal: true, StdoutRows: 5}, pager: pager, lines: 2, wanted: "x\nx\n"},
		"no terminal":   {app: App{StdoutRows: 1}, pager: pager, lines: 3, wanted: "x\nx\nx\n"},
		"not wanted":    {app: App{StdoutTerminal: true, StdoutRows: 1}, no: true, pager: pager, lines: 3, wanted: "x\nx\nx\n"},
		"none":          {app: App{StdoutTerminal: true, StdoutRows: 1}, pager: "", lines: 3, wanted: "x\nx\nx\n"},
		"not installed": {app: App{StdoutTerminal: true, StdoutRows: 1}, pager: "no-such-pager -x", lines: 3, wanted: "x\nx\nx\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PAGER", test.pager)
			t.Setenv("TERM", "xterm")
			var out strings.Builder
			test.app.Stdout, test.app.Stderr = &out, io.Discard
			j := &Job{Settings: Settings{NoPager: test.no}, app: &test.app, Out: bufio.NewWriter(&out)}
			err := j.paged(func(w io.Writer) error {
				_, err := io.WriteString(w, strings.Repeat("x\n", test.lines))
				return err
			})
			if flushed := j.Out.Flush(); err != nil || flushed != nil {
				t.Fatal(err, flushed)
			}
			if out.String() != test.wanted {
				t.Errorf("got %q, want %q", out.String(), test.wanted)
			}
		})
	}
}

func TestShowsLinks(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "TERM=xterm-256color": false, "TERM=xterm-kitty": true, "TERM_PROGRAM=vscode": true, "VTE_VERSION=6800": true, "VTE_VERSION=4999": false,
		"VTE_VERSION=600": false, "WT_SESSION=x": true, "TERM=dumb WT_SESSION=x": false, "CI=true TERM_PROGRAM=vscode": false,
	} {
		env := map[string]string{}
		for _, pair := range strings.Fields(text) {
			name, value, _ := strings.Cut(pair, "=")
			env[name] = value
		}
		if got := showsLinks(func(name string) string { return env[name] }); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	if s := (&Settings{Hyperlinks: "never"}); s.linked(true) {
		t.Error("links although there are to be none")
	}
}

func TestFileURL(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a b.json")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got := fileURL(name)
	if !strings.HasPrefix(got, "file://") || !strings.HasSuffix(got, "/a%20b.json") {
		t.Errorf("%q", got)
	}
	if got := fileURL(name + ".gone"); got != "" {
		t.Errorf("a file that is not there: %q", got)
	}
}
