package stat

import "math"

// A RunningShare is a share of trials that come in clusters, such as the calls of
// trajectories, added up in constant memory. The zero value is empty.
type RunningShare struct {
	clusters   int
	count, n   float64
	cc, cn, nn float64 // sums of squares and products by cluster
}

// Add adds a cluster of n trials, count of which are what is counted. Clusters without
// a trial take no part.
func (s *RunningShare) Add(count, n int) {
	if n <= 0 {
		return
	}
	c, m := float64(count), float64(n)
	s.clusters++
	s.count += c
	s.n += m
	s.cc += c * c
	s.cn += c * m
	s.nn += m * m
}

// Counts returns what is counted, and of how many trials.
func (s *RunningShare) Counts() (count, n int) { return int(s.count), int(s.n) }

// Share returns the share, unknown where there is no trial.
func (s *RunningShare) Share() Figure {
	return Ratio(int(s.count), int(s.n), "there is nothing of the kind")
}

// effective names the intervals of RunningShare.
const effective = "Wilson, effective sample size"

// Interval returns the 95 % interval of the share by Wilson's formula with the effective
// number of trials: n over the design effect, which is how much larger the variance of the
// linearised ratio over clusters is than that of independent trials (Korn and Graubard
// 1998; never below 1). With fewer than MinClusters clusters there is none.
func (s *RunningShare) Interval() Interval {
	if s.clusters < MinClusters {
		return NoInterval("an interval needs at least 5 trajectories")
	}
	share, m := s.count/s.n, float64(s.clusters)
	effect := 1.0
	if independent := share * (1 - share) / s.n; independent > 0 {
		// The squared residuals c - share*n of the clusters.
		residuals := s.cc - 2*share*s.cn + share*share*s.nn
		effect = max(1, m/(m-1)*residuals/(s.n*s.n)/independent)
	}
	i := Wilson(s.count/effect, s.n/effect, DefaultLevel)
	i.N, i.Method = s.clusters, effective
	if math.IsNaN(i.Lo) || math.IsNaN(i.Hi) {
		return NoInterval("not a number")
	}
	return i
}
