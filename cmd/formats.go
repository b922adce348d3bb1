package cmd

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/filter"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats"
	"github.com/awo-dev/awo/trace/formats/maps"
)

// formatsOptions are the flags of `awo formats`.
type formatsOptions struct {
	Where bool   `mapstructure:"where"`
	Show  string `mapstructure:"show"`
}

func newFormats(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "formats",
		Short: "List the trace formats that awo reads",
		Long: `List the trace formats that awo reads, in the order in which they are tried.

The format of each file is recognised by its contents, whatever its name.
--input-format NAME takes the decision away from awo for all files of a run.
Files may be compressed with gzip or zstd. --show prints the map of a format, in the
language of --map; formats that are read by code have none.`,
		Example: "  awo formats\n  awo formats --format json\n  awo formats --show copilot-cli > map.yaml\n  awo formats --where",
		Args:    cli.NoArguments,
		GroupID: cli.GroupLook,
	}
	c.Flags().String("show", "", "print the map of the format `NAME`, to start a --map file from")
	c.Flags().Bool("where", false, "list what the expressions of other commands' --where may use of a trajectory instead")
	return cli.Work(a, c, printFormats)
}

// formatRow says of a format what it holds and where it is defined.
type formatRow struct {
	Name string `json:"name"`
	Doc  string `json:"doc"`
	Spec string `json:"spec"`
}

// nameRow is what an expression may use of a trajectory.
type nameRow struct {
	Names string `json:"names"`
	Doc   string `json:"doc"`
}

func printFormats(j *cli.Job, o formatsOptions, _ []string) error {
	if o.Show != "" {
		src, ok := maps.Source(o.Show)
		if !ok {
			return cli.Usagef("--show: %q is not a format with a map; these are: %s", o.Show, strings.Join(maps.Names(), ", "))
		}
		_, err := j.Out.Write(src)
		return err
	}
	var d report.Document
	if o.Where {
		names := filter.Names()
		d.Add(report.TableOf("where", "", cli.Map(names, func(n *[2]string) nameRow { return nameRow{n[0], n[1]} }), []report.Column{
			{Key: "names", Max: 60, Words: true}, {Key: "doc", Title: "what it is", Max: 100, Wrap: true, Words: true},
		}))
		return j.Result(&d)
	}
	d.Add(report.TableOf("formats", "", cli.Map(formats.All, func(f *trace.Format) formatRow { return formatRow{f.Name, f.Doc, f.Spec} }), []report.Column{
		{Key: "name", Words: true}, {Key: "doc", Title: "what it holds", Max: 60, Wrap: true, Words: true}, {Key: "spec", Title: "defined at", Max: 100, Words: true},
	}))
	return j.Result(&d)
}
