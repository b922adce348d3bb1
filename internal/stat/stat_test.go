package stat

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

func repeat(n int, values ...float64) []float64 { return slices.Repeat(values, n) }

// TestNoInterval: few clusters, and clusters that all agree, tell nothing.
func TestNoInterval(t *testing.T) {
	for name, tc := range map[string]struct {
		figure ClusterRatio
		want   string // part of the reason; "" for an interval
	}{
		"80 equal tasks":       {ClusterRatio{repeat(80, 1), repeat(80, 6)}, "all 80 tasks agree"},
		"equal shares":         {ClusterRatio{repeat(5, 1, 2, 3), repeat(5, 2, 4, 6)}, "all 15 tasks agree"},
		"nothing saved":        {ClusterRatio{Num: repeat(12, 0)}, "all 12 tasks agree"},
		"four tasks":           {ClusterRatio{repeat(2, 1, 2), repeat(4, 3)}, "at least 5 tasks, there are 4"},
		"four with the figure": {ClusterRatio{append(repeat(2, 1, 2), repeat(9, 0)...), append(repeat(4, 3), repeat(9, 0)...)}, "there are 4"},
		"no tasks":             {ClusterRatio{}, "there are 0"},
		"nothing to divide by": {ClusterRatio{repeat(5, 1, 2), repeat(10, 0)}, "no figure"},
		"not a number":         {ClusterRatio{repeat(5, 1, math.NaN()), repeat(10, 1)}, "no figure"},
		"ten tasks":            {ClusterRatio{repeat(5, 1, 2), repeat(10, 3)}, ""},
	} {
		i := tc.figure.Interval(Options{})
		if (tc.want == "") != i.Known() || !strings.Contains(i.Missing(), tc.want) {
			t.Errorf("%s: %+v", name, i)
		}
	}
}

// TestStandardError holds the linearised standard error to one worked out by hand: 30
// of 20 and 50 of 40 are 80/60, residuals +-10/3.
func TestStandardError(t *testing.T) {
	s := newSample(ClusterRatio{[]float64{30, 50}, []float64{20, 40}})
	if want := math.Sqrt(2*(100.0/9+100.0/9)) / 60; math.Abs(s.ratio-4.0/3) > 1e-12 || math.Abs(s.err-want) > 1e-12 {
		t.Errorf("%v +- %v, want 4/3 +- %v", s.ratio, s.err, want)
	}
}

// TestNormalMean: of many clusters that are nearly normal, the interval is Student's.
func TestNormalMean(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	f := ClusterRatio{Num: make([]float64, 400), Den: repeat(400, 1)}
	for i := range f.Num {
		f.Num[i] = 5 + r.NormFloat64()
	}
	s, i := newSample(f), f.Interval(Options{})
	if half := 1.966 * s.err; math.Abs(i.Lo-(s.ratio-half)) > 0.15*half || math.Abs(i.Hi-(s.ratio+half)) > 0.15*half || i.N != 400 {
		t.Errorf("%+v, want %v +- %v", i, s.ratio, half)
	}
	// A sum is the mean times the clusters.
	if sum := (ClusterRatio{Num: f.Num}).Interval(Options{}); math.Abs(sum.Lo-400*i.Lo) > 1e-9 || math.Abs(sum.Hi-400*i.Hi) > 1e-9 {
		t.Errorf("the sum %+v, the mean %+v", sum, i)
	}
}

// TestMinus: a paired difference is surer than what it is of.
func TestMinus(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	a, b := ClusterRatio{make([]float64, 30), repeat(30, 1)}, ClusterRatio{make([]float64, 30), repeat(30, 1)}
	for i := range a.Num {
		a.Num[i] = 3 * r.NormFloat64()
		b.Num[i] = a.Num[i] - 1 - 0.1*r.NormFloat64()
	}
	d := a.Minus(b)
	if i := d.Interval(Options{}); i.Lo > 1.02 || i.Hi < 0.98 || i.Hi-i.Lo > 0.2 || math.Abs(d.Value()-a.Value()+b.Value()) > 1e-12 {
		t.Errorf("%v in %+v", d.Value(), i)
	}
}

