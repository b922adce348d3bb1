package bind

import (
	"slices"
	"testing"
)

func TestSampled(t *testing.T) {
	chosen := sampled(50_000, 3)
	if len(chosen) != maxObserved || !slices.IsSorted(chosen) || !slices.Equal(chosen, sampled(50_000, 3)) {
		t.Errorf("%d occurrences are chosen", len(chosen))
	}
	if n := len(sampled(7, 0)); n != 7 {
		t.Errorf("%d of 7 occurrences are chosen", n)
	}
}
