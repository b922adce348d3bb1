package stat

import (
	"fmt"
	"math"
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

	// mostAtOnce is how many figures share what is drawn: that bounds the memory.
	mostAtOnce = 128

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
	known := map[uint64][]*sample{} // by hash: figures that are the same have the same interval
	for i, figure := range figures {
		s := newSample(figure)
		if out[i].Reason = s.refused(); out[i].Reason != "" {
			continue
		}
		h := hash(s.num) ^ 3*hash(s.den)
		if k := slices.IndexFunc(known[h], s.is); k >= 0 {
			same := known[h][k]
			same.of = append(same.of, i)
			continue
		}
		s.of = []int{i}
		known[h], samples = append(known[h], s), append(samples, s)
	}
	// Figures of as many clusters share what is drawn.
	for len(samples) > 0 {
		n := len(samples[0].num)
		alike := make([]*sample, 0, len(samples))
		rest := samples[:0:0]
		for _, s := range samples {
			if len(s.num) == n {
				alike = append(alike, s)
			} else {
				rest = append(rest, s)
			}
		}
		samples = rest
		for part := range slices.Chunk(alike, mostAtOnce) {
			for i, distances := range bootstrap(part, n, o) {
				for _, of := range part[i].of {
					out[of] = part[i].interval(distances, o.Level)
				}
			}
		}
	}
	return out
}

// A sample is the clusters that take part in a figure.
type sample struct {
	of       []int // the figures
	n        int   // clusters
	num, den column
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

// hash returns the same number for columns that are the same.
func hash(c column) uint64 {
	h := uint64(0xcbf29ce484222325)
	for _, x := range c {
		h = (h ^ math.Float64bits(x)) * 0x100000001b3
		h ^= h >> 29
	}
	return h
}

// is reports whether two samples are the same.
func (s *sample) is(o *sample) bool {
	return s.scale == o.scale && slices.Equal(s.num, o.num) && slices.Equal(s.den, o.den)
}

// refused returns why there is no interval.
func (s *sample) refused() string {
	n := len(s.num)
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
// standard errors: in no order, and without those that have no value.
func bootstrap(samples []*sample, n int, o Options) [][]float64 {
	resamples := min(o.Resamples, max(maxPicks/n, minResamples))
	distances := make([][]float64, len(samples))
	for i := range distances {
		distances[i] = make([]float64, resamples)
	}
	vectors, of := columnsOf(samples)
	units, kind := n, []uint32(nil) // what is drawn: clusters, or kinds of them
	if k := kindsOf(vectors, n); k != nil {
		units, kind = len(k.first), k.of
		vectors, samples = k.merged(vectors, samples)
	}
	purpose := append(append([]uint64{0xb007}, o.Purpose...), uint64(n), 0)
	Blocks(o.Each, resamples, func(first, last int) struct{} {
		times, parts := make([]uint32, units), slices.Clone(purpose)
		list, moments := make([]drawn, units), make([]moment, len(vectors))
		for k := first; k < last; k++ {
			clear(times)
			parts[len(parts)-1] = uint64(k)
			drawKinds(Stream(o.Seed, parts...), n, kind, times)
			several := list[:0]
			for i, t := range times {
				if t > 0 {
					several = append(several, drawn{i, float64(t)})
				}
			}
			for i, v := range vectors {
				moments[i] = v.moment(several)
			}
			for i, s := range samples {
				distances[i][k] = s.distance(several, moments[of[i].num], moments[of[i].den])
			}
		}
		return struct{}{}
	})
	for i, d := range distances {
		distances[i] = slices.DeleteFunc(d, math.IsNaN)
	}
	return distances
}

// drawn is a cluster of a resample, or a kind of them, and how often it is in it.
type drawn struct {
	at    int
	times float64
}

// column is the numbers of clusters that figures have above or below: many share them.
type column []float64

// moment is the sums of a column, and of its squares, over a resample.
type moment struct{ sum, squares float64 }

func (c column) moment(resample []drawn) (m moment) {
	for _, d := range resample {
		x := c[d.at]
		m.sum += float64(d.times * x)
		m.squares += float64(d.times * x * x)
	}
	return m
}

// place is where the columns of a sample are.
type place struct{ num, den int }

// columnsOf returns the different columns of samples, and where those of each are.
func columnsOf(samples []*sample) ([]column, []place) {
	var all []column
	known := map[uint64][]int{}
	number := func(c column) int {
		h := hash(c)
		for _, i := range known[h] {
			if slices.Equal(all[i], c) {
				return i
			}
		}
		known[h] = append(known[h], len(all))
		all = append(all, c)
		return len(all) - 1
	}
	out := make([]place, len(samples))
	for i, s := range samples {
		out[i] = place{number(s.num), number(s.den)}
	}
	return all, out
}

// distance returns how far the ratio of a resample is from that of the sample, in
// standard errors of the resample.
func (s *sample) distance(resample []drawn, num, den moment) float64 {
	sum := sums{a: num.sum, aa: num.squares, b: den.sum, bb: den.squares, ab: num.sum}
	if !s.ones { // else products with den are num
		sum.ab = 0
		for _, d := range resample {
			sum.ab += float64(d.times * s.num[d.at] * s.den[d.at])
		}
	}
	if sum.b == 0 {
		return math.NaN()
	}
	ratio, err := sum.ratio(float64(s.n))
	if d := ratio - s.ratio; d != 0 || err != 0 {
		return d / err
	}
	return 0
}

// smallest returns the element of list that would be at a place if it was sorted, and
// changes the order of the others.
func smallest(list []float64, at int) float64 {
	for len(list) > 1 {
		// Hoare's partition: what is before i is no larger than the pivot, what is behind j no
		// smaller.
		pivot := list[len(list)/2]
		i, j := 0, len(list)-1
		for i <= j {
			for list[i] < pivot {
				i++
			}
			for list[j] > pivot {
				j--
			}
			if i <= j {
				list[i], list[j] = list[j], list[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case at <= j:
			list = list[:j+1]
		case at >= i:
			list, at = list[i:], at-i
		default:
			return list[at]
		}
	}
	return list[at]
}

// interval returns the interval that the distances of resamples give.
func (s *sample) interval(distances []float64, level float64) Interval {
	tail := (1 - level) / 2
	at := int(float64(len(distances)+1)*tail) - 1
	if at < 0 {
		return NoInterval("too few resamples have a figure")
	}
	n := len(s.num)
	most := maxExpansion * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(n - 1)}.Quantile(1-tail)
	last := len(distances) - 1 - at
	low, high := smallest(distances, at), smallest(distances, last)
	low, high = max(low, -most), min(high, most)
	return Interval{
		Lo: s.scale * (s.ratio - high*s.err), Hi: s.scale * (s.ratio - low*s.err),
		Level: level, N: n, Method: methodRatio,
	}
}