// TestRatiosProperties: whatever the clusters are, bounds surround the figure, follow its
// scale, and do not depend on who does the work.
func TestRatiosProperties(t *testing.T) {
	each := func(n int, do func(int)) {
		var wait sync.WaitGroup
		for i := range n {
			wait.Go(func() { do(n - 1 - i) })
		}
		wait.Wait()
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 40).Draw(t, "n")
		f := ClusterRatio{make([]float64, n), make([]float64, n)}
		for i := range n {
			f.Num[i], f.Den[i] = float64(rapid.IntRange(-3, 9).Draw(t, "num")), float64(rapid.IntRange(0, 9).Draw(t, "den"))
		}
		o := Options{Resamples: 199, Seed: rapid.Uint64().Draw(t, "seed")}
		figures := []ClusterRatio{f, {Num: f.Num}}
		one := Intervals(figures, o)
		o.Each = each
		if many := Intervals(figures, o); !reflect.DeepEqual(one, many) {
			t.Fatalf("%+v alone, %+v at once", one, many)
		}
		for i, x := range one {
			if x.Known() && !(x.Lo <= figures[i].Value()+1e-9 && figures[i].Value() <= x.Hi+1e-9) {
				t.Fatalf("%v is not in %+v", figures[i].Value(), x)
			}
		}
	})
}

func TestAlways(t *testing.T) {
	for tasks, want := range map[int]float64{5: 0.478, 24: 0.858, 100: 0.964} {
		if i := Always(tasks, 0.95); math.Abs(i.Lo-want) > 0.001 || i.Hi != 1 || i.N != tasks {
			t.Errorf("%d tasks: %+v", tasks, i)
		}
	}
}

// TestExact holds the bounds to those of R's binom.test.
func TestExact(t *testing.T) {
	for _, tc := range []struct {
		count, n int
		lo, hi   float64
	}{{0, 10, 0, 0.3084971}, {10, 10, 0.6915029, 1}, {3, 10, 0.06673951, 0.6524529}, {50, 1000, 0.03733535, 0.06539048}} {
		if i := Exact(tc.count, tc.n, 0.95); math.Abs(i.Lo-tc.lo) > 1e-6 || math.Abs(i.Hi-tc.hi) > 1e-6 {
			t.Errorf("%d of %d: %+v", tc.count, tc.n, i)
		}
	}
}

func TestIntervalJSON(t *testing.T) {
	for want, i := range map[string]Interval{
		`{"lo":0.25,"hi":null,"level":0.95,"n":7,"method":"m"}`: {Lo: 0.25, Hi: math.Inf(1), Level: 0.95, N: 7, Method: "m"},
		`null`: NoInterval("too few"),
	} {
		if got, err := json.Marshal(i); err != nil || string(got) != want {
			t.Errorf("%s, %v, want %s", got, err, want)
		}
	}
	if (Interval{}).Known() || (Interval{Lo: math.NaN(), Level: 0.95}).Known() {
		t.Error("nothing is no interval")
	}
}

func TestFigure(t *testing.T) {
	text, err := json.Marshal([]Figure{Known(1.5), {}, Unknown("no calls"), Finite(math.Inf(1), "endless")})
	if err != nil || string(text) != "[1.5,null,null,null]" {
		t.Errorf("%s, %v", text, err)
	}
	if f := Finite(math.NaN(), "no calls"); f.Known() || f.Missing() != "no calls" || !math.IsNaN(f.Float()) {
		t.Errorf("%v", f)
	}
	if f := Ratio(1, 4, "none"); !f.Known() || f.Missing() != "" || f.Float() != 0.25 {
		t.Errorf("%v", f)
	}
}

