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
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/lmittmann/tint"
	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/bounds"
	"github.com/awo-dev/awo/internal/emit"
	"github.com/awo-dev/awo/internal/plot"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/stat"
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

	app       *App
	options   map[string]any // the command's own settings, by name of the flag
	stdin     hashedReader
	rules     *rules.Set        // that were read last; nil for none
	rulesFile string            // their file
	ruleTexts map[string]string // it and what it includes, by name

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
	j := &Job{
		Settings: s, Context: c.Context(), Command: command, options: own,
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

// DraftMap proposes a map for the first of some files that is of no known format: what
// in it looks like calls. It returns false if nothing does.
func (j *Job) DraftMap(files []trace.FileCounts) (draft string, ok bool) {
	for _, f := range files {
		if f.Format != "" || f.Name == "-" {
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

// Result prints a document in the format asked for; with --table it is one table of it.
func (j *Job) Result(d *report.Document) error {
	j.Progress.end()
	d.Command = j.Command
	j.app.Printed = d
	if j.Table != "" {
		return j.printTable(d)
	}
	d.Note("", j.MarkPrices(d))
	return j.write(d, j.layout())
}

func (j *Job) write(d *report.Document, o report.Options) error {
	if j.Format == report.FormatCSV {
		if tables := d.Tables(); len(tables) > 1 {
			names := make([]string, len(tables))
			for i, t := range tables {
				names[i] = t.ID
			}
			j.Say("CSV is the table " + names[0] + "; --table takes another: " + strings.Join(names[1:], ", "))
		}
	}
	return d.Write(j.Out, j.Format, o)
}

// Complete reports whether a document is for a script, which wants all rows of tables.
func (j *Job) Complete() bool {
	return j.Format == report.FormatCSV || j.Format == report.FormatJSONLines || j.Table != ""
}

// forPeople reports whether documents are written with their sentences.
func (j *Job) forPeople() bool {
	return j.Format == report.FormatText || j.Format == report.FormatMarkdown || j.Format == report.FormatHTML
}

// layout says how text is laid out: as wide as the terminal, whose width COLUMNS goes
// before, and up to 100 columns for sentences. What is no terminal has any width.
func (j *Job) layout() report.Options {
	o := report.Options{Bold: j.coloured(j.app.StdoutTerminal), Details: j.Details, Columns: j.app.StdoutColumns}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		o.Columns = n
	}
	if o.Columns > 0 {
		o.Columns = max(o.Columns, leastColumns)
		o.Width = min(o.Columns, 100)
	}
	return o
}

// leastColumns is the narrowest terminal that output is laid out for.
const leastColumns = 40

// printTable prints one table of a document, or the names of all.
func (j *Job) printTable(d *report.Document) error {
	tables := d.Tables()
	var names []string
	for _, t := range tables {
		names = append(names, t.ID)
	}
	if j.Table == "list" {
		list := report.NewTable("tables", "", report.Column{Key: "table"}, report.Column{Key: "rows", Align: report.Right}, report.Column{Key: "title", Max: 100}, report.Column{Key: "columns", Max: 1000, Wrap: true})
		for _, t := range tables {
			list.Add(report.Text(t.ID), report.Int(len(t.Rows)), report.Text(t.Title), report.Text(strings.Join(t.Header(), " ")))
		}
		return j.writeTable(list)
	}
	plain := func(name string) string { return strings.ReplaceAll(name, "-", "_") }
	i := slices.IndexFunc(names, func(name string) bool { return plain(name) == plain(j.Table) })
	if i < 0 {
		if near := diag.Nearest(j.Table, names); near != "" {
			return Usagef("--table: there is no table %q here; did you mean %s?", j.Table, near)
		}
		return Usagef("--table: there is no table %q here; --table list names them", j.Table)
	}
	one := *tables[i].Alone()
	if err := one.Sort(j.Sort); err != nil {
		return Usagef("--sort: %s", err)
	}
	if j.Limit > 0 {
		one.Head(j.Limit)
	}
	if j.forPeople() {
		return j.writeTable(&one, report.Paragraph(j.doubtedPrices(one.HasMoney)))
	}
	return j.writeTable(&one)
}

func (j *Job) writeTable(t *report.Table, below ...report.Block) error {
	d := &report.Document{Command: j.Command}
	d.Add(t)
	d.Add(below...)
	if doubt := j.doubtedPrices(t.HasMoney); !j.forPeople() && doubt != "" {
		d.Note("", doubt)
		if j.Format != report.FormatJSON {
			j.Say(doubt)
		}
	}
	return j.write(d, j.layout())
}

// Say writes a line to the standard error, unless the user wants results only.
func (j *Job) Say(line string) {
	if !j.Quiet {
		fmt.Fprintln(j.app.Stderr, "awo: "+line)
	}
}

// Printf writes to standard output.
func (j *Job) Printf(format string, args ...any) {
	fmt.Fprintf(j.Out, format, args...) // finish sees the error
}

// filesNamed is how many files a suggested command repeats.
const filesNamed = 3

// Then returns the next command to type, for the same traces and rules: words are the
// command and its flags, {} stands for the traces.
func (j *Job) Then(files []string, reason string, words ...string) string {
	var out []string
	for _, word := range append([]string{"awo"}, words...) {
		if word != "{}" {
			out = append(out, word)
			continue
		}
		if len(files) > filesNamed {
			out = append(out, "TRACES...")
		} else {
			for _, file := range files {
				out = append(out, shellWord(file))
			}
		}
		if j.rulesFile != "" && j.rulesFile != "-" {
			out = append(out, "--rules", shellWord(j.rulesFile))
		}
	}
	return strings.Join(out, " ") + " # " + reason
}

// shellWord quotes what a shell would not take as one word.
func shellWord(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:,@%+=") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// ToolsShown is how many tools a table of them lists in text.
const ToolsShown = 20

// Grouped writes a number with its digits in groups of three.
func Grouped(n int64) string { return report.Grouped(int(n)) }

// Dollars writes an amount of US dollars with as many digits as say something.
func Dollars(v float64) string {
	if v != 0 && v < 0.1 && v > -0.1 {
		return fmt.Sprintf("%.5f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// Amounts writes amounts of US dollars that are read beside each other with as many digits
// as the first of them needs: at least two behind the point, at most five.
func Amounts(first float64, others ...float64) []string {
	digits := 2
	for v := math.Abs(first); v > 0 && v < 0.1 && digits < 5; v *= 10 {
		digits++
	}
	out := []string{strconv.FormatFloat(first, 'f', digits, 64)}
	for _, v := range others {
		out = append(out, strconv.FormatFloat(v, 'f', digits, 64))
	}
	return out
}

// Wilson returns the 95 % interval of a rate, by the method of that name.
func Wilson(count, n int) stat.Interval { return stat.Share(count, n).Interval }

// Map returns what f makes of each element of a list.
func Map[T, U any](list []T, f func(*T) U) []U {
	out := make([]U, len(list))
	for i := range list {
		out[i] = f(&list[i])
	}
	return out
}

// WriteFigures writes figures into a folder, each as SVG and PNG.
func WriteFigures(figures []*plot.Figure, dir string) error {
	var files []emit.File
	for _, figure := range figures {
		svg, err := figure.SVG()
		if err != nil {
			return err
		}
		png, err := figure.PNG()
		if err != nil {
			return err
		}
		files = append(files, emit.File{Name: figure.Name + ".svg", Data: svg}, emit.File{Name: figure.Name + ".png", Data: png})
	}
	return emit.Write(dir, files)
}
