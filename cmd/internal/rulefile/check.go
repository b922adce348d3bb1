package rulefile

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

func newCheck(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "check RULES... [TRACES...]",
		Short: "Report everything that is wrong with rule files, all at once",
		Long: `Read rule files and the files they include, and report every mistake with its
place. With traces also report, as warnings, what the rules of these files say and
the traces show no need for: rules that match no call, rules that change nothing,
rules that later ones always overrule, and patterns that take everything.

The first argument is a rule file, and so is every other one that ends in .yaml or
.yml; what else is named are traces.

Without a problem nothing is printed and the exit code is 0. Mistakes make it 1;
warnings alone do so only with --fail-on warning.

` + cli.FilesHelp,
		Example: `  awo rules check rules.yaml
  awo rules check rules.yaml traces/
  awo rules check rules/*.yaml --format json --fail-on warning
  awo rules check - < rules.yaml`,
		Args: cli.SomeFiles,
	}
	cli.AddInput(c.Flags())
	c.Flags().Var(cli.NewChoice("error", "warning"), "fail-on", "the lowest severity that makes the exit code 1")
	return cli.Work(a, c, checkRules)
}

// checkOptions are the flags of `awo rules check`.
type checkOptions struct {
	cli.InputOptions `mapstructure:",squash"`
	FailOn           string `mapstructure:"fail-on"`
}

// CheckJSON is the JSON of `awo rules check`.
type CheckJSON struct {
	Schema   string             `json:"schema"`
	Files    []checkedRulesJSON `json:"files"`
	Input    *cli.InputJSON     `json:"input"`    // null without traces
	Problems cli.ProblemsJSON   `json:"problems"` // of all files
}

type checkedRulesJSON struct {
	File     string          `json:"file"`
	Rules    int             `json:"rules"` // well-formed ones, those of included files too
	Problems []problemJSON   `json:"problems"`
	Usage    []ruleUsageJSON `json:"usage"` // by rule; empty without traces
}

// ruleUsageJSON is what a rule did to the calls of the traces.
type ruleUsageJSON struct {
	Rule    string `json:"rule"`
	Kind    string `json:"kind"`
	Matched int    `json:"matched"` // steps, and calls that became none
	Decided int    `json:"decided"` // of those, on which it changed something or had the last word
}

// problemJSON is a diag.Error for scripts. Its file may be an included one.
type problemJSON struct {
	diag.Pos
	Severity string      `json:"severity"`
	Code     string      `json:"code"`
	Message  string      `json:"message"`
	Notes    []diag.Note `json:"notes"`
}

// checkedRules is one rule file and what was found in it.
type checkedRules struct {
	set      *rules.Set
	problems diag.List
	usage    *merge.Usage // nil without traces
}

func checkRules(j *cli.Job, o checkOptions, args []string) error {
	j.Problems.Unlimited = true // a person wrote each line of these files
	files, traces := splitRules(args)
	checked := make([]checkedRules, len(files))
	for i, file := range files {
		checked[i].set, checked[i].problems = j.ReadRules(file)
		if len(traces) > 0 && checked[i].set != nil {
			checked[i].usage = merge.NewUsage(checked[i].set)
		}
	}
	out := CheckJSON{Schema: "awo.rules-check/v1"}
	if len(traces) > 0 {
		input, err := useRules(j, checked, o, traces)
		if err != nil {
			return err
		}
		out.Input = input
	}
	warned := false
	for i, file := range files {
		c := &checked[i]
		if c.usage != nil {
			c.problems = append(c.problems, ruleFindings(c.set, c.usage)...)
			c.problems.Sort()
		}
		for _, e := range c.problems {
			j.Problems.Add(e)
			warned = true
		}
		out.Files = append(out.Files, c.json(file))
	}
	all := j.Problems.All()
	out.Problems = cli.ProblemsJSON{Total: all.Total, ByCode: all.ByCode}
	if j.Format != report.FormatText { // as text the problems have been printed
		if err := j.Print(checkDocument(out), out); err != nil {
			return err
		}
	}
	if warned && o.FailOn == "warning" {
		return cli.ErrProblems
	}
	return nil
}

// splitRules tells rule files from traces: traces are never YAML.
func splitRules(args []string) (files, traces []string) {
	files = args[:1:1]
	for _, arg := range args[1:] {
		if strings.HasSuffix(arg, ".yaml") || strings.HasSuffix(arg, ".yml") {
			files = append(files, arg)
		} else {
			traces = append(traces, arg)
		}
	}
	return files, traces
}

// useRules counts what the rules do to traces.
func useRules(j *cli.Job, checked []checkedRules, o checkOptions, traces []string) (*cli.InputJSON, error) {
	in, err := j.Intake(traces, o.InputOptions, trace.Options{})
	if err != nil {
		return nil, err
	}
	defer in.Close()
	for t, err := range in.All() {
		if err != nil {
			return nil, err
		}
		for i := range checked {
			if checked[i].usage != nil {
				checked[i].usage.Add(t)
			}
		}
	}
	input := in.JSON()
	return &input, nil
}

func (c *checkedRules) json(file string) checkedRulesJSON {
	out := checkedRulesJSON{File: file, Problems: cli.Map(c.problems, func(e **diag.Error) problemJSON {
		return problemJSON{(*e).Pos, (*e).Severity.String(), (*e).Code, (*e).Msg, (*e).Notes}
	})}
	if c.set != nil {
		out.Rules = len(c.set.Rules)
	}
	if c.usage != nil {
		out.Usage = cli.Map(c.usage.Rules(), func(u *merge.RuleUsage) ruleUsageJSON {
			return ruleUsageJSON{u.Rule.ID, u.Rule.Kind.String(), u.Matched, u.Decided}
		})
	}
	return out
}

func checkDocument(out CheckJSON) *report.Document {
	var all []problemJSON
	for _, f := range out.Files {
		all = append(all, f.Problems...)
	}
	var d report.Document
	d.Add(report.TableOf("problems", "", all, []report.Column{
		{Key: "file", File: true}, {Key: "line"}, {Key: "col", Title: "column"}, {Key: "severity", Words: true}, {Key: "code", Words: true}, {Key: "message", Wrap: true, Words: true},
	}))
	return &d
}
