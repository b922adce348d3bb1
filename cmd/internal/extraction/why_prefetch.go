package extraction

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/prefetch/stored"
)

// storedRules returns the rules for reading ahead in a folder as they are written.
func storedRules(dir string) ([]stored.Rule, error) {
	f, err := readPrefetch(dir)
	if err != nil || f == nil {
		return []stored.Rule{}, err
	}
	return f.Document().Rules, nil
}

// whyRule says what a rule for reading ahead does, and what that rests on.
func whyRule(d *report.Document, one []stored.Rule) {
	r := &one[0]
	d.Title = r.ID
	d.Add(prefetchTable(one).Hidden())
	tool := report.Escape(r.Target.Tool)
	d.Add(report.Paragraph(whatRuleDoes(r)))
	e := &r.Evidence
	lines := []string{
		fmt.Sprintf("%s offered in %s of %s, %.1f by answer on average.", cli.CountOf(e.Offered, "value"), cli.CountOf(e.Runs, "trajectory"), cli.CountOf(e.Tasks, "task"), e.PerAnswer),
		fmt.Sprintf("%s used: the agent asked for exactly that later, and nothing was called between that may have changed it.", report.Grouped(e.Used)),
		fmt.Sprintf("%s not used. Of these %s stale: asked for when something may have changed.", report.Grouped(e.Offered-e.Used), areOrIs(e.Stale)),
	}
	if use := r.Use.Interval; use.Known() {
		lines = append(lines, fmt.Sprintf("P(use) %.3f, 95 %% interval over tasks %.3f to %.3f.", r.Use.Value, use.Lo, use.Hi))
	} else {
		lines = append(lines, fmt.Sprintf("P(use) %.3f, without an interval: %s.", r.Use.Value, report.Escape(r.Use.Reason)))
	}
	used, counted := e.TokensUsed.Value()
	if vain, also := e.TokensVain.Value(); counted && also {
		lines = append(lines, fmt.Sprintf("A result of %s has %.0f tokens on average, in all its calls; for each value offered %.0f are wasted.", tool, used, vain))
	}
	d.Section("What it rests on", report.Paragraph(strings.Join(lines, " ")))
	if others := otherArguments(r); len(others) > 0 {
		d.Section("Where its other arguments come from", report.Paragraph(strings.Join(others, " ")))
	}
}

// whatRuleDoes says when a rule makes which call.
func whatRuleDoes(r *stored.Rule) string {
	tool, given := report.Escape(r.Target.Tool), report.Escape(strings.Join(givenArguments(r), ", "))
	switch {
	case r.Source.Kind == "user":
		return fmt.Sprintf("When a message of the user holds values that look like %s, %s is prefetched with them as %s: %s.",
			report.Escape(strings.TrimPrefix(valueWords(r), "message: ")), tool, given, report.Escape(conditionWords(r)))
	case r.Source.Kind == "none" && r.Source.Tool == "":
		return fmt.Sprintf("At the beginning of a session %s is prefetched.", tool)
	case r.Source.Kind == "none":
		return fmt.Sprintf("When %s has answered, %s is prefetched: %s.", report.Escape(r.Source.Tool), tool, conditionWords(r))
	}
	return fmt.Sprintf("When %s has answered, %s is prefetched with the values at %s as %s: %s.",
		report.Escape(r.Source.Tool), tool, report.Escape(r.Source.Path), given, conditionWords(r))
}

func areOrIs(n int) string {
	if n == 1 {
		return "1 is"
	}
	return report.Grouped(n) + " are"
}

func constantNames(r *stored.Rule) []string {
	return slices.Sorted(maps.Keys(r.Target.Constants))
}

// otherArguments says where they come from; constants are in the file and not shown.
func otherArguments(r *stored.Rule) (lines []string) {
	places := map[string]string{"answer": "the answer", "element": "the element of the list that the value stands in", "argument": "the arguments of the call that was answered"}
	for _, b := range r.Target.Bound {
		lines = append(lines, fmt.Sprintf("%s: %s, at %s.", report.Escape(b.Argument), places[b.From], report.Escape(b.Path)))
	}
	for _, name := range constantNames(r) {
		lines = append(lines, fmt.Sprintf("%s: a constant.", report.Escape(name)))
	}
	return lines
}
