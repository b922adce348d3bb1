package cmd

import (
	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/trace/formats"
)

func newFormats(a *cli.App) *cobra.Command {
	return cli.Work(a, &cobra.Command{
		Use:   "formats",
		Short: "List the trace formats that awo reads",
		Long: `List the trace formats that awo reads, in the order in which they are tried.

The format of each file is recognised by its contents, whatever its name.
--input-format NAME takes the decision away from awo for all files of a run.
Files may be compressed with gzip or zstd.`,
		Example: "  awo formats\n  awo formats --format json",
		Args:    cli.NoArguments,
		GroupID: cli.GroupLook,
	}, printFormats)
}

// formatsJSON is the JSON of `awo formats`.
type formatsJSON struct {
	Schema  string       `json:"schema"`
	Formats []formatJSON `json:"formats"`
}

type formatJSON struct {
	Name string `json:"name"`
	Doc  string `json:"doc"`
	Spec string `json:"spec"` // where the format is defined
}

func printFormats(j *cli.Job, _ struct{}, _ []string) error {
	out := formatsJSON{Schema: "awo.formats/v1", Formats: []formatJSON{}}
	table := report.NewTable("formats", "",
		report.Column{Key: "name"},
		report.Column{Key: "doc", Title: "what it holds", Max: 60, Wrap: true},
		report.Column{Key: "spec", Title: "defined at", Max: 100})
	for _, f := range formats.All {
		out.Formats = append(out.Formats, formatJSON{Name: f.Name, Doc: f.Doc, Spec: f.Spec})
		table.Add(report.Text(f.Name), report.Text(f.Doc), report.Text(f.Spec))
	}
	var d report.Document
	d.Add(table)
	return j.Print(&d, out)
}
