package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/go-viper/mapstructure/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/spf13/viper"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/trace"
)

// Settings are what every command can be told. The names are those of flags.
type Settings struct {
	Format      report.Format `mapstructure:"format"`
	InputFormat string        `mapstructure:"input-format"`
	Map         string        `mapstructure:"map"`
	Strict      bool          `mapstructure:"strict"`
	MaxRecord   Size          `mapstructure:"max-record"`
	ShowValues  bool          `mapstructure:"show-values"`
	Force       bool          `mapstructure:"force"`
	Workers     int           `mapstructure:"workers"`
	Color       string        `mapstructure:"color"`
	Details     bool          `mapstructure:"details"`
	Table       string        `mapstructure:"table"`
	Sort        string        `mapstructure:"sort"`
	Limit       int           `mapstructure:"limit"`
	Quiet       bool          `mapstructure:"quiet"`
	Verbose     bool          `mapstructure:"verbose"`
	Config      string        `mapstructure:"config"`

	// These are for the commands that Uses gives them to.
	InputOptions `mapstructure:",squash"`
	RuleFile     string   `mapstructure:"rules"`
	Prices       string   `mapstructure:"prices"`
	Caching      string   `mapstructure:"caching"`
	Shell        string   `mapstructure:"shell"`
	ExcludeTool  []string `mapstructure:"exclude-tool"`
}

// Use is a group of settings that several commands have, and not all.
type Use string

// The groups.
const (
	UseTraces  Use = "traces"
	UseRules   Use = "rules"
	UsePrices  Use = "prices"
	UseShell   Use = "shell"
	UseExclude Use = "exclude"
)

// uses are the flags of the groups.
var uses = []struct {
	use Use
	add func(*pflag.FlagSet)
}{
	{UseTraces, addInput},
	{UseRules, addRules},
	{UsePrices, addPrices},
	{UseShell, addShell},
	{UseExclude, addExcludeTool},
}

// annotation is what the groups of commands and of flags are noted under.
const annotation = "uses"

// Uses gives a command groups of settings.
func Uses(c *cobra.Command, groups ...Use) {
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	var names []string
	for _, u := range uses {
		if !slices.Contains(groups, u.use) {
			continue
		}
		c.Annotations[annotation] += " " + string(u.use)
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		u.add(flags)
		flags.VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	}
	c.Annotations["also"] = strings.Join(names, " ")
}

// takes reports whether a command has a flag that all or several commands have.
func takes(c *cobra.Command, f *pflag.Flag) bool {
	groups := f.Annotations[annotation]
	return len(groups) == 0 || slices.Contains(strings.Fields(c.Annotations[annotation]), groups[0])
}

// SharedFlags returns the flags that every command has, or those that several have.
func SharedFlags(root *cobra.Command, several bool) *pflag.FlagSet {
	out := pflag.NewFlagSet("", pflag.ContinueOnError)
	out.SortFlags = false
	root.PersistentFlags().VisitAll(func(f *pflag.Flag) {
		if several == (len(f.Annotations[annotation]) > 0) {
			out.AddFlag(f)
		}
	})
	return out
}

// AddSettings defines the flags of Settings.
func AddSettings(flags *pflag.FlagSet) {
	var formats []string
	for _, f := range report.Formats() {
		formats = append(formats, string(f))
	}
	size := Size(trace.DefaultMaxRecord)
	flags.Var(NewChoice(formats...), "format", "how results are printed")
	flags.String("input-format", "", "`NAME` of the trace format of all inputs; without it, the format of each file is recognised (awo formats lists them)")
	flags.String("map", "", "`FILE` that says where calls stand in traces of a layout that awo does not know; awo inspect drafts one")
	flags.Bool("strict", false, "stop at the first problem in the input instead of skipping what it concerns")
	flags.Var(&size, "max-record", "skip records that are larger than this")
	flags.Bool("show-values", false, "show argument values and lines of traces, which may be secrets")
	flags.Bool("force", false, "replace files also that awo did not write")
	Count(flags, "workers", 0, 0, "how many `N` records are decoded at once; 0 means one per CPU; the results are the same")
	flags.Var(NewChoice("auto", "always", "never"), "color", "whether problems and headings are coloured; auto is on terminals")
	flags.Bool("details", false, "print all tables and notes, and not the first screen alone; other formats than text always have all")
	flags.String("table", "", "print only the table of this `NAME`; list names them")
	flags.String("sort", "", "with --table: sort by this `COLUMN`, by its key in CSV, from the largest down; -COLUMN is from the smallest up")
	Count(flags, "limit", 0, 0, "with --table: print at most `N` rows; 0 means no limit")
	flags.BoolP("quiet", "q", false, "print results only, and one line that counts the problems")
	flags.BoolP("verbose", "v", false, "print every problem, and what is being done")
	flags.String("config", "", "`FILE` with settings (default awo.yaml, if it is there)")
	for _, u := range uses {
		group := pflag.NewFlagSet("", pflag.ContinueOnError)
		u.add(group)
		group.VisitAll(func(f *pflag.Flag) {
			f.Annotations = map[string][]string{annotation: {string(u.use)}}
			flags.AddFlag(f)
		})
	}
}

