package rulefile

import (
	"fmt"
	"math"
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
	MaxContradictions float64 `mapstructure:"max-contradictions"`
	Explain           bool    `mapstructure:"explain"`
	Effects           bool    `mapstructure:"effects"`
	Out               string  `mapstructure:"out"`
}

func newSuggest(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "suggest TRACES...",
		Short: "Propose rules for traces, each with its evidence",
		Long: `Propose a rule file for traces: which results are failures, which tools read or
note, which arguments hold ids, dates and the like, which reads page, which writes
are about different parts of the world, which command lines only read, which urls are
one action, and which results are only passed on. A rule is proposed if the traces
give a reason for it; one that moves states also has to make the graph smaller, to
predict the next call no worse on tasks that were not seen, and to be contradicted by
no trace. The file holds no values of arguments, but words in urls that tasks share.

One comment a rule says what speaks for it; --explain says all that was measured, and
what was tried and rejected. --out writes the rules into a file. --rules goes on from a rule file: its rules stand, and
what they speak of is left alone. --effects proposes only what each tool does, also by its name alone: what a
recommendation takes for granted, for you to confirm.

The rules are a first draft: read them, and ask other traces with
` + "`awo rules verify`" + `. A tool that nothing speaks for is taken for a write.

` + cli.FilesHelp,
		Example: `  awo rules suggest traces/
  awo rules suggest traces/ --out rules.yaml
  awo rules suggest traces/ --rules rules.yaml --explain
  awo rules suggest traces/ --effects --out effects.yaml
  awo rules suggest traces/ --sample 5000 --format json`,
		Args: cli.SomeFiles,
	}
	cli.Uses(c, cli.UseTraces, cli.UseRules)
	f := c.Flags()
	f.Bool("explain", false, "say all that was measured of each rule, and what was rejected")
	f.Bool("effects", false, "propose only what tools do, also by their names alone")
	f.String("out", "", "write the rules into this `FILE`")
	cli.Share(f, "max-contradictions", 0.01, false, "the largest share of observations that may contradict a rule, from 0 to 1")
	return cli.Work(a, c, suggestRules)
}

// suggestFigures are those of `awo rules suggest`.
type suggestFigures struct {
	Input  cli.InputJSON `json:"input"`
	YAML   string        `json:"yaml"` // the rule file
	Before size          `json:"before"`
	After  size          `json:"after"`
	Unread int           `json:"trajectories_beyond_memory"`
}

type size struct {
	States int         `json:"states"`
	Bits   stat.Figure `json:"bits"` // held out, a call, given the state; mean over four partitions
}

type suggestedRule struct {
	ID             string   `json:"id"`
	Kind           string   `json:"kind"`
	Basis          string   `json:"basis"`
	Tools          []string `json:"tools"` // globs
	Argument       string   `json:"argument"`
	Calls          int      `json:"calls"`
	Trajectories   int      `json:"trajectories"`
	For            int      `json:"observations_for"`
	Against        int      `json:"observations_against"`
	Of             int      `json:"observations_of"` // values at the place of a rewrite, results of the tools of a status rule; 0 for other kinds
	Before         size     `json:"before"`
	After          size     `json:"after"`
	States         int      `json:"states"`
	Tested         int      `json:"tested_states"`
	Checks         int      `json:"checks"`
	Contradictions int      `json:"contradictions"`
}

type leftRule struct {
	Kind     string   `json:"kind"`
	Tools    []string `json:"tools"`
	Argument string   `json:"argument"`
	Basis    string   `json:"basis"`
	Reason   string   `json:"reason"`
}

