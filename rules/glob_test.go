package rules

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestGlob(t *testing.T) {
	for _, test := range []struct {
		glob Glob
		name string
		want bool
	}{
		{"*", "", true},
		{"*", "anything", true},
		{"get_*", "get_user", true},
		{"get_*", "get_", true},
		{"get_*", "forget_user", false},
		{"*_user", "get_user", true},
		{"*_user", "get_users", false},
		{"a*b*c", "a1b2c", true},
		{"a*b*c", "abbc", true},
		{"a*b*c", "acb", false},
		{"aa*aa", "aaa", false},
		{"aa*aa", "aaaa", true},
		{"a**b", "ab", true},
		{"get_user", "get_user", true},
		{"get_user", "get_users", false},
		{"get_?", "get_a", false},
		{"get_?", "get_?", true},
		{"[ab]", "a", false},
		{"ü*", "über", true},
		{"ü*", "uber", false},
		{"", "", true},
		{"", "a", false},
	} {
		if got := test.glob.Match(test.name); got != test.want {
			t.Errorf("%s matches %s: %v", test.glob, test.name, got)
		}
	}
	if !Glob("a?").IsLiteral() || Glob("a*").IsLiteral() || Glob("a*").String() != "a*" {
		t.Error("a glob is literal without a star")
	}
}

// TestGlobProperty holds globs against regular expressions.
func TestGlobProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		glob := rapid.StringMatching(`[ab*.]{0,8}`).Draw(t, "glob")
		name := rapid.StringMatching(`[ab*.]{0,8}`).Draw(t, "name")
		parts := strings.Split(glob, "*")
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		want := regexp.MustCompile(`^(?s:` + strings.Join(parts, ".*") + `)$`).MatchString(name)
		if got := Glob(glob).Match(name); got != want {
			t.Fatalf("%q matches %q: %v, want %v", glob, name, got, want)
		}
	})
}

// TestCovers: a match is said to cover another only if it matches every call
// that the other does.
func TestCovers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(label string) *Match {
			m := &Match{}
			for range rapid.IntRange(0, 2).Draw(t, label+"s") {
				m.Tools = append(m.Tools, Glob(rapid.StringMatching(`[ab*]{1,4}`).Draw(t, label)))
			}
			return m
		}
		wide, narrow := draw("wide"), draw("narrow")
		name := rapid.StringMatching(`[ab]{0,5}`).Draw(t, "name")
		matches := func(m *Match) bool {
			for _, g := range m.Tools {
				if g.Match(name) {
					return true
				}
			}
			return len(m.Tools) == 0
		}
		if covers(wide, narrow) && matches(narrow) && !matches(wide) {
			t.Fatalf("%v is said to cover %v, but %q is only matched by the latter", wide.Tools, narrow.Tools, name)
		}
	})
}

func BenchmarkGlob(b *testing.B) {
	b.ReportAllocs()
	globs := []Glob{"get_*", "*_details", "a*b*c*d", "search_direct_flight"}
	for b.Loop() {
		for _, g := range globs {
			g.Match("search_direct_flight_details")
		}
	}
}
