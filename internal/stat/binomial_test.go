package stat

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// exactTail returns ln P(Bin(n, p) >= k) by summing in 400-bit arithmetic.
func exactTail(n, k int, p float64) float64 {
	const precision = 400
	number := func(f float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(f) }
	power := func(base *big.Float, e int) *big.Float {
		x := number(1)
		for range e {
			x.Mul(x, base)
		}
		return x
	}
	up, down := number(p), new(big.Float).SetPrec(precision).Sub(number(1), number(p))
	sum := number(0)
	for i := max(k, 0); i <= n; i++ {
		c := new(big.Float).SetPrec(precision).SetInt(new(big.Int).Binomial(int64(n), int64(i)))
		sum.Add(sum, c.Mul(c, power(up, i)).Mul(c, power(down, n-i)))
	}
	mantissa := new(big.Float)
	exponent := sum.MantExp(mantissa)
	m, _ := mantissa.Float64()
	return math.Log(m) + float64(exponent)*math.Ln2
}

func TestLogTailAgreesWithExactSums(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(t, "n")
		k := rapid.IntRange(0, n).Draw(t, "k")
		p := rapid.Float64Range(1e-9, 0.999999).Draw(t, "p")
		got, want := LogTail(n, k, p), exactTail(n, k, p)
		if math.Abs(got-want) > 1e-9*max(1, math.Abs(want)) {
			t.Fatalf("ln P(Bin(%d, %v) >= %d) = %v, want %v", n, p, k, got, want)
		}
	})
}

func TestLogTailKnownAnswers(t *testing.T) {
	for _, tc := range []struct {
		n, k int
		p    float64
		want float64
	}{
		{10, 0, 0.3, 0},
		{10, -1, 0.3, 0},
		{10, 11, 0.3, math.Inf(-1)},
		{10, 1, 0, math.Inf(-1)},
		{10, 10, 1, 0},
		{0, 0, 0.5, 0},
		{2, 1, 0.5, math.Log(0.75)},
		{3, 3, 0.5, 3 * math.Log(0.5)},
		// Far below the smallest float64: 1e-3 to the power 1000.
		{1000, 1000, 1e-3, 1000 * math.Log(1e-3)},
		{1_000_000, 1_000_000, 0.5, 1_000_000 * math.Log(0.5)},
	} {
		if got := LogTail(tc.n, tc.k, tc.p); math.Abs(got-tc.want) > 1e-9*max(1, math.Abs(tc.want)) && got != tc.want {
			t.Errorf("ln P(Bin(%d, %v) >= %d) = %v, want %v", tc.n, tc.p, tc.k, got, tc.want)
		}
	}
	// With a million trials the tails around the mean still add to one.
	n, p := 1_000_000, 0.3
	k := 300_100
	up, down := math.Exp(LogTail(n, k, p)), math.Exp(LogTail(n, n-k+1, 1-p))
	if math.Abs(up+down-1) > 1e-8 {
		t.Errorf("P(X >= k) + P(X < k) = %v", up+down)
	}
}

func TestAtLeast(t *testing.T) {
	for _, tc := range []struct {
		count, n int
		want     float64
	}{
		{0, 10, 0},
		{0, 0, 0},
		{14, 14, math.Pow(0.05, 1.0/14)}, // of n out of n the bound is the n-th root of 5 %
		{13, 13, math.Pow(0.05, 1.0/13)},
		{1, 1, 0.05},
		{9, 10, 0.6058367}, // beta quantile 0.05 with 9 and 2
		{5, 10, 0.2224411},
	} {
		if got := AtLeast(tc.count, tc.n); math.Abs(got-tc.want) > 1e-7 {
			t.Errorf("%d of %d: %v, want %v", tc.count, tc.n, got, tc.want)
		}
	}
	if AtLeast(14, 14) < 0.8 || AtLeast(13, 13) >= 0.8 {
		t.Error("14 of 14 must reach 0.8 and 13 of 13 not")
	}
}

func TestWilson(t *testing.T) {
	for _, tc := range []struct {
		count, n  int
		share     float64
		low, high float64
	}{
		{0, 0, 0, 0, 1},
		{0, 10, 0, 0, 0.2775327},
		{10, 10, 1, 0.7224673, 1},
		{5, 10, 0.5, 0.2365931, 0.7634069},
		{16, 16, 1, 16 / (16 + 3.841458820694124), 1},
		{15, 15, 1, 15 / (15 + 3.841458820694124), 1},
	} {
		got := Share(tc.count, tc.n)
		if math.Abs(got.Share-tc.share) > 1e-12 || math.Abs(got.Interval.Lo-tc.low) > 1e-6 || math.Abs(got.Interval.Hi-tc.high) > 1e-6 {
			t.Errorf("%d of %d: %+v, want %v to %v", tc.count, tc.n, got, tc.low, tc.high)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 1_000_000).Draw(t, "n")
		i := Share(rapid.IntRange(0, n).Draw(t, "count"), n)
		if !(0 <= i.Interval.Lo && i.Interval.Lo <= i.Share && i.Share <= i.Interval.Hi && i.Interval.Hi <= 1) {
			t.Fatalf("%+v", i)
		}
	})
}

// TestGuardHoldsItsLevel draws sources and arguments that have nothing to do
// with each other and counts how often the test takes one for the other's
// source: with q known, in at most the nominal share, up to what 20,000 draws
// tell.
func TestGuardHoldsItsLevel(t *testing.T) {
	random := newRandom(7)
	const draws, n, pool, alpha = 20_000, 40, 6, 0.01
	rejected := 0
	for range draws {
		asked, given := make([]int, pool), make([]int, pool)
		hits := 0
		for range n {
			a, s := random(pool), random(pool)
			asked[a]++
			given[s]++
			if a == s {
				hits++
			}
		}
		q := 0.0
		for v := range pool {
			q += float64(asked[v]) / n * float64(given[v]) / n
		}
		if LogTail(n, hits, q) < math.Log(alpha) {
			rejected++
		}
	}
	if limit := alpha*draws + 4*math.Sqrt(alpha*draws); float64(rejected) > limit {
		t.Errorf("%d of %d coincidences pass at level %v, at most %.0f may", rejected, draws, alpha, limit)
	}
}

// newRandom returns a small generator of numbers below n.
func newRandom(seed uint64) func(n int) int {
	return func(n int) int {
		seed = seed*6364136223846793005 + 1442695040888963407
		return int(seed >> 33 % uint64(n))
	}
}

func BenchmarkLogTail(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		LogTail(100_000, 35_000, 0.3)
	}
}
