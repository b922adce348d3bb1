package cmd

import (
	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/filter"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats"
)

// formatsOptions are the flags of `awo formats`.
type formatsOptions struct {
	Where bool `mapstructure:"where"`
}

func newFormats(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "formats",
		Short: "List the trace formats that awo reads",
		Long: `List the trace formats that awo reads, in the order in which they are tried.

The format of each file is recognised by its contents, whatever its name.
--input-format NAME takes the decision away from awo for all files of a run.
Files may be compressed with gzip or zstd.`,
		Example: "  awo formats\n  awo formats --format json\n  awo formats --where",
		Args:    cli.NoArguments,
		GroupID: cli.GroupLook,
	}
	c.Flags().Bool("where", false, "list what the expressions of other commands' --where may use of a trajectory instead")
	return cli.Work(a, c, printFormats)
}

// formatsJSON is the JSON of `awo formats`.
type formatsJSON struct {
	Schema  string       `json:"schema"`
	Formats []formatJSON `json:"formats"`
	Where   []nameJSON   `json:"where,omitempty"` // with --where
}

// nameJSON is what an expression may use of a trajectory.
type nameJSON struct {
	Names string `json:"names"`
	Doc   string `json:"doc"`
}

type formatJSON struct {
	Name string `json:"name"`
	Doc  string `json:"doc"`
	Spec string `json:"spec"` // where the format is defined
}

func printFormats(j *cli.Job, o formatsOptions, _ []string) error {
	out := formatsJSON{Schema: "awo.formats/v1", Formats: cli.Map(formats.All, func(f *trace.Format) formatJSON { return formatJSON{f.Name, f.Doc, f.Spec} })}
	table := report.TableOf("formats", "", out.Formats, []report.Column{
		{Key: "name", Words: true}, {Key: "doc", Title: "what it holds", Max: 60, Wrap: true, Words: true}, {Key: "spec", Title: "defined at", Max: 100, Words: true},
	})
	if o.Where {
		for _, n := range filter.Names() {
			out.Where = append(out.Where, nameJSON{n[0], n[1]})
		}
		table = report.TableOf("where", "", out.Where, []report.Column{
			{Key: "names", Max: 60, Words: true}, {Key: "doc", Title: "what it is", Max: 100, Wrap: true, Words: true},
		})
	}
	var d report.Document
	d.Add(table)
	return j.Print(&d, out)
}
