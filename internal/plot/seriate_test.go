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
	got := seriate(counts, busiest(counts, n))
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
