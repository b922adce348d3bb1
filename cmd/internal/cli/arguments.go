package cli

import (
	"errors"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/awo-dev/awo/diag"
)

// The groups of commands in the help text.
const (
	GroupLook    = "look"
	GroupCompile = "compile"
	GroupRules   = "rules"
	GroupOther   = "other"
)

// NoArguments refuses every argument.
func NoArguments(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return Usagef("`%s` takes no arguments, %q is one", c.CommandPath(), args[0])
	}
	return nil
}

// SomeFiles wants at least one argument.
func SomeFiles(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return Usagef("`%s` wants files or folders to read, or - for the standard input", c.CommandPath())
	}
	return nil
}

// CompleteChoices lets the shell complete the values of flags that have a few.
func CompleteChoices(c *cobra.Command) {
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if v, ok := f.Value.(*Choice); ok {
			// The error says that it is registered already, which the flags of a
			// parent are.
			_ = c.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(v.Allowed, cobra.ShellCompDirectiveNoFileComp))
		}
	})
}

// FlagError words what is wrong with the flags of a command line.
func FlagError(c *cobra.Command, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		name := unknown.GetSpecifiedName()
		if unknown.GetSpecifiedShortnames() != "" {
			return Usagef("there is no flag -%s", name)
		}
		if near := diag.Nearest(name, flagNames(c)); near != "" {
			return Usagef("there is no flag --%s; did you mean --%s?", name, near)
		}
		return Usagef("there is no flag --%s", name)
	}
	if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		f := bad.GetFlag()
		return Usagef("--%s: %q is not %s", f.Name, bad.GetValue(), Wanted(f.Value))
	}
	if bare, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		f := bare.GetFlag()
		return Usagef("--%s wants %s", f.Name, Wanted(f.Value))
	}
	return Usagef("%s", err)
}

// flagNames returns the flags of c that are shown, its parents' among them.
func flagNames(c *cobra.Command) []string {
	var names []string
	for _, flags := range []*pflag.FlagSet{c.Flags(), c.InheritedFlags()} {
		flags.VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, f.Name)
			}
		})
	}
	slices.Sort(names)
	return slices.Compact(names)
}
