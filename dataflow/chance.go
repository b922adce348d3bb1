package dataflow

import "math"

// Interval is a share with its 95 % bounds.
type Interval struct {
	Count int     `json:"count"`
	N     int     `json:"n"`
	Share float64 `json:"share"` // Count/N, 0 where N is 0
	Lo    float64 `json:"lo"`
	Hi    float64 `json:"hi"`
}

// z95 is the 97.5 % quantile of the normal distribution.
const z95 = 1.959963984540054

// Wilson returns count of n with the Wilson score interval at 95 %. It takes
// the n for independent, which uses inside one trajectory are not: read it as
// the least that one must doubt. With n = 0 it is 0 to 1.
func Wilson(count, n int) Interval {
	if n <= 0 {
		return Interval{Count: count, Hi: 1}
	}
	p, m := float64(count)/float64(n), float64(n)
	center := p + z95*z95/(2*m)
	half := z95 * math.Sqrt(p*(1-p)/m+z95*z95/(4*m*m))
	scale := 1 + z95*z95/m
	i := Interval{Count: count, N: n, Share: p, Lo: max(0, (center-half)/scale), Hi: min(1, (center+half)/scale)}
	// The ends are exact where the share is; rounding would leave 1e-17.
	if count == 0 {
		i.Lo = 0
	}
	if count == n {
		i.Hi = 1
	}
	return i
}

// ClopperPearson returns the exact one-sided 95 % lower bound of the
// probability behind count of n: the p at which P(Bin(n, p) >= count) is 5 %.
// 14 of 14 give 0.807, 13 of 13 give 0.794.
func ClopperPearson(count, n int) float64 {
	if count <= 0 || n <= 0 {
		return 0
	}
	target := math.Log(0.05)
	lo, hi := 0.0, 1.0
	for range 60 {
		p := (lo + hi) / 2
		if LogTail(n, count, p) < target {
			lo = p
		} else {
			hi = p
		}
	}
	return lo
}

// LogTail returns ln P(X >= k) for X ~ Bin(n, p), exact in log space: it is
// right far below the smallest float64 probability. 0 when k <= 0, -Inf when
// the event is impossible.
func LogTail(n, k int, p float64) float64 {
	switch {
	case k <= 0:
		return 0
	case k > n || p <= 0:
		return math.Inf(-1)
	case p >= 1:
		return 0
	}
	if float64(k) > float64(n)*p {
		return logSum(n, k, p, 1)
	}
	// Below the mean the other tail is the short one. It is at most about a
	// half, so nothing cancels.
	return math.Log1p(-math.Exp(logSum(n, k-1, p, -1)))
}

// logSum returns the log of the sum of the binomial probabilities from i on in the
// direction of step, which must lead away from the mode, so that each term is
// smaller than the one before.
func logSum(n, i int, p float64, step int) float64 {
	first := logBinomial(n, i) + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p)
	odds := p / (1 - p)
	term, sum := 1.0, 1.0
	for {
		if step > 0 {
			term *= odds * float64(n-i) / float64(i+1)
		} else {
			term *= float64(i) / (float64(n-i+1) * odds)
		}
		i += step
		sum += term
		if i < 0 || i > n || term < sum*1e-18 {
			return first + math.Log(sum)
		}
	}
}

// logBinomial returns ln(n choose k).
func logBinomial(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}
