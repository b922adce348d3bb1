package cli

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
	"slices"
	"strings"

	"github.com/lmittmann/tint"
	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/bounds"
	"github.com/awo-dev/awo/internal/emit"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats"
	"github.com/awo-dev/awo/trace/formats/mapped"
)

// Job is one run of a command: its settings, where its output goes, and what
// was wrong with its input so far.
type Job struct {
	Settings
	Context  context.Context // it ends with an interrupt
	Command  string          // such as "rules check"
	Out      *bufio.Writer   // standard output; flushed at the end
	Log      *slog.Logger    // of what is being done
	Problems Problems
	Progress *Progress
	Bounds   bounds.Reached // that were reached
	Set      *rules.Set     // of --rules; nil for none
	Listed   *cost.Table    // the prices that awo brings along, behind those of --prices

	app     *App
	options map[string]any // the command's own settings, by name of the flag

	cachingOpen bool // nobody said what is taken to be cached
	stdin       hashedReader
	rules       *rules.Set        // that were read last; nil for none
	rulesFile   string            // their file
	ruleTexts   map[string]string // it and what it includes, by name

	toolsDoubted bool          // the names of tools in rules were compared with the traces
	sources      []sourceFile  // that were read beside the traces, in order
	meters       []*cost.Meter // that money is counted with
	readers      []*trace.Reader
}

// sourceFile is a file that was read, and what it was read as: "rules" or "prices".
type sourceFile struct{ role, name string }

// Work lets c do its work: O is a struct with a field for each of its flags
// (struct{} if it has none of its own), and f gets it filled in. When f is done
// the problems are summed up; an error problem makes the exit code 1.
func Work[O any](a *App, c *cobra.Command, f func(j *Job, o O, args []string) error) *cobra.Command {
	c.RunE = func(c *cobra.Command, args []string) (err error) {
		var o O
		settings, own, err := a.loadSettings(c, &o)
		if err != nil {
			return err
		}
		a.began = true
		j := a.newJob(c, settings, own)
		defer func() { err = j.finish(err) }()
		if err := j.prepare(c.Annotations[annotation]); err != nil {
			return err
		}
		return f(j, o, args)
	}
	return c
}

func (a *App) newJob(c *cobra.Command, s Settings, own map[string]any) *Job {
	a.showValues = s.ShowValues
	a.colour = s.coloured(a.StderrTerminal)
	_, command, _ := strings.Cut(c.CommandPath(), " ")
	open := s.Caching == "auto"
	if open {
		s.Caching = "recorded"
	}
	j := &Job{
		cachingOpen: open,
		Settings:    s, Context: c.Context(), Command: command, options: own,
		stdin: newHashedReader(a.Stdin), Out: bufio.NewWriter(stdout{a.Stdout}), Log: a.logger(s), app: a,
	}
	j.Progress = &Progress{}
	if a.StderrTerminal && !s.Quiet {
		j.Progress.out = a.Stderr
	}
	j.Problems = Problems{app: a, settings: &j.Settings, clear: j.Progress.Clear}
	return j
}

// prepare reads the files that the settings of a command name, whose groups are uses.
func (j *Job) prepare(uses string) (err error) {
	groups := strings.Fields(uses)
	if slices.Contains(groups, string(UseRules)) {
		if j.Set, err = j.Rules(j.RuleFile); err != nil {
			return err
		}
	}
	if slices.Contains(groups, string(UsePrices)) {
		j.Listed, err = j.priceTable()
	}
	return err
}

