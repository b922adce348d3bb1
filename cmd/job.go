package cmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"log/slog"
	"os"
	"strings"

	"github.com/lmittmann/tint"
	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/emit"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/trace"
)

// job is one run of a command: its settings, where its output goes, and what
// was wrong with its input so far.
type job struct {
	settings
	ctx     context.Context
	command string         // such as "rules check"
	options map[string]any // the command's own settings, by name of the flag
	stdin   hashedReader
	out     *bufio.Writer // standard output; flushed at the end
	log     *slog.Logger
	app     *app

	ruleFiles []string // that were read, in order

	problems problems
	progress *progress
}

// work lets c do its work: O is a struct with a field for each of its flags
// (struct{} if it has none of its own), and f gets it filled in. When f is done
// the problems are summed up; an error problem makes the exit code 1.
func work[O any](a *app, c *cobra.Command, f func(j *job, o O, args []string) error) *cobra.Command {
	c.RunE = func(c *cobra.Command, args []string) (err error) {
		var o O
		settings, own, err := a.loadSettings(c, &o)
		if err != nil {
			return err
		}
		a.began = true
		j := a.newJob(c, settings, own)
		defer func() { err = j.finish(err) }()
		return f(j, o, args)
	}
	return c
}

func (a *app) newJob(c *cobra.Command, s settings, own map[string]any) *job {
	a.showValues = s.ShowValues
	a.colour = s.coloured(a.stderrTerminal)
	_, command, _ := strings.Cut(c.CommandPath(), " ")
	j := &job{
		settings: s, ctx: c.Context(), command: command, options: own,
		stdin: newHashedReader(a.stdin), out: bufio.NewWriter(stdout{a.stdout}), log: a.logger(s), app: a,
	}
	j.progress = &progress{}
	if a.stderrTerminal && !s.Quiet {
		j.progress.out = a.stderr
	}
	j.problems = problems{app: a, settings: &j.settings, clear: j.progress.clear}
	return j
}

// coloured reports whether what goes to a terminal, or not, is coloured.
func (s *settings) coloured(terminal bool) bool {
	switch s.Color {
	case "always":
		return true
	case "never":
		return false
	}
	return terminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// logger returns the logger for what is being done, as opposed to what came
// out or what is wrong. Without -v only warnings are worth a line. Lines have no
// time: the same run logs the same.
func (a *app) logger(s settings) *slog.Logger {
	level := slog.LevelWarn
	switch {
	case s.Verbose:
		level = slog.LevelDebug
	case s.Quiet:
		level = slog.LevelError
	}
	dropTime := func(groups []string, attr slog.Attr) slog.Attr {
		if attr.Key == slog.TimeKey && len(groups) == 0 {
			return slog.Attr{}
		}
		return attr
	}
	if a.stderrTerminal {
		return slog.New(tint.NewTextHandler(a.stderr, &tint.Options{Level: level, ReplaceAttr: dropTime, NoColor: !a.colour}))
	}
	return slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{Level: level, ReplaceAttr: dropTime}))
}

// finish writes what is left to write, prints the error of the command and sums
// up the problems. The error that it returns has been printed, unless it is of
// another kind.
func (j *job) finish(err error) error {
	j.progress.done()
	if flushed := j.out.Flush(); err == nil {
		err = flushed
	}
	if list, ok := errors.AsType[diag.List](err); ok {
		for _, e := range list {
			j.problems.add(e)
		}
		err = errProblems
	}
	if e, ok := errors.AsType[*diag.Error](err); ok {
		j.app.printProblem(e)
		err = errProblems
		if strings.HasPrefix(e.Pos.File, "--") { // in the value of a flag
			err = errWrongUse
		}
	}
	j.problems.finish()
	if err == nil && j.problems.errors.Total > 0 {
		err = errProblems
	}
	return err
}

// stdout words the errors of writing to standard output.
type stdout struct{ w io.Writer }

// Write writes to the standard output.
func (s stdout) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	if err != nil {
		reason := err
		if path, ok := errors.AsType[*fs.PathError](err); ok {
			reason = path.Err
		}
		problem := diag.New(diag.Pos{}, emit.CodeUnwritable, "the standard output cannot be written to: %s", reason)
		problem.Err = err
		return n, problem
	}
	return n, nil
}

// open returns a Reader on traces with the settings of the job. An error is one
// of usage: what is wrong with files is yielded by trajectories.
func (j *job) open(files []string, o trace.Options) (*trace.Reader, error) {
	o.Workers, o.Format, o.MaxRecord, o.Stdin = j.Workers, j.InputFormat, int(j.MaxRecord), &j.stdin
	total := int64(0)
	o.Progress = func(read int64) { j.progress.set(read, total) }
	r, err := trace.Open(files, o)
	if err != nil {
		return nil, usagef("--input-format: %s", err)
	}
	if size, known := r.Size(); known {
		total = size
	}
	return r, nil
}

// trajectories yields what r reads. Problems with single records are printed
// and counted on the way; with --strict the first is the error that ends the
// sequence, and so are an interrupt and a failure that allows no reading on.
func (j *job) trajectories(r *trace.Reader) iter.Seq2[*trace.Trajectory, error] {
	return func(yield func(*trace.Trajectory, error) bool) {
		defer func() {
			counts := r.Counts()
			j.app.bytesRead += counts.Bytes
			j.log.Debug("traces were read", "files", len(counts.Files), "records", counts.Records, "trajectories", counts.Trajectories, "bytes", counts.Bytes)
		}()
		defer j.progress.done()
		for t, err := range r.All() {
			if canceled := j.ctx.Err(); canceled != nil {
				yield(nil, canceled)
				return
			}
			problem, ok := errors.AsType[*diag.Error](err)
			switch {
			case err == nil:
				if !yield(t, nil) {
					return
				}
			case ok && (!j.Strict || problem.Severity == diag.SeverityWarning):
				j.problems.add(problem)
			default:
				yield(nil, err)
				return
			}
		}
	}
}

// trajectoriesAgain yields what trajectories did, without the problems.
func (j *job) trajectoriesAgain(r *trace.Reader) iter.Seq2[*trace.Trajectory, error] {
	return func(yield func(*trace.Trajectory, error) bool) {
		defer j.progress.done()
		for t, err := range r.All() {
			if canceled := j.ctx.Err(); canceled != nil {
				yield(nil, canceled)
				return
			}
			if _, ok := errors.AsType[*diag.Error](err); ok {
				continue
			}
			if !yield(t, err) || err != nil {
				return
			}
		}
	}
}

// print writes a result in the format asked for: v, a struct, as JSON with
// notes, the document in every other format.
func (j *job) print(d *report.Document, v any, notes ...report.Note) error {
	j.progress.done()
	if j.Format == report.FormatJSON {
		return report.WriteJSON(j.out, v, notes...)
	}
	return d.Write(j.out, j.Format, report.Options{Bold: j.coloured(j.app.stdoutTerminal)})
}

// printf writes to standard output.
func (j *job) printf(format string, args ...any) {
	fmt.Fprintf(j.out, format, args...) // finish sees the error
}
