package entropy

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	"github.com/awo-dev/awo/internal/stat"
)

// ChiSquareTail returns log10 of the probability that a chi-square variable of
// df degrees of freedom exceeds x. It works with logarithms throughout, so that
// tails of 10^-100000 are as good as others; it is no figure where df is not
// positive or x is not finite.
//
// Note: gonum's distuv.ChiSquared.Survival is right for all df tried up to 10^6,
// but 0 where the tail is below 1e-307, which tests on a few thousand calls
// reach.
func ChiSquareTail(df, x float64) stat.Figure {
	switch {
	case !(df > 0) || math.IsInf(df, 0) || math.IsNaN(x) || math.IsInf(x, 1):
		return none
	case x <= 0:
		return stat.Known(0)
	}
	return figure(min(logUpperGamma(df/2, x/2)/math.Ln10, 0))
}

// largeShape is where the uniform expansion takes over: its error is below
// 1e-16 there, while the others would take a step for every standard deviation.
const largeShape = 1e8

// maxSteps ends the continued fraction if it will not settle; it needs a few
// times sqrt(largeShape) steps at most.
const maxSteps = 1e6

// logUpperGamma returns the natural logarithm of Q(a, x), the regularized upper
// incomplete gamma function.
func logUpperGamma(a, x float64) float64 {
	switch {
	case a >= largeShape:
		return logUpperGammaUniform(a, x)
	case x < a+1:
		// Q is no small number here, gonum has it to 14 digits.
		if q := mathext.GammaIncRegComp(a, x); q > 0.5 {
			return math.Log1p(-mathext.GammaIncReg(a, x))
		} else {
			return math.Log(q)
		}
	}
	// Q = x^a e^-x / Gamma(a) / (x+1-a - 1(1-a)/(x+3-a - 2(2-a)/(x+5-a - ...))),
	// evaluated from the front (Lentz's method).
	const tiny = 1e-300
	b := x + 1 - a
	c, d := 1/tiny, 1/b
	h := d
	for i := 1.0; i < maxSteps; i++ {
		an := -i * (i - a)
		b += 2
		d = an*d + b
		if math.Abs(d) < tiny {
			d = tiny
		}
		c = b + an/c
		if math.Abs(c) < tiny {
			c = tiny
		}
		d = 1 / d
		h *= d * c
		if math.Abs(d*c-1) < 1e-15 {
			break
		}
	}
	return logGammaTerm(a, x) + math.Log(h)
}

// logGammaTerm returns the logarithm of x^a e^-x / Gamma(a), without adding up
// large numbers that cancel.
func logGammaTerm(a, x float64) float64 {
	if a < 16 {
		g, _ := math.Lgamma(a)
		return a*math.Log(x) - x - g
	}
	return -a*deviance(x/a) + 0.5*math.Log(a/(2*math.Pi)) - stirlingError(a)
}

// deviance returns u - 1 - log u, which is 0 at 1.
func deviance(u float64) float64 {
	v := u - 1
	if math.Abs(v) > 0.1 {
		return v - math.Log(u)
	}
	// v - log(1+v) = v^2/2 - v^3/3 + ...
	total, power := 0.0, v*v
	for i := 2.0; ; i++ {
		next := total + power/i
		if next == total {
			return total
		}
		total = next
		power *= -v
	}
}

// stirlingError returns log Gamma(a) - (a-1/2) log a + a - log(2 pi)/2, for a of
// at least 16.
func stirlingError(a float64) float64 {
	s := 1 / (a * a)
	return (1.0/12 - s*(1.0/360-s*(1.0/1260-s*(1.0/1680-s/1188)))) / a
}

// logUpperGammaUniform is Temme's expansion (1979) in its first two terms.
func logUpperGammaUniform(a, x float64) float64 {
	u := x / a
	half := deviance(u) // eta^2/2
	eta := math.Copysign(math.Sqrt(2*half), u-1)
	z := eta * math.Sqrt(a/2)
	// c0 = 1/(u-1) - 1/eta, which tends to -1/3 where both are 0.
	correction := -1.0/3 + eta/12
	if math.Abs(u-1) > 1e-4 {
		correction = 1/(u-1) - 1/eta
	}
	// Q = erfc(z)/2 + e^(-z^2) c0/sqrt(2 pi a), with e^(-z^2) taken out.
	if z < 1 {
		return math.Log1p(-0.5*math.Erfc(-z) + math.Exp(-z*z)*correction/math.Sqrt(2*math.Pi*a))
	}
	return -z*z + math.Log(0.5*scaledErfc(z)+correction/math.Sqrt(2*math.Pi*a))
}

// scaledErfc returns e^(z^2) erfc(z) for positive z.
func scaledErfc(z float64) float64 {
	if z < 5 {
		return math.Exp(z*z) * math.Erfc(z)
	}
	// Continued fraction, from the back; 60 terms are plenty from 5 on.
	f := z
	for i := 60.0; i > 0; i-- {
		f = z + i/2/f
	}
	return 1 / (f * math.Sqrt(math.Pi))
}
