package summary

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/awo-dev/awo/internal/partition"
)

// TestDistinctAddsUp wants of any parts, merged by any tree, the bytes of all in one go,
// with few hashes and with more than are kept.
func TestDistinctAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		limit := rapid.IntRange(1, 60).Draw(t, "limit")
		whole := &Distinct{limit: limit}
		different := map[uint64]bool{}
		parts := make([]*Distinct, rapid.IntRange(1, 6).Draw(t, "parts"))
		for i := range parts {
			parts[i] = &Distinct{limit: limit}
		}
		for range rapid.IntRange(0, 200).Draw(t, "things") {
			h := r.Uint64N(100) << 57
			different[h] = true
			whole.Add(h)
			parts[r.IntN(len(parts))].Add(h)
			if r.IntN(20) == 0 {
				parts[r.IntN(len(parts))].settle()
			}
		}
		merged := partition.Merged(r, parts, func(d *Distinct) *Distinct { return d }, (*Distinct).Merge)
		if !bytes.Equal(merged.append(nil), whole.append(nil)) {
			t.Fatalf("kept %d (more: %t), want %d (%t)", len(merged.kept), merged.skipped, len(whole.kept), whole.skipped)
		}
		if n, exact := whole.Count(); exact != (len(different) <= limit) || exact && n != len(different) {
			t.Fatalf("%d of %d things, exact is %t with room for %d", n, len(different), exact, limit)
		}
	})
}

// TestDistinctEstimates wants the estimate within its stated error in most of 40 cases.
func TestDistinctEstimates(t *testing.T) {
	r := rand.New(rand.NewPCG(24, 1))
	beyond := 0
	const n = 300_000
	for range 40 {
		d := &Distinct{}
		for range n {
			d.Add(r.Uint64())
		}
		got, exact := d.Count()
		if exact {
			t.Fatal("it says that it is exact")
		}
		if math.Abs(float64(got)-n) > DistinctError*n {
			beyond++
		}
		if math.Abs(float64(got)-n) > 3*DistinctError*n {
			t.Errorf("%d of %d", got, n)
		}
	}
	if beyond > 6 { // 2 are expected, and 7 have a chance of 0.3 %
		t.Errorf("%d of 40 estimates are beyond the error that is stated", beyond)
	}
}
