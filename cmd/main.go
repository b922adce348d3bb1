// Package cmd is the awo command: it reads arguments, environment and awo.yaml,
// opens files, runs a pipeline of the other packages and prints what they made.
//
// In come arguments and traces, out go results on standard output, problems on
// standard error and artefacts under --out. Here are the tree of commands, those
// of them that share nothing with others, and what concerns the whole process; the
// other commands are packages below internal, and what they all share is
// internal/cli. Nothing is computed here: each command begins in a file of its name
// that shows its pipeline. What a command keeps in memory is what its packages keep.
package cmd

import (
	"context"
	"os"
	"os/signal"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/awo-dev/awo/cmd/internal/cli"
)

// Main runs awo with the arguments, environment and streams of the process, and
// returns its exit code.
func Main() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	// After the first interrupt the second one kills, should anything hang.
	context.AfterFunc(ctx, stop)
	a := &cli.App{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		StdoutTerminal: term.IsTerminal(int(os.Stdout.Fd())),
		StderrTerminal: term.IsTerminal(int(os.Stderr.Fd())),
	}
	if a.StdoutTerminal {
		a.StdoutColumns, _, _ = term.GetSize(int(os.Stdout.Fd())) // 0 with an error
	}
	if os.Getenv("GOGC") == "" {
		cli.TuneCollector()
	}
	bench := startBenchmark(os.Getenv("AWO_BENCH"))
	code := a.Run(ctx, newRoot, completed(os.Args[1:]))
	bench.print(os.Stderr, a.BytesRead)
	return code
}

// completed puts `summary` before the arguments of a run without a command where the first
// that is no flag names a file, and `sessions` where all are flags. A word that is neither a
// file nor looks like one is left to be a mistyped command.
func completed(args []string) []string {
	root := Tree()
	first, asksHelp := "", false
	for i := 0; i < len(args) && first == ""; i++ {
		name, isFlag := strings.CutPrefix(args[i], "-")
		name, isLong := strings.CutPrefix(name, "-")
		switch {
		case args[i] == "-", !isFlag:
			first = args[i]
		case name == "help", name == "h", name == "version":
			asksHelp = true
		case isLong && !strings.Contains(name, "=") && takesValue(root, name):
			i++
		}
	}
	for _, c := range append(root.Commands(), &cobra.Command{Use: "help"}, &cobra.Command{Use: "completion"}, &cobra.Command{Use: cobra.ShellCompRequestCmd}, &cobra.Command{Use: cobra.ShellCompNoDescRequestCmd}) {
		if c.Name() == first || c.HasAlias(first) {
			return args
		}
	}
	switch {
	case first == "" && asksHelp:
		return args
	case first == "":
		return append([]string{"sessions"}, args...)
	}
	if _, err := os.Stat(first); err != nil && first != "-" && !strings.ContainsAny(first, `*?[/\.`) {
		return args
	}
	return append([]string{"summary"}, args...)
}

// takesValue reports whether a flag of `awo summary` or `awo sessions` takes a value.
func takesValue(root *cobra.Command, flag string) bool {
	for _, command := range []string{"summary", "sessions"} {
		c, _, err := root.Find([]string{command})
		if err != nil {
			continue
		}
		c.InheritedFlags() // so that Flags has them
		if f := c.Flags().Lookup(flag); f != nil && f.NoOptDefVal == "" {
			return true
		}
	}
	return false
}
