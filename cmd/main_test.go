package cmd

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const oneChat = `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}` + "\n"

// runApp runs awo inside the test, with args separated by spaces.
func runApp(ctx context.Context, args string, a *app) (code int, stdout, stderr string) {
	var out, problems strings.Builder
	a.stdin, a.stderr = strings.NewReader(oneChat), &problems
	if a.stdout == nil {
		a.stdout = &out
	}
	code = a.run(ctx, strings.Fields(args))
	return code, out.String(), problems.String()
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	code, _, stderr := runApp(ctx, "inspect -", &app{})
	if code != exitProblems || stderr != "awo: interrupted\n" {
		t.Errorf("exit code %d, %q", code, stderr)
	}
}

// panicking is a standard output on which everything goes wrong.
type panicking struct{}

func (panicking) Write([]byte) (int, error) { panic("boom") }

func TestPanicIsReported(t *testing.T) {
	code, _, stderr := runApp(t.Context(), "version", &app{stdout: panicking{}})
	if code != exitProblems || !strings.HasPrefix(stderr, "awo: internal error: boom\n") || !strings.Contains(stderr, "please report") {
		t.Errorf("exit code %d, %q", code, stderr)
	}
}

func TestBytesAreCounted(t *testing.T) {
	var a app
	code, stdout, stderr := runApp(t.Context(), "inspect -", &a)
	if code != exitDone || stderr != "" || !strings.Contains(stdout, "1 trajectory") {
		t.Fatalf("exit code %d\n%s\n%s", code, stdout, stderr)
	}
	if a.bytesRead != int64(len(oneChat)) {
		t.Errorf("%d bytes were read, want %d", a.bytesRead, len(oneChat))
	}
}

// TestQuietOffTerminals wants not a byte of progress or colour where standard
// error is no terminal, and neither with -q on one.
func TestQuietOffTerminals(t *testing.T) {
	for _, test := range []struct {
		args     string
		terminal bool
	}{{"inspect -", false}, {"inspect - -q", true}} {
		code, stdout, stderr := runApp(t.Context(), test.args, &app{stderrTerminal: test.terminal})
		if code != exitDone || stderr != "" || strings.Contains(stdout, "\x1b") {
			t.Errorf("%s: exit code %d, %q", test.args, code, stderr)
		}
	}
}

func TestBoldOnTerminals(t *testing.T) {
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "xterm")
	for args, want := range map[string]bool{"inspect -": true, "inspect - --color never": false, "inspect - --format markdown": false, "inspect - --format json": false} {
		_, stdout, _ := runApp(t.Context(), args, &app{stdoutTerminal: true})
		if got := strings.Contains(stdout, "\x1b[1m"); got != want {
			t.Errorf("%s: bold is %v, want %v", args, got, want)
		}
	}
}

func TestProgress(t *testing.T) {
	var out strings.Builder
	p := &progress{out: &out}
	p.set(1, 100)
	if out.Len() > 0 {
		t.Errorf("a bar before %v have passed: %q", progressDelay, out.String())
	}
	p.start = time.Now().Add(-2 * progressDelay)
	p.set(50, 100)
	if !strings.Contains(out.String(), "reading") || !strings.Contains(out.String(), "50%") {
		t.Errorf("no bar: %q", out.String())
	}
	p.clear()
	if !strings.HasSuffix(out.String(), "\r") {
		t.Errorf("the bar is not taken away: %q", out.String())
	}
	p.set(10, 0) // the size is not known any more
	p.done()
	n := out.Len()
	p.set(60, 100)
	if out.Len() != n {
		t.Errorf("a new bar at once: %q", out.String()[n:])
	}

	p.what, p.start = "compiling (2 of 9)", time.Now().Add(-2*progressDelay)
	p.set(70, 100)
	if !strings.Contains(out.String()[n:], "compiling (2 of 9)") {
		t.Errorf("the bar does not say what is done: %q", out.String()[n:])
	}

	silent := &progress{}
	silent.start = time.Now().Add(-time.Hour)
	silent.set(50, 100)
	silent.clear()
	silent.done()
}

// TestManifest writes artefacts of a file, of the standard input and of rules.
func TestManifest(t *testing.T) {
	folder := t.TempDir()
	traces := filepath.Join(folder, "traces.jsonl")
	if err := os.WriteFile(traces, []byte(oneChat+oneChat), 0o666); err != nil {
		t.Fatal(err)
	}
	j := &job{stdin: newHashedReader(strings.NewReader(oneChat))}
	in, err := j.input("traces", traces)
	if err != nil || in.Bytes != int64(2*len(oneChat)) || len(in.SHA256) != 64 {
		t.Errorf("a file: %+v, %v", in, err)
	}
	if _, err := io.Copy(io.Discard, &j.stdin); err != nil {
		t.Fatal(err)
	}
	stdin, err := j.input("traces", "-")
	if err != nil || stdin.Bytes != int64(len(oneChat)) || len(stdin.SHA256) != 64 || stdin.SHA256 == in.SHA256 {
		t.Errorf("the standard input: %+v, %v", stdin, err)
	}
	for _, name := range []string{folder, filepath.Join(folder, "missing")} {
		if in, err := j.input("traces", name); err != nil || in.SHA256 != "" {
			t.Errorf("%s: %+v, %v", name, in, err)
		}
	}
}
