package cli

import (
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/awo-dev/awo/diag"
)

// Setting is what a setting is, and what said so.
type Setting struct {
	Command string `json:"command"` // "" for the settings of all commands
	Setting string `json:"setting"`
	Value   string `json:"value"`
	From    string `json:"from"` // default, command line, the variable, or file:line
	Default string `json:"default"`
	Env     string `json:"environment"` // the variable that would set it
}

// Explain returns the settings of all commands and of c as they would be resolved for it,
// in order of name, and what is wrong with awo.yaml.
func (a *App) Explain(c *cobra.Command) ([]Setting, diag.List, error) {
	config, problems, err := a.loadConfig(c)
	if err != nil {
		return nil, nil, err
	}
	var out []Setting
	explain := func(command string, flags *pflag.FlagSet, from section) {
		flags.VisitAll(func(f *pflag.Flag) {
			if f.Name == "help" || f.Name == "version" || f.Hidden || c.HasParent() && !takes(c, f) {
				return
			}
			out = append(out, explained(command, f, from))
		})
	}
	explain("", c.Root().PersistentFlags(), config.shared.under(&config.own))
	if c.HasParent() {
		_, path, _ := strings.Cut(c.CommandPath(), " ")
		explain(path, c.LocalNonPersistentFlags(), config.own)
	}
	return out, problems, nil
}

// explained says where the value of a flag is from, as setFrom finds it.
func explained(command string, f *pflag.Flag, from section) Setting {
	s := Setting{Command: command, Setting: f.Name, Value: f.DefValue, Default: f.DefValue, From: "default", Env: environmentName(f.Name)}
	if f.Name == "config" {
		s.Default = defaultConfig
	}
	texts, inFile := from.values[f.Name]
	switch env := os.Getenv(environmentName(f.Name)); {
	case f.Changed:
		s.Value, s.From = f.Value.String(), "command line"
	case env != "":
		s.Value, s.From = env, environmentName(f.Name)
	case inFile && from.refusal(f, texts) == nil:
		s.Value, s.From = strings.Join(texts, ","), from.positions[f.Name].String()
	}
	return s
}
