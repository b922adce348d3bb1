package cmd

import (
	"context"
	"strings"
	"testing"

	"github.com/awo-dev/awo/cmd/internal/cli"
)

const oneChat = `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}` + "\n"

// runApp runs awo inside the test, with args separated by spaces.
func runApp(ctx context.Context, args string, a *cli.App) (code int, stdout, stderr string) {
	var out, problems strings.Builder
	a.Stdin, a.Stderr = strings.NewReader(oneChat), &problems
	if a.Stdout == nil {
		a.Stdout = &out
	}
	code = a.Run(ctx, newRoot, strings.Fields(args))
	return code, out.String(), problems.String()
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	code, _, stderr := runApp(ctx, "inspect -", &cli.App{})
	if code != cli.ExitProblems || stderr != "awo: interrupted\n" {
		t.Errorf("exit code %d, %q", code, stderr)
	}
}

// panicking is a standard output on which everything goes wrong.
type panicking struct{}

func (panicking) Write([]byte) (int, error) { panic("boom") }

func TestPanicIsReported(t *testing.T) {
	code, _, stderr := runApp(t.Context(), "version", &cli.App{Stdout: panicking{}})
	if code != cli.ExitProblems || !strings.HasPrefix(stderr, "awo: internal error: boom\n") || !strings.Contains(stderr, "please report") {
		t.Errorf("exit code %d, %q", code, stderr)
	}
}

func TestBytesAreCounted(t *testing.T) {
	var a cli.App
	code, stdout, stderr := runApp(t.Context(), "inspect -", &a)
	if code != cli.ExitDone || stderr != "" || !strings.Contains(stdout, "1 trajectory") {
		t.Fatalf("exit code %d\n%s\n%s", code, stdout, stderr)
	}
	if a.BytesRead != int64(len(oneChat)) {
		t.Errorf("%d bytes were read, want %d", a.BytesRead, len(oneChat))
	}
}

// TestReportsReadTwice wants a report to read the traces once to count them, and once more to
// mine them and to say what they cost, also what the counts leave out.
func TestReportsReadTwice(t *testing.T) {
	for _, args := range []string{"", " --drop-failed"} {
		var a cli.App
		code, _, stderr := runApp(t.Context(), "report ../testdata/office/trajectories.jsonl.gz --sample 40 --backtest always --format json"+args, &a)
		if code != cli.ExitDone {
			t.Fatalf("exit code %d\n%s", code, stderr)
		}
		if a.Readings != 1 {
			t.Errorf("report%s: the traces were read %d times more, want 1", args, a.Readings)
		}
	}
}

// TestQuietOffTerminals wants not a byte of progress or colour where standard
// error is no terminal, and neither with -q on one.
func TestQuietOffTerminals(t *testing.T) {
	for _, test := range []struct {
		args     string
		terminal bool
	}{{"inspect -", false}, {"inspect - -q", true}} {
		code, stdout, stderr := runApp(t.Context(), test.args, &cli.App{StderrTerminal: test.terminal})
		if code != cli.ExitDone || stderr != "" || strings.Contains(stdout, "\x1b") {
			t.Errorf("%s: exit code %d, %q", test.args, code, stderr)
		}
	}
}

func TestBoldOnTerminals(t *testing.T) {
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "xterm")
	for args, want := range map[string]bool{"inspect -": true, "inspect - --color never": false, "inspect - --format markdown": false, "inspect - --format json": false} {
		_, stdout, _ := runApp(t.Context(), args, &cli.App{StdoutTerminal: true})
		if got := strings.Contains(stdout, "\x1b[1m"); got != want {
			t.Errorf("%s: bold is %v, want %v", args, got, want)
		}
	}
}
