// Package elementary has exp and log that give the same bits on every processor, for
// numbers that are fitted and stored.
//
// Those of package math
// differ in their last bits between processors: Exp has assembly of its own on some,
// which on amd64 depends on whether the processor has fused instructions, and the
// rest is Go that compilers for other processors fuse. Snapshots are to be the same
// bytes everywhere, so here every product is rounded by a conversion, which no
// compiler may fuse (see the specification of Go, floating-point operators).
//
// The errors are a few units in the last place.
package elementary

import "math"

// ln2 in two parts: products of the first with whole numbers below 2^21 are exact.
const (
	ln2Hi = 0x1.62e42fee00000p-1
	ln2Lo = 0x1.a39ef35793c76p-33
)

// Exp returns e^x.
func Exp(x float64) float64 {
	switch {
	case math.IsNaN(x):
		return x
	case x > 709.7:
		return math.Inf(1)
	case x < -745.2:
		return 0
	}
	k := math.Floor(float64(x/math.Ln2) + 0.5)
	r := x - float64(k*ln2Hi) - float64(k*ln2Lo)
	return math.Ldexp(expNear(r), int(k))
}

// Exp2 returns 2^x.
func Exp2(x float64) float64 {
	switch {
	case math.IsNaN(x):
		return x
	case x >= 1024:
		return math.Inf(1)
	case x < -1075:
		return 0
	}
	k := math.Floor(x + 0.5)
	return math.Ldexp(expNear(float64((x-k)*math.Ln2)), int(k))
}

// expNear returns e^r for |r| up to ln 2 / 2, by the Taylor series to r^14/14!.
func expNear(r float64) float64 {
	sum := 1.0
	for n := 14.0; n > 0; n-- {
		sum = 1 + float64(r*sum)/n
	}
	return sum
}

// Log returns the natural logarithm of x.
func Log(x float64) float64 {
	switch {
	case math.IsNaN(x), math.IsInf(x, 1):
		return x
	case x < 0:
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	}
	f, e := math.Frexp(x)
	if f < math.Sqrt2/2 {
		f, e = 2*f, e-1
	}
	// ln f = 2 artanh s, by its series to s^23: s^2 is at most 0.0295.
	s := (f - 1) / (f + 1)
	square := float64(s * s)
	sum := 0.0
	for n := 23.0; n > 1; n -= 2 {
		sum = float64(square * (1/n + sum))
	}
	near := float64(2*s) + float64(float64(2*s)*sum)
	return float64(float64(e)*ln2Hi) + (float64(float64(e)*ln2Lo) + near)
}

// Log1p returns ln(1+x) for x above -1, without the loss of 1+x for a small x.
func Log1p(x float64) float64 {
	u := 1 + x
	if u == 1 || math.IsInf(u, 1) {
		return x
	}
	return float64(Log(u)*x) / (u - 1)
}

// Log2 returns the binary logarithm of x.
func Log2(x float64) float64 {
	f, e := math.Frexp(x)
	if f == 0.5 { // powers of two are exact
		return float64(e - 1)
	}
	return float64(Log(x) / math.Ln2)
}
