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
	code := a.Run(ctx, newRoot, orSummary(os.Args[1:]))
	bench.print(os.Stderr, a.BytesRead)
	return code
}

// orSummary puts `summary` before the arguments of a run without a command: where the first
// that is no flag is no command either, but names a file. A word that is neither a file nor
// looks like one is left to be a mistyped command.
func orSummary(args []string) []string {
	root := Tree()
	summary, _, err := root.Find([]string{"summary"})
	if err != nil {
		return args
	}
	summary.InheritedFlags() // so that Flags has them
	first := ""
	for i := 0; i < len(args) && first == ""; i++ {
		name, isFlag := strings.CutPrefix(args[i], "-")
		name, isLong := strings.CutPrefix(name, "-")
		switch {
		case args[i] == "-", !isFlag:
			first = args[i]
		case name == "":
			continue
		case isLong && !strings.Contains(name, "="):
			if f := summary.Flags().Lookup(name); f != nil && f.NoOptDefVal == "" {
				i++ // its value
			}
		}
	}
	for _, c := range append(root.Commands(), &cobra.Command{Use: "help"}, &cobra.Command{Use: "completion"}, &cobra.Command{Use: cobra.ShellCompRequestCmd}, &cobra.Command{Use: cobra.ShellCompNoDescRequestCmd}) {
		if first == "" || c.Name() == first || c.HasAlias(first) {
			return args
		}
	}
	if _, err := os.Stat(first); err != nil && first != "-" && !strings.ContainsAny(first, `*?[/\.`) {
		return args
	}
	return append([]string{"summary"}, args...)
}
