// Package rulefile is `awo rules` and the commands below it: checking, formatting,
// testing and explaining rule files, holding them against traces, and suggesting
// rules that traces support.
//
// In come rule files, and traces where a command needs them; out go findings,
// examples that failed, evidence, and rule files. Rules are parsed by package rules
// and applied by package merge, and what is kept in memory is theirs.
package rulefile

import (
	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/cli"
)

// New returns `awo rules`.
func New(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "rules",
		Short: "Check and work on rule files",
		Long: `Work on rule files: YAML (or JSON) that says which calls are alike, what they do
to the world, and which of them may change places.`,
		Example: "  awo rules check rules.yaml",
		GroupID: cli.GroupRules,
	}
	c.AddCommand(newCheck(a), newTest(a), newVerify(a), newSuggest(a), newDiscover(a))
	return c
}
