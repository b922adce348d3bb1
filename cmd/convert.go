package cmd

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/emit"
	"github.com/awo-dev/awo/internal/redact"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/atif"
)

// convertOptions are the flags of `awo convert`.
type convertOptions struct {
	cli.InputOptions `mapstructure:",squash"`
	Out              string `mapstructure:"out"`
	Redact           bool   `mapstructure:"redact"`
	KeyFile          string `mapstructure:"key-file"`
}

func newConvert(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "convert FILES...",
		Short: "Write traces of any format as ATIF, awo's normal form",
		Long: `Write traces as ATIF-v1.7, one trajectory a line: the Agent Trajectory
Interchange Format, which awo reads back without loss. What ATIF has no place for
(task, outcome, status of calls, ...) stands under "awo" in its "extra" members.

Values are written as they are: a converted trace holds the secrets of the
original. With --redact every word of texts, arguments and results becomes a keyed
hash and every number of three digits or more another number, so that what was equal
stays equal and awo finds the same habits and the same sources of arguments: the way
to hand traces to somebody else. The key is the content of --key-file, or AWO_KEY;
who has it can find out which words stand for what. Kept are names of tools,
arguments and members, tool definitions, models, usage, times and outcomes.

` + cli.FilesHelp,
		Example: `  awo convert traces/ > all.atif.jsonl
  awo convert runs.json.gz --where 'outcome == "success"' --out good.atif.jsonl
  awo convert traces/ --redact --key-file redaction.key --out shareable.atif.jsonl`,
		GroupID: cli.GroupLook,
	}
	cli.AddInput(c.Flags())
	c.Flags().Bool("redact", false, "replace words and numbers by keyed hashes and other numbers")
	c.Flags().String("key-file", "", "`FILE` with the key for --redact (default: the environment variable AWO_KEY)")
	c.Flags().String("out", "", "write to this `FILE` instead of the standard output, and print a summary")
	return cli.Work(a, c, convert)
}

// conversionJSON is the JSON of `awo convert --out`.
type conversionJSON struct {
	Schema string        `json:"schema"`
	Input  cli.InputJSON `json:"input"`
	Output outputJSON    `json:"output"`
}

type outputJSON struct {
	File         string `json:"file"`
	Format       string `json:"format"`
	Trajectories int    `json:"trajectories"`
	Bytes        int64  `json:"bytes"`
}

func convert(j *cli.Job, o convertOptions, files []string) error {
	if o.Out == "" && j.Format != report.FormatText {
		return cli.Usagef("--format is about the summary, which is printed with --out FILE; the trajectories are always ATIF")
	}
	redactor, err := o.redactor()
	if err != nil {
		return err
	}
	in, err := j.Intake(files, o.InputOptions, trace.Options{})
	if err != nil {
		return err
	}
	defer in.Close()
	in.Statuses = nil // what is written is what was recorded
	if o.Out == "" {
		_, _, err := writeATIF(j.Out, in, redactor)
		return err
	}
	out := conversionJSON{Schema: "awo.conversion/v1", Output: outputJSON{File: filepath.ToSlash(o.Out), Format: "atif"}}
	dir, name := filepath.Split(o.Out)
	if dir == "" {
		dir = "."
	}
	err = emit.WriteStream(dir, name, func(w io.Writer) (err error) {
		out.Output.Trajectories, out.Output.Bytes, err = writeATIF(w, in, redactor)
		return err
	})
	if err != nil {
		return err
	}
	out.Input = in.JSON()
	var d report.Document
	d.Add(in.Summary(), report.Paragraph(cli.CountOf(out.Output.Trajectories, "trajectory")+" written to "+out.Output.File+", "+cli.CountOf(int(out.Output.Bytes), "byte")+"."))
	return j.Print(&d, out)
}

// redactor returns what redacts, nil if nothing is to be.
func (o convertOptions) redactor() (*redact.Redactor, error) {
	if !o.Redact {
		if o.KeyFile != "" {
			return nil, cli.Usagef("--key-file: the key is for --redact, which is not given")
		}
		return nil, nil
	}
	key := []byte(os.Getenv("AWO_KEY"))
	if o.KeyFile != "" {
		var err error
		if key, err = os.ReadFile(o.KeyFile); err != nil {
			return nil, cli.FileProblem(o.KeyFile, err)
		}
	}
	key = bytes.TrimSpace(key)
	switch {
	case len(key) == 0:
		return nil, cli.Usagef("--redact: there is no key; put a long random text into a file and name it with --key-file, or into AWO_KEY")
	case len(key) < redact.MinKey:
		return nil, cli.Usagef("--redact: the key has %d bytes; one with less than %d can be guessed", len(key), redact.MinKey)
	}
	return redact.New(key), nil
}

// writeATIF writes what comes in, one trajectory a line.
func writeATIF(to io.Writer, in *cli.Intake, redactor *redact.Redactor) (trajectories int, bytes int64, err error) {
	w := bufio.NewWriterSize(to, 1<<20)
	var line []byte
	for t, err := range in.All() {
		if err != nil {
			return trajectories, bytes, err
		}
		if redactor != nil {
			redactor.Trajectory(t)
		}
		if line, err = atif.Append(line[:0], t); err != nil {
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
