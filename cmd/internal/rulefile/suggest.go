package rulefile

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/merge/evidence"
	"github.com/awo-dev/awo/merge/suggest"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
	"github.com/spf13/cobra"
)

// suggestOptions are the flags of `awo rules suggest`.
type suggestOptions struct {
	cli.InputOptions  `mapstructure:",squash"`
	MaxContradictions float64 `mapstructure:"max-contradictions"`
	Folds             int     `mapstructure:"folds"`
}

func newSuggest(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "suggest FILES...",
		Short: "Propose rules for traces, each with what speaks for and against it",
		Long: `Propose a rule file for traces: which tools read or note, which arguments hold
ids, dates and the like, which reads page, which writes are about different parts
of the world. A rule is proposed if the traces give a reason for it, if it makes
the graph smaller, if the next call is predicted no worse on tasks that were not
seen, and if no trace contradicts it. What was tried and left out follows as
comments. The file holds no values of arguments.

The rules are a first draft: read them, and ask other traces with
` + "`awo rules verify`" + `. A tool that nothing speaks for is taken for a write.

` + cli.FilesHelp,
		Example: `  awo rules suggest traces/ > rules.yaml
  awo rules suggest traces/ --sample 5000 --format json`,
		Args: cli.SomeFiles,
	}
	f := c.Flags()
	cli.AddInput(f)
	f.Float64("max-contradictions", 0.01, "the largest share of observations that may speak against a rule, from 0 to 1")
	f.Int("folds", 10, "parts that the tasks are divided into for the held-out loss")
	return cli.Work(a, c, suggestRules)
}

// SuggestionJSON is the JSON of `awo rules suggest`; docs/artefacts.md describes
// it.
type SuggestionJSON struct {
	Schema string              `json:"schema"`
	Input  cli.InputJSON       `json:"input"`
	YAML   string              `json:"yaml"` // the rule file
	Before sizeJSON            `json:"before"`
	After  sizeJSON            `json:"after"`
	Rules  []suggestedRuleJSON `json:"rules"`
	Left   []leftRuleJSON      `json:"left_out"`
	Unread int                 `json:"trajectories_beyond_memory"`
}

type sizeJSON struct {
	States int         `json:"states"`
	Bits   stat.Figure `json:"bits"` // held out, a call, given the state; mean over four partitions
}

type suggestedRuleJSON struct {
	ID             string   `json:"id"`
	Kind           string   `json:"kind"`
	Basis          string   `json:"basis"`
	Tools          []string `json:"tools"` // globs
	Argument       string   `json:"argument"`
	Calls          int      `json:"calls"`
	Trajectories   int      `json:"trajectories"`
	For            int      `json:"observations_for"`
	Against        int      `json:"observations_against"`
	Before         sizeJSON `json:"before"`
	After          sizeJSON `json:"after"`
	States         int      `json:"states"`
	Tested         int      `json:"tested_states"`
	Checks         int      `json:"checks"`
	Contradictions int      `json:"contradictions"`
}

type leftRuleJSON struct {
	Kind     string   `json:"kind"`
	Tools    []string `json:"tools"`
	Argument string   `json:"argument"`
	Basis    string   `json:"basis"`
	Reason   string   `json:"reason"`
}

func suggestRules(j *cli.Job, o suggestOptions, files []string) error {
	if !(o.MaxContradictions >= 0 && o.MaxContradictions <= 1) {
		return cli.Usagef("--max-contradictions: %g is not between 0 and 1", o.MaxContradictions)
	}
	if o.Folds < 2 {
		return cli.Usagef("--folds: %d is less than 2", o.Folds)
	}
	in, err := j.Intake(files, o.InputOptions, trace.Options{})
	if err != nil {
		return err
	}
	defer in.Close()
	suggester := suggest.NewSuggester(suggest.Options{Tolerance: o.MaxContradictions, Folds: o.Folds, Seed: o.Seed})
	for t, err := range in.All() {
		if err != nil {
			return err
		}
		suggester.Add(t)
	}
	found := suggester.Suggest()
	source, err := suggestedFile(found)
	if err != nil {
		return err
	}
	if j.Format == report.FormatText {
		j.Progress.Done()
		j.Printf("%s", source)
		return nil
	}
	out := suggestion(in, found, source)
	return j.Print(suggestionDocument(in, out), out)
}