// Figures that share what is drawn, columns or all of it have the intervals that each has
// alone, however many they are.
func TestIntervalsTogether(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	var columns [][]float64
	for range 20 {
		c := make([]float64, 12)
		for i := range c {
			c[i] = float64(r.IntN(4))
		}
		columns = append(columns, c)
	}
	var figures []ClusterRatio
	for range 300 {
		f := ClusterRatio{Num: columns[r.IntN(len(columns))]}
		if r.IntN(2) == 0 {
			f.Den = columns[r.IntN(len(columns))]
		}
		figures = append(figures, f)
	}
	for i, got := range Intervals(figures, Options{Seed: 3, Resamples: 99}) {
		if want := figures[i].Interval(Options{Seed: 3, Resamples: 99}); got != want {
			t.Fatalf("%v: %v together, %v alone", figures[i], got, want)
		}
	}
}

func TestSmallest(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for range 2000 {
		list := make([]float64, 1+r.IntN(30))
		for i := range list {
			list[i] = float64(r.IntN(1 + r.IntN(40)))
		}
		if r.IntN(4) == 0 {
			list[r.IntN(len(list))] = math.Inf(1 - 2*r.IntN(2))
		}
		sorted := slices.Sorted(slices.Values(list))
		at := r.IntN(len(list))
		if got := smallest(list, at); got != sorted[at] {
			t.Fatalf("%v of %v at %d", got, sorted, at)
		}
	}
}

// TestKindsOfClusters has clusters that are alike be drawn as if each were looked at by
// itself: the distances are the same to the last bit, of whole numbers and of others.
func TestKindsOfClusters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(MinClusters, 200).Draw(t, "n")
		number := rapid.OneOf(rapid.Just(1.0), rapid.Map(rapid.IntRange(0, 3), func(i int) float64 { return float64(i) }))
		if rapid.Bool().Draw(t, "fractions") {
			number = rapid.OneOf(number, rapid.SampledFrom([]float64{0.1, 2.5, -7, 1 << 40}))
		}
		den := rapid.SliceOfN(number.Filter(func(x float64) bool { return x != 0 }), n, n).Draw(t, "den")
		var samples []*sample
		for range rapid.IntRange(1, 3).Draw(t, "figures") {
			s := newSample(ClusterRatio{Num: rapid.SliceOfN(number, n, n).Draw(t, "num"), Den: den})
			if len(samples) == 0 || s.n == samples[0].n {
				samples = append(samples, s)
			}
		}
		n = samples[0].n
		o := Options{Seed: rapid.Uint64().Draw(t, "seed"), Resamples: 40}
		got := bootstrap(samples, n, o)
		for i, s := range samples {
			var want []float64
			for k := range o.Resamples {
				random, times := Stream(o.Seed, 0xb007, uint64(n), uint64(k)), make([]float64, n)
				for range n {
					times[Below(random, n)]++
				}
				var resample []drawn
				for at, times := range times {
					if times > 0 {
						resample = append(resample, drawn{at, times})
					}
				}
				if d := s.distance(resample, s.num.moment(resample), s.den.moment(resample)); !math.IsNaN(d) {
					want = append(want, d)
				}
			}
			if !slices.Equal(got[i], want) {
				t.Fatalf("figure %d: %v, want %v", i, got[i], want)
			}
		}
	})
}

// BenchmarkCounts is the interval of shares of tasks: small whole numbers.
func BenchmarkCounts(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	const n = 4000
	den, nums := make([]float64, n), make([][]float64, 3)
	for i := range nums {
		nums[i] = make([]float64, n)
	}
	for i := range den {
		den[i] = float64(1 + r.IntN(3))
		for j := range nums {
			nums[j][i] = float64(r.IntN(2))
		}
	}
	figures := []ClusterRatio{{nums[0], den}, {nums[1], den}, {nums[2], den}}
	for b.Loop() {
		Intervals(figures, Options{Resamples: 200})
	}
}