// check refuses settings that contradict each other or make no sense.
func (s *Settings) check() error {
	for _, glob := range s.ExcludeTool {
		if glob == "" || strings.ContainsAny(glob, "?[{") {
			return Usagef("--exclude-tool: %q is not a pattern of names, in which * stands for any characters", glob)
		}
	}
	switch {
	case s.Quiet && s.Verbose:
		return Usagef("--quiet and --verbose contradict each other")
	case s.Map != "" && s.InputFormat != "":
		return Usagef("--map and --input-format contradict each other")
	case s.Table == "" && (s.Sort != "" || s.Limit > 0):
		return Usagef("--sort and --limit are for --table")
	case s.MaxRecord == 0:
		return Usagef("--max-record: every record is larger than 0")
	}
	return nil
}

// loadSettings works out the settings of c: from the command line, else from
// the environment (AWO_ and the name of the flag), else from awo.yaml, else the
// defaults. options points to a struct with a field for each flag of the
// command itself; own is what it was filled with, by the names of the flags.
//
// An error is one of usage, or a diag.List about awo.yaml.
func (a *App) loadSettings(c *cobra.Command, options any) (s Settings, own map[string]any, err error) {
	config, problems, err := a.loadConfig(c)
	if err != nil {
		return s, nil, err
	}
	shared, err := resolve(c.InheritedFlags(), config.shared.under(&config.own), &s, &problems)
	if err != nil {
		return s, nil, err
	}
	own, err = resolve(c.LocalNonPersistentFlags(), config.own, options, &problems)
	if err != nil {
		return s, nil, err
	}
	var wrong error
	c.InheritedFlags().VisitAll(func(f *pflag.Flag) {
		switch {
		case !takes(c, f):
			if f.Changed && wrong == nil {
				wrong = Usagef("`%s` has no flag --%s", c.CommandPath(), f.Name)
			}
		case len(f.Annotations[annotation]) > 0:
			own[f.Name] = shared[f.Name]
		}
	})
	if wrong != nil {
		return s, nil, wrong
	}
	problems.Sort()
	if err := problems.Err(); err != nil {
		return s, nil, err
	}
	a.sayConfigured(c)
	return s, own, s.check()
}

// Flags returns what the flags of a command itself are set to, in a struct with a field for
// each of them; the environment sets those that are left open.
func Flags[O any](c *cobra.Command) (o O, err error) {
	_, err = resolve(c.LocalNonPersistentFlags(), section{}, &o, &diag.List{})
	return o, err
}

// resolve fills the struct that target points to from flags, the environment
// and a part of awo.yaml, and returns what it was filled with. Values in awo.yaml
// that a flag cannot take are added to problems.
//
// Viper lower-cases keys and splits them at dots, so nothing but the names of
// flags is ever a key.
func resolve(flags *pflag.FlagSet, config section, target any, problems *diag.List) (map[string]any, error) {
	known := pflag.NewFlagSet("", pflag.ContinueOnError)
	var wrong error
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Name == "help" {
			return
		}
		known.AddFlag(f)
		err := setFrom(f, config)
		if f.Changed && f.Value.String() == "" && slices.Contains(outputFlags, f.Name) {
			err = Usagef("--%s: want the name of what is to be written", f.Name)
		}
		if problem, ok := errors.AsType[*diag.Error](err); ok {
			*problems = append(*problems, problem)
		} else if wrong == nil {
			wrong = err
		}
	})
	if wrong != nil {
		return nil, wrong
	}
	v := viper.New()
	if err := v.BindPFlags(known); err != nil {
		return nil, err
	}
	hooks := mapstructure.ComposeDecodeHookFunc(mapstructure.TextUnmarshallerHookFunc(), mapstructure.StringToTimeDurationHookFunc())
	if err := v.UnmarshalExact(target, viper.DecodeHook(hooks)); err != nil {
		return nil, err
	}
	return values(known), nil
}

