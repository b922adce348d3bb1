package stat_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/awo-dev/awo/internal/stat"
)

func TestRunningShareKnown(t *testing.T) {
	// Ten clusters of one trial are independent trials: Wilson's own interval.
	var one stat.RunningShare
	for i := range 10 {
		one.Add(min(i%2, 1), 1)
	}
	// The linearised variance has m-1 in its denominator: 10/9 of p(1-p)/n.
	want := stat.Wilson(5/(10.0/9), 10/(10.0/9), stat.DefaultLevel)
	if got := one.Interval(); math.Abs(got.Lo-want.Lo) > 1e-12 || math.Abs(got.Hi-want.Hi) > 1e-12 || got.N != 10 {
		t.Errorf("%+v, want %+v", got, want)
	}
	// Clusters whose trials are all alike are worth one trial each.
	var alike stat.RunningShare
	for i := range 10 {
		alike.Add(20*(i%2), 20)
	}
	if got := alike.Interval(); math.Abs(got.Lo-want.Lo) > 1e-12 || math.Abs(got.Hi-want.Hi) > 1e-12 {
		t.Errorf("alike: %+v, want %+v", got, want)
	}
	if v, ok := alike.Share().Value(); !ok || v != 0.5 {
		t.Errorf("share %v %v", v, ok)
	}
	var few stat.RunningShare
	few.Add(1, 2)
	few.Add(0, 0)
	if few.Interval().Known() {
		t.Error("an interval of one cluster")
	}
	if _, ok := (&stat.RunningShare{}).Share().Value(); ok {
		t.Error("a share of nothing")
	}
}

// TestRunningShareCovers draws clusters whose shares differ, and holds the interval to
// its level; an interval for independent trials covers far less.
func TestRunningShareCovers(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const samples, truth = 2000, 0.3
	covered, naive := 0, 0
	for range samples {
		var s stat.RunningShare
		for range 60 {
			p, n, k := 0.0, 10, 0
			if random.Float64() < truth/0.6 {
				p = 0.6
			}
			for range n {
				if random.Float64() < p {
					k++
				}
			}
			s.Add(k, n)
		}
		if i := s.Interval(); i.Lo <= truth && truth <= i.Hi {
			covered++
		}
		k, n := s.Counts()
		if i := stat.Wilson(float64(k), float64(n), stat.DefaultLevel); i.Lo <= truth && truth <= i.Hi {
			naive++
		}
	}
	if c := float64(covered) / samples; c < 0.93 || c > 0.97 {
		t.Errorf("covers %.3f", c)
	}
	if c := float64(naive) / samples; c > 0.8 {
		t.Errorf("an interval for independent trials covers %.3f: the test shows nothing", c)
	}
}
