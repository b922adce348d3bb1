package elementary_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/awo-dev/awo/internal/elementary"
)

// logOfAny is math.Log, also of subnormal numbers: there the one that package math has
// for amd64 is wrong in the first digits.
func logOfAny(x float64) float64 {
	if x < 0x1p-1022 && x > 0 {
		fraction, exponent := math.Frexp(x)
		return math.Log(fraction) + float64(exponent)*math.Ln2
	}
	return math.Log(x)
}

// The functions agree with those of package math to a few units in the last place.
func TestElementaryFunctions(t *testing.T) {
	for _, c := range []struct {
		name     string
		ours     func(float64) float64
		theirs   func(float64) float64
		from, to float64
	}{
		{"exp", elementary.Exp, math.Exp, -740, 709},
		{"exp near 0", elementary.Exp, math.Exp, -1e-3, 1e-3},
		{"exp2", elementary.Exp2, math.Exp2, -1000, 1000},
		{"log", elementary.Log, logOfAny, 0, 1e300},
		{"log near 1", elementary.Log, math.Log, 0.5, 2},
		{"log1p", elementary.Log1p, math.Log1p, 0, 1e6},
		{"log1p near 0", elementary.Log1p, math.Log1p, 0, 1e-9},
		{"log2", elementary.Log2, math.Log2, 0, 1},
	} {
		t.Run(c.name, rapid.MakeCheck(func(t *rapid.T) {
			x := rapid.Float64Range(c.from, c.to).Draw(t, "x")
			got, want := c.ours(x), c.theirs(x)
			if got == want {
				return
			}
			if !(math.Abs(got-want) <= 2e-15*math.Abs(want)) && math.Abs(want) > 1e-300 {
				t.Fatalf("of %v it is %v, want %v", x, got, want)
			}
		}))
	}
	for _, c := range []struct{ got, want float64 }{
		{elementary.Exp(0), 1},
		{elementary.Exp(1000), math.Inf(1)},
		{elementary.Exp(-1000), 0},
		{elementary.Exp(math.Inf(1)), math.Inf(1)},
		{elementary.Exp(math.Inf(-1)), 0},
		{elementary.Exp2(0), 1},
		{elementary.Exp2(-3), 0.125},
		{elementary.Exp2(1024), math.Inf(1)},
		{elementary.Exp2(-1100), 0},
		{elementary.Exp2(math.Inf(-1)), 0},
		{elementary.Log(1), 0},
		{elementary.Log(0), math.Inf(-1)},
		{elementary.Log(0x1p-1023), -709.0895657128241},
		{elementary.Log(math.Inf(1)), math.Inf(1)},
		{elementary.Log1p(0), 0},
		{elementary.Log1p(math.Inf(1)), math.Inf(1)},
		{elementary.Log2(0.125), -3},
		{elementary.Log2(0), math.Inf(-1)},
		{elementary.Log2(math.Inf(1)), math.Inf(1)},
	} {
		if c.got != c.want {
			t.Errorf("%v instead of %v", c.got, c.want)
		}
	}
	for _, nan := range []float64{elementary.Exp(math.NaN()), elementary.Exp2(math.NaN()), elementary.Log(math.NaN()), elementary.Log(-1), elementary.Log1p(math.NaN()), elementary.Log2(math.NaN()), elementary.Log2(-1)} {
		if !math.IsNaN(nan) {
			t.Errorf("%v instead of NaN", nan)
		}
	}
}
