package plot

import (
	"slices"
	"testing"
)

func TestSeriateFindsTheChain(t *testing.T) {
	// A chain of eight tools under a permutation: in the right order every
	// transition joins neighbours.
	const n = 8
	place := [n]int{3, 0, 6, 1, 7, 4, 2, 5}
	counts := make([][]float64, n)
	for i := range counts {
		counts[i] = make([]float64, n)
	}
	for i := range n - 1 {
		counts[place[i]][place[i+1]] = float64(10 + i)
	}
	got := seriate(counts)
	want := place[:]
	back := slices.Clone(want)
	slices.Reverse(back)
	if !slices.Equal(got, want) && !slices.Equal(got, back) {
		t.Errorf("order is %v, want %v or its mirror image", got, want)
	}
}

func TestLabelKeepsBothEnds(t *testing.T) {
	for in, want := range map[string]string{
		"short":                   "short",
		"exactly10c":              "exactly10c",
		"get_reservation_details": "get_r…ails",
		"tab\tnewline\n":          "tab·n…ine·",
		"":                        "",
	} {
		if got := label(in, 10); got != want {
			t.Errorf("label(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestLabelsTellNamesApart(t *testing.T) {
	got := labels([]string{
		"a_common_beginning_list_of_the_platform", "a_common_beginning_load_of_the_platform", "short", "short",
		"a_common_beginning_long_of_the_platform",
	}, 14)
	seen := map[string]bool{}
	for _, name := range got {
		if seen[name] {
			t.Errorf("%q stands for two names: %q", name, got)
		}
		seen[name] = true
	}
	if got[2] != "short" || got[3] != "short #2" || got[0] != "…ng_list_of_t…" {
		t.Errorf("labels are %q", got)
	}
}
