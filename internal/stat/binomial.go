package stat

import "math"

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
