package rulefile

import (
	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/rules"
)

func newBuiltin(a *cli.App) *cobra.Command {
	c := cli.Work(a, &cobra.Command{
		Use:   "builtin NAME",
		Short: "Print a set of rules that comes with awo",
		Long: `Print one of the sets that rule files may include as builtin:NAME: to read what it
says, or as the beginning of rules of one's own. Its examples show what each rule
does to which call.`,
		Example: `  awo rules builtin http
  awo rules builtin sql > rules.yaml`,
		Args:              oneBuiltin,
		ValidArgsFunction: cobra.FixedCompletions(builtinNames(), cobra.ShellCompDirectiveNoFileComp),
	}, func(j *cli.Job, _ struct{}, args []string) error {
		for _, b := range rules.Builtins() {
			if b.Name == args[0] {
				j.Printf("%s", b.Source)
			}
		}
		return nil
	})
	return c
}

func builtinNames() []string {
	var names []string
	for _, b := range rules.Builtins() {
		names = append(names, b.Name)
	}
	return names
}

// oneBuiltin wants the name of a built-in set.
func oneBuiltin(c *cobra.Command, args []string) error {
	known := cli.NewChoice(builtinNames()...)
	if len(args) != 1 {
		return cli.Usagef("`%s` wants one name: %s", c.CommandPath(), known.Want())
	}
	if err := known.Set(args[0]); err != nil {
		if near := diag.Nearest(args[0], known.Allowed); near != "" {
			return cli.Usagef("there is no built-in set %q; did you mean %s?", args[0], near)
		}
		return cli.Usagef("there is no built-in set %q: there are %s", args[0], known.Want())
	}
	return nil
}
