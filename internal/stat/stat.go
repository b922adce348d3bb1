// Package stat is intervals and tests: of shares, of figures over clusters of dependent
// observations, and of what chance alone gives. It is the only place for them.
//
// In come counts, or sums by cluster; out come intervals that say how they were made,
// how many observations they rest on, and why there is none. Random numbers follow from
// a seed, so that the same input gives the same bytes for any number of workers. It
// keeps O(resamples) for each figure.
//
// A cluster is what is independent of the others: a task with all its trials. Calls of
// one trajectory, and trials of one task, are not independent of each other. It does not
// know tasks or calls, and it does not choose what a figure is.
package stat

import (
	"encoding/json"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// DefaultLevel is the level of intervals where none is given.
const DefaultLevel = 0.95

// An Interval is where a figure would be expected with other samples: the method,
// applied to many samples, covers the truth in a share Level of them. The zero value,
// and one with a Reason, is no interval.
type Interval struct {
	Lo, Hi float64 // infinite: the data do not bound it on this side
	Level  float64 // such as 0.95
	N      int     // observations that it rests on: trials, or clusters
	Method string
	Reason string // set: there is no interval, and why
}

// NoInterval returns what stands for an interval that there is not, and why.
func NoInterval(reason string) Interval { return Interval{Reason: reason} }

// Missing returns why there is no interval, "" if there is one.
func (i Interval) Missing() string {
	switch {
	case i.Reason != "":
		return i.Reason
	case i.Level == 0, math.IsNaN(i.Lo), math.IsNaN(i.Hi):
		return "not known"
	}
	return ""
}

// Known reports whether there is an interval.
func (i Interval) Known() bool { return i.Missing() == "" }

// Within returns the part of the interval between the least and the greatest value that
// the figure can have.
func (i Interval) Within(least, greatest float64) Interval {
	i.Lo, i.Hi = min(max(i.Lo, least), greatest), max(min(i.Hi, greatest), least)
	return i
}

// Scaled returns the interval of the figure times a positive factor.
func (i Interval) Scaled(by float64) Interval {
	i.Lo, i.Hi = i.Lo*by, i.Hi*by
	return i
}

// MarshalJSON writes {"lo","hi","level","n","method"} or null. A bound that is infinite
// is null.
func (i Interval) MarshalJSON() ([]byte, error) {
	if !i.Known() {
		return []byte("null"), nil
	}
	bound := func(v float64) *float64 {
		if math.IsInf(v, 0) {
			return nil
		}
		return &v
	}
	return json.Marshal(struct {
		Lo     *float64 `json:"lo"`
		Hi     *float64 `json:"hi"`
		Level  float64  `json:"level"`
		N      int      `json:"n,omitempty"`
		Method string   `json:"method"`
	}{bound(i.Lo), bound(i.Hi), i.Level, i.N, i.Method})
}

// A Proportion is a share of trials that are taken for independent, with its Wilson
// interval.
type Proportion struct {
	Count, N int
	Share    float64 // Count/N, 0 where N is 0
	Interval Interval
}

// Share returns count of n, with a 95 % interval.
func Share(count, n int) Proportion {
	p := Proportion{Count: count, N: n, Interval: Wilson(float64(count), float64(n), DefaultLevel)}
	if n > 0 {
		p.Share = float64(count) / float64(n)
	}
	return p
}

// Wilson returns the score interval of a share (Wilson 1927). Counts may be weighted. It
// takes trials for independent; where they are not, it is too narrow. Of no trials it is
// 0 to 1.
func Wilson(count, n, level float64) Interval {
	i := Interval{Hi: 1, Level: level, N: int(n), Method: "Wilson"}
	if n <= 0 {
		return i
	}
	p, z := count/n, NormalQuantile((1+level)/2)
	center, half := p+z*z/(2*n), z*math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	scale := 1 + z*z/n
	// The ends are exact where the share is; rounding would leave 1e-17.
	if count > 0 {
		i.Lo = max(0, (center-half)/scale)
	}
	if count < n {
		i.Hi = min(1, (center+half)/scale)
	}
	return i
}

// NormalQuantile returns the quantile of the standard normal distribution. Those that
// are common are constants, because they are the same on every processor.
func NormalQuantile(p float64) float64 {
	switch p {
	case 0.975:
		return 1.959963984540054
	case 0.9995:
		return 3.290526731491926
	}
	return distuv.UnitNormal.Quantile(p)
}

// Exact returns the interval of a share by the binomial distribution itself (Clopper and
// Pearson 1934): it covers the truth in at least the share Level of samples.
func Exact(count, n int, level float64) Interval {
	i := Interval{Hi: 1, Level: level, N: n, Method: "Clopper-Pearson"}
	if count > 0 {
		i.Lo = lowest(count, n, (1-level)/2)
	}
	if count < n {
		i.Hi = 1 - lowest(n-count, n, (1-level)/2)
	}
	return i
}

// AtLeast returns the exact one-sided 95 % lower bound of the probability behind count
// of n: 14 of 14 give 0.807, 13 of 13 give 0.794.
func AtLeast(count, n int) float64 {
	if count <= 0 || n <= 0 {
		return 0
	}
	return lowest(count, n, 0.05)
}

// lowest returns the p at which as many successes or more have probability tail.
func lowest(count, n int, tail float64) float64 {
	if count == n {
		return math.Pow(tail, 1/float64(n))
	}
	return distuv.Beta{Alpha: float64(count), Beta: float64(n-count) + 1}.Quantile(tail)
}

// Always returns the interval of a share that is 1 in every cluster: resamples are all 1
// too and say nothing, so each cluster is taken for one trial.
func Always(clusters int, level float64) Interval {
	i := Exact(clusters, clusters, level)
	i.Method = "exact, a task one trial"
	return i
}

// Never is Always of a share that is 0 in every cluster.
func Never(clusters int, level float64) Interval {
	i := Exact(0, clusters, level)
	i.Method = "exact, a task one trial"
	return i
}
