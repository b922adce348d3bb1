package rulefile

import (
	"bytes"
	"io"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/emit"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/rules"
)

// formatRules is `awo rules check --fmt`.
func formatRules(j *cli.Job, o checkOptions, files []string) error {
	replace, check := o.Fmt == "write", o.Fmt == "check"
	switch {
	case j.Format != report.FormatText:
		return cli.Usagef("--format: rule files have a format of their own")
	case !replace && !check && len(files) > 1:
		return cli.Usagef("%d files: --fmt print writes one, to the standard output", len(files))
	}
	j.Problems.Unlimited = true
	unformatted := 0
	for _, file := range files {
		if replace && file == "-" {
			return cli.Usagef("--fmt write: the standard input cannot be replaced")
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
		case check && !bytes.Equal(src, out):
			j.Printf("%s\n", report.Escape(file))
			unformatted++
		case check, replace && bytes.Equal(src, out):
		case replace:
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
