package cmd

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/docs"
	"github.com/awo-dev/awo/internal/report"
)

// The topics of help that are no commands.
const (
	topicFlags  = "flags"
	topicConfig = "config"
	topicSkill  = "skill"
)

// newHelp is cobra's help command with three topics more, and a topic that does not exist is
// wrong use.
func newHelp(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "help [COMMAND | flags | config [COMMAND] | skill]",
		Short: "Print how a command is used, the flags of all commands, or what is set",
		Long: `Print how a command is used. 'awo help flags' lists the flags that every command has,
and 'awo help skill' tells a coding agent how to investigate traces with awo.

'awo help config' shows the settings of all commands, and those of one command if it is
named: their values, and what set them. The command line goes first, then the environment
(AWO_ and the name of the flag, in capitals, with _ for -), then awo.yaml, then the default.
awo.yaml has the settings of all commands at its top, and those of a command below its
name:

  workers: 2
  analyze:
    order: 4`,
		Example: "  awo help version\n  awo help flags\n  awo help config analyze",
		GroupID: cli.GroupOther,
		ValidArgsFunction: func(c *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			topic, _, err := c.Root().Find(args)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			names := cli.ChildNames(topic)
			if !topic.HasParent() {
				names = append(names, topicConfig, topicFlags, topicSkill)
			}
			return slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, begun) }), cobra.ShellCompDirectiveNoFileComp
		},
	}
	config := cli.Work(a, &cobra.Command{}, func(j *cli.Job, _ struct{}, args []string) error { return explainConfig(a, j, c.Root(), args) })
	c.RunE = func(c *cobra.Command, args []string) error {
		switch {
		case len(args) == 1 && args[0] == topicFlags:
			c.Print("Every command has these flags. awo.yaml and the environment can set them, too: awo help config.\n\n" + cli.SharedFlags(c.Root(), false).FlagUsagesWrapped(100))
			c.Print("\nThese are for commands that read traces; the help of each says which it has.\n\n" + cli.SharedFlags(c.Root(), true).FlagUsagesWrapped(100))
			return nil
		case len(args) == 1 && args[0] == topicSkill:
			c.Print(docs.Skill)
			return nil
		case len(args) > 0 && args[0] == topicConfig:
			return config.RunE(c, args[1:])
		}
		topic, rest, err := c.Root().Find(args)
		if err != nil || len(rest) > 0 {
			return noSuchCommand(topic, rest)
		}
		return topic.Help()
	}
	return c
}

// explainConfig prints the settings of a command.
func explainConfig(a *cli.App, j *cli.Job, root *cobra.Command, args []string) error {
	of, rest, err := root.Find(args)
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
	set := 0
	for _, s := range settings {
		if s.From != "default" {
			set++
		}
	}
	d := &report.Document{Title: "Settings", Answer: "Every setting has its default."}
	if set > 0 {
		d.Answer = cli.CountOf(set, "setting") + " of " + report.Grouped(len(settings)) + map[bool]string{true: " is", false: " are"}[set == 1] + " not the default."
	}
	table := report.TableOf("settings", "", settings, []report.Column{
		{Key: "setting", Words: true},
		{Key: "value", Max: 40, Empty: "(none)"},
		{Key: "from", Max: 40},
		{Key: "command", Words: true, Empty: "(all)"},
		{Key: "environment", Words: true},
	})
	table.Brief = len(settings)
	d.Add(table)
	return j.Result(d)
}
