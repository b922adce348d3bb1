package cmd

import (
	"bytes"
	"io"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/internal/emit"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/rules"
)

// rulesFmtOptions are the flags of `awo rules fmt`.
type rulesFmtOptions struct {
	Write bool `mapstructure:"write"`
	Check bool `mapstructure:"check"`
}

func newRulesFmt(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "fmt FILES...",
		Short: "Lay rule files out in one way, and keep their comments",
		Long: `Lay a rule file out as all rule files are: fields in one order, two spaces of
indentation, an empty line between rules. Comments stay, the meaning stays, and
formatting twice changes nothing. JSON stays JSON.

The formatted file goes to the standard output. With --write files are replaced
in place, whole or not at all; with --check nothing is written, the names of files
that are not formatted are printed, and the exit code is 1 if there are any.`,
		Example: `  awo rules fmt rules.yaml
  awo rules fmt --write rules/*.yaml
  awo rules fmt --check rules/*.yaml
  awo rules fmt - < rules.yaml`,
		Args: someFiles,
	}
	f := c.Flags()
	f.BoolP("write", "w", false, "replace the files by what they are formatted")
	f.Bool("check", false, "print the names of files that are not formatted; exit code 1 if there are any")
	return work(a, c, formatRules)
}

func formatRules(j *job, o rulesFmtOptions, files []string) error {
	switch {
	case o.Write && o.Check:
		return usagef("--write and --check contradict each other")
	case j.Format != report.FormatText:
		return usagef("--format: `%s` prints rule files, which have a format of their own", j.command)
	case !o.Write && !o.Check && len(files) > 1:
		return usagef("%d files: without --write or --check one is formatted, to the standard output", len(files))
	}
	j.problems.unlimited = true
	unformatted := 0
	for _, file := range files {
		if o.Write && file == "-" {
			return usagef("--write: the standard input cannot be replaced")
		}
		src, err := j.readFile(file)
		if err != nil {
			j.problems.add(fileProblem(file, err))
			continue
		}
		out, err := rules.Format(file, src)
		if err != nil {
			j.problems.addAll(err)
			continue
		}
		switch {
		case o.Check && !bytes.Equal(src, out):
			j.printf("%s\n", report.Escape(file))
			unformatted++
		case o.Check, o.Write && bytes.Equal(src, out):
		case o.Write:
			dir, name := splitOut(file)
			err := emit.WriteStream(dir, name, func(w io.Writer) error { _, err := w.Write(out); return err })
			if err != nil {
				return err
			}
			j.log.Debug("a file was formatted", "file", file)
		default:
			j.printf("%s", out)
		}
	}
	if unformatted > 0 {
		return errProblems
	}
	return nil
}
