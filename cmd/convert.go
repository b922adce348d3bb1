package cmd

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/emit"
	"github.com/awo-dev/awo/internal/export"
	"github.com/awo-dev/awo/internal/redact"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/trace"
)

// convertOptions are the flags of `awo convert`.
type convertOptions struct {
	To      string `mapstructure:"to"`
	Out     string `mapstructure:"out"`
	Redact  bool   `mapstructure:"redact"`
	KeyFile string `mapstructure:"key-file"`
}

func newConvert(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "convert FILES...",
		Short: "Write traces of any format as ATIF, or for other tools",
		Long: `Write traces as ATIF-v1.7, one trajectory a line: the Agent Trajectory
Interchange Format, which awo reads back without loss. What ATIF has no place for
(task, outcome, status of calls, ...) stands under "awo" in its "extra" members.

With --to they are written in another format:

` + exportFormats() + `
What such a format has no place for is counted on the standard error. Event logs for
process mining hold no argument, result or text: each call is an event with its tool,
time, turn, status and agent.

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
  awo convert traces/ --to calls --out calls.csv
  awo convert traces/ --to xes --out calls.xes
  awo convert traces/ --redact --key-file redaction.key --out shareable.atif.jsonl`,
		GroupID: cli.GroupLook,
	}
	var names []string
	for _, f := range export.Formats {
		names = append(names, f.Name)
	}
	cli.Uses(c, cli.UseTraces)
	c.Flags().Var(cli.NewChoice(names...), "to", "format to write")
	c.Flags().Bool("redact", false, "replace words and numbers by keyed hashes and other numbers")
	c.Flags().String("key-file", "", "`FILE` with the key for --redact (default: the environment variable AWO_KEY)")
	c.Flags().String("out", "", "write to this `FILE` instead of the standard output, and print a summary")
	return cli.Work(a, c, convert)
}

// conversion are the figures of `awo convert --out`.
type conversion struct {
	Input  cli.InputJSON `json:"input"`
	Output struct {
		File         string      `json:"file"`
		Format       string      `json:"format"`
		Trajectories int         `json:"trajectories"`
		Bytes        int64       `json:"bytes"`
		Lost         export.Lost `json:"left_out"` // what the format has no place for
	} `json:"output"`
}

func convert(j *cli.Job, o convertOptions, files []string) error {
	if o.Out == "" && j.Format != report.FormatText {
		return cli.Usagef("--format is about the summary, which is printed with --out FILE; the trajectories are written in that of --to")
	}
	format, err := export.Find(o.To)
	if err != nil {
		return err
	}
	redactor, err := o.redactor()
	if err != nil {
		return err
	}
	in, err := j.Intake(files, trace.Options{})
	if err != nil {
		return err
	}
	if o.To != "calls" {
		in.Statuses = nil // what is written is what was recorded
	}
	if o.Out == "" {
		w, err := writeTrajectories(j.Out, format, in, redactor)
		if err == nil {
			for _, text := range lost(w.Lost, o.To) {
				j.Log.Warn(text)
			}
		}
		return err
	}
	dir, name := filepath.Split(o.Out)
	if dir == "" {
		dir = "."
	}
	var written *exported
	replacing := emit.ReplaceEmpty // traces do not tell who wrote them
	if j.Force {
		replacing = emit.ReplaceAny
	}
	err = emit.WriteStream(dir, name, replacing, func(w io.Writer) (err error) {
		written, err = writeTrajectories(w, format, in, redactor)
		return err
	})
	if err != nil {
		return err
	}
	out := conversion{Input: in.JSON()}
	out.Output.File, out.Output.Format = filepath.ToSlash(o.Out), o.To
	out.Output.Trajectories, out.Output.Bytes, out.Output.Lost = written.trajectories, written.Bytes(), written.Lost
	d := report.Document{Title: "Converted traces", Figures: out, Answer: fmt.Sprintf("%s written to %s as %s, %s.",
		cli.CountOf(written.trajectories, "trajectory"), out.Output.File, o.To, cli.CountOf(int(out.Output.Bytes), "byte"))}
	d.Add(report.List(lost(written.Lost, o.To)), in.Summary())
	return j.Result(&d)
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
		if key, err = cli.ReadSmall(o.KeyFile); err != nil {
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

// exported is what was written.
type exported struct {
	*export.Writer
	trajectories int
}

// writeTrajectories writes what comes in.
func writeTrajectories(to io.Writer, format export.Format, in *cli.Intake, redactor *redact.Redactor) (*exported, error) {
	w := &exported{Writer: format.NewWriter(to)}
	for t, err := range in.All() {
		if err != nil {
			return w, err
		}
		if redactor != nil {
			redactor.Trajectory(t)
		}
		if err := w.Add(t); err != nil {
			return w, err
		}
		w.trajectories++
	}
	return w, w.Close()
}

// lost says in sentences what a format had no place for.
func lost(l export.Lost, format string) []string {
	var out []string
	say := func(n int, noun, what string) {
		if n > 0 {
			out = append(out, cli.CountOf(n, noun)+" "+what)
		}
	}
	say(l.OtherCalls, "call", "that the model did not decide on: left out, "+format+" has no place for them.")
	say(l.Messages, "message", "that no response followed: left out, "+format+" has no place for them.")
	switch format {
	case "xes":
		say(l.Untimed, "call", "without a recorded time: written without one.")
	default:
		say(l.Untimed, "event", "without a recorded time: given one that keeps the order, and marked.")
	}
	return out
}

// exportFormats lists the formats of --to.
func exportFormats() string {
	var b strings.Builder
	for _, f := range export.Formats {
		fmt.Fprintf(&b, "  %-12s %s\n", f.Name, f.Doc)
	}
	return b.String()
}
