package rulefile

import (
	"strings"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/rules"
)

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