func suggestRules(j *cli.Job, o suggestOptions, files []string) error {
	in, err := j.Intake(files, trace.Options{})
	if err != nil {
		return err
	}
	in.Statuses = nil // the built-in patterns are what status rules are drafted from
	suggester := suggest.NewSuggester(suggest.Options{Rules: j.Set, Tolerance: o.MaxContradictions, Folds: heldOutFolds, Seed: j.Seed, Effects: o.Effects})
	if err := in.Each(suggester.Add); err != nil {
		return err
	}
	found := suggester.Suggest()
	source, err := suggestedFile(found, o, j.RuleFile, j.ReadFile)
	if err != nil {
		return err
	}
	if o.Out != "" {
		if err := j.WriteFile(o.Out, source); err != nil {
			return err
		}
	}
	if j.Format == report.FormatText {
		j.Progress.Done()
		if o.Out != "" {
			j.Printf("%s for %s: %s become %s. Read them, and ask other traces with `awo rules verify`.\n", cli.CountOf(len(found.Rules), "rule"),
				cli.CountOf(found.Trajectories, "trajectory"), cli.CountOf(found.Before.States, "state"), report.Grouped(found.After.States))
			return nil
		}
		j.Printf("%s", source)
		return nil
	}
	return j.Result(suggestionDocument(in, found, source))
}

// suggestedFile is the suggestions as a rule file, laid out as all are.
func suggestedFile(found *suggest.Suggestions, o suggestOptions, base string, load func(string) ([]byte, error)) ([]byte, error) {
	var b draft
	b.comment("", "Rules that awo suggests for %s with %s: a draft to be read.", cli.CountOf(found.Trajectories, "trajectory"), cli.CountOf(found.Calls, "call"))
	without := "without rules"
	if base != "" {
		without = "with the rules to go on from"
	}
	b.comment("", "The graph of states: %s %s, %s with these.", sizeText(found.Before), without, sizeText(found.After))
	if o.Explain {
		b.comment("", "Bits are the held-out cost of the next call given the state, the mean over four partitions of the tasks; the rules were chosen by it.")
	}
	if found.LeftOut > 0 {
		b.comment("", "Not looked at, for want of memory: %s. --sample looks at a random part of all.", cli.CountOf(found.LeftOut, "trajectory"))
	}
	b.begin(base, len(found.Rules))
	for i := range found.Rules {
		s := &found.Rules[i]
		b.comment("  ", "Why: %s", reasonText(s))
		if e := &s.Evidence; o.Explain && e.Moves {
			b.comment("  ", "With the rules above: %s become %s.", sizeText(s.Before), sizeText(s.After))
			tested := "untested: nothing in these traces would show if it were wrong"
			if e.Checks > 0 {
				tested = fmt.Sprintf("%s, %s (95 %% interval %.1f to %.1f %%)", cli.CountOf(e.Checks, "check"), cli.CountOf(e.Contradictions, "contradiction"), 100*e.Rate.Interval.Lo, 100*e.Rate.Interval.Hi)
			}
			b.comment("  ", "Joins %s, of which %s tested; %s.", cli.CountOf(e.States, "state"), report.Grouped(e.Tested), tested)
		}
		b.WriteString(s.Rule.Write())
	}
	b.refused(o.Explain, len(found.Rejected), "Tried and rejected", "rule", func() {
		for i := range found.Rejected {
			l := &found.Rejected[i]
			b.comment("", "- %s: %s.%s", leftText(l), l.Reason, exampleText(found, l.Evidence.Examples))
		}
	})
	return b.source("suggested rules", load)
}

// draft is a rule file that awo writes.
type draft struct{ strings.Builder }

func (b *draft) comment(indent, format string, args ...any) {
	fmt.Fprintf(b, "%s# %s\n", indent, report.Escape(fmt.Sprintf(format, args...)))
}

// begin writes what stands before the rules, of which there are so many.
func (b *draft) begin(base string, rules int) {
	b.WriteString("version: 1\n")
	if base != "" {
		fmt.Fprintf(b, "include: %s\n", strconv.Quote(base))
	}
	b.WriteString("\nrules:\n")
	if rules == 0 {
		b.WriteString("  []\n")
	}
}

// refused says how many there are that are not in the file, and with explain each of them.
func (b *draft) refused(explain bool, n int, heading, noun string, each func()) {
	switch {
	case n > 0 && explain:
		b.WriteString("\n")
		b.comment("", "%s:", heading)
		each()
	case n > 0:
		b.WriteString("\n")
		b.comment("", "%s: %s. --explain says which, and why.", heading, cli.CountOf(n, noun))
	}
}