// suggestedFile is the suggestions as a rule file, laid out as all are.
func suggestedFile(found *suggest.Suggestions) ([]byte, error) {
	var b strings.Builder
	comment := func(indent, format string, args ...any) {
		fmt.Fprintf(&b, "%s# %s\n", indent, report.Escape(fmt.Sprintf(format, args...)))
	}
	comment("", "Rules that awo suggests for %s with %s: a draft to be read.", cli.CountOf(found.Trajectories, "trajectory"), cli.CountOf(found.Calls, "call"))
	comment("", "The graph of states: %s without rules, %s with these.", sizeText(found.Before), sizeText(found.After))
	comment("", "Bits are the held-out cost of the next call given the state, the mean over four partitions of the tasks; the rules were chosen by it.")
	if found.LeftOut > 0 {
		comment("", "Not looked at, for want of memory: %s. --sample looks at a random part of all.", cli.CountOf(found.LeftOut, "trajectory"))
	}
	b.WriteString("version: 1\n\n")
	if len(found.Rules) == 0 {
		b.WriteString("rules: []\n")
	} else {
		b.WriteString("rules:\n")
	}
	for i := range found.Rules {
		s := &found.Rules[i]
		e := &s.Evidence
		comment("  ", "Why: %s. %s of %s in at least %s; %s for it, %s against.", s.Basis,
			cli.CountOf(s.Calls, "call"), cli.CountOf(len(s.Rule.Match.Tools), "pattern"), cli.CountOf(s.Trajectories, "trajectory"), cli.CountOf(s.For, "observation"), report.Grouped(s.Against))
		comment("  ", "With the rules above: %s become %s.", sizeText(s.Before), sizeText(s.After))
		tested := "untested: nothing in these traces would show if it were wrong"
		if e.Checks > 0 {
			tested = fmt.Sprintf("%s, %s (95 %% interval %.1f to %.1f %%)", cli.CountOf(e.Checks, "check"), cli.CountOf(e.Contradictions, "contradiction"), 100*e.Rate.Interval.Lo, 100*e.Rate.Interval.Hi)
		}
		comment("  ", "Joins %s, of which %s tested; %s.", cli.CountOf(e.States, "state"), report.Grouped(e.Tested), tested)
		writeRule(&b, s.Rule)
	}
	if len(found.Left) > 0 {
		b.WriteString("\n")
		comment("", "Tried and left out:")
	}
	for i := range found.Left {
		l := &found.Left[i]
		comment("", "- %s: %s.%s", leftText(l), l.Reason, exampleText(found, l.Evidence.Examples))
	}
	source, err := rules.Format("suggested rules", []byte(b.String()))
	if err != nil {
		return nil, errors.Join(errors.New("the suggested rules are not well formed; please report this"), err)
	}
	if _, err := rules.Parse("suggested rules", source); err != nil {
		return nil, errors.Join(errors.New("the suggested rules are not well formed; please report this"), err)
	}
	return source, nil
}

func sizeText(s suggest.Size) string {
	if math.IsNaN(s.Bits) {
		return cli.CountOf(s.States, "state")
	}
	return fmt.Sprintf("%s and %.3f bits", cli.CountOf(s.States, "state"), s.Bits)
}

// leftText names a rule that has no id.
func leftText(l *suggest.Left) string {
	text := l.Rule.Kind.String()
	if l.Rule.Kind == rules.KindEffect {
		text += " " + l.Rule.Effect.String()
	}
	if len(l.Rule.Match.Arg) > 0 {
		text += " of " + l.Rule.Match.Arg.String()
	}
	return text + " (" + l.Basis + ") for " + shortList(globs(l.Rule))
}

// exampleText names the calls of the first counter-example.
func exampleText(found *suggest.Suggestions, examples []evidence.CounterExample) string {
	if len(examples) == 0 {
		return ""
	}
	x := examples[0]
	return fmt.Sprintf(" Call %d of %s and call %d of %s should have returned the same.",
		x.First.Call+1, found.Runs[x.First.Run].ID, x.Second.Call+1, found.Runs[x.Second.Run].ID)
}

func globs(r *rules.Rule) []string {
	var out []string
	for _, g := range r.Match.Tools {
		out = append(out, g.String())
	}
	return out
}