// coloured reports whether what goes to a terminal, or not, is coloured.
func (s *Settings) coloured(terminal bool) bool {
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
func (a *App) logger(s Settings) *slog.Logger {
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
	if a.StderrTerminal {
		return slog.New(tint.NewTextHandler(a.Stderr, &tint.Options{Level: level, ReplaceAttr: dropTime, NoColor: !a.colour}))
	}
	return slog.New(slog.NewTextHandler(a.Stderr, &slog.HandlerOptions{Level: level, ReplaceAttr: dropTime}))
}

// finish writes what is left to write, prints the error of the command and sums
// up the problems. The error that it returns has been printed, unless it is of
// another kind.
func (j *Job) finish(err error) error {
	j.Progress.end()
	for _, r := range j.readers {
		r.Close()
	}
	if flushed := j.Out.Flush(); err == nil {
		err = flushed
	}
	if list, ok := errors.AsType[diag.List](err); ok {
		for _, e := range list {
			j.Problems.Add(e)
		}
		err = ErrProblems
	}
	if e, ok := errors.AsType[*diag.Error](err); ok {
		j.app.printProblem(e)
		err = ErrProblems
		if strings.HasPrefix(e.Pos.File, "--") { // in the value of a flag
			err = errWrongUse
		}
	}
	j.Problems.finish()
	if text := bounded(j.Bounds.Reports()); text != "" && !j.Quiet {
		fmt.Fprintf(j.app.Stderr, "awo:%s\n", text)
	}
	if err == nil && j.Problems.Errors.Total > 0 {
		err = ErrProblems
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

// Open returns a Reader on traces with the settings of the job, which is closed at its end. An error is one
// of usage: what is wrong with files is yielded by Trajectories.
func (j *Job) Open(files []string, o trace.Options) (*trace.Reader, error) {
	switch {
	case j.Map != "":
		m, err := j.readMap()
		if err != nil {
			return nil, err
		}
		o.Formats = []trace.Format{m.Format()}
	case o.Formats == nil:
		o.Formats = formats.All
	}
	o.Workers, o.Format, o.MaxRecord, o.Stdin = j.Workers, j.InputFormat, int(j.MaxRecord), &j.stdin
	total := int64(0)
	o.Progress = func(read int64) { j.Progress.set(read, total) }
	r, err := trace.Open(files, o)
	if err != nil {
		return nil, Usagef("--input-format: %s", err)
	}
	j.readers = append(j.readers, r)
	if err := j.keepsInputs(r); err != nil {
		return nil, err
	}
	if size, known := r.Size(); known {
		total = size
	}
	return r, nil
}

// keepsInputs refuses to write over a trace that is read.
func (j *Job) keepsInputs(r *trace.Reader) error {
	for _, flag := range []string{"out", "dot", "graphml", "graph-json", "mermaid"} {
		name, _ := j.options[flag].(string)
		if name == "" || name == "-" {
			continue
		}
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() && r.Reads(info) {
			return Usagef("--%s: %s is one of the traces that are read, and awo changes none", flag, report.Escape(name))
		}
	}
	return nil
}

// readMap reads the map of --map.
func (j *Job) readMap() (*mapped.Map, error) {
	src, err := j.ReadFile(j.Map)
	if err != nil {
		return nil, FileProblem(j.Map, err)
	}
	j.ShowLines(j.Map, src)
	m, problems := mapped.Parse(j.Map, src)
	if problems.Err() != nil {
		return nil, problems
	}
	return m, nil
}

// DraftMap proposes a map for the first of some files in which something looks like calls: of
// those of no known format, or of any. It returns false if there is none.
func (j *Job) DraftMap(files []trace.FileCounts, known bool) (draft string, ok bool) {
	for _, f := range files {
		if f.Format != "" && !known || f.Name == "-" {
			continue
		}
		var records []trace.Value
		probe := trace.Format{Name: "probe", Detect: func(h trace.Head) trace.Match {
			records = nil
			for _, r := range h.Records {
				if v, err := trace.ParseValue(r.Raw); err == nil {
					records = append(records, v)
				}
			}
			return trace.Match{}
		}}
		r, err := trace.Open([]string{f.Name}, trace.Options{Formats: []trace.Format{probe}, Workers: 1})
		if err != nil {
			continue
		}
		for range r.All() { // which reads the head
		}
		r.Close()
		if draft, ok := mapped.Draft(records); ok {
			return draft, true
		}
	}
	return "", false
}

// Trajectories yields what r reads. Problems with single records are printed
// and counted on the way; with --strict the first is the error that ends the
// sequence, and so are an interrupt and a failure that allows no reading on.
func (j *Job) Trajectories(r *trace.Reader) iter.Seq2[*trace.Trajectory, error] {
	return func(yield func(*trace.Trajectory, error) bool) {
		defer func() {
			counts := r.Counts()
			j.app.BytesRead += counts.Bytes
			j.Log.Debug("traces were read", "files", len(counts.Files), "records", counts.Records, "trajectories", counts.Trajectories, "bytes", counts.Bytes)
		}()
		defer j.Progress.Done()
		for t, err := range r.All() {
			if canceled := j.Context.Err(); canceled != nil {
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
				j.Problems.Add(problem)
			default:
				yield(nil, err)
				return
			}
		}
		if r.Counts().Trajectories == 0 {
			yield(nil, j.nothing())
		}
	}
}

// CodeNoTrajectories is the code of inputs in which there is no trajectory.
const CodeNoTrajectories = "no-trajectories"

// nothing is the error of inputs in which there is no trajectory, so that a command
// neither succeeds on them nor writes anything.
func (j *Job) nothing() error {
	if j.Problems.Errors.Total > 0 {
		return ErrProblems // why there is none was said
	}
	return diag.New(diag.Pos{}, CodeNoTrajectories, "there is no trajectory in what was given").
		Note(diag.Pos{}, "`awo formats` lists the trace formats that are read")
}

// trajectoriesAgain yields what Trajectories did, without the problems.
func (j *Job) trajectoriesAgain(r *trace.Reader) iter.Seq2[*trace.Trajectory, error] {
	return func(yield func(*trace.Trajectory, error) bool) {
		j.app.Readings++
		defer j.Progress.Done()
		for t, err := range r.All() {
			if canceled := j.Context.Err(); canceled != nil {
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
