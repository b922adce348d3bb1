package cmd

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/report"
)

// newConfig returns `awo config`.
func newConfig(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "config [COMMAND]",
		Short: "Show what is set, and what set it",
		Long: `Show the settings of all commands, and those of one command if it is named: their
values, and what set them. The command line goes first, then the environment (AWO_ and
the name of the flag, in capitals, with _ for -), then awo.yaml, then the default.

awo.yaml has the settings of all commands at its top, and those of a command below its
name:

  workers: 2
  analyze:
    order: 4`,
		Example: `  awo config
  awo config analyze
  awo config tools subset --format json`,
		GroupID: cli.GroupOther,
	}
	c.ValidArgsFunction = func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		of, _, err := c.Root().Find(args)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return cli.ChildNames(of), cobra.ShellCompDirectiveNoFileComp
	}
	return cli.Work(a, c, func(j *cli.Job, _ struct{}, args []string) error {
		of, rest, err := c.Root().Find(args)
		if err != nil || len(rest) > 0 {
			return cli.Usagef("there is no command `awo %s`", strings.Join(args, " "))
		}
		settings, problems, err := a.Explain(of)
		if err != nil {
			return err
		}
		if len(problems) > 0 {
			return problems
		}
		out := configJSON{Schema: "awo.config/v1", Settings: settings}
		return j.Print(configDocument(out), out)
	})
}

// configJSON is the JSON of `awo config`.
type configJSON struct {
	Schema   string            `json:"schema"`
	Settings []cli.SettingJSON `json:"settings"`
}

func configDocument(out configJSON) *report.Document {
	d := &report.Document{Title: "Settings", Answer: "Nothing is set: every setting has its default."}
	set := 0
	for _, s := range out.Settings {
		if s.From != "default" {
			set++
		}
	}
	if set > 0 {
		d.Answer = cli.CountOf(set, "setting") + " of " + report.Grouped(len(out.Settings)) + " is not the default."
		if set > 1 {
			d.Answer = cli.CountOf(set, "setting") + " of " + report.Grouped(len(out.Settings)) + " are not the default."
		}
	}
	table := report.TableOf("settings", "", out.Settings, []report.Column{
		{Key: "setting", Words: true},
		{Key: "value", Max: 40, Empty: "(none)"},
		{Key: "from", Max: 40},
		{Key: "command", Words: true, Empty: "(all)"},
		{Key: "environment", Words: true},
	})
	table.Brief = len(out.Settings)
	d.Add(table)
	return d
}