// outputFlags name files or folders that are written.
var outputFlags = []string{"out", "plots", "dot", "mermaid", "graphml", "graph-json", "add-to"}

// values returns what flags are set to, by name, as JSON has it.
func values(flags *pflag.FlagSet) map[string]any {
	out := map[string]any{}
	flags.VisitAll(func(f *pflag.Flag) {
		text := f.Value.String()
		out[f.Name] = text
		if list, ok := f.Value.(pflag.SliceValue); ok {
			out[f.Name] = append([]string{}, list.GetSlice()...)
			return
		}
		switch f.Value.Type() {
		case "bool", "int", "int64", "uint", "uint64", "float64":
			if json.Valid([]byte(text)) { // NaN is not
				out[f.Name] = json.RawMessage(text)
			}
		}
	})
	return out
}

// setFrom sets a flag that the command line leaves open from the environment or
// from awo.yaml.
func setFrom(f *pflag.Flag, config section) error {
	if f.Changed || f.Name == "update" { // which overwrites: only the command line says so
		return nil
	}
	name := environmentName(f.Name)
	if text := os.Getenv(name); text != "" {
		if err := setFlag(f, splitList(f, text)); err != nil {
			return Usagef("%s: %q is not %s", name, text, Wanted(f.Value))
		}
		return nil
	}
	if texts, ok := config.values[f.Name]; ok {
		if refused := config.refusal(f, texts); refused != nil {
			return refused
		}
		if err := setFlag(f, texts); err != nil {
			return diag.New(config.positions[f.Name], "config-value", "`%s` wants %s", f.Name, Wanted(f.Value))
		}
		if config.set != nil && f.Value.String() != f.DefValue {
			*config.set = append(*config.set, f.Name+" "+strings.Join(texts, ","))
		}
	}
	return nil
}

// environmentName returns the name of the environment variable for a flag.
func environmentName(flag string) string {
	return "AWO_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// splitList splits the text of an environment variable at commas, if the flag
// takes several values.
func splitList(f *pflag.Flag, text string) []string {
	if _, ok := f.Value.(pflag.SliceValue); ok {
		return strings.Split(text, ",")
	}
	return []string{text}
}

func setFlag(f *pflag.Flag, texts []string) error {
	if list, ok := f.Value.(pflag.SliceValue); ok {
		return list.Replace(texts)
	}
	return f.Value.Set(strings.Join(texts, ","))
}

// Reveals reports whether a setting of that name shows more of the traces than a command
// does by itself, or takes away what is not awo's. What may come from somebody else, a manifest or an awo.yaml that
// happens to be there, cannot set it.
func Reveals(name string) bool { return name == "show-values" || name == "force" }

// Reaches reports whether a setting of that name starts a program, sends what is in traces
// somewhere, or lets others in. What may come from somebody else cannot set it either.
func Reaches(name string) bool {
	return slices.Contains([]string{"command", "model", "servers", "listen", "origins"}, name)
}

// NamesFile reports whether the value of a flag is the name of a file or folder, or may
// be one.
func NamesFile(f *pflag.Flag) bool {
	name, usage := pflag.UnquoteUsage(f)
	return strings.HasPrefix(name, "FILE") || name == "FOLDER" || name == "DIR" || strings.Contains(usage, "@FILE")
}

// InEnvironment reports whether the environment sets a flag.
func InEnvironment(f *pflag.Flag) bool { return os.Getenv(environmentName(f.Name)) != "" }

// sayConfigured says what a file of settings changed that happens to be in the folder.
// Only --quiet itself keeps that from being said, not a line of the file.
func (a *App) sayConfigured(c *cobra.Command) {
	quiet := c.Flag("quiet")
	if len(a.configured) == 0 || quiet.Changed && quiet.Value.String() == "true" || InEnvironment(quiet) {
		return
	}
	fmt.Fprintf(a.Stderr, "awo: settings from %s: %s\n", defaultConfig, report.Escape(strings.Join(a.configured, "; ")))
}

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
