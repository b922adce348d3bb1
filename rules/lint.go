package rules

import (
	"slices"

	"github.com/awo-dev/awo/diag"
)

// maxGlobPairs bounds how many pairs of globs lint compares: their number grows
// with the square of the file.
const maxGlobPairs = 2_000_000

// lint finds what is well formed but hardly meant.
func lint(s *Set) diag.List {
	var found diag.List
	pairs := maxGlobPairs
	for i, r := range s.Rules {
		if r.Pos.File != s.File {
			continue
		}
		found = append(found, lintRule(r)...)
		if later := shadow(r, s.Rules[i+1:], &pairs); later != nil {
			found = append(found, diag.Warn(r.Pos, "rule-shadowed",
				"this rule decides nothing: every call that it matches is matched by a later rule of kind %s, and the last one wins", r.Kind).
				Note(later.Pos, "by %s", later.ID))
		}
	}
	return found
}

func lintRule(r *Rule) diag.List {
	var found diag.List
	warn := func(field, code, format string, args ...any) {
		found = append(found, diag.Warn(r.FieldPos(field), code, format, args...))
	}
	switch r.Kind {
	case KindRewrite:
		if r.Pattern.MatchString("") {
			warn("pattern", "rule-empty-match", "this pattern also matches the empty text: `with` is put into every gap where nothing else matches")
		}
	case KindEffect:
		if r.Idempotent && r.Effect != Mutator {
			warn("idempotent", "rule-no-effect", "only writes need this: an %s may be repeated anyhow", r.Effect)
		}
	case KindRename:
		if len(r.Match.Tools) == 1 && r.Match.Tools[0].IsLiteral() && (r.To == r.Match.Tools[0].String() || r.To == "${0}") {
			warn("to", "rule-no-effect", "the new name is the old one")
		}
	}
	return found
}

// lastWins are the kinds of which the last rule that matches decides alone.
var lastWins = []Kind{KindRename, KindFold, KindEffect, KindDomain, KindLoop, KindPlumbing}

// shadow returns a later rule that matches every call that r matches, so that r
// decides nothing, or nil if none can be told to. It counts down the pairs of
// globs that it compares, and stops at zero.
func shadow(r *Rule, later []*Rule, pairs *int) *Rule {
	if !slices.Contains(lastWins, r.Kind) || r.Values {
		return nil
	}
	for _, other := range later {
		if *pairs -= 1 + len(r.Match.Tools)*len(other.Match.Tools); *pairs < 0 {
			return nil
		}
		if other.Kind == r.Kind && other.DomainFrom == nil && covers(&other.Match, &r.Match) {
			return other
		}
	}
	return nil
}

// covers reports whether m certainly matches every call that other matches.
func covers(m, other *Match) bool {
	if m.conditional() {
		return false
	}
	if len(m.Tools) == 0 {
		return true
	}
	if len(other.Tools) == 0 {
		return false
	}
	for _, g := range other.Tools {
		// A star in g can only be taken by a star in the wider glob.
		if !slices.ContainsFunc(m.Tools, func(wider Glob) bool { return wider.Match(string(g)) }) {
			return false
		}
	}
	return true
}