// source returns the file, laid out as all are.
func (b *draft) source(name string, load func(string) ([]byte, error)) ([]byte, error) {
	source, err := rules.Format(name, []byte(b.String()))
	if err == nil {
		_, err = (rules.Options{Load: load}).Parse(name, source)
	}
	if err != nil {
		return nil, fmt.Errorf("the %s are not well formed; please report this: %w", name, err)
	}
	return source, nil
}

// reasonText says in a line what speaks for a rule.
func reasonText(s *suggest.Suggestion) string {
	text := s.Basis
	switch s.Rule.Kind {
	case rules.KindRewrite:
		text += fmt.Sprintf(": the pattern matches %s of %s", report.Grouped(s.For), cli.CountOf(s.Of, "value"))
	case rules.KindStatus:
		text += fmt.Sprintf(": %s of %s", report.Grouped(s.For+s.Against), cli.CountOf(s.Of, "result"))
		if s.Against > 0 {
			text += fmt.Sprintf(", %s of them recorded as a success", report.Grouped(s.Against))
		}
	case rules.KindEffect:
		text += fmt.Sprintf(": %s for it, %s against, of %s", cli.CountOf(s.For, "observation"), report.Grouped(s.Against), cli.CountOf(s.Calls, "call"))
	case rules.KindPlumbing:
		text += fmt.Sprintf(": %s of %s used later", report.Grouped(s.Against), cli.CountOf(s.For+s.Against, "result"))
	default:
		text += ": " + cli.CountOf(s.For, "call")
	}
	if e := &s.Evidence; e.Moves && e.Checks > 0 {
		text += fmt.Sprintf("; %s, %s contradicted", cli.CountOf(e.Checks, "check"), report.Grouped(e.Contradictions))
	}
	if s.After.States != s.Before.States {
		text += fmt.Sprintf("; %s states become %s", report.Grouped(s.Before.States), report.Grouped(s.After.States))
	}
	return text + "."
}

func sizeText(s suggest.Size) string {
	if math.IsNaN(s.Bits) {
		return cli.CountOf(s.States, "state")
	}
	return fmt.Sprintf("%s and %.3f bits", cli.CountOf(s.States, "state"), s.Bits)
}

// leftText names a rule that has no id.
func leftText(l *suggest.Rejected) string {
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

func sizeOf(s suggest.Size) size {
	return size{s.States, stat.Finite(s.Bits, "a held-out loss needs at least two tasks with calls")}
}

func suggestionDocument(in *cli.Intake, found *suggest.Suggestions, source []byte) *report.Document {
	out := suggestFigures{in.JSON(), string(source), sizeOf(found.Before), sizeOf(found.After), found.LeftOut}
	d := &report.Document{Title: "Suggested rules", Figures: out}
	d.Add(in.Summary())
	suggested := cli.Map(found.Rules, func(s *suggest.Suggestion) suggestedRule {
		return suggestedRule{
			ID: s.Rule.ID, Kind: s.Rule.Kind.String(), Basis: s.Basis, Tools: globs(s.Rule), Argument: s.Rule.Match.Arg.String(),
			Calls: s.Calls, Trajectories: s.Trajectories, For: s.For, Against: s.Against, Of: s.Of, Before: sizeOf(s.Before), After: sizeOf(s.After),
			States: s.Evidence.States, Tested: s.Evidence.Tested, Checks: s.Evidence.Checks, Contradictions: s.Evidence.Contradictions,
		}
	})
	table := report.TableOf("rules", "", suggested, []report.Column{
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
	bits := "unknown"
	if v, ok := out.Before.Bits.Value(); ok {
		bits = fmt.Sprintf("%.3f", v)
	}
	table.Note("States and bits are those with this rule and all above it; without rules they are %s and %s.", report.Grouped(out.Before.States), bits)
	left := cli.Map(found.Rejected, func(l *suggest.Rejected) leftRule {
		return leftRule{l.Rule.Kind.String(), globs(l.Rule), l.Rule.Match.Arg.String(), l.Basis, l.Reason}
	})
	d.Add(table, report.TableOf("left_out", "Tried and rejected", left, []report.Column{
		{Key: "kind", Words: true},
		{Key: "tools", Wrap: true},
		{Key: "argument"},
		{Key: "reason", Wrap: true, Words: true},
	}))
	d.Section("The rule file", report.Code{Language: "yaml", Text: out.YAML})
	return d
}
