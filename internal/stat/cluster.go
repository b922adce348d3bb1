package stat

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

const (
	// MinClusters is how many clusters an interval needs at least, GoodClusters how
	// many it takes not to be rough.
	MinClusters  = 5
	GoodClusters = 20

	defaultResamples = 2000
	// maxPicks bounds the work of one bootstrap, in clusters drawn, and minResamples is
	// how far that may shorten it.
	maxPicks     = 300_000_000
	minResamples = 399

	// maxExpansion is how far from the figure a bound may lie at most, in distances
	// that Student's t gives. Of few clusters some resamples hardly vary, and the
	// bounds that they ask for have no end.
	maxExpansion = 2
)

// methodRatio names the intervals of [Intervals].
const methodRatio = "bootstrap-t over tasks"

// A ClusterRatio is a figure of clusters: sum(Num)/sum(Den), with one number for each cluster.
// Clusters where both are 0 take no part. Without Den, it is the sum of Num over all
// clusters.
type ClusterRatio struct{ Num, Den []float64 }

// Minus returns the difference to another ratio of the same denominators, a paired one.
func (r ClusterRatio) Minus(other ClusterRatio) ClusterRatio {
	d := ClusterRatio{make([]float64, len(r.Num)), r.Den}
	for i := range r.Num {
		d.Num[i] = r.Num[i] - other.Num[i]
	}
	return d
}

// Value returns the figure, NaN if the denominators sum up to nothing.
func (r ClusterRatio) Value() float64 {
	num, den := 0.0, 0.0
	for i, x := range r.Num {
		num += x
		if r.Den != nil {
			den += r.Den[i]
		}
	}
	switch {
	case r.Den == nil:
		return num
	case den == 0:
		return math.NaN()
	}
	return num / den
}

// Options are the choices of a bootstrap or a permutation test. The zero value is the
// default.
type Options struct {
	Level     float64 // of intervals; 0 means 0.95
	Resamples int     // 0 means 2000
	Seed      uint64
	Purpose   []uint64 // tells apart what is drawn with one seed
	Each      Each     // runs the work; nil runs it in a loop
}

// Interval returns the interval of one ratio.
func (r ClusterRatio) Interval(o Options) Interval { return Intervals([]ClusterRatio{r}, o)[0] }

// Intervals returns intervals of figures over the same clusters, by bootstrap-t (Efron and
// Tibshirani 1993, section 12.5): the clusters are drawn anew, and the distance of each
// resample's figure is measured in its own standard error, which is that of a linearised
// ratio. Skewed figures of ten clusters are covered as often as they should be; that is
// why it and not percentiles.
//
// A figure with fewer than five clusters has no interval, and neither has one whose
// clusters all agree: nothing says how much others would differ.
func Intervals(figures []ClusterRatio, o Options) []Interval {
	if o.Level <= 0 || o.Level >= 1 {
		o.Level = DefaultLevel
	}
	if o.Resamples <= 0 {
		o.Resamples = defaultResamples
	}
	out := make([]Interval, len(figures))
	var samples []*sample
	for i, figure := range figures {
		s := newSample(figure)
		if out[i].Reason = s.refused(); out[i].Reason == "" {
			s.of = i
			samples = append(samples, s)
		}
	}
	// Figures of as many clusters share what is drawn.
	for len(samples) > 0 {
		n := samples[0].n
		alike := make([]*sample, 0, len(samples))
		rest := samples[:0:0]
		for _, s := range samples {
			if s.n == n {
				alike = append(alike, s)
			} else {
				rest = append(rest, s)
			}
		}
		samples = rest
		drawn := bootstrap(alike, n, o)
		for i, s := range alike {
			out[s.of] = s.interval(drawn[i], o.Level)
		}
	}
	return out
}

// A sample is the clusters that take part in a figure.
type sample struct {
	of       int // the figure
	n        int // clusters
	num, den []float64
	ones     bool    // every den is 1
	scale    float64 // of the figure, in ratios

	ratio, err float64
}

func newSample(r ClusterRatio) *sample {
	s := &sample{scale: 1, ones: true}
	for i, x := range r.Num {
		y := 1.0
		if r.Den != nil {
			y = r.Den[i]
		}
		s.ones = s.ones && y == 1
		if x != 0 || y != 0 {
			s.num, s.den = append(s.num, x), append(s.den, y)
		}
	}
	s.n = len(s.num)
	if r.Den == nil {
		s.scale = float64(s.n)
	}
	var sum sums
	for i := range s.num {
		sum.add(s.num[i], s.den[i], 1)
	}
	s.ratio, s.err = sum.ratio(float64(s.n))
	return s
}

// refused returns why there is no interval.
func (s *sample) refused() string {
	n := s.n
	switch {
	case n < MinClusters:
		return fmt.Sprintf("an interval needs at least %d tasks, there are %d", MinClusters, n)
	case math.IsNaN(s.ratio) || math.IsInf(s.ratio, 0):
		return "there is no figure"
	case s.err == 0:
		return fmt.Sprintf("all %d tasks agree, so nothing says how much others would differ", n)
	}
	return ""
}

// sums are what a ratio and its standard error are made of.
type sums struct{ a, b, aa, ab, bb float64 }

func (s *sums) add(a, b, times float64) {
	// The products are rounded, so that no processor fuses them with the additions.
	s.a += float64(times * a)
	s.b += float64(times * b)
	s.aa += float64(times * a * a)
	s.ab += float64(times * a * b)
	s.bb += float64(times * b * b)
}