// writeRule writes one rule as an element of `rules:`.
func writeRule(b *strings.Builder, r *rules.Rule) {
	fmt.Fprintf(b, "  - id: %s\n    kind: %s\n    match: {tool: %s", scalar(r.ID), r.Kind, sequence(globs(r)))
	if len(r.Match.Arg) > 0 {
		b.WriteString(", arg: " + scalar(r.Match.Arg.String()))
	}
	b.WriteString("}\n")
	switch r.Kind {
	case rules.KindEffect:
		fmt.Fprintf(b, "    effect: %s\n", r.Effect)
	case rules.KindRewrite:
		fmt.Fprintf(b, "    pattern: %s\n    with: %s\n", scalar(r.Pattern.String()), scalar(r.With))
	case rules.KindDomain:
		fmt.Fprintf(b, "    domain: %s\n", scalar(r.Domain))
	case rules.KindLoop:
		if len(r.IgnoreArgs) > 0 {
			var paths []string
			for _, p := range r.IgnoreArgs {
				paths = append(paths, p.String())
			}
			fmt.Fprintf(b, "    ignore_args: [%s]\n", scalars(paths))
		}
	}
	b.WriteString("\n")
}

func sequence(texts []string) string {
	if len(texts) == 1 {
		return scalar(texts[0])
	}
	return "[" + scalars(texts) + "]"
}

func scalars(texts []string) string {
	var quoted []string
	for _, t := range texts {
		quoted = append(quoted, scalar(t))
	}
	return strings.Join(quoted, ", ")
}

// plainScalar are texts that no reader of YAML takes for anything else, the
// words of yamlWords aside.
var plainScalar = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_*-]*$`)

var yamlWords = []string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}

// scalar writes a text so that every reader of YAML reads it back.
func scalar(text string) string {
	printable := !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
	switch {
	case plainScalar.MatchString(text) && !slices.Contains(yamlWords, strings.ToLower(text)):
		return text
	case printable:
		return "'" + strings.ReplaceAll(text, "'", "''") + "'"
	}
	return strconv.QuoteToASCII(text)
}

func suggestion(in *cli.Intake, found *suggest.Suggestions, source []byte) SuggestionJSON {
	return SuggestionJSON{
		Schema: "awo.rules-suggestion/v1", Input: in.JSON(), YAML: string(source), Unread: found.LeftOut, Before: sizeOf(found.Before), After: sizeOf(found.After),
		Rules: cli.Map(found.Rules, func(s *suggest.Suggestion) suggestedRuleJSON {
			return suggestedRuleJSON{
				ID: s.Rule.ID, Kind: s.Rule.Kind.String(), Basis: s.Basis, Tools: globs(s.Rule), Argument: s.Rule.Match.Arg.String(),
				Calls: s.Calls, Trajectories: s.Trajectories, For: s.For, Against: s.Against, Before: sizeOf(s.Before), After: sizeOf(s.After),
				States: s.Evidence.States, Tested: s.Evidence.Tested, Checks: s.Evidence.Checks, Contradictions: s.Evidence.Contradictions,
			}
		}),
		Left: cli.Map(found.Left, func(l *suggest.Left) leftRuleJSON {
			return leftRuleJSON{l.Rule.Kind.String(), globs(l.Rule), l.Rule.Match.Arg.String(), l.Basis, l.Reason}
		}),
	}
}

func sizeOf(s suggest.Size) sizeJSON {
	return sizeJSON{s.States, stat.Of(s.Bits, "a held-out loss needs at least two tasks with calls")}
}

func suggestionDocument(in *cli.Intake, out SuggestionJSON) *report.Document {
	d := &report.Document{Title: "Suggested rules"}
	d.Add(in.Summary())
	table := report.TableOf("suggested-rules", "", out.Rules, []report.Column{
		{Key: "rule", From: "id"},
		{Key: "kind", Words: true},
		{Key: "tools", Wrap: true},
		{Key: "why", From: "basis", Wrap: true, Words: true},
		{Key: "for", From: "observations_for"},
		{Key: "against", From: "observations_against"},
		{Key: "states", From: "after.states"},
		{Key: "bits", From: "after.bits", Title: "held-out bits a call", Digits: 3},
		{Key: "checks"},
		{Key: "contradictions"},
	})
	table.Note("States and bits are those with this rule and all above it; without rules they are %s and %s.",
		report.Grouped(out.Before.States), bitsText(out.Before.Bits))
	d.Add(table, report.TableOf("left-out", "Tried and left out", out.Left, []report.Column{
		{Key: "kind", Words: true}, {Key: "tools", Wrap: true}, {Key: "argument"}, {Key: "reason", Wrap: true, Words: true},
	}))
	d.Section("The rule file", report.Code{Language: "yaml", Text: out.YAML})
	return d
}

func bitsText(f stat.Figure) string {
	if v, ok := f.Value(); ok {
		return fmt.Sprintf("%.3f", v)
	}
	return "unknown"
}
