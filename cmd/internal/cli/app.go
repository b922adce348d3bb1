// Package cli is what the commands of awo share: how one of them gets its
// settings, its traces and its rules, and how results and problems leave it.
//
// In come arguments, the environment, awo.yaml and the streams of the process, as
// an App. Work wraps a command, so that its function gets its flags filled in and
// a Job; the Job opens traces as an Intake, reads rules and prices, and prints
// results in the format asked for. It is here that cobra, viper and the
// environment are known. What is kept in memory is the lines of rules and
// settings, for problems; traces are streamed. No command is here, and nothing is
// computed but what a line of text needs.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/report"
)

// The exit codes.
const (
	ExitDone     = 0
	ExitProblems = 1 // problems in the input, or a check that failed
	ExitUsage    = 2 // wrong use
)

// App is one run of the program: its streams, and what is known of it at the end.
type App struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	StdoutTerminal bool // headings may be bold
	StdoutColumns  int  // how wide that terminal is; 0 is any width
	StderrTerminal bool // problems may be coloured, and there may be a progress bar

	sources    map[string][]byte // files whose lines problems may show, by name
	showValues bool              // problems may show lines of other files too
	colour     bool              // problems are coloured
	configured []string          // what an awo.yaml that nobody named changed, as "name value"

	// Printed is the result that was printed last, for what describes results.
	Printed *report.Document

	began     bool  // whether a command has begun its work: an error before that is wrong use
	BytesRead int64 // of traces, for AWO_BENCH
	Readings  int   // of traces, behind the first
}

// Run runs the command that args name, of those below the root, and returns the
// exit code.
func (a *App) Run(ctx context.Context, newRoot func(*App) *cobra.Command, args []string) (code int) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(a.Stderr, "awo: internal error: %v\n\n%s\nThis is a bug in awo: please report it with the text above.\n", p, debug.Stack())
			code = ExitProblems
		}
	}()
	root := newRoot(a)
	root.SetArgs(args)
	root.SetIn(a.Stdin)
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	c, err := root.ExecuteContextC(ctx)
	return a.exit(c, err)
}

// What a command ends with when all that is to be said has been printed.
var (
	ErrProblems = errors.New("problems were found") // the exit code is ExitProblems
	errWrongUse = errors.New("wrong use")           // the exit code is ExitUsage
)

// usageError is an error in how awo was called.
type usageError struct{ msg string }

func (e *usageError) Error() string { return e.msg }

// Usagef returns an error in how awo was called, which ends in ExitUsage, with a
// message made as by fmt.Sprintf.
func Usagef(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...)}
}

// exit prints the error that a command ended with, if it has one that is not
// printed yet, and returns the exit code.
func (a *App) exit(c *cobra.Command, err error) int {
	_, isUsage := errors.AsType[*usageError](err)
	problem, isProblem := errors.AsType[*diag.Error](err)
	list, isList := errors.AsType[diag.List](err)
	switch {
	case err == nil:
		return ExitDone
	case isUsage, !a.began && !isProblem && !isList:
		fmt.Fprintf(a.Stderr, "awo: %s\n", report.Escape(err.Error()))
		fmt.Fprintf(a.Stderr, "`%s --help` says how it is used.\n", c.CommandPath())
		return ExitUsage
	case errors.Is(err, errWrongUse):
		return ExitUsage
	case errors.Is(err, ErrProblems):
	case isList:
		for _, e := range list {
			a.printProblem(e)
		}
	case isProblem:
		a.printProblem(problem)
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(a.Stderr, "awo: interrupted")
	default:
		fmt.Fprintf(a.Stderr, "awo: %s\n", report.Escape(err.Error()))
	}
	if !a.began {
		return ExitUsage // an awo.yaml that cannot be used
	}
	return ExitProblems
}

// Build is what the program knows of how it was built. It depends on the
// sources and the tool chain only, never on when or where that was.
type Build struct {
	Version  string `json:"version"` // of the module; "(devel)" for a build of a working tree without tags
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified"` // whether the working tree had changes that are in no commit
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

// CurrentBuild reads what the Go tool wrote into the program.
func CurrentBuild() Build {
	b := Build{Version: "(devel)", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	b.Version = cmp.Or(info.Main.Version, b.Version)
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// The groups of commands in the help text.
const (
	GroupLook    = "look"
	GroupCompile = "compile"
	GroupRules   = "rules"
	GroupOther   = "other"
)

// NoArguments refuses every argument.
func NoArguments(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return Usagef("`%s` takes no arguments, %q is one", c.CommandPath(), args[0])
	}
	return nil
}

// SomeFiles wants at least one argument.
func SomeFiles(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return Usagef("`%s` wants files or folders to read, or - for the standard input", c.CommandPath())
	}
	return nil
}

// CompleteChoices lets the shell complete the values of flags that have a few.
func CompleteChoices(c *cobra.Command) {
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if v, ok := f.Value.(*Choice); ok {
			// The error says that it is registered already, which the flags of a
			// parent are.
			_ = c.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(v.Allowed, cobra.ShellCompDirectiveNoFileComp))
		}
	})
}

// FlagError words what is wrong with the flags of a command line.
func FlagError(c *cobra.Command, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		name := unknown.GetSpecifiedName()
		if unknown.GetSpecifiedShortnames() != "" {
			return Usagef("there is no flag -%s", name)
		}
		if near := diag.Nearest(name, flagNames(c)); near != "" {
			return Usagef("there is no flag --%s; did you mean --%s?", name, near)
		}
		return Usagef("there is no flag --%s", name)
	}
	if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		f := bad.GetFlag()
		return Usagef("--%s: %q is not %s", f.Name, bad.GetValue(), Wanted(f.Value))
	}
	if bare, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		f := bare.GetFlag()
		return Usagef("--%s wants %s", f.Name, Wanted(f.Value))
	}
	return Usagef("%s", err)
}

// flagNames returns the flags of c that are shown, its parents' among them.
func flagNames(c *cobra.Command) []string {
	var names []string
	for _, flags := range []*pflag.FlagSet{c.Flags(), c.InheritedFlags()} {
		flags.VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, f.Name)
			}
		})
	}
	slices.Sort(names)
	return slices.Compact(names)
}
