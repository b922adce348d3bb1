package rulefile

import (
	"bytes"
	"strings"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/emit"
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

Flags show rules in other ways. --explain ID --call N says what each stage of the rules
made of one recorded call: every rule that matches it, with what was there before and
after, the step that came out, and the states that it leads from and to, numbered as by
awo graph. --diff OLD merges the same traces under the rules OLD and under these, and says
how states, the cost of the next call and chains of calls differ. --fmt formats rule files
and keeps their comments: print writes to the standard output, write replaces the files,
check prints the names of files that are not formatted, with exit code 1. --builtin NAME
prints a set of rules that comes with awo, and --schema the JSON Schema of rule files, for
editors.

Argument values are shown as ordinals such as ‹v1›; --show-values shows them.

` + cli.FilesHelp,
		Example: `  awo rules check rules.yaml traces/
  awo rules check rules/*.yaml --format json --fail-on warning
  awo rules check rules.yaml traces/ --explain run-17 --call 3
  awo rules check new.yaml traces/ --diff rules.yaml
  awo rules check rules/*.yaml --fmt write
  awo rules check --builtin sql > rules.yaml
  awo rules check --schema > rules.schema.json`,
	}
	cli.Uses(c, cli.UseTraces)
	f := c.Flags()
	f.Var(cli.NewChoice("error", "warning"), "fail-on", "the lowest severity that makes the exit code 1")
	f.String("explain", "", "say what the rules made of a call of the trajectory with this `ID`")
	f.Int("call", 1, "with --explain: the `N`th call, from 1, calls that rules drop included")
	f.String("diff", "", "say what these rules change on the traces, compared with the rules in this `FILE`")
	f.Var(cli.NewChoice("no", "print", "write", "check"), "fmt", "format the rule files")
	f.Var(cli.NewChoice(append([]string{""}, builtinNames()...)...), "builtin", "print the set of rules with this `NAME`")
	f.Bool("schema", false, "print the JSON Schema of rule files")
	return cli.Work(a, c, checkRules)
}

// checkOptions are the flags of `awo rules check`.
type checkOptions struct {
	FailOn  string `mapstructure:"fail-on"`
	Explain string `mapstructure:"explain"`
	Call    int    `mapstructure:"call"`
	Diff    string `mapstructure:"diff"`
	Fmt     string `mapstructure:"fmt"`
	Builtin string `mapstructure:"builtin"`
	Schema  bool   `mapstructure:"schema"`
}

// checkFigures are those of `awo rules check`.
type checkFigures struct {
	Input    cli.InputJSON    `json:"input,omitzero"` // not without traces
	Problems cli.ProblemsJSON `json:"problems"`       // of all files
}

// checkedFile is a rule file that was read.
type checkedFile struct {
	File  string `json:"file"`
	Rules int    `json:"rules"` // well-formed ones, those of included files too
}

// ruleUsage is what a rule did to the calls of the traces.
type ruleUsage struct {
	File    string `json:"file"`
	Rule    string `json:"rule"`
	Kind    string `json:"kind"`
	Matched int    `json:"matched"` // steps, and calls that became none
	Decided int    `json:"decided"` // of those, on which it changed something or had the last word
}

// problem is a diag.Error for scripts. Its file may be an included one.
type problem struct {
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
	switch {
	case o.Schema:
		j.Printf("%s", rules.Schema())
		return nil
	case o.Builtin != "":
		for _, b := range rules.Builtins() {
			if b.Name == o.Builtin {
				j.Printf("%s", b.Source)
			}
		}
		return nil
	case len(args) == 0:
		return cli.Usagef("`awo %s` wants rule files; - is the standard input", j.Command)
	case o.Fmt != "no":
		return formatRules(j, o, args)
	case o.Explain != "":
		return explainRules(j, o, args)
	case o.Diff != "":
		return diffRules(j, o, args)
	}
	j.Problems.Unlimited = true // a person wrote each line of these files
	files, traces := splitRules(args)
	checked := make([]checkedRules, len(files))
	for i, file := range files {
		checked[i].set, checked[i].problems = j.ReadRules(file)
		if len(traces) > 0 && checked[i].set != nil {
			checked[i].usage = merge.NewUsage(checked[i].set)
		}
	}
	var out checkFigures
	if len(traces) > 0 {
		input, err := useRules(j, checked, o, traces)
		if err != nil {
			return err
		}
		out.Input = *input
	}
	var read []checkedFile
	var problems []problem
	var usage []ruleUsage
	warned := false
	for i, file := range files {
		c := &checked[i]
		one := checkedFile{File: file}
		if c.set != nil {
			one.Rules = len(c.set.Rules)
		}
		if c.usage != nil {
			c.problems = append(c.problems, ruleFindings(c.set, c.usage)...)
			c.problems.Sort()
			for _, u := range c.usage.Rules() {
				usage = append(usage, ruleUsage{file, u.Rule.ID, u.Rule.Kind.String(), u.Matched, u.Decided})
			}
		}
		for _, e := range c.problems {
			j.Problems.Add(e)
			problems = append(problems, problem{e.Pos, e.Severity.String(), e.Code, e.Msg, e.Notes})
			warned = true
		}
		read = append(read, one)
	}
	all := j.Problems.All()
	out.Problems = cli.ProblemsJSON{Total: all.Total, ByCode: all.ByCode}
	if j.Format != report.FormatText { // as text the problems have been printed
		d := &report.Document{Figures: out}
		d.Add(report.TableOf("problems", "", problems, []report.Column{
			{Key: "file"}, {Key: "line"}, {Key: "col", Title: "column"}, {Key: "severity", Words: true}, {Key: "code", Words: true}, {Key: "message", Wrap: true, Words: true},
		}), report.TableOf("files", "", read, nil).Hidden(), report.TableOf("usage", "", usage, nil).Hidden())
		if err := j.Result(d); err != nil {
			return err
		}
	}
	if warned && o.FailOn == "warning" {
		return cli.ErrProblems
	}
	return nil
}

func builtinNames() []string {
	var names []string
	for _, b := range rules.Builtins() {
		names = append(names, b.Name)
	}
	return names
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
	in, err := j.Intake(traces, trace.Options{})
	if err != nil {
		return nil, err
	}
	var each []func(*trace.Trajectory)
	for i := range checked {
		if checked[i].usage != nil {
			each = append(each, checked[i].usage.Add)
		}
	}
	if err := in.Each(each...); err != nil {
		return nil, err
	}
	input := in.JSON()
	return &input, nil
}

// minPatternValues is on how many different values a pattern must fit before it
// is said to take everything: fewer may be alike by accident.
const minPatternValues = 5

// anyTexts are texts that have nothing in common. A pattern that takes all of
// them whole takes any text of one line.
var anyTexts = []string{"a", "0", "Zoë, 9 (x)", "{\"k\": [1.5]}", "-_/", "2024-05-15T10:00:00Z"}

// ruleFindings are warnings about rules of the file itself that the traces show
// no need for. Rules of included files are left out: a set that many share has
// rules for calls that these traces lack.
func ruleFindings(set *rules.Set, usage *merge.Usage) diag.List {
	var found diag.List
	if usage.Steps() == 0 {
		return found // traces without a call say nothing
	}
	tools := usage.Tools()
	for _, u := range usage.Rules() {
		r := u.Rule
		if r.Pos.File != set.File {
			continue
		}
		misspelt := cli.MisspeltTools(r, tools)
		switch {
		case u.Matched == 0 && len(misspelt) > 0:
			found = append(found, diag.Warn(r.FieldPos("match"), "rule-unused", "this rule matches none of %s in the traces: %s", cli.CountOf(usage.Steps(), "call"), misspelt[0]))
		case u.Matched == 0:
			found = append(found, diag.Warn(r.FieldPos("match"), "rule-unused", "this rule matches none of %s in the traces", cli.CountOf(usage.Steps(), "call")))
		case len(misspelt) > 0:
			found = append(found, diag.Warn(r.FieldPos("match"), "rule-tool-unknown", "%s", strings.Join(misspelt, "; ")))
		case u.Decided == 0 && u.OverruledBy != nil:
			e := diag.Warn(r.Pos, "rule-overruled", "this rule decides nothing in the traces: later rules of kind %s match all %s that it matches, and the last one wins", r.Kind, cli.CountOf(u.Matched, "call"))
			found = append(found, e.Note(u.OverruledBy.Pos, "by %s, for one", u.OverruledBy.ID))
		case u.Decided == 0:
			found = append(found, diag.Warn(r.Pos, "rule-idle", "this rule matches %s in the traces and changes none of them", cli.CountOf(u.Matched, "call")))
		case takesAll(r) && u.Matched == usage.Steps():
			found = append(found, diag.Warn(r.FieldPos("match"), "rule-matches-all", "this rule matches every call in the traces, all %s: what holds for every call tells no states apart", report.Grouped(u.Matched)))
		}
		for _, p := range u.Patterns {
			found = append(found, patternFinding(r, p)...)
		}
	}
	return found
}

// takesAll reports whether a rule of this kind should not be about all calls.
func takesAll(r *rules.Rule) bool {
	switch r.Kind {
	case rules.KindDrop, rules.KindDomain, rules.KindBarrier, rules.KindCommute, rules.KindPlumbing:
		return r.DomainFrom == nil
	case rules.KindEffect:
		return r.Effect != rules.Mutator || r.Idempotent
	}
	return false
}

// patternFinding is a warning about a pattern that takes everything.
func patternFinding(r *rules.Rule, p merge.PatternUsage) diag.List {
	if p.Values < minPatternValues || p.Fit < p.Values {
		return nil
	}
	if p.Field == "pattern" {
		for _, text := range anyTexts {
			if at := r.Pattern.FindStringIndex(text); at == nil || at[0] > 0 || at[1] < len(text) {
				return nil
			}
		}
		return diag.List{diag.Warn(r.FieldPos("pattern"), "rule-pattern-all", "this pattern takes every text whole, %s in the traces: what the argument says no longer tells calls apart", cli.CountOf(p.Values, "different value"))}
	}
	return diag.List{diag.Warn(r.FieldPos("match.args"), "rule-pattern-all", "the pattern for %s is found in each of the %s in the traces, so it leaves out no call", p.Field, cli.CountOf(p.Values, "different value"))}
}

// formatRules is `awo rules check --fmt`.
func formatRules(j *cli.Job, o checkOptions, files []string) error {
	replace, check := o.Fmt == "write", o.Fmt == "check"
	switch {
	case j.Format != report.FormatText:
		return cli.Usagef("--format: rule files have a format of their own")
	case !replace && !check && len(files) > 1:
		return cli.Usagef("%d files: --fmt print writes one, to the standard output", len(files))
	}
	j.Problems.Unlimited = true
	unformatted := 0
	for _, file := range files {
		if replace && file == "-" {
			return cli.Usagef("--fmt write: the standard input cannot be replaced")
		}
		src, err := j.ReadFile(file)
		if err != nil {
			j.Problems.Add(cli.FileProblem(file, err))
			continue
		}
		out, err := rules.Format(file, src)
		if err != nil {
			j.Problems.AddAll(err)
			continue
		}
		switch {
		case check && !bytes.Equal(src, out):
			j.Printf("%s\n", report.Escape(file))
			unformatted++
		case check, replace && bytes.Equal(src, out):
		case replace:
			if err := cli.WriteOver(file, out, emit.ReplaceAny); err != nil {
				return err
			}
			j.Log.Debug("a file was formatted", "file", file)
		default:
			j.Printf("%s", out)
		}
	}
	if unformatted > 0 {
		return cli.ErrProblems
	}
	return nil
}

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
