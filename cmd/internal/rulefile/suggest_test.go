package rulefile

import (
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/awo-dev/awo/merge/suggest"
	"github.com/awo-dev/awo/rules"
	"pgregory.net/rapid"
)

// TestSuggestedFileReadsBack: whatever tools are called that a rule can name, the
// file says what was suggested, to the letter, and comments stay comments.
func TestSuggestedFileReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"yes", "null", "1e3", "a: b", "- a", "# c", "'", "\"", "\u2028", "é", "${1}", "@x", "007"}))
		tool := name.Filter(func(s string) bool {
			return s != "" && strings.TrimSpace(s) == s && !strings.ContainsAny(s, "*?[{|") && !strings.ContainsFunc(s, unicode.IsControl)
		})
		rule := func(kind rules.Kind) *rules.Rule {
			return &rules.Rule{ID: string(kind), Kind: kind, Match: rules.Match{Tools: []rules.Glob{rules.Glob(tool.Draw(t, "tool")), rules.Glob(tool.Draw(t, "other"))}}}
		}
		rewrite, effect, domain, loop := rule(rules.KindRewrite), rule(rules.KindEffect), rule(rules.KindDomain), rule(rules.KindLoop)
		rewrite.Match.Arg = rules.Path{{Kind: rules.SegmentName, Name: "a b"}, {Kind: rules.SegmentEach}}
		rewrite.Pattern, rewrite.With = regexp.MustCompile(`^[a-z]+_\d{4}#'"$`), "{X}"
		effect.Effect = rules.Accessor
		domain.Domain = "mail"
		loop.IgnoreArgs = []rules.Path{{{Kind: rules.SegmentName, Name: "page"}}}
		found := &suggest.Suggestions{}
		for _, r := range []*rules.Rule{rewrite, effect, domain, loop} {
			found.Rules = append(found.Rules, suggest.Suggestion{Rule: r, Basis: name.Draw(t, "basis")})
			found.Rejected = append(found.Rejected, suggest.Rejected{Suggestion: suggest.Suggestion{Rule: r}, Reason: name.Draw(t, "reason")})
		}
		source, err := suggestedFile(found, suggestOptions{Explain: true}, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		set, err := rules.Parse("x", source)
		if err != nil || len(set.Rules) != 4 {
			t.Fatalf("%v\n%s", err, source)
		}
		for i, got := range set.Rules {
			want := found.Rules[i].Rule
			if strings.Join(globs(got), "\x00") != strings.Join(globs(want), "\x00") || got.Match.Arg.String() != want.Match.Arg.String() ||
				got.With != want.With || got.Effect != want.Effect || got.Domain != want.Domain || len(got.IgnoreArgs) != len(want.IgnoreArgs) {
				t.Fatalf("got %+v\nwant %+v\n%s", got, want, source)
			}
		}
	})
}
