package entropy_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/awo-dev/awo/entropy"
	"gonum.org/v1/gonum/stat/distuv"
)

// exactTail returns log10 of the tail for an even number of degrees of freedom:
// e^(-x/2) times the sum of (x/2)^j/j! for j < df/2, in 128-bit arithmetic.
func exactTail(df int, x float64) float64 {
	const precision = 128
	half := new(big.Float).SetPrec(precision).SetFloat64(x / 2)
	term := new(big.Float).SetPrec(precision).SetInt64(1)
	total := new(big.Float).SetPrec(precision).SetInt64(1)
	for j := 1; j < df/2; j++ {
		term.Mul(term, half)
		term.Quo(term, new(big.Float).SetPrec(precision).SetInt64(int64(j)))
		total.Add(total, term)
	}
	mantissa := new(big.Float)
	exponent := total.MantExp(mantissa)
	m, _ := mantissa.Float64()
	return (float64(exponent)*math.Ln2 + math.Log(m) - x/2) / math.Ln10
}

func TestChiSquareTailEqualsExactSums(t *testing.T) {
	for _, df := range []int{2, 4, 10, 32, 34, 100, 390, 1000, 10_000, 100_000, 1_000_000} {
		sd := math.Sqrt(2 * float64(df))
		for _, x := range []float64{
			float64(df) - 3*sd, float64(df) - sd, float64(df) - 1, float64(df), float64(df) + 2, float64(df) + sd,
			float64(df) + 10*sd, 2 * float64(df), 10 * float64(df), 100*float64(df) + 1e5,
		} {
			if x <= 0 || df > 20_000 && x < float64(df) {
				continue // the long sums take their time
			}
			got, want := entropy.ChiSquareTail(float64(df), x).Float(), exactTail(df, x)
			// The exact sum loses what exponents and logs cancel: up to about
			// 1e-16 of x/2.
			if math.Abs(got-want) > 1e-12*math.Abs(want)+1e-15*x+1e-13 {
				t.Errorf("df %d, x %v: log10 p = %.15g, want %.15g", df, x, got, want)
			}
		}
	}
}

func TestChiSquareTailKnownValues(t *testing.T) {
	for _, c := range []struct{ df, x, want, tolerance float64 }{
		{1, 3.841458820694124, math.Log10(0.05), 1e-13},
		{1, 1e4, math.Log10(math.Erfc(70)), math.Inf(1)}, // only that it is finite: erfc(70) is 0
		{3, 7.814727903251179, math.Log10(0.05), 1e-13},
		{2, 2e6, -1e6 * math.Log10E, 1e-6}, // exp(-x/2)
		{4, 1e5, (-5e4 + math.Log(5e4+1)) / math.Ln10, 1e-8},
		{5, 0, 0, 0},
		{5, -1, 0, 0},
		{1e16, 1e7, 0, 0},
		{1e16, 1e16, math.Log10(0.5), 1e-8},
	} {
		got := entropy.ChiSquareTail(c.df, c.x).Float()
		if math.IsNaN(got) || math.IsInf(got, 0) || math.Abs(got-c.want) > c.tolerance {
			t.Errorf("df %v, x %v: log10 p = %.15g, want %.15g", c.df, c.x, got, c.want)
		}
	}
	// One degree of freedom is the normal tail: erfc(sqrt(x/2)), for large x
	// e^(-x/2) sqrt(2/(pi x)) (1 - 1/x + 3/x^2 - 15/x^3 + ...).
	x := 1e4
	want := (-x/2 + 0.5*math.Log(2/(math.Pi*x)) + math.Log(1-1/x+3/(x*x)-15/(x*x*x))) / math.Ln10
	if got := entropy.ChiSquareTail(1, x).Float(); math.Abs(got-want) > 1e-9 {
		t.Errorf("df 1, x %v: log10 p = %.15g, want %.15g", x, got, want)
	}
}

// TestChiSquareTailIsContinuous compares the expansion for large shapes with
// the continued fraction just below them.
func TestChiSquareTailIsContinuous(t *testing.T) {
	for _, sigmas := range []float64{-8, -2, -0.5, 0, 1e-3, 0.5, 2, 5, 8, 40, 1000} {
		below, above := 2*0.999999999e8, 2*1.000000001e8
		at := func(df float64) float64 {
			return entropy.ChiSquareTail(df, df+sigmas*math.Sqrt(2*df)).Float()
		}
		if a, b := at(below), at(above); math.Abs(a-b) > 1e-7*(1+math.Abs(a)) {
			t.Errorf("%v standard deviations: %.15g below, %.15g above", sigmas, a, b)
		}
	}
}

func TestChiSquareTailAgreesWithGonum(t *testing.T) {
	for df := 1.0; df < 2e6; df *= 3.7 {
		for _, sigmas := range []float64{-2, -1, 0, 1, 3, 9} {
			x := df + sigmas*math.Sqrt(2*df)
			if x <= 0 {
				continue
			}
			want := math.Log10(distuv.ChiSquared{K: df}.Survival(x))
			if got := entropy.ChiSquareTail(df, x).Float(); math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
				t.Errorf("df %v, x %v: log10 p = %.15g, gonum has %.15g", df, x, got, want)
			}
		}
	}
}

func TestChiSquareTailWithoutTest(t *testing.T) {
	for _, c := range [][2]float64{{0, 5}, {-1, 5}, {math.NaN(), 1}, {1, math.NaN()}, {math.Inf(1), 1}} {
		if p := entropy.ChiSquareTail(c[0], c[1]); p.Known() {
			t.Errorf("df %v, x %v: log10 p = %v, want none", c[0], c[1], p)
		}
	}
	if p := entropy.ChiSquareTail(3, math.Inf(1)); p.Known() {
		t.Errorf("an infinite statistic has log10 p = %v", p)
	}
}

func BenchmarkChiSquareTail(b *testing.B) {
	for b.Loop() {
		entropy.ChiSquareTail(1e6, 1.001e6)
	}
}
