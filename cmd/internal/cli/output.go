package cli

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/emit"
	"github.com/awo-dev/awo/internal/plot"
	"github.com/awo-dev/awo/internal/report"
)

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

// ShellLine returns words as a line for a shell.
func ShellLine(words ...string) string {
	return strings.Join(Map(words, func(w *string) string { return shellWord(*w) }), " ")
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

// Map returns what f makes of each element of a list.
func Map[T, U any](list []T, f func(*T) U) []U {
	out := make([]U, len(list))
	for i := range list {
		out[i] = f(&list[i])
	}
	return out
}

// WriteFigures writes figures into a folder, each as SVG and PDF.
func (j *Job) WriteFigures(figures []*plot.Figure, dir string) error {
	var files []emit.File
	for _, figure := range figures {
		svg, err := figure.SVG()
		if err != nil {
			return err
		}
		pdf, err := figure.PDF()
		if err != nil {
			return err
		}
		files = append(files, emit.File{Name: figure.Name + ".svg", Data: svg}, emit.File{Name: figure.Name + ".pdf", Data: pdf})
	}
	return emit.Write(dir, files, j.Replacing())
}
