package diag

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNearest(t *testing.T) {
	known := []string{"analyze", "graph", "extract", "workers", "max-record", "rules", "ab", "ac"}
	for word, want := range map[string]string{
		"anlayze": "analyze", "analyse": "analyze", "grap": "graph", "Worker": "workers", "max_record": "max-record",
		"rule": "rules", "xyz": "", "": "", "completely-different": "", "ad": "ab", "analyze": "analyze",
	} {
		if got := Nearest(word, known); got != want {
			t.Errorf("nearest to %q is %q, want %q", word, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"ab", "ba", 1}, {"kitten", "sitting", 3}, {"abcd", "acbd", 1}, {"ca", "abc", 3}} {
		if got := distance(test.a, test.b); got != test.want {
			t.Errorf("from %q to %q: %d, want %d", test.a, test.b, got, test.want)
		}
	}
	short := rapid.StringMatching(`[abc]{0,8}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := short.Draw(t, "a"), short.Draw(t, "b")
		d := distance(a, b)
		if d != distance(b, a) || (d == 0) != (a == b) || d < max(len(a)-len(b), len(b)-len(a)) || d > max(len(a), len(b)) {
			t.Fatalf("from %q to %q: %d", a, b, d)
		}
		if longer := distance(a, b+strings.Repeat("x", 20)); longer != 10 {
			t.Fatalf("a word that is much longer is %d away", longer)
		}
	})
}
