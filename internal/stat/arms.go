package stat

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// methodArms names the intervals of [Arms].
const methodArms = "bootstrap-t over units, arms apart"

// Arms is a figure of two arms of an experiment: in each sum(Num)/sum(Den) over its units,
// such as turns over sessions. The units of both are independent.
type Arms struct{ Treated, Control ClusterRatio }

// Difference returns how much more the figure is in the treated arm, and Ratio how many
// times as much: NaN where an arm has none.
func (a Arms) Difference() float64 { return a.Treated.Value() - a.Control.Value() }

// Ratio is beside Difference.
func (a Arms) Ratio() float64 { return a.Treated.Value() / a.Control.Value() }

// ArmIntervals are the intervals of Difference and Ratio.
type ArmIntervals struct{ Difference, Ratio Interval }

// Intervals returns intervals by bootstrap-t (Efron and Tibshirani 1993, sections 8.3 and
// 12.5): the units of each arm are drawn anew, apart, and distances are measured in the
// standard error of the resample. That of the ratio is taken of its logarithm, so the ratio
// has none where a figure is 0 or negative.
func (a Arms) Intervals(o Options) ArmIntervals {
	if o.Level <= 0 || o.Level >= 1 {
		o.Level = DefaultLevel
	}
	if o.Resamples <= 0 {
		o.Resamples = defaultResamples
	}
	t, c := newSample(a.Treated), newSample(a.Control)
	n := min(len(t.num), len(c.num))
	reason := ""
	switch {
	case n < MinClusters:
		reason = fmt.Sprintf("an interval needs at least %d units in each arm, there are %d and %d", MinClusters, len(t.num), len(c.num))
	case bad(t.ratio) || bad(c.ratio):
		reason = "there is no figure"
	case t.err == 0 && c.err == 0:
		reason = fmt.Sprintf("the units of each arm agree, so nothing says how much others would differ (%d and %d)", len(t.num), len(c.num))
	}
	if reason != "" {
		return ArmIntervals{NoInterval(reason), NoInterval(reason)}
	}
	differences, ratios := resampleArms(t, c, o)
	difference, err := differenceOf(t.ratio, t.err, c.ratio, c.err)
	out := ArmIntervals{Difference: studentized(difference, err, differences, t, c, o.Level)}
	if ratio, err := logRatioOf(t.ratio, t.err, c.ratio, c.err); bad(ratio) {
		out.Ratio = NoInterval("a ratio needs figures above 0")
	} else if least := min(above(t.num), above(c.num)); least < MinClusters {
		// Resamples without a unit above 0 have no ratio, and the others look surer than they are.
		out.Ratio = NoInterval(fmt.Sprintf("a ratio needs at least %d units above 0 in each arm, one has %d", MinClusters, least))
	} else if out.Ratio = studentized(ratio, err, ratios, t, c, o.Level); out.Ratio.Known() {
		out.Ratio.Lo, out.Ratio.Hi = math.Exp(out.Ratio.Lo), math.Exp(out.Ratio.Hi)
	}
	return out
}

// above counts the figures above 0.
func above(figures []float64) (n int) {
	for _, x := range figures {
		if x > 0 {
			n++
		}
	}
	return n
}

func bad(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }

// differenceOf returns the difference of two figures with its standard error.
func differenceOf(t, te, c, ce float64) (difference, err float64) {
	return t - c, math.Sqrt(float64(te*te) + float64(ce*ce))
}

// logRatioOf returns the logarithm of the ratio with its standard error, NaN if a figure is
// not above 0.
func logRatioOf(t, te, c, ce float64) (ratio, err float64) {
	if t <= 0 || c <= 0 {
		return math.NaN(), math.NaN()
	}
	rt, rc := te/t, ce/c
	return math.Log(t) - math.Log(c), math.Sqrt(float64(rt*rt) + float64(rc*rc))
}

// resampleArms returns how far resampled differences and ratios are from those of the
// samples, in their standard errors: sorted, and without those that have no value.
func resampleArms(t, c *sample, o Options) (differences, ratios []float64) {
	resamples := min(o.Resamples, max(maxPicks/(len(t.num)+len(c.num)), minResamples))
	difference, _ := differenceOf(t.ratio, t.err, c.ratio, c.err)
	ratio, _ := logRatioOf(t.ratio, t.err, c.ratio, c.err)
	purpose := append(append([]uint64{0xa2b5}, o.Purpose...), 0)
	type distance struct{ difference, ratio float64 }
	drawn := make([]distance, resamples)
	Blocks(o.Each, resamples, func(first, last int) struct{} {
		parts := slices.Clone(purpose)
		for k := first; k < last; k++ {
			parts[len(parts)-1] = uint64(k)
			random := Stream(o.Seed, parts...)
			tr, te := t.redraw(func(n int) int { return Below(random, n) })
			cr, ce := c.redraw(func(n int) int { return Below(random, n) })
			d, de := differenceOf(tr, te, cr, ce)
			q, qe := logRatioOf(tr, te, cr, ce)
			drawn[k] = distance{(d - difference) / de, (q - ratio) / qe}
		}
		return struct{}{}
	})
	for _, d := range drawn {
		if !math.IsNaN(d.difference) {
			differences = append(differences, d.difference)
		}
		if !math.IsNaN(d.ratio) {
			ratios = append(ratios, d.ratio)
		}
	}
	slices.Sort(differences)
	slices.Sort(ratios)
	return differences, ratios
}

// redraw returns the ratio of a resample with its standard error.
func (s *sample) redraw(below func(int) int) (ratio, err float64) {
	var sum sums
	for range s.num {
		i := below(len(s.num))
		sum.add(s.num[i], s.den[i], 1)
	}
	if sum.b == 0 {
		return math.NaN(), math.NaN()
	}
	return sum.ratio(float64(len(s.num)))
}

// studentized returns the interval that distances of resamples give.
func studentized(figure, err float64, distances []float64, t, c *sample, level float64) Interval {
	tail := (1 - level) / 2
	at := int(float64(len(distances)+1)*tail) - 1
	if at < 0 {
		return NoInterval("too few resamples have a figure")
	}
	least := min(len(t.num), len(c.num))
	most := maxExpansion * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(least - 1)}.Quantile(1-tail)
	low, high := max(distances[at], -most), min(distances[len(distances)-1-at], most)
	return Interval{Lo: figure - float64(high*err), Hi: figure - float64(low*err), Level: level, N: len(t.num) + len(c.num), Method: methodArms}
}

// UnitsFor returns how many units an experiment needs in all to tell a difference of that
// size from none, at the level 0.95 with power 0.8, if the units of each arm spread as these
// do and the share of control is as planned. It returns 0 where nothing says so.
func (a Arms) UnitsFor(difference, share float64) int {
	t, c := newSample(a.Treated), newSample(a.Control)
	if len(t.num) < MinClusters || len(c.num) < MinClusters || !(share > 0 && share < 1) || difference == 0 || bad(difference) {
		return 0
	}
	nt, nc := float64(len(t.num)), float64(len(c.num))
	spread := t.err*t.err*nt/(1-share) + c.err*c.err*nc/share
	z := NormalQuantile(0.975) + NormalQuantile(0.8)
	units := math.Ceil(z * z * spread / (difference * difference))
	if bad(units) || units > 1<<40 {
		return 0
	}
	return max(int(units), 2*MinClusters)
}
