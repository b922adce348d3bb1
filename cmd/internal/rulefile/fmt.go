package rulefile

import (
	"bytes"
	"io"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/emit"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/rules"
)

// fmtOptions are the flags of `awo rules fmt`.
type fmtOptions struct {
	Write bool `mapstructure:"write"`
	Check bool `mapstructure:"check"`
}

func newFmt(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "fmt FILES...",
		Short: "Format rule files, and keep their comments",
		Long: `Format rule files: fields in one order, two spaces of indentation, an empty line
between rules. Comments and meaning stay, and formatting twice changes nothing.
JSON stays JSON.

The formatted file goes to the standard output. With --write files are replaced
in place, whole or not at all; with --check nothing is written, the names of files
that are not formatted are printed, and the exit code is 1 if there are any.`,
		Example: `  awo rules fmt rules.yaml
  awo rules fmt --write rules/*.yaml
  awo rules fmt --check rules/*.yaml
  awo rules fmt - < rules.yaml`,
		Args: cli.SomeFiles,
	}
	f := c.Flags()
	f.BoolP("write", "w", false, "replace the files by their formatted versions")
	f.Bool("check", false, "print the names of files that are not formatted; exit code 1 if there are any")
	return cli.Work(a, c, formatRules)
}

func formatRules(j *cli.Job, o fmtOptions, files []string) error {
	switch {
	case o.Write && o.Check:
		return cli.Usagef("--write and --check contradict each other")
	case j.Format != report.FormatText:
		return cli.Usagef("--format: `%s` prints rule files, which have a format of their own", j.Command)
	case !o.Write && !o.Check && len(files) > 1:
		return cli.Usagef("%d files: without --write or --check one is formatted, to the standard output", len(files))
	}
	j.Problems.Unlimited = true
	unformatted := 0
	for _, file := range files {
		if o.Write && file == "-" {
			return cli.Usagef("--write: the standard input cannot be replaced")
		}
		src, err := j.ReadFile(file)
		if err != nil {
			j.Problems.Add(cli.FileProblem(file, err))
			continue
		}
		out, err := rules.Format(file, src)
		if err != nil {
			j.Problems.AddAll(err)
			continue
		}
		switch {
		case o.Check && !bytes.Equal(src, out):
			j.Printf("%s\n", report.Escape(file))
			unformatted++
		case o.Check, o.Write && bytes.Equal(src, out):
		case o.Write:
			dir, name := cli.SplitOut(file)
			err := emit.WriteStream(dir, name, func(w io.Writer) error { _, err := w.Write(out); return err })
			if err != nil {
				return err
			}
			j.Log.Debug("a file was formatted", "file", file)
		default:
			j.Printf("%s", out)
		}
	}
	if unformatted > 0 {
		return cli.ErrProblems
	}
	return nil
}