// ratio returns the ratio of n clusters and its linearised standard error.
func (s *sums) ratio(n float64) (ratio, err float64) {
	ratio = s.a / s.b
	square := float64(float64(ratio*ratio) * s.bb)
	squares := s.aa - float64(2*ratio*s.ab) + square
	if squares < 1e-12*(s.aa+square) {
		squares = 0 // what is left is rounding
	}
	return ratio, math.Sqrt(squares*n/(n-1)) / math.Abs(s.b)
}

// bootstrap returns, for each sample, how far resampled ratios are from it, in their
// standard errors: sorted, and without those that have no value.
func bootstrap(samples []*sample, n int, o Options) [][]float64 {
	resamples := min(o.Resamples, max(maxPicks/n, minResamples))
	distances := make([][]float64, len(samples))
	for i := range distances {
		distances[i] = make([]float64, resamples)
	}
	kinds := kindsOf(samples, n)
	purpose := append(append([]uint64{0xb007}, o.Purpose...), uint64(n), 0)
	Blocks(o.Each, resamples, func(first, last int) struct{} {
		times, parts := make([]uint32, kinds.n), slices.Clone(purpose)
		list := make([]drawn, kinds.n)
		for k := first; k < last; k++ {
			clear(times)
			parts[len(parts)-1] = uint64(k)
			kinds.draw(Stream(o.Seed, parts...), n, times)
			several := list[:0]
			for i, t := range times {
				if t > 0 {
					several = append(several, drawn{i, float64(t)})
				}
			}
			for i := range kinds.samples {
				distances[i][k] = kinds.samples[i].distance(several)
			}
		}
		return struct{}{}
	})
	for i, d := range distances {
		d = slices.DeleteFunc(d, math.IsNaN)
		slices.Sort(d)
		distances[i] = d
	}
	return distances
}

// kinds are clusters that no sample tells apart: counts of tasks are small numbers, so
// that thousands of tasks are of a few kinds.
type kinds struct {
	n       int      // how many there are
	of      []uint32 // by cluster; nil where each cluster is a kind of its own
	samples []sample // with the figures of kinds
}

// exactSum is below which sums of whole numbers have no rounding in a float64: there it
// does not matter in which order they are added.
const exactSum = 1 << 53

// kindsOf returns the kinds of the n clusters of samples. Where sums would be rounded, or
// a kind has hardly more than one cluster, each cluster is one.
func kindsOf(samples []*sample, n int) kinds {
	apart := kinds{n: n, samples: make([]sample, len(samples))}
	for i, s := range samples {
		apart.samples[i] = *s
	}
	for _, s := range samples {
		if !s.isExact() {
			return apart
		}
	}
	index, of, first := map[string]uint32{}, make([]uint32, n), []int(nil)
	key := make([]byte, 0, 16*len(samples))
	for at := range n {
		key = key[:0]
		for _, s := range samples {
			key = binary.LittleEndian.AppendUint64(key, math.Float64bits(s.num[at]))
			key = binary.LittleEndian.AppendUint64(key, math.Float64bits(s.den[at]))
		}
		kind, met := index[string(key)]
		if !met {
			if len(first) > n/2 {
				return apart
			}
			kind = uint32(len(first))
			index[string(key)], first = kind, append(first, at)
		}
		of[at] = kind
	}
	out := kinds{n: len(first), of: of, samples: make([]sample, len(samples))}
	for i, s := range samples {
		k := *s
		k.num, k.den = make([]float64, len(first)), make([]float64, len(first))
		for kind, at := range first {
			k.num[kind], k.den[kind] = s.num[at], s.den[at]
		}
		out.samples[i] = k
	}
	return out
}

// isExact reports whether all sums over any resample of the clusters are exact.
func (s *sample) isExact() bool {
	most := 0.0
	for i := range s.num {
		a, b := math.Abs(s.num[i]), math.Abs(s.den[i])
		if a != math.Trunc(a) || b != math.Trunc(b) {
			return false
		}
		most = max(most, a, b)
	}
	return float64(most*most)*float64(s.n) < exactSum
}

// draw draws n of n clusters and counts their kinds.
func (k *kinds) draw(random *rand.PCG, n int, times []uint32) {
	if k.of == nil {
		for range n {
			times[Below(random, n)]++
		}
		return
	}
	of := k.of[:n]
	for range n {
		times[of[Below(random, n)]]++
	}
}

// drawn is a kind of cluster in a resample, and how often it is in it.
type drawn struct {
	at    int
	times float64
}

// distance returns how far the ratio of a resample is from that of the sample, in
// standard errors of the resample.
func (s *sample) distance(resample []drawn) float64 {
	var sum sums
	n := float64(s.n)
	if s.ones {
		// Sums of den are numbers of clusters, and of products with it those of num.
		for _, d := range resample {
			a := s.num[d.at]
			sum.a += float64(d.times * a)
			sum.aa += float64(d.times * a * a)
		}
		sum.ab, sum.b, sum.bb = sum.a, n, n
	} else {
		for _, d := range resample {
			sum.add(s.num[d.at], s.den[d.at], d.times)
		}
	}
	if sum.b == 0 {
		return math.NaN()
	}
	ratio, err := sum.ratio(n)
	if d := ratio - s.ratio; d != 0 || err != 0 {
		return d / err
	}
	return 0
}

// interval returns the interval that the distances of resamples give.
func (s *sample) interval(distances []float64, level float64) Interval {
	tail := (1 - level) / 2
	at := int(float64(len(distances)+1)*tail) - 1
	if at < 0 {
		return NoInterval("too few resamples have a figure")
	}
	n := s.n
	most := maxExpansion * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(n - 1)}.Quantile(1-tail)
	low, high := max(distances[at], -most), min(distances[len(distances)-1-at], most)
	return Interval{
		Lo: s.scale * (s.ratio - high*s.err), Hi: s.scale * (s.ratio - low*s.err),
		Level: level, N: n, Method: methodRatio,
	}
}
