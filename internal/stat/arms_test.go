package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

// sessionOf draws what a session of an agent costs in turns: few, and now and then many.
func sessionOf(r *rand.Rand, mean float64) float64 {
	return 1 + math.Round(gamma(r, 2)*(mean-1)/2)
}

// armsOf draws an experiment: units with one to three sessions each, half of them control.
func armsOf(r *rand.Rand, units int, treated, control float64) Arms {
	var a Arms
	for range units {
		arm, mean := &a.Treated, treated
		if r.Float64() < 0.5 {
			arm, mean = &a.Control, control
		}
		own := 0.8 + 0.4*r.Float64() // sessions of one unit are alike
		sum, n := 0.0, 1+r.IntN(3)
		for range n {
			sum += sessionOf(r, mean*own)
		}
		arm.Num, arm.Den = append(arm.Num, sum), append(arm.Den, float64(n))
	}
	return a
}

// TestArmsCover draws 500 experiments with a planted effect, and as many without: the
// intervals cover what was planted about as often as they say, and without an effect no
// more experiments see one.
func TestArmsCover(t *testing.T) {
	for _, test := range []struct{ treated, control float64 }{{6, 8}, {8, 8}} {
		r := rand.New(rand.NewPCG(7, uint64(test.treated)))
		truth := meanOf(r, test.treated) - meanOf(r, test.control)
		times := meanOf(r, test.treated) / meanOf(r, test.control)
		const experiments = 500
		difference, ratio, zero := 0, 0, 0
		for i := range experiments {
			in := armsOf(r, 120, test.treated, test.control).Intervals(Options{Seed: uint64(i), Resamples: 600})
			if in.Difference.Lo <= truth && truth <= in.Difference.Hi {
				difference++
			}
			if in.Ratio.Lo <= times && times <= in.Ratio.Hi {
				ratio++
			}
			if in.Difference.Lo <= 0 && 0 <= in.Difference.Hi {
				zero++
			}
		}
		for what, n := range map[string]int{"difference": difference, "ratio": ratio} {
			if share := float64(n) / experiments; share < 0.93 || share > 0.97 {
				t.Errorf("%v: the interval of the %s covers it in %.1f %%", test, what, 100*share)
			}
		}
		if share := float64(zero) / experiments; test.treated == test.control && share < 0.93 || test.treated != test.control && share > 0.5 {
			t.Errorf("%v: no difference is seen in %.1f %%", test, 100*share)
		}
	}
}

// meanOf returns the mean of sessions, by many of them.
func meanOf(r *rand.Rand, mean float64) float64 {
	sum := 0.0
	const n = 400_000
	for range n {
		sum += sessionOf(r, mean*(0.8+0.4*r.Float64()))
	}
	return sum / n
}

// TestSequenceHolds looks a hundred times at each of 1,000 experiments without an effect:
// a difference is seen at any look in at most 5 of 100. At the same looks the interval of a
// fixed sample sees one far more often. With an effect the sequence covers it at all looks
// as often, and finds it.
func TestSequenceHolds(t *testing.T) {
	const experiments, units, looks = 1000, 400, 100
	for _, effect := range []float64{0, -3} {
		r := rand.New(rand.NewPCG(11, 3))
		truth := meanOf(r, 8+effect) - meanOf(r, 8)
		missed, fixed, seen := 0, 0, 0
		for range experiments {
			s := NewSequence(0.5, 0)
			var once [2]struct{ n, sum, square float64 }
			miss, early, found := false, false, false
			for i := range units {
				arm, mean := 1, 8+effect
				if r.Float64() < 0.5 {
					arm, mean = 0, 8
				}
				y := sessionOf(r, mean*(0.8+0.4*r.Float64()))
				s.Add(arm == 1, y)
				once[arm].n, once[arm].sum, once[arm].square = once[arm].n+1, once[arm].sum+y, once[arm].square+y*y
				if (i+1)%(units/looks) != 0 {
					continue
				}
				if in := s.Interval(); in.Known() {
					miss = miss || truth < in.Lo || truth > in.Hi
					found = found || in.Lo > 0 || in.Hi < 0
					d, e := 0.0, 0.0
					for k, o := range once {
						m := o.sum / o.n
						e += (o.square/o.n - m*m) / (o.n - 1)
						d += m * float64(2*k-1)
					}
					early = early || math.Abs(d-truth) > 1.96*math.Sqrt(e)
				}
			}
			for _, c := range []struct {
				is bool
				n  *int
			}{{miss, &missed}, {early, &fixed}, {found, &seen}} {
				if c.is {
					*c.n++
				}
			}
		}
		if missed > experiments*5/100 {
			t.Errorf("effect %v: missed at some look in %d of %d experiments", effect, missed, experiments)
		}
		if fixed < experiments*15/100 {
			t.Errorf("effect %v: looks at the interval of a fixed sample go wrong in %d of %d only: the test shows nothing", effect, fixed, experiments)
		}
		if effect != 0 && seen < experiments*9/10 {
			t.Errorf("the effect is seen in %d of %d experiments", seen, experiments)
		}
	}
}

// TestRareRatio: of what hardly any unit has there is a difference and no ratio.
func TestRareRatio(t *testing.T) {
	var rare Arms
	for i := range 100 {
		rare.Treated.Num, rare.Treated.Den = append(rare.Treated.Num, float64(i%30/29)), append(rare.Treated.Den, 1)
		rare.Control.Num, rare.Control.Den = append(rare.Control.Num, float64(i/99)), append(rare.Control.Den, 1)
	}
	if in := rare.Intervals(Options{}); !in.Difference.Known() || in.Ratio.Known() {
		t.Errorf("of 3 and 1 of 100: %+v", in)
	}
}

func TestArmsRefuse(t *testing.T) {
	few := Arms{ClusterRatio{Num: []float64{1, 2, 3, 4}, Den: []float64{1, 1, 1, 1}}, ClusterRatio{Num: []float64{1, 2, 3, 4, 5}, Den: []float64{1, 1, 1, 1, 1}}}
	if in := few.Intervals(Options{}); in.Difference.Known() || in.Ratio.Known() {
		t.Errorf("four units give %v", in)
	}
	zero := Arms{ClusterRatio{Num: []float64{0, 0, 0, 0, 0}, Den: []float64{1, 1, 1, 1, 1}}, few.Control}
	if in := zero.Intervals(Options{}); !in.Difference.Known() || in.Ratio.Known() {
		t.Errorf("nothing against something gives %v", in)
	}
	if n := few.UnitsFor(1, 0.5); n != 0 {
		t.Errorf("%d units by four", n)
	}
	if in := NewSequence(0, 0).Interval(); in.Known() {
		t.Errorf("without control %v", in)
	}
}

// TestUnitsFor plans an experiment by a small one, and runs it.
func TestUnitsFor(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 9))
	truth := meanOf(r, 6) - meanOf(r, 8)
	n := armsOf(r, 400, 6, 8).UnitsFor(truth, 0.5)
	found := 0
	const experiments = 400
	for i := range experiments {
		if in := armsOf(r, n, 6, 8).Intervals(Options{Seed: uint64(i), Resamples: 399}); in.Difference.Hi < 0 {
			found++
		}
	}
	if share := float64(found) / experiments; share < 0.7 || share > 0.9 {
		t.Errorf("%d units see the difference in %.1f %% of experiments, not in 80", n, 100*share)
	}
}
