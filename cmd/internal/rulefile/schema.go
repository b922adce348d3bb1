package rulefile

import (
	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/rules"
)

func newSchema(a *cli.App) *cobra.Command {
	return cli.Work(a, &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of rule files, for editors",
		Long: `Print the JSON Schema (draft 2020-12) of the rule language. Editors that know
YAML complete and check rule files with it: name the file in their settings, or in
the first line of a rule file:

  # yaml-language-server: $schema=rules.schema.json

The schema knows fields and types. awo rules check knows more.`,
		Example: "  awo rules schema > rules.schema.json",
		Args:    cli.NoArguments,
	}, func(j *cli.Job, _ struct{}, _ []string) error {
		j.Printf("%s", rules.Schema())
		return nil
	})
}
