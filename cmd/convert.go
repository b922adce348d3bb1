package cmd

import (
	"bufio"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/internal/emit"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/trace"
)

// convertOptions are the flags of `awo convert`.
type convertOptions struct {
	inputOptions `mapstructure:",squash"`
	Out          string `mapstructure:"out"`
}

func newConvert(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "convert FILES...",
		Short: "Write traces of any format as ATIF, awo's normal form",
		Long: `Write traces as ATIF-v1.7, one trajectory a line: the Agent Trajectory
Interchange Format, which awo reads back without loss. What ATIF has no place for
(task, outcome, status of calls, ...) stands under "awo" in its "extra" members.

Values are written as they are: a converted trace holds the secrets of the
original.

` + filesHelp,
		Example: `  awo convert traces/ > all.atif.jsonl
  awo convert runs.json.gz --where 'outcome == "success"' --out good.atif.jsonl`,
		GroupID: groupLook,
	}
	addInput(c.Flags())
	c.Flags().String("out", "", "write to this `FILE` instead of the standard output, and print a summary")
	return work(a, c, convert)
}

// conversionJSON is the JSON of `awo convert --out`.
type conversionJSON struct {
	Schema string     `json:"schema"`
	Input  inputJSON  `json:"input"`
	Output outputJSON `json:"output"`
}

type outputJSON struct {
	File         string `json:"file"`
	Format       string `json:"format"`
	Trajectories int    `json:"trajectories"`
	Bytes        int64  `json:"bytes"`
}

func convert(j *job, o convertOptions, files []string) error {
	if o.Out == "" && j.Format != report.FormatText {
		return usagef("--format is about the summary, which is printed with --out FILE; the trajectories are always ATIF")
	}
	in, err := j.intake(files, o.inputOptions, trace.Options{})
	if err != nil {
		return err
	}
	defer in.Close()
	if o.Out == "" {
		_, _, err := writeATIF(j.out, in)
		return err
	}
	out := conversionJSON{Schema: "awo.conversion/v1", Output: outputJSON{File: filepath.ToSlash(o.Out), Format: "atif"}}
	dir, name := filepath.Split(o.Out)
	if dir == "" {
		dir = "."
	}
	err = emit.WriteStream(dir, name, func(w io.Writer) (err error) {
		out.Output.Trajectories, out.Output.Bytes, err = writeATIF(w, in)
		return err
	})
	if err != nil {
		return err
	}
	out.Input = in.JSON()
	var d report.Document
	d.Add(in.Summary(), report.Paragraph(countOf(out.Output.Trajectories, "trajectory")+" written to "+out.Output.File+", "+countOf(int(out.Output.Bytes), "byte")+"."))
	return j.print(&d, out)
}

// writeATIF writes what comes in, one trajectory a line.
func writeATIF(to io.Writer, in *intake) (trajectories int, bytes int64, err error) {
	w := bufio.NewWriterSize(to, 1<<20)
	var line []byte
	for t, err := range in.All() {
		if err != nil {
			return trajectories, bytes, err
		}
		if line, err = trace.AppendATIF(line[:0], t); err != nil {
			return trajectories, bytes, err
		}
		if _, err := w.Write(line); err != nil {
			return trajectories, bytes, err
		}
		trajectories++
		bytes += int64(len(line))
	}
	return trajectories, bytes, w.Flush()
}
