package stat

import (
	"fmt"
	"math"
)

const (
	methodSequence = "asymptotic confidence sequence"
	// lookTuned is the number of units at which a sequence is tightest.
	lookTuned = 100
)

// A Sequence is a confidence sequence of the mean difference between two arms: its
// intervals hold at all sizes at once, so that one may look after each unit and stop
// whenever one likes. Units are added in the order in which they came.
//
// It is the asymptotic confidence sequence of Waudby-Smith, Arbour, Sinha, Kennedy and
// Ramdas, "Time-uniform central limit theory and asymptotic confidence sequences", Annals
// of Statistics 52 (2024), theorem 2.2, of one estimate a unit: with the probability p of
// its arm, the difference of the means of the arms before it, plus or minus how far it is
// from the mean of its own, divided by p (their section 3, doubly robust without
// covariates). Asymptotic means that it needs some units before it holds; before
// [GoodClusters] there is no interval. It is O(1) in memory.
type Sequence struct {
	share float64 // of control
	level float64

	n            int
	mean, square float64 // of the estimates: their mean, and the sum of squared distances from it
	arms         [2]struct {
		n   int
		sum float64
	}
}

// NewSequence returns a sequence for units of which a share is control. A level of 0 is
// the default.
func NewSequence(share, level float64) *Sequence {
	if level <= 0 || level >= 1 {
		level = DefaultLevel
	}
	return &Sequence{share: share, level: level}
}

// Add adds the figure of a unit.
func (s *Sequence) Add(treated bool, figure float64) {
	if !(s.share > 0 && s.share < 1) || bad(figure) {
		return
	}
	if s.arms[0].n == 0 || s.arms[1].n == 0 {
		// The first of each arm only give the means that the others are measured from.
		s.learn(treated, figure)
		return
	}
	control, treatedMean := s.arms[0].sum/float64(s.arms[0].n), s.arms[1].sum/float64(s.arms[1].n)
	estimate := treatedMean - control
	if treated {
		estimate += (figure - treatedMean) / (1 - s.share)
	} else {
		estimate -= (figure - control) / s.share
	}
	s.n++
	before := estimate - s.mean
	s.mean += before / float64(s.n)
	s.square += float64(before * (estimate - s.mean))
	s.learn(treated, figure)
}

func (s *Sequence) learn(treated bool, figure float64) {
	arm := 0
	if treated {
		arm = 1
	}
	s.arms[arm].n++
	s.arms[arm].sum += figure
}

// Interval returns the interval of the units so far.
func (s *Sequence) Interval() Interval {
	switch {
	case !(s.share > 0 && s.share < 1):
		return NoInterval("no share of control is known, or there is one arm only")
	case s.n < GoodClusters:
		return NoInterval(fmt.Sprintf("a confidence sequence needs %d units with some of each arm before, there are %d", GoodClusters, s.n))
	}
	if s.square <= 1e-12*float64(s.n)*s.mean*s.mean {
		return NoInterval(fmt.Sprintf("all %d units of each arm agree, so nothing says how much others would differ", s.n))
	}
	n, alpha := float64(s.n), 1-s.level
	variance := s.square / n
	rho := math.Sqrt((-2*math.Log(alpha) + math.Log(-2*math.Log(alpha)+1)) / lookTuned)
	inside := float64(n*rho*rho) + 1
	width := math.Sqrt(variance * 2 * inside / float64(n*n*rho*rho) * math.Log(math.Sqrt(inside)/alpha))
	return Interval{Lo: s.mean - width, Hi: s.mean + width, Level: s.level, N: s.n, Method: methodSequence}
}
