package cmd

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/analysis"
	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/cmd/internal/comparing"
	"github.com/awo-dev/awo/cmd/internal/extraction"
	"github.com/awo-dev/awo/cmd/internal/prediction"
	"github.com/awo-dev/awo/cmd/internal/rulefile"
	"github.com/awo-dev/awo/cmd/internal/serving"
	"github.com/awo-dev/awo/cmd/internal/show"
	"github.com/awo-dev/awo/cmd/internal/toolworld"
	"github.com/awo-dev/awo/cmd/internal/worth"
	"github.com/awo-dev/awo/diag"
)

// Tree returns the tree of commands for what describes it, such as man pages. It is
// not connected to any stream, so its commands cannot be run.
func Tree() *cobra.Command { return newRoot(&cli.App{}) }

// newRoot returns the tree of commands. Adding a command is one file and one
// line here.
func newRoot(a *cli.App) *cobra.Command {
	root := &cobra.Command{
		Use:   "awo",
		Short: "Compile recorded agent trajectories into statistics, state graphs and meta-tools",
		Long: `awo reads what agents did (trajectories: model turns, tool calls, results) in
the trace formats that are in use, and compiles it: how predictable the calls
are, a merged graph of the states that runs pass through, and meta-tools that do
in one call what took several.

It works offline, changes no trace and sends nothing anywhere.`,
		Example: `  awo traces/
  awo formats
  awo version --format json`,
		Version:       versionLine(cli.CurrentBuild()),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetVersionTemplate("{{.Version}}")
	root.AddGroup(
		&cobra.Group{ID: cli.GroupLook, Title: "Look at traces:"},
		&cobra.Group{ID: cli.GroupCompile, Title: "Compile them:"},
		&cobra.Group{ID: cli.GroupRules, Title: "Write rules that say which states are alike:"},
		&cobra.Group{ID: cli.GroupOther, Title: "Other commands:"},
	)
	cli.AddSettings(root.PersistentFlags())
	root.SetFlagErrorFunc(cli.FlagError)
	root.SetUsageTemplate(usageTemplate(root.UsageTemplate()))
	root.AddCommand(
		analysis.NewSummary(a),
		analysis.NewSessions(a),
		analysis.NewFindings(a),
		newInspect(a),
		analysis.NewAnalyze(a),
		analysis.NewSummarize(a),
		worth.NewCost(a),
		analysis.NewReport(a),
		newConvert(a),
		newGraph(a),
		extraction.NewExtract(a),
		extraction.NewVerify(a),
		worth.NewBacktest(a),
		extraction.NewDiff(a),
		extraction.NewWhy(a),
		extraction.NewRun(a),
		show.New(a),
		worth.NewRegister(a),
		prediction.NewReplay(a),
		prediction.NewSnapshot(a),
		prediction.NewPredict(a),
		newFormats(a),
		rulefile.New(a),
		serving.New(a),
		comparing.New(a),
		toolworld.New(a),
		newVersion(a),
	)
	root.SetCompletionCommandGroupID(cli.GroupOther)
	root.CompletionOptions.HiddenDefaultCmd = true
	root.InitDefaultCompletionCmd()
	root.SetHelpCommand(newHelp(a))
	for c := range commands(root) {
		cli.CompleteChoices(c)
		if c.HasSubCommands() && !c.Runnable() {
			c.Args, c.RunE = noSuchCommand, showHelp
		}
	}
	return root
}

// usageTemplate leaves the flags that several commands have out of each command's help, and
// names them.
func usageTemplate(s string) string {
	const flags, global = "{{if .HasAvailableLocalFlags}}", "\n\nGlobal Flags:\n{{.InheritedFlags.FlagUsages | trimTrailingWhitespaces}}"
	return strings.NewReplacer(
		flags, "{{if and .HasAvailableLocalFlags .HasParent}}",
		global, "", ".FlagUsages ", ".FlagUsagesWrapped 100 ",
	).Replace(s) + "\n{{with index .Annotations \"also\"}}Also: {{.}}\n{{end}}`awo help flags` lists the flags that every command has, and those of several.\n"
}

// showHelp is what a command does that only has commands below it.
func showHelp(c *cobra.Command, _ []string) error { return c.Help() }

// noSuchCommand refuses every argument of such a command.
func noSuchCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if near := diag.Nearest(args[0], cli.ChildNames(c)); near != "" {
		return cli.Usagef("there is no command `%s %s`; did you mean `%s`?", c.CommandPath(), args[0], near)
	}
	return cli.Usagef("there is no command `%s %s`", c.CommandPath(), args[0])
}

// commands yields c and every command below it.
func commands(c *cobra.Command) func(yield func(*cobra.Command) bool) {
	return func(yield func(*cobra.Command) bool) {
		if !yield(c) {
			return
		}
		for _, sub := range c.Commands() {
			for d := range commands(sub) {
				if !yield(d) {
					return
				}
			}
		}
	}
}
