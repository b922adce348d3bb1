package logit

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// At the minimum the gradient of the penalised loss is 0.
func TestFit(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var rows [][]float64
	var yes []bool
	for range 400 {
		x := []float64{r.NormFloat64()*3 + 1, r.NormFloat64(), 7}
		rows = append(rows, x)
		yes = append(yes, r.Float64() < Sigmoid(x[0]-1-2*x[1]))
	}
	const c = .5
	m := Fit(rows, yes, c)
	gradient := make([]float64, len(m.Coef)+1)
	copy(gradient, m.Coef)
	for i, x := range rows {
		d := m.Probability(x)
		if yes[i] {
			d--
		}
		for j, v := range x {
			gradient[j] += c * d * (v - m.Mean[j]) / m.Scale[j]
		}
		gradient[len(x)] += c * d
	}
	for j, g := range gradient {
		if math.Abs(g) > 1e-2 {
			t.Errorf("the gradient at %d is %v", j, g)
		}
	}
	if math.Abs(m.Coef[2]) > 1e-9 {
		t.Errorf("a feature without variance has the coefficient %v", m.Coef[2])
	}
	if slope := m.Coef[0] / m.Scale[0]; slope < .7 || slope > 1.3 {
		t.Errorf("the slope is %v, the truth 1", slope)
	}
	again := FitFrom(m, rows, yes, c)
	for j := range m.Coef {
		if math.Abs(again.Coef[j]-m.Coef[j]) > 1e-3 {
			t.Errorf("from a model near by the coefficient is %v, not %v", again.Coef[j], m.Coef[j])
		}
	}
	rows, yes = rows[:300], yes[:300]
	part := Fit(rows, yes, c)
	again = FitFrom(m, rows, yes, c)
	for j := range part.Coef {
		if math.Abs(again.Coef[j]-part.Coef[j]) > 1e-3 {
			t.Errorf("from the model of more rows the coefficient is %v, not %v", again.Coef[j], part.Coef[j])
		}
	}
}

// Models without a group of rows give the odds of a fit to the others, from a model that is
// near and from one that is not, and also where a feature has no variance without the group.
func TestFitWithout(t *testing.T) {
	const n, groups, c = 420, 5, .5 // rows of groups 0, 1, 2 and 4
	r := rand.New(rand.NewPCG(7, 8))
	var rows [][]float64
	var yes []bool
	var group []int
	for i := range n {
		g := i * i % 7 // of which one has no rows
		x := []float64{r.NormFloat64()*3 + float64(g), r.NormFloat64(), 7, 2}
		if g == 1 {
			x[3] = r.NormFloat64()
		}
		rows, yes, group = append(rows, x), append(yes, r.Float64() < Sigmoid(x[0]-1-2*x[1]+x[3]*.3)), append(group, g)
	}
	all := Fit(rows, yes, c)
	far := &Model{Mean: all.Mean, Scale: all.Scale, Coef: []float64{-60, 80, 3, 9}, Intercept: 50}
	for name, start := range map[string]*Model{"near": all, "far": far} {
		for g, got := range FitWithout(start, rows, yes, group, groups, c) {
			var rest [][]float64
			var answers []bool
			for i, x := range rows {
				if group[i] != g {
					rest, answers = append(rest, x), append(answers, yes[i])
				}
			}
			want := Fit(rest, answers, c)
			for _, x := range rest {
				if a, b := got.Score(x), want.Score(x); math.Abs(a-b) > 2e-3*(1+math.Abs(b)) {
					t.Fatalf("%s, without %d: log odds %v, want %v", name, g, a, b)
				}
			}
		}
	}
	if got := FitWithout(all, rows, yes, make([]int, n), 1, c); got[0] != nil {
		t.Error("there is a model of no rows")
	}
}

func TestShift(t *testing.T) {
	m := Fit([][]float64{{0}, {0}}, []bool{true, false}, 1)
	m.Shift(.5, .1)
	if p := m.Probability([]float64{0}); math.Abs(p-.1) > 1e-6 {
		t.Errorf("the probability is %v, want .1", p)
	}
	for _, z := range []float64{-800, -1, 0, 1, 800} {
		if s := Sigmoid(z) + Sigmoid(-z); math.Abs(s-1) > 1e-12 {
			t.Errorf("Sigmoid(%v) and of its negative add up to %v", z, s)
		}
	}
}

// Rows that are added abreast give the loss and the gradient of rows that are added one
// after the other, to the last bit.
func TestLossAbreast(t *testing.T) {
	const features = 5
	r := rand.New(rand.NewPCG(3, 4))
	for n := range 3*abreast + 1 {
		l := &loss{n: features, c: .5, grad: make([]float64, features+1)}
		for range n {
			for range features {
				l.flat = append(l.flat, r.NormFloat64())
			}
			l.yes = append(l.yes, r.IntN(2) == 0)
		}
		w := make([]float64, features+1)
		for j := range w {
			w[j] = 3 * r.NormFloat64()
		}
		one := &loss{n: features, grad: make([]float64, features+1)}
		for i, yes := range l.yes {
			z := w[features]
			for j, v := range l.row(i) {
				z += float64(w[j] * v)
			}
			d := one.add(z, yes)
			for j, v := range l.row(i) {
				one.grad[j] += float64(d * v)
			}
		}
		value := one.value * l.c
		for j := range w[:features] {
			value += float64(w[j]*w[j]) / 2
			one.grad[j] = one.grad[j]*l.c + w[j]
		}
		one.grad[features] *= l.c
		if got := l.at(w); got.value != value || !slices.Equal(got.grad, one.grad) {
			t.Errorf("%d rows: %v, %v abreast, %v, %v one by one", n, got.value, got.grad, value, one.grad)
		}
	}
}

func BenchmarkLoss(b *testing.B) {
	const features = 20
	r := rand.New(rand.NewPCG(5, 6))
	l := &loss{n: features, c: 1, grad: make([]float64, features+1)}
	for range 1000 {
		for range features {
			l.flat = append(l.flat, r.NormFloat64())
		}
		l.yes = append(l.yes, r.IntN(2) == 0)
	}
	w := make([]float64, features+1)
	for b.Loop() {
		w[0] += 1e-3
		l.at(w)
	}
}
