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
		a.StdoutColumns, a.StdoutRows, _ = term.GetSize(int(os.Stdout.Fd())) // 0 with an error
	}
	if os.Getenv("GOGC") == "" {
		cli.TuneCollector()
	}
	bench := startBenchmark(os.Getenv("AWO_BENCH"))
	code := a.Run(ctx, newRoot, orSummary(os.Args[1:]))
	bench.print(os.Stderr, a.BytesRead)
	return code
}

// orSummary puts `summary` before the arguments of a run without a command, which are
// files: the first names something that is there, or is a pattern, and is no command.
func orSummary(args []string) []string {
	if len(args) == 0 || args[0] == "" || args[0][0] == '-' && args[0] != "-" {
		return args
	}
	for _, c := range Tree().Commands() {
		if c.Name() == args[0] || c.HasAlias(args[0]) {
			return args
		}
	}
	if _, err := os.Stat(args[0]); err != nil && args[0] != "-" && !strings.ContainsAny(args[0], "*?[") {
		return args
	}
	return append([]string{"summary"}, args...)
}
