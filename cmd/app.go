package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/report"
)

// The exit codes.
const (
	exitDone     = 0
	exitProblems = 1 // problems in the input, or a check that failed
	exitUsage    = 2 // wrong use
)

// app is one run of the program: its streams, and what is known of it at the end.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	stdoutTerminal bool
	stderrTerminal bool

	sources    map[string][]byte // files whose lines problems may show, by name
	showValues bool              // problems may show lines of other files too
	colour     bool              // problems are coloured

	began     bool  // whether a command has begun its work: an error before that is wrong use
	bytesRead int64 // of traces, for AWO_BENCH
}

// run runs the command that args name, of those below the root, and returns the
// exit code.
func (a *app) run(ctx context.Context, newRoot func(*app) *cobra.Command, args []string) (code int) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(a.stderr, "awo: internal error: %v\n\n%s\nThis is a bug in awo: please report it with the text above.\n", p, debug.Stack())
			code = exitProblems
		}
	}()
	root := newRoot(a)
	root.SetArgs(args)
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	c, err := root.ExecuteContextC(ctx)
	return a.exit(c, err)
}

// What a command ends with when all that is to be said has been printed.
var (
	errProblems = errors.New("problems were found")
	errWrongUse = errors.New("wrong use")
)

// usageError is an error in how awo was called.
type usageError struct{ msg string }

func (e *usageError) Error() string { return e.msg }

// usagef returns a usageError with a message made as by fmt.Sprintf.
func usagef(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...)}
}

// exit prints the error that a command ended with, if it has one that is not
// printed yet, and returns the exit code.
func (a *app) exit(c *cobra.Command, err error) int {
	_, isUsage := errors.AsType[*usageError](err)
	problem, isProblem := errors.AsType[*diag.Error](err)
	list, isList := errors.AsType[diag.List](err)
	switch {
	case err == nil:
		return exitDone
	case isUsage, !a.began && !isProblem && !isList:
		fmt.Fprintf(a.stderr, "awo: %s\n", report.Escape(err.Error()))
		fmt.Fprintf(a.stderr, "`%s --help` says how it is used.\n", c.CommandPath())
		return exitUsage
	case errors.Is(err, errWrongUse):
		return exitUsage
	case errors.Is(err, errProblems):
	case isList:
		for _, e := range list {
			a.printProblem(e)
		}
	case isProblem:
		a.printProblem(problem)
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(a.stderr, "awo: interrupted")
	default:
		fmt.Fprintf(a.stderr, "awo: %s\n", report.Escape(err.Error()))
	}
	if !a.began {
		return exitUsage // an awo.yaml that cannot be used
	}
	return exitProblems
}
