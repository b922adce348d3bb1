package cmd

import (
	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/cli"
)

func newRules(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "rules",
		Short: "Check and work on rule files",
		Long: `Work on rule files: YAML (or JSON) that says which calls are alike, what they do
to the world, and which of them may change places.`,
		Example: "  awo rules check rules.yaml",
		GroupID: cli.GroupRules,
	}
	c.AddCommand(newRulesCheck(a))
	c.AddCommand(newRulesFmt(a))
	c.AddCommand(newRulesTest(a))
	c.AddCommand(newRulesExplain(a))
	c.AddCommand(newRulesBuiltin(a))
	c.AddCommand(newRulesSchema(a))
	c.AddCommand(newRulesVerify(a))
	c.AddCommand(newRulesSuggest(a))
	return c
}
